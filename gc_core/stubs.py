"""The texts that stand in the place of long results, arguments and pastes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import attrs

from gc_core.items import Item, ItemKind, Part
from gc_core.protocols import TokenCounter
from gc_core.references import Reference
from gc_core.tokens import part_tokens

GAP = "[...]"
"""Stands between kept lines where lines were left out."""

STUBBED_KINDS = frozenset({ItemKind.TOOL_RESULT, ItemKind.TOOL_CALL, ItemKind.USER_TEXT, ItemKind.ATTACHMENT})
"""What a stub can replace. Cutting assistant text is left to the last resort."""

_ERROR = re.compile(r"\b(error|exception|traceback|fail(ed|ure|s)?|fatal|panic|denied|not found)\b", re.IGNORECASE)
_HINT_CHARS = 60
_TRIES = 6


@attrs.frozen(kw_only=True)
class StubText:
    """
    A text that can stand in the place of an item.

    Attributes:
        text: What the model reads instead.
        tokens: Tokens of the item with this text; fewer than before.
        reference: What it stands for.

    """

    text: str = attrs.field(repr=False)
    tokens: int
    reference: Reference


def smallest_stub(item: Item, counter: TokenCounter) -> int:
    """Tokens of the smallest stub that the item can have: its reference alone."""
    return _tokens(_smallest(item), item, counter)


def write_stub(item: Item, limit: int, counter: TokenCounter) -> StubText:
    """
    A stub of at most ``limit`` tokens, or the smallest possible one: whole lines from head and tail, error lines
    between them, gaps marked, the reference at the end. Arguments of a call stay a JSON object.
    """
    chars = max(0, int(limit * len(item.text) / max(1, item.tokens)))
    for _ in range(_TRIES):
        text = _shortened(item, chars)
        tokens = _tokens(text, item, counter)
        if tokens <= limit:
            return StubText(text=text, tokens=tokens, reference=reference_to(item))
        chars = int(chars * min(0.9, limit / tokens)) - _HINT_CHARS // 2
        if chars <= 0:
            break
    text = _smallest(item)
    return StubText(text=text, tokens=_tokens(text, item, counter), reference=reference_to(item))


def reference_to(item: Item) -> Reference:
    """The reference to a single item."""
    return Reference(
        tokens=item.original_tokens,
        first=item.id,
        last=item.id,
        first_turn=item.turn,
        last_turn=item.turn,
        hint=_hint(item),
    )


def _hint(item: Item) -> str:
    what = item.name or item.kind.value.replace("_", " ")
    if item.kind is ItemKind.TOOL_CALL:
        return f"arguments of {what}"
    return f"{what}, failed" if item.is_error else what[:_HINT_CHARS]


def _tokens(text: str, item: Item, counter: TokenCounter) -> int:
    """Tokens of the item with this text; a stub of an attachment is a text block."""
    kind = ItemKind.USER_TEXT if item.kind is ItemKind.ATTACHMENT else item.kind
    name = item.name if item.kind is ItemKind.TOOL_CALL else ""
    return part_tokens(Part(kind=kind, place=(), text=text, name=name), counter)


def _smallest(item: Item) -> str:
    line = reference_to(item).stub_text()
    return line if _arguments(item) is None else json.dumps({"left_out": line}, ensure_ascii=False)


def _shortened(item: Item, chars: int) -> str:
    arguments = _arguments(item)
    if arguments is not None:
        return _shortened_arguments(item, arguments, chars)
    line = reference_to(item).stub_text()
    kept = _kept_lines(item.text, chars - len(line) - 1)
    return f"{kept}\n{line}" if kept else line


# -- lines -------------------------------------------------------------------------------------------------------


def _kept_lines(text: str, chars: int) -> str:
    """Head, tail and error lines of at most this many characters, in their order."""
    if chars <= len(GAP):
        return ""
    lines = text.split("\n")
    chosen = _choose(lines, chars)
    if not chosen:
        return _cut_line(text, chars)
    return _joined(lines, sorted(chosen))


def _choose(lines: list[str], chars: int) -> set[int]:
    """A third for the head, a third for the tail, the rest for lines that speak of errors."""
    chosen: set[int] = set()
    room = chars
    errors = [place for place, line in enumerate(lines) if len(line) < chars and _ERROR.search(line)]
    for places, share in ((range(len(lines)), chars // 3), (reversed(range(len(lines))), chars // 3), (errors, chars)):
        spent = 0
        for place in places:
            cost = len(lines[place]) + 1 + len(GAP)
            if place in chosen:
                continue
            if spent + cost > min(share, room):
                break
            chosen.add(place)
            spent += cost
        room -= spent
    return chosen


def _joined(lines: list[str], chosen: list[int]) -> str:
    out: list[str] = []
    last = -1
    for place in chosen:
        if place != last + 1:
            out.append(GAP)
        out.append(lines[place])
        last = place
    if last != len(lines) - 1:
        out.append(GAP)
    return "\n".join(out)


def _cut_line(text: str, chars: int) -> str:
    """One overlong line: its first and last characters."""
    half = (chars - len(GAP)) // 2
    return f"{text[:half]}{GAP}{text[-half:]}" if half > 0 else ""


# -- arguments ---------------------------------------------------------------------------------------------------


def _arguments(item: Item) -> Mapping[str, Any] | None:
    """The arguments of a call; None for anything else, and for a call whose arguments are free text."""
    if item.kind is not ItemKind.TOOL_CALL:
        return None
    try:
        arguments = json.loads(item.text)
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None


def _shortened_arguments(item: Item, arguments: Mapping[str, Any], chars: int) -> str:
    """The arguments with their long string values cut, and values that are large in other ways left out."""
    line = reference_to(item).stub_text()
    share = max(0, (chars - len(line)) // max(1, len(arguments)) - _HINT_CHARS // 4)
    short = {key: _shortened_value(value, share) for key, value in arguments.items()}
    changed = [key for key in short if short[key] is not arguments[key]]
    if not changed:
        return _smallest(item)
    last = changed[-1]
    short[last] = f"{short[last]}\n{line}"
    return json.dumps(short, ensure_ascii=False)


def _shortened_value(value: Any, chars: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= max(chars, _HINT_CHARS) else _kept_lines(value, chars) or GAP
    return value if len(json.dumps(value, ensure_ascii=False)) <= max(chars, _HINT_CHARS) else GAP
