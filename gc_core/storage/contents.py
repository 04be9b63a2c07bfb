"""The contents of a long range of the past, part by part, so that the right part can be recalled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from gc_core.storage.search.record_texts import readable
from gc_core.values.items import ItemKind, Part

MOST_PASSAGES: Final = 20
"""The most lines of a table of contents."""

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
        reference: The reference for recalling it, ``i42`` or ``i5-i20``.
        turn: The turn in which it begins.
        items: The number of its items.
        characters: The characters of its text.
        what: The speakers and the called tools, with counts.
        opening: The beginning of the first message there; without one, the first call.

    """

    reference: str
    turn: int
    items: int
    characters: int
    what: str
    opening: str

    def line(self) -> str:
        """Return it as a line of a table of contents."""
        return f'{self.reference} turn {self.turn}, {self.characters:,} characters: {self.what}; "{self.opening}"'


@attrs.frozen
class _Entry:
    """The part of an item that is shown."""

    item: str
    turn: int
    kind: ItemKind
    name: str
    characters: int
    opening: str


def passages_of(parts: Iterable[tuple[str, int, Part]]) -> tuple[Passage, ...]:
    """
    Return a table of contents of items, each with its id, its turn and its text: a line per item, or one for several
    adjacent ones if there are more than ``MOST_PASSAGES``.
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
    spoken = next((entry for entry in entries if entry.kind in _SAID), first)
    return Passage(
        reference=first.item if first is last else f"{first.item}-{last.item}",
        turn=first.turn,
        items=len(entries),
        characters=sum(entry.characters for entry in entries),
        what=", ".join(what if times == 1 else f"{times} {what}" for what, times in held.items()),
        opening=spoken.opening,
    )


def _what(entry: _Entry) -> str:
    return (
        entry.name if entry.kind is ItemKind.TOOL_CALL else _OTHERS.get(entry.kind, entry.kind.value.replace("_", " "))
    )
