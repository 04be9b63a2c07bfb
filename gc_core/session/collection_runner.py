"""
How a session collects: when, with which goal, and what becomes of the plan.

Work that may have to ask a summarizer is a generator, ``Steps``, which stops there: one kind of session waits for the
answer, the other awaits it.
"""

from __future__ import annotations

import abc
import contextlib
import functools
from collections.abc import Iterable
from typing import TypeAlias

import attrs

from gc_core.cache.breakpoints import Marks
from gc_core.collector.background_summaries import Ahead, Coming
from gc_core.collector.bound_thinking import ThinkingRule
from gc_core.collector.collector import Collector
from gc_core.collector.planned_summaries import Originals
from gc_core.collector.request_counts import CountQuestion
from gc_core.collector.scheduler import Moment
from gc_core.collector.scoring import Scoring
from gc_core.collector.summarizing import NONE, Answering, Steps
from gc_core.errors import (
    ConfigError,
    ContextOverflowError,
    InconsistentReplyError,
    LogError,
    SourceError,
)
from gc_core.events import (
    CollectionDeferred,
    CollectionFailed,
    CollectionFinished,
    CollectionStarted,
    RateExceeded,
)
from gc_core.providers import provider_named
from gc_core.session.archive import Archive
from gc_core.session.event_logs import log_plan, log_skipped
from gc_core.session.timeline import synchronized
from gc_core.storage.ledger import Configured, Observed
from gc_core.storage.state import Position, digest_of_messages
from gc_core.storage.usage_ledger import CallWatch
from gc_core.values.config import RAISE, UNDO, GCConfig
from gc_core.values.loggers import bound_collection, logger
from gc_core.values.messages import Payload, Request, Usage
from gc_core.values.results import GCResult, GCTriggerReason, Goal
from gc_core.values.sources import CONVERSATION
from gc_core.values.summary import SummaryRequest
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.memory_blocks import Block
from gc_core.window.stubs import is_shortened_block
from gc_core.window.view import WindowView

_log = logger("gc_core.session")

_Standing: TypeAlias = tuple[Position, int, tuple[Block, ...]]

_MOST_PASSES = 4
"""Collections before a model call at most, each of which has changed something."""

_MOST_RECOVERIES = 2
"""Times in a row that the window is brought back for an inconsistent reply."""


