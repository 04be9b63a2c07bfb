"""Works out what follows from the numbers of a text: rounded, converted, added up, as shares, and times between."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

import attrs

from gc_core.summaries.number_words import spelt_in
from gc_core.summaries.quantities import Quantity, is_sign, quantities, readings, step_of
from gc_core.summaries.time_spans import spans_in
from gc_core.values.patterns import regex

_MOST: Final = 300
"""With more different numbers, some always explain another."""

_MOST_QUANTITIES: Final = 600

_MOST_ADDED: Final = 12
"""Among more numbers some always add up."""

_MOST_SHARED: Final = 60
_EXACT: Final = 0.01
_LEAST_RAW: Final = 60
"""The least number without a unit that somebody converts: seconds, bytes."""

_RAW: Final = {
    "time": (60, 3600, 1000, 60_000, 86_400),
    "size": (1000, 1024, 1e6, 1024**2, 1e9, 1024**3),
    "share": (0.01,),
    "money": (100, 1000, 1e6),
    "": (1000, 1e6),
}
"""How many times larger a number without a unit is than the same in a unit of a dimension."""

_WRITTEN = regex(r"(?<![A-Za-z\d_.,])(?<![A-Za-z]-)(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d+)*)")
_RUN = regex(r"(?<![A-Za-z\d_])(?<!\d[ \u00a0\u202f])\d+(?![ \u00a0\u202f]\d{3}(?!\d))")
_GLUED = regex(r"(?<![A-Za-z\d_])[A-Za-z](\d{2,3})(?!\w)")  # "p95"


@attrs.frozen(slots=False)
class DerivedNumbers:
    """The numbers of a text, and what is worked out from them."""

    text: str

    @cached_property
    def quantities(self) -> Sequence[Quantity]:
        """What has a noun or a unit."""
        return tuple(quantities(self.text))

    @cached_property
    def are_few(self) -> bool:
        """Whether it means anything that a number cannot be worked out from these."""
        return len(self.written) <= _MOST and len(self.quantities) <= _MOST_QUANTITIES and len(self.sorted) <= _MOST

    @cached_property
    def written(self) -> AbstractSet[float]:
        """Every number, wherever it stands."""
        numbers = (value for digits in set(_WRITTEN.findall(self.text)) for value in readings(digits))
        runs = (float(run[:15]) for run in {*_RUN.findall(self.text), *_GLUED.findall(self.text)})
        return {*numbers, *runs, *map(float, spelt_in(self.text))}

    def explain(self, said: Quantity) -> bool:
        """Return whether a quantity is worked out from these."""
        if said.averaged and self._lies_within(said):
            return True
        return any(self._is_near(value, said) or self._is_derived(value, said) for value in said.values)

    def explain_share(self, percentage: str) -> bool:
        """Return whether a percentage with a fraction is that of any number in another."""
        return self.are_few and any(
            low < share < high
            for value in readings(percentage)
            for low, high in [(value - step_of(percentage) / 2, value + step_of(percentage) / 2)]
            for share in self._all_shares
        )

    def _lies_within(self, said: Quantity) -> bool:
        given = [each.values[0] for each in self.quantities if each.is_of(said.words)]
        return bool(given) and min(given) <= said.values[0] <= max(given)

    # -- rounded and converted -----------------------------------------------------------------------------------------

    def _is_near(self, value: float, said: Quantity) -> bool:
        raw = _RAW[said.kind] if said.kind or said.step != 1 else ()
        return _holds(self._fractions, value - said.step / 2, value + said.step / 2) or any(
            _holds(self.sorted, low, high)
            or _holds(self._measured[said.kind], low * said.size, high * said.size)
            or any(_holds(self._raw, low * factor, high * factor) for factor in raw)
            for low, high in _around(value, said)
        )

    @cached_property
    def sorted(self) -> Sequence[float]:
        """Every number, in order."""
        return sorted({value for each in self.quantities for value in each.values} | set(self.written))

    @cached_property
    def _fractions(self) -> Sequence[float]:
        return sorted(value for each in self.quantities if each.step < 1 for value in each.values)

    @cached_property
    def _measured(self) -> Mapping[str, Sequence[float]]:
        """What has a unit, in the smallest one of its dimension."""
        return {
            kind: sorted(value * each.size for each in self.quantities for value in each.values if each.kind == kind)
            for kind in _RAW
        }

    @cached_property
    def _raw(self) -> Sequence[float]:
        plain = (each for each in self.quantities if not each.kind)
        return sorted(value for each in plain for value in each.values if value >= _LEAST_RAW)

    # -- added up, shared, and between ---------------------------------------------------------------------------------

    def _is_derived(self, value: float, said: Quantity) -> bool:
        if self._are_many(said):
            return True
        around = list(_around(value, said))
        (least, most), *_ = around
        if any(least < other < most for other in self._sums_of(said)):
            return True
        derived: AbstractSet[float] = frozenset()
        if said.kind == "share":
            derived = self._shares if said.step == 1 else self._all_shares
        elif said.kind == "time":
            derived = self._spans
        return any(low < other < high for other in derived for low, high in around)

    def _are_many(self, said: Quantity) -> bool:
        """Return whether there are so many of a noun or dimension that some always add up."""
        same = (each for each in self.quantities if each.is_of(said.words) or _is_addend(each, said.kind))
        return len({each.values[0] for each in same}) > _MOST_ADDED

    def _sums_of(self, said: Quantity) -> AbstractSet[float]:
        """Return sums and differences of what has the same unit, and of what is the same where there is such."""
        same = [each for each in self.quantities if each.is_of(said.words)]
        if not same or said.kind:
            sums = (number for group in self._groups for number in _sums(group, said.kind))
            return {*sums, *(number for line in self._lines for number in _multiples(line, said.kind))}
        lines = () if is_sign(said.words[0]) else self._lines
        counted = ([each for each in line if each.words and not each.kind] for line in lines)
        pairs = (pair for line in counted for pair in itertools.combinations(_sized(line), 2))
        return {*_added(_sized(same)), *map(sum, pairs)}

    @cached_property
    def _shares(self) -> AbstractSet[float]:
        """Percentages of a number in another that belongs to it, or in their sum, and of its growth."""
        groups = [_sized(group, kind) for group in self._groups for kind in _RAW if kind != "share"]
        left = {100 - value for each in self.quantities if each.kind == "share" for value in each.values}
        pairs = (pair for line in self._lines for pair in itertools.permutations(_sized(line, ""), 2))
        parts = {100 * part / (part + other) for part, other in pairs if part + other}
        return {*left, *parts, *_percentages(self._raw[:_MOST_SHARED]), *itertools.chain(*map(_percentages, groups))}

    @cached_property
    def _all_shares(self) -> AbstractSet[float]:
        """Percentages of any number in another: with a fraction they are seldom alike by chance."""
        return {*self._shares, *_percentages(self.sorted[:_MOST_SHARED])}

    @cached_property
    def _spans(self) -> AbstractSet[float]:
        return frozenset(spans_in(self.text))

    @cached_property
    def _lines(self) -> Sequence[Sequence[Quantity]]:
        return [tuple(group) for _, group in itertools.groupby(self.quantities, key=lambda each: each.line)]

    @cached_property
    def _groups(self) -> Sequence[Sequence[Quantity]]:
        """What belongs together: lines, neighbouring ones, one dimension, one noun."""
        neighbours = [[*one, *then] for one, then in itertools.pairwise(self._lines)]
        kinds = {each.kind for each in self.quantities} - {""}
        nouns = {each.words for each in self.quantities} - {()}
        return [
            *self._lines,
            *neighbours,
            *([each for each in self.quantities if each.kind == kind] for kind in kinds),
            *([each for each in self.quantities if each.is_of(words)] for words in nouns),
        ]


def _holds(numbers: Sequence[float], low: float, high: float) -> bool:
    """Return whether one of the numbers, which are sorted, lies between these two."""
    place = bisect.bisect_right(numbers, low)
    return place < len(numbers) and numbers[place] < high


def _sums(group: Sequence[Quantity], kind: str) -> Iterator[float]:
    """Yield what the quantities of a dimension, or of each, add up to, with those that have neither unit nor noun."""
    for unit in {kind} if kind else {each.kind for each in group}:
        yield from _added(_sized(each for each in group if each.kind == unit or _is_bare(each, unit)))


def _multiples(line: Sequence[Quantity], kind: str) -> Iterator[float]:
    """Yield what a quantity of a dimension is so many times, and shared among so many."""
    for each, other in itertools.product(_sized(line, kind), _sized(line, "")) if kind else ():
        size = max(one.size for one in line if one.kind == kind)
        yield from (each * other / size, each / max(other, 1) / size)


def _is_addend(each: Quantity, unit: str) -> bool:
    return unit not in {"", "share"} and (each.kind == unit or _is_bare(each, unit))


def _is_bare(each: Quantity, unit: str) -> bool:
    """Return whether a number may be one of a dimension; prices often have only a key."""
    return not each.kind and (not each.words or unit == "money")


def _sized(group: Iterable[Quantity], kind: str | None = None) -> Sequence[float]:
    """Return the different numbers, or those of a dimension in its smallest unit, of a group that is small enough."""
    if kind is None:
        found = {each.values[0] for each in group}
    else:
        found = {each.values[0] * each.size for each in group if each.kind == kind}
    return sorted(found) if len(found) <= _MOST_ADDED else ()


def _added(group: Sequence[float]) -> Iterator[float]:
    yield sum(group)
    for one, other in itertools.combinations(group, 2):
        yield from (one + other, abs(one - other))


def _percentages(group: Sequence[float]) -> Iterator[float]:
    for part, whole in itertools.permutations(group, 2):
        if whole:
            yield from (100 * part / whole, abs(100 * (part - whole) / whole))


def _around(value: float, said: Quantity) -> Iterator[tuple[float, float]]:
    """Yield between what an original number lies: it may be rounded, a whole number to tens, a share to fives."""
    half = said.step / 2 if said.kind or said.step != 1 else _EXACT
    yield value - half, value + half
    if said.step != 1:
        return
    if value >= 20 and value % 10 == 0:  # noqa: PLR2004 - below, rounding changes too much
        zeros = len(f"{value:.0f}") - len(f"{value:.0f}".rstrip("0"))
        by = min(value / 10, 5 * 10 ** (zeros - 1))
        yield value - by, value + by
    elif said.kind == "share" and value % 5 == 0:
        yield value - 2, value + 2
