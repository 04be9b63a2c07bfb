"""
How well texts match a query by their words: Okapi BM25 (Robertson and Walker, 1994), with the usual k1 and b.

Own code, and no library: the known ones bring numpy, and index every word of a collection, where a collection of a
window asks about the few words of one objective.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import attrs

from gc_core.values.patterns import regex

_SHORTEST = 3
_SIGNS = regex(rb"\xe2[\x80-\xaf].", re.DOTALL)
"""Typographic signs, arrows, boxes and the like, U+2000 to U+2BFF; all else beyond ASCII passes for letters."""
_BREAKS = bytes(byte if chr(byte).isalnum() or not chr(byte).isascii() else ord(" ") for byte in range(256))
_K1, _B = 1.2, 0.75


@attrs.frozen
class Bag:
    """The words of a text, as bytes, with how often each occurs, and how many there are in all."""

    counts: Mapping[bytes, int] = attrs.field(repr=False)
    length: int


def bag_of(text: str) -> Bag:
    """
    Return words are runs of letters and digits, whatever their case; ``test_login`` is two. O(length).

    As bytes, because plain text is cut into them three times as fast as a regular expression does it.
    """
    plain = text.lower().encode("utf-8", "surrogatepass")
    if not plain.isascii():
        plain = _SIGNS.sub(b" ", plain)
    words = plain.translate(_BREAKS).split()
    return Bag(Counter(words), len(words))


class BM25:
    """
    The scores of some texts for one query: 0 and more, without an upper end. Words of one or two letters say nothing.

    Costs O(words that a text shares with the query) for each text, spent when it is made.
    """

    def __init__(self, bags: Sequence[Bag], query: Bag) -> None:
        wanted = {word for word in query.counts if len(word) >= _SHORTEST}
        self._mean = sum(bag.length for bag in bags) / len(bags) if bags else 0.0
        holding = Counter(word for bag in bags for word in wanted & bag.counts.keys())
        self._weights = {word: rarity(count, len(bags)) for word, count in holding.items()}

    def score(self, bag: Bag) -> float:
        """Return the score of one text."""
        room = _K1 * (1 - _B + _B * bag.length / self._mean) if self._mean else _K1
        score = 0.0
        for word in sorted(self._weights.keys() & bag.counts.keys()):  # so that sums are the same in every process
            count = bag.counts[word]
            score += self._weights[word] * count * (_K1 + 1) / (count + room)
        return score


def rarity(holding: int, number: int) -> float:
    """Return what it says that a text holds a word or a name which this many of this many texts hold: above 0."""
    return math.log(1 + (number - holding + 0.5) / (holding + 0.5))
