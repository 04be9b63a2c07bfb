"""Finds the blocks of a file's view that the agent and the user named lately: these are likely to be quoted next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet

from gc_core.values.names import Scan

LINES_AROUND = 8
"""Lines before and after a named one that belong to its block: an edit quotes its surroundings."""

MOST_COMMON = 6
"""The most lines of a view that may share a name that still distinguishes them."""


def named_blocks(text: str, scanned: Scan, named: AbstractSet[str], chars: int) -> list[tuple[int, int]]:
    """
    Return blocks of whole lines around the lines with these names, in at most this many characters, as character
    ranges.

    A line's weight is higher the rarer its names are in the text; of equal ones the first wins.
    """
    counts = Counter(name for span in scanned.spans for name in span.names if name in named)
    distinctive = {name for name, count in counts.items() if count <= MOST_COMMON}
    worth = {
        span.start: sum(1 / counts[name] for name in span.names if name in distinctive)
        for span in scanned.spans
        if not distinctive.isdisjoint(span.names)
    }
    chosen: list[tuple[int, int]] = []
    for start in sorted(worth, key=lambda place: (-worth[place], place)):
        if any(first <= start < last for first, last in chosen):
            continue
        block = next((each for each in (_around(text, start), _line(text, start)) if each[1] - each[0] <= chars), None)
        if block is not None:
            chosen.append(block)
            chars -= block[1] - block[0]
    return sorted(chosen)


def _line(text: str, place: int) -> tuple[int, int]:
    end = text.find("\n", place)
    return place, len(text) if end < 0 else end + 1


def _around(text: str, place: int) -> tuple[int, int]:
    first = last = place
    for _ in range(LINES_AROUND + 1):
        first = max(0, text.rfind("\n", 0, max(0, first - 1)) + 1) if first else 0
        end = text.find("\n", last)
        last = len(text) if end < 0 else end + 1
        if first == 0 and last >= len(text):
            break
    return first, min(last, len(text))
