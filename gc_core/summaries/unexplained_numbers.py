"""
Finds short numbers that the originals neither contain nor explain.

A short number is mostly something counted or worked out, so it is no quotation. Explained is what a reader of the
originals may have counted in them (at most their lines, entries and texts, and how often they have the noun), and what
`derived_numbers` works out. Where there are very many numbers, everything is. What is not explained is an invention if
the originals have numbers of the same noun or dimension, or if it is more than they have lines. Up to twelve, a noun's
number must be more than all of its numbers: fewer may be some of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from gc_core.summaries.derived_numbers import DerivedNumbers
from gc_core.summaries.quantities import Quantity, quantities
from gc_core.values.patterns import regex

_FEW: Final = 12
"""The largest number that people count themselves."""

_SHORT: Final = 1000
"""Larger numbers are quotations."""

_SEEN: Final = frozenset(
    """
    item message turn step call line command mal fois vez vece nachricht zeile schritt aufruf message ligne étape appel
    mensaje línea paso llamada messaggio riga passo mensagem linha сообщени строк шаг
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
"""What a summary counts itself."""

_TIMES = regex(r"(?:time|vece|fois|mal|volt|veze|keer|gång|kat|раза?|razy|倍|per|por|pro)$")
_PERCENTAGE = regex(r"\A\d+[.,]\d+\Z")
_ENTRY = regex(r"[,;、，|]")


def unexplained(text: str, originals: Sequence[str]) -> tuple[str, ...]:
    """Return short numbers of a text that the originals neither contain nor explain, in order."""
    said = [each for each in quantities(text, carry=True) if min(each.values) > 1 and max(each.values) < _SHORT]
    if not said:
        return ()
    known = _Known.of(originals)
    return tuple(dict.fromkeys(each.written for each in said if known.contradict(each)))


def explained_shares(text: str, numbers: Sequence[str], originals: Sequence[str]) -> frozenset[str]:
    """Return those of the numbers that are percentages with a fraction in a text, and are worked out from originals."""
    shares = {each.written for each in quantities(text) if each.kind == "share"}
    asked = [number for number in numbers if number in shares and _PERCENTAGE.match(number)]
    derived = DerivedNumbers("\n".join(originals))
    return frozenset(number for number in asked if derived.explain_share(number))


@attrs.frozen
class _Known:
    """What the originals number, their text in small letters, and the most that a reader may have counted in them."""

    numbers: DerivedNumbers
    lower: str
    countable: int

    @classmethod
    def of(cls, originals: Sequence[str]) -> _Known:
        whole = "\n".join(originals)
        lines = sum(1 for line in whole.split("\n") if line.strip())
        entries = max((len(_ENTRY.findall(text)) + 1 for text in originals), default=0)
        return cls(DerivedNumbers(whole), whole.lower(), max(lines, entries, len(originals)))

    def contradict(self, said: Quantity) -> bool:
        """Return whether what it is of is numbered, but otherwise."""
        if not self.numbers.are_few or not self.numbers.written.isdisjoint(said.values):
            return False
        return self._is_judged(said) and not self.numbers.explain(said)

    def _is_judged(self, said: Quantity) -> bool:
        given = [max(each.values) for each in self.numbers.quantities if each.is_of(said.words)]
        if not said.written[0].isdigit() and (said.kind == "share" or (said.kind and max(said.values) > _FEW)):
            return False  # "sixty per cent" of five things
        return self._is_measured_otherwise(said) if said.kind else self._is_counted_otherwise(said, given)

    def _is_measured_otherwise(self, said: Quantity) -> bool:
        """Return whether there are other numbers of the dimension; a short time, of the same unit."""
        same = [each for each in self.numbers.quantities if each.kind == said.kind]
        return any(max(said.values) > _FEW or said.kind != "time" or each.is_of(said.words) for each in same)

    def _is_counted_otherwise(self, said: Quantity, given: Sequence[float]) -> bool:
        value = max(said.values)
        if _SEEN.intersection(said.words) or ("failed" in said.words and value <= self.countable):
            return False
        if value <= _FEW:
            return bool(given) and value > max(given)
        if given:
            return True
        if not said.written[0].isdigit() or any(value <= self.lower.count(word) for word in said.words):
            return False
        return value > self.countable and not any(map(_TIMES.search, said.words))
