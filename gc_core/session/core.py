"""What a session is but for its loop: how it is opened, and what there is to know of it."""

from __future__ import annotations

import abc
import contextlib
import functools
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import attrs

from gc_core.cache.account import CacheReport
from gc_core.collector.background_summaries import Ahead
from gc_core.collector.request_counts import request_counter_of
from gc_core.collector.scheduler import Moment
from gc_core.collector.scoring import Scoring
from gc_core.collector.summarizing import Answering
from gc_core.errors import (
    ConfigError,
    MessageError,
)
from gc_core.events import (
    Listener,
    ThresholdCrossed,
)
from gc_core.observer import Watch
from gc_core.plugins.manager import Plugins, named
from gc_core.providers import provider_named
from gc_core.providers.cache_terms import terms_of
from gc_core.providers.contract import TokenCounter
from gc_core.providers.model_families import check_model
from gc_core.relevance.needed_again import NeedWatch
from gc_core.relevance.reread_guard import RereadGuard
from gc_core.session.opening import (
    Host,
    answering_of,
    begun,
    checked_config,
    object_type_names,
    profile_of,
    reopened,
    requested_strategies,
    with_strategy_names,
)
from gc_core.session.recall_suggestions import auto_expand
from gc_core.session.subtasks.handoff import Handing
from gc_core.session.timeline import synchronized
from gc_core.storage.ledger import Booked, Opened
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.recorder import Recorder
from gc_core.storage.state import Settings
from gc_core.storage.store import Store
from gc_core.storage.usage_ledger import CallWatch, LedgerAccount, checked
from gc_core.values.config import OFF, GCConfig
from gc_core.values.items import Item
from gc_core.values.loggers import Scope, bound, logger
from gc_core.values.messages import Usage
from gc_core.values.protocols import AsyncSummarizer, GCStrategy, SummarizationValidator, Summarizer
from gc_core.values.results import GCResult, GCTriggerReason, Goal
from gc_core.window.budget import InstructionBudget
from gc_core.window.collection_outcome import CollectionOutcome

_log = logger("gc_core.session")