class Collecting(Archive):
    """The part of a session that collects, and renders what is sent."""

    _answering: Answering
    _scoring: Scoring
    _ahead: Ahead
    _marks: Marks
    _calls: CallWatch
    _raw_sent: int
    _streamed: int
    _crossed: bool
    _looks_above: int
    _last: GCResult | None
    _recoveries: int
    _settled: _Standing | None = None
    """
    How far the files reached when the last request was rendered, the tokens that were leased then, and the blocks that
    the collection before it brought back: they stand in the request after the next reply.
    """
    _counted: tuple[int, int] | None = None
    """Own and vendor's tokens of the request that was last counted from outside."""
    _skipped: frozenset[GCTriggerReason] = frozenset()
    """Why collections ran that did nothing, since the last one that did something; of each the log was told."""

    # -- the steps of the loop -----------------------------------------------------------------------------------------

    def _sending(self) -> Steps[Request]:
        """The request for the next model call, after the collection that is due."""
        self._keep_to_limit()
        self._look_for_circles()
        if self._is_asked_again:
            return self._rendered()
        self._prepare()
        yield from self._shortening_blocks()
        if self._answering.counts and not self._kept_at and self._scheduler.in_doubt(self._moment()):
            yield from self._counting()
        return (yield from self._fitting())

    @property
    def _is_asked_again(self) -> bool:
        """
        Whether nothing was said, set or decided since the last request, which the provider's cache still holds: the
        same is sent again, and nothing more is collected or brought back.
        """
        moment = self._moment()
        same = self._standing == self._settled
        return same and self._scheduler.fits(moment) and not self._scheduler.is_cold(moment)

    @property
    def _standing(self) -> _Standing:
        return self._recorder.position, self._leased_tokens, self._state.blocks.waiting

    def _counting(self) -> Steps[None]:
        """The request as it stands is counted from outside; where that fails, the own counts go on standing."""
        request = self._with_edits(self._marks.optioned(self._context.render()))
        question = CountQuestion(request=request, model=self._state.model)
        answer = yield question
        if isinstance(answer.text, int) and self._state.model == question.model:
            raw = question.request.tokens
            with self.plugins.guarded("ledger", "count"):  # without it the own counts go on standing, too
                self._recorder.observe(Observed(raw=raw, reported=answer.text, counted=True))
                self._counted = (raw, answer.text)

    def _counted_now(self) -> Steps[int]:
        """The same whatever the doubt, and the tokens of the request as it stands."""
        if self._answering.counter is None:
            raise ConfigError("count_now: nobody counts whole requests here; pass request_counter= to the session")
        if self._answering.counts and not self._kept_at and self._context.messages:
            yield from self._counting()
        return self._moment().estimated

    def _fitting(self) -> Steps[Request]:
        """
        The request after the collections that are due; what waits, a call for its result for instance, goes on so.

        One may leave another one due, for a limit of turns for instance: carried out here, both are one break. One that
        changed nothing is not tried twice.
        """
        idle: GCTriggerReason | None = None
        for _ in range(_MOST_PASSES):
            before, moment = self._context, self._moment()
            goal = self._scheduler.before_send(moment)
            if goal is None:
                self._log_not_due("pre_send", moment)
            elif goal.reason is idle:
                break
            yield from self._collecting_if_due(goal)
            yield from self._making_fit()
            if self._context is before:
                if goal is None:
                    break
                idle = goal.reason
        return self._rendered()

    def _compacting(self, target_percent: float) -> Steps[Request]:
        """The request once what does not fit has been collected down to the target, whatever strategies declare."""
        if not self._scheduler.fits(self._moment()):
            goal = attrs.evolve(self._asked_for(target_percent, ""), fills=True)
            yield from self._collecting_if_due(goal)
        yield from self._making_fit()
        return self._rendered()

    def _turning(self, reply: object, usage: object | None) -> Steps[GCResult | None]:
        """The reply is taken, then what is due is collected."""
        payload = self._message(self._format.reply(reply))
        reported = None if usage is None else self._format.usage(usage)
        self._validate(payload, reported)
        served = self._format.served(reply)
        self._note_served(served)
        self._note_kept(reply)
        taken = self._told(self._recorder.take(payload, None, self.plugins.classify))
        if reported is not None and self._raw_sent:
            with self.plugins.guarded("ledger", "usage"):  # the reply is taken; without the report it goes on
                # A provider that compacted read something else than was sent: nothing is learned of that.
                raw = 0 if taken.arrival.compacted else self._raw_sent
                self._recorder.observe(self._calls.observed(raw, reported, reply))
                self._tell_rate()
        elif reported is None:
            self._book_unreported(sum(item.tokens for item in taken.new if not item.synthetic))
        self._follow_spend()
        moment = self._moment()
        goal = self._scheduler.after_turn(moment, crossed=self._crossed)
        if goal is None:
            self._log_not_due("post_turn", moment)
        self._streamed, self._crossed = 0, False
        result = yield from self._collecting_if_due(goal)
        self._look_ahead()
        with self.plugins.guarded("files", "end of a turn"):  # the reply is taken and written; explain() tells the rest
            self._recorder.turn_ended()
            self._follow_with_index()
        return result

    def _recovering(self, error: BaseException) -> Steps[Request]:
        """What the provider refused for its length is collected by the size that it names, and rendered again."""
        sizes = self._format.refused_size(error)
        if sizes is None or self._kept_at:
            raise error
        self._keep_to_limit()
        sent, allowed = sizes
        _log.warning("request refused for its length", refused_tokens=sent, allowed_tokens=allowed)
        if allowed is not None and allowed < self._config.context_limit:
            self._allow(allowed)
        if self._raw_sent:
            # A refusal that names no size says at least that the request was larger than the window.
            told = sent or self._config.context_limit + 1
            self._recorder.observe(Observed(raw=self._raw_sent, reported=told))
        before = self._context
        yield from self._collecting_if_due(self._scheduler.overflow(self._moment()))
        if self._context is before:
            yield from self._last_resort(self._scheduler.overflow(self._moment()).target_tokens)
        yield from self._making_fit()
        if self._context is before:
            raise self._overflow()
        return self._rendered()

    def _rendered(self) -> Request:
        request = self._with_edits(self._marks.placed(self._context.render()))
        with self.plugins.guarded("ledger", "first request"):
            self._recorder.sent()
        self._settled = self._standing
        self._raw_sent = request.tokens
        self._streamed, self._crossed = 0, False
        self._calls.sent(request)
        self._call_goes_out()
        self.plugins.request_rendered(request)
        return request

    def _with_edits(self, request: Request) -> Request:
        options = self._provider_options
        if not options:
            return request
        return attrs.evolve(request, options=provider_named(self.format).joined_options(options, request.options))

    def _tell_rate(self) -> None:
        tokens = self._calls.above(self._config.tpm_budget)
        if tokens and self._config.tpm_budget is not None:
            self._tell(RateExceeded(tokens=tokens, budget=self._config.tpm_budget))

    def _book_summaries(self, result: GCResult) -> None:
        with self.plugins.guarded("ledger", "booking"):  # the collection is true; without the booking it goes on
            for record in self._calls.summaries(result, self._answering.model):
                self._recorder.book(record)

    # -- collections ---------------------------------------------------------------------------------------------------

    def _asked_for(self, target_percent: float | None, focus: str) -> Goal:
        return attrs.evolve(self._scheduler.manual(self._moment(), target_percent), focus=focus)

    def _collecting_if_due(self, goal: Goal | None) -> Steps[GCResult | None]:
        """
        A collection that nobody asked for: when its plan would break a rule, the window stays as it is and the host's
        call goes on; ``plugins.failures`` and the event say so.
        """
        result: GCResult | None = None
        if goal is not None:
            with self.plugins.guarded("collection", goal.reason.value):
                result = yield from self._collecting(goal)
        return result

    def _collecting(self, goal: Goal) -> Steps[GCResult]:
        if self._kept_at:
            self._left(goal, self._cannot_collect(goal), self._moment())
            self._tell_deferred(self._cannot_collect(goal))
            return self._cannot_collect(goal)
        with bound_collection():
            return (yield from self._collecting_now(goal))

    def _collecting_now(self, goal: Goal) -> Steps[GCResult]:
        collected = yield from self._attempting(goal, fit=None)
        result, moment = collected.result, self._moment()
        self._tried(goal)
        note = result.note
        if collected.stale:
            note = "the window was changed while a summary was awaited; the next call collects again"
        elif result.changed and self._scheduler.is_worth(moment, self._weigh(collected, moment), goal):
            self._commit(collected)
            self._skipped = frozenset()
            return result
        else:
            priced = f": {self._weighed}" if self._weighed else ""
            note = note or f"{result.tokens_freed:,} tokens could go: not worth a break of the prompt cache{priced}"
            self._left(goal, result, moment)
        deferred = attrs.evolve(
            result, removals=(), summaries=(), tokens_after=result.tokens_before, earliest_change=-1, note=note
        )
        self._tell_deferred(deferred)
        return deferred

    def _attempting(self, goal: Goal, *, fit: int | None, blocks_only: bool = False) -> Steps[CollectionOutcome]:
        """A collection, and what waited for it, before anything has changed; an error is told and goes on."""
        self._tell(CollectionStarted(goal=goal))
        self.plugins.collection_started(goal)
        with contextlib.ExitStack() as stack:
            stack.push(functools.partial(self._tell_failure, goal))
            ready, held = self._ahead.ready(), self._held
            collector = self._collector_for(goal)
            collected = yield from collector.steps(
                self._context, goal, self._protection, fit=fit, blocks_only=blocks_only, prepared=ready
            )
            log_plan(collected.result)
            if collected.of is not self._context or held != self._held:
                return attrs.evolve(collected, stale=True)
            if collected.context is collected.of:
                return collected
            if goal.is_young:  # what waits at the head would break all that a young collection spares
                return attrs.evolve(collected, keeps_head=True)
            return attrs.evolve(collected, context=self._state.changed(self._state.changes, collected.context))

    def _tell_deferred(self, result: GCResult) -> None:
        log_skipped(result, again=result.reason in self._skipped)
        self._skipped |= {result.reason}
        self._tell(CollectionDeferred(result=result))

    def _tell_failure(self, goal: Goal, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            self._tell(CollectionFailed(goal=goal, error=error))
            self.plugins.collection_failed(goal, error)

    def _commit(self, collected: CollectionOutcome) -> None:
        """Take the edited window over: the one place where a collection becomes true."""
        before, after = collected.of, collected.context
        self._needs.collected(before.items(), before.find, after.find)
        self._recorder.commit(collected, after)
        self._book_summaries(collected.result)
        self._ahead.forget()
        self._paid(collected.plan.goal, collected.result.tokens_freed)
        self._looks_above = 0
        self._tell_collected(collected.result)

    def _tell_collected(self, result: GCResult) -> None:
        self._last = result
        self._tell(CollectionFinished(result=result))
        self.plugins.collection_finished(result)
        self._tell_budget()

    def _making_fit(self) -> Steps[None]:
        """
        The last resort; raises ContextOverflowError when even that does not help. It may be needed twice: what waited
        for a break takes effect with the first, and may be large.
        """
        if self._kept_at:
            return  # the provider reads its own history, and cuts it itself
        for _ in range(2 * self._config.auto_trigger):
            if self._scheduler.fits(self._moment()):
                return
            yield from self._last_resort(self._scheduler.fit(self._moment()))
        if not self._scheduler.fits(self._moment()):
            raise self._overflow()

    def _shortening_blocks(self) -> Steps[None]:
        """
        A block that has not been sent, and that would not fit whatever a collection took, is shortened before one: its
        policy allows that, unless it is LOCKED, and the history need not leave for it.
        """
        moment = self._moment()
        if self._kept_at or not self._config.auto_trigger or self._scheduler.fits(moment):
            return
        if not any(is_shortened_block(message.items[0]) for message in self._context.messages):
            return
        with bound_collection(), self.plugins.guarded("collection", "shortening blocks"):
            goal = self._scheduler.overflow(moment)
            collected = yield from self._attempting(goal, fit=self._scheduler.fit(moment), blocks_only=True)
            if not collected.stale and collected.context is not self._context:
                self._commit(collected)

    def _last_resort(self, fit: int) -> Steps[None]:
        goal = self._scheduler.overflow(self._moment())
        with bound_collection():
            _log.info("last resort began", tokens=self._moment().tokens, room_tokens=fit)
            collected = yield from self._attempting(goal, fit=fit)
            if not collected.stale and collected.context is not self._context and collected.result.tokens_after <= fit:
                self._commit(collected)

    def _overflow(self) -> ContextOverflowError:
        back = sum(item.tokens for item in self._context.items() if item.id in self._state.undone)
        hint = f"; {back:,} tokens that undo or restore brought back are pinned until release()" if back else ""
        needed = self._moment().taken
        _log.warning("request does not fit", tokens=needed, usable_tokens=self._config.usable)
        return ContextOverflowError(limit=self._config.usable, needed=needed, owners=self._owners(), hint=hint)

    def _owners(self) -> dict[str, int]:
        """Who holds the tokens: sources, and for the conversation its turns."""
        owners: dict[str, int] = {"overhead of messages": self._context.budget.overhead}
        for source in self._context.budget.sources:
            entry = self._context.budget.entry(source.name)
            for child in entry.children:
                owner = f"{source.name} {child.label}"
                owners[owner] = owners.get(owner, 0) + child.tokens
        return {owner: tokens for owner, tokens in owners.items() if tokens}

    @synchronized
    def view(self) -> WindowView:
        """The window as a strategy sees it."""
        return WindowView(
            self._context,
            self._protection,
            can_summarize=self._answering.name != NONE,
            objective=self._state.objective.text,
            questions=self._questions,
            scores=self._scoring,
            search=self._search_cold,
            usable=self._scheduler.fit(self._moment()),
        )

    def _log_not_due(self, call: str, moment: Moment) -> None:
        if not _log.hears_debug:
            return
        why = "below where it begins"
        if not self._config.auto_trigger:
            why = "auto_trigger is off"
        elif self._kept_at:
            why = "the provider keeps the history"
        elif self._waits_above > moment.tokens:
            why = f"held back until {self._waits_above} tokens"
        _log.debug(
            "collection not due",
            call=call,
            tokens=moment.estimated,
            usage_percent=round(self._scheduler.usage(moment), 1),
            begins_percent=round(self._scheduler.begins_percent, 1),
            why=why,
        )

    # -- ahead of need -------------------------------------------------------------------------------------------------

    def _look_ahead(self) -> None:
        """Summaries that the next collection will want are asked for while there is still room."""
        moment = self._moment()
        if self._answering.summarizer is None or self._ahead.busy or moment.tokens < self._looks_above or self._kept_at:
            return
        goal = self._scheduler.ahead(moment)
        if goal is not None:
            self._looks_above = self._scheduler.next_try(moment)
            with self.plugins.guarded("collection", "looking ahead"):
                for removal, request in self._collector.requests(self._context, goal, self._protection):
                    _log.debug("summary begun ahead", items=len(request.items), max_tokens=request.max_tokens)
                    self._ahead.begin(removal, self._begun(request))

    @abc.abstractmethod
    def _begun(self, request: SummaryRequest) -> Coming:
        """Ask for a summary in the background."""

    # -- inconsistent replies ------------------------------------------------------------------------------------------

    def _validate(self, reply: Payload, reported: Usage | None) -> None:
        """Raise InconsistentReplyError, once the window is as ``recovery_strategy`` wants it, when a plugin says so."""
        found = self.plugins.validate(reply, self.view(), self.recall)
        if not found:
            if self._recoveries:
                self.release()
            self._recoveries = 0
            return
        self._book_refused(reply, reported)
        reason = "; ".join(each.reason for each in found)
        how, digest = self._config.recovery_strategy, digest_of_messages(self._context.messages)
        self._recoveries += 1
        _log.warning("reply inconsistent", findings=len(found), recovery=how, in_a_row=self._recoveries)
        if how == RAISE:
            raise InconsistentReplyError(reason, recovered=False, text="nothing has changed")
        if self._recoveries > _MOST_RECOVERIES:
            known = self._store.newest_checkpoint()
            then = "none" if known is None else known.digest
            text = f"it was after {_MOST_RECOVERIES} recoveries; window {digest}, checkpoint {then}"
            raise InconsistentReplyError(reason, recovered=False, text=text)
        try:
            self.rollback_and_repack([item for each in found for item in each.items], undo_only=how == UNDO)
        except LogError as error:
            raise InconsistentReplyError(reason, recovered=False, text=f"nothing has changed: {error}") from error
        raise InconsistentReplyError(reason, recovered=True, text=f"the window was brought back ({how}); send it again")

    @synchronized
    def rollback_and_repack(self, items: Iterable[str] = (), *, undo_only: bool = False) -> None:
        """
        Go back to the newest checkpoint and take again every message that came since; or (``undo_only``) undo the last
        collection. Then bring these items back, as far as they fit.

        An item that no collection in force took is passed over: it stands there already. Where the undone collection
        would not fit, these items alone come back. Raises LogError, with nothing changed, when there is no checkpoint,
        nothing to undo, or no room.
        """
        wanted = tuple(dict.fromkeys(items))
        if undo_only:
            self._undo_within_window(named=bool(wanted))
        else:
            self._take_again()
        for item in wanted:
            with contextlib.suppress(SourceError):
                self.restore(item)
                if not self._scheduler.fits(self._moment()):
                    self.undo()

    def _undo_within_window(self, *, named: bool) -> None:
        if not self.undo():
            raise LogError(f"{self.directory} holds no collection that could be undone")
        if self._scheduler.fits(self._moment()):
            return
        tokens = self._moment().taken
        self.redo()
        if not named:
            raise LogError(
                f"undone, the request would have {tokens:,} tokens, above the {self._config.usable:,} there are"
            )

    def _take_again(self) -> None:
        """The checkpoint, and behind it the messages of the conversation since; a new checkpoint stands behind them."""
        target = self._newest_checkpoint()
        since = [record for _, record in self._store.log.records(target.at.log) if record.source == CONVERSATION.name]
        self.rollback(target)
        for record in since:
            self._told(self._recorder.take(record.payload, record.policy, self.plugins.classify))
        with contextlib.suppress(LogError):
            self.checkpoint()

    # -- inside --------------------------------------------------------------------------------------------------------

    @property
    def _collector(self) -> Collector:
        return Collector(
            plugins=self.plugins,
            strategies=self._strategies,
            counter=self._counter,
            answering=self._answering,
            read=Originals(item=self._original, span=self._span),
            thinking=self._thinking_rule,
            objective=self._state.objective.text,
            questions=self._questions,
            scores=self._scoring,
            cold=self._cold,
            profile=self.profile,
            renewed=self._renewed,
        )

    @property
    def _renewed(self) -> str:
        """Id of the item that a collection tells anew; nothing here."""
        return ""

    @property
    def _questions(self) -> tuple[str, ...]:
        """Questions that are open, as far as anybody has looked."""
        return ()

    def _collector_for(self, goal: Goal) -> Collector:
        return attrs.evolve(self._collector, strategies=self._strategies_for(goal))

    @property
    def _thinking_rule(self) -> ThinkingRule:
        """Models that drop the thinking of earlier turns themselves do not count it: there nothing would be won."""
        keep = self._config.keep_thinking_turns
        return ThinkingRule(
            binds=self._state.binds_thinking,
            old_before=0 if keep is None else max(0, self._context.cursor.turn - keep + 1),
        )

    def _window_changed(self) -> None:
        self._reset_measures()
        if not self._scheduler.fits(self._moment()):
            taken, usable = self._moment().taken, self._config.usable
            _log.warning("window too large", tokens=taken, usable_tokens=usable, remedy="release() what came back")
        self._raw_sent, self._last, self._looks_above = 0, None, 0
        self._ahead.forget()
        self._tell_budget()

    def _fresh_marks(self) -> Marks:
        """Breakpoints without a memory: a provider's cache is a model's own."""
        return Marks(self._config, format_name=self._format.name, model=self._state.model, key=self._store.session)

    def _configure(self, config: GCConfig, model: str | None = None) -> None:
        wanted = Configured(
            model=model or self._state.model,
            context_limit=config.context_limit,
            output_reservation=config.output_reservation,
            max_total_tokens=config.max_total_tokens or 0,
        )
        known = self._state.configured
        if wanted != known:
            self._recorder.configure(wanted)
        if wanted.model != known.model:
            self._marks = self._fresh_marks()
            if self._state.changes:
                self._recorder.take_effect()
        self._waits_above = 0

    def _allow(self, tokens: int) -> None:
        """The provider's own word for the window; where nothing could be reserved in it, nothing is."""
        reservation = self._config.output_reservation if tokens > self._config.output_reservation else 0
        self._configure(self._config.resized(max(1, tokens), reservation))
