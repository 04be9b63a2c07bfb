"""
Scores a session's items with its configured scorer, in isolation.

A failing scorer is reported, and the composite replaces it for that collection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property

import attrs

from gc_core.errors import PluginError
from gc_core.plugins.manager import SCORE, Plugins
from gc_core.relevance.bm25 import Bag, bag_of
from gc_core.relevance.contract import ImportanceScorer
from gc_core.relevance.importance import CompositeScorer, ScoringWindow
from gc_core.relevance.text_cache import PerText
from gc_core.values.config import GCConfig
from gc_core.values.items import Item, Unit
from gc_core.values.validators import is_number

COMPOSITE = "composite"
"""The built-in scorer."""

SCORING_SECONDS = 10.0
"""The seconds that a plugin's scorer may take in one collection; checked between two items."""


@attrs.frozen(kw_only=True)
class Scoring:
    """
    The scorer, and the words of texts kept from one collection to the next.

    Attributes:
        plugins: Isolates the scorer.
        name: The scorer's name.
        scorer: Scores items.
        words: The words of texts.
        clock: Returns monotonic seconds.

    """

    plugins: Plugins
    name: str = COMPOSITE
    scorer: ImportanceScorer
    words: PerText[Bag] = attrs.field(factory=lambda: PerText(bag_of), repr=False, eq=False)
    clock: Callable[[], float] = attrs.field(default=time.monotonic, repr=False, eq=False)

    @classmethod
    def of(cls, config: GCConfig, plugins: Plugins) -> Scoring:
        """Return the configured scoring. Raises ConfigError for an unknown scorer."""
        name = config.importance_scorer
        scorer: ImportanceScorer = CompositeScorer() if name == COMPOSITE else plugins.scorer(name)
        return cls(plugins=plugins, name=name, scorer=scorer)

    def __call__(self, units: Sequence[Unit], objective: str) -> Scored:
        """Return the scores of these units for an objective; words of other texts are dropped."""
        self.words.keep([*(item.text for unit in units for item in unit.items), objective])
        return Scored(self, units, objective)


class Scored:
    """The scores of one collection; computed on first use."""

    def __init__(self, scoring: Scoring, units: Sequence[Unit], objective: str) -> None:
        self._scoring = scoring
        self._units = units
        self._objective = objective

    def __call__(self, item: Item) -> float:
        """Return the importance of an item, from 0 to 1."""
        known = self._scores.get(item.id)
        return self._instead(item) if known is None else known

    @cached_property
    def _scores(self) -> dict[str, float]:
        """All scores, computed at once, because those of two scorers cannot be compared. Empty if the scorer failed."""
        scoring, scores = self._scoring, dict[str, float]()
        if scoring.plugins.is_quarantined(scoring.name, SCORE):
            return scores
        window, began = self._window, scoring.clock()
        with scoring.plugins.guarded(scoring.name, SCORE) as attempt:
            for item in window.items:
                scores[item.id] = self._checked(item, scoring.scorer.score(item, window))
                self._check_time(began, len(scores))
        if attempt.failure is not None:
            return {}
        scoring.plugins.forgive(scoring.name, SCORE)
        return scores

    def _checked(self, item: Item, score: object) -> float:
        """Return the score. Raises PluginError for an invalid one."""
        if not is_number(score) or not 0 <= score <= 1:
            raise PluginError(f"scorer {self._scoring.name!r} scored item {item.id} {score!r:.100}; expected 0 to 1")
        return float(score)

    def _check_time(self, began: float, scored: int) -> None:
        """Raise PluginError when a plugin's scorer takes too long: the host waits for it."""
        scoring = self._scoring
        if scoring.name != COMPOSITE and scoring.clock() - began > SCORING_SECONDS:
            took = f"took more than {SCORING_SECONDS:g} seconds for {scored} of {len(self._window.items)} items"
            raise PluginError(f"scorer {scoring.name!r} {took}")

    @cached_property
    def _window(self) -> ScoringWindow:
        return ScoringWindow(self._units, objective=self._objective, words=self._scoring.words)

    def _instead(self, item: Item) -> float:
        return CompositeScorer().score(item, self._window)
