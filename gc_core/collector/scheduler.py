"""
Decides when a collection runs and how deep it goes, by tokens and by price; strategies decide only what.

The arithmetic is that of a prompt cache: a break rewrites what follows it, and what is freed is not read any more in
every later call. Prices are multiples of the input price (``gc_core.cache.economics``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

import attrs

from gc_core.cache.economics import Economics
from gc_core.collector.spend_pacing import LEAST_CALLS, UNPACED, Pace
from gc_core.providers.calibration import Calibration
from gc_core.values.config import GCConfig
from gc_core.values.results import GCTriggerReason, Goal
from gc_core.values.triggers import Hot, Major, ObjectiveChange, Spend, Steps, Trigger, Young
from gc_core.values.validators import check_percent

WORTH_PERCENT = 5.0
"""
A collection that can free less than this share of the window waits until usage has grown by as much: breaking the
prompt cache for little costs more than it saves.
"""

AHEAD_SPARE_PERCENT = 10.0
"""
Summaries written ahead cover this much more of the window: usage exceeds the threshold by part of a turn, and nothing
should have to wait for that rest.
"""

DOUBT_PERCENT = 1.0
"""The share of the window by which an estimate must be able to be wrong before a better count is requested."""

CLIFF_PERCENT = 97.0
"""The share of a price cliff at which a collection runs: a reply and its results are still to come."""

OPPORTUNISTIC_REASONS = frozenset(
    {GCTriggerReason.HOT, GCTriggerReason.STEPS, GCTriggerReason.SPEND, GCTriggerReason.OBJECTIVE}
)
"""Collections of the whole window for which a strategy only suggests a time: each must be worth its break."""

_BREAKS_ARE_FREE = frozenset({GCTriggerReason.COLD_CACHE})
_T = TypeVar("_T", bound=Trigger)


GROWTH = 900.0
"""Tokens that a model call adds before anything is known of a session: coding agents add 660 to 985."""


def cheapest_distance(economics: Economics, *, kept: float, growth: float) -> float:
    """
    Return tokens between what a collection leaves and where the next one begins, at which a session costs least.

    With L tokens kept, d new ones a call, and prices w and r of writing and reading a token: at a distance D a
    collection comes every D / d calls and writes its L tokens again instead of reading them, which costs
    (w - r) L d / D a call; and the window holds D / 2 tokens more than L on average, which costs r D / 2 a call. The
    sum is least at D = sqrt(2 (w - r) / r L d). Infinite where reading is free, 0 where nothing is cached.
    """
    if economics.read <= 0:
        return math.inf
    return math.sqrt(max(0.0, 2.0 * (economics.write - economics.read) / economics.read * kept * growth))


@attrs.frozen(kw_only=True)
class Moment:
    """
    The input of the scheduler.

    Attributes:
        tokens: Tokens of the request as the budget counts them.
        leased_tokens: Tokens reserved for sub-tasks: they count as used.
        calibration: Converts them to the provider's count.
        turns_before: With a limit of turns, the first one that may stay; 0 without one, or after it was checked.
        expired_tokens: Tokens of the turns before that one.
        waits_above: No threshold collection below this many tokens, because the last one was not worth its break.
        conversation_tokens: Tokens of the conversation.
        young_tokens: Tokens consumed since the last collection; see ``Young``.
        young_after: Number of the item after which they came.
        young_waits: No collection of young content below this many of them, because the last one was not worth it.
        calls: Model calls so far.
        hot_tokens: Verbatim tokens of the conversation.
        steps_since: Model calls since the last collection of the whole window.
        spent_since: Tokens sent in these calls.
        changed_objective: The objective has changed since.
        wanted_waits: No opportunistic collection below this many tokens: the last was not worth it.
        idle_seconds: Since the last model call; never negative.
        broken: The cached prefix breaks at its head anyway.
        restored: The window was restored after an inconsistent reply, and the question was not answered since.

    """

    tokens: int
    calibration: Calibration
    leased_tokens: int = 0
    turns_before: int = 0
    expired_tokens: int = 0
    waits_above: int = 0
    conversation_tokens: int = 0
    young_tokens: int = 0
    young_after: int = 0
    young_waits: int = 0
    calls: int = 0
    hot_tokens: int = 0
    steps_since: int = 0
    spent_since: int = 0
    changed_objective: bool = False
    wanted_waits: int = 0
    idle_seconds: float = 0.0
    broken: bool = False
    restored: bool = False

    @property
    def estimated(self) -> int:
        """The provider's count of the tokens."""
        return self.calibration.estimate(self.tokens)

    @property
    def taken(self) -> int:
        """The provider's count if all leased tokens were used."""
        return self.calibration.estimate(self.tokens + self.leased_tokens)


