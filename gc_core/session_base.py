"""What a session is but for its loop: what the host says, what there is to know, and how it collects."""

from __future__ import annotations

import abc
import contextlib
import functools
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import attrs

from gc_core.ahead import Ahead, Coming
from gc_core.answering import EXTRACTIVE, NONE, Answering, Steps
from gc_core.budget import InstructionBudget
from gc_core.collection import Collected, Collector
from gc_core.config import RAISE, UNDO, GCConfig
from gc_core.context import Context
from gc_core.errors import (
    ConfigError,
    ContextOverflowError,
    GCError,
    InconsistentReplyError,
    LogError,
    MessageError,
    SourceError,
)
from gc_core.events import (
    BudgetUpdated,
    CollectionDeferred,
    CollectionFailed,
    CollectionFinished,
    CollectionStarted,
    Event,
    Listener,
    MessageRepaired,
    ThresholdCrossed,
)
from gc_core.items import Item
from gc_core.ledger import Configured
from gc_core.log import FILE_NAME, text_of
from gc_core.logs import logger
from gc_core.masking import without_secrets
from gc_core.messages import Payload, Request
from gc_core.past import Past, serialised
from gc_core.plugins import Plugins, named
from gc_core.policy import GCPolicy
from gc_core.protocols import (
    AsyncSummarizer,
    Format,
    GCStrategy,
    SummarizationValidator,
    Summarizer,
    TokenCounter,
)
from gc_core.recorder import Recorder, Taken
from gc_core.registry import options_of
from gc_core.results import GCResult, GCTriggerReason, Goal
from gc_core.scheduler import Moment, Scheduler
from gc_core.sources import ENRICHMENT, InstructionSource
from gc_core.state import SessionState, Settings, digest_of_messages
from gc_core.store import Store
from gc_core.summaries.validation import SummaryValidator
from gc_core.summary import SummaryRequest
from gc_core.view import Protection, WindowView

_log = logger("gc_core.session")

_LOG_PART = "gc: log"
_LOG_LINE = (
    "[gc: what is left out of this conversation is kept. {log} holds it; master.jsonl:START-END are bytes of that file,"
    " offsets from 0: tail -c +$((START+1)) FILE | head -c $((END-START))]"
)
"""The LOCKED line with which a model that can run commands finds what left."""

_MOST_RECOVERIES = 2
"""Times in a row that the window is brought back for an inconsistent reply."""


@attrs.frozen(kw_only=True)
class _Host:
    """What the host gives as objects."""

    strategy: tuple[GCStrategy | str, ...]
    summarizer: Summarizer | AsyncSummarizer | None
    validator: SummarizationValidator | None
    plugins: Plugins | None
    on_event: Listener | None


