"""Measures the window for the scheduler: its size, what has been consumed, the age of the prompt cache."""

from __future__ import annotations

import datetime as dt
import functools
import time
from collections import Counter
from collections.abc import Callable

import attrs

from gc_core.cache.economics import Economics, economics_of
from gc_core.collector.scheduler import GROWTH, OPPORTUNISTIC_REASONS, Break, Moment, Scheduler, young_among
from gc_core.collector.spend_pacing import UNPACED
from gc_core.session.declared_triggers import DeclaredTriggers
from gc_core.session.runtime import Runtime
from gc_core.values.items import Level
from gc_core.values.results import GCResult, GCTriggerReason, Goal
from gc_core.values.sources import CONVERSATION
from gc_core.values.triggers import Hot
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.context import ConsumedContent
from gc_core.window.view import Protection, WindowView

_TRIED_LATER = frozenset({GCTriggerReason.THRESHOLD, GCTriggerReason.PRICE, GCTriggerReason.COLD_CACHE})
"""Collections that, when not worth it, wait until usage has grown."""


_USUAL_CALLS = 10


@attrs.frozen(kw_only=True)
class PendingWork:
    """
    Removals that are due and wait for a better moment.

    Attributes:
        served_tokens: Tokens of content that the agent has consumed and that is still verbatim.
        deferred_tokens: Tokens that the last collection could have freed, but left because of its break.
        why: The arithmetic of that decision, or "".

    """

    served_tokens: int = 0
    deferred_tokens: int = 0
    why: str = ""

    def __bool__(self) -> bool:
        """Return whether anything waits."""
        return bool(self.served_tokens or self.deferred_tokens)

    def __str__(self) -> str:
        """Return one line for ``explain``."""
        text = f"pending: {self.served_tokens:,} tokens that the agent has consumed are still there in full"
        if self.deferred_tokens:
            text += f", {self.deferred_tokens:,} could be removed and were not"
        return f"{text}; {self.why}" if self.why else text


@attrs.frozen(kw_only=True)
class Growth:
    """
    The growth of the window.

    Attributes:
        tokens: Tokens of the last request, less what collections have freed since; None before the first.
        grown: Tokens that calls have added since the first.
        calls: The number of those calls.

    """

    tokens: int | None = None
    grown: int = 0
    calls: int = 0

    @property
    def per_call(self) -> float:
        """
        Tokens per call; a default counts as ten calls, so that a session's first calls do not
        decide by themselves.
        """
        return (self.grown + _USUAL_CALLS * GROWTH) / (self.calls + _USUAL_CALLS)

    def after(self, tokens: int) -> Growth:
        """Return the growth after a request with this many tokens."""
        if self.tokens is None:
            return attrs.evolve(self, tokens=tokens)
        return Growth(tokens=tokens, grown=self.grown + max(0, tokens - self.tokens), calls=self.calls + 1)

    def freed(self, tokens: int) -> Growth:
        """Return the growth after a collection has freed this many tokens."""
        return self if self.tokens is None else attrs.evolve(self, tokens=self.tokens - tokens)


