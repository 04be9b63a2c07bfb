"""The rules of Anthropic Messages (A1, A2, A4, N1-N8)."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

from gc_core.providers.rules.blocks import THINKING, blocks_of, is_empty_text
from gc_core.providers.rules.call_pairs import Pairs
from gc_core.providers.rules.framed_text import a6, a9
from gc_core.providers.rules.violations import Rendered, Rule, Violation
from gc_core.values.messages import Payload, Request, without_marks

_Own = tuple[str, bool]
"""A block of the provider's own as canonical JSON without cache marks, and whether it must stay."""

MAX_MESSAGES = 100_000
"""N2: the most messages that Anthropic accepts in one request."""

MAX_CACHE_MARKS = 4
"""N5: the most cache breakpoints that Anthropic accepts in one request."""

COMPACTION = "compaction"

_HELD = frozenset({COMPACTION, "tool_addition", "tool_removal"})
_IN_PLACE = _HELD | {"fallback"}
_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_CLIENT_SIDE = frozenset({"text", "tool_use", "tool_result", "image", "document", "thinking", "redacted_thinking"})
"""Blocks that no server tool makes: messages of these alone are passed over at once."""


def _pairs(rendered: Rendered) -> Iterator[Violation]:
    """A1, A2, N1: each call has exactly one result, and all results of a batch are in the next user message."""
    pairs = Pairs("N1")
    batch = -1
    for index, message, blocks, types in rendered.blocks:
        results = [block.get("tool_use_id", "") for block in _of_type("tool_result", blocks, types)]
        if pairs.open:
            _interrupt(pairs, index, message.get("role"), split=bool(results) and batch >= 0, results=bool(results))
        for call in results:
            breach = pairs.answer(index, call)
            if breach is not None:
                yield breach
        batch = index if results else -1
        if pairs.open and len(blocks) > len(results):
            pairs.interrupt("N1", f"message {index} went on with other content; a batch of results is in one message")
        calls = [block.get("id", "") for block in _of_type("tool_use", blocks, types)]
        if calls:
            pairs.call(index, calls)
    yield from pairs.unanswered(pending=rendered.pending)


def _of_type(wanted: str, blocks: Sequence[Payload], types: Sequence[object]) -> Sequence[Payload]:
    return [block for block, kind in zip(blocks, types, strict=True) if kind == wanted] if wanted in types else ()


def _interrupt(pairs: Pairs, index: int, role: object, *, split: bool, results: bool) -> None:
    if split:
        pairs.interrupt("N1", f"the batch is split; all its results belong in message {index - 1}")
    elif not results:
        pairs.interrupt("A2", f"message {index} ({role}) stands between; results come directly after their calls")


def _n1(rendered: Rendered) -> Iterator[Violation]:
    """N1: results are in user messages, before everything else in them; calls are in assistant messages."""
    for index, message, _, types in rendered.blocks:
        if "tool_result" in types:
            if message.get("role") != "user":
                text = f"a tool_result in a {message.get('role')} message; expected user"
                yield Violation(rule="N1", index=index, text=text)
            elif types.count("tool_result") != _leading(types, "tool_result"):
                yield Violation(rule="N1", index=index, text="a tool_result after other content; results come first")
        if "tool_use" in types and message.get("role") != "assistant":
            yield Violation(rule="N1", index=index, text=f"a tool_use in a {message.get('role')} message")


def _leading(types: Sequence[object], wanted: str) -> int:
    return next((position for position, kind in enumerate(types) if kind != wanted), len(types))


def _a4(rendered: Rendered) -> Iterator[Violation]:
    """
    A4: no empty message, no empty text block, no message with only white space; the input of a call is an object.

    As observed of the API: white space next to other content passes, and so does an empty tool result.
    """
    last = len(rendered.messages) - 1
    for index, message, blocks, types in rendered.blocks:
        if not blocks and not (index == last and message.get("role") == "assistant"):
            yield Violation(rule="A4", index=index, text="the message is empty; leave it out or give it content")
        if "text" in types:
            yield from _empty_texts(index, blocks)
        for block in _of_type("tool_use", blocks, types):
            if not isinstance(block.get("input"), dict):
                yield Violation(rule="A4", index=index, text=f"the input of {block.get('name')!r} is not a JSON object")
    yield from _empty_texts(-1, rendered.request.system)


