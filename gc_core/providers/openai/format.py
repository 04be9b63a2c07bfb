"""
OpenAI's Chat Completions messages.

The shapes are those of ``openai.types.chat.*_param``; fields that other servers of this format add are kept.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from gc_core.providers import fields
from gc_core.providers.client_arguments import joined
from gc_core.providers.content_text import Binary, json_text, readable_block, readable_result, sendable_result
from gc_core.providers.message_format import MessageFormat
from gc_core.providers.replies import plain, usage_with_details
from gc_core.values.items import ItemKind, Part, Place
from gc_core.values.messages import Payload, Request, Role, Usage, payloads_by_name

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}
_HINTS = {"function": " ('function' is the legacy word for 'tool')"}
_TEXT_KINDS = {
    Role.SYSTEM: ItemKind.SYSTEM_TEXT,
    Role.USER: ItemKind.USER_TEXT,
    Role.ASSISTANT: ItemKind.ASSISTANT_TEXT,
}
_CONTENT: Place = ("content",)
_OTHER_VENDORS = frozenset({"tool_use", "tool_result"})
"""Blocks that Chat Completions never has: if they passed unread, calls and results would not be kept together."""
_ATTACHMENTS = frozenset({"image_url", "input_audio", "file"})
# The last two are not OpenAI's own, but accepted by other servers of its format (vLLM, OpenRouter).
_BINARIES = {
    "input_audio": (Binary(("input_audio", "data")),),
    "file": (Binary(("file", "file_data")),),
    "audio_url": (Binary(("audio_url", "url"), unsure=True),),
    "video_url": (Binary(("video_url", "url"), unsure=True),),
}
# Not OpenAI's own, but the thinking of other servers of this format, which want it back (DeepSeek; vLLM, OpenRouter).
_THINKING_FIELDS = ("reasoning_content", "reasoning")
# What the model said outside content: one opaque part, wherever the message carries it.
_ASIDE: Place = ("aside",)
_ASIDE_FIELDS = ("refusal", "audio", "function_call")
# The key of a call's text, by the call's type.
_ARGUMENTS = {"function": "arguments", "custom": "input"}
# Fields that the SDK adds for its users and the API does not accept.
_SDK_ONLY = frozenset({"parsed", "parsed_arguments", "index"})


class OpenAIFormat(MessageFormat):
    """Chat Completions: results are separate messages, arguments are JSON strings, the system text comes first."""

    name = "openai"

    def role(self, payload: Payload) -> Role:
        """Return who speaks. Raises MessageError naming ``role`` and the known roles."""
        return fields.role(fields.mapping(payload, "message"), _ROLES, _HINTS)

    def speaker(self, payload: Payload) -> str:
        """Return the message's ``name``, which every role may have."""
        name = payload.get("name")
        return name if isinstance(name, str) else ""

    def read(self, payload: Payload) -> tuple[Part, ...]:
        """
        Return the parts of one message; none if there is nothing to read. A result is one part whatever its content.

        Raises MessageError naming the field and what was expected.
        """
        role = self.role(payload)
        if role is Role.TOOL:
            return (_result(payload),)
        if role is not Role.ASSISTANT:
            return tuple(_content(payload, role))
        return (*_thinking(payload), *_content(payload, role), *_aside(payload), *_calls(payload))

    def places(self, payload: Payload) -> Sequence[Place]:
        """Return the places of the parts."""
        return [part.place for part in self.read(payload)]

    def edit(self, payload: Payload, texts: Mapping[Place, str | None]) -> Payload | None:
        """
        Return a copy with other texts at these places, or (None) without them; None when nothing is left.

        An attachment or opaque part becomes a text block. Raises MessageError for a place without a part.
        """
        if not texts:
            return payload
        fields.check_places(texts, self.places(payload))
        if payload["role"] == "tool":
            text = texts[_CONTENT]
            return None if text is None else {**payload, "content": text}
        edited = _without_empty(_edited_aside(_edited_fields(payload, texts), texts))
        return edited if _says_something(edited) else None

    def with_call_ids(self, payload: Payload, ids: Mapping[Place, str]) -> Payload:
        """Return a copy in which the calls at these places, or the result, have other ids."""
        if not ids:
            return payload
        if payload["role"] == "tool":
            return {**payload, "tool_call_id": ids[_CONTENT]}
        calls = [
            {**call, "id": ids.get(("tool_calls", at), call["id"])} for at, call in enumerate(payload["tool_calls"])
        ]
        return {**payload, "tool_calls": calls}

    def normalise(self, payload: Payload) -> Payload:
        """
        Return the payload itself, or a copy: a result has no empty texts, and an empty text if it has no content; a
        reply with only calls has null; arguments given as objects become the required JSON string.
        """
        role = self.role(payload)
        if role is Role.TOOL:
            content = sendable_result(payload.get("content"))
            return payload if content is payload.get("content") else {**payload, "content": content}
        if role is not Role.ASSISTANT:
            return payload
        if payload.get("content") == [] and payload.get("tool_calls"):
            payload = {**payload, "content": None}
        texts = {part.place: part.text for part in _calls(payload) if _needs_text(payload, part.place)}
        return _edited_calls(payload, texts)

    def results(
        self,
        answers: Sequence[tuple[str, str]],
        failed: Container[int] = (),  # noqa: ARG002 - the protocol
    ) -> tuple[Payload, ...]:
        """Return a tool message for each answer."""
        return tuple({"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in answers)

    def reply(self, reply: object) -> Payload:
        """
        Return the assistant message of a ChatCompletion, of its dict, or as it is; fit to be sent back.

        Null and empty fields, and what the API does not accept, are removed. Raises MessageError if there is no
        assistant message.
        """
        message = _message_of(fields.mapping(plain(reply), "reply"))
        if self.role(message) is not Role.ASSISTANT:
            raise fields.FieldError("role", message["role"], "'assistant'")
        sendable = _sendable(message)
        self.read(sendable)
        return sendable

    def usage(self, usage: object) -> Usage:
        """
        Return the usage of a ChatCompletion; prompt tokens include cached ones. Raises MessageError when counts are
        missing.
        """
        return usage_with_details(usage, sent="prompt_tokens", answered="completion_tokens")

    def schema_name(self, schema: Payload) -> str:
        """Return the name in a function or custom tool schema; raises MessageError when there is none."""
        kind = "custom" if "custom" in fields.mapping(schema, "tool") else "function"
        inner = fields.mapping(schema.get(kind, fields.MISSING), f"tool.{kind}")
        return fields.name(inner, "name", f"tool.{kind}")

    def request(
        self, *, system: Sequence[str], tools: Sequence[Payload], messages: Sequence[Payload], tokens: int
    ) -> Request:
        """Build the request; its system texts are one leading message, with a block for each if there are several."""
        texts = [text for text in system if text]
        content: object = texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts]
        leading = ({"role": "system", "content": content},) if texts else ()
        return Request(
            format=self.name,
            messages=(*leading, *messages),
            tools=tuple(tools),
            tokens=tokens,
            arguments=_client_arguments,
        )


def _client_arguments(request: Request, own: Mapping[str, Any]) -> dict[str, Any]:
    return payloads_by_name(request) | joined(request.options, own)


def _result(payload: Payload) -> Part:
    call_id = fields.name(payload, "tool_call_id")
    read = readable_result(payload.get("content"), "content", _BINARIES)
    return read.part(ItemKind.TOOL_RESULT, _CONTENT, call_id=call_id)


def _thinking(payload: Payload) -> Iterator[Part]:
    for key in _THINKING_FIELDS:
        text = payload.get(key)
        if isinstance(text, str) and text:
            yield Part(kind=ItemKind.THINKING, place=(key,), text=text)


def _content(payload: Payload, role: Role) -> Iterator[Part]:
    content = payload.get("content", fields.MISSING)
    if isinstance(content, str):
        if content:
            yield Part(kind=_TEXT_KINDS[role], place=_CONTENT, text=content)
    elif isinstance(content, list | tuple):
        for at, block in fields.blocks(content, "content"):
            yield _block(block, at, role)
    elif role is not Role.ASSISTANT or content not in (None, fields.MISSING):
        raise fields.FieldError("content", content, "a string or a list of blocks")


def _block(block: Mapping[str, Any], at: int, role: Role) -> Part:
    place = (*_CONTENT, at)
    if block["type"] == "text":
        return Part(kind=_TEXT_KINDS[role], place=place, text=fields.text(block, "text", f"content[{at}]"))
    if block["type"] in _OTHER_VENDORS:
        expected = 'a part of Chat Completions; for Anthropic\'s blocks use format="anthropic"'
        raise fields.FieldError(f"content[{at}].type", block["type"], expected)
    attached = role is Role.USER and block["type"] in _ATTACHMENTS
    return readable_block(block, _BINARIES).part(ItemKind.ATTACHMENT if attached else ItemKind.OPAQUE, place)


def _aside(payload: Payload) -> Iterator[Part]:
    said = {key: payload[key] for key in _ASIDE_FIELDS if payload.get(key)}
    if said:
        yield Part(kind=ItemKind.OPAQUE, place=_ASIDE, text=json_text(said))


def _calls(payload: Payload) -> Iterator[Part]:
    calls = payload.get("tool_calls") or ()
    if not isinstance(calls, list | tuple):
        raise fields.FieldError("tool_calls", calls, "a list of calls")
    for at, call in enumerate(calls):
        yield _call(fields.mapping(call, f"tool_calls[{at}]"), at)


def _call(call: Mapping[str, Any], at: int) -> Part:
    field = f"tool_calls[{at}]"
    call_id = fields.name(call, "id", field)
    kind = _kind(call)
    called = fields.mapping(call.get(kind, fields.MISSING), f"{field}.{kind}")
    arguments = _arguments(call)
    return Part(
        kind=ItemKind.TOOL_CALL,
        place=("tool_calls", at),
        text=arguments if isinstance(arguments, str) else json_text(arguments),
        name=fields.name(called, "name", f"{field}.{kind}"),
        call_id=call_id,
        free_text=kind == "custom",
    )


def _kind(call: Mapping[str, Any]) -> str:
    """Return the kind of call, function or custom tool; some servers leave the type out."""
    return "custom" if call.get("type") == "custom" else "function"


def _arguments(call: Mapping[str, Any]) -> Any:
    """Return the arguments unchanged; a missing value means no arguments."""
    kind = _kind(call)
    arguments = call[kind].get(_ARGUMENTS[kind])
    return {} if arguments is None else arguments


def _needs_text(payload: Payload, place: Place) -> bool:
    return not isinstance(_arguments(payload["tool_calls"][place[1]]), str)


def _edited_fields(payload: Payload, texts: Mapping[Place, str | None]) -> dict[str, Any]:
    """Return a copy with the thinking, the content and the calls edited."""
    edited = dict(_edited_calls(payload, texts))
    for key in _THINKING_FIELDS:
        if (key,) in texts:
            edited[key] = texts[key,]
    if _CONTENT in texts:
        edited["content"] = texts[_CONTENT]
    elif any(place[0] == "content" for place in texts):
        content = enumerate(payload["content"])
        blocks = (fields.edited(block, texts, (*_CONTENT, at), _rewritten) for at, block in content)
        edited["content"] = [block for block in blocks if block is not None]
    return edited


def _rewritten(block: Payload, text: str) -> Payload:
    return {**block, "text": text} if block["type"] == "text" else {"type": "text", "text": text}


def _edited_aside(edited: dict[str, Any], texts: Mapping[Place, str | None]) -> dict[str, Any]:
    """Return the copy without the aside, and with its new text, if there is one, after the content."""
    if _ASIDE not in texts:
        return edited
    text = texts[_ASIDE]
    rest = {key: value for key, value in edited.items() if key not in _ASIDE_FIELDS}
    if text is None:
        return rest
    content = rest.get("content") or ()
    said = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    return {**rest, "content": [*said, {"type": "text", "text": text}] if said else text}


def _edited_calls(payload: Payload, texts: Mapping[Place, str | None]) -> Payload:
    if not any(place[0] == "tool_calls" for place in texts):
        return payload
    calls = (
        fields.edited(call, texts, ("tool_calls", at), _with_arguments) for at, call in enumerate(payload["tool_calls"])
    )
    return {**payload, "tool_calls": [call for call in calls if call is not None]}


def _with_arguments(call: Payload, text: str) -> Payload:
    kind = _kind(call)
    return {**call, kind: {**call[kind], _ARGUMENTS[kind]: text}}


def _without_empty(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message without an empty list of calls and without emptied fields; removed content becomes null."""
    may_go = ("tool_calls", *_THINKING_FIELDS)
    kept = {key: value for key, value in message.items() if key not in may_go or value not in (None, [])}
    return {**kept, "content": None} if kept.get("content") == [] else kept


def _says_something(message: Mapping[str, Any]) -> bool:
    return any(message.get(key) for key in ("content", "tool_calls", *_THINKING_FIELDS, *_ASIDE_FIELDS))


def _message_of(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    if "choices" not in reply:
        return reply
    choices = reply["choices"]
    if not isinstance(choices, list) or not choices:
        raise fields.FieldError("choices", choices, "a list with a choice")
    choice = fields.mapping(choices[0], "choices[0]")
    return fields.mapping(choice.get("message", fields.MISSING), "choices[0].message")


def _sendable(message: Mapping[str, Any]) -> dict[str, Any]:
    # A null content is kept: some servers require the key.
    kept = {key: value for key, value in message.items() if key == "content" or value not in (None, [])}
    return {key: _sendable_field(key, value) for key, value in kept.items() if key not in _SDK_ONLY}


def _sendable_field(key: str, value: Any) -> Any:
    if key == "audio" and isinstance(value, Mapping):
        return {"id": fields.name(value, "id", "audio")}
    return [_sendable_call(call) for call in value] if key == "tool_calls" and isinstance(value, list) else value


def _sendable_call(call: Any) -> Any:
    if not isinstance(call, Mapping):
        return call
    kept = {key: value for key, value in call.items() if value is not None and key not in _SDK_ONLY}
    if isinstance(kept.get("function"), Mapping):
        kept["function"] = {key: value for key, value in kept["function"].items() if key not in _SDK_ONLY}
    return kept
