"""
The rules of OpenAI's Responses (A1, A4, R1-R4, R7, R8).

Items are checked as they are sent, in one flat list. What a collection may do is checked by the rules for all formats,
on the items as messages of blocks: see ``as_messages``.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gc_core.providers.responses.item_types import (
    APPROVAL,
    APPROVAL_REQUEST,
    COMPACTION,
    FOUND,
    FUNCTION,
    MESSAGE,
    TEXTS,
    TRIGGER,
    call_key,
    is_call,
    is_of_model,
    is_reasoning,
    is_result,
    kind_of,
    result_key,
)
from gc_core.providers.rules.framed_text import a6, a9
from gc_core.providers.rules.violations import Rendered, Rule, Violation
from gc_core.values.json_values import holds_object
from gc_core.values.messages import MARKS, NESTED, Payload, Request

MAX_CACHE_MARKS = 4
"""R7: the most explicit cache breakpoints that OpenAI writes in one request."""

_NEEDS = {"input_image": ("image_url", "file_id"), "input_file": ("file_id", "file_data", "file_url")}


def _pairs(rendered: Rendered) -> Iterator[Violation]:
    """A1, R1: each call has exactly one output after it, and each output its call; ids may repeat."""
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    answered: set[str] = set()
    for index, item in enumerate(rendered.messages):
        if is_call(item):
            waiting[call_key(item)].append(index)
        elif is_result(item):
            key = result_key(item)
            if waiting[key]:
                waiting[key].popleft()
                answered.add(key)
            elif key in answered:
                yield Violation(rule="A1", index=index, text=f"a second output for call {key!r}; expected exactly one")
            else:
                yield Violation(rule="R1", index=index, text=f"an output for {key!r}, which no item before it called")
    start = _waiting_from(rendered.messages) if rendered.pending else len(rendered.messages)
    for key, places in waiting.items():
        for index in places:
            if index < start:
                yield Violation(rule="R1", index=index, text=f"call {key!r} has no output; expected one after it")


def _waiting_from(items: Sequence[Payload]) -> int:
    """Return the start of the last reply, if only outputs follow it: its calls may wait."""
    at = len(items)
    while at and is_result(items[at - 1]):
        at -= 1
    while at and is_of_model(items[at - 1]):
        at -= 1
    return at


def _r2(rendered: Rendered) -> Iterator[Violation]:
    """R2: a reasoning item is directly before the item that it led to."""
    items = rendered.messages
    for index, item in enumerate(items):
        if is_reasoning(item) and not (index + 1 < len(items) and is_of_model(items[index + 1])):
            text = "a reasoning item without the item that followed it; both stay or both go"
            yield Violation(rule="R2", index=index, text=text)


def _r4(rendered: Rendered) -> Iterator[Violation]:
    """R4: before a compaction item there are only the user messages of a compacted window."""
    places = [index for index, item in enumerate(rendered.messages) if kind_of(item) in COMPACTION]
    before = rendered.messages[: places[-1]] if places else ()
    replaced = sum(kind_of(item) != MESSAGE or item.get("role") != "user" for item in before)
    if replaced:
        yield Violation(rule="R4", index=places[-1], text=f"{replaced} items before the compaction that replaces them")


def _a4(rendered: Rendered) -> Iterator[Violation]:
    """A4: no empty message and no empty text; the arguments of a call are one JSON object; an output is not null."""
    if not rendered.messages:
        yield Violation(rule="A4", index=-1, text="no items; at least one is needed")
    for index, item in enumerate(rendered.messages):
        kind = kind_of(item)
        if kind == MESSAGE and not item.get("content"):
            yield Violation(rule="A4", index=index, text="the message is empty; leave it out or give it content")
        elif kind == MESSAGE and any(_is_empty_text(block) for block in _blocks(item, "content")):
            yield Violation(rule="A4", index=index, text="an empty text; leave it out or give it a text")
        elif kind in {FUNCTION, APPROVAL_REQUEST} and not holds_object(item.get("arguments")):
            text = f"the arguments of {item.get('name')!r} are not one JSON object as text"
            yield Violation(rule="A4", index=index, text=text)
        elif kind == "function_call_output" and item.get("output") is None:
            yield Violation(rule="A4", index=index, text="an output that is null; an empty text would do")


def _r7(rendered: Rendered) -> Iterator[Violation]:
    """R7: at most four explicit cache breakpoints."""
    blocks = (block for item in rendered.messages for field in NESTED for block in _blocks(item, field))
    marks = sum(not MARKS.isdisjoint(block) for block in blocks)
    if marks > MAX_CACHE_MARKS:
        yield Violation(rule="R7", index=-1, text=f"{marks} cache breakpoints; at most {MAX_CACHE_MARKS} are written")


def _r8(rendered: Rendered) -> Iterator[Violation]:
    """R8: an image or a file has a source."""
    for index, item in enumerate(rendered.messages):
        for block in (*_blocks(item, "content"), *_blocks(item, "output")):
            needed = _NEEDS.get(str(block.get("type")), ())
            if needed and not any(block.get(key) for key in needed):
                text = f"an {block['type']} without any of {', '.join(needed)}"
                yield Violation(rule="R8", index=index, text=text)


def _blocks(item: Payload, field: str) -> list[Mapping[str, Any]]:
    blocks = item.get(field)
    return [block for block in blocks if isinstance(block, Mapping)] if isinstance(blocks, list | tuple) else []


def _is_empty_text(block: Mapping[str, Any]) -> bool:
    return block.get("type") in TEXTS and not block.get("text")


# -- what a collection may do ------------------------------------------------------------------------------------------


def lost_reasoning(before: Request, after: Request) -> Iterator[Violation]:
    """R3: an item whose reasoning was removed has no id by which the provider would look for it."""
    led = {id_: reasoning for _, id_, reasoning in _led_in(before) if reasoning}
    for index, id_, reasoning in _led_in(after):
        if not led.get(id_, frozenset()) <= reasoning:
            yield Violation(
                rule="R3", index=index, text=f"{id_!r} keeps its id, and its reasoning is gone; strip the id"
            )


def _led(items: Sequence[Payload]) -> Iterator[tuple[int, object, frozenset[str]]]:
    """
    Yield the model's items with an id, each with the ids of the reasoning that led to it; a request for an approval
    keeps its own id, because the answer refers to it.
    """
    reasoning: frozenset[str] = frozenset()
    in_run = False
    for index, item in enumerate(items):
        if is_reasoning(item):
            reasoning = (reasoning if in_run else frozenset()) | {str(item.get("id"))}
        elif not is_of_model(item):
            reasoning = frozenset()
        elif isinstance(item.get("id"), str) and kind_of(item) != APPROVAL_REQUEST:
            yield index, item["id"], reasoning
        in_run = is_reasoning(item)


def _led_in(request: Request) -> Iterator[tuple[int, object, frozenset[str]]]:
    """Yield the same for a request, by index: reasoning is in the same reply as the item, where replies are known."""
    start = 0
    for message in request.whole or ({"output": request.messages},):
        items = message.get("output") if "type" not in message else None
        items = items if isinstance(items, list | tuple) else (message,)
        yield from ((start + index, id_, reasoning) for index, id_, reasoning in _led(items))
        start += len(items)


def as_messages(request: Request) -> Request:
    """Return the request with each reply as one assistant message of blocks, as the rules for all formats read it."""
    groups = (request.messages[start:end] for start, end in _groups(request.messages))
    return request.recast((group[0], _message(group)) for group in groups)


def first_item(request: Request, index: int) -> int:
    """Return the index of the first item of a message of ``as_messages``; -1 stays."""
    starts = [start for start, _ in _groups(request.messages)]
    return starts[index] if 0 <= index < len(starts) else index


def _groups(items: Sequence[Payload]) -> Iterator[tuple[int, int]]:
    """Yield first item and end of each reply, and of each item of others."""
    start = 0
    for end in range(1, len(items) + 1):
        if end == len(items) or not (is_of_model(items[start]) and is_of_model(items[end])):
            yield start, end
            start = end


def _message(items: Sequence[Payload]) -> Payload:
    first = items[0]
    if is_of_model(first):
        return {"role": "assistant", "content": [block for item in items for block in _as_blocks(item)]}
    if is_result(first):
        key = {APPROVAL: "reason", FOUND: "tools"}.get(kind_of(first), "output")
        return {"role": "tool", "tool_call_id": result_key(first), "content": _content(first.get(key))}
    role = "user" if first.get("role") == "user" or kind_of(first) == TRIGGER else "system"
    return {"role": role, "content": _content(first.get("content"))}


def _as_blocks(item: Payload) -> list[Payload]:
    """Return items as blocks without their ids, which leave with their reasoning and are not read by the model."""
    bare = {key: value for key, value in item.items() if key != "id"}
    if is_reasoning(item):
        return [{"type": "thinking", "item": item}]
    if is_call(item):
        return [{"type": "tool_use", "id": call_key(item), "item": bare}]
    if kind_of(item) != MESSAGE:
        return [{"type": kind_of(item), "item": bare}]
    content = _content(item.get("content"))
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _content(content: object) -> Any:
    """Return a string as it is; in a list of blocks, each text becomes type text, whoever speaks."""
    if isinstance(content, str) or content is None:
        return content or ""
    if not isinstance(content, list | tuple):
        return [{"type": "item", "item": content}]
    blocks = (block if isinstance(block, Mapping) else {"type": "item", "item": block} for block in content)
    return [{**block, "type": "text"} if block.get("type") in TEXTS else dict(block) for block in blocks]


RULES: tuple[Rule, ...] = (_pairs, _a4, _r2, _r4, _r7, _r8, a6, a9)
