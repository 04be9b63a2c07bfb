"""
Tells whether a number follows from those of a text.

It does if it is one of them, rounded or in another unit, or if it comes of one simple step from numbers that belong
together: a sum, a difference, a mean, a product, a quotient or a share of what one line or two neighbouring ones hold,
a column of a table, or what has the same noun or dimension; or the time between two hours or dates. The fewer digits a
number has, the more of these are near it by chance, so that short ones must belong to what they are worked out from.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

import attrs

from gc_core.summaries.elapsed_times import ElapsedTimes
from gc_core.summaries.nouns import are_of
from gc_core.summaries.number_groups import NumberGroups
from gc_core.summaries.numerals import numbers_in, scales_in
from gc_core.summaries.percentages import Percentages
from gc_core.summaries.quantities import Quantity, quantities
from gc_core.summaries.ranges import Ranges
from gc_core.summaries.results import (
    MOST_ADDED,
    Results,
    added,
    around,
    billed,
    holds,
    is_price,
    mean,
    mean_and_threes,
    multiplied,
)

_MOST: Final = 300
"""With more different numbers, some always explain another."""

_MOST_QUANTITIES: Final = 600

_LONG: Final = 1000
_RARE: Final = 5
"""The digits of a number that very many others do not come to by chance."""

_CALENDAR: Final = (2.0, 3.0, 4.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 365.0)
"""How many there are of something in a day, a week or a year, and what one halves and quarters by."""

_CONVERTED: Final = (*_CALENDAR, *(1 / by for by in _CALENDAR))
_FACTORS: Final = {"time": _CONVERTED, "money": (1 / 2, 1 / 3, 1 / 4)}
"""By what a long number is multiplied: a price for two persons, there and back."""

_SIZES: Final = frozenset({"size", "data"})


@attrs.frozen(slots=False)
class DerivedNumbers:
    """
    The numbers of a text, and what is worked out from them.

    Attributes:
        originals: The text.
        sentences: Those of a summary of it that are known, each on a line.

    """

    originals: str
    sentences: str = ""

    @cached_property
    def text(self) -> str:
        """What is known."""
        return f"{self.originals}\n{self.sentences}"

    @cached_property
    def told(self) -> DerivedNumbers:
        """The numbers of the summary alone."""
        return DerivedNumbers(self.sentences)

    @cached_property
    def quantities(self) -> Sequence[Quantity]:
        """What has a noun or a unit or stands alone, in each line once; of very many, the first."""
        lines = "\n".join(dict.fromkeys(self.text.split("\n")))
        return tuple(itertools.islice(quantities(lines), _MOST_QUANTITIES + 1))

    @cached_property
    def are_few(self) -> bool:
        """Whether it means anything that a number cannot be worked out from these."""
        return len(self.written) <= _MOST

    @cached_property
    def are_read(self) -> bool:
        """Whether these are so few that each of them is known with what it is of."""
        return self.are_few and len(self.quantities) <= _MOST_QUANTITIES

    @cached_property
    def written(self) -> AbstractSet[float]:
        """Every number, wherever it stands."""
        return numbers_in(self.text)

    @cached_property
    def sorted(self) -> Sequence[float]:
        """Every number, in order."""
        return sorted({value for each in self.quantities for value in each.values} | set(self.written))

    def explain(self, said: Quantity) -> bool:
        """Return whether a short quantity is one of these, or worked out from what belongs to it."""
        if said.averaged and (self._lies_within(said) or self._is_mean(said)):
            return True
        return self.round_to(said) or self._took(said) or self._are_many(said) or self._is_derived(said)

    def come_near(self, said: Quantity) -> bool:
        """Return whether a number comes of two that stand near each other."""
        return self._near.hold(said, rounded=False)

    def explain_long(self, said: Quantity) -> bool:
        """Return whether a number of three digits or more is one of these, or worked out from any that stand near."""
        if not self.are_few:
            digits = re.sub(r"\D", "", said.written).strip("0")
            is_rounded = any(holds(self.sorted, *pair) for value in said.values for pair in around(value, said))
            return len(digits) < _RARE or is_rounded or self.told.add_up_to(said)
        if self.round_to(said) or self._took(said):
            return True
        if self._near.hold(said) or (said.step < 1 and self._percentages.tell(said, of_any=True)):
            return True
        if self._threes.hold(said, rounded=False) or (max(said.values) < _LONG and self._are_many(said)):
            return True
        if self._bills.hold(said, rounded=False) or self._percentages.come_to(said) or self._is_scaled(said):
            return True
        return self._are_times(said, _CONVERTED if said.is_rate else _FACTORS.get(said.kind, ()))

    def round_to(self, said: Quantity) -> bool:
        """Return whether a number is one of these, rounded or in another unit."""
        halves = ((value - said.step_at(value) / 2, value + said.step_at(value) / 2) for value in said.values)
        if any(value in self.ranges.lengths for value in said.values):
            return True
        return self._single.hold(said) or any(holds(self._fractions, low, high) for low, high in halves)

    def add_up_to(self, said: Quantity) -> bool:
        """Return whether a whole number is exactly what two or three that stand near each other come to."""
        return said.step == 1 and (self.come_near(said) or self._threes.hold(said, rounded=False))

    def _lies_within(self, said: Quantity) -> bool:
        given = [each.values[0] for each in self.quantities if each.is_of(said.words) or are_of(each.keys, said.keys)]
        return bool(given) and min(given) <= said.values[0] <= max(given)

    def _is_mean(self, said: Quantity) -> bool:
        low, high = said.values[0] - said.step / 2, said.values[0] + said.step / 2
        if said.kind:
            return holds(self._means.sized.get(said.kind, ()), low * said.size, high * said.size)
        return holds(self._means.plain, low, high)

    def _took(self, said: Quantity) -> bool:
        return said.kind == "time" and self.times.tell_span(said)

    def _are_many(self, said: Quantity) -> bool:
        """Return whether there are so many of a noun or dimension that some always add up."""
        same = (each for each in self.quantities if each.is_of(said.words) or _is_addend(each, said))
        return said.step >= 1 and len({each.values[0] for each in same}) > MOST_ADDED

    def _is_derived(self, said: Quantity) -> bool:
        if said.kind == "share":
            return self._percentages.tell(said, of_any=said.step != 1)
        parts = [1 / by for by in _CALENDAR] if said.kind in _SIZES else ()
        return Results.of(self._groups_of(said), iter, added).hold_like(said) or self._are_times(said, parts)

    def _are_times(self, said: Quantity, factors: Sequence[float]) -> bool:
        """Return whether one of these is a quantity times one of some factors."""
        return any(self._single.hold_like(said.times(factor)) for factor in factors)

    def _is_scaled(self, said: Quantity) -> bool:
        """Return whether millions are told of numbers under a heading in millions, or written 45M."""
        scales = self._scales if said.values[0] >= _LONG else ()
        parts = (said.times(1 / scale) for scale in scales if said.values[0] >= scale)
        return any(self.round_to(each) or self._near.hold(each) for each in parts)

    def _groups_of(self, said: Quantity) -> Iterator[Sequence[Quantity]]:
        """Yield what belongs to a short quantity: what is told of the same, and columns of bare numbers."""
        yield from (column for column in self._groups.columns if not any(each.kind or each.words for each in column))
        if said.kind and len(self.quantities) <= 2 * MOST_ADDED:
            yield self.quantities
        yield from ([each for each in group if _is_like(each, said)] for group in self._groups.belonging)

    # -- what belongs together -----------------------------------------------------------------------------------------

    @cached_property
    def _groups(self) -> NumberGroups:
        return NumberGroups(self.quantities)

    @cached_property
    def times(self) -> ElapsedTimes:
        """Its hours and dates, and how long it was between them."""
        return ElapsedTimes(self.text, self._single.sized.get("time", ()))

    @cached_property
    def _single(self) -> Results:
        return Results.single(self.quantities, self.sorted)

    @cached_property
    def _scales(self) -> Sequence[float]:
        return tuple(scales_in(self.text))

    @cached_property
    def _fractions(self) -> Sequence[float]:
        return sorted(value for each in self.quantities if each.step < 1 for value in each.values)

    @cached_property
    def ranges(self) -> Ranges:
        """Its ranges."""
        return Ranges(self.text)

    @cached_property
    def _near(self) -> Results:
        return Results.of(self._groups.near, multiplied, added)

    @cached_property
    def _threes(self) -> Results:
        return Results.of(self._groups.near, iter, mean_and_threes)

    @cached_property
    def _bills(self) -> Results:
        return Results.of(self._groups.lines, billed, iter)

    @cached_property
    def _means(self) -> Results:
        return Results.of(self._groups.near, iter, mean)

    @cached_property
    def _percentages(self) -> Percentages:
        return Percentages(self._groups, self.sorted)


def _is_like(each: Quantity, said: Quantity) -> bool:
    return each.kind == said.kind or is_price(each, said.kind) if said.kind else each.is_of(said.words)


def _is_addend(each: Quantity, said: Quantity) -> bool:
    """Return whether a number may be one of a dimension; grams and metres are sizes, but nobody adds these up."""
    if said.kind in {"", "share"}:
        return False
    return is_price(each, said.kind) or (each.kind == said.kind and (said.kind not in _SIZES or each.size == said.size))
