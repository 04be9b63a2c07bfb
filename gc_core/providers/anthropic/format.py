"""
Anthropic's Messages.

The shapes are those of ``anthropic.types.*_block_param``; unknown blocks are kept as they are.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import attrs

from gc_core.providers import fields
from gc_core.providers.anthropic.context_editing import merged
from gc_core.providers.content_text import (
    EACH,
    OTHERS,
    Binary,
    json_text,
    readable_block,
    readable_result,
    sendable_result,
)
from gc_core.providers.message_format import MessageFormat
from gc_core.providers.replies import plain
from gc_core.providers.server_edits import ServerEdits
from gc_core.values.items import ItemKind, Part, Place
from gc_core.values.messages import MARKED_LEVELS, Payload, Request, Role, Usage, payloads_by_name

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
_TEXT_KINDS = {
    Role.SYSTEM: ItemKind.SYSTEM_TEXT,
    Role.USER: ItemKind.USER_TEXT,
    Role.ASSISTANT: ItemKind.ASSISTANT_TEXT,
}
_CONTENT: Place = ("content",)
_MARK = "cache_control"
_PATH = re.compile(r"messages\.(\d{1,9})\.content\.(\d{1,9})", re.ASCII)
_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_TOOL_CHANGES = frozenset({"tool_addition", "tool_removal"})
_ATTACHMENTS = frozenset({"image", "document", "search_result", "container_upload"})
_FETCHED = ("content", "content", "source")
_BINARIES = {
    "document": (Binary(("source", "data"), within="base64"), Binary(("source", "content", EACH))),
    "web_fetch_tool_result": (Binary((*_FETCHED, "data"), within="base64"), Binary((*_FETCHED, "content", EACH))),
    "web_search_tool_result": (Binary(("content", EACH, "encrypted_content")),),
    "code_execution_tool_result": (Binary(("content", "encrypted_stdout")),),
    "advisor_tool_result": (Binary(("content", "encrypted_content")),),
    "compaction": (Binary(("encrypted_content",)), Binary(("signature",))),
    OTHERS: (Binary(("source", "data"), within="base64", unsure=True),),  # as in every block with bytes so far
}
# Bound to their bytes by a signature: missing, null and empty fields are part of them.
_SEALED = frozenset({"thinking", "redacted_thinking", "compaction"})
# Fields that the SDK adds for its users and the API does not accept.
_SDK_ONLY = frozenset({"parsed_output"})


class AnthropicFormat(MessageFormat):
    """
    Messages: content is blocks, all results of a batch come first in the next user message, system
    text is separate.
    """

    name = "anthropic"
    most_marks = 4
    needs_user_first = True

    def role(self, payload: Payload) -> Role:
        """
        Return who speaks; TOOL for a user message with only results.

        Raises MessageError naming ``role`` and the known roles.
        """
        role = fields.role(fields.mapping(payload, "message"), _ROLES, {})
        blocks = payload.get("content")
        has_only_results = isinstance(blocks, list) and blocks and all(map(_is_result, blocks))
        return Role.TOOL if role is Role.USER and has_only_results else role

    def read(self, payload: Payload) -> tuple[Part, ...]:
        """
        Return the parts of one message, one per block; none if there is nothing to read.

        Raises MessageError naming the field and what was expected.
        """
        self.role(payload)
        role = _ROLES[payload["role"]]
        content = payload.get("content", fields.MISSING)
        if isinstance(content, str):
            return (Part(kind=_TEXT_KINDS[role], place=_CONTENT, text=content),) if content else ()
        if not isinstance(content, list | tuple):
            raise fields.FieldError("content", content, "a string or a list of blocks")
        if _is_control(payload):
            control = {key: value for key, value in payload.items() if key not in {"role", "content"}}
            return (Part(kind=ItemKind.OPAQUE, place=_CONTENT, text=json_text(control), held=True),)
        parts = tuple(_part(block, at, role) for at, block in fields.blocks(content, "content"))
        apart = _apart(content)
        if not apart:
            return parts
        return tuple(attrs.evolve(part, held=True) if part.place[1] in apart else part for part in parts)

    def places(self, payload: Payload) -> Sequence[Place]:
        """Return the places of the parts; reading the message again would take most of an edit's time."""
        return _places(payload["content"])

    def edit(self, payload: Payload, texts: Mapping[Place, str | None]) -> Payload | None:
        """
        Return a copy with other texts at these places, or (None) without them; None when nothing is left.

        Attachments, opaque blocks and thinking become text blocks, because a signature is valid for no other text.
        Raises MessageError for a place without a part, and for arguments that are not a JSON object.
        """
        if not texts:
            return payload
        fields.check_places(texts, self.places(payload))
        if not payload["content"] or isinstance(payload["content"], str):
            text = texts[_CONTENT]
            return None if text is None else {**payload, "content": text}
        content = enumerate(payload["content"])
        blocks = (
            fields.edited(block, texts, (*_CONTENT, at), functools.partial(_rewritten, at)) for at, block in content
        )
        kept = [block for block in blocks if block is not None]
        return {**payload, "content": kept} if kept else None

    def with_call_ids(self, payload: Payload, ids: Mapping[Place, str]) -> Payload:
        """Return a copy in which the calls and results at these places have other ids."""
        if not ids:
            return payload
        keys = {"tool_use": "id", "tool_result": "tool_use_id"}
        blocks = [
            {**block, keys[block["type"]]: ids[*_CONTENT, at]} if (*_CONTENT, at) in ids else block
            for at, block in enumerate(payload["content"])
        ]
        return {**payload, "content": blocks}

    def normalise(self, payload: Payload) -> Payload:
        """
        Return the payload itself, or a copy: of a user message with its results first, none of them null or with an
        empty text; of a reply from its last compaction on, which replaces what precedes it (rule N6).
        """
        blocks = payload.get("content")
        if not isinstance(blocks, list):
            return payload
        if payload.get("role") != "user":
            start = _last_compaction(blocks)
            return {**payload, "content": blocks[start:]} if start else payload
        ordered = _results_first([_sendable_result(block) for block in blocks])
        return payload if all(map(operator.is_, ordered, blocks)) else {**payload, "content": ordered}

    def join(self, first: Payload, second: Payload) -> Payload | None:
        """
        Return one user message, results first, if the second contains results; one of two system
        texts; otherwise None.
        """
        if _is_control(first) or _is_control(second):
            return None
        if first.get("role") == second.get("role") == "system":
            return {**second, **first, "content": [*_blocks(first), *_blocks(second)]}
        if first.get("role") != "user" or second.get("role") != "user":
            return None
        late = _blocks(second)
        if not any(map(_is_result, late)):
            return None
        return {**second, **first, "content": _results_first([*_blocks(first), *late])}

    def replaces(self, payload: Payload) -> bool:
        """Return whether it begins with a compaction that replaces everything before it; a failed one does not (N6)."""
        blocks = _blocks(payload)
        return payload.get("role") == "assistant" and bool(blocks) and _is_compaction(blocks[0])

    def marks(self, payload: Payload) -> int:
        """Return the number of cache marks in a message or tool schema, including those inside results."""
        return _marks(payload)

    def unmarked(self, payload: Payload, keep: int) -> Payload:
        """Return a copy with only its last ``keep`` cache marks; the payload itself if it has no more."""
        over = self.marks(payload) - keep
        if over <= 0:
            return payload
        return _without_oldest_marks(payload, over)[0]

    def results(self, answers: Sequence[tuple[str, str]], failed: Container[int] = ()) -> tuple[Payload, ...]:
        """Return one user message with a result for each answer, failed ones flagged; none for no answers."""
        flags = ({"is_error": True} if place in failed else {} for place in range(len(answers)))
        blocks = [
            {"type": "tool_result", "tool_use_id": call_id, "content": text, **flag}
            for (call_id, text), flag in zip(answers, flags, strict=True)
        ]
        return ({"role": "user", "content": blocks},) if blocks else ()

    def reply(self, reply: object) -> Payload:
        """
        Return the assistant message of a Message object, of its dict, or as it is; role and content only, fit to be
        sent back.

        Thinking and compaction blocks stay verbatim; null fields of others are removed. Raises MessageError if there is
        no assistant message.
        """
        message = fields.mapping(plain(reply), "reply")
        content = message.get("content", fields.MISSING)
        if message.get("role", "assistant") != "assistant":
            raise fields.FieldError("role", message["role"], "'assistant'")
        blocks = content if not isinstance(content, list) else [_sendable(block) for block in content]
        sendable = {"role": "assistant", "content": blocks}
        self.read(sendable)
        return sendable

    def usage(self, usage: object) -> Usage:
        """
        Return the usage of a Message; its input tokens are those that the API reports outside the cache, plus the
        cache's.

        A ``message_delta`` of a stream may have only output tokens: its input tokens are 0. Raises MessageError when
        counts are missing. Compaction passes are separate: they are billed, and in none of the other counts.
        """
        report = fields.mapping(plain(usage), "usage")
        least = None if report.get("output_tokens") is None else 0
        whole = _usage(report, "usage", least=least)
        passes = (
            _usage(fields.mapping(each, f"usage.iterations[{at}]"), f"usage.iterations[{at}]", least=0)
            for at, each in enumerate(report.get("iterations") or ())
            if isinstance(each, Mapping) and each.get("type") == "compaction"
        )
        told = any(report.get(key) is not None for key in _CACHE_COUNTS)
        return attrs.evolve(whole, iterations=tuple(passes), cache_reported=told)

    def server_edits(self, reply: object) -> ServerEdits | None:
        """
        Return the ``context_management`` edits and ``input_transformations`` of a whole Message; None for anything
        less. Raises MessageError for a report that cannot be read.
        """
        message = fields.mapping(plain(reply), "reply")
        report = message.get("context_management")
        changed = message.get("input_transformations")
        if report is None and changed is None and "usage" not in message and "stop_reason" not in message:
            return None
        report = fields.mapping(report or {}, "context_management")
        edits = list(fields.blocks(report.get("applied_edits") or (), "context_management.applied_edits"))
        return ServerEdits(
            tool_uses=_sum("cleared_tool_uses", edits),
            thinking_turns=_sum("cleared_thinking_turns", edits),
            tokens=_sum("cleared_input_tokens", edits),
            dropped=tuple(_dropped(changed or ())),
        )

    def schema_name(self, schema: Payload) -> str:
        """
        Return the name in a tool schema; for a toolset, which has none, its MCP server's name or its type.

        Raises MessageError when there is none.
        """
        schema = fields.mapping(schema, "tool")
        kind = schema.get("type")
        if "name" not in schema and isinstance(kind, str) and "toolset" in kind:
            return fields.name(schema, "mcp_server_name" if "mcp_server_name" in schema else "type", "tool")
        return fields.name(schema, "name", "tool")

    def request(
        self, *, system: Sequence[str], tools: Sequence[Payload], messages: Sequence[Payload], tokens: int
    ) -> Request:
        """Build the request; each system text becomes a separate block outside the messages."""
        blocks = tuple({"type": "text", "text": text} for text in system if text)
        return Request(
            format=self.name,
            messages=tuple(messages),
            system=blocks,
            tools=tuple(tools),
            tokens=tokens,
            arguments=_client_arguments,
        )


