"""Groups the numbers of a text that belong together: those of a line, a column, a dimension or a noun."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs

from gc_core.summaries.nouns import is_form_of
from gc_core.summaries.quantities import Quantity

_BEGINNING: Final = 3
"""Words that differ only in their ending begin with the same letters, as many as this."""


@attrs.frozen(slots=False)
class NumberGroups:
    """The groups of some quantities, which are in order."""

    quantities: Sequence[Quantity]

    @cached_property
    def lines(self) -> Sequence[Sequence[Quantity]]:
        """What stands in one line."""
        return [tuple(group) for _, group in itertools.groupby(self.quantities, key=lambda each: each.line)]

    @cached_property
    def columns(self) -> Sequence[Sequence[Quantity]]:
        """What stands at the same place of neighbouring lines with as many numbers."""
        # Lines that follow each other have the same distance from their places in this order.
        placed = itertools.groupby(enumerate(self.lines), key=lambda each: (len(each[1]), each[1][0].line - each[0]))
        tables = ([line for _, line in lines] for _, lines in placed)
        return [column for table in tables if len(table) > 1 for column in zip(*table, strict=True)]

    @cached_property
    def near(self) -> Sequence[Sequence[Quantity]]:
        """What stands near each other or belongs together, also bare numbers of a line: "5, 7 and 9 on two days"."""
        bare = ([each for each in line if not each.words] for line in self.lines)
        return [*self.belonging, *bare, *((*one, *then) for one, then in itertools.pairwise(self.lines))]

    @cached_property
    def neighbours(self) -> Sequence[Sequence[Quantity]]:
        """What stands in two lines that follow each other, or in one."""
        return [*self.lines, *((*one, *then) for one, then in itertools.pairwise(self.lines))]

    @cached_property
    def belonging(self) -> Sequence[Sequence[Quantity]]:
        """Lines, columns, what has one dimension or one noun."""
        kinds = {each.kind for each in self.quantities} - {""}
        same = [[each for each in self.quantities if each.kind == kind] for kind in kinds]
        return [*self.lines, *self.columns, *map(_distinct, [*same, *self._of_nouns])]

    @cached_property
    def _of_nouns(self) -> Sequence[Sequence[Quantity]]:
        """What has the same noun. Tests may have run many times, so each of their nouns is a group of its own."""
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
