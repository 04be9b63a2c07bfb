"""Works out percentages of numbers that belong together, and what a percentage makes of a number."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

import attrs

from gc_core.summaries.number_groups import NumberGroups
from gc_core.summaries.quantities import Quantity
from gc_core.summaries.results import MOST_ADDED, around, holds, measures, percentages

_MOST_SHARED: Final = 60
_EXACT: Final = 0.001
_PERCENT: Final = ("percent", "pct", "discount", "tax", "vat", "rabatt", "mwst")
"""How keys end whose values are percentages."""


@attrs.frozen(slots=False)
class Percentages:
    """
    The percentages that follow from some numbers.

    Attributes:
        groups: What belongs together.
        numbers: All of them, in order.

    """

    groups: NumberGroups
    numbers: Sequence[float]

    def tell(self, said: Quantity, *, of_any: bool) -> bool:
        """Return whether a quantity is a percentage of numbers that belong together, or of any."""
        if said.kind not in {"share", ""}:
            return False
        shares = self._of_any if of_any else self._near
        return any(holds(shares, low, high) for value in said.values for low, high in around(value, said))

    def come_to(self, said: Quantity) -> bool:
        """Return whether a percentage of a number is another: a whole one exactly, of what stands near."""
        if said.step < 1:
            return any(holds(self._parts, *around(value, said)[0]) for value in said.values)
        if said.kind == "share":
            return self.tell(said, of_any=False)
        return any(holds(self._near_parts, value - _EXACT, value + _EXACT) for value in said.values)

    @cached_property
    def _near(self) -> Sequence[float]:
        return sorted(set(_shares_of(self.groups)))

    @cached_property
    def _of_any(self) -> Sequence[float]:
        """Percentages of any number in another: with a fraction they are seldom alike by chance."""
        return sorted({*self._near, *percentages(self.numbers[:_MOST_SHARED])})

    @cached_property
    def _parts(self) -> Sequence[float]:
        return sorted(_with_rates(self.numbers, _rates_in(self.groups.quantities)))

    @cached_property
    def _near_parts(self) -> Sequence[float]:
        """Numbers with a percentage that stands in the same line or in the next."""
        lines = self.groups.neighbours
        parts = (_with_rates({each.values[0] for each in line}, _rates_in(line)) for line in lines)
        return sorted(set(itertools.chain.from_iterable(parts)))


def _shares_of(groups: NumberGroups) -> Iterator[float]:
    """Yield percentages of numbers in those of their groups and in their sums, of their growth, and what is left."""
    yield from (100 - value for each in groups.quantities if each.kind == "share" for value in each.values)
    pairs = (pair for line in groups.lines for pair in itertools.permutations(measures(line, ""), 2))
    yield from (100 * part / (part + other) for part, other in pairs if part + other)
    alike = [measures(group, kind) for group in groups.near for kind in {each.kind for each in group} - {"share"}]
    totals = [(each, sum(group)) for group in alike if len(group) > 2 for each in group]  # noqa: PLR2004
    yield from (100 * part / total for part, total in totals if total)
    yield from itertools.chain(*map(percentages, alike))


def _rates_in(group: Iterable[Quantity]) -> Sequence[float]:
    """Return what a group multiplies by: 0.2 for 20 %, for a discount of 20, and for itself."""
    rates = {_rate_of(each): None for each in group}
    return [rate for rate in rates if rate]


def _rate_of(each: Quantity) -> float:
    value = each.values[0]
    if each.kind == "share" or (value > 1 and any(key.endswith(_PERCENT) for key in each.keys)):
        return value / 100
    return value if 0 < value < 1 else 0


def _with_rates(numbers: Iterable[float], rates: Iterable[float]) -> Iterator[float]:
    """Yield numbers times some rates, also added and taken off."""
    factors = [factor for rate in rates for factor in (rate, 1 + rate, 1 - rate)][:MOST_ADDED]
    return (one * factor for one, factor in itertools.product(numbers, factors))
