"""
Gemini's contents.

The shapes are those of the REST reference (``Content``, ``Part``; 2026), whose keys are in camelCase; the Python SDK
accepts snake_case too, and both are kept. Unknown parts are kept as they are. A part with a ``thoughtSignature`` is
fixed: it must return to the model unmodified, or not at all.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Container, Mapping, Sequence
from typing import Any

import attrs

from gc_core.errors import MessageError
from gc_core.providers import fields
from gc_core.providers.client_arguments import joined
from gc_core.providers.content_text import json_text
from gc_core.providers.gemini.function_responses import answer_of, read_media, with_answer
from gc_core.providers.gemini.parts import (
    RESPONSE,
    TEXT,
    args_of,
    call_key,
    data_of,
    is_result,
    name_and_id,
    signature_of,
    unsigned,
)
from gc_core.providers.message_format import MessageFormat
from gc_core.providers.replies import plain
from gc_core.values.items import ItemKind, Part, Place
from gc_core.values.messages import Payload, Request, Role, Usage

_ROLES = {"user": Role.USER, "model": Role.ASSISTANT}
_HINTS = {"assistant": "; the model's own role is 'model'", "function": "; results belong in a content of role 'user'"}
_TEXT_KINDS = {Role.USER: ItemKind.USER_TEXT, Role.ASSISTANT: ItemKind.ASSISTANT_TEXT}
_PARTS = "parts"
_DECLARATIONS = ("functionDeclarations", "function_declarations")


class GeminiFormat(MessageFormat):
    """
    Contents: messages are parts, results have a separate content after their calls, system text and tools are
        separate.
    """

    name = "gemini"
    alternates = True
    takes_last_thinking = True
    needs_user_first = True

    def role(self, payload: Payload) -> Role:
        """
        Return who speaks; TOOL for a user content with only results.

        Raises MessageError naming ``role`` and the known roles.
        """
        role = fields.role(fields.mapping(payload, "message"), _ROLES, _HINTS)
        parts = payload.get(_PARTS)
        has_only_results = isinstance(parts, list) and parts and all(map(is_result, parts))
        return Role.TOOL if role is Role.USER and has_only_results else role

    def read(self, payload: Payload) -> tuple[Part, ...]:
        """
        Return the parts of one content, one for each; none if there is nothing to read.

        Raises MessageError naming the field and what was expected.
        """
        self.role(payload)
        role = _ROLES[payload["role"]]
        parts = payload.get(_PARTS, fields.MISSING)
        if not isinstance(parts, list | tuple):
            raise fields.FieldError(_PARTS, parts, "a list of parts")
        return tuple(_part(fields.mapping(part, f"{_PARTS}[{at}]"), at, role) for at, part in enumerate(parts))

    def places(self, payload: Payload) -> Sequence[Place]:
        """Return the places of the parts."""
        return [(_PARTS, at) for at in range(len(payload[_PARTS]))]

    def edit(self, payload: Payload, texts: Mapping[Place, str | None]) -> Payload | None:
        """
        Return a copy with other texts at these places, or (None) without them; None when nothing is left.

        Attachments and opaque parts become texts. Raises MessageError for a place without a part, for another text of a
        fixed part, and for arguments that are not a JSON object.
        """
        if not texts:
            return payload
        fields.check_places(texts, self.places(payload))
        parts = enumerate(payload[_PARTS])
        edited = (fields.edited(part, texts, (_PARTS, at), functools.partial(_rewritten, at)) for at, part in parts)
        kept = [part for part in edited if part is not None]
        return {**payload, _PARTS: kept} if kept else None

    def normalise(self, payload: Payload) -> Payload:
        """Return the payload itself, or a copy in which results with a null or missing response have an empty one."""
        parts = payload.get(_PARTS)
        if payload.get("role") != "user" or not isinstance(parts, list | tuple):
            return payload
        answered = [_answered(part) for part in parts]
        return payload if all(map(operator.is_, answered, parts)) else {**payload, _PARTS: answered}

    def join(self, first: Payload, second: Payload) -> Payload | None:
        """Return one user content for two that both contain only results; otherwise None."""
        if self.role(first) is not Role.TOOL or self.role(second) is not Role.TOOL:
            return None
        return {**second, **first, _PARTS: [*first[_PARTS], *second[_PARTS]]}

    def user(self, text: str) -> Payload:
        """Return a user content with one text."""
        return {"role": "user", _PARTS: [{TEXT: text}]}

    def results(
        self,
        answers: Sequence[tuple[str, str]],
        failed: Container[int] = (),  # noqa: ARG002 - the protocol
    ) -> tuple[Payload, ...]:
        """Return one user content with a functionResponse for each answer; none for no answers."""
        parts = [{RESPONSE: {**name_and_id(key), "response": {"output": text}}} for key, text in answers]
        return ({"role": "user", _PARTS: parts},) if parts else ()

    def reply(self, reply: object) -> Payload:
        """
        Return the model's content in a GenerateContentResponse, its dict, a candidate or a content; fit to be sent
        back.

        Null fields are removed; a content without parts (a reply that was blocked or cut off) has none. Raises
        MessageError if there is no model content.
        """
        content = _content_of(fields.mapping(plain(reply), "reply"))
        if content.get("role") not in (None, "model"):
            raise fields.FieldError("role", content["role"], "'model'")
        parts = content.get(_PARTS)
        sendable = {**content, "role": "model", _PARTS: [] if parts is None else parts}
        if isinstance(parts, list):
            sendable[_PARTS] = [_sendable(part) for part in parts]
        self.read(sendable)
        return sendable

    def usage(self, usage: object) -> Usage:
        """
        Return the ``usage_metadata`` of a reply; prompt tokens include cached ones, thoughts are output.

        Raises MessageError when the prompt's count is missing.
        """
        report = fields.mapping(plain(usage), "usage")
        return Usage(
            input_tokens=_count(report, "promptTokenCount", "prompt_token_count"),
            output_tokens=_count(report, "candidatesTokenCount", "candidates_token_count", default=0)
            + _count(report, "thoughtsTokenCount", "thoughts_token_count", default=0),
            cache_read_tokens=_count(report, "cachedContentTokenCount", "cached_content_token_count", default=0),
        )

    def declarations(self, tools: Sequence[Payload]) -> tuple[Payload, ...]:
        """Return the function declarations of all tools, in either spelling, and the built-in tools."""
        return tuple(declared for tool in tools for declared in _declared(fields.mapping(tool, "tool")))

    def schema_name(self, schema: Payload) -> str:
        """
        Return the name in a function declaration; for a built-in tool (``{"google_search": {}}``) its only key.

        Raises MessageError when there is none, and for a list of declarations, which must be given one by one.
        """
        schema = fields.mapping(schema, "tool")
        listed = next((key for key in schema if key in _DECLARATIONS), None)
        if listed is not None:
            raise fields.FieldError(f"tool.{listed}", schema[listed], "the declarations themselves, each as one tool")
        if "name" not in schema and len(schema) == 1:
            return str(next(iter(schema)))
        return fields.name(schema, "name", "tool")

    def request(
        self, *, system: Sequence[str], tools: Sequence[Payload], messages: Sequence[Payload], tokens: int
    ) -> Request:
        """Build the request; each system text becomes a separate part outside the contents."""
        parts = tuple({TEXT: text} for text in system if text)
        return Request(
            format=self.name,
            messages=tuple(messages),
            system=parts,
            tools=tuple(tools),
            tokens=tokens,
            arguments=_client_arguments,
        )


def _client_arguments(request: Request, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the client's arguments; system text and tools are part of the configuration."""
    config: dict[str, Any] = {}
    if request.system:
        config["system_instruction"] = {_PARTS: list(request.system)}
    if request.tools:
        config["tools"] = _tools(request.tools)
    return {"contents": list(request.messages), "config": config} | joined(request.options, own)


