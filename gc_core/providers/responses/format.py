"""
OpenAI's Responses.

A payload is one item of the input as the API takes it, or a *reply*: ``{"role": "assistant", "output": [items]}``, all
items of one model call. Only a session knows replies; ``request`` sends their items in order. The shapes are those of
``openai.types.responses.*_param`` (openai 3.54, November 2026); unknown items, blocks and fields are kept as they are.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gc_core.providers import fields
from gc_core.providers.message_format import MessageFormat
from gc_core.providers.replies import plain, usage_with_details
from gc_core.providers.responses import items
from gc_core.providers.responses.compaction import merged
from gc_core.providers.responses.item_types import COMPACTION, MESSAGE, is_reasoning
from gc_core.values.items import Part, Place
from gc_core.values.messages import NESTED, Payload, Request, Role, Usage

_OUTPUT = "output"
_MARK = "prompt_cache_breakpoint"
# Fields that the API returns but does not accept, or ignores. The status is required for a computer's call, a shell's
# and the like; for these only the API sets it.
_OUTPUT_ONLY = frozenset({"created_by", "parsed", "parsed_arguments"})
_WITHOUT_STATUS = frozenset({"message", "reasoning", "function_call", "custom_tool_call", *COMPACTION})
_OUTPUT_ONLY_IN_TEXT = frozenset({"logprobs", "parsed"})


class ResponsesFormat(MessageFormat):
    """Responses: a flat list of items; the system text is separate, and a reply's reasoning is a separate item."""

    name = "responses"
    most_marks = 4
    replies_in_pieces = True
    takes_last_thinking = True

    def role(self, payload: Payload) -> Role:
        """
        Return who speaks: a message's role, the assistant for replies and what only the model makes, a tool for
        results.

        Raises MessageError naming the field.
        """
        payload = fields.mapping(payload, "message")
        return Role.ASSISTANT if _is_reply(payload) else items.role_of(payload, "message")

    def read(self, payload: Payload) -> tuple[Part, ...]:
        """
        Return the parts of an item, or of all items of a reply: one per item, for a message one per content part.

        A call of a tool that the provider runs itself is opaque, together with its result. Raises MessageError naming
        the field and what was expected.
        """
        payload = fields.mapping(payload, "message")
        if not _is_reply(payload):
            return tuple(items.parts_of(payload, (), field="message"))
        return tuple(part for parts in _parts_by_item(payload) for part in parts)

    def places(self, payload: Payload) -> Sequence[Place]:
        """Return the places of the parts."""
        return [part.place for part in self.read(payload)]

    def edit(self, payload: Payload, texts: Mapping[Place, str | None]) -> Payload | None:
        """
        Return a copy with other texts at these places, or (None) without them; None when nothing is left.

        If reasoning leaves a reply, or becomes text, the items it led to lose their ids (rule R3). Reasoning leaves
        with the item that follows it (rule R2), named or not: the only case in which more is removed than was named.
        Raises MessageError for a place without a part, and for a text in the place of a screenshot.
        """
        if not texts:
            return payload
        if not _is_reply(payload):
            parts = tuple(items.parts_of(payload, (), field="message"))
            fields.check_places(texts, [part.place for part in parts])
            return items.edited(payload, (), texts, _whole(parts))
        by_item = _parts_by_item(payload)
        fields.check_places(texts, [part.place for parts in by_item for part in parts])
        edited = [
            items.edited(item, (_OUTPUT, at), texts, _whole(parts))
            for at, (item, parts) in enumerate(zip(payload[_OUTPUT], by_item, strict=True))
        ]
        output = _consistent(payload[_OUTPUT], edited)
        return {**payload, _OUTPUT: output} if output else None

    def normalise(self, payload: Payload) -> Payload:
        """
        Return the payload itself, or a copy in which arguments given as objects are JSON strings, and outputs have no
        empty texts; a reply loses its empty messages, and everything before its compaction, which replaces it (rule
        R4).
        """
        if not _is_reply(payload):
            return items.normalised(fields.mapping(payload, "message"))
        output = payload[_OUTPUT]
        kept = output[_last_compaction(output) :]
        bare = [None if items.says_nothing(item) else items.normalised(item) for item in kept]
        normal = _consistent(kept, bare)
        same = len(normal) == len(output) and all(new is old for new, old in zip(normal, output, strict=True))
        return payload if same else {**payload, _OUTPUT: normal}

    def join(self, first: Payload, second: Payload) -> Payload | None:
        """Return one reply for two payloads of the model, because a reply may arrive item by item; otherwise None."""
        if self.role(first) is not Role.ASSISTANT or self.role(second) is not Role.ASSISTANT:
            return None
        return None if self.replaces(second) else {"role": "assistant", _OUTPUT: [*_items(first), *_items(second)]}

    def replaces(self, payload: Payload) -> bool:
        """Return whether it replaces everything before it: a compaction, or a reply that begins with one (rule R4)."""
        output = _items(payload)
        return bool(output) and output[0].get("type") in COMPACTION

    def follows_users(self, payload: Payload) -> bool:
        """Return whether it is a compaction by itself: ``responses.compact`` returns it after user messages (R4)."""
        return payload.get("type") in COMPACTION

    def marks(self, payload: Payload) -> int:
        """Return the number of cache marks in an item."""
        return sum(_MARK in block for field in NESTED for block in _blocks(payload, field))

    def unmarked(self, payload: Payload, keep: int) -> Payload:
        """Return a copy with only its last ``keep`` cache marks; the payload itself if it has no more."""
        over = self.marks(payload) - keep
        for field in NESTED if over > 0 else ():
            blocks = _blocks(payload, field)
            if any(_MARK in block for block in blocks):
                bare = []
                for block in blocks:
                    strip = _MARK in block and over > 0
                    over -= strip
                    bare.append({key: value for key, value in block.items() if key != _MARK} if strip else block)
                payload = {**payload, field: bare}
        return payload

    def results(
        self,
        answers: Sequence[tuple[str, str]],
        failed: Container[int] = (),  # noqa: ARG002 - the protocol
    ) -> tuple[Payload, ...]:
        """
        Return an output item for each answer, of the kind that the call needs; the ids are those of the parts that
        ``read`` returns. The outputs of screenshots and tool searches cannot contain the text.
        """
        return tuple(items.answer_to(key, text) for key, text in answers)

    def reply(self, reply: object) -> Payload:
        """
        Return all output items of a Response, of its dict, or of a reply, fit to be sent back.

        Fields that the API does not accept are removed; ids and encrypted content stay, byte for byte. Raises
        MessageError if there is no output of a model.
        """
        message = fields.mapping(plain(reply), "reply")
        output = message[_OUTPUT] if _OUTPUT in message and "call_id" not in message else [message]
        if not isinstance(output, list | tuple):
            raise fields.FieldError(_OUTPUT, output, "a list of items")
        sendable = {"role": "assistant", _OUTPUT: [_sendable(item, f"output[{at}]") for at, item in enumerate(output)]}
        self.read(sendable)
        return sendable

    def pieces(self, reply: Payload) -> tuple[Payload, ...]:
        """Return the output items, each by itself."""
        return tuple(reply[_OUTPUT]) if _is_reply(reply) else (reply,)

    def history_elsewhere(self, reply: object) -> str | None:
        """
        Return where the provider stores the history of this Response (rule R5), in words, or ""; None for anything
        else.
        """
        response = plain(reply)
        if not isinstance(response, Mapping) or response.get("object") != "response":
            return None
        kept = response.get("conversation")
        conversation = kept.get("id") if isinstance(kept, Mapping) else kept
        if conversation:
            return f"conversation {conversation}"
        previous = response.get("previous_response_id")
        return f"previous_response_id {previous}" if previous else ""

    def usage(self, usage: object) -> Usage:
        """
        Return the usage of a Response; its input tokens include cached ones. Raises MessageError when counts are
        missing.
        """
        return usage_with_details(usage, sent="input_tokens", answered="output_tokens")

    def schema_name(self, schema: Payload) -> str:
        """
        Return the name in a tool schema; for a tool that the provider runs, which has none, its server's label or its
        type.

        Raises MessageError when there is none.
        """
        schema = fields.mapping(schema, "tool")
        kind = fields.name(schema, "type", "tool")
        if kind in {"function", "custom", "namespace"} or "name" in schema:
            return fields.name(schema, "name", "tool")
        return fields.name(schema, "server_label" if "server_label" in schema else "type", "tool")

    def request(
        self, *, system: Sequence[str], tools: Sequence[Payload], messages: Sequence[Payload], tokens: int
    ) -> Request:
        """Build the request: the items of all payloads in one list; the system texts become ``instructions``."""
        blocks = tuple({"type": "text", "text": text} for text in system if text)
        flat: list[Payload] = []
        for message in messages:
            if _OUTPUT in message and _is_reply(message):
                flat.extend(message[_OUTPUT])
            else:
                flat.append(message)
        return Request(
            format=self.name,
            messages=tuple(flat),
            system=blocks,
            tools=tuple(tools),
            tokens=tokens,
            whole=tuple(messages),
            arguments=_client_arguments,
        )