def _client_arguments(request: Request, own: Mapping[str, Any]) -> dict[str, Any]:
    return payloads_by_name(request) | merged(request.options, own)


_CACHE_COUNTS = ("cache_read_input_tokens", "cache_creation_input_tokens")


def _usage(report: Mapping[str, Any], field: str, *, least: int | None) -> Usage:
    """Return the counts of one pass; hour-long writes are listed in a breakdown of all writes."""
    read = fields.number(report, "cache_read_input_tokens", field, default=0)
    written = fields.number(report, "cache_creation_input_tokens", field, default=0)
    lives = fields.mapping(report.get("cache_creation") or {}, f"{field}.cache_creation")
    hour = fields.number(lives, "ephemeral_1h_input_tokens", f"{field}.cache_creation", default=0)
    return Usage(
        input_tokens=fields.number(report, "input_tokens", field, default=least) + read + written,
        output_tokens=fields.number(report, "output_tokens", field, default=0),
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_write_1h_tokens=min(hour, written),
    )


def _sum(key: str, edits: Sequence[tuple[int, Mapping[str, Any]]]) -> int:
    where = "context_management.applied_edits"
    return sum(fields.number(edit, key, f"{where}[{at}]", default=0) for at, edit in edits)


def _dropped(changed: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int]]:
    """Yield the places of thinking that failed a binding check; entries of other types leave the request as it was."""
    for _, entry in fields.blocks(changed, "input_transformations"):
        if entry["type"] == "thinking_dropped":
            found = _PATH.fullmatch(str(entry.get("path")))
            if found is None:
                raise fields.FieldError("input_transformations.path", entry.get("path"), "'messages.i.content.j'")
            yield int(found.group(1)), int(found.group(2))