class SessionBase(Past):
    """
    What ``GCSession`` and ``AsyncGCSession`` share. Work that may have to ask a summarizer is a generator, ``Steps``,
    which stops there: one of them waits for the answer, the other awaits it. The arguments are ``GCSession``'s.
    """

    def __init__(
        self,
        config: GCConfig | None = None,
        *,
        format: str = "openai",  # noqa: A002 - the word users know it by
        directory: str | Path | None = None,
        model: str | None = None,
        strategy: GCStrategy | str | Iterable[GCStrategy | str] | None = None,
        summarizer: Summarizer | AsyncSummarizer | None = None,
        validator: SummarizationValidator | None = None,
        plugins: Plugins | None = None,
        counter: TokenCounter | None = None,
        on_event: Listener | None = None,
    ) -> None:
        config = config or GCConfig()
        chosen = _chosen(strategy, config)
        config = _with_names(config, chosen)
        objects = _objects(chosen, summarizer)
        settings = Settings(config=config, format=format, model=model, counter=counter, objects=objects)
        host = _Host(strategy=chosen, summarizer=summarizer, validator=validator, plugins=plugins, on_event=on_event)
        self._start(settings, lambda: _begun(directory, format), host)

    @classmethod
    def open(
        cls,
        directory: str | Path,
        config: GCConfig | None = None,
        *,
        strategy: GCStrategy | str | Iterable[GCStrategy | str] | None = None,
        summarizer: Summarizer | AsyncSummarizer | None = None,
        validator: SummarizationValidator | None = None,
        plugins: Plugins | None = None,
        counter: TokenCounter | None = None,
        on_event: Listener | None = None,
    ) -> Self:
        """
        Go on with a session where it was, also after its process was killed: context and budget of the moment before.

        What was acknowledged is there; a line torn by a crash is moved aside and told in the log. Takes as long as the
        window is large. Without ``config`` it is configured as it was; strategies and a summarizer that were given as
        objects, a validator and a counter have to be given again.

        Raises LogError when there is no session, when another one writes to it, and when its files do not fit together;
        ConfigError when it was run with strategies or a summarizer that were given as objects, and none is given now.
        """
        store = _reopened(Path(directory))
        with contextlib.ExitStack() as undo:
            undo.callback(store.close)
            settings = Settings.of(store.settings(), config, counter)
            chosen = _chosen(strategy, settings.config)
            if strategy is None and summarizer is None and config is None and settings.objects:
                text = f"the session was run with the objects {list(settings.objects)}"
                raise ConfigError(f"{text}, which no file holds; pass strategy= or summarizer= to open()")
            objects = _objects(chosen, summarizer)
            settings = attrs.evolve(settings, config=_with_names(settings.config, chosen), objects=objects)
            host = _Host(
                strategy=chosen, summarizer=summarizer, validator=validator, plugins=plugins, on_event=on_event
            )
            session = cls.__new__(cls)
            session._start(settings, lambda: store, host)
            undo.pop_all()
        if config is not None:
            session._configure(config)
            for turn in sorted(set(config.pinned_turn_indices) - session._state.pinned_turns):
                session.pin(turn=turn)
        return session

    def _start(self, settings: Settings, make: Callable[[], Store], host: _Host) -> None:
        self._lock = threading.RLock()
        self._closed = False
        self._settings = settings
        self._host = host
        self.plugins = host.plugins or Plugins.discover()
        self._strategies = named(host.strategy, self.plugins, settings.config.strategies)
        self._answering = _answering(host, settings.config, self.plugins)
        self._check_summarizer(self._answering)
        self._ahead = Ahead()
        self._listeners: list[Listener] = [] if host.on_event is None else [host.on_event]
        self._settings.fresh(lambda _: {})  # what is wrong with format or counter shows before there are files
        self._indexer, self._index = None, None
        store = make()
        fresh = functools.partial(settings.fresh, store.payload, cites=not store.temporary)
        self._recorder = Recorder(store, store.state_at(store.position, fresh))
        for source in self.plugins.sources():
            with self.plugins.guarded(source.name, "gc_register_sources"):  # it may have been another one before
                self._recorder.register(source)
        self._limited_turn = -1
        self._raw_sent = 0
        self._streamed = 0
        self._crossed = False
        self._waits_above = 0
        self._last: GCResult | None = None
        self._recoveries = 0
        store.opened(settings.record(store.session))

    # -- what the host says --------------------------------------------------------------------------------------

    @serialised
    def append(self, message: object, *, policy: GCPolicy | None = None) -> tuple[str, ...]:
        """
        Add a message in the provider's own shape (a dict or an SDK object); returns the ids of its items.

        ``policy`` is your own word for how strongly it is held. Calls that were left without a result get a synthetic
        one before it; what no provider would accept is mended, told as a ``MessageRepaired`` event, and logged as it
        came. Raises MessageError, naming the field, when the message is malformed; nothing has changed then.
        """
        payload = self._plain(message)
        if policy is not None:
            _check_policy(policy, MessageError)
        return self._told(self._recorder.take(payload, policy, self.plugins.classify)).ids

    @serialised
    def extend(self, messages: Iterable[object], *, policy: GCPolicy | None = None) -> None:
        """Add several messages, one after the other."""
        for message in messages:
            self.append(message, policy=policy)

    @serialised
    def system(self, /, *, policy: GCPolicy = GCPolicy.LOCKED, refresh: str = "break", **parts: str) -> None:
        """
        Set named parts of the system text; an empty text removes one.

        Before the first request this takes effect at once; later it would break the prompt cache from position 0 on,
        so it waits for the next collection, unless ``refresh="now"``. Raises SourceError, with nothing changed, for
        what is no text or no policy.
        """
        _check_texts(parts)
        _check_policy(policy, SourceError)
        self._recorder.system(self._masked(parts), policy, now=_is_now(refresh))
        self._tell_budget()

    @serialised
    def tools(self, schemas: Iterable[object], *, discoverable: Iterable[str] = (), refresh: str = "break") -> None:
        """
        Set all tool schemas. Core ones are LOCKED; the ``discoverable`` ones, by name, are EPHEMERAL.

        Takes effect as ``system`` does. Raises SourceError, with nothing changed, for a name twice, and for a
        discoverable one without a schema.
        """
        plain = tuple(self._plain(schema) for schema in schemas)
        names = {self._format.schema_name(schema) for schema in plain}
        discoverable = frozenset(discoverable)
        unknown = sorted(discoverable - names)
        if unknown:
            raise SourceError(f"discoverable tool {unknown[0]!r} has no schema; there are {sorted(names)}")
        self._recorder.tools(plain, discoverable, now=_is_now(refresh))
        self._tell_budget()

    @serialised
    def enrich(self, /, **texts: str) -> None:
        """
        Give named enrichment: text that is made anew every turn. It stands at the end of the next request and stays
        there as sent; the next version of the same name goes to the new end, and the old one may be collected. An empty
        text takes a version back that has not been sent yet.
        """
        self._state.give(ENRICHMENT.name, self._masked(texts))

    @serialised
    def memory(self, source: str, /, **blocks: str) -> None:
        """Give named memory blocks of a registered source; they are placed and replaced as enrichment is."""
        self._state.give(source, self._masked(blocks))

    @serialised
    def register_source(self, source: InstructionSource) -> None:
        """Add a source of instructions. Raises SourceError when the name is taken by another one."""
        self._recorder.register(source)

    @serialised
    def pin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """Hold a turn (by number, counted from 0) or a resident item (by id) against every action."""
        self._set_pin(turn, item, pinned=True)

    @serialised
    def unpin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """Release a pin."""
        self._set_pin(turn, item, pinned=False)

    @serialised
    def set_policy(self, item: str, policy: GCPolicy) -> None:
        """Change how strongly a resident item is held. Raises SourceError when it is not resident."""
        _check_policy(policy, SourceError)
        self._resident(item)
        self._recorder.set_policy(item, policy)
        self._tell_budget()

    def listen(self, listener: Listener) -> None:
        """Call this with every event from now on."""
        self._listeners.append(listener)

    # -- the loop ------------------------------------------------------------------------------------------------

    @serialised
    def on_stream(self, *, text: str = "", usage: object | None = None) -> bool:
        """
        Tell what has streamed so far: a piece of text, or the provider's usage report.

        Returns whether the threshold has been crossed in this call; the event comes at most once a model call.
        """
        streamed = self._streamed if usage is None else self._format.usage(usage).output_tokens
        self._streamed = streamed + (self._counter.count(text) if text else 0)
        moment = attrs.evolve(self._moment(), tokens=self._context.budget.total + self._streamed)
        if not self._crossed and self._scheduler.crossed(moment):
            self._crossed = True
            self._tell(ThresholdCrossed(usage=self._scheduler.usage(moment), threshold=self._config.threshold_percent))
        return self._crossed

    @serialised
    def switch(self, *, model: str | None = None, context_limit: int | None = None) -> None:
        """
        Go on with another model or window; the next ``pre_send`` makes the request fit.

        Raises ConfigError, with nothing changed, for a window that cannot be.
        """
        config = self._config
        if context_limit is not None:
            config = attrs.evolve(config, context_limit=context_limit)
        self._configure(config, model or self._state.model)

    @serialised
    def close(self) -> None:
        """End the session; a log without a directory is gone then. Further calls raise SessionClosedError."""
        self._close_files()
        self._closed = True

    def __enter__(self) -> Self:
        """The session itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it, unless that has been done."""
        if not self._closed:
            self.close()

    # -- what there is to know -----------------------------------------------------------------------------------

    @property
    def config(self) -> GCConfig:
        """How it collects."""
        return self._config

    @property
    def budget(self) -> InstructionBudget:
        """The budget as it stands; read-only."""
        return self._context.budget

    @serialised
    def snapshot(self) -> dict[str, Any]:
        """
        The budget at one moment as plain JSON: limits, roll-ups and the whole tree.

        For another thread, a panel's for instance: ``budget`` may change while that one reads it.
        """
        return self._context.budget.snapshot()

    @property
    def last_result(self) -> GCResult | None:
        """The last collection that changed something, or None."""
        return self._last

    @serialised
    def items(self) -> tuple[Item, ...]:
        """The resident items."""
        return tuple(self._context.items())

    @serialised
    def view(self) -> WindowView:
        """The window as a strategy sees it."""
        return WindowView(self._context, self._protection)

    @serialised
    def plan(self, *, target_percent: float | None = None, goal: Goal | None = None) -> Collected:
        """
        A dry run of ``collect_now``, or of a goal: the plan and what would come of it; nothing changes, and no model is
        asked: summaries in it are extracts.
        """
        goal = goal or self._scheduler.manual(self._moment(), target_percent)
        collector = attrs.evolve(self._collector, answering=self._answering.offline)
        return collector.collect(self._context, goal, self._protection)

    @serialised
    def explain(self) -> str:
        """Usage, limits, what holds the window, and what happens next, in words."""
        moment, config, budget = self._moment(), self._config, self.budget
        how = f"{'counted exactly' if self._counter.exact else 'estimated'} by {self._counter.name}"
        lines = [
            f"{moment.estimated:,} of {config.usable:,} tokens ({self._scheduler.usage(moment):.1f} %), {how}",
            f"locked {budget.locked:,}, preservable {budget.preservable:,}, eligible {budget.eligible:,}",
            self._next_step(moment),
        ]
        if self._state.changes:
            lines.append("system or tool changes wait for the next collection")
        if self._last is not None:
            last = self._last
            lines.append(
                f"last collection ({last.reason.value}): {last.tokens_before:,} to {last.tokens_after:,} tokens"
                f" by {len(last.removals)} removals{'; ' + last.note if last.note else ''}"
            )
        lines.extend(str(failure) for failure in self.plugins.failures)
        return "\n".join(lines)

    @serialised
    def fork(self, directory: str | Path, *, at: int | None = None) -> Self:
        """
        Branch: another session in an empty directory that goes on from here, or from before turn ``at``.

        Both go their own ways; references of one stay true in the other. Raises SourceError when there was no such
        turn, and LogError when the directory is not empty.
        """
        self._fork_to(Path(directory), at)
        branch = self.open(
            directory,
            self._config,
            strategy=[strategy for _, strategy in self._strategies],
            summarizer=self._host.summarizer,
            validator=self._host.validator,
            plugins=self.plugins,
            counter=self._settings.counter,
        )
        for block in self._state.blocks.waiting if at is None else ():
            branch._state.give(block.source, {block.name: block.text})
        return branch

    # -- inside: inconsistent replies ----------------------------------------------------------------------------

    def _validate(self, reply: Payload) -> None:
        """Raise InconsistentReplyError, once the window is as ``recovery_strategy`` wants it, when a plugin says so."""
        found = self.plugins.validate(reply, self.view())
        if not found:
            self._recoveries = 0
            return
        reason = "; ".join(each.reason for each in found)
        how, digest = self._config.recovery_strategy, digest_of_messages(self._context.messages)
        self._recoveries += 1
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

    @serialised
    def rollback_and_repack(self, items: Iterable[str] = (), *, undo_only: bool = False) -> None:
        """
        Go back to the newest checkpoint, or (``undo_only``) undo the last collection, and bring these items back.

        An item that no collection in force took is passed over: it stands there already. Raises LogError when there is
        no checkpoint, or nothing to undo.
        """
        if undo_only:
            if not self.undo():
                raise LogError(f"{self.directory} holds no collection that could be undone")
        else:
            self.rollback()
        for item in dict.fromkeys(items):
            with contextlib.suppress(SourceError):
                self.restore(item)

    # -- inside: collections -------------------------------------------------------------------------------------

    def _sending(self) -> Steps[Request]:
        """The request for the next model call, after the collection that is due."""
        self._prepare()
        return (yield from self._fitting())

    def _fitting(self) -> Steps[Request]:
        """The request after the collection that is due; what waits, a call for its result for instance, goes on so."""
        yield from self._collecting_if_due(self._scheduler.before_send(self._moment()))
        yield from self._making_fit()
        return self._rendered()

    def _turning(self, reply: object, usage: object | None) -> Steps[GCResult | None]:
        """The reply is taken, then what is due is collected."""
        payload = self._plain(self._format.reply(reply))
        self._validate(payload)
        reported = None if usage is None else self._format.usage(usage)
        self._told(self._recorder.take(payload, None, self.plugins.classify))
        if reported is not None and self._raw_sent:
            with self.plugins.guarded("ledger", "usage"):  # the reply is taken; without the report it goes on
                self._recorder.observe(self._raw_sent, reported.input_tokens)
        goal = self._scheduler.after_turn(self._moment(), crossed=self._crossed)
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
        if sizes is None:
            raise error
        sent, allowed = sizes
        if allowed is not None and allowed < self._config.context_limit:
            self._allow(allowed)
        if self._raw_sent:
            # A refusal that names no size says at least that the request was larger than the window.
            self._recorder.observe(self._raw_sent, sent or self._config.context_limit + 1)
        before = self._context
        yield from self._collecting_if_due(self._scheduler.overflow(self._moment()))
        if self._context is before:
            yield from self._last_resort(self._scheduler.overflow(self._moment()).target_tokens)
        yield from self._making_fit()
        if self._context is before:
            raise self._overflow()
        return self._rendered()

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

    def _asked_for(self, target_percent: float | None, focus: str) -> Goal:
        return attrs.evolve(self._scheduler.manual(self._moment(), target_percent), focus=focus)

    def _collecting(self, goal: Goal) -> Steps[GCResult]:
        if goal.reason is GCTriggerReason.TURN_LIMIT:
            self._limited_turn = self._context.cursor.turn
        collected = yield from self._attempting(goal, fit=None)
        result = collected.result
        moment = self._moment()
        note = result.note or f"{result.tokens_freed:,} tokens could go: not worth a break of the prompt cache"
        if self._is_stale(collected):
            note = "the window was changed while a summary was awaited; the next call collects again"
        elif result.changed and self._scheduler.is_worth(moment, result.tokens_freed, goal):
            self._commit(collected)
            return result
        elif goal.reason is GCTriggerReason.THRESHOLD:
            self._waits_above = self._scheduler.next_try(moment)
        deferred = attrs.evolve(
            result, removals=(), summaries=(), tokens_after=result.tokens_before, earliest_change=-1, note=note
        )
        self._tell(CollectionDeferred(result=deferred))
        return deferred

    def _is_stale(self, collected: Collected) -> bool:
        """Whether what was planned may not be done any more, because the host acted while a summary was awaited."""
        if collected.of is not self._context:
            return True
        touched = (*collected.plan.edits.dropped, *collected.plan.edits.texts) if collected.result.summaries else ()
        items = (self._context.find(key) for key in touched)
        return any(item is None or item.pinned or item.policy is GCPolicy.LOCKED for item in items)

    def _making_fit(self) -> Steps[None]:
        """
        The last resort; raises ContextOverflowError when even that does not help. It may be needed twice: what waited
        for a break takes effect with the first, and may be large.
        """
        for _ in range(2 * self._config.auto_trigger):
            if not self._scheduler.fits(self._moment()):
                yield from self._last_resort(self._scheduler.fit(self._moment()))
        if not self._scheduler.fits(self._moment()):
            raise self._overflow()

    def _overflow(self) -> ContextOverflowError:
        back = sum(item.tokens for item in self._context.items() if item.id in self._state.undone)
        hint = f"; {back:,} tokens that undo or restore brought back are pinned until release()" if back else ""
        needed = self._moment().estimated
        return ContextOverflowError(limit=self._config.usable, needed=needed, owners=self._owners(), hint=hint)

    def _last_resort(self, fit: int) -> Steps[None]:
        goal = self._scheduler.overflow(self._moment())
        collected = yield from self._attempting(goal, fit=fit)
        if collected.context is not self._context and collected.result.tokens_after <= fit:
            self._commit(collected)

    def _attempting(self, goal: Goal, *, fit: int | None) -> Steps[Collected]:
        """A collection, and what waited for it, before anything has changed; an error is told and goes on."""
        self._tell(CollectionStarted(goal=goal))
        self.plugins.collection_started(goal)
        with contextlib.ExitStack() as stack:
            stack.push(functools.partial(self._tell_failure, goal))
            ready = self._ahead.ready()
            collected = yield from self._collector.steps(self._context, goal, self._protection, fit=fit, prepared=ready)
            if collected.context is collected.of or collected.of is not self._context:
                return collected
            return attrs.evolve(collected, context=self._state.changed(self._state.changes, collected.context))

    def _tell_failure(self, goal: Goal, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            self._tell(CollectionFailed(goal=goal, error=error))
            self.plugins.collection_failed(goal, error)

    def _commit(self, collected: Collected) -> None:
        """Take the edited window over: the one place where a collection becomes true."""
        self._recorder.commit(collected, collected.context)
        self._ahead.forget()
        self._waits_above = 0
        self._last = collected.result
        _log.info("collected", reason=collected.result.reason.value, freed=collected.result.tokens_freed)
        self._tell(CollectionFinished(result=collected.result))
        self.plugins.collection_finished(collected.result)
        self._tell_budget()

    def _owners(self) -> dict[str, int]:
        """Who holds the tokens: sources, and for the conversation its turns."""
        owners: dict[str, int] = {"overhead of messages": self.budget.overhead}
        for source in self.budget.sources:
            entry = self.budget.entry(source.name)
            for child in entry.children:
                owner = f"{source.name} {child.label}"
                owners[owner] = owners.get(owner, 0) + child.tokens
        return {owner: tokens for owner, tokens in owners.items() if tokens}

    # -- inside: what arrives ------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Before a model call: open calls are closed, waiting blocks stand at the end, the log's place is told."""
        if not self._store.temporary:
            self._tell_directory()
        for taken in self._recorder.prepare():
            self._told(taken)

    def _tell_directory(self) -> None:
        """Once, before the first request, so that no break is needed for it; again where a session was moved."""
        line = {_LOG_PART: _LOG_LINE.format(log=self.directory.absolute() / FILE_NAME)}
        state = self._state
        stands = state.context.system_text(_LOG_PART)
        waits = state.changes.parts.get(_LOG_PART, ("",))[0]
        if line[_LOG_PART] not in {stands, waits}:
            self._recorder.system(line, GCPolicy.LOCKED, now=not state.sent)

    def _told(self, taken: Taken) -> Taken:
        """Tell what arrived; it is logged and in the window."""
        for repair in taken.arrival.repairs:
            _log.warning("message repaired", kind=repair.kind, text=repair.text)
            self._tell(MessageRepaired(kind=repair.kind, text=repair.text))
        if taken.new:
            self._tell_budget()
        return taken

    # -- inside: the rest ----------------------------------------------------------------------------------------

    @property
    def _state(self) -> SessionState:
        return self._recorder.state

    @property
    def _context(self) -> Context:
        return self._state.context

    @property
    def _config(self) -> GCConfig:
        return self._state.config

    @property
    def _counter(self) -> TokenCounter:
        return self._state.counter

    @property
    def _format(self) -> Format:
        return self._state.format

    @property
    def _scheduler(self) -> Scheduler:
        return Scheduler(config=self._config)

    @property
    def _collector(self) -> Collector:
        return Collector(
            plugins=self.plugins,
            strategies=self._strategies,
            counter=self._counter,
            answering=self._answering,
            read=self._original,
            binds_thinking=self._state.binds_thinking,
        )

    def _original(self, item: Item) -> str:
        """The text with which an item arrived, from the log."""
        known = self._store.log.find(int(item.id[1:]))
        return item.text if known is None else text_of(known[1], item.id, self._format)

    def _look_ahead(self) -> None:
        """Summaries that the next collection will want are asked for while there is still room."""
        if self._answering.summarizer is None or self._ahead.busy:
            return
        goal = self._scheduler.ahead(self._moment())
        if goal is not None:
            with self.plugins.guarded("collection", "looking ahead"):
                for removal, request in self._collector.requests(self._context, goal, self._protection):
                    self._ahead.begin(removal, self._begun(request))

    @abc.abstractmethod
    def _begun(self, request: SummaryRequest) -> Coming:
        """Ask for a summary in the background."""

    @abc.abstractmethod
    def _check_summarizer(self, answering: Answering) -> None:
        """Raise ConfigError for a summarizer that this kind of session cannot ask."""

    @property
    def _protection(self) -> Protection:
        return Protection(
            recent_turns=self._config.preserve_recent_turns,
            recent_steps=self._config.preserve_recent_steps,
            pinned_turns=self._state.pinned_turns,
        )

    def _moment(self) -> Moment:
        turns: tuple[int, ...] = ()
        if self._config.max_turns is not None and self._limited_turn != self._context.cursor.turn:
            turns = self._live_turns()
        return Moment(
            tokens=self._context.budget.total,
            calibration=self._state.calibration,
            turn_tokens=turns,
            waits_above=self._waits_above,
        )

    def _live_turns(self) -> tuple[int, ...]:
        """Tokens of model and tools that could go, by turn, for the turns that still have some."""
        tokens: dict[int, int] = {}
        for unit in self.view().units:
            if unit.is_step and not unit.pinned and unit.policy.strength < GCPolicy.PRESERVABLE.strength:
                tokens[unit.turn] = tokens.get(unit.turn, 0) + unit.tokens
        return tuple(tokens[turn] for turn in sorted(tokens))

    def _rendered(self) -> Request:
        request = self._context.render()
        with self.plugins.guarded("ledger", "first request"):
            self._recorder.sent()
        self._raw_sent = request.tokens
        self._streamed, self._crossed = 0, False
        self.plugins.request_rendered(request)
        return request

    def _window_changed(self) -> None:
        self._waits_above, self._raw_sent, self._last, self._limited_turn = 0, 0, None, -1
        self._ahead.forget()
        self._tell_budget()

    def _plain(self, message: object) -> Payload:
        """The message in plain JSON values, as it is logged: without the secrets that plugins know."""
        plain = _plain(message)
        return without_secrets(plain, self.plugins.redact) if self.plugins.redacts else plain

    def _masked(self, texts: Mapping[str, str]) -> dict[str, str]:
        if not self.plugins.redacts:
            return dict(texts)
        return {name: self.plugins.redact(text) if isinstance(text, str) else text for name, text in texts.items()}

    def _next_step(self, moment: Moment) -> str:
        if not self._config.auto_trigger:
            return "collects only when asked"
        if self._waits_above > moment.tokens:
            return f"the last collection was not worth a break; it is tried again above {self._waits_above:,} tokens"
        percent = self._config.target_percent if self._config.continuous else self._config.threshold_percent
        mode = "after each call" if self._config.continuous else "when reached"
        return f"collects at {percent:g} % ({mode}) down to {self._config.target_percent:g} %"

    def _configure(self, config: GCConfig, model: str | None = None) -> None:
        wanted = Configured(
            model=model or self._state.model,
            context_limit=config.context_limit,
            output_reservation=config.output_reservation,
        )
        if wanted != self._state.configured:
            self._recorder.configure(wanted)
        self._waits_above = 0

    def _allow(self, tokens: int) -> None:
        """The provider's own word for the window; where nothing could be reserved in it, nothing is."""
        reservation = self._config.output_reservation if tokens > self._config.output_reservation else 0
        self._configure(attrs.evolve(self._config, context_limit=max(1, tokens), output_reservation=reservation))

    def _set_pin(self, turn: int | None, item: str | None, *, pinned: bool) -> None:
        if (turn is None) == (item is None):
            raise SourceError(f"pin takes a turn or an item; got turn={turn!r}, item={item!r}")
        if turn is not None and (type(turn) is not int or turn < 0):
            raise SourceError(f"turn = {turn!r}: expected a turn's number, counted from 0")
        if item is not None:
            self._resident(item)
        self._recorder.pin(turn, item, pinned=pinned)

    def _resident(self, item: str) -> Item:
        found = self._context.find(item)
        if found is None:
            raise SourceError(f"item {item!r} is not in the window")
        return found

    def _tell_budget(self) -> None:
        self._tell(BudgetUpdated(tokens=self.budget.total, utilisation=self.budget.utilisation))
        self.plugins.budget_updated(self.budget)

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            with self.plugins.guarded("listener", type(event).__name__):
                listener(event)


def _chosen(
    strategy: GCStrategy | str | Iterable[GCStrategy | str] | None, config: GCConfig
) -> tuple[GCStrategy | str, ...]:
    if strategy is None:
        return config.strategy
    if isinstance(strategy, (str, GCStrategy)):
        return (strategy,)
    return tuple(strategy)


def _objects(chosen: Sequence[GCStrategy | str], summarizer: object) -> tuple[str, ...]:
    """Types of what was given as objects: no file holds them."""
    given = (*(each for each in chosen if not isinstance(each, str)), *(() if summarizer is None else (summarizer,)))
    return tuple(type(each).__name__ for each in given)


def _answering(host: _Host, config: GCConfig, plugins: Plugins) -> Answering:
    """Who writes summaries: the host's object, the extract, or what the configuration names."""
    summarizer, name = host.summarizer, config.summarizer
    if summarizer is not None:
        name = type(summarizer).__name__
    elif name not in {EXTRACTIVE, NONE}:
        summarizer = plugins.summarizer(name, options_of(name, config.summarizers))
    return Answering(
        plugins=plugins,
        name=name,
        summarizer=summarizer,
        validator=host.validator or SummaryValidator(),
        seconds=config.summarizer_timeout,
    )


def _with_names(config: GCConfig, chosen: Sequence[GCStrategy | str]) -> GCConfig:
    """Strategies given by name are part of the configuration, as if they stood there."""
    names = tuple(each for each in chosen if isinstance(each, str))
    return attrs.evolve(config, strategy=names) if names and len(names) == len(chosen) else config


def _begun(directory: str | Path | None, format: str) -> Store:  # noqa: A002 - the word users know it by
    store = Store(None if directory is None else Path(directory))
    if store.is_used:
        store.close()
        raise LogError(f"{directory} holds a session already; GCSession.open() goes on with it")
    store.begin(format)
    return store


def _reopened(directory: Path) -> Store:
    if not (directory / FILE_NAME).is_file():
        raise LogError(f"{directory} holds no session: there is no {FILE_NAME}")
    store = Store(directory)
    store.mend()
    return store


def _is_now(refresh: str) -> bool:
    if refresh not in {"break", "now"}:
        raise SourceError(f'refresh = {refresh!r}: expected "break" or "now"')
    return refresh == "now"


def _plain(message: object) -> Payload:
    """A copy in plain JSON values, so that nobody can change it from outside; SDK objects say themselves as dicts."""
    if not isinstance(message, Mapping) and not hasattr(message, "model_dump"):
        raise MessageError(f"expected a message as a dict or an SDK object, got {type(message).__name__}")
    try:
        plain = json.loads(json.dumps(message, default=_as_dict, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise MessageError(f"message is not JSON: {error}") from error
    return plain  # type: ignore[no-any-return]  # JSON of a mapping is a dict


def _as_dict(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        # The SDKs' models hold values that pydantic never validated; its warnings about them say nothing.
        return value.model_dump(mode="json", exclude_none=True, warnings=False)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _check_policy(policy: object, error: type[GCError]) -> None:
    if not isinstance(policy, GCPolicy):
        raise error(f"policy = {policy!r}: expected a GCPolicy")


def _check_texts(texts: Mapping[str, object]) -> None:
    for name, text in texts.items():
        if not isinstance(text, str):
            raise SourceError(f"{name} = {text!r:.200}: expected a text")
