"""Decides when a collection runs and how deep it goes; strategies decide only what."""

from __future__ import annotations

import attrs

from gc_core.calibration import Calibration
from gc_core.config import GCConfig
from gc_core.results import GCTriggerReason, Goal

WORTH_PERCENT = 5.0
"""A collection that can free less than this share of the window waits until usage has grown by as much: a break of the
prompt cache for crumbs costs more than it saves."""


AHEAD_SPARE_PERCENT = 10.0
"""Summaries written ahead stand for so much more of the window: usage goes over the threshold by part of a turn, and
nobody should have to wait for that rest."""


@attrs.frozen(kw_only=True)
class Moment:
    """
    What the scheduler looks at.

    Attributes:
        tokens: Tokens of the request as the budget counts them.
        calibration: What the provider makes of such a count.
        turn_tokens: Tokens that could go, by turn, oldest first; only asked for when turns are limited.
        waits_above: No threshold collection below this many tokens, because the last one was not worth its break.

    """

    tokens: int
    calibration: Calibration
    turn_tokens: tuple[int, ...] = ()
    waits_above: int = 0

    @property
    def estimated(self) -> int:
        """Tokens that the provider will count."""
        return self.calibration.estimate(self.tokens)


@attrs.frozen(kw_only=True)
class Scheduler:
    """Turns a moment into a goal, or into None when there is nothing to do."""

    config: GCConfig

    def before_send(self, moment: Moment) -> Goal | None:
        """The goal before a model call."""
        return self._due(moment, self.config.threshold_percent) if self.config.check_before_send else None

    def after_turn(self, moment: Moment, *, crossed: bool) -> Goal | None:
        """The goal after a model call; ``crossed`` says that the threshold was crossed while the reply streamed."""
        if self.config.continuous:
            return self._due(moment, self.config.target_percent)
        return self._due(moment, 0.0 if crossed else self.config.threshold_percent)

    def manual(self, moment: Moment, target_percent: float | None = None) -> Goal:
        """The goal of a collection that the host asks for. Raises ConfigError for a target that is no percentage."""
        if target_percent is not None:
            attrs.evolve(self.config, target_percent=target_percent, threshold_percent=100.0, pressure_percent=100.0)
        return self._goal(moment, GCTriggerReason.MANUAL, target_percent)

    def overflow(self, moment: Moment, reason: GCTriggerReason = GCTriggerReason.CONTEXT_LIMIT) -> Goal:
        """The goal when the request would not fit."""
        return self._goal(moment, reason, None)

    def ahead(self, moment: Moment) -> Goal | None:
        """The goal of the collection that is coming: for so much summaries are written in the background meanwhile."""
        config = self.config
        if config.background_percent is None or self.usage(moment) < config.background_percent:
            return None
        freed = self._percent_of(moment, config.threshold_percent - config.target_percent + AHEAD_SPARE_PERCENT)
        return Goal(target_tokens=max(0, moment.tokens - freed), reason=GCTriggerReason.THRESHOLD)

    def fit(self, moment: Moment) -> int:
        """Tokens, as the budget counts, that a request may have."""
        return moment.calibration.to_raw(self.config.usable)

    def fits(self, moment: Moment) -> bool:
        """Whether the request may be sent."""
        return moment.estimated <= self.config.usable

    def crossed(self, moment: Moment) -> bool:
        """Whether usage is at or above the threshold."""
        return self.usage(moment) >= self.config.threshold_percent

    def usage(self, moment: Moment) -> float:
        """Usage in percent of the usable window."""
        return 100.0 * moment.estimated / self.config.usable

    def is_worth(self, moment: Moment, freed: int, goal: Goal) -> bool:
        """Whether freeing this much is worth a break of the prefix; what must happen is always worth it."""
        if goal.reason is not GCTriggerReason.THRESHOLD or not self.fits(moment):
            return True
        return freed >= self.config.usable * WORTH_PERCENT / 100.0 or self._reached(moment, freed, goal)

    def next_try(self, moment: Moment) -> int:
        """Tokens above which a collection that was not worth it is tried again."""
        return moment.tokens + int(self.config.usable * WORTH_PERCENT / 100.0)

    # -- inside --------------------------------------------------------------------------------------------------

    def _reached(self, moment: Moment, freed: int, goal: Goal) -> bool:
        return moment.tokens - freed <= goal.target_tokens

    def _due(self, moment: Moment, percent: float) -> Goal | None:
        config = self.config
        if not config.auto_trigger:
            return None
        over = self.usage(moment) > percent if config.continuous else self.usage(moment) >= percent
        if over and moment.tokens >= moment.waits_above:
            reason = GCTriggerReason.CONTINUOUS if config.continuous else GCTriggerReason.THRESHOLD
            return self._goal(moment, reason, None)
        return self._turn_limit(moment)

    def _turn_limit(self, moment: Moment) -> Goal | None:
        limit = self.config.max_turns
        if limit is None or len(moment.turn_tokens) < limit:
            return None
        oldest = sum(moment.turn_tokens[: len(moment.turn_tokens) - limit + 1])
        return Goal(target_tokens=max(0, moment.tokens - oldest), reason=GCTriggerReason.TURN_LIMIT)

    def _goal(self, moment: Moment, reason: GCTriggerReason, target_percent: float | None) -> Goal:
        percent = self.config.target_percent if target_percent is None else target_percent
        pressure = self.config.pressure_percent
        return Goal(
            target_tokens=self._percent_of(moment, percent),
            reason=reason,
            pressure_tokens=self._percent_of(moment, pressure) if pressure and self.usage(moment) >= pressure else None,
        )

    def _percent_of(self, moment: Moment, percent: float) -> int:
        """A share of the usable window, as the budget counts."""
        return moment.calibration.to_raw(int(self.config.usable * percent / 100.0))
