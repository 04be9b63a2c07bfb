"""The collaborators of a session, and the order in which they act."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import attrs

from gc_core.cache.account import CacheReport
from gc_core.collector.background_summaries import Coming
from gc_core.collector.scheduler import Moment
from gc_core.collector.summarizing import Answering, Steps
from gc_core.errors import ConfigError
from gc_core.observer import Watch
from gc_core.providers.cache_terms import terms_of
from gc_core.relevance.reread_guard import RereadGuard
from gc_core.session.archive import Archive
from gc_core.session.collection_runner import CollectionRunner
from gc_core.session.condense import Condenser
from gc_core.session.declared_triggers import DeclaredTriggers
from gc_core.session.facts import SessionFacts
from gc_core.session.fitting import RequestFitter
from gc_core.session.history import History
from gc_core.session.inbox import Inbox
from gc_core.session.masking import Masking
from gc_core.session.opening import Host, Parts, arranged, begun, checkpoints_in, reopened
from gc_core.session.provider_state import ProviderState
from gc_core.session.recall_suggestions import RecallSuggestions
from gc_core.session.rendering import RequestRenderer, StreamWatch
from gc_core.session.reply_check import ReplyCheck
from gc_core.session.request_head import RequestHead
from gc_core.session.reread_watch import RereadWatch
from gc_core.session.runtime import CallGate, Events, Runtime
from gc_core.session.spend_limit import SpendLimit
from gc_core.session.subtasks.deliveries import Deliveries
from gc_core.session.subtasks.handoff import Handed, Handoffs, first_state
from gc_core.session.subtasks.handoff_opening import OpeningWriter
from gc_core.session.subtasks.handoff_texts import ACCOUNT, HANDOFF
from gc_core.session.subtasks.leases import Leases
from gc_core.session.task_memory import TaskMemory
from gc_core.session.task_reader import TaskReader
from gc_core.session.timeline import Timeline
from gc_core.session.window_meter import WindowMeter
from gc_core.storage.ledger import Configured, Observed, Opened
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.recorder import Recorder
from gc_core.storage.state import Settings
from gc_core.storage.store import Store
from gc_core.storage.usage_ledger import CallWatch, LedgerAccount, checked
from gc_core.values.config import OFF, GCConfig
from gc_core.values.loggers import bound, logger
from gc_core.values.messages import Request, Usage
from gc_core.values.results import GCResult, GCTriggerReason, Goal
from gc_core.values.sources import STATE_NAME, TASK_STATE
from gc_core.values.summary import SummaryRequest
from gc_core.values.validators import check_kind

if TYPE_CHECKING:
    from gc_core.session.list_sync import CallersList, ListSync

_log = logger("gc_core.session")

_MOST_PASSES = 4
"""The most collections before a model call, each of which has changed something."""


class Asks(Protocol):
    """How a kind of session waits for answers."""

    def check(self, answering: Answering) -> None:
        """Raise ConfigError for a summarizer or request counter that this kind of session cannot ask."""

    def begin(self, answering: Answering, request: SummaryRequest) -> Coming:
        """Request a summary in the background."""


class SessionCore:
    """
    The collaborators of a session, and the order in which they act. Both kinds of session drive this one logic.

    A collaborator knows those that were created before it, and none knows the core, so a session without references is
    freed at once.
    """

    def __init__(self, settings: Settings, make: Callable[[], Store], host: Host, asks: Asks) -> None:
        parts = Parts.of(settings, host)
        asks.check(parts.answering)
        self.host = host
        self.asks = asks
        settings.fresh(lambda _: {})  # an invalid format or counter fails before files are created
        store = make()
        again = store.is_used
        if not store.temporary:
            store.keep_checkpoints(checkpoints_in(store.directory, settings, parts.plugins))
        fresh = functools.partial(settings.fresh, store.payload, cites=not store.temporary)
        recorder = Recorder(store, store.state_at(store.position, fresh))
        events = Events(parts.plugins, host.on_event)
        self.runtime = Runtime(plugins=parts.plugins, recorder=recorder, events=events, settings=settings)
        self.gate = CallGate(self.runtime)
        with bound(self.gate.scope):
            self._register_sources()
        self._compose(parts)
        store.opened(settings.record(store.session))
        self._log_opened(parts, again=again)

    def _compose(self, parts: Parts) -> None:
        runtime, gate, settings = self.runtime, self.gate, self.runtime.settings
        guard = None if settings.config.reread_guard == OFF else RereadGuard()
        calls = CallWatch(terms_of(settings.model, settings.format))
        self.masking = masking = Masking(runtime)
        self.account = LedgerAccount(runtime.store.ledger, settings.format)
        self.rereads = RereadWatch(runtime, guard)
        self.meter = meter = WindowMeter(runtime, DeclaredTriggers(runtime, parts.strategies))
        self.stream = StreamWatch(runtime, meter)
        self.provider = provider = ProviderState(runtime, meter)
        self.renderer = RequestRenderer(runtime, meter, provider, calls)
        self.spend = SpendLimit(runtime, masking, meter, self.account)
        self.head = RequestHead(runtime, masking)
        self.inbox = inbox = Inbox(runtime, masking, on_arrival=self.rereads.see)
        self.history = history = History(runtime)
        self.facts = SessionFacts(runtime)
        self.archive = archive = Archive(runtime, history, parts.strategies, parts.profile)
        self.task = task = TaskMemory(
            runtime,
            meter=meter,
            provider=provider,
            inbox=inbox,
            reader=TaskReader(runtime, extractor=parts.extractor, first=functools.partial(first_state, runtime.store)),
        )
        self.collections = collections = CollectionRunner(
            runtime,
            meter=meter,
            provider=provider,
            inbox=inbox,
            archive=archive,
            task=task,
            needs=self.rereads.needs,
            calls=calls,
            answering=attrs.evolve(parts.answering, spent=calls.summarized),
            scoring=parts.scoring,
            begin=self.asks.begin,
        )
        self.fitter = RequestFitter(runtime, meter=meter, provider=provider, task=task, collections=collections)
        self.condenser = Condenser(runtime, inbox, collections)
        self.timeline = Timeline(runtime, task=task, meter=meter, archive=archive, collections=collections)
        deliveries = Deliveries(
            runtime, gate, masking=masking, inbox=inbox, condenser=self.condenser, collections=collections
        )
        self.leases = Leases(runtime, gate, masking=masking, meter=meter, deliveries=deliveries)
        runtime.events.after_budget(self.leases.grant_waiting)
        self.handoffs = Handoffs(
            runtime,
            gate,
            head=self.head,
            leases=self.leases,
            task=task,
            history=history,
            writer=OpeningWriter(runtime, archive, history, collections),
        )
        recall = functools.partial(_recall, gate, self.handoffs)
        self.suggestions = RecallSuggestions(
            runtime,
            gate,
            history=history,
            recall=recall,
            is_taken_back=archive.is_taken_back,
            view=collections.view,
            inbox=inbox,
        )
        self.replies = ReplyCheck(
            runtime,
            gate,
            meter=meter,
            inbox=inbox,
            spend=self.spend,
            collections=collections,
            timeline=self.timeline,
            recall=recall,
        )

    @functools.cached_property
    def lists(self) -> ListSync:
        """For callers who hold the list; made with the first one, because most sessions never see one."""
        from gc_core.session.list_sync import ListSync

        return ListSync(self.runtime, masking=self.masking, inbox=self.inbox, head=self.head, timeline=self.timeline)

    # -- opening and ending --------------------------------------------------------------------------------------------

    @classmethod
    def reopen(cls, directory: Path, prepared: Callable[[Opened], tuple[Settings, Host]], asks: Asks) -> SessionCore:
        """Continue the session in a directory, with settings made from the recorded ones."""
        store = reopened(directory)
        last_used = (directory / FILE_NAME).stat().st_mtime
        with contextlib.ExitStack() as undo:
            undo.callback(store.close)
            settings, host = prepared(store.settings())
            core = cls(settings, lambda: store, host, asks)
            with bound(core.gate.scope):
                core.resume(last_used)
            undo.pop_all()
        return core

    def resume(self, last_used: float) -> None:
        """Continue from a time in seconds, which is the age of the prompt cache."""
        self.meter.resume(last_used)
        self.spend.follow()
        state = self.runtime.state
        if state.sent_digest == state.context.digest and not state.blocks.given:
            self.renderer.settle()

    def open_child(self, directory: str | Path | None, config: GCConfig) -> SessionCore:
        """Open another session with the same format, model, plugins and summarizer."""
        host, runtime = self.host, self.runtime
        settings, given = arranged(
            config,
            format=runtime.format.name,
            model=runtime.state.model,
            counter=runtime.settings.counter,
            host=attrs.evolve(host, plugins=runtime.plugins, on_event=None),
            strategy=None if all(isinstance(each, str) for each in host.strategy) else host.strategy,
        )
        return SessionCore(settings, lambda: begun(directory, settings.format), given, self.asks)

    def begin_with(self, handed: Handed) -> None:
        """Take what a parent handed on, in the order in which it will be read."""
        with bound(self.gate.scope):
            self._begin_with(handed)
        self.handoffs.expect_result(handed)

    def close(self) -> None:
        """End the session."""
        self.collections.stop_ahead()
        self.task.reader.save()
        self.history.close()
        self.runtime.store.close()
        self.leases.wake_all()
        self.handoffs.release()
        self.gate.closed = True

    # -- the loop --------------------------------------------------------------------------------------------------

    def sending(self) -> Steps[Request]:
        """Return the request for the next model call, after any collection that is due."""
        self.spend.require_allowance()
        self.rereads.warn_or_stop()
        if self.renderer.is_asked_again:
            return self._render()
        self._place_waiting()
        yield from self.fitter.shorten_blocks()
        if self._may_count and self.meter.scheduler.in_doubt(self.meter.moment()):
            yield from self.renderer.count()
        return (yield from self._fitting())

    def syncing(self, given: CallersList) -> Steps[Request]:
        """Return the request for a list that the caller holds, after the collection that is due."""
        self.rereads.list_came()
        self.lists.take(given)
        self.lists.current, self.renderer.marks = given, given.marks
        request = yield from self.sending()
        return self.lists.returned(request, given)

    def reporting(self, usage: object) -> None:
        """Take the usage of the last request, if its reply comes with the caller's next list."""
        self.rereads.reply_came()
        reported = checked(usage if isinstance(usage, Usage) else self.runtime.format.usage(usage))
        if self.meter.raw_sent:
            self.renderer.observe(reported, None, compacted=False)
        self.spend.follow()
        self.stream.reset()

    def turning(self, reply: object, usage: object | None) -> Steps[GCResult | None]:
        """Append the reply, then collect if that is due."""
        payload = self.masking.message(self.runtime.format.reply(reply))
        reported = None if usage is None else self.runtime.format.usage(usage)
        self.replies.check(payload, reported)
        self.provider.note_reply(reply)
        taken = self.lists.take_reply(payload) if self.runtime.state.given else self.inbox.take(payload, None)
        if reported is None:
            self.spend.book_unreported(sum(item.tokens for item in taken.new if not item.synthetic))
        elif self.meter.raw_sent:
            self.renderer.observe(reported, reply, compacted=bool(taken.arrival.compacted))
        self.spend.follow()
        goal = self._goal_after_turn()
        self.stream.reset()
        result = yield from self.collections.run_if_due(goal)
        self.collections.prepare_summaries()
        self._end_turn()
        return result

    def collecting(self, target_percent: float | None, focus: str) -> Steps[GCResult]:
        """Run a collection requested by the host."""
        return self.collections.run(self.collections.manual_goal(target_percent, focus))

    def counting(self) -> Steps[int]:
        """Return the tokens of the current request, counted by the request counter even if there is no doubt."""
        if self.collections.answering.counter is None:
            raise ConfigError("count_now: no request counter; pass request_counter= to the session")
        if self._may_count and self.runtime.context.messages:
            yield from self.renderer.count()
        return self.meter.moment().estimated

    def recovering(self, error: BaseException) -> Steps[Request]:
        """Collect to the size that a refusal names, and render again."""
        check_kind("error", error, BaseException, "the exception that the client raised")
        sizes = self.runtime.format.refused_size(error)
        if sizes is None or self.provider.kept_at:
            raise error
        self.spend.require_allowance()
        self._learn_size(*sizes)
        before = self.runtime.context
        yield from self.collections.run_if_due(self._overflow_goal)
        if self.runtime.context is before:
            yield from self.fitter.last_resort(self._overflow_goal.target_tokens)
        yield from self.fitter.make_it_fit()
        if self.runtime.context is before:
            raise self.fitter.overflow()
        request = self._render()
        if not self.runtime.state.given or self.lists.current is None:
            return request
        return self.lists.returned(request, self.lists.current)

    def compacting(self, target_percent: float) -> Steps[Request]:
        """Return the request, collected down to the target if it does not fit, whatever strategies declare."""
        if not self.meter.scheduler.fits(self.meter.moment()):
            goal = self.collections.manual_goal(target_percent, "")
            # A list is nowhere else: the state has to fit, for nothing could read what it says again.
            target = max(0, goal.target_tokens - self.task.tokens_to_come())
            goal = attrs.evolve(goal, target_tokens=target, fills=True)
            yield from self.collections.run_if_due(goal)
        yield from self.fitter.make_it_fit()
        return self._render()

    def continue_from(self, other: SessionCore, *, with_blocks: bool) -> None:
        """Take over what the files of the session it branched from do not hold."""
        for block in other.runtime.state.blocks.given if with_blocks else ():
            self.runtime.state.give(block.source, {block.name: block.text})
        self.head.private = other.head.private

    # -- settings --------------------------------------------------------------------------------------------------

    def configure(self, config: GCConfig, model: str | None = None) -> None:
        """Change the window, the model or the spending limit."""
        recorder, known = self.runtime.recorder, self.runtime.state.configured
        wanted = Configured(
            model=model or self.runtime.state.model,
            context_limit=config.context_limit,
            output_reservation=config.output_reservation,
            max_total_tokens=config.max_total_tokens or 0,
        )
        if wanted != known:
            recorder.configure(wanted)
        if wanted.model != known.model:
            self.renderer.forget_cache()
            if self.runtime.state.changes:
                recorder.take_effect()
        self.meter.waits_above = 0
        self.leases.grant_waiting()

    def allow_window(self, tokens: int) -> None:
        """
        Set the window that the provider reported; the output reservation is dropped if nothing else
        would be left.
        """
        config = self.runtime.config
        reservation = config.output_reservation if tokens > config.output_reservation else 0
        self.configure(config.resized(max(1, tokens), reservation))

    def observe(self, observer: Watch) -> None:
        """Let this observer see calls, events, records and summaries from now on."""
        self.runtime.events.observer = self.runtime.store.watch = observer
        self.collections.answering = attrs.evolve(self.collections.answering, watch=observer)

    def cache_report(self) -> CacheReport:
        """Return the use of the provider's prompt cache. Raises LogError when the ledger cannot be read."""
        needed = self.rereads.needs.needed
        return attrs.evolve(self.account.report(), tpm_budget=self.runtime.config.tpm_budget, needed_again=needed)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _register_sources(self) -> None:
        plugins = self.runtime.plugins
        for source in plugins.sources():
            with plugins.guarded(source.name, "gc_register_sources"):  # its definition may have changed since
                self.runtime.recorder.register(source)

    def _log_opened(self, parts: Parts, *, again: bool) -> None:
        with bound(self.gate.scope):
            _log.debug(
                "session opened",
                format=self.runtime.format.name,
                model=self.runtime.settings.model,
                strategies=",".join(name for name, _ in parts.strategies),
                context_limit_tokens=self.runtime.config.context_limit,
                again=again,
            )

    def _place_waiting(self) -> None:
        """Place what enters the request before anything is collected for it."""
        plugins = self.runtime.plugins
        if self.runtime.config.auto_expand:
            with plugins.guarded("auto_expand", "looking for what is missed"):
                self.suggestions.expand()
        self.task.restate_if_missing()
        if not self.runtime.state.given:  # the system text is the caller's
            self.head.name_log()
        self.inbox.place_waiting()
        self.leases.settle()

    def _fitting(self) -> Steps[Request]:
        """
        Return the request after the collections that are due; open calls keep waiting.

        One collection may make another due, for example by a limit of turns: run here, both are one break. A collection
        that changed nothing is not tried twice.
        """
        idle: GCTriggerReason | None = None
        for _ in range(_MOST_PASSES):
            before, moment = self.runtime.context, self.meter.moment()
            goal = self.meter.scheduler.before_send(moment)
            if goal is None:
                self.collections.log_not_due("pre_send", moment)
            elif goal.reason is idle:
                break
            yield from self.collections.run_if_due(goal)
            yield from self.fitter.make_it_fit()
            if self.runtime.context is before:
                if goal is None:
                    break
                idle = goal.reason
        return self._render()

    def _render(self) -> Request:
        request = self.renderer.render()
        self.stream.reset()
        self.inbox.note_sent()
        return request

    @property
    def _may_count(self) -> bool:
        """True if a request counter may be asked."""
        return bool(self.collections.answering.counts) and not self.provider.kept_at

    @property
    def _overflow_goal(self) -> Goal:
        return self.meter.scheduler.overflow(self.meter.moment())

    def _goal_after_turn(self) -> Goal | None:
        moment: Moment = self.meter.moment()
        goal = self.meter.scheduler.after_turn(moment, crossed=self.stream.crossed)
        if goal is None:
            self.collections.log_not_due("post_turn", moment)
        return goal

    def _end_turn(self) -> None:
        # The reply is appended and written; explain() reports errors.
        with self.runtime.plugins.guarded("files", "end of a turn"):
            self.runtime.recorder.turn_ended()
            self.history.index_in_background()

    def _learn_size(self, sent: int | None, allowed: int | None) -> None:
        """Learn the size of the window and of the request from a refusal."""
        config = self.runtime.config
        _log.warning("request refused for its length", refused_tokens=sent, allowed_tokens=allowed)
        if allowed is not None and allowed < config.context_limit:
            self.allow_window(allowed)
        if not self.meter.raw_sent:
            return
        if sent or allowed or not self.meter.moment().calibration.anchored:
            # A refusal without sizes says at least that the request exceeded the window.
            reported = sent or self.runtime.config.context_limit + 1
            self.runtime.recorder.observe(Observed(raw=self.meter.raw_sent, reported=reported))
        moment = self.meter.moment()
        if self.meter.scheduler.fits(moment):
            # The provider has counted such requests, or no such count is possible: so the window is smaller.
            self.allow_window(moment.estimated - 1)

    def _begin_with(self, handed: Handed) -> None:
        from gc_core.task.rendering import state_text

        runtime, opening = self.runtime, handed.opening
        self.head.private = handed.private
        for source in handed.sources:
            runtime.recorder.register(source)
        for part in opening.parts:
            self.head.system(part.source, part.policy, "break", {part.name: part.text})
        self.head.tools(opening.schemas, opening.discoverable, "break")
        for payload in opening.request:
            self.inbox.append(payload)
        for owner, name, block in opening.memory:
            self.inbox.give(owner, {name: block})
        text = state_text(handed.state, handed.state_tokens, runtime.counter.count).text
        self.handoffs.inherit(handed, f"{handed.account}\n{text}")
        for whose, name, block in ((HANDOFF, ACCOUNT, handed.account), (TASK_STATE, STATE_NAME, text)):
            if block:
                runtime.recorder.register(whose)
                runtime.state.give(whose.name, {name: block})
        self._place_waiting()
        for payload in opening.newest:
            self.inbox.append(payload)
        if handed.objective:
            self.inbox.set_objective(handed.objective)


def _recall(gate: CallGate, handoffs: Handoffs, item: str) -> str:
    """Recall as the host's own call would, counted as one."""
    with gate.call("recall"):
        return handoffs.recall(item)