def _client_arguments(request: Request, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the client's arguments; the system text is one string."""
    arguments: dict[str, Any] = {"input": list(request.messages)}
    if request.system:
        arguments["instructions"] = "\n\n".join(block["text"] for block in request.system)
    if request.tools:
        arguments["tools"] = list(request.tools)
    return arguments | merged(request.options, own)


def _is_reply(payload: Payload) -> bool:
    """Return whether it has all items of a model call; a result has an output too, but also a type."""
    return _OUTPUT in payload and "type" not in payload and payload.get("role") == "assistant"


def _items(payload: Payload) -> Sequence[Payload]:
    return payload[_OUTPUT] if _is_reply(payload) else (payload,)


def _parts_by_item(reply: Payload) -> list[tuple[Part, ...]]:
    output = reply[_OUTPUT]
    if not isinstance(output, list | tuple):
        raise fields.FieldError(_OUTPUT, output, "a list of items")
    for at, item in enumerate(output):
        _check_spoken(item, f"output[{at}]")
    settled = items.settled_in(output)
    return [
        tuple(items.parts_of(item, (_OUTPUT, at), settled=settled, field=f"output[{at}]"))
        for at, item in enumerate(output)
    ]


def _check_spoken(item: Payload, field: str) -> None:
    """Check that a reply contains no messages of others, which would pass for the model's."""
    if items.kind_of(item, field) == MESSAGE and items.role_of(item, field) is not Role.ASSISTANT:
        expected = "'assistant' in a reply; other roles have separate items"
        raise fields.FieldError(f"{field}.role", item["role"], expected)


def _whole(parts: Sequence[Part]) -> Part | None:
    return parts[0] if len(parts) == 1 else None


def _last_compaction(output: Sequence[Payload]) -> int:
    places = (at for at in range(len(output) - 1, -1, -1) if output[at].get("type") in COMPACTION)
    return next(places, 0)


def _consistent(before: Sequence[Payload], after: Sequence[Payload | None]) -> list[Payload]:
    """
    Return the remaining items according to rules R2 and R3: reasoning leaves with the item that follows it, and items
    whose reasoning was removed have no id by which the provider would look for it.
    """
    left = list(after)
    for start, end in _runs(before):
        if end < len(before) and left[end] is None:
            left[start:end] = [None] * (end - start)
    return list(_without_lost_ids(before, left))


def _runs(output: Sequence[Payload]) -> Iterator[tuple[int, int]]:
    """Yield the start of each run of reasoning items, and the place of the item after it."""
    start = -1
    for at, item in enumerate((*output, {})):
        if is_reasoning(item):
            start = at if start < 0 else start
        elif start >= 0:
            yield start, at
            start = -1


def _without_lost_ids(before: Iterable[Payload], after: Iterable[Payload | None]) -> Iterator[Payload]:
    lost = in_run = False
    for old, new in zip(before, after, strict=True):
        if is_reasoning(old):
            removed = new is None or not is_reasoning(new)
            lost, in_run = removed or (lost and in_run), True
            if new is not None:
                yield new
            continue
        in_run = False
        if new is not None:
            yield {key: value for key, value in new.items() if key != "id"} if lost and _may_lose_id(new) else new


def _may_lose_id(item: Payload) -> bool:
    """Return whether the item may lose its id; an approval is answered by the id of its request."""
    return "id" in item and item.get("type") != "mcp_approval_request"


def _blocks(payload: Payload, field: str) -> list[Any]:
    blocks = payload.get(field)
    return [block for block in blocks if isinstance(block, Mapping)] if isinstance(blocks, list) else []


def _sendable(item: Any, field: str) -> dict[str, Any]:
    kind = items.kind_of(item, field)
    out = _OUTPUT_ONLY | {"status"} if kind in _WITHOUT_STATUS else _OUTPUT_ONLY
    kept = {key: value for key, value in item.items() if value is not None and key not in out}
    if kind == MESSAGE and isinstance(kept.get("content"), list):
        kept["content"] = [_sendable_block(block) for block in kept["content"]]
    return kept


def _sendable_block(block: Any) -> Any:
    if not isinstance(block, Mapping):
        return block
    return {key: value for key, value in block.items() if value is not None and key not in _OUTPUT_ONLY_IN_TEXT}
