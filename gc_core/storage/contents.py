"""What a long stretch of the past holds, part by part: a table of contents, to recall the right part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from gc_core.storage.search.record_texts import readable
from gc_core.values.items import ItemKind, Part

MOST_PASSAGES: Final = 20
"""Lines of a table of contents at most."""

_OPENING_CHARS = 100
_SAID: Final = (ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT)
_OTHERS: Final = {
    ItemKind.USER_TEXT: "user",
    ItemKind.ASSISTANT_TEXT: "assistant",
    ItemKind.THINKING: "thinking",
    ItemKind.TOOL_RESULT: "result",
}


@attrs.frozen(kw_only=True)
class Passage:
    """
    A part of the past.

    Attributes:
        reference: What to recall it by, ``i42`` or ``i5-i20``.
        turn: The turn in which it begins.
        items: How many items it holds.
        characters: Of their text.
        what: Who said and what was called, how often.
        opening: How what was said there begins; where no one spoke, its first call.

    """

    reference: str
    turn: int
    items: int
    characters: int
    what: str
    opening: str

    def line(self) -> str:
        """It as a line of a table of contents."""
        return f'{self.reference} turn {self.turn}, {self.characters:,} characters: {self.what}; "{self.opening}"'


@attrs.frozen
class _Entry:
    """What is told of an item."""

    item: str
    turn: int
    kind: ItemKind
    name: str
    characters: int
    opening: str


def passages_of(parts: Iterable[tuple[str, int, Part]]) -> tuple[Passage, ...]:
    """
    Return a table of contents of items, each with its id, its turn and what is read of it: a line an item, or one for
    several that follow each other where there are more than ``MOST_PASSAGES``.
    """
    entries = [_entry(item, turn, part) for item, turn, part in parts]
    each = max(1, -(-len(entries) // MOST_PASSAGES))
    return tuple(_passage(entries[start : start + each]) for start in range(0, len(entries), each))


def _entry(item: str, turn: int, part: Part) -> _Entry:
    opening = " ".join(readable(part)[: 4 * _OPENING_CHARS].split())[:_OPENING_CHARS]
    return _Entry(item, turn, part.kind, part.name, len(part.text), opening)


def _passage(entries: Sequence[_Entry]) -> Passage:
    first, last = entries[0], entries[-1]
    held = Counter(_what(entry) for entry in entries)
    told = next((entry for entry in entries if entry.kind in _SAID), first)
    return Passage(
        reference=first.item if first is last else f"{first.item}-{last.item}",
        turn=first.turn,
        items=len(entries),
        characters=sum(entry.characters for entry in entries),
        what=", ".join(what if times == 1 else f"{times} {what}" for what, times in held.items()),
        opening=told.opening,
    )


def _what(entry: _Entry) -> str:
    return (
        entry.name if entry.kind is ItemKind.TOOL_CALL else _OTHERS.get(entry.kind, entry.kind.value.replace("_", " "))
    )
