"""Works out what the numbers that belong together come to in one simple step, and finds a number among that."""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from gc_core.summaries.quantities import Quantity

MOST_ADDED: Final = 12
"""Among more numbers some always add up."""

_MOST_PRICES: Final = 60
"""The same for numbers with a fraction, as prices have it."""

_MOST_BILLED: Final = 4
_EXACT: Final = 0.01
_LEAST_ROUNDED: Final = 100
"""The least whole number that may be that of a fraction."""

_LEAST_RAW: Final = 60
"""The least number without a unit that somebody converts: seconds, bytes."""

_RAW: Final = {
    "time": (60, 3600, 1000, 60_000, 86_400),
    "data": (1000, 1024, 1e6, 1024**2, 1e9, 1024**3, 1e12, 1024**4),
    "size": (1000, 1e6),
    "share": (0.01,),
    "money": (100, 1000, 1e6),
    "": (1000, 1e6),
}
"""How many times larger a number without a unit is than the same in a unit of a dimension."""

_BINARY: Final = tuple(1.024**power for power in range(-3, 4))
"""How an amount of data differs where one counts in thousands and the other in 1,024."""


@attrs.frozen
class Results:
    """
    Numbers in order.

    Attributes:
        plain: As they stand, whatever they are of.
        raw: Those without a unit that may be one of a smaller unit.
        sized: By dimension, in its smallest unit.

    """

    plain: Sequence[float]
    raw: Sequence[float]
    sized: Mapping[str, Sequence[float]]

    @classmethod
    def single(cls, quantities: Sequence[Quantity], plain: Sequence[float]) -> Results:
        """Return each number by itself."""
        sized = defaultdict[str, set[float]](set)
        for each in quantities:
            if each.kind:
                sized[each.kind].update(value * each.size for value in each.values)
                if each.whole:
                    sized[each.kind].add(each.whole)
        raw = {value for each in quantities if not each.kind for value in each.values if value >= _LEAST_RAW}
        return cls(plain, sorted(raw), {kind: sorted(values) for kind, values in sized.items()})

    @classmethod
    def of(
        cls,
        groups: Iterable[Sequence[Quantity]],
        multiplied: Callable[[Sequence[float]], Iterator[float]],
        added: Callable[[Sequence[float]], Iterator[float]],
    ) -> Results:
        """Return what the numbers of each group come to, and those of one dimension."""
        plain, raw, sized = set[float](), set[float](), defaultdict[str, set[float]](set)
        for group in groups:
            if len(group) <= MOST_ADDED:
                plain.update(multiplied([each.values[0] for each in group]))
            for kind in {each.kind for each in group}:
                same = [each for each in group if each.kind == kind or is_price(each, kind)]
                plain.update(added([each.values[0] for each in same]))
                if kind:
                    sized[kind].update(added([each.base for each in same]))
                else:
                    raw.update(added([each.values[0] for each in same]))
        raw = {value for value in raw if value >= _LEAST_RAW}
        return cls(sorted(plain), sorted(raw), {kind: sorted(values) for kind, values in sized.items()})

    def hold(self, said: Quantity, *, rounded: bool = True) -> bool:
        """Return whether a quantity is one of these, in its unit or converted, as it is written or a round number."""
        return any(
            holds(self.plain, low, high)
            or self._measure(said, low * said.size, high * said.size)
            or any(holds(self.raw, low * factor, high * factor) for factor in _raw_factors(said))
            for value in said.values
            for low, high in around(value, said)[: None if rounded else 1]
        )

    def hold_like(self, said: Quantity) -> bool:
        """Return whether a quantity is exactly one of these, of its dimension if it has one."""
        nearest = (around(value, said)[0] for value in said.values)
        return any(
            self._measure(said, low * said.size, high * said.size) if said.kind else holds(self.plain, low, high)
            for low, high in nearest
        )

    def _measure(self, said: Quantity, low: float, high: float) -> bool:
        factors = _BINARY if said.kind == "data" else (1,)
        return any(holds(self.sized.get(said.kind, ()), low * factor, high * factor) for factor in factors)


def added(group: Sequence[float]) -> Iterator[float]:
    """Yield the sum of all, of two, and of all but one, and differences."""
    if len(group) < 2:  # noqa: PLR2004
        return
    yield (total := sum(group))
    if _are_few(group):
        yield from (total - each for each in group)
        for one, other in itertools.combinations(set(group), 2):
            yield from (one + other, abs(one - other))


def _are_few(group: Sequence[float]) -> bool:
    """Return whether sums of two or three of some numbers are seldom another number by chance."""
    fractions = sum(1 for each in group if each % 1)
    return len(group) <= (_MOST_PRICES if 2 * fractions > len(group) else MOST_ADDED)


def mean(group: Sequence[float]) -> Iterator[float]:
    """Yield the mean."""
    yield sum(group) / len(group) if group else 0


def mean_and_threes(group: Sequence[float]) -> Iterator[float]:
    """Yield the mean and the sums of three, which count only if they are exact."""
    yield from mean(group)
    if _are_few(group):
        yield from map(sum, itertools.combinations(group, 3))


def multiplied(group: Sequence[float]) -> Iterator[float]:
    """Yield halves, products and quotients."""
    yield from (each / 2 for each in group)
    for one, other in itertools.combinations(set(group), 2):
        yield one * other
        if one and other:
            yield from (one / other, other / one)


def billed(group: Sequence[float]) -> Iterator[float]:
    """Yield what one pays for so many of something and for one thing more, and what is left of something."""
    if len(set(group)) <= _MOST_BILLED:
        for one, other, more in itertools.permutations(set(group), 3):
            yield from (one * other + more, one * (other + more), one - other + more, one - other - more)


def percentages(group: Sequence[float]) -> Iterator[float]:
    """Yield one number as a percentage of another, and their difference in percent."""
    for part, whole in itertools.permutations(group, 2):
        if whole:
            yield from (100 * part / whole, abs(100 * (part - whole) / whole))


def is_price(each: Quantity, unit: str) -> bool:
    """Return whether a number may be a price: these often have only a key."""
    return unit == "money" and not each.kind


def measures(group: Iterable[Quantity], kind: str | None = None) -> Sequence[float]:
    """Return the different measures, or those of a dimension, of a group that is small enough."""
    found = {each.base for each in group if kind in {None, each.kind}}
    return sorted(found) if len(found) <= MOST_ADDED else ()


def holds(numbers: Sequence[float], low: float, high: float) -> bool:
    """Return whether one of the numbers, which are sorted, lies between these two."""
    place = bisect.bisect_right(numbers, low)
    return place < len(numbers) and numbers[place] < high


def _raw_factors(said: Quantity) -> Sequence[float]:
    return _RAW[said.kind] if said.kind or said.step != 1 else ()


def around(value: float, said: Quantity) -> Sequence[tuple[float, float]]:
    """Return the range of originals that a number may stand for, and a wider one for tens, or for shares, fives."""
    step = said.step_at(value)
    half = step / 2 if said.kind or step != 1 or value >= _LEAST_ROUNDED else min(_EXACT, value / 5000)
    half *= 1.001 if step < 1 else 1
    between = [(value - half, value + half)]
    if step >= 1 and value >= 20 and value % 10 == 0:  # noqa: PLR2004 - below, rounding changes too much
        zeros = len(f"{value:.0f}") - len(f"{value:.0f}".rstrip("0"))
        by = min(value / 10, 5 * 10 ** (zeros - 1)) * 1.001
        between.append((value - by, value + by))
    elif step == 1 and said.kind == "share" and value % 5 == 0:
        between.append((value - 2, value + 2))
    return between
