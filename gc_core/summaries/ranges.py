"""Reads ranges such as "lines 400-499", and tells whether a text gives one by its start and its length."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import cached_property

import attrs

from gc_core.values.patterns import regex

_RANGE = regex(r"(?<![\w.,:/-])(\d{1,6}) ?[-–—] ?(\d{1,6})(?![\w:/-]|[.,]\d)")
_BESIDE = regex(r"(?<![\d.])(\d{1,6})(?=\D{1,40}(\d{1,6})(?![\d.]))")
"""Two numbers with nothing but a few words between them."""


def range_starts(text: str) -> dict[str, int]:
    """Return the starts of ranges, by their ends as written."""
    return {end: int(start) for start, end in _RANGE.findall(text)}


@attrs.frozen(slots=False)
class Ranges:
    """The ranges of a text."""

    text: str

    def tell(self, start: int, end: int) -> bool:
        """Return whether start and length stand beside each other: "offset: 400, limit: 100" for 400 to 499."""
        pairs = ((start, end - start), (start, end - start + 1))
        return any(pair in self._beside or pair[::-1] in self._beside for pair in pairs)

    @cached_property
    def lengths(self) -> AbstractSet[float]:
        """How many there are from the start of a range to its end, with both or without the last."""
        apart = {int(end) - int(start) for start, end in _RANGE.findall(self.text)}
        return {float(length) for each in apart if each > 0 for length in (each, each + 1)}

    @cached_property
    def _beside(self) -> AbstractSet[tuple[int, int]]:
        return {(int(one), int(other)) for one, other in _BESIDE.findall(self.text)}