def _tools(schemas: Sequence[Payload]) -> list[dict[str, Any]]:
    """Return one tool with all function declarations; each built-in tool, which has no name, stays a separate tool."""
    declared = [schema for schema in schemas if "name" in schema]
    built_in = [dict(schema) for schema in schemas if "name" not in schema]
    return [*([{"function_declarations": declared}] if declared else []), *built_in]


def _declared(tool: Mapping[str, Any]) -> Sequence[Payload]:
    """Return the declarations that a tool lists, or the tool itself if it lists none."""
    listed = next((tool[key] for key in _DECLARATIONS if key in tool), None)
    if listed is None:
        return (tool,)
    if not isinstance(listed, list | tuple):
        raise fields.FieldError("tool.functionDeclarations", listed, "a list of declarations")
    return [fields.mapping(each, "tool.functionDeclarations") for each in listed]


def _part(part: Mapping[str, Any], at: int, role: Role) -> Part:
    """Return the part as it is read; a signed part is fixed, and its signature is not text."""
    read = _unsigned_part(part, at, role)
    signature = signature_of(part)
    if signature is None:
        return read
    # An empty text may carry the signature of a reply: as text it would count as an empty message.
    silent = read.kind in _TEXT_KINDS.values() and not read.text.strip()
    kind = ItemKind.OPAQUE if silent else read.kind
    return attrs.evolve(read, kind=kind, fixed=True, sealed_bytes=read.sealed_bytes + len(signature))


