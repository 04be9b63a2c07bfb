"""Reads ranges such as "lines 400-499", and tells whether a text gives one by its start and its length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gc_core.values.patterns import regex

_RANGE = regex(r"(?<![\w.,:/-])(\d{1,6}) ?[-–—] ?(\d{1,6})(?![\w:/-]|[.,]\d)")
_BESIDE: Final = 40
"""So many characters without a digit may stand between the start of a range and its length."""


def range_starts(text: str) -> dict[str, int]:
    """Return the starts of ranges, by their ends as written."""
    return {end: int(start) for start, end in _RANGE.findall(text)}


def range_lengths(text: str) -> Iterator[float]:
    """Yield how many there are from the start of a range to its end, with both or without the last."""
    for start, end in _RANGE.findall(text):
        apart = int(end) - int(start)
        yield from map(float, (apart, apart + 1) if apart > 0 else ())


def gives_range(text: str, start: int, end: int) -> bool:
    """Return whether start and length stand beside each other: "offset: 400, limit: 100" for 400 to 499."""
    lengths = rf"(?:{end - start}|{end - start + 1})"
    beside = rf"{start}\D{{1,{_BESIDE}}}{lengths}|{lengths}\D{{1,{_BESIDE}}}{start}"
    return re.search(rf"(?<![\d.])(?:{beside})(?![\d.])", text) is not None
