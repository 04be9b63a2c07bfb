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
from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

import attrs

from gc_core.summaries.number_words import spelt_in
from gc_core.summaries.quantities import Quantity, are_of, is_form_of, quantities, readings
from gc_core.summaries.ranges import range_lengths
from gc_core.summaries.results import (
    LEAST_RAW,
    MOST_ADDED,
    Results,
    added,
    around,
    holds,
    is_price,
    mean,
    mean_and_threes,
    measures,
    multiplied,
    percentages,
)
from gc_core.summaries.times import DAY, WrittenDate, dates_in, days_apart, hours_in, is_near, spans_in
from gc_core.values.patterns import regex

_MOST: Final = 300
"""With more different numbers, some always explain another."""

_MOST_QUANTITIES: Final = 600

_LONG: Final = 1000
_RARE: Final = 5
"""The digits of a number that very many others do not come to by chance."""

_MOST_SHARED: Final = 60
_BEGINNING: Final = 3
"""Words that differ only in their ending have so many letters in common."""

_CALENDAR: Final = (2.0, 3.0, 4.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 365.0)
"""How many there are of something in a day, a week or a year, and what one halves and quarters by."""

_CONVERTED: Final = (*_CALENDAR, *(1 / by for by in _CALENDAR))
_FACTORS: Final = {"time": _CONVERTED, "money": (1 / 2, 1 / 3, 1 / 4)}
"""By what a long number is multiplied: a price for two persons, there and back."""

_SIZES: Final = frozenset({"size", "data"})
_YEAR: Final = 366
_MONTH: Final = 28
_MONTH_OFF: Final = 3
"""By so many days a month may differ from another."""