def _empty_texts(index: int, blocks: Sequence[Payload]) -> Iterator[Violation]:
    if any(is_empty_text(block) for block in blocks):
        yield Violation(rule="A4", index=index, text="an empty text block; leave it out or give it a text")
    elif blocks and all(block.get("type") == "text" and not str(block.get("text")).strip() for block in blocks):
        yield Violation(rule="A4", index=index, text="nothing but white space; leave it out or give it a text")


def _n2(rendered: Rendered) -> Iterator[Violation]:
    """N2: a conversation starts with a user message, or with a compaction (N6), and has at most 100,000 messages."""
    messages = rendered.messages
    if not messages:
        yield Violation(rule="N2", index=-1, text="no messages; at least one is needed, the first from the user")
    elif messages[0].get("role") != "user" and not _opens_with_compaction(messages[0]):
        yield Violation(rule="N2", index=0, text=f"the first message is {messages[0].get('role')}; it has to be user")
    if len(messages) > MAX_MESSAGES:
        yield Violation(
            rule="N2", index=MAX_MESSAGES, text=f"{len(messages):,} messages; at most {MAX_MESSAGES:,} pass"
        )


def _n3(rendered: Rendered) -> Iterator[Violation]:
    """N3: thinking is in assistant messages, whole and sealed, and never last."""
    for index, message, blocks, types in rendered.blocks:
        if THINKING.isdisjoint(types):
            continue
        thinking = [block for block in blocks if block.get("type") in THINKING]
        if message.get("role") != "assistant":
            yield Violation(rule="N3", index=index, text=f"thinking in a {message.get('role')} message")
        if not all(_is_sealed(block) for block in thinking):
            yield Violation(rule="N3", index=index, text="thinking without its text and signature, or without its data")
        if blocks[-1] is thinking[-1]:
            yield Violation(rule="N3", index=index, text="thinking is the last block; content has to follow it")


def _is_sealed(block: Payload) -> bool:
    """Return whether the thinking is sealed; its text may be empty: newer models send only the signature."""
    if block.get("type") == "redacted_thinking":
        return _is_filled(block.get("data"))
    return isinstance(block.get("thinking"), str) and _is_filled(block.get("signature"))


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _n4(rendered: Rendered) -> Iterator[Violation]:
    """
    N4: system text is top level; a system message inside the conversation has a narrow place.

    It follows a user message (or a reply that ends in a server tool) and is last or followed by a reply: the vendor's
    placement rules of mid-conversation system messages.
    """
    messages = rendered.messages
    for index, _ in rendered.by("system"):
        if index == 0 or not _may_precede_system(messages[index - 1]):
            yield Violation(rule="N4", index=index, text="a system message has to follow a user message directly")
        if index + 1 < len(messages) and messages[index + 1].get("role") != "assistant":
            yield Violation(rule="N4", index=index, text="a system message has to be last or followed by a reply")


def _may_precede_system(message: Payload) -> bool:
    blocks = blocks_of(message)
    ends_in_server_tool = bool(blocks) and blocks[-1].get("type", "") not in {"text", "tool_use", *THINKING}
    return message.get("role") == "user" or (message.get("role") == "assistant" and ends_in_server_tool)


def _n5(rendered: Rendered) -> Iterator[Violation]:
    """N5: at most four cache marks in tools, system and messages; none on thinking or on empty text."""
    request = rendered.request
    marks = sum("cache_control" in payload for payload in (*request.tools, *request.system))
    for index, _, blocks, _ in rendered.blocks:
        for block in _marked(blocks):
            marks += 1
            if block.get("type") in THINKING:
                yield Violation(rule="N5", index=index, text="a cache mark on thinking; mark the content after it")
            elif is_empty_text(block):
                yield Violation(rule="N5", index=index, text="a cache mark on empty text")
    if marks > MAX_CACHE_MARKS:
        yield Violation(rule="N5", index=-1, text=f"{marks} cache marks; at most {MAX_CACHE_MARKS} pass")