class WindowMeter:
    """
    Measures the window for the scheduler, and remembers what the last collections found. Collects nothing.

    Args:
        runtime: The session's.
        declared: The triggers of the strategies.
        clock: Returns seconds since 1970.

    Attributes:
        declared: The triggers of the strategies.
        clock: Seconds since 1970.
        pace: The share of its spending limit that the session has used.
        raw_sent: Counted tokens of the last request; 0 before the first.
        waits_above: Tokens above which a collection that was not worth it is tried again.
        leased: Tokens reserved for sub-tasks, by the name of the lease.
        leased_tokens: Their sum.
        weighed: The arithmetic of the last collection's break of the prefix, or "".
        restored: The window was restored after an inconsistent reply, and the question was not answered since.

    """

    def __init__(self, runtime: Runtime, declared: DeclaredTriggers, clock: Callable[[], float] = time.time) -> None:
        self._runtime = runtime
        self.declared = declared
        self.clock = clock
        self.pace = UNPACED
        self.raw_sent = 0
        self.leased: Counter[str] = Counter()
        self.leased_tokens = 0
        self.restored = False
        self._calls_made = 0
        self._calls_at_major = 0
        self._spent_since = 0
        self._objective_at_major = 0
        self._last_call: float | None = None
        self._head_sent: tuple[object, ...] | None = None
        self._growth = Growth()
        self._young = ConsumedContent(tokens=0, newest=0)
        self._warm: int | None = None
        self.reset()

    @property
    def debt(self) -> PendingWork:
        """Removals that are due and wait for more removals, for a break that happens anyway, or for a cold cache."""
        why = self.weighed if self._deferred_tokens else ""
        return PendingWork(served_tokens=self._served().tokens, deferred_tokens=self._deferred_tokens, why=why)

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler with the current economics, triggers and pace."""
        model, today = self._runtime.state.model, dt.datetime.now(tz=dt.UTC).date()
        economics = _economics_at(model, self._runtime.format.name, today)
        return Scheduler(
            config=self._runtime.config,
            economics=economics,
            triggers=self.declared.active(),
            pace=self.pace,
            growth=self._growth.per_call,
        )

    @property
    def protection(self) -> Protection:
        """The content that the configuration and the host's pins protect."""
        return Protection(
            recent_turns=self._runtime.config.preserve_recent_turns,
            recent_steps=self._runtime.config.preserve_recent_steps,
            pinned_turns=self._runtime.state.pinned_turns,
        )

    def _served(self) -> ConsumedContent:
        """
        Return what has been consumed since the last collection; nothing if no strategy asks for it.
        O(what is new).
        """
        young = young_among(self.declared.active())
        if young is None:
            return ConsumedContent(tokens=0, newest=0)
        steps = max(young.steps, self._runtime.config.preserve_recent_steps)
        fresh = self._runtime.context.served(self._young.newest, steps=steps, least=young.least)
        tokens = self._young.tokens + fresh.tokens
        self._young = ConsumedContent(tokens=tokens, newest=max(self._young.newest, fresh.newest))
        return self._young

    def moment(self) -> Moment:
        """Return the current window as the scheduler sees it."""
        turns_before = self._turns_before
        budget = self._runtime.context.budget
        return Moment(
            tokens=budget.total,
            calibration=self._runtime.state.calibration,
            leased_tokens=self.leased_tokens,
            turns_before=turns_before,
            expired_tokens=self._expired_tokens(turns_before) if turns_before else 0,
            waits_above=self.waits_above,
            conversation_tokens=budget.entry(CONVERSATION.name).tokens,
            young_tokens=self._served().tokens,
            young_after=self._young_after,
            young_waits=self._young_waits,
            calls=self._calls_made,
            hot_tokens=self._hot_tokens(budget.entry(CONVERSATION.name).tokens),
            steps_since=self._calls_made - self._calls_at_major,
            spent_since=self._spent_since,
            changed_objective=self._runtime.state.objective.changes != self._objective_at_major,
            wanted_waits=self._wanted_waits,
            # A clock that goes backwards counts as no time passed.
            idle_seconds=0.0 if self._last_call is None else max(0.0, self.clock() - self._last_call),
            broken=self._head_sent is not None and self._head_sent != self._head_now,
            restored=self.restored,
        )

    def _hot_tokens(self, conversation: int) -> int:
        """
        Return the verbatim tokens of the conversation; 0 if no strategy asks for them. O(window)
        once per collection.
        """
        if not any(isinstance(trigger, Hot) for trigger in self.declared.active()):
            return 0
        if self._warm is None:
            units = self._runtime.context.units()
            self._warm = sum(unit.tokens for unit in units if unit.level is not Level.VERBATIM)
        return max(0, conversation - self._warm)

    @property
    def _head_now(self) -> tuple[object, ...]:
        """The head of the cached prefix; each model has its own cache."""
        return (self._runtime.state.model, *self._runtime.context.head_items())

    def reserve(self, name: str, tokens: int) -> None:
        """Reserve this many tokens. A collection that was not worth it may be now."""
        self.leased[name] += tokens
        self.leased_tokens += tokens
        self.waits_above = 0

    def free(self, name: str, tokens: int) -> None:
        """Release reserved tokens."""
        self.leased[name] -= tokens
        self.leased += Counter()  # drops names without tokens
        self.leased_tokens -= tokens

    def resume(self, last_used: float) -> None:
        """Continue an opened session from a time in seconds, which is the age of its prompt cache."""
        self._last_call = last_used
        self._calls_made = sum(unit.is_step for unit in self._runtime.context.units())
        self._objective_at_major = self._runtime.state.objective.changes

    def call_goes_out(self) -> None:
        """Note that a request was rendered: from now on the provider knows its prefix."""
        self._calls_made += 1
        self._growth = self._growth.after(self._runtime.context.budget.total)
        self._spent_since += self.raw_sent
        self._last_call = self.clock()
        self._head_sent = self._head_now

    def weigh(self, collected: CollectionOutcome, moment: Moment) -> Break:
        """Return what a collection would do to the prefix. Content that has not been sent is written in any case."""
        unsent = max(0, collected.of.budget.total - self.raw_sent)
        rewritten = collected.context.tokens_after_change(collected.of) - unsent
        found = Break(freed=collected.result.tokens_freed - collected.renewed, rewritten=max(0, rewritten))
        self.weighed = self.scheduler.arithmetic(moment, found) if found.freed else ""
        return found

    def _reset_young(self) -> None:
        """Reset young content: all content consumed until now has been collected or was not worth collecting."""
        self._young_after, self._young_waits = self._served().newest, 0
        self._young = ConsumedContent(tokens=0, newest=self._young_after)

    def tried(self, goal: Goal) -> None:
        """Note that a collection has examined the window."""
        if goal.reason is GCTriggerReason.TURN_LIMIT:
            self._limited_turn = self._runtime.context.cursor.turn

    def left(self, goal: Goal, result: GCResult, moment: Moment) -> None:
        """Note that what a collection found stays for now."""
        self._deferred_tokens = result.tokens_freed
        if goal.is_young and result.changed:
            self._young_waits = 5 * self._served().tokens // 4
        elif not result.changed:
            self._reset_young()
        if goal.reason in OPPORTUNISTIC_REASONS:
            self._wanted_waits = self.scheduler.next_try(moment)
        waits = goal.reason in _TRIED_LATER or (goal.reason is GCTriggerReason.CONTINUOUS and result.changed)
        if waits:
            self.waits_above = self.scheduler.next_try(moment)

    def committed(self, goal: Goal, freed: int) -> None:
        """Note a committed collection."""
        self._growth = self._growth.freed(freed)
        self._warm = None
        if not goal.is_young:
            self._calls_at_major, self._spent_since, self._wanted_waits = self._calls_made, 0, 0
            self._objective_at_major = self._runtime.state.objective.changes
        self._reset_young()
        self.waits_above = 0
        self._deferred_tokens = 0

    def reset(self) -> None:
        """Reset the measurements: something other than a collection changed the window."""
        self.waits_above = self._young_after = self._young_waits = self._deferred_tokens = 0
        self._young = ConsumedContent(tokens=0, newest=0)
        self._limited_turn, self.weighed, self._warm, self._wanted_waits = -1, "", None, 0

    @property
    def _turns_before(self) -> int:
        """The first turn that may stay under a limit of turns; 0 without one, and once the turn has been checked."""
        turn, limit = self._runtime.context.cursor.turn, self._runtime.config.max_turns
        return 0 if limit is None or self._limited_turn == turn else max(0, turn - limit + 1)

    def _expired_tokens(self, turns_before: int) -> int:
        """Return the tokens of the units that a limit of turns removes."""
        view = WindowView(self._runtime.context, self.protection, turns_before=turns_before)
        return sum(unit.tokens for unit in view.expired)


@functools.lru_cache(maxsize=32)
def _economics_at(model: str | None, format_name: str, day: dt.date) -> Economics:
    """Return the economics; cached, because it is called several times per call and prices change by the day."""
    return economics_of(model, format_name, day)