_WRITTEN = regex(
    r"(?<![A-Za-z\d_.,])(?<![A-Za-z]-)(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,']\d+)*)"
)
_RUN = regex(r"(?<![A-Za-z\d_])(?<!\d[ \u00a0\u202f])\d+(?![ \u00a0\u202f]\d{3}(?!\d))")
_PART = regex(r"(?<=\d[-/:])\d+")  # of a date or an hour
_GLUED = regex(r"(?<![A-Za-z\d_])[A-Za-z](\d{2,3})(?!\w)")  # "p95"


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
        runs = {*_RUN.findall(self.text), *_GLUED.findall(self.text), *_PART.findall(self.text)}
        return {*self._whole, *(float(run[:15]) for run in runs), *map(float, spelt_in(self.text))}

    @cached_property
    def _whole(self) -> AbstractSet[float]:
        """The numbers in digits, without those that stand after a point."""
        return {value for digits in set(_WRITTEN.findall(self.text)) for value in readings(digits)}

    @cached_property
    def sorted(self) -> Sequence[float]:
        """Every number, in order."""
        return sorted({value for each in self.quantities for value in each.values} | set(self.written))

    def explain(self, said: Quantity) -> bool:
        """Return whether a short quantity is one of these, or worked out from what belongs to it."""
        if said.averaged and (self._lies_within(said) or self._is_mean(said)):
            return True
        return self.round_to(said) or self._lasted(said) or self._are_many(said) or self._is_derived(said)

    def come_near(self, said: Quantity) -> bool:
        """Return whether a number comes of two that stand near each other."""
        return self._near.hold(said, rounded=False)

    def explain_long(self, said: Quantity) -> bool:
        """Return whether a number of three digits or more is one of these, or worked out from any that stand near."""
        if not self.are_few:
            return _is_common(said) or any(
                holds(self.sorted, low, high) for value in said.values for low, high in around(value, said)
            )
        if self.round_to(said) or self._lasted(said):
            return True
        if self._near.hold(said) or (said.step < 1 and self._is_share(said, self._all_shares)):
            return True
        if self._threes.hold(said, rounded=False) or (max(said.values) < _LONG and self._are_many(said)):
            return True
        if said.step < 1 and any(holds(self._taxed, *around(value, said)[0]) for value in said.values):
            return True
        return self._are_times(said, _CONVERTED if said.is_rate else _FACTORS.get(said.kind, ()))

    def round_to(self, said: Quantity) -> bool:
        """Return whether a number is one of these, rounded or in another unit."""
        halves = ((value - said.step_at(value) / 2, value + said.step_at(value) / 2) for value in said.values)
        if any(value in self._lengths for value in said.values):
            return True
        return self._single.hold(said) or any(holds(self._fractions, low, high) for low, high in halves)

    def add_up_to(self, said: Quantity) -> bool:
        """Return whether a whole number is exactly what two or three that stand near each other come to."""
        return said.step == 1 and (self.come_near(said) or self._threes.hold(said, rounded=False))

    def tell_hour(self, minutes: int) -> bool:
        """Return whether an hour is so long after another, or before it, as something took."""
        lasted = self._single.sized.get("time", ())
        hours = [60 * int(hour) + int(minute) for hour, minute, _ in hours_in(self.text)]
        return self.are_few and any(
            abs((hour + sign * took / 60 - minutes + 720) % 1440 - 720) < 1
            for hour in hours
            for took in lasted
            for sign in (1, -1)
        )

    def tell_date(self, date: WrittenDate) -> bool:
        """Return whether a day is so long after another, or before it, as something takes, or is told by another."""
        others = {(month, day) for _, month, day in dates_in(self.text)}
        spans = {round(took / DAY) for took in self._single.sized.get("time", ()) if DAY / 2 < took < _YEAR * DAY}
        return (
            not self.are_few
            or any(is_near(day, self.text) for day in date.days)
            or any(
                abs(days_apart(day, other) - span) <= (_MONTH_OFF if span >= _MONTH else 1)
                for day, other, span in itertools.product(date.days, others, spans)
            )
        )

    def _lies_within(self, said: Quantity) -> bool:
        given = [each.values[0] for each in self.quantities if each.is_of(said.words) or are_of(each.keys, said.keys)]
        return bool(given) and min(given) <= said.values[0] <= max(given)

    def _is_mean(self, said: Quantity) -> bool:
        low, high = said.values[0] - said.step / 2, said.values[0] + said.step / 2
        if said.kind:
            return holds(self._means.sized.get(said.kind, ()), low * said.size, high * said.size)
        return holds(self._means.plain, low, high)

    def _lasted(self, said: Quantity) -> bool:
        if said.kind != "time":
            return False
        if said.whole and any(abs(said.whole - span) < said.size * said.step for span in self._spans):
            return True
        pairs = (pair for value in said.values for pair in around(value, said))
        return any(holds(self._all_spans, low * said.size, high * said.size) for low, high in pairs)

    def _are_many(self, said: Quantity) -> bool:
        """Return whether there are so many of a noun or dimension that some always add up."""
        same = (each for each in self.quantities if each.is_of(said.words) or _is_addend(each, said))
        return said.step >= 1 and len({each.values[0] for each in same}) > MOST_ADDED

    def _is_derived(self, said: Quantity) -> bool:
        if said.kind == "share":
            return self._is_share(said, self._shares if said.step == 1 else self._all_shares)
        parts = [1 / by for by in _CALENDAR] if said.kind in _SIZES else ()
        return Results.of(self._groups_of(said), iter, added).hold_like(said) or self._are_times(said, parts)

    def _are_times(self, said: Quantity, factors: Sequence[float]) -> bool:
        """Return whether one of these is a quantity times one of some factors."""
        return any(self._single.hold_like(attrs.evolve(said, size=said.size * factor)) for factor in factors)

    def _groups_of(self, said: Quantity) -> Iterator[Sequence[Quantity]]:
        """Yield what belongs to a short quantity: what is told of the same, and columns of bare numbers."""
        yield from (column for column in self._columns if not any(each.kind or each.words for each in column))
        if said.kind and len(self.quantities) <= 2 * MOST_ADDED:
            yield self.quantities
        yield from ([each for each in group if _is_like(each, said)] for group in self._belonging)

    def _is_share(self, said: Quantity, shares: Sequence[float]) -> bool:
        if said.kind not in {"share", ""}:
            return False
        return any(holds(shares, low, high) for value in said.values for low, high in around(value, said))

    # -- what belongs together -----------------------------------------------------------------------------------------

    @cached_property
    def _single(self) -> Results:
        """Each number by itself."""
        sized = defaultdict[str, set[float]](set)
        for each in self.quantities:
            if each.kind:
                sized[each.kind].update(value * each.size for value in each.values)
                if each.whole:
                    sized[each.kind].add(each.whole)
        raw = {value for each in self.quantities if not each.kind for value in each.values if value >= LEAST_RAW}
        return Results(self.sorted, sorted(raw), {kind: sorted(values) for kind, values in sized.items()})

    @cached_property
    def _taxed(self) -> Sequence[float]:
        """Every number with a percentage of it, and without."""
        shares = {each.values[0] / 100 for each in self.quantities if each.kind == "share"}
        factors = (factor for share in shares for factor in (share, 1 + share, 1 - share))
        return sorted(one * factor for one, factor in itertools.product(self.sorted, [*factors][:MOST_ADDED]))

    @cached_property
    def _fractions(self) -> Sequence[float]:
        return sorted(value for each in self.quantities if each.step < 1 for value in each.values)

    @cached_property
    def _lengths(self) -> AbstractSet[float]:
        return set(range_lengths(self.text))

    @cached_property
    def _near(self) -> Results:
        return Results.of(self._groups, multiplied, added)

    @cached_property
    def _threes(self) -> Results:
        return Results.of(self._groups, iter, mean_and_threes)

    @cached_property
    def _means(self) -> Results:
        return Results.of(self._groups, iter, mean)

    @cached_property
    def _shares(self) -> Sequence[float]:
        """Percentages of a number in another that belongs to it, or in their sum, and of its growth."""
        groups = [measures(group, kind) for group in self._groups for kind in {each.kind for each in group} - {"share"}]
        left = {100 - value for each in self.quantities if each.kind == "share" for value in each.values}
        pairs = (pair for line in self._lines for pair in itertools.permutations(measures(line, ""), 2))
        parts = {100 * part / (part + other) for part, other in pairs if part + other}
        totals = [(each, sum(group)) for group in groups if len(group) > 2 for each in group]  # noqa: PLR2004
        parts |= {100 * part / total for part, total in totals if total}
        return sorted({*left, *parts, *itertools.chain(*map(percentages, groups))})

    @cached_property
    def _all_shares(self) -> Sequence[float]:
        """Percentages of any number in another: with a fraction they are seldom alike by chance."""
        return sorted({*self._shares, *percentages(self.sorted[:_MOST_SHARED])})

    @cached_property
    def _spans(self) -> Sequence[float]:
        return sorted(set(spans_in(self.text)))

    @cached_property
    def _all_spans(self) -> Sequence[float]:
        """Also without what some part of it took, where there are few."""
        took = self._single.sized.get("time", ())
        few = len(took) * len(self._spans) <= _MOST_SHARED
        return sorted({*self._spans, *(span - part for span in self._spans for part in (took if few else ()))})

    @cached_property
    def _lines(self) -> Sequence[Sequence[Quantity]]:
        return [tuple(group) for _, group in itertools.groupby(self.quantities, key=lambda each: each.line)]

    @cached_property
    def _columns(self) -> Sequence[Sequence[Quantity]]:
        """What stands at the same place of neighbouring lines with as many numbers."""
        # Lines that follow each other have the same distance from their places in this order.
        placed = itertools.groupby(enumerate(self._lines), key=lambda each: (len(each[1]), each[1][0].line - each[0]))
        tables = ([line for _, line in lines] for _, lines in placed)
        return [column for table in tables if len(table) > 1 for column in zip(*table, strict=True)]

    @cached_property
    def _groups(self) -> Sequence[Sequence[Quantity]]:
        """What stands near each other or belongs together."""
        return [*self._belonging, *((*one, *then) for one, then in itertools.pairwise(self._lines))]

    @cached_property
    def _belonging(self) -> Sequence[Sequence[Quantity]]:
        """Lines, columns, what has one dimension or one noun."""
        kinds = {each.kind for each in self.quantities} - {""}
        same = [[each for each in self.quantities if each.kind == kind] for kind in kinds]
        return [*self._lines, *self._columns, *map(_distinct, [*same, *self._of_nouns])]

    @cached_property
    def _of_nouns(self) -> Sequence[Sequence[Quantity]]:
        """What has the same noun; of tests, what was told in the same word, as they may have run many times."""
        beginning = defaultdict[str, list[Quantity]](list)
        for each in self.quantities:
            for begin in {word[:_BEGINNING] for word in each.words}:
                beginning[begin].append(each)
        nouns = {each.words for each in self.quantities} - {()}
        near = ((words, {id(each): each for word in words for each in beginning[word[:_BEGINNING]]}) for words in nouns)
        return [[each for each in group.values() if _have_noun(each.words, words)] for words, group in near]


def _have_noun(words: Sequence[str], others: Sequence[str]) -> bool:
    return any(itertools.starmap(is_form_of, itertools.product(words, others)))


def _distinct(group: Sequence[Quantity]) -> Sequence[Quantity]:
    """Return one of each measure: the same number of the same thing is mostly the same thing told again."""
    return list({each.base: each for each in group}.values())


def _is_like(each: Quantity, said: Quantity) -> bool:
    return each.kind == said.kind or is_price(each, said.kind) if said.kind else each.is_of(said.words)


def _is_addend(each: Quantity, said: Quantity) -> bool:
    """Return whether a number may be one of a dimension; grams and metres are sizes, but nobody adds these up."""
    if said.kind in {"", "share"}:
        return False
    return is_price(each, said.kind) or (each.kind == said.kind and (said.kind not in _SIZES or each.size == said.size))


def _is_common(said: Quantity) -> bool:
    """Return whether a number has so few digits that some of very many numbers come to it by chance."""
    return len(re.sub(r"\D", "", said.written).strip("0")) < _RARE