def _n6(rendered: Rendered) -> Iterator[Violation]:
    """N6: content that the newest compaction replaces is not sent again; a failed one (null) is not a compaction."""
    newest: tuple[int, int] | None = None
    for index, _, blocks, types in rendered.blocks:
        if COMPACTION not in types:
            continue
        for place, block in enumerate(blocks):
            if block.get("type") != COMPACTION:
                continue
            if block.get("content") == "":
                yield Violation(
                    rule="N6", index=index, text="a compaction with an empty content; expected a text or null"
                )
            elif is_compaction(block):
                newest = index, place
    if newest is not None and newest != (0, 0):
        text = "a compaction after the content it replaces; it has to be the first block of the first message"
        yield Violation(rule="N6", index=newest[0], text=text)


def is_compaction(block: Payload) -> bool:
    """Return whether the provider ignores everything before this block (N6)."""
    return block.get("type") == COMPACTION and block.get("content") is not None


def _opens_with_compaction(message: Payload) -> bool:
    blocks = blocks_of(message)
    return message.get("role") == "assistant" and bool(blocks) and is_compaction(blocks[0])


def _n8(rendered: Rendered) -> Iterator[Violation]:
    """N8: the result of a server tool follows its call."""
    called: set[object] = set()
    for index, _, blocks, types in rendered.blocks:
        if _CLIENT_SIDE.issuperset(types):
            continue
        for block in blocks:
            kind, answers = block.get("type"), block.get("tool_use_id")
            if kind in _SERVER_CALLS:
                called.add(block.get("id"))
            elif _is_server_result(kind) and answers is not None and answers not in called:
                yield Violation(rule="N8", index=index, text=f"a {kind} for {answers!r} without its call before it")


def _is_server_result(kind: object) -> bool:
    return isinstance(kind, str) and kind.endswith("_tool_result")


def _is_server_side(kind: object) -> bool:
    return kind in _IN_PLACE or kind in _SERVER_CALLS or _is_server_result(kind)


def in_place(before: Request, after: Request) -> Iterator[Violation]:
    """
    N6, N7, N8: the provider's own blocks in a remaining message stay unchanged and in order; a successful compaction
    and changes of tools stay with their messages.
    """
    expected, found = _server_side(before), _server_side(after)
    held = Counter(_held_in(expected)) - Counter(_held_in(found))
    for index, blocks in found:
        while expected and expected[0][1] != blocks:
            expected.popleft()
        if not expected:
            yield Violation(rule="N8", index=index, text="the provider's own blocks were changed, moved or separated")
            return
        expected.popleft()
    for block in held.elements():
        yield Violation(rule="N6" if COMPACTION in block else "N8", index=-1, text=f"{block:.60} left; it has to stay")


def _server_side(request: Request) -> deque[tuple[int, list[_Own]]]:
    """Return for each message with such blocks its index and the blocks."""
    found: deque[tuple[int, list[_Own]]] = deque()
    for index, message in enumerate(request.messages):
        content = _inside(message)
        if _CLIENT_SIDE.issuperset([block.get("type") for block in content]):
            continue
        blocks = [(_canonical(block), _is_held(block)) for block in content if _is_server_side(block.get("type"))]
        if blocks:
            found.append((index, blocks))
    return found


def _held_in(found: Iterable[tuple[int, Sequence[_Own]]]) -> Iterator[str]:
    return (text for _, blocks in found for text, held in blocks if held)


def _is_held(block: Payload) -> bool:
    """Return whether the block must stay whatever is removed around it; a failed compaction replaces nothing."""
    return is_compaction(block) or (block.get("type") in _HELD and block.get("type") != COMPACTION)


def _inside(message: Payload) -> Sequence[Payload]:
    content = message.get("content")
    return content if isinstance(content, list) else ()


def _canonical(block: Payload) -> str:
    return json.dumps(without_marks(block), sort_keys=True)


def _marked(blocks: Sequence[Payload]) -> Iterator[Payload]:
    for block in blocks:
        if "cache_control" in block:
            yield block
        inner = block.get("content")
        if isinstance(inner, list):
            yield from (part for part in inner if "cache_control" in part)


RULES: tuple[Rule, ...] = (_pairs, _n1, _a4, _n2, _n3, _n4, _n5, _n6, _n8, a6, a9)