class SessionBase(Handing):
    """What ``GCSession`` and ``AsyncGCSession`` share; the arguments are ``GCSession``'s."""

    _recalls = True

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
        request_counter: object | None = None,
        on_event: Listener | None = None,
    ) -> None:
        config = checked_config(config)
        check_model(model)
        chosen = requested_strategies(strategy, config)
        config = with_strategy_names(config, chosen)
        objects = object_type_names(chosen, summarizer)
        settings = Settings(
            config=config, format=format, model=model, counter=counter, objects=objects, recalls=self._recalls
        )
        host = Host(
            strategy=chosen,
            summarizer=summarizer,
            validator=validator,
            plugins=plugins,
            on_event=on_event,
            counter=request_counter_of(request_counter),
        )
        self._start(settings, lambda: begun(directory, format), host)

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
        request_counter: object | None = None,
        on_event: Listener | None = None,
    ) -> Self:
        """
        Go on with a session where it was, also after its process was killed: context and budget of the moment before.

        What was acknowledged is there; a line torn by a crash is moved aside and told in the log. Takes as long as the
        window is large. Without ``config`` it is configured as it was; strategies and a summarizer that were given as
        objects, a validator and the counters have to be given again.

        Raises LogError when there is no session, when another one writes to it, and when its files do not fit together;
        ConfigError when it was run with strategies or a summarizer that were given as objects, and none is given now.
        """

        def prepared(recorded: Opened) -> tuple[Settings, Host]:
            settings = Settings.of(recorded, config, counter)
            chosen = requested_strategies(strategy, settings.config)
            if strategy is None and summarizer is None and config is None and settings.objects:
                text = f"the session was run with the objects {list(settings.objects)}"
                raise ConfigError(f"{text}, which no file holds; pass strategy= or summarizer= to open()")
            names, objects = with_strategy_names(settings.config, chosen), object_type_names(chosen, summarizer)
            host = Host(
                strategy=chosen,
                summarizer=summarizer,
                validator=validator,
                plugins=plugins,
                on_event=on_event,
                counter=request_counter_of(request_counter),
            )
            return attrs.evolve(settings, config=names, objects=objects), host

        session = cls._opened(directory, prepared)
        if config is not None:
            session._configure(config)
            for turn in sorted(set(config.pinned_turn_indices) - session._state.pinned_turns):
                session.pin(turn=turn)
        return session

    @classmethod
    def open_idle(cls, directory: str | Path) -> Self:
        """
        Open a session to undo, redo or restore, not to go on with it: no strategy is asked, so those of the session
        need not be installed, and its settings stay as the agent left them. Raises LogError as ``open`` does.
        """

        def prepared(recorded: Opened) -> tuple[Settings, Host]:
            settings = Settings.of(recorded, None, None)
            chosen = requested_strategies("none", settings.config)
            host = Host(strategy=chosen, summarizer=None, validator=None, plugins=None, on_event=None)
            config = with_strategy_names(settings.config, chosen)
            return attrs.evolve(settings, config=config, objects=(), kept=recorded), host

        return cls._opened(directory, prepared)

    @classmethod
    def _opened(cls, directory: str | Path, prepared: Callable[[Opened], tuple[Settings, Host]]) -> Self:
        store = reopened(Path(directory))
        last_used = (Path(directory) / FILE_NAME).stat().st_mtime
        with contextlib.ExitStack() as undo:
            undo.callback(store.close)
            settings, host = prepared(store.settings())
            session = cls.__new__(cls)
            session._start(settings, lambda: store, host)
            with bound(session._scope):
                session._goes_on(last_used)
                if session._state.sent_digest == session._context.digest and not session._state.blocks.given:
                    session._settled = session._standing
            undo.pop_all()
        return session

    def _start(self, settings: Settings, make: Callable[[], Store], host: Host) -> None:
        self._lock = threading.RLock()
        self._closed = False
        self._settings = settings
        self._host = host
        self.plugins = host.plugins or Plugins.discover()
        self.plugins.check_options(settings.config.strategies)
        self._strategies = named(host.strategy, self.plugins, settings.config.strategies)
        self._answering = answering_of(host, settings, self.plugins)
        self._check_summarizer(self._answering)
        self._scoring = Scoring.of(settings.config, self.plugins)
        self._extractor = self.plugins.extractor(settings.config.state_extractor)
        self._profile_choice = profile_of(settings.config, self.plugins)
        self._ahead = Ahead()
        self._listeners: list[Listener] = [] if host.on_event is None else [host.on_event]
        edits, usable = settings.config.at_provider, settings.config.usable
        provider_named(settings.format).server_side.check(edits, settings.format, usable)
        self._settings.fresh(lambda _: {})  # what is wrong with format or counter shows before there are files
        self._indexer = None
        store = make()
        again = store.is_used
        if not store.temporary:
            store.keep_checkpoints(self._checkpoints_in(store.directory))
        fresh = functools.partial(settings.fresh, store.payload, cites=not store.temporary)
        self._recorder = Recorder(store, store.state_at(store.position, fresh))
        self._scope = _scope_of(self._recorder)
        with bound(self._scope):
            self._register_sources()
        self._marks = self._fresh_marks()
        self._calls = CallWatch(terms_of(settings.model, settings.format))
        self._answering = attrs.evolve(self._answering, spent=self._calls.summarized)
        self._account = LedgerAccount(store.ledger, settings.format)
        self._guard = None if settings.config.reread_guard == OFF else RereadGuard()
        self._raw_sent = 0
        self._needs = NeedWatch()
        self._streamed = 0
        self._crossed = False
        self._looks_above = 0
        self._reset_measures()
        self._last: GCResult | None = None
        self._recoveries = 0
        store.opened(settings.record(store.session))
        with bound(self._scope):
            _log.debug(
                "session opened",
                format=self.format,
                model=settings.model,
                strategies=",".join(name for name, _ in self._strategies),
                context_limit_tokens=self._config.context_limit,
                again=again,
            )

    def _register_sources(self) -> None:
        for source in self.plugins.sources():
            with self.plugins.guarded(source.name, "gc_register_sources"):  # it may have been another one before
                self._recorder.register(source)

    # -- the loop, as far as nobody waits ------------------------------------------------------------------------------

    @synchronized
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
            threshold = self._scheduler.threshold_percent
            self._tell(ThresholdCrossed(usage=self._scheduler.usage(moment), threshold=threshold))
        return self._crossed

    @synchronized
    def switch(self, *, model: str | None = None, context_limit: int | None = None) -> None:
        """
        Go on with another model or window; the next ``pre_send`` makes the request fit.

        Raises ConfigError, with nothing changed, for a window that cannot be, and for a model that is no name.
        """
        check_model(model)
        config = self._config
        if context_limit is not None:
            config = attrs.evolve(config, context_limit=context_limit)
            provider_named(self.format).server_side.check(config.at_provider, self.format, config.usable)
        self._configure(config, model or self._state.model)

    @synchronized
    def allow(self, *, max_total_tokens: int | None) -> None:
        """
        Go on with another limit of the input and output tokens that the session may spend in all; None: without one.

        It stays in force when the session is opened again. What was spent stays spent: a limit below that ends the
        session with the next ``pre_send``. Raises ConfigError, with nothing changed, for what is no such number.
        """
        self._configure(attrs.evolve(self._config, max_total_tokens=max_total_tokens))
        self._follow_spend()

    @synchronized
    def close(self) -> None:
        """End the session; a log without a directory is gone then. Further calls raise SessionClosedError."""
        self._ahead.forget()
        self._close_files()
        self._closed = True

    def __enter__(self) -> Self:
        """The session itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it, unless that has been done; a forked child leaves it to its parent."""
        if not self._is_over:
            self.close()

    # -- what there is to know -----------------------------------------------------------------------------------------

    @property
    def config(self) -> GCConfig:
        """How it collects."""
        return self._config

    @property
    def budget(self) -> InstructionBudget:
        """The budget as it stands; read-only."""
        return self._context.budget

    @synchronized
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

    @synchronized
    def items(self) -> tuple[Item, ...]:
        """The resident items."""
        return tuple(self._context.items())

    @synchronized
    def plan(self, *, target_percent: float | None = None, goal: Goal | None = None) -> CollectionOutcome:
        """
        A dry run of ``collect_now``, or of a goal: the plan and what would come of it; nothing changes, and no model is
        asked: summaries in it are extracts. Raises ConfigError for a target that is no percentage, and for what is no
        goal.
        """
        if not isinstance(goal, Goal | None):
            raise ConfigError(f"goal = {goal!r:.200}: expected a Goal")
        goal = goal or self._scheduler.manual(self._moment(), target_percent)
        collector = attrs.evolve(self._collector_for(goal), answering=self._answering.offline)
        return collector.collect(self._context, goal, self._protection)

    @synchronized
    def explain(self) -> str:
        """Usage, limits, what holds the window, and what happens next, in words."""
        moment, config, budget = self._moment(), self._config, self.budget
        how = f"{'counted exactly' if self._counter.exact else 'estimated'} by {self._counter.name}"
        lines = [
            f"{moment.estimated:,} of {config.usable:,} tokens ({self._scheduler.usage(moment):.1f} %), {how}",
            f"locked {budget.locked:,}, preservable {budget.preservable:,}, eligible {budget.eligible:,}",
            self._next_step(moment),
        ]
        if not self.profile.is_neutral:
            lines.append(f"what stays first of long texts: profile {self.profile.name}")
        if self._counted is not None and self._answering.counter is not None:
            own, told = self._counted
            lines.append(f"{self._answering.counter.name} counted {told:,} tokens where own counts said {own:,}")
        lines.extend(self._head_lines())
        lines.extend(self._served_lines())
        lines.extend(self._lease_lines())
        if self.debt:
            lines.append(str(self.debt))
        self._follow_spend()
        lines.extend(filter(None, [self._pace.words()]))
        lines.extend(self._kept_lines())
        if self._last is not None:
            last = self._last
            lines.append(
                f"last collection ({last.reason.value}): {last.tokens_before:,} to {last.tokens_after:,} tokens"
                f" by {len(last.removals)} removals{'; ' + last.note if last.note else ''}"
            )
            if self._weighed and not self._deferred_tokens and last.reason is not GCTriggerReason.CONTEXT_LIMIT:
                lines.append(f"its break of the prompt cache: {self._weighed}")
        with self.plugins.guarded("ledger", "accounts"):  # the rest is known all the same
            lines.extend(self.cache.words())
        lines.extend(str(failure) for failure in self.plugins.failures)
        return "\n".join(lines)

    @property
    @synchronized
    def cache(self) -> CacheReport:
        """
        The accounts with the provider's prompt cache since the session began: hit rate, cost, misses with their causes.

        Read from the ledger as far as nobody has asked yet. Raises LogError when it cannot be read.
        """
        report = self._account.report()
        return attrs.evolve(report, tpm_budget=self._config.tpm_budget, needed_again=self._needs.needed)

    @synchronized
    def book(self, kind: str, usage: object, *, model: str | None = None, estimated: bool = False) -> None:
        """
        Book a call beside the conversation, of a worker for instance: it is part of the cost, and of no hit rate.

        ``kind`` is what reports call it, ``usage`` a provider's report in the session's format, or a ``Usage``.
        Raises MessageError when counts lack or are none, and for a name that is none; LogError when it cannot be
        written.
        """
        if not isinstance(kind, str) or not kind:
            raise MessageError(f"kind = {kind!r:.200}: expected what reports call it")
        counts = checked(usage if isinstance(usage, Usage) else self._format.usage(usage))
        model = model if model is None else self._masked_name(model)
        self._recorder.book(Booked(source=self._masked_name(kind), usage=counts, model=model, estimated=estimated))

    @synchronized
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
            request_counter=self._host.counter,
        )
        for block in self._state.blocks.given if at is None else ():
            branch._state.give(block.source, {block.name: block.text})
        branch._private = self._private
        return branch

    # -- inside --------------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """What is missed comes back with the request, where the configuration says so."""
        if self._config.auto_expand and not self._is_asked_again:
            with self.plugins.guarded("auto_expand", "looking for what is missed"):
                auto_expand(self)
        super()._prepare()

    def _beside(self, directory: str | Path | None, config: GCConfig) -> Self:
        host = self._host
        return type(self)(
            config,
            format=self.format,
            directory=directory,
            model=self._state.model,
            strategy=None if all(isinstance(each, str) for each in host.strategy) else host.strategy,
            summarizer=host.summarizer,
            validator=host.validator,
            plugins=self.plugins,
            counter=self._settings.counter,
            request_counter=self._host.counter,
        )

    def _watched_by(self, watch: Watch) -> None:
        """From now on it sees calls, events, records and summaries."""
        self._watch = self._store.watch = watch
        self._answering = attrs.evolve(self._answering, watch=watch)

    @abc.abstractmethod
    def _check_summarizer(self, answering: Answering) -> None:
        """Raise ConfigError for a summarizer, or a counter of requests, that this kind of session cannot ask."""

    def _next_step(self, moment: Moment) -> str:
        if not self._config.auto_trigger:
            return "collects only when asked"
        if self._kept_at:
            return "collects nothing"
        if self._waits_above > moment.tokens:
            return f"the last collection was not worth a break; it is tried again above {self._waits_above:,} tokens"
        percent = self._scheduler.begins_percent
        mode = "after each call" if self._config.continuous else "when reached"
        young = self._scheduler.young
        served = "" if young is None else f"; what has been served, from {young.tokens:,} tokens on"
        return f"collects at {percent:.4g} % ({mode}) down to {self._scheduler.target_percent:.4g} %{served}"


def _scope_of(recorder: Recorder) -> Scope:
    """Without the session itself, which could not go as soon as nobody has it any more."""
    return Scope(session=recorder.store.session, turn=lambda: recorder.state.context.cursor.turn)
