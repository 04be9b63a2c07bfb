"""The contract of importance scorers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import attrs

from gc_core.isolation import isolated
from gc_core.relevance.contract import ImportanceScorer
from gc_core.relevance.importance import ScoringWindow
from gc_core.testing.contexts import made
from gc_core.testing.contract import Contract, rule
from gc_core.testing.purity import MOMENTS, at_moment
from gc_core.values.items import Item, Unit

_ODD = {"empty texts": "", "white space": " \n\t" * 50, "a lone surrogate": "\ud800 stood here", "NUL": "\0" * 9}
_NEWEST_UNITS = 40
"""The units of a window that are scored: enough to show what a scorer does."""


class ScorerContract(Contract):
    """
    The rules for importance scorers. Subclass it as ``class TestMine(ScorerContract)``.

    Attributes:
        scorer: The class; or override ``make`` where it needs arguments.

    """

    scorer: ClassVar[type[ImportanceScorer] | None] = None

    def make(self) -> ImportanceScorer:
        """Return a scorer to test; a new one with every call."""
        assert self.scorer is not None, f"{type(self).__name__} names no scorer: set `scorer` or override make()"
        return self.scorer()

    @rule
    def test_scores_from_0_to_1(self) -> None:
        """Every item of the window has a score, a number from 0 to 1; otherwise the composite scores all of them."""
        for name, window in self._windows():
            scorer = self.make()
            for item in window.items:
                score: object = scorer.score(item, window)
                fine = isinstance(score, (int, float)) and not isinstance(score, bool) and 0 <= score <= 1
                assert fine, f"{name}: {item.id} has the score {score!r:.60}; expected a number from 0 to 1"

    @rule
    def test_same_item_same_score(self) -> None:
        """Scored again, by another object and in another order, an item has the same score."""
        for name, window in self._windows():
            first = self._scores(self.make(), window, window.items)
            scorer = self.make()
            for again in (self._scores(scorer, window, window.items[::-1]), self._scores(scorer, window, window.items)):
                wrong = [key for key in first if not _same(first[key], again[key])]
                assert not wrong, f"{name}: {wrong[:3]} have other scores when asked again; a scorer has no state"

    @rule
    def test_scores_take_nothing_from_chance_or_clock(self) -> None:
        """Another time or another random number makes no difference: a dry run shows what the collection will do."""
        for name, window in self._windows():
            scores = []
            for moment in MOMENTS:
                with at_moment(moment):
                    scores.append(self._scores(self.make(), window, window.items))
            wrong = [key for key in scores[0] if not _same(scores[0][key], scores[1][key])]
            assert not wrong, f"{name}: {wrong[:3]} have other scores a day later, with another random seed"

    @rule
    def test_scoring_changes_nothing(self) -> None:
        """The items and the window stay as they were."""
        for name, window in self._windows():
            before = [attrs.evolve(item) for item in window.items]
            aim, scorer = window.objective, self.make()
            with isolated() as attempt:
                self._scores(scorer, window, window.items)
            frozen = isinstance(attempt.error, attrs.exceptions.FrozenError)
            assert not frozen, f"{name}: tries to change what it sees; read it only"
            changed = [item.id for item, was in zip(window.items, before, strict=True) if item != was]
            assert not changed, f"{name}: has changed {changed[:3]}; read it only"
            assert window.objective == aim, f"{name}: has changed the objective; read it only"

    @rule
    def test_scores_odd_windows(self) -> None:
        """It raises for nothing that a session may contain: one item, empty texts, no objective."""
        for name, window in self._odd_windows():
            with isolated() as attempt:
                self._scores(self.make(), window, window.items)
            error = attempt.error
            if error is not None:
                raise AssertionError(f"raises {type(error).__name__}: {error} for {name}") from error

    # -- inside --------------------------------------------------------------------------------------------------

    def _scores(self, scorer: ImportanceScorer, window: ScoringWindow, items: tuple[Item, ...]) -> dict[str, float]:
        return {item.id: scorer.score(item, window) for item in items}

    def _windows(self) -> Iterator[tuple[str, ScoringWindow]]:
        """Yield windows, every other one with an objective."""
        for seed in self.seeds:
            view = made(seed, None, None).view(pressure=False)
            aim = view.objective if seed % 2 else ""
            yield f"seed {seed}", _window(view.units[-_NEWEST_UNITS:], aim)

    def _odd_windows(self) -> Iterator[tuple[str, ScoringWindow]]:
        usual = made(self.seeds[0], None, None).view(pressure=False).units[-_NEWEST_UNITS:]
        yield "no items", _window((), "login.py")
        yield "one unit", _window(usual[:1], "")
        for name, text in _ODD.items():
            units = (
                attrs.evolve(unit, items=tuple(attrs.evolve(item, text=text) for item in unit.items)) for unit in usual
            )
            yield name, _window(tuple(units), text)


def _window(units: tuple[Unit, ...], objective: str) -> ScoringWindow:
    return ScoringWindow(units, objective=objective)


def _same(one: object, other: object) -> bool:
    """Return whether two scores are equal; another rule checks that they are numbers."""
    both = isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)
    return both or one == other
