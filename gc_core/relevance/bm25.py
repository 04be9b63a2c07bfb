"""
How well texts match a query by their words: Okapi BM25 (Robertson and Walker, 1994), with the usual k1 and b.

Not a library: the known ones depend on numpy, and index every word of a corpus, while a collection of a window needs
only the few words of one objective.
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
"""Typographic signs, arrows, boxes and the like, U+2000 to U+2BFF; everything else beyond ASCII counts as letters."""
_BREAKS = bytes(byte if chr(byte).isalnum() or not chr(byte).isascii() else ord(" ") for byte in range(256))
_K1, _B = 1.2, 0.75


@attrs.frozen
class Bag:
    """The words of a text, as bytes, with their frequencies, and their total number."""

    counts: Mapping[bytes, int] = attrs.field(repr=False)
    length: int


def bag_of(text: str) -> Bag:
    """
    Return the words of a text: runs of letters and digits, ignoring case; ``test_login`` is two. O(length).

    As bytes, because splitting plain text is three times as fast as a regular expression.
    """
    plain = text.lower().encode("utf-8", "surrogatepass")
    if not plain.isascii():
        plain = _SIGNS.sub(b" ", plain)
    words = plain.translate(_BREAKS).split()
    return Bag(Counter(words), len(words))


class BM25:
    """
    The scores of texts for one query: 0 and more, without an upper limit. Words of one or two letters are ignored.

    Costs O(words that a text shares with the query) for each text, when it is created.
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
        for word in sorted(self._weights.keys() & bag.counts.keys()):  # so that sums are equal in every process
            count = bag.counts[word]
            score += self._weights[word] * count * (_K1 + 1) / (count + room)
        return score


def rarity(holding: int, number: int) -> float:
    """Return the weight of a word or name that this many of this many texts contain: above 0."""
    return math.log(1 + (number - holding + 0.5) / (holding + 0.5))