def _unsigned_part(part: Mapping[str, Any], at: int, role: Role) -> Part:
    place, field = (_PARTS, at), f"{_PARTS}[{at}]"
    key, kind = data_of(part)
    match kind:
        case "" | "text":
            text = fields.text(part, TEXT, field) if key else ""
            # A thought without a text is refused like any other empty part.
            thought = role is Role.ASSISTANT and part.get("thought") is True and bool(text.strip())
            return Part(kind=ItemKind.THINKING if thought else _TEXT_KINDS[role], place=place, text=text)
        case "functionCall":
            return _call(part[key], place, _spoken(Role.ASSISTANT, role, key, field))
        case "functionResponse":
            return _result(part[key], place, _spoken(Role.USER, role, key, field))
        case "inlineData" | "fileData":
            attached = ItemKind.ATTACHMENT if role is Role.USER else ItemKind.OPAQUE
            return read_media(part, key).part(attached, place)
    return Part(kind=ItemKind.OPAQUE, place=place, text=json_text(unsigned(part)))


def _spoken(by: Role, role: Role, key: str, field: str) -> str:
    """Return the field of the call or result after checking the role."""
    if by is not role:
        wanted = next(name for name, known in _ROLES.items() if known is by)
        raise fields.FieldError(f"{field}.{key}", role.value, f"this part in a content of role {wanted!r} only")
    return f"{field}.{key}"


def _call(value: object, place: Place, field: str) -> Part:
    call = fields.mapping(value, field)
    name = fields.name(call, "name", field)
    return Part(
        kind=ItemKind.TOOL_CALL,
        place=place,
        text=json_text(fields.mapping(args_of(call), f"{field}.args")),
        name=name,
        call_id=call_key(call),
    )


def _result(value: object, place: Place, field: str) -> Part:
    result = fields.mapping(value, field)
    name = fields.name(result, "name", field)
    answer = answer_of(result, field)
    return answer.read.part(ItemKind.TOOL_RESULT, place, name=name, call_id=call_key(result), is_error=answer.is_error)


def _answered(part: Any) -> Any:
    if not is_result(part):
        return part
    key, _ = data_of(part)
    result = part[key]
    if not isinstance(result, Mapping) or result.get("response") is not None:
        return part
    return {**part, key: {**result, "response": {"output": ""}}}


def _rewritten(at: int, part: Payload, text: str) -> Payload:
    field = f"{_PARTS}[{at}]"
    if signature_of(part) is not None:
        raise MessageError(f"{field} carries a signature: it may be removed but not given another text")
    key, kind = data_of(part)
    match kind:
        case "text":
            return {**part, key: text}
        case "functionCall":
            return {**part, key: {**part[key], "args": fields.object_in(text, f"{field}.{key}.args")}}
        case "functionResponse":
            return {**part, key: with_answer(part[key], text)}
    return {TEXT: text}


def _content_of(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    if "candidates" in reply:
        candidates = reply["candidates"]
        if not isinstance(candidates, list) or not candidates:
            raise fields.FieldError("candidates", candidates, "a list with a candidate")
        reply = fields.mapping(candidates[0], "candidates[0]")
        return fields.mapping(reply.get("content", fields.MISSING), "candidates[0].content")
    if _PARTS in reply or "role" in reply:
        return reply
    return fields.mapping(reply.get("content", fields.MISSING), "content")


def _sendable(part: Any) -> Any:
    """Return the part without the nulls of an SDK object; the part itself if it has none."""
    if not isinstance(part, Mapping) or None not in part.values():
        return part
    return {key: value for key, value in part.items() if value is not None}


def _count(report: Mapping[str, Any], camel: str, snake: str, *, default: int | None = None) -> int:
    return fields.number(report, snake if snake in report else camel, "usage", default=default)
