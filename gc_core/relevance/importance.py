"""
The importance of an item: the scorer's view of the resident items, and the composite score.

Everything is derived from the names that items carry since they arrived, and from splitting their words once, so that a
collection costs O(window) and a step O(what is new).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import attrs

from gc_core.relevance.bm25 import BM25, Bag, bag_of, rarity
from gc_core.relevance.name_scan import scan
from gc_core.relevance.text_cache import PerText
from gc_core.values.items import Item, ItemKind, Unit

HALF_LIFE_STEPS = 30
"""Steps after which recency has halved."""

_REFERENCES_HALF = 5
"""Number of later steps using one of its names at which the reference frequency is one half."""
_ACTIONS = frozenset({ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_CALL})


class ScoringWindow:
    """
    A scorer's view of the window, read-only; created once per collection, with each answer computed on request.

    Args:
        units: The resident units, oldest first.
        objective: The agent's objective, "" if unknown.
        words: The words of texts, if they are kept from one collection to the next.

    """

    def __init__(
        self,
        units: Sequence[Unit],
        *,
        objective: str = "",
        words: PerText[Bag] | None = None,
    ) -> None:
        self._objective = objective
        self._items = tuple(item for unit in units for item in unit.items)
        self._units = units
        self._words = PerText(bag_of) if words is None else words

    @property
    def items(self) -> tuple[Item, ...]:
        """The resident items, oldest first."""
        return self._items

    @property
    def objective(self) -> str:
        """The agent's objective, "" if unknown."""
        return self._objective

    def age(self, item: Item) -> int:
        """Return the steps taken since the item; 0 for an item outside the conversation."""
        return self._ages.get(item.unit, 0)

    def recency(self, item: Item, half_life_steps: float = HALF_LIFE_STEPS) -> float:
        """Return 1 for the newest step, one half for each half-life since: ``exp(-ln(2) * age / half_life_steps)``."""
        return math.exp(-math.log(2) * self.age(item) / half_life_steps)

    def relevance(self, item: Item) -> float | None:
        """
        Return how well the item fits the objective, from 0 to 1; None without an objective.

        The mean of the words (BM25, as a share of the best score in the window) and, if the objective contains names
        that the window shows, of the names that the item shows, rare ones weighted higher.
        """
        if not self.objective.strip():
            return None
        found = self._word_scores.get(item.text, 0.0)
        if self._wanted:
            shown = sorted(self._wanted.keys() & item.scan.names)
            return (found + min(1.0, sum(self._wanted[name] for name in shown))) / 2
        return found

    def reference_frequency(self, item: Item) -> float:
        """
        Return the frequency of later steps that use one of its names in texts or calls: 0 for none, one half for 5
        steps.
        """
        steps = self._later_uses(item)
        return steps / (steps + _REFERENCES_HALF)

    # -- inside --------------------------------------------------------------------------------------------------

    @cached_property
    def _ages(self) -> dict[int, int]:
        ages, steps = {}, 0
        for unit in reversed(self._units):
            ages[unit.number] = steps
            steps += unit.is_step
        return ages

    @cached_property
    def _word_scores(self) -> dict[str, float]:
        """The word score of every text in the window, as a share of the best."""
        bags = {item.text: self._words[item.text] for item in self.items}
        ranking = BM25(list(bags.values()), self._words[self.objective])
        scores = {text: ranking.score(bag) for text, bag in bags.items()}
        best = max(scores.values(), default=0.0)
        return {text: score / best for text, score in scores.items()} if best else {}

    @cached_property
    def _wanted(self) -> dict[str, float]:
        """The objective's names that the window shows, with weights that add up to 1."""
        names = scan(self.objective).names
        holding = dict.fromkeys(names, 0)
        for item in self.items:
            for name in names & item.scan.names:
                holding[name] += 1
        # In a fixed order, so that sums are equal in every process.
        rarities = {name: rarity(holding[name], len(self.items)) for name in sorted(names) if holding[name]}
        total = sum(rarities.values())
        return {name: value / total for name, value in rarities.items()}

    @cached_property
    def _used(self) -> dict[str, int]:
        """The units in which the agent uses each name in texts and calls: one bit per unit, the oldest lowest."""
        used: dict[str, int] = {}
        for place, unit in enumerate(self._units):
            bit = 1 << place
            for item in unit.items:
                if item.kind in _ACTIONS:
                    for name in item.scan.names:
                        used[name] = used.get(name, 0) | bit
        return used

    @cached_property
    def _places(self) -> dict[int, int]:
        return {unit.number: place for place, unit in enumerate(self._units)}

    def _later_uses(self, item: Item) -> int:
        """Return the number of steps after the item's own unit that use one of its names."""
        place = self._places.get(item.unit)
        if place is None:
            return 0
        used = 0
        for name in item.scan.names:
            used |= self._used.get(name, 0)
        return (used >> place + 1).bit_count()


@attrs.frozen
class CompositeScorer:
    """
    The mean of recency and reference frequency.

    Of the 31 combinations of five terms this one predicted best what recorded agents used next, and it was chosen in
    each of nine sessions from the other eight (docs/reference/importance.md).
    """

    def score(self, item: Item, window: ScoringWindow) -> float:
        """Return the item's importance, from 0 to 1."""
        return (window.recency(item) + window.reference_frequency(item)) / 2


Scores = Callable[[Sequence[Unit], str], Callable[[Item], float]]
"""Scores the items of these units for an objective."""


def composite(units: Sequence[Unit], objective: str) -> Callable[[Item], float]:
    """Return the composite scores when only the window is known."""
    window = ScoringWindow(units, objective=objective)
    return lambda item: CompositeScorer().score(item, window)
