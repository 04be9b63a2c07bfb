"""The calls that ``GCSession`` and ``AsyncGCSession`` share: those that never wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self, Unpack

import attrs

from gc_core.cache.account import CacheReport
from gc_core.collector.request_counts import request_counter_of
from gc_core.errors import ConfigError, MessageError
from gc_core.events import Listener
from gc_core.plugins.manager import Plugins
from gc_core.providers import provider_named
from gc_core.providers.contract import TokenCounter
from gc_core.providers.fields import in_list
from gc_core.providers.model_families import check_model
from gc_core.relevance.profiles import CompressionProfile
from gc_core.session.core import Asks, SessionCore
from gc_core.session.facts import promotions_of
from gc_core.session.inbox import check_policy
from gc_core.session.opening import (
    Host,
    arranged,
    begun,
    check_counter,
    object_type_names,
    requested_strategies,
    with_strategy_names,
)
from gc_core.session.port import WindowPort
from gc_core.session.runtime import CallGate, synchronized
from gc_core.session.subtasks.lease import Lease
from gc_core.session.window_meter import PendingWork
from gc_core.storage.checkpoints import Checkpoint
from gc_core.storage.contents import Passage
from gc_core.storage.history import HistoryEntry
from gc_core.storage.ledger import Opened
from gc_core.storage.search import Filters, Hit
from gc_core.storage.state import Settings
from gc_core.task.values import TaskState
from gc_core.values.config import GCConfig, checked_config
from gc_core.values.items import Item
from gc_core.values.policy import GCPolicy
from gc_core.values.protocols import AsyncSummarizer, GCStrategy, SummarizationValidator, Summarizer
from gc_core.values.references import check_recall_form
from gc_core.values.results import GCResult, Goal
from gc_core.values.sources import ENRICHMENT, SYSTEM, InstructionSource
from gc_core.values.validators import check_call, check_kind, check_named, check_text, listed, path_of
from gc_core.window.budget import InstructionBudget
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.view import WindowView

if TYPE_CHECKING:
    from gc_core.learning.contract import FactExtractor
    from gc_core.learning.proposals import Proposal
    from gc_core.storage.facts import FactChange, FactStore, Promotion
    from gc_core.values.messages import Request


class SessionFacade:
    """
    The calls that never wait; each passes on to a ``SessionCore``. The arguments are those of ``GCSession``.

    Attributes:
        plugins: The session's plugins; ``plugins.failures`` lists their errors.

    """

    _asks: ClassVar[Asks]
    _recalls: ClassVar[bool] = True
    _core: SessionCore
    _gate: CallGate
    plugins: Plugins

    # -- opening and ending --------------------------------------------------------------------------------------------

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
        host = Host(
            summarizer=summarizer,
            validator=validator,
            plugins=plugins,
            on_event=on_event,
            counter=request_counter_of(request_counter),
        )
        settings, host = arranged(
            config, format=format, model=model, counter=counter, host=host, strategy=strategy, recalls=self._recalls
        )
        self._hold(SessionCore(settings, lambda: begun(directory, format), host, self._asks))

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
        Continue a session where it was, even after its process was killed: with the same context and budget. Everything
        that was acknowledged is there; a line torn by a crash is moved aside and reported in the log. Takes time in
        proportion to the window. Without ``config`` the recorded configuration applies; strategies and a summarizer
        that were given as objects, a validator and the counters must be given again.

        Raises LogError when there is no session, when another process writes to it, or when its files contradict each
        other; ConfigError when it was run with strategies or a summarizer given as objects, and none is given now.
        """
        given = None if config is None else checked_config(config)
        check_counter(counter)

        def prepared(recorded: Opened) -> tuple[Settings, Host]:
            settings = Settings.of(recorded, given, counter)
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

        core = SessionCore.reopen(path_of("directory", directory), prepared, cls._asks)
        if given is not None:
            core.configure(given)
            for turn in sorted(set(given.pinned_turn_indices) - core.runtime.state.pinned_turns):
                with core.gate.call("pin"):
                    core.runtime.recorder.pin(turn, None, pinned=True)
        return cls._of(core)

    @classmethod
    def open_idle(cls, directory: str | Path) -> Self:
        """
        Open a session to undo, redo or restore, but not to continue it: no strategy is called, so its strategies need
        not be installed, and its settings stay as the agent left them. Raises LogError as ``open`` does.
        """

        def prepared(recorded: Opened) -> tuple[Settings, Host]:
            settings = Settings.of(recorded, None, None)
            chosen = requested_strategies("none", settings.config)
            host = Host(strategy=chosen)
            config = attrs.evolve(with_strategy_names(settings.config, chosen), strategies={}, summarizers={})
            return attrs.evolve(settings, config=config, objects=(), kept=recorded), host

        return cls._of(SessionCore.reopen(path_of("directory", directory), prepared, cls._asks))

    @synchronized
    def close(self) -> None:
        """End the session and delete a log without a directory. Further calls raise SessionClosedError."""
        self._core.close()

    def __enter__(self) -> Self:
        """Return the session itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it, unless that has been done, or its files belong to another process or session by now."""
        if not self._gate.is_over:
            self.close()

    # -- the loop, the calls that never wait---------------------------------------------------------------------------

    @synchronized
    def append(self, message: object, *, policy: GCPolicy | None = None) -> tuple[str, ...]:
        """
        Add a message in the provider's own shape (a dict or an SDK object); return the ids of its items.

        ``policy`` sets the policy of its items. Calls that were left without a result get a synthetic one before it; a
        message that no provider would accept is repaired, reported as a ``MessageRepaired`` event, and logged as it
        came. Raises MessageError, naming the field, when the message is malformed; nothing has changed then.
        """
        return self._core.inbox.append(message, policy, listed=bool(self._core.runtime.state.given))

    @synchronized
    def extend(self, messages: Iterable[object], *, policy: GCPolicy | None = None) -> None:
        """
        Add several messages in order. Raises MessageError as ``append`` does, with the message's place in the list, and
        for what is not a list.

        The output of OpenAI's ``responses.compact`` replaces the window as it is: its user messages stay before the
        compaction. A compaction with no user message of this list directly before it is the first in the window.
        """
        if policy is not None:
            check_policy(policy, MessageError)
        given = listed("messages", messages, "messages; append() takes one", error=MessageError)
        with self._core.inbox.one_list():
            for place, message in enumerate(given):
                try:
                    self.append(message, policy=policy)
                except MessageError as error:
                    raise in_list(error, place) from error

    @synchronized
    def on_stream(self, *, text: str = "", usage: object | None = None) -> bool:
        """
        Report what has streamed so far: a piece of text, or the provider's usage report.

        Return whether this call crossed the threshold; the event is emitted at most once per model call. Raises
        MessageError for anything but text or a usage report.
        """
        check_text("text", text, error=MessageError)
        return self._core.stream.follow(text, usage)

    @synchronized
    def beside(
        self,
        messages: Iterable[object],
        *,
        system: str | Iterable[object] | None = None,
        tools: Iterable[object] | None = None,
    ) -> Request | None:
        """
        Return the request for a list that is not a turn of the conversation, such as a client's request for a title or
        for a summary of it: the part that ``sync`` knows is replaced by the window's texts, the rest is unchanged.

        Nothing is taken in or collected. None if the list still does not fit: send it unchanged, or through
        ``compact``. Raises MessageError for what is not a message.
        """
        lists = self._core.lists
        return lists.beside(lists.read(messages, system, tools, marks=False))

    @synchronized
    def report_usage(self, usage: object) -> None:
        """
        Take the usage that the provider reported for the last request, or a ``Usage``, where the reply comes with the
        next list that ``sync`` is given. Raises MessageError for what is not a usage report.
        """
        self._core.reporting(usage)

    @synchronized
    def switch(
        self, *, model: str | None = None, context_limit: int | None = None, recall_form: str | None = None
    ) -> None:
        """
        Continue with another model or window; the next ``pre_send`` makes the request fit. ``recall_form`` is how the
        model calls its recall tool, ``"gc_recall {id}"``: references that are written from now on say so. It is kept by
        this object only.

        Raises ConfigError, with nothing changed, for an invalid window or form, and for a model that is not a name.
        """
        check_model(model)
        if recall_form is not None:
            check_recall_form(recall_form)
        config = self._core.runtime.config
        if context_limit is not None:
            config = attrs.evolve(config, context_limit=context_limit)
            provider_named(self.format).server_side.check(config.at_provider, self.format, config.usable)
        self._core.configure(config, model or self._core.runtime.state.model)
        if recall_form is not None:
            self._core.runtime.state.recall_by(recall_form)

    @synchronized
    def allow(self, *, max_total_tokens: int | None) -> None:
        """
        Set another limit for the input and output tokens that the session may spend in total; None removes it. It stays
        in effect when the session is opened again. What was spent stays spent: a lower limit ends the session with the
        next ``pre_send``. Raises ConfigError, with nothing changed, for an invalid number.
        """
        self._core.configure(attrs.evolve(self._core.runtime.config, max_total_tokens=max_total_tokens))
        self._core.spend.follow()

    def listen(self, listener: Listener) -> None:
        """Call this function with every event from now on. Raises ConfigError for anything but a function."""
        check_call("listener", listener)
        self._core.runtime.events.subscribe(listener)

    @synchronized
    def condense(self, texts: Mapping[str, str | int], *, cap: int | None = None) -> GCResult:
        """
        Replace tool results, given by item id, with notes that name their originals, as one collection.

        A text is the note, as the host or a model wrote it; it is escaped. A number is the size in tokens to which the
        result is cut, keeping its important lines. With ``cap`` all of them together have at most this many tokens, or
        as few as references take: the longest are cut to a common length. The original stays in the log: ``recall``,
        ``undo`` and ``restore`` bring it back.

        Meant for results that have not been sent: then nothing of the prompt cache is lost, and the provider never sees
        the original. For others the result's ``note`` says where the cache breaks. A result is left as it is when it is
        pinned, not EPHEMERAL or a stub, when it waits for the result of another call of its reply, or when its note
        would not be smaller: the result's ``refusals`` say so.

        Raises SourceError, with nothing changed, for an id that is not a tool result of the window and for anything
        that is neither a text nor a number; RuleError when the request would break a provider's rule.
        """
        return self._core.condenser.condense(texts, cap=cap)

    @synchronized
    def history_at_provider(self, where: str) -> None:
        """
        Declare that the provider stores the history, in your own words ("conversation conv_1"); an empty text revokes
        it. A reply of Responses with ``previous_response_id`` or ``conversation`` declares it by itself.

        From then on the session collects nothing, because the provider would still read what was removed here. Instead
        it says so in ``explain()``, and with a ``CollectionDeferred`` event whenever a collection would be due. Raises
        SourceError for anything but text.
        """
        check_text("where", where)
        self._core.provider.kept_at = where

    @synchronized
    def provider_edits(self, context_management: Mapping[str, Any]) -> None:
        """
        Declare the ``context_management`` that you send to Anthropic, so that the tools it excludes count in full.

        Without it the oldest results are assumed to be those that the provider cleared. Kept by this object only.
        Raises SourceError when it is invalid.
        """
        check_kind("context_management", context_management, Mapping, "the object that you send")
        self._core.provider.set_edits(context_management)

    # -- settings ---------------------------------------------------------------------------------------------------

    @synchronized
    def system(
        self,
        /,
        *unnamed: Never,
        source: str = SYSTEM.name,
        policy: GCPolicy | attrs.NothingType = attrs.NOTHING,
        refresh: str = "break",
        **parts: str,
    ) -> None:
        """
        Set named parts of the system text; an empty text removes a part, and setting the same text again changes
        nothing.

        ``source`` names their owner: one that you registered, or one of the built-in ``"org"``, ``"team"`` and
        ``"user"``. Parts are ordered by their sources' layers, then as they were first set. ``policy`` is the source's
        own by default.

        Before the first request this takes effect at once; later it would break the prompt cache, so it waits for the
        next collection unless ``refresh="now"``. A ``LayerChanged`` event says what it invalidates. A text that looks
        as if it will differ with every request is reported as a ``VolatileLayer`` event.

        Raises SourceError, with nothing changed, for an invalid text or policy, an unknown source, a text over the
        source's cap, and a shared layer that contains ``private`` text.
        """
        check_named("system", unnamed, 'system(base="You fix bugs.")')
        self._core.head.system(source, policy, refresh, parts)

    @synchronized
    def tools(self, schemas: Iterable[object], *, discoverable: Iterable[str] = (), refresh: str = "break") -> None:
        """
        Set all tool schemas. Core ones are LOCKED; the ``discoverable`` ones, by name, are EPHEMERAL.

        Takes effect as ``system`` does, and is a shared layer. The same schemas in another order change nothing: the
        order that was sent stays. Raises SourceError, with nothing changed, for a duplicate name, a discoverable name
        without a schema, and a schema that contains ``private`` text.
        """
        self._core.head.tools(schemas, discoverable, refresh)

    @synchronized
    def private(self, /, *unnamed: Never, **values: str) -> None:
        """
        Declare texts that belong to a user or to this session, under a name of your own: ``private(user="ada@x.org")``.

        No layer below that of ``"user"``, and no tool schema, may contain one of them, the session's id or its
        directory: other sessions share these layers. They are matched as whole words, ignoring case; an empty text
        removes a name. They are not stored: declare them again after opening a session.

        Raises SourceError, naming part, layer and name but never the text, when one is already in use or waiting; also
        for texts of fewer than three letters, which cannot be matched. Nothing is declared then.
        """
        check_named("private", unnamed, 'private(user="ada@x.org")')
        self._core.head.declare_private(values)

    @synchronized
    def enrich(self, /, *unnamed: Never, **texts: str) -> None:
        """
        Set named enrichment: text that is produced again every turn. It is placed at the end of the next request and
        stays there as sent; the next version of the same name goes to the new end, and the old one may be collected.

        A version that has not been sent yet, for example because ``pre_send`` raised, is replaced by the next one; an
        empty text removes it. A version that would not fit in any case is shortened or left out, and reported like a
        collection. Raises SourceError for anything but text, and for texts over a cap.
        """
        check_named("enrich", unnamed, 'enrich(clock="It is Friday.")')
        self._core.inbox.give(ENRICHMENT.name, texts)

    @synchronized
    def memory(self, source: str, /, *unnamed: Never, **blocks: str) -> None:
        """
        Set named memory blocks of a registered source; they are placed, replaced and removed like enrichment. Blocks of
        a LOCKED source are not shortened: ``pre_send`` raises ContextOverflowError while they do not fit.
        """
        check_named("memory", unnamed, 'memory("team", style="Two spaces.")')
        self._core.inbox.give(source, blocks)

    @synchronized
    def register_source(self, source: InstructionSource) -> None:
        """
        Add a source of instructions. Raises SourceError when its name is taken or reserved, and for anything that is
        not a source.
        """
        self._core.inbox.register_source(source)

    @synchronized
    def pin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """
        Protect a turn (by number, counted from 0) or a resident item (by id) from every action. Raises SourceError for
        anything else, and for a turn that has not begun: ``GCConfig.pinned_turn_indices`` names those in advance.
        """
        self._core.inbox.set_pin(turn, item, pinned=True)

    @synchronized
    def unpin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """Remove a pin. Raises SourceError as ``pin`` does."""
        self._core.inbox.set_pin(turn, item, pinned=False)

    @synchronized
    def set_policy(self, item: str, policy: GCPolicy) -> None:
        """Change the policy of a resident item. Raises SourceError when it is not resident."""
        self._core.inbox.set_policy(item, policy)

    @property
    def objective(self) -> str:
        """
        The agent's objective: the one you set, otherwise the original request with every later message that changes the
        task.

        Strategies weigh the window's content by it. It changes when you set it, and when a user message has few names
        in common with it. "" returns to the user's words. Raises SourceError for anything but text.
        """
        return self._core.runtime.state.objective.text

    @objective.setter
    def objective(self, text: str) -> None:
        with self._gate.call("_aim"):
            self._core.inbox.set_objective(text)

    # -- inspection -----------------------------------------------------------------------------------------

    @property
    def config(self) -> GCConfig:
        """The configuration."""
        return self._core.runtime.config

    @property
    def format(self) -> str:
        """The name of the provider's message shape, for example ``"openai"``."""
        return self._core.runtime.format.name

    @property
    def directory(self) -> Path:
        """The directory of the session's files; a temporary one is deleted with the session."""
        return self._core.runtime.directory

    @property
    def budget(self) -> InstructionBudget:
        """The current budget; read-only."""
        return self._core.runtime.context.budget

    @synchronized
    def snapshot(self) -> dict[str, Any]:
        """
        Return the current budget as plain JSON: limits, roll-ups and the whole tree.

        For other threads, such as a panel's: ``budget`` may change while they read it.
        """
        return self._core.runtime.context.budget.snapshot()

    @property
    def last_result(self) -> GCResult | None:
        """The last collection that changed something, or None."""
        return self._core.collections.last_result

    @synchronized
    def items(self) -> tuple[Item, ...]:
        """Return the resident items."""
        return tuple(self._core.runtime.context.items())

    @synchronized
    def view(self) -> WindowView:
        """Return the window as a strategy sees it."""
        return self._core.collections.view()

    @synchronized
    def plan(self, *, target_percent: float | None = None, goal: Goal | None = None) -> CollectionOutcome:
        """
        Return a dry run of ``collect_now``, or of a goal: the plan and its result. Nothing changes, and no model is
        asked: summaries in it are extracts. Raises ConfigError for an invalid target or goal.
        """
        if not isinstance(goal, Goal | None):
            raise ConfigError(f"goal = {goal!r:.200}: expected a Goal")
        collections = self._core.collections
        return collections.plan(goal or collections.manual_goal(target_percent, ""))

    @synchronized
    def explain(self) -> str:
        """Describe usage, limits, what occupies the window, and what happens next."""
        from gc_core.session.explain import explain

        return explain(self._core)

    @property
    @synchronized
    def cache(self) -> CacheReport:
        """
        The use of the provider's prompt cache since the session began: hit rate, cost, misses with their causes.

        Reads from the ledger what is new since the last call. Raises LogError when it cannot be read.
        """
        return self._core.cache_report()

    @property
    @synchronized
    def debt(self) -> PendingWork:
        """Removals that are due and wait for more removals, for a break that happens anyway, or for a cold cache."""
        return self._core.meter.debt

    @property
    @synchronized
    def profile(self) -> CompressionProfile:
        """
        The compression profile, which decides what is important when texts are shortened.

        For "auto" it is chosen once, from the first steps in the log; until then the general profile applies.
        """
        return self._core.archive.profile

    @property
    @synchronized
    def state(self) -> TaskState:
        """
        The task state found in everything said so far: demands, decisions, questions, files, errors, plans.

        Found in the log by the configured ``state_extractor``; O(history) the first time, then O(what is new), also
        after opening a session again. Raises LogError when the log cannot be read.
        """
        return self._core.task.reader.look()

    @synchronized
    def book(self, kind: str, usage: object, *, model: str | None = None, estimated: bool = False) -> None:
        """
        Record a call outside the conversation, for example of a worker: it counts as cost, but not in the hit rate.

        ``kind`` is the name that reports use, ``usage`` a provider's report in the session's format, or a ``Usage``.
        Raises MessageError for missing or invalid counts and for an invalid name; LogError when it cannot be written.
        """
        self._core.spend.book(kind, usage, model=model, estimated=estimated)

    # -- looking back --------------------------------------------------------------------------------------------------

    @synchronized
    def recall(self, item: str) -> str:
        """
        Return the original text of an item as it arrived, whether it is resident or not, also from an earlier life of
        the session. Takes an id (``i42``), a range of ids (``i5-i20``), a byte range (``master.jsonl:123-456``), or the
        whole text of a stub or trace that names one. A range is returned item by item, and whole however long it is:
        ``contents`` names its parts. In a session that was handed
        off, ``i42@5f3a9c`` is an item of an earlier one. Raises SourceError for an id that was never given, LogError
        when there is no line at the bytes.
        """
        return self._core.handoffs.recall(item)

    @synchronized
    def contents(self, reference: str) -> tuple[Passage, ...]:
        """
        Return the parts of what a long reference names, at most 20: each with its own reference, so that one can
        be recalled instead of all. Takes what ``recall`` takes, and raises what it raises.
        """
        return self._core.handoffs.contents(reference)

    @synchronized
    def search(self, query: str, **filters: Unpack[Filters]) -> tuple[Hit, ...]:
        """
        Search everything that was ever said; return at most ``limit`` (10) hits, best first: see
        ``SearchIndex.search``.

        Filters: tool, role, first_turn, last_turn, since, until (seconds since 1970), entity. For finished sessions see
            ``gc_core.search_sessions``.
        """
        return self._core.history.search(query, **filters)

    @synchronized
    def history(self) -> tuple[HistoryEntry, ...]:
        """Return the changes of the window, oldest first; reads the whole ledger."""
        return self._core.history.entries()

    # -- memory across sessions ----------------------------------------------------------------------------------------

    @synchronized
    def promote(self, facts: FactStore, promotions: Iterable[Promotion]) -> tuple[FactChange, ...]:
        """
        Store facts, decisions and constraints for later sessions, each with the item of this one that states it; call
        it before ``close``. Stores all or none. Raises SourceError when an item was never logged, LogError when one
        names a fact that does not exist any more, or when they cannot be written.
        """
        return self._core.facts.promote(facts, promotions)

    @synchronized
    def propose(self, facts: FactStore, extractor: FactExtractor | None = None) -> tuple[Proposal, ...]:
        """
        Propose facts that this session's users stated and that are worth keeping, compared with the known ones:
        additions, updates, deletions, and those left as they are. Nothing is written: pass what you confirm to
        ``accept``.

        Reads the whole log. A fact that was accepted before, or that is newer than the statement, is not proposed
        again; one that you ignored is. Raises LogError when the log cannot be read, SourceError when the extractor
        names an item that is not a user's.

        Args:
            facts: The known facts; read them again with ``FactStore(path)`` if another session may have stored some.
            extractor: Finds the statements, for example with a model; by default ``WordedExtractor``.

        """
        return self._core.facts.propose(facts, extractor)

    @synchronized
    def accept(self, facts: FactStore, proposals: Iterable[Proposal]) -> tuple[FactChange, ...]:
        """
        Store what ``propose`` proposed, as ``promote`` does: all or none, in order.

        Raises LogError, with nothing written, when another session has changed one of the facts meanwhile; propose
        again then.
        """
        return self.promote(facts, promotions_of(proposals))

    @synchronized
    def load_facts(self, facts: FactStore, *, cap: int = 1_000) -> None:
        """
        Place what earlier sessions stored at the end of the next request, as the memory block ``known`` of the source
        ``facts``, in at most ``cap`` tokens. What does not fit is counted; facts related to the objective, if there is
        one, and the newest are kept. Raises SourceError for a cap other than the first.
        """
        self._core.facts.load(facts, cap)

    # -- undoing and going back ----------------------------------------------------------------------------------------

    @synchronized
    def undo(self) -> bool:
        """
        Undo the last collection (or restored item); return False when there is none.

        The removed content returns to its place, checked by its digest, and is pinned until ``release``. Its size is
        not checked here: if the window is too large then, a warning is logged and ``session.budget`` says by how much.
        The next ``pre_send`` collects other content, and raises ContextOverflowError if that does not suffice. Raises
        LogError, with nothing changed, when the files do not hold the content.
        """
        return self._core.timeline.undo()

    @synchronized
    def redo(self) -> bool:
        """
        Redo the last undo; return False when there is nothing to redo, or something was collected since. Raises
        SourceError for content that the host has pinned or LOCKED meanwhile.
        """
        return self._core.timeline.redo()

    @synchronized
    def restore(self, item: str) -> None:
        """
        Bring one collected item back to its place, with the rest of its unit; pinned until ``release``. Raises
        SourceError when no collection in effect removed it, and RuleError when the request would not be valid with it.
        """
        self._core.timeline.restore(item)

    @synchronized
    def release(self) -> None:
        """Allow what ``undo`` and ``restore`` brought back to be collected again."""
        self._core.timeline.release()

    @synchronized
    def rewind(self, turn: int) -> None:
        """
        Go back to the start of a turn (counted from 0). The log keeps what came since, and a record marks it.

        Ids continue: none is given twice. Raises SourceError when there was no such turn.
        """
        self._core.timeline.rewind(turn)

    @synchronized
    def checkpoint(self) -> Checkpoint:
        """Write a checkpoint to go back to. Raises LogError when it cannot be written."""
        return self._core.timeline.checkpoint()

    @synchronized
    def rollback(self, checkpoint: Checkpoint | None = None) -> Checkpoint:
        """
        Go back to a checkpoint, by default the newest. Raises LogError when there is none, when it was itself rewound,
        when the messages differ from those of then, and for anything that is not a checkpoint.
        """
        return self._core.timeline.rollback(checkpoint)

    @synchronized
    def rollback_and_repack(self, items: Iterable[str] = (), *, undo_only: bool = False) -> None:
        """
        Go back to the newest checkpoint and append again every message that came since; or (``undo_only``) undo the
        last collection. Then bring these items back, as far as they fit.

        An item that no collection in effect removed is skipped: it is resident. If the undone collection would not fit,
        only these items come back, or, without any, as much as fits. Nothing is collected while the request fits, until
        a consistent reply. Raises LogError, with nothing changed, when there is no checkpoint, nothing to undo, or,
        with ``auto_trigger`` off, no room.
        """
        self._core.replies.rollback_and_repack(items, undo_only=undo_only)

    @synchronized
    def fork(self, directory: str | Path, *, at: int | None = None) -> Self:
        """
        Branch: another session in an empty directory that continues from here, or from the start of turn ``at``.

        The two are independent; references of one stay valid in the other. Raises SourceError when there was no such
        turn, and LogError when the directory is not empty.
        """
        core = self._core
        with self._gate.call("_fork_to"):
            core.timeline.branch(path_of("directory", directory), at)
        branch = self.open(
            directory,
            core.runtime.config,
            strategy=[strategy for _, strategy in core.meter.declared.strategies],
            summarizer=core.host.summarizer,
            validator=core.host.validator,
            plugins=self.plugins,
            counter=core.runtime.settings.counter,
            request_counter=core.host.counter,
        )
        branch._core.continue_from(core, with_blocks=at is None)  # noqa: SLF001 - another session of this class
        return branch

    # -- sub-tasks -----------------------------------------------------------------------------------------------------

    @property
    @synchronized
    def leases(self) -> tuple[Lease, ...]:
        """Everything that reserves tokens now, oldest first: open leases, and delivered ones whose note waits."""
        return self._core.leases.held

    def lease(self, tokens: int, *, name: str, wait: float = 0.0) -> Lease:
        """
        Reserve this many tokens of the window for the result of a sub-task.

        The request and all leases together never exceed what a request may have: leased tokens count as used, so
        collections begin earlier. With ``wait`` it waits up to this many seconds, in the order of the callers;
        ``AsyncGCSession.awaited_lease`` does so in an event loop.

        Neither starts a collection, which would change the next request and may ask a model: a release makes room, or a
        collection of another call. Where the request alone leaves too little, call ``collect_now``.

        Raises LeaseError, naming the tokens requested, leased (by name) and free, when they do not fit, and for an
        invalid name or number. Raises SessionClosedError.
        """
        return self._core.leases.lease(tokens, name=name, wait=wait)

    def hand_back(self, result: object) -> tuple[str, ...]:
        """
        Give the result of a session that was handed off to its parent, as one note; return the ids of its items there.
        See ``Lease.deliver``.

        Raises LeaseError when no parent waits for a result, or it was delivered before; SessionClosedError when the
        parent was closed.
        """
        return self._core.handoffs.hand_back(result)

    # -- inside --------------------------------------------------------------------------------------------------------

    @property
    def port(self) -> WindowPort:
        """Access for integrations: to read the window, to count, to observe."""
        return WindowPort(self._core)

    @classmethod
    def _of(cls, core: SessionCore) -> Self:
        """Return a session of this class around an opened core."""
        session = cls.__new__(cls)
        cls._hold(session, core)
        return session

    def _hold(self, core: SessionCore) -> None:
        self._core, self._gate, self.plugins = core, core.gate, core.runtime.plugins
