"""
Runs collections: goal, plan, commit or deferral.

Work that may have to ask a summarizer is a generator, ``Steps``, which yields its questions: one kind of session waits
for the answer, the other awaits it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import attrs

from gc_core.collector.background_summaries import Ahead, Coming
from gc_core.collector.bound_thinking import ThinkingRule
from gc_core.collector.collector import Collector
from gc_core.collector.planned_summaries import Originals
from gc_core.collector.scheduler import Moment
from gc_core.collector.scoring import Scoring
from gc_core.collector.summarizing import NONE, Answering, Steps
from gc_core.errors import ConfigError
from gc_core.events import CollectionDeferred, CollectionFailed, CollectionFinished, CollectionStarted
from gc_core.relevance.needed_again import NeedWatch
from gc_core.session.archive import Archive
from gc_core.session.event_logs import log_plan, log_skipped
from gc_core.session.inbox import Inbox
from gc_core.session.provider_state import ProviderState
from gc_core.session.runtime import Runtime
from gc_core.session.task_memory import TaskMemory
from gc_core.session.window_meter import WindowMeter
from gc_core.storage.usage_ledger import CallWatch
from gc_core.values.loggers import bound_collection, logger, running_collection
from gc_core.values.results import GCResult, GCTriggerReason, Goal
from gc_core.values.summary import SummaryRequest
from gc_core.values.validators import check_text
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.view import WindowView

_log = logger("gc_core.session")


class CollectionRunner:
    """
    The only place that runs a collection and commits it.

    Args:
        runtime: The session's.
        meter: Measures the window.
        provider: Says whether there is anything to collect here.
        inbox: Counts changes of policies and pins.
        archive: Reads originals.
        task: The task state in the window.
        needs: Notes what a collection removes.
        calls: Records what summaries cost.
        answering: Writes summaries.
        scoring: Scores importance.
        begin: Requests a summary in the background.

    Attributes:
        answering: Writes summaries.
        scoring: Scores importance.
        last_result: The last collection that changed something, or None.

    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        meter: WindowMeter,
        provider: ProviderState,
        inbox: Inbox,
        archive: Archive,
        task: TaskMemory,
        needs: NeedWatch,
        calls: CallWatch,
        answering: Answering,
        scoring: Scoring,
        begin: Callable[[Answering, SummaryRequest], Coming],
    ) -> None:
        self._runtime = runtime
        self._meter = meter
        self._provider = provider
        self._inbox = inbox
        self._archive = archive
        self._task = task
        self._needs = needs
        self._calls = calls
        self._begin = begin
        self._passes = 0
        self._looks_above = 0
        self._skipped: frozenset[GCTriggerReason] = frozenset()
        """The reasons of collections that did nothing since the last one that did something; each was logged."""
        self.answering = answering
        self.scoring = scoring
        self.ahead = Ahead()
        self.last_result: GCResult | None = None

    def manual_goal(self, target_percent: float | None, focus: str) -> Goal:
        """
        Return the goal of a collection that the host asks for. Raises ConfigError for a target that is not a
        percentage, and for a focus that is not text.
        """
        check_text("focus", focus, error=ConfigError)
        return attrs.evolve(self._meter.scheduler.manual(self._meter.moment(), target_percent), focus=focus)

    def run_if_due(self, goal: Goal | None) -> Steps[GCResult | None]:
        """
        Run an automatic collection: if its plan would break a rule, the window stays as it is and the host's call
        continues; ``plugins.failures`` and the event say so.
        """
        result: GCResult | None = None
        if goal is not None:
            with self._runtime.plugins.guarded("collection", goal.reason.value):
                result = yield from self.run(goal)
        return result

    def run(self, goal: Goal) -> Steps[GCResult]:
        """Run a collection with this goal; it is deferred if it is not worth a break of the prompt cache."""
        if self._provider.kept_at:
            self._meter.left(goal, self._provider.cannot_collect(goal), self._meter.moment())
            self.announce_deferred(self._provider.cannot_collect(goal))
            return self._provider.cannot_collect(goal)
        with bound_collection():
            return (yield from self._collecting_now(goal))

    def _collecting_now(self, goal: Goal) -> Steps[GCResult]:
        collected = yield from self.attempt(goal, fit=None)
        result, moment = collected.result, self._meter.moment()
        self._meter.tried(goal)
        note = result.note
        if collected.stale:
            note = "the window was changed while a summary was awaited; the next call collects again"
        elif result.changed and self._meter.scheduler.is_worth(moment, self._meter.weigh(collected, moment), goal):
            self.commit(collected)
            self._skipped = frozenset()
            return result
        else:
            priced = f": {self._meter.weighed}" if self._meter.weighed else ""
            note = note or f"{result.tokens_freed:,} tokens could go: not worth a break of the prompt cache{priced}"
            self._meter.left(goal, result, moment)
        deferred = attrs.evolve(
            result, removals=(), summaries=(), tokens_after=result.tokens_before, earliest_change=-1, note=note
        )
        self.announce_deferred(deferred)
        return deferred

    @contextlib.contextmanager
    def announced(self, goal: Goal) -> Iterator[None]:
        """Announce the collection inside; an error is announced and raised again."""
        self._runtime.events.emit(CollectionStarted(goal=goal))
        self._runtime.plugins.collection_started(goal)
        try:
            yield
        except BaseException as error:  # including an interrupt, which is raised again
            self._runtime.events.emit(CollectionFailed(goal=goal, error=error))
            self._runtime.plugins.collection_failed(goal, error)
            raise

    @contextlib.contextmanager
    def _under_way(self) -> Iterator[None]:
        self._passes += 1
        try:
            yield
        finally:
            self._passes -= 1

    def attempt(self, goal: Goal, *, fit: int | None, blocks_only: bool = False) -> Steps[CollectionOutcome]:
        """
        Prepare a collection, with the changes that waited for it, without committing it.

        An error is announced and raised again.
        """
        with self._under_way(), self.announced(goal):
            ready, held = self.ahead.ready(), self._inbox.held
            collector = self._collector_for(goal)
            collected = yield from collector.steps(
                self._runtime.context, goal, self._meter.protection, fit=fit, blocks_only=blocks_only, prepared=ready
            )
            log_plan(collected.result)
            if collected.of is not self._runtime.context or held != self._inbox.held:
                return attrs.evolve(collected, stale=True)
            if collected.context is collected.of:
                return collected
            if goal.is_young:  # waiting changes of the head would break what a young collection spares
                return attrs.evolve(collected, keeps_head=True)
            return attrs.evolve(
                collected, context=self._runtime.state.changed(self._runtime.state.changes, collected.context)
            )

    def announce_deferred(self, result: GCResult) -> None:
        """Announce that a collection changed nothing, and why."""
        log_skipped(result, again=result.reason in self._skipped)
        self._skipped |= {result.reason}
        self._runtime.events.emit(CollectionDeferred(result=result))

    def commit(self, collected: CollectionOutcome) -> None:
        """Commit the edited window: the only place where a collection takes effect."""
        self._task.forget_restated()
        before, after = collected.of, collected.context
        self._needs.collected(before.items(), before.find, after.find)
        self._runtime.recorder.commit(collected, after)
        self._book_summaries(collected.result)
        self.ahead.forget()
        self._meter.committed(collected.plan.goal, collected.result.tokens_freed)
        self._looks_above = 0
        self.announce_collected(collected.result)
        self._task.after_commit(collected.result)

    def _book_summaries(self, result: GCResult) -> None:
        with self._runtime.plugins.guarded(
            "ledger", "booking"
        ):  # the collection is committed, with or without a record
            for record in self._calls.summaries(result, self.answering.model):
                self._runtime.recorder.book(record)

    def announce_collected(self, result: GCResult) -> None:
        """Announce that a collection is in effect."""
        self.last_result = result
        self._runtime.events.emit(CollectionFinished(result=result, collection=running_collection()))
        self._runtime.plugins.collection_finished(result)
        self._runtime.budget_changed()

    def view(self) -> WindowView:
        """Return the window as a strategy sees it."""
        return WindowView(
            self._runtime.context,
            self._meter.protection,
            can_summarize=self.answering.name != NONE,
            objective=self._runtime.state.objective.text,
            questions=self._task.reader.questions,
            scores=self.scoring,
            search=self._archive.search_cold,
            usable=self._meter.scheduler.fit(self._meter.moment()),
        )

    def plan(self, goal: Goal) -> CollectionOutcome:
        """Return a dry run of a goal; nothing changes, and no model is asked."""
        collector = attrs.evolve(self._collector_for(goal), answering=self.answering.offline)
        return collector.collect(self._runtime.context, goal, self._meter.protection)

    @property
    def is_running(self) -> bool:
        """True while a collection runs: while it awaits a summary, another task may call the session."""
        return bool(self._passes)

    def forget(self) -> None:
        """Forget the last result and the summaries requested ahead: the window has changed."""
        self.last_result, self._looks_above = None, 0
        self.stop_ahead()

    def stop_ahead(self) -> None:
        """Abandon summaries that were requested ahead."""
        self.ahead.forget()

    def log_not_due(self, call: str, moment: Moment) -> None:
        """Log why no collection runs."""
        if not _log.hears_debug:
            return
        why = "below where it begins"
        if not self._runtime.config.auto_trigger:
            why = "auto_trigger is off"
        elif self._provider.kept_at:
            why = "the provider keeps the history"
        elif moment.restored:
            why = "what was restored stays until the question is answered"
        elif self._meter.waits_above > moment.tokens:
            why = f"held back until {self._meter.waits_above} tokens"
        _log.debug(
            "collection not due",
            call=call,
            tokens=moment.estimated,
            usage_percent=round(self._meter.scheduler.usage(moment), 1),
            begins_percent=round(self._meter.scheduler.begins_percent, 1),
            why=why,
        )

    # -- ahead of need -------------------------------------------------------------------------------------------------

    def prepare_summaries(self) -> None:
        """Request summaries that the next collection will need, while there is still room."""
        moment = self._meter.moment()
        if (
            self.answering.summarizer is None
            or self.ahead.busy
            or moment.tokens < self._looks_above
            or self._provider.kept_at
        ):
            return
        goal = self._meter.scheduler.ahead(moment)
        if goal is not None:
            self._looks_above = self._meter.scheduler.next_try(moment)
            with self._runtime.plugins.guarded("collection", "looking ahead"):
                for removal, request in self.collector.requests(self._runtime.context, goal, self._meter.protection):
                    _log.debug("summary begun ahead", items=len(request.items), max_tokens=request.max_tokens)
                    self.ahead.begin(removal, self._begin(self.answering, request))

    # -- inside --------------------------------------------------------------------------------------------------

    @property
    def collector(self) -> Collector:
        """The collector with the current strategies, texts and questions."""
        return Collector(
            plugins=self._runtime.plugins,
            strategies=self._meter.declared.strategies,
            counter=self._runtime.counter,
            answering=self.answering,
            read=Originals(item=self._archive.original, span=self._archive.span),
            thinking=self._thinking_rule,
            objective=self._runtime.state.objective.text,
            questions=self._task.reader.questions,
            scores=self.scoring,
            cold=self._archive.cold,
            profile=self._archive.profile,
            renewed=self._task.refreshed_item,
        )

    def _collector_for(self, goal: Goal) -> Collector:
        return attrs.evolve(self.collector, strategies=self._meter.declared.strategies_for(goal))

    @property
    def _thinking_rule(self) -> ThinkingRule:
        """
        The rule for thinking; models that drop the thinking of earlier turns do not count it, so removing it frees
        nothing.
        """
        keep = self._runtime.config.keep_thinking_turns
        return ThinkingRule(
            binds=self._runtime.state.binds_thinking,
            old_before=0 if keep is None else max(0, self._runtime.context.cursor.turn - keep + 1),
        )
