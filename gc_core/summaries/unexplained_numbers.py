"""
Finds numbers that the originals neither contain nor explain.

Long ones are quotations: see `quoted_numbers`. A short one is mostly something counted or worked out. Explained is what
a reader of the originals may have counted in them (at most their lines, entries and texts, and how often they have the
noun), and what `derived_numbers` works out; where there are very many numbers, everything. What is not explained is an
invention if the originals have numbers of the same noun, key or dimension, or if it is more than they have lines. Up to
twelve, a noun's number must be more than all of its numbers: fewer may be some of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs

from gc_core.summaries.derived_numbers import DerivedNumbers
from gc_core.summaries.nouns import are_of
from gc_core.summaries.numerals import in_digits
from gc_core.summaries.quantities import Quantity, quantities
from gc_core.summaries.quoted_numbers import QuotedNumbers
from gc_core.summaries.times import certain_dates, is_month, without_dates
from gc_core.values.patterns import regex

_FEW: Final = 12
"""The largest number that people count themselves."""

_SHORT: Final = 100
"""Larger numbers are quotations."""

_MOST_LEFT: Final = 12
"""In a text with more unknown numbers, the others explain none."""

_MOST_STEPS: Final = 2
_SEEN: Final = frozenset(
    """
    item message turn step call line command mal fois vez vece nachricht zeile schritt aufruf message ligne étape appel
    mensaje línea paso llamada messaggio riga passo mensagem linha сообщени строк шаг
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
"""What a summary counts itself."""

_ROWS: Final = frozenset({"row", "fila", "record", "registro"})
"""What one result lists."""

_TIMES = regex(r"(?:time|vece|fois|mal|volt|veze|keer|gång|kat|раза?|razy|倍|per|por|pro)$")
_SENTENCE_END = regex(r"(?<=[.!?;])\s|(?<=[。！？；])")
_ENTRY = regex(r"[,;、，|]")


def unknown_numbers(text: str, originals: Sequence[str]) -> tuple[str, ...]:
    """
    Return the numbers of a text that the originals neither contain nor explain, in order.

    Those that are explained explain others: a summary adds up, and tells what that left.
    """
    told, originals = _Told(in_digits(text)), [in_digits(each) for each in originals]
    numbers = DerivedNumbers("\n".join(originals))
    unknown = told.unknown_to(numbers, originals)
    names = told.quoted.names
    steps = _MOST_STEPS if numbers.are_few else 1
    for _ in range(steps if len(unknown) <= _MOST_LEFT else 0):
        if names >= set(unknown):
            break
        numbers = DerivedNumbers("\n".join(originals), _without(told.text, unknown))
        left = {*names, *told.unknown_to(numbers, originals)}
        unknown = tuple(each for each in unknown if each in left)
    return unknown


def _without(text: str, numbers: Sequence[str]) -> str:
    """Return a text without some numbers, each sentence on a line."""
    found = "|".join(map(re.escape, sorted(numbers, key=len, reverse=True)))
    return _SENTENCE_END.sub("\n", re.sub(rf"(?<![A-Za-z\d.,])(?:{found})(?![A-Za-z\d])", ";", text))


def _listed(text: str) -> int:
    """Return how many rows a text may list: lines, tuples or objects."""
    return 1 + max(text.count("\n"), text.count("),"), text.count("{"))


def _is_short(said: Quantity) -> bool:
    """Return whether a quantity is more than one or a fraction of one, and no quotation."""
    if not (min(said.values) > 1 or (said.step < 1 and 0 < min(said.values) < 1)):
        return False
    return max(said.values) < _SHORT and sum(map(str.isdigit, said.written)) < len(str(_SHORT))


@attrs.frozen(slots=False)
class _Told:
    """The numbers of a summary."""

    text: str

    def unknown_to(self, numbers: DerivedNumbers, originals: Sequence[str]) -> tuple[str, ...]:
        """Return those that neither stand in the originals nor follow from their numbers, in order."""
        found = self.quoted.unknown_to(numbers)
        if self._short:
            known = _Known.of(originals, numbers)
            found += [each.written for each in self._short if known.contradict(each)]
        return tuple(dict.fromkeys(found))

    @cached_property
    def quoted(self) -> QuotedNumbers:
        """The long ones."""
        return QuotedNumbers.of(self.text)

    @cached_property
    def _short(self) -> Sequence[Quantity]:
        text = without_dates(self.text, certain_dates(self.text))
        return [each for each in quantities(text, carry=True) if _is_short(each)]


@attrs.frozen
class _Known:
    """
    What the originals number, their text in small letters, and the most that a reader may have counted in them.

    Attributes:
        numbers: The numbers.
        lower: The text.
        countable: The most of anything.
        listed: The most rows of one result.

    """

    numbers: DerivedNumbers
    lower: str
    countable: int
    listed: int

    @classmethod
    def of(cls, originals: Sequence[str], numbers: DerivedNumbers) -> _Known:
        whole = "\n".join(originals)
        lines = sum(1 for line in whole.split("\n") if line.strip())
        entries = max((len(_ENTRY.findall(text)) + 1 for text in originals), default=0)
        return cls(numbers, whole.lower(), max(lines, entries, len(originals)), max(map(_listed, originals), default=0))

    def contradict(self, said: Quantity) -> bool:
        """Return whether what it is of is numbered, but otherwise."""
        if not self.numbers.are_few or not self.numbers.written.isdisjoint(said.values):
            return False  # most numbers are only repeated: what the originals' are of is then not read
        if not self.numbers.are_read or not self._is_judged(said) or self.numbers.explain(said):
            return False
        is_same = any(each.is_of(said.words) for each in self.numbers.quantities)
        return is_same or said.kind in {"share", "size", "data"} or not self.numbers.come_near(said)

    def _is_judged(self, said: Quantity) -> bool:
        if said.is_rate:
            return False
        if any(are_of(each.keys, said.keys) for each in self.numbers.quantities):
            return True
        given = [max(each.values) for each in self.numbers.quantities if each.step == 1 and each.is_of(said.words)]
        if not said.written[0].isdigit() and (said.kind == "share" or (said.kind and max(said.values) > _FEW)):
            return False  # "sixty per cent" of five things
        return self._contradicts_a_measure(said) if said.kind else self._contradicts_a_count(said, given)

    def _contradicts_a_measure(self, said: Quantity) -> bool:
        """Return whether there are other numbers of the dimension; a short time, of the same unit."""
        same = [each for each in self.numbers.quantities if each.kind == said.kind]
        return any(max(said.values) > _FEW or said.kind != "time" or each.is_of(said.words) for each in same)

    def _contradicts_a_count(self, said: Quantity, given: Sequence[float]) -> bool:
        value = max(said.values)
        if said.words and is_month(said.words[0]):
            return False
        if _SEEN.intersection(said.words) or ("failed" in said.words and value <= self.countable):
            return False
        if value <= _FEW:
            return bool(given) and value > max(given)
        if given:
            return True
        if not said.written[0].isdigit() or any(value <= self.lower.count(word) for word in said.words):
            return False
        most = self.countable if _ROWS.isdisjoint(said.words) else self.listed
        return value > most and not any(map(_TIMES.search, said.words))