def _is_compaction(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "compaction" and block.get("content") is not None


def _last_compaction(blocks: Sequence[object]) -> int:
    places = (at for at in range(len(blocks) - 1, -1, -1) if _is_compaction(blocks[at]))
    return next(places, 0)


def _apart(blocks: Sequence[Mapping[str, Any]]) -> set[int]:
    """
    Return the places of blocks that must not move (N8): changes of tools, and server tools' calls and results whose
    other half is in another message, because the reply paused or ran a client's tool meanwhile.
    """
    calls = {block.get("id"): at for at, block in enumerate(blocks) if block["type"] in _SERVER_CALLS}
    found = set(calls.values())
    for at, block in enumerate(blocks):
        answers = block.get("tool_use_id")
        if block["type"] != "tool_result" and block["type"].endswith("_tool_result") and answers is not None:
            if answers in calls:
                found.discard(calls[answers])
            else:
                found.add(at)
    paired = {at for at in found if blocks[at].get("id") is not None or blocks[at].get("tool_use_id") is not None}
    return paired | {at for at, block in enumerate(blocks) if block["type"] in _TOOL_CHANGES}


def _check_compaction(block: Mapping[str, Any], field: str) -> None:
    content = block.get("content")
    if content is not None and not (isinstance(content, str) and content):
        raise fields.FieldError(f"{field}.content", content, "a non-empty text, or null")


def _part(block: Mapping[str, Any], at: int, role: Role) -> Part:
    place, field = (*_CONTENT, at), f"content[{at}]"
    match block["type"]:
        case "text":
            return Part(kind=_TEXT_KINDS[role], place=place, text=fields.text(block, "text", field))
        case "tool_use":
            return _call(block, place, _spoken(Role.ASSISTANT, role, block, field))
        case "tool_result":
            return _result(block, place, _spoken(Role.USER, role, block, field))
        case "thinking" | "redacted_thinking" if role is Role.ASSISTANT:
            return _thinking(block, place, field)
        case "compaction":
            _check_compaction(block, field)
    attached = role is Role.USER and block["type"] in _ATTACHMENTS
    return readable_block(block, _BINARIES).part(ItemKind.ATTACHMENT if attached else ItemKind.OPAQUE, place)


def _spoken(by: Role, role: Role, block: Mapping[str, Any], field: str) -> str:
    """Return the field after checking the role: a call in a user message could not be paired."""
    if by is not role:
        raise fields.FieldError(f"{field}.type", block["type"], f"this block in a message of role {by.value!r} only")
    return field


def _thinking(block: Mapping[str, Any], place: Place, field: str) -> Part:
    if block["type"] == "redacted_thinking":
        return Part(kind=ItemKind.THINKING, place=place, sealed_bytes=len(fields.text(block, "data", field)))
    text = fields.text(block, "thinking", field)
    return Part(kind=ItemKind.THINKING, place=place, text=text, sealed_bytes=fields.sealed_length(block, "signature"))


def _call(block: Mapping[str, Any], place: Place, field: str) -> Part:
    return Part(
        kind=ItemKind.TOOL_CALL,
        place=place,
        text=json_text(fields.mapping(block.get("input", fields.MISSING), f"{field}.input")),
        name=fields.name(block, "name", field),
        call_id=fields.name(block, "id", field),
    )


def _result(block: Mapping[str, Any], place: Place, field: str) -> Part:
    call_id = fields.name(block, "tool_use_id", field)
    read = readable_result(block.get("content"), f"{field}.content", _BINARIES)
    return read.part(ItemKind.TOOL_RESULT, place, call_id=call_id, is_error=block.get("is_error") is True)


def _is_control(payload: Payload) -> bool:
    """
    True for a system message without content that carries settings: Claude Code changes the effort with one
    (``output_config``).
    """
    settings = payload.keys() - {"role", "content"}
    return payload.get("role") == "system" and not payload.get("content") and bool(settings)


def _places(content: str | Sequence[object]) -> list[Place]:
    return [_CONTENT] if not content or isinstance(content, str) else [(*_CONTENT, at) for at in range(len(content))]


def _rewritten(at: int, block: Payload, text: str) -> Payload:
    match block["type"]:
        case "text":
            return {**block, "text": text}
        case "tool_result":
            return {**block, "content": text}
        case "tool_use":
            return {**block, "input": fields.object_in(text, f"content[{at}].input")}
    marks = {key: block[key] for key in ("cache_control",) if key in block}
    return {"type": "text", "text": text, **marks}


def _marks(payload: Mapping[str, Any], levels: int = MARKED_LEVELS) -> int:
    content = payload.get("content") if levels else None
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else ()
    return bool(payload.get(_MARK)) + sum(_marks(part, levels - 1) for part in parts)


def _without_oldest_marks(payload: Payload, over: int, levels: int = MARKED_LEVELS) -> tuple[Payload, int]:
    """Return a copy without this many marks, starting with the first, and how many are still too many."""
    content = payload.get("content") if levels else None
    if isinstance(content, list) and over:
        parts = []
        for part in content:
            is_block = isinstance(part, Mapping)
            bare, over = _without_oldest_marks(part, over, levels - 1) if is_block else (part, over)
            parts.append(bare)
        payload = {**payload, "content": parts}
    if over and payload.get(_MARK):
        return {key: value for key, value in payload.items() if key != _MARK}, over - 1
    return payload, over


def _is_result(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_result"


def _blocks(message: Payload) -> list[Any]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or ())


def _sendable_result(block: Any) -> Any:
    """
    Return the block itself, or a copy of a result that the API would refuse; it accepts one without content, or with
    [].
    """
    if not _is_result(block) or block.get("content", []) == []:
        return block
    content = sendable_result(block["content"])
    return block if content is block["content"] else {**block, "content": content}


def _results_first(blocks: Sequence[Any]) -> list[Any]:
    return sorted(blocks, key=lambda block: not _is_result(block))


def _sendable(block: Any) -> Any:
    if not isinstance(block, Mapping) or block.get("type") in _SEALED:
        return block
    return {key: value for key, value in block.items() if value is not None and key not in _SDK_ONLY}