@attrs.frozen(kw_only=True)
class Break:
    """
    The effect of a collection on the cached prefix.

    Attributes:
        freed: Tokens that later calls do not read any more.
        rewritten: Tokens after the first change that were sent before and are written again once.

    """

    freed: int
    rewritten: int

    def calls_to_break_even(self, economics: Economics) -> float:
        """Calls after which it breaks even: ``(write - read) * rewritten / (read * freed)``."""
        if self.freed <= 0:
            return float("inf")
        if economics.read <= 0:
            return 0.0 if economics.write <= 0 else float("inf")
        return max(0.0, (economics.write - economics.read) * self.rewritten / (economics.read * self.freed))


def young_among(triggers: Sequence[Trigger]) -> Young | None:
    """Return the first trigger of young collections."""
    return next((trigger for trigger in triggers if isinstance(trigger, Young)), None)


@attrs.frozen(kw_only=True)
class Scheduler:
    """
    Turns a moment into a goal, or None if there is nothing to do.

    Attributes:
        config: The session's configuration.
        economics: The prices of reading and writing the cache.
        triggers: The strategies' triggers.
        pace: The session's spending: threshold and target are lowered with it.
        growth: Tokens that a model call adds to the window.

    """

    config: GCConfig
    economics: Economics
    triggers: tuple[Trigger, ...] = ()
    pace: Pace = UNPACED
    growth: float = GROWTH

    def before_send(self, moment: Moment) -> Goal | None:
        """Return the goal before a model call; None if nothing is due."""
        return self._due(moment, self.threshold_percent) if self.config.check_before_send else None

    def after_turn(self, moment: Moment, *, crossed: bool) -> Goal | None:
        """
        Return the goal after a model call, or None; ``crossed`` says that the threshold was crossed while the reply
        streamed.
        """
        return self._due(moment, 0.0 if crossed and not self.config.continuous else self.begins_percent)

    def in_doubt(self, moment: Moment) -> bool:
        """
        Return whether a better count may decide otherwise: tokens that no report covers could lift the request to the
        threshold.
        """
        doubt = moment.calibration.doubt(moment.tokens)
        level = self.threshold_percent if self.config.check_before_send else 100.0
        may_be = 100.0 * (moment.taken + doubt) / self.config.usable
        return 100.0 * doubt / self.config.usable >= DOUBT_PERCENT and may_be >= level

    def manual(self, moment: Moment, target_percent: float | None = None) -> Goal:
        """
        Return the goal of a collection that the host asks for. Raises ConfigError for a target that is not a
        percentage.
        """
        if target_percent is not None:
            check_percent("target_percent", target_percent)
        return self._goal(moment, GCTriggerReason.MANUAL, target_percent)

    def overflow(self, moment: Moment, reason: GCTriggerReason = GCTriggerReason.CONTEXT_LIMIT) -> Goal:
        """Return the goal when the request would not fit; of a restored window no more goes than has to."""
        return self._goal(moment, reason, 100.0 if moment.restored else None)

    def ahead(self, moment: Moment) -> Goal | None:
        """
        Return the goal of the next collection, for which summaries are written in the background; None below
        ``background_percent``.
        """
        config = self.config
        if config.background_percent is None or self.usage(moment) < config.background_percent * self._paced:
            return None
        freed = self._share_of(moment, self.threshold_percent - self.target_percent + AHEAD_SPARE_PERCENT)
        target = max(0, moment.tokens - freed)
        goal = self._goal(moment, GCTriggerReason.THRESHOLD, None)
        return attrs.evolve(goal, target_tokens=target, pressure_tokens=None)

    @property
    def threshold_percent(self) -> float:
        """
        Usage at which a collection begins: as far above the target as is cheapest (``cheapest_distance``), and at most
        the configured one; lower while spend runs ahead. The configured one where the provider makes room by itself.
        """
        limit = self.config.begins_percent * self._paced
        if self._waits_for_provider:
            return limit
        kept = self.config.usable * self.target_percent / 100.0
        distance = 100.0 * cheapest_distance(self.economics, kept=kept, growth=self.growth) / self.config.usable
        return min(limit, self.target_percent + max(WORTH_PERCENT, distance))

    @property
    def begins_percent(self) -> float:
        """Usage at which a collection begins after a call: the threshold; in continuous mode the session's target."""
        return self.config.ends_percent * self._paced if self.config.continuous else self.threshold_percent

    @property
    def target_percent(self) -> float:
        """
        Usage down to which a collection goes: the session's target, or a strategy's lower one;
        adjusted to the pace.
        """
        return self._normal_target * self._paced

    @property
    def _normal_target(self) -> float:
        usable = self.config.usable
        return min([self.config.ends_percent, *(major.kept_percent(usable) for major in self._declared(Major))])

    @property
    def _paced(self) -> float:
        """The affordable share of the normal target; 1 without a spending limit."""
        return self.pace.share(self.config.usable * self._normal_target / 100.0)

    @property
    def young(self) -> Young | None:
        """The conditions of a young collection, as the first strategy with such a trigger declares them."""
        return young_among(self.triggers)

    def fit(self, moment: Moment) -> int:
        """Return the most tokens that a request may have besides leases, as the budget counts."""
        return max(0, moment.calibration.to_raw(self.config.usable) - moment.leased_tokens)

    def fits(self, moment: Moment) -> bool:
        """Return whether the request may be sent with room left for all leases."""
        return moment.taken <= self.config.usable

    def crossed(self, moment: Moment) -> bool:
        """Return whether usage is at or above the threshold."""
        return self.usage(moment) >= self.threshold_percent

    def usage(self, moment: Moment) -> float:
        """Return usage in percent of the usable window, including leases."""
        return 100.0 * moment.taken / self.config.usable

    def is_cold(self, moment: Moment) -> bool:
        """Return whether the prompt is no longer in the provider's cache: then a break costs nothing."""
        return moment.broken or moment.idle_seconds > self.economics.ttl_seconds

    # -- the worth of a break -----------------------------------------------------------------------------------------

    def is_worth(self, moment: Moment, found: Break, goal: Goal) -> bool:
        """Return whether a collection is worth a break of the prefix; a mandatory one always is."""
        if goal.reason in {GCTriggerReason.YOUNG, *OPPORTUNISTIC_REASONS, *self._postponed(moment)}:
            return found.freed > 0 and (self.is_cold(moment) or self._pays(moment, found))
        if goal.reason is GCTriggerReason.PRICE:
            return self._cliff(attrs.evolve(moment, tokens=moment.tokens - found.freed)) != self._cliff(moment)
        if goal.reason in _BREAKS_ARE_FREE:
            return found.freed > 0
        if goal.reason is not GCTriggerReason.THRESHOLD or not self.fits(moment):
            return True
        return found.freed >= self.config.usable * WORTH_PERCENT / 100.0 or self._reached(moment, found, goal)

    def next_try(self, moment: Moment) -> int:
        """Return the tokens above which a collection that was not worth it is tried again."""
        return moment.tokens + int(self.config.usable * WORTH_PERCENT / 100.0)

    def arithmetic(self, moment: Moment, found: Break) -> str:
        """Return the cost and benefit of a break, in words."""
        read, write = self.economics.read, self.economics.write
        if self.is_cold(moment):
            return f"{found.freed:,} tokens less to read in every call; the cache is cold, so the break costs nothing"
        calls = found.calls_to_break_even(self.economics)
        return (
            f"rewriting {found.rewritten:,} cached tokens ({write:g} instead of {read:g} of the input price) saves"
            f" {found.freed:,} per call ({read:g}): breaks even after {calls:,.1f} calls,"
            f" {self._horizon(moment)} expected"
        )

    def _pays(self, moment: Moment, found: Break) -> bool:
        return found.calls_to_break_even(self.economics) <= self._horizon(moment)

    def _horizon(self, moment: Moment) -> int:
        return max(LEAST_CALLS, moment.calls)

    def _postponed(self, moment: Moment) -> tuple[GCTriggerReason, ...]:
        """
        Return the reasons that may wait for a better moment: in continuous mode, below the threshold, if the host
        allows.
        """
        may_wait = self.config.defer and not self.crossed(moment) and self.fits(moment)
        return (GCTriggerReason.CONTINUOUS,) if may_wait else ()

    def _reached(self, moment: Moment, found: Break, goal: Goal) -> bool:
        return moment.tokens - found.freed <= goal.target_tokens

    # -- triggers
    # ----------------------------------------------------------------------------------------------------------

    def _due(self, moment: Moment, percent: float) -> Goal | None:
        config = self.config
        if not config.auto_trigger or moment.restored:
            return None
        over = self.usage(moment) > percent if config.continuous else self.usage(moment) >= percent
        if (over or self._conversation_is_full(moment)) and moment.tokens >= moment.waits_above:
            reason = GCTriggerReason.CONTINUOUS if config.continuous else GCTriggerReason.THRESHOLD
            return self._goal(moment, reason, None)
        dues = (self._cheaper, self._cold, self._turn_limit, self._wished, self._served)
        for due in (self._turn_limit,) if self._waits_for_provider else dues:
            goal = due(moment)
            if goal is not None:
                return goal
        return None

    @property
    def _waits_for_provider(self) -> bool:
        """True if the provider makes room by itself: opportunistic collections are left to it."""
        return bool(self.config.at_provider.percents)

    def _conversation_is_full(self, moment: Moment) -> bool:
        if self._waits_for_provider:
            return False
        usage = self._conversation_usage(moment)
        return any(usage >= major.conversation_percent for major in self._declared(Major))

    def _conversation_usage(self, moment: Moment) -> float:
        return 100.0 * moment.calibration.estimate(moment.conversation_tokens) / self.config.usable

    def _cheaper(self, moment: Moment) -> Goal | None:
        """Return a goal just below a price cliff, with the share of the window's target."""
        cliff = self._cliff(moment)
        if not cliff or moment.tokens < moment.waits_above:
            return None
        target = moment.calibration.to_raw(int(cliff * self.target_percent / 100.0))
        return attrs.evolve(self._goal(moment, GCTriggerReason.PRICE, None), target_tokens=target)

    def _cliff(self, moment: Moment) -> int:
        """Return the price cliff that the request has reached, or 0; cliffs beyond the window do not count."""
        reached = (cliff for cliff in self.economics.cliffs if cliff < self.config.usable)
        return max((cliff for cliff in reached if moment.estimated >= cliff * CLIFF_PERCENT / 100.0), default=0)

    def _cold(self, moment: Moment) -> Goal | None:
        """Return the goal when the cache is cold: a break that costs nothing is used for what would be due soon."""
        if not self.is_cold(moment) or not self.triggers or moment.tokens < moment.waits_above:
            return None
        spare = self._percent_of(moment, self.target_percent + WORTH_PERCENT)
        if moment.tokens >= spare:
            return self._goal(moment, GCTriggerReason.COLD_CACHE, None)
        young = self.young
        return self._young_goal(moment) if young is not None and moment.young_tokens >= young.least else None

    def _wished(self, moment: Moment) -> Goal | None:
        """Return the goal of an opportunistic collection, if a strategy declares one and usage is above the target."""
        if moment.tokens < moment.wanted_waits or moment.tokens <= self._percent_of(moment, self.target_percent):
            return None
        reasons = (reason for trigger in self.triggers for reason in self._met(trigger, moment))
        return next((self._goal(moment, reason, None) for reason in reasons), None)

    def _met(self, trigger: Trigger, moment: Moment) -> Iterator[GCTriggerReason]:
        match trigger:
            case Hot() if moment.hot_tokens >= self._share_of(moment, trigger.percent):
                yield GCTriggerReason.HOT
            case Steps() if moment.steps_since >= trigger.every:
                yield GCTriggerReason.STEPS
            case Spend(tokens=tokens) if moment.spent_since >= tokens:
                yield GCTriggerReason.SPEND
            case ObjectiveChange() if moment.changed_objective:
                yield GCTriggerReason.OBJECTIVE

    def _served(self, moment: Moment) -> Goal | None:
        young = self.young
        if young is None or moment.young_tokens < max(young.tokens, moment.young_waits):
            return None
        return self._young_goal(moment)

    def _young_goal(self, moment: Moment) -> Goal:
        goal = self._goal(moment, GCTriggerReason.YOUNG, 0.0)
        return attrs.evolve(goal, pressure_tokens=None, young_after=moment.young_after)

    def _turn_limit(self, moment: Moment) -> Goal | None:
        if not moment.expired_tokens:
            return None
        goal = self._goal(moment, GCTriggerReason.TURN_LIMIT, None)
        target = max(0, moment.tokens - moment.expired_tokens)
        return attrs.evolve(goal, target_tokens=target, pressure_tokens=None, turns_before=moment.turns_before)

    def _goal(self, moment: Moment, reason: GCTriggerReason, target_percent: float | None) -> Goal:
        percent = self.target_percent if target_percent is None else target_percent
        pressure = self.config.pressure_percent
        return Goal(
            target_tokens=self._percent_of(moment, percent),
            reason=reason,
            pressure_tokens=self._percent_of(moment, pressure) if pressure and self.usage(moment) >= pressure else None,
            relief_tokens=self._relief(moment),
            usable_tokens=self.fit(moment),
            window_percent=self.usage(moment),
            conversation_percent=self._conversation_usage(moment),
        )

    def _relief(self, moment: Moment) -> int | None:
        """Return the tokens down to which PRESERVABLE content may go under pressure, if a strategy declares that."""
        declared = [major.relief_percent for major in self._declared(Major) if major.relief_percent is not None]
        return self._percent_of(moment, min(declared)) if declared else None

    def _declared(self, kind: type[_T]) -> tuple[_T, ...]:
        return tuple(trigger for trigger in self.triggers if isinstance(trigger, kind))

    def _percent_of(self, moment: Moment, percent: float) -> int:
        """Return the tokens of a request, as the budget counts, for a usage that includes leases."""
        return max(0, self._share_of(moment, percent) - moment.leased_tokens)

    def _share_of(self, moment: Moment, percent: float) -> int:
        """Return a share of the usable window, as the budget counts."""
        return moment.calibration.to_raw(int(self.config.usable * percent / 100.0))
