"""What ``GCSession`` and ``AsyncGCSession`` share: the calls that wait for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import attrs

from gc_core.cache.account import CacheReport
from gc_core.collector.request_counts import request_counter_of
from gc_core.errors import ConfigError
from gc_core.events import Listener
from gc_core.plugins.manager import Plugins
from gc_core.providers import provider_named
from gc_core.providers.contract import TokenCounter
from gc_core.providers.model_families import check_model
from gc_core.relevance.profiles import CompressionProfile
from gc_core.session.core import Asks, SessionCore
from gc_core.session.explain import explain
from gc_core.session.history import HistoryEntry
from gc_core.session.opening import (
    Host,
    arranged,
    begun,
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
from gc_core.storage.facts import FactChange, FactStore, Promotion
from gc_core.storage.ledger import Opened
from gc_core.storage.search import Filters, Hit
from gc_core.storage.state import Settings
from gc_core.task.values import TaskState
from gc_core.values.config import GCConfig
from gc_core.values.items import Item
from gc_core.values.policy import GCPolicy
from gc_core.values.protocols import AsyncSummarizer, GCStrategy, SummarizationValidator, Summarizer
from gc_core.values.results import GCResult, Goal
from gc_core.values.sources import ENRICHMENT, SYSTEM, InstructionSource
from gc_core.window.budget import InstructionBudget
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.view import WindowView

if TYPE_CHECKING:
    from gc_core.learning.contract import FactExtractor
    from gc_core.learning.proposals import Proposal


class SessionFacade:
    """
    The calls that wait for nothing; each is one line for a ``SessionCore``. The arguments are ``GCSession``'s.

    Attributes:
        plugins: The session's; ``plugins.failures`` holds what went wrong in them.

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
        Go on with a session where it was, also after its process was killed: context and budget of the moment before.

        What was acknowledged is there; a line torn by a crash is moved aside and told in the log. Takes as long as the
        window is large. Without ``config`` it is configured as it was; strategies and a summarizer that were given as
        objects, a validator and the counters must be given again.

        Raises LogError when there is not a session, when another one writes to it, and when its files do not fit
        together; ConfigError when it was run with strategies or a summarizer that were given as objects, and none is
        given now.
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

        core = SessionCore.reopen(Path(directory), prepared, cls._asks)
        if config is not None:
            core.configure(config)
            for turn in sorted(set(config.pinned_turn_indices) - core.runtime.state.pinned_turns):
                with core.gate.call("pin"):
                    core.inbox.set_pin(turn, None, pinned=True)
        return cls._of(core)

    @classmethod
    def open_idle(cls, directory: str | Path) -> Self:
        """
        Open a session to undo, redo or restore, not to go on with it: no strategy is asked, so those of the session
        need not be installed, and its settings stay as the agent left them. Raises LogError as ``open`` does.
        """

        def prepared(recorded: Opened) -> tuple[Settings, Host]:
            settings = Settings.of(recorded, None, None)
            chosen = requested_strategies("none", settings.config)
            host = Host(strategy=chosen)
            config = with_strategy_names(settings.config, chosen)
            return attrs.evolve(settings, config=config, objects=(), kept=recorded), host

        return cls._of(SessionCore.reopen(Path(directory), prepared, cls._asks))

    @synchronized
    def close(self) -> None:
        """End the session; a log without a directory is gone then. Further calls raise SessionClosedError."""
        self._core.close()

    def __enter__(self) -> Self:
        """Return the session itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it, unless that has been done, or its files belong to another process or session by now."""
        if not self._gate.is_over:
            self.close()

    # -- the loop, as far as no one waits ------------------------------------------------------------------------------

    @synchronized
    def append(self, message: object, *, policy: GCPolicy | None = None) -> tuple[str, ...]:
        """
        Add a message in the provider's own shape (a dict or an SDK object); returns the ids of its items.

        ``policy`` is your own word for how strongly it is held. Calls that were left without a result get a synthetic
        one before it; what no provider would accept is mended, told as a ``MessageRepaired`` event, and logged as it
        came. Raises MessageError, naming the field, when the message is malformed; nothing has changed then.
        """
        return self._core.inbox.append(message, policy)

    @synchronized
    def extend(self, messages: Iterable[object], *, policy: GCPolicy | None = None) -> None:
        """Add several messages, one after the other."""
        for message in messages:
            self.append(message, policy=policy)

    @synchronized
    def on_stream(self, *, text: str = "", usage: object | None = None) -> bool:
        """
        Tell what has streamed so far: a piece of text, or the provider's usage report.

        Returns whether the threshold has been crossed in this call; the event comes at most once a model call.
        """
        return self._core.stream.follow(text, usage)

    @synchronized
    def report_usage(self, usage: object) -> None:
        """
        Take the usage that the provider reported for the last request, where the reply comes with the next list that
        ``sync`` is given. Raises MessageError for what is no usage report.
        """
        self._core.reporting(usage)

    @synchronized
    def switch(self, *, model: str | None = None, context_limit: int | None = None) -> None:
        """
        Go on with another model or window; the next ``pre_send`` makes the request fit.

        Raises ConfigError, with nothing changed, for a window that cannot be, and for a model that is not a name.
        """
        check_model(model)
        config = self._core.runtime.config
        if context_limit is not None:
            config = attrs.evolve(config, context_limit=context_limit)
            provider_named(self.format).server_side.check(config.at_provider, self.format, config.usable)
        self._core.configure(config, model or self._core.runtime.state.model)

    @synchronized
    def allow(self, *, max_total_tokens: int | None) -> None:
        """
        Go on with another limit of the input and output tokens that the session may spend in all; None: without one.

        It stays in effect when the session is opened again. What was spent stays spent: a limit below that ends the
        session with the next ``pre_send``. Raises ConfigError, with nothing changed, for what is no such number.
        """
        self._core.configure(attrs.evolve(self._core.runtime.config, max_total_tokens=max_total_tokens))
        self._core.spend.follow()

    def listen(self, listener: Listener) -> None:
        """Call this with every event from now on."""
        self._core.runtime.events.subscribe(listener)

    @synchronized
    def condense(self, texts: Mapping[str, str | int], *, cap: int | None = None) -> GCResult:
        """
        Put a note with its reference in the place of tool results, by item id, as one collection.

        A text is the note, as the host or a model wrote it; it is escaped. A number says to how many tokens the result
        is cut, to what is alive in it. With ``cap`` all of them together have at most this many tokens, or as few as
        references take: the longest ones are cut to a common length. The original stays in the log: ``recall``,
        ``undo`` and ``restore`` bring it back.

        Meant for results that have not been sent: nothing of the prompt cache is lost then, and the provider never
        sees the original. For others the result's ``note`` says where the cache breaks. Nothing is taken that is
        pinned or not EPHEMERAL, that waits for the result of another call of its reply, that is a stub, or whose note
        would not be smaller: the result's ``refusals`` say so.

        Raises SourceError, with nothing changed, for an id that is no tool result of the window and for what is neither
        a text nor a number; RuleError when the request would break a provider's rule.
        """
        return self._core.condenser.condense(texts, cap=cap)

    @synchronized
    def history_at_provider(self, where: str) -> None:
        """
        Tell that the provider keeps the history, in your own words ("conversation conv_1"); an empty text takes it
        back. A reply of Responses with ``previous_response_id`` or ``conversation`` tells it by itself.

        From then on the session collects nothing: what it took out of its own request would still be read there. It
        says so instead, in ``explain()`` and by a ``CollectionDeferred`` event whenever a collection would be due.
        """
        self._core.provider.kept_at = where

    @synchronized
    def provider_edits(self, context_management: Mapping[str, Any]) -> None:
        """
        Tell the ``context_management`` that you send to Anthropic, so that the tools that it excludes count in full.

        Without it the oldest results are taken for those that the provider cleared. Remembered by this object alone.
        Raises SourceError when it is none.
        """
        self._core.provider.set_edits(context_management)

    # -- what is set ---------------------------------------------------------------------------------------------------

    @synchronized
    def system(
        self,
        /,
        *,
        source: str = SYSTEM.name,
        policy: GCPolicy | attrs.NothingType = attrs.NOTHING,
        refresh: str = "break",
        **parts: str,
    ) -> None:
        """
        Set named parts of the system text; an empty text removes one, and one that stands already changes nothing.

        ``source`` says whose they are: one that you registered, or ``"org"``, ``"team"``, ``"user"``, which are ready
        made. Parts stand in the order of their sources' layers, then in that in which they were given. ``policy`` is
        the source's own unless you say otherwise.

        Before the first request this takes effect at once; later it would break the prompt cache, so it waits for the
        next collection, unless ``refresh="now"``; a ``LayerChanged`` event says what it invalidates. A text that looks
        as if it were another one with every request is told as a ``VolatileLayer`` event.

        Raises SourceError, with nothing changed, for what is not a text or no policy, for an unknown source, for more
        than its cap, and for a shared layer that holds what is ``private``.
        """
        self._core.head.system(source, policy, refresh, parts)

    @synchronized
    def tools(self, schemas: Iterable[object], *, discoverable: Iterable[str] = (), refresh: str = "break") -> None:
        """
        Set all tool schemas. Core ones are LOCKED; the ``discoverable`` ones, by name, are EPHEMERAL.

        Takes effect as ``system`` does, and is a shared layer. The same schemas in another order change nothing: the
        order that was sent stands. Raises SourceError, with nothing changed, for a name twice, for a discoverable one
        without a schema, and for a schema that holds what is ``private``.
        """
        self._core.head.tools(schemas, discoverable, refresh)

    @synchronized
    def private(self, /, **values: str) -> None:
        """
        Declare texts that belong to a user or to this session, by a name of your own: ``private(user="ada@x.org")``.

        No layer below that of ``"user"``, and no tool schema, may hold one of them, the session's id or its directory:
        other sessions share these layers. They are looked for as whole words, whatever their case; an empty text takes
        a name back. No file holds them: tell them again when a session is opened again.

        Raises SourceError, naming part, layer and name but never the text, when one stands there or waits; what is less
        than three letters long cannot be looked for. Nothing is declared then.
        """
        self._core.head.declare_private(values)

    @synchronized
    def enrich(self, /, **texts: str) -> None:
        """
        Give named enrichment: text that is made again every turn. It stands at the end of the next request and stays
        there as sent; the next version of the same name goes to the new end, and the old one may be collected.

        A version that has not been sent yet, because ``pre_send`` raised for instance, is replaced by the next one; an
        empty text takes it back. What would not fit whatever left is shortened, or left out, as every collection is
        reported. Raises SourceError for what is not a text, and for more than a cap.
        """
        self._core.inbox.give(ENRICHMENT.name, texts)

    @synchronized
    def memory(self, source: str, /, **blocks: str) -> None:
        """
        Give named memory blocks of a registered source; they are placed, replaced and taken back as enrichment is. Of a
        LOCKED source they are not shortened: ``pre_send`` raises ContextOverflowError while they do not fit.
        """
        self._core.inbox.give(source, blocks)

    @synchronized
    def register_source(self, source: InstructionSource) -> None:
        """
        Add a source of instructions. Raises SourceError when the name is taken by another one, or reserved, and for
        what is no source.
        """
        self._core.inbox.register_source(source)

    @synchronized
    def pin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """
        Hold a turn (by number, counted from 0) or a resident item (by id) against every action. Raises SourceError for
        what is neither.
        """
        self._core.inbox.set_pin(turn, item, pinned=True)

    @synchronized
    def unpin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """Release a pin. Raises SourceError as ``pin`` does."""
        self._core.inbox.set_pin(turn, item, pinned=False)

    @synchronized
    def set_policy(self, item: str, policy: GCPolicy) -> None:
        """Change how strongly a resident item is held. Raises SourceError when it is not resident."""
        self._core.inbox.set_policy(item, policy)

    @property
    def objective(self) -> str:
        """
        What the agent is after: what you set, else the original request with every later message that changes the task.

        Strategies weigh what is in the window by it. It has become another one when you set it, and when a user message
        shares few names with it. "" gives it back to the user's words. Raises SourceError for what is not a text.
        """
        return self._core.runtime.state.objective.text

    @objective.setter
    def objective(self, text: str) -> None:
        with self._gate.call("_aim"):
            self._core.inbox.set_objective(text)

    # -- what there is to know -----------------------------------------------------------------------------------------

    @property
    def config(self) -> GCConfig:
        """How it collects."""
        return self._core.runtime.config

    @property
    def format(self) -> str:
        """Name of the provider's message shape, ``"openai"`` for instance."""
        return self._core.runtime.format.name

    @property
    def directory(self) -> Path:
        """Where the session's files lie; a temporary one ends with the session."""
        return self._core.runtime.directory

    @property
    def budget(self) -> InstructionBudget:
        """The budget as it is; read-only."""
        return self._core.runtime.context.budget

    @synchronized
    def snapshot(self) -> dict[str, Any]:
        """
        Return the budget at one moment as plain JSON: limits, roll-ups and the whole tree.

        For another thread, a panel's for instance: ``budget`` may change while that one reads it.
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
        Return a dry run of ``collect_now``, or of a goal: the plan and what would come of it; nothing changes, and no
        model is asked: summaries in it are extracts. Raises ConfigError for a target that is not a percentage, and for
        what is no goal.
        """
        if not isinstance(goal, Goal | None):
            raise ConfigError(f"goal = {goal!r:.200}: expected a Goal")
        collections = self._core.collections
        return collections.plan(goal or collections.manual_goal(target_percent, ""))

    @synchronized
    def explain(self) -> str:
        """Usage, limits, what holds the window, and what happens next, in words."""
        return explain(self._core)

    @property
    @synchronized
    def cache(self) -> CacheReport:
        """
        The accounts with the provider's prompt cache since the session began: hit rate, cost, misses with their causes.

        Read from the ledger as far as no one has asked yet. Raises LogError when it cannot be read.
        """
        return self._core.cache_report()

    @property
    @synchronized
    def debt(self) -> PendingWork:
        """Removals that are due and wait: for more of them, for a break that happens anyway, for a cold cache."""
        return self._core.meter.debt

    @property
    @synchronized
    def profile(self) -> CompressionProfile:
        """
        What the session holds for important when it shortens texts: the profile that ``compression_profile`` names.

        For "auto" the one that its first steps speak for, decided once, from the log; the general one until then.
        """
        return self._core.archive.profile

    @property
    @synchronized
    def state(self) -> TaskState:
        """
        The state of the task as far as everything said tells it: demands, decisions, questions, files, errors, plans.

        Found in the log, by the extractor that ``state_extractor`` names; the first time O(history), then O(what is
        new), also when the session is opened again. Raises LogError when the log cannot be read.
        """
        return self._core.task.reader.look()

    @synchronized
    def book(self, kind: str, usage: object, *, model: str | None = None, estimated: bool = False) -> None:
        """
        Book a call beside the conversation, of a worker for instance: it is part of the cost, and of no hit rate.

        ``kind`` is what reports call it, ``usage`` a provider's report in the session's format, or a ``Usage``.
        Raises MessageError when counts lack or are none, and for a name that is none; LogError when it cannot be
        written.
        """
        self._core.spend.book(kind, usage, model=model, estimated=estimated)

    # -- looking back --------------------------------------------------------------------------------------------------

    @synchronized
    def recall(self, item: str) -> str:
        """
        Return the original text of an item, as it arrived: resident or not, also of an earlier life of the session.

        Takes an id (``i42``), a range of ids (``i5-i20``), a byte range (``master.jsonl:123-456``), or the whole text
        of a stub or trace that names one. What a range names is told item by item. In a session that was handed off,
        ``i42@5f3a9c`` is an item of one before it. Raises SourceError when the id was never given, LogError when no
        line stands at the bytes.
        """
        return self._core.handoffs.recall(item)

    @synchronized
    def contents(self, reference: str) -> tuple[Passage, ...]:
        """
        Return what a reference of a long stretch names, part by part, at most 20 of them: each with a reference of its
        own, to ``recall`` the one that is wanted instead of all. Takes what ``recall`` takes, and raises what it
        raises.
        """
        return self._core.handoffs.contents(reference)

    @synchronized
    def search(self, query: str, **filters: Unpack[Filters]) -> tuple[Hit, ...]:
        """
        Return what was ever said that matches, best first, at most ``limit`` (10): see ``SearchIndex.search``.

        Filters: tool, role, first_turn, last_turn, since, until (seconds since 1970), entity. Over finished sessions
        see ``gc_core.search_sessions``.
        """
        return self._core.history.search(query, **filters)

    @synchronized
    def history(self) -> tuple[HistoryEntry, ...]:
        """Return what was done to the window, oldest first; reads the whole ledger."""
        return self._core.history.entries()

    # -- memory across sessions ----------------------------------------------------------------------------------------

    @synchronized
    def promote(self, facts: FactStore, promotions: Iterable[Promotion]) -> tuple[FactChange, ...]:
        """
        Keep facts, decisions and constraints for later sessions, each with the item of this one that tells it; before
        ``close``. All or none. Raises SourceError when an item was never logged, LogError when one names a fact that
        does not live, or they cannot be written.
        """
        return self._core.facts.promote(facts, promotions)

    @synchronized
    def propose(self, facts: FactStore, extractor: FactExtractor | None = None) -> tuple[Proposal, ...]:
        """
        Return what this session's users said that is worth knowing later, compared with what is known: additions,
        updates, deletions, and what is left as it is. Nothing is written: hand what you confirm to ``accept``.

        Reads the whole log. What was accepted before, or said before a fact was, is not proposed again; what you
        passed over is. Raises LogError when the log cannot be read, SourceError when the extractor names an item that
        no user said.

        Args:
            facts: What is known; read again with ``FactStore(path)`` where another session may have promoted.
            extractor: Finds the statements, for instance by a model; by default ``WordedExtractor``.

        """
        return self._core.facts.propose(facts, extractor)

    @synchronized
    def accept(self, facts: FactStore, proposals: Iterable[Proposal]) -> tuple[FactChange, ...]:
        """
        Carry out what ``propose`` proposed, as ``promote`` does: all or none, and in their order.

        Raises LogError, with nothing written, when another session has changed one of the facts since; propose again.
        """
        return self.promote(facts, [each.promotion for each in proposals if each.promotion is not None])

    @synchronized
    def load_facts(self, facts: FactStore, *, cap: int = 1_000) -> None:
        """
        Put what earlier sessions promoted at the end of the next request, as the memory block ``known`` of the source
        ``facts``, in at most ``cap`` tokens; what does not fit is named by number, what has to do with the objective,
        where there is one, and what is newest stays. Raises SourceError for another cap than before.
        """
        self._core.facts.load(facts, cap)

    # -- undoing and going back ----------------------------------------------------------------------------------------

    @synchronized
    def undo(self) -> bool:
        """
        Take the last collection (or restored item) back; False when there is none.

        What had left stands where it stood, checked by its digest, and is pinned until ``release``. Nothing is refused
        here for its size: a warning in the log says so, and ``pre_send`` raises by how much. Raises LogError, with
        nothing changed, when the files do not hold what was there.
        """
        return self._core.timeline.undo()

    @synchronized
    def redo(self) -> bool:
        """
        Do again what was undone last; False when there is nothing, or something was collected since. Raises
        SourceError for what the host has pinned or LOCKED meanwhile.
        """
        return self._core.timeline.redo()

    @synchronized
    def restore(self, item: str) -> None:
        """
        Bring one collected item back where it stood, with the whole unit that lives and dies with it; pinned until
        ``release``. Raises SourceError when no collection in effect took it, and RuleError when the request would not
        be valid with it.
        """
        self._core.timeline.restore(item)

    @synchronized
    def release(self) -> None:
        """What ``undo`` and ``restore`` had brought back may be collected again."""
        self._core.timeline.release()

    @synchronized
    def rewind(self, turn: int) -> None:
        """
        Go back to the moment before a turn (counted from 0). The log keeps what came since, and a record marks it.

        Ids go on: none is given twice. Raises SourceError when there was no such turn.
        """
        self._core.timeline.rewind(turn)

    @synchronized
    def checkpoint(self) -> Checkpoint:
        """Write the state as it is, to go back to. Raises LogError when it cannot be written."""
        return self._core.timeline.checkpoint()

    @synchronized
    def rollback(self, checkpoint: Checkpoint | None = None) -> Checkpoint:
        """
        Go back to a checkpoint, by default the newest. Raises LogError when there is none, it was itself taken back,
        or the messages are not those of then; and for what is no checkpoint.
        """
        return self._core.timeline.rollback(checkpoint)

    @synchronized
    def rollback_and_repack(self, items: Iterable[str] = (), *, undo_only: bool = False) -> None:
        """
        Go back to the newest checkpoint and take again every message that came since; or (``undo_only``) undo the last
        collection. Then bring these items back, as far as they fit.

        An item that no collection in effect took is passed over: it stands there already. Where the undone collection
        would not fit, these items alone come back. Raises LogError, with nothing changed, when there is no checkpoint,
        nothing to undo, or no room.
        """
        self._core.replies.rollback_and_repack(items, undo_only=undo_only)

    @synchronized
    def fork(self, directory: str | Path, *, at: int | None = None) -> Self:
        """
        Branch: another session in an empty directory that goes on from here, or from before turn ``at``.

        Both go their own ways; references of one stay true in the other. Raises SourceError when there was no such
        turn, and LogError when the directory is not empty.
        """
        core = self._core
        with self._gate.call("_fork_to"):
            core.timeline.branch(Path(directory), at)
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
        """What holds room now, oldest first: open leases, and delivered ones whose note waits."""
        return self._core.leases.held

    def lease(self, tokens: int, *, name: str, wait: float = 0.0) -> Lease:
        """
        Keep this many tokens of the window free for what a sub-task will bring back.

        The request and all leases together never have more tokens than a request may have: what is leased counts as
        taken, so collections begin earlier. With ``wait`` it waits this many seconds for room, in the order of those
        who asked; ``AsyncGCSession.awaited_lease`` does so in an event loop.

        Raises LeaseError, naming what was requested, what is leased by whom, and what is free, when there is no room;
        and for a name or number that cannot be. Raises SessionClosedError.
        """
        return self._core.leases.lease(tokens, name=name, wait=wait)

    def hand_back(self, result: object) -> tuple[str, ...]:
        """
        Give the result of a session that was handed off to its parent, as one note; returns the ids of its items
        there. See ``Lease.deliver``.

        Raises LeaseError when no one waits for a result, or it came already; SessionClosedError when the parent was
        closed.
        """
        return self._core.handoffs.hand_back(result)

    # -- inside --------------------------------------------------------------------------------------------------------

    @property
    def port(self) -> WindowPort:
        """What code beside the session may know: to look at the window, to count, to observe. For integrations."""
        return WindowPort(self._core)

    @classmethod
    def _of(cls, core: SessionCore) -> Self:
        """Return a session of this class around what was opened."""
        session = cls.__new__(cls)
        cls._hold(session, core)
        return session

    def _hold(self, core: SessionCore) -> None:
        self._core, self._gate, self.plugins = core, core.gate, core.runtime.plugins
