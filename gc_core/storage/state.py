"""
Everything that a session has to remember, and how each record changes it.

There is no plugin, file or event here: a session acts through these methods while it runs, and the same methods rebuild
the state from its files. So what the model sees is a pure function of the master log and the ledger.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

import attrs

from gc_core.errors import ConfigError, LogError
from gc_core.providers import format_named
from gc_core.providers.calibration import Calibration
from gc_core.providers.contract import Format, TokenCounter
from gc_core.providers.model_families import family
from gc_core.providers.server_edits import PLACEHOLDER
from gc_core.providers.token_counting import counter_for, part_tokens
from gc_core.relevance.objective import Objective
from gc_core.storage.ledger import Branched, Cleared, Collected, Configured, Digests, Numbers, Opened
from gc_core.storage.packed import Packed
from gc_core.values.config import GCConfig
from gc_core.values.items import Form, Item, ItemKind, Part, number_of
from gc_core.values.messages import Message, Role, digest_of
from gc_core.values.option_secrets import without_option_secrets
from gc_core.values.policy import GCPolicy
from gc_core.values.references import PLAIN, ByteRange
from gc_core.values.results import is_renewal
from gc_core.values.sources import BUILT_IN_SOURCES, ENRICHMENT, TASK_STATE, InstructionSource
from gc_core.window.budget import InstructionBudget
from gc_core.window.callers_list import REMEMBERED, START, BranchPoint, Given, came_after, straddles
from gc_core.window.compaction_carryover import carried, moved
from gc_core.window.context import Context, Edits
from gc_core.window.cursor import Cursor
from gc_core.window.intake import Arrival, Classify, Intake
from gc_core.window.memory_blocks import Block, Blocks, block_item
from gc_core.window.own_texts import said_in
from gc_core.window.patches import Patch, ReadPayload, SavedMessage, patched
from gc_core.window.pending_head import Changes

_RENAMED = {"checkpoint_steps": "checkpoint_every_n_steps"}
"""Configuration keys that had another name when a session was opened."""

_CLEARED = frozenset({ItemKind.TOOL_RESULT, ItemKind.TOOL_CALL, ItemKind.THINKING})
"""The kinds of content that a provider clears."""


@attrs.frozen
class Position:
    """The sizes of log and ledger, in bytes: a moment of the session."""

    log: int = 0
    ledger: int = 0


class SessionState:
    """
    The window, and everything that determines its future.

    Args:
        config: The configuration; ``Configured`` changes its window.
        format: The provider's message shape.
        model: The model's name, or None.
        counter: The host's own counter, or None for the default of the model.
        read: Reads a payload of the master log.
        cites: References name the bytes of the log.
        recalls: Removed content can be recalled; otherwise references have no ids.

    """

    def __init__(
        self,
        *,
        config: GCConfig,
        format: Format,  # noqa: A002 - the word users know it by
        model: str | None,
        counter: TokenCounter | None,
        read: ReadPayload,
        cites: bool = False,
        recalls: bool = True,
    ) -> None:
        self.cites, self.recalls, self.recall_form = cites, recalls, PLAIN
        self.config, self.format, self.model = config, format, model
        self._given = config
        self.own_counter = counter
        self.counter = counter or counter_for(model, format.name)
        self.calibration = Calibration(exact=self.counter.exact)
        self.changes = Changes()
        self.blocks = Blocks()
        self.pinned_turns = frozenset(config.pinned_turn_indices)
        self.sent = False
        self.sent_digest = ""
        self.undone: frozenset[str] = frozenset()
        self.done = Packed(ByteRange)
        self.undoable_from = 0
        self.taken_back: list[ByteRange] = []
        self.turns = Packed(Position)
        self.thinking: list[str] = []
        self.cleared: frozenset[str] = frozenset()
        self.objective = Objective()
        self.given: list[Given] = []
        self.compacted_at = 0
        self._branch_points: dict[int, BranchPoint] = {}
        self._clears = False
        self._read = read
        budget = InstructionBudget(
            context_limit=config.context_limit,
            output_reservation=config.output_reservation,
            overhead=self.counter.per_request,
            sources=BUILT_IN_SOURCES,
        )
        self.context = Context(intake=self.intake(), budget=budget)

    def intake(self, classify: Classify = lambda _: None) -> Intake:
        """Return how messages become items; without plugins unless they are given."""
        return Intake(
            format=self.format,
            counter=self.counter,
            classify=classify,
            tools=self.config.tool_policies(),
            cites=self.cites,
            recalls=self.recalls,
            recall_form=self.recall_form,
        )

    @property
    def numbers(self) -> Numbers:
        """The current numbering."""
        return numbers_of(self.context.cursor)

    @property
    def binds_thinking(self) -> bool:
        """True if the model binds thinking to what precedes it."""
        return family(self.model, self.format.name).binds_thinking

    # -- what arrives --------------------------------------------------------------------------------------------

    def take(self, arrival: Arrival, at: Position, given: str = "") -> list[Item]:
        """
        Take a message in that was logged at this position; returns the items that are new. ``given`` is its digest in
        the caller's list, if there is one.
        """
        if given:
            self._note_given(Given(given, self.context.cursor.items, at.log, at.ledger))
        new = new_items(arrival, self.context.cursor.items)
        turned = arrival.cursor.turn != self.context.cursor.turn
        kept = self.context.users_after(arrival.kept_after)
        held = carried(self.context, self.blocks, self.pinned_turns, kept) if arrival.compacted else ()
        self.context.apply(arrival)
        if arrival.compacted:
            self.blocks.carry(held)
            self.cleared = frozenset()
            self.compacted_at = len(self.given)
            self._nothing_to_undo()
        while len(self.turns) <= arrival.cursor.turn:
            self.turns.append(at)
        self._note_thinking(new, turned=turned)
        for item in new:
            if item.source == TASK_STATE.name:
                self.blocks.placed(self.context, item)
            said = item if item.form is Form.WHOLE else attrs.evolve(item, text=said_in(item.text, is_whole=False))
            self.objective = self.objective.updated(said)
        return new

    def _nothing_to_undo(self) -> None:
        """Forget earlier collections: a compaction replaces what they removed, too."""
        self.undoable_from, self.taken_back = len(self.done), []
        self.undone = frozenset(key for key in self.undone if self.context.find(key) is not None)

    def branch_point(self, kept: int) -> BranchPoint | None:
        """The state known before this message of the caller's list; None if it was not kept."""
        return START if kept == 0 else self._branch_points.get(kept)

    def can_branch(self, kept: int) -> bool:
        """
        Return whether everything after a message of the caller's list can leave the current window: no item in it
        replaces messages on both sides.
        """
        items = (item for message in self.context.messages for item in message.items)
        return kept >= self.compacted_at and not straddles(items, self.given[kept].items)

    def came_after(self, number: int) -> frozenset[str]:
        """Return the items of the window that arrived, or replace what arrived, after the item with this number."""
        items = (item for message in self.context.messages for item in message.items)
        return frozenset(item.id for item in items if came_after(item, number))

    def branch(self, record: Branched) -> None:
        """
        Remove everything after a message of the caller's list from the window; earlier collections stay in
        effect.
        """
        context, removed = self.context, self.came_after(record.cursor.items)
        held = moved(context, self.blocks, removed)
        self.context = context.edited(Edits(dropped=removed))
        last = next(reversed(self.context.messages), None)
        results = last if last is not None and last.id == record.results else None
        self.context.cursor = numbered(attrs.evolve(record.cursor, results=results), self.numbers)
        self.blocks.carry(held)
        if record.taken_out:
            self.blocks.forget_quotes()
        self.objective = attrs.evolve(record.objective, given=self.objective.given)
        self.turns.cut(record.cursor.turn + 1 if record.cursor.started else 0)
        self.thinking = [key for key in self.thinking if key not in removed]
        self.cleared -= removed
        self.given = self.given[: record.kept]
        self._branch_points = {at: point for at, point in self._branch_points.items() if at < record.kept}
        self._nothing_to_undo()

    def _note_given(self, given: Given) -> None:
        place = len(self.given)
        self.given.append(given)
        self.cite_nothing()
        self._branch_points[place] = BranchPoint(self.context.cursor, self.objective)
        self._branch_points.pop(place - REMEMBERED, None)

    def recall_by(self, form: str) -> None:
        """Let references written from now on name the model's own call."""
        self.recall_form = form
        self.context.recall_by(form)

    def cite_nothing(self) -> None:
        """References name no bytes of the log from now on: a caller's own system text does not say where it is."""
        if self.cites:
            self.cites = False
            self.context.cite_nothing()

    def closing(self) -> Arrival:
        """
        Return what a request needs: synthetic results for the calls that wait, a user line before a
        system message.
        """
        intake = self.intake()
        closed = intake.close(self.context.cursor)
        return closed.then(intake.before_system(closed.cursor)) if self.context.lacks_user else closed

    def give(self, source: str, texts: Mapping[str, str]) -> None:
        """Set new versions of named texts, for the end of the next request. Raises SourceError."""
        kind = ItemKind.ENRICHMENT if source == ENRICHMENT.name else ItemKind.MEMORY_BLOCK
        self.blocks.give(self.context, source, texts, kind, self.counter)

    def take_back(self, source: str, name: str) -> None:
        """
        Remove the newest version of a named text as if it had not come, because it was not read. Earlier collections
        cannot be undone any more, since it was in their window.
        """
        gone = frozenset({self.blocks.newest[source, name]})
        self.context = self.context.edited(Edits(dropped=gone))
        self.blocks.taken_back(self.context, source, name)
        self._nothing_to_undo()

    def placing(self, block: Block, cursor: Cursor) -> Arrival:
        """Return the message of a block placed here."""
        return self.intake().framed(cursor, block_item(block, self.context))

    def place(self, arrival: Arrival) -> list[Item]:
        """Place a block at the end of the conversation."""
        self.context.apply(arrival)
        (item,) = arrival.items()
        self.blocks.placed(self.context, item)
        return [item]

    # -- settings ---------------------------------------------------------------------------------------------

    def needed(self, changes: Changes) -> Changes:
        """Return those of these changes that change anything."""
        return changes.needed(self.context, sent=self.sent)

    def changed(self, changes: Changes, context: Context) -> Context:
        """Return another context with these changes of its head. Raises SourceError for invalid ones."""
        return changes.applied_to(context, unbind=self.sent and self.binds_thinking)

    def change(self, changes: Changes, changed: Context, *, now: bool) -> None:
        """Change the head of the request: at once (``changed``), or with the next break once something was sent."""
        if self.sent and not now:
            self.changes = changes
            return
        other = changed is not self.context
        self.context, self.changes = changed, Changes()
        if other and self.sent and self.binds_thinking:
            self.undoable_from = len(self.done)

    def register(self, source: InstructionSource) -> None:
        """Add a source. Raises SourceError when the name is taken by another one."""
        self.context.budget.register(source)

    def pin(self, turn: int | None, item: str | None, *, pinned: bool) -> None:
        """Pin a turn or a resident item, or unpin it."""
        if turn is not None:
            self.pinned_turns = self.pinned_turns | {turn} if pinned else self.pinned_turns - {turn}
        if item is not None:
            self.context.pin(item, pinned=pinned)
            self.undone -= {item}

    def release(self) -> None:
        """Allow restored content to be collected again."""
        for key in self.undone:
            if self.context.find(key) is not None:
                self.context.pin(key, pinned=False)
        self.undone = frozenset()

    def observe(self, raw: int, reported: int, *, counted: bool = False) -> None:
        """Record the input tokens that the provider reported, or ``counted``, for a request of this many own tokens."""
        self.calibration = self.calibration.observed(raw, reported, counted=counted)

    @property
    def configured(self) -> Configured:
        """The current model and window."""
        return Configured(
            model=self.model,
            context_limit=self.config.context_limit,
            output_reservation=self.config.output_reservation,
            max_total_tokens=self.config.max_total_tokens or 0,
        )

    def counted_for(self, model: str | None) -> tuple[TokenCounter, Context]:
        """
        Return the counter of a model and the context as it counts: for another model every resident item is counted
        again, once.
        """
        if model == self.model:
            return self.counter, self.context
        counter = self.own_counter or counter_for(model, self.format.name)
        return counter, self.context.recounted(attrs.evolve(self.intake(), counter=counter))

    def configure(self, record: Configured, counted: tuple[TokenCounter, Context]) -> None:
        """Set another model or window; ``counted`` is the result of ``counted_for`` for the model."""
        if record.model != self.model:
            self._switch(record.model, *counted)
        limit = self.config.max_total_tokens if record.max_total_tokens is None else record.max_total_tokens
        config = attrs.evolve(self._given, max_total_tokens=limit or None)
        self.config = config.resized(record.context_limit, record.output_reservation)
        self.context.budget.context_limit = record.context_limit
        self.context.budget.output_reservation = record.output_reservation

    # -- content that the provider leaves out
    # ------------------------------------------------------------------------------

    def clear(self, record: Cleared) -> None:
        """Record that the provider leaves items out, or does not any more: they cost what it leaves of them."""
        self._clears = True
        self.cleared = (self.cleared - frozenset(record.back)) | frozenset(record.gone)
        for key in (*record.back, *record.gone):
            self._count_as_left(self.context, key)

    def _count_as_left(self, context: Context, key: str) -> None:
        item = context.find(key)
        if item is None:
            return
        whole = context.counted(key)
        if item.kind is ItemKind.THINKING and not (self._keeps_thinking or key in self.thinking):
            whole = 0
        left = min(whole, self._left_of(item)) if key in self.cleared else whole
        if left != item.tokens:
            context.recount(key, left)

    def _left_of(self, item: Item) -> int:
        """Return the tokens of what the provider leaves of an item."""
        if item.kind is ItemKind.THINKING:
            return 0
        text = "{}" if item.kind is ItemKind.TOOL_CALL else PLACEHOLDER
        return part_tokens(Part(kind=item.kind, place=(), text=text, name=item.name), self.counter)

    @property
    def _keeps_thinking(self) -> bool:
        return family(self.model, self.format.name).keeps_thinking

    # -- collections ---------------------------------------------------------------------------------------------

    def commit(self, context: Context, place: ByteRange, *, changed_head: bool, recalled: Iterable[Block] = ()) -> None:
        """
        Commit a collection: its context, its place in the ledger, whether the context includes the waiting changes of
        the head, and what is brought back at the end of the next request.
        """
        self.context = context
        self.blocks.recall(context, recalled)
        if changed_head:
            self.changes = Changes()
        self.done.append(place)
        self.taken_back = []
        self.cleared = frozenset(key for key in self.cleared if context.find(key) is not None)
        if changed_head and self.binds_thinking:
            self.undoable_from = len(self.done)

    def collect_again(self, record: Collected, place: ByteRange) -> None:
        """Repeat a collection from its record. Raises LogError when it does not fit the window."""
        # Exactly as it was then: plugins may have changed policies of remaining items in this very collection.
        context = self._patched(record.hunks, record, record.numbers, as_recorded=True)
        context.leave_out(map(self.format.schema_name, record.schemas))
        if record.changed_head:
            context.set_system(self.changes.parts.values())
            if self.changes.schemas is not None:
                context.set_tools(*self.changes.schemas)
        if record.reason is None:
            self.bring_back(context, place)
            return
        self.commit(context, place, changed_head=record.changed_head, recalled=record.recalled)

    def bring_back(self, context: Context, place: ByteRange) -> None:
        """Restore a collected unit, which produced this context; it is pinned until released."""
        came = self._came_back(context)
        self.blocks.came_back(context, came)
        self.undone |= came
        self.context = context
        self.done.append(place)
        self.taken_back = []

    def without(self, record: Collected) -> Context:
        """
        Return the context as if a collection had not happened; restored items are pinned in it.

        Raises LogError when it does not fit the window, or the messages differ from those of before.
        """
        context = self._patched([hunk.reverse for hunk in record.hunks], record, self.numbers, pinned=True)
        context.bring_in(record.schemas)
        found = digest_of_messages(context.messages[: record.digests.count])
        if found != record.digests.before:
            raise LogError(f"undone, the messages have digest {found}; before they had {record.digests.before}")
        return self.unbound(context, record.digests.count)

    def undo(self, context: Context, recalled: Iterable[Block] = ()) -> None:
        """Undo the last collection, which produced this context; blocks it would bring back no longer wait."""
        self.blocks.withdraw(recalled)
        came = self._came_back(context)
        self.blocks.came_back(context, came)
        undone = self.undone | came
        self.context = context
        self.undone = frozenset(key for key in undone if context.find(key) is not None)
        self.taken_back.append(self.done.pop())

    def _came_back(self, context: Context) -> frozenset[str]:
        before = {item.id: item for item in self.context.items()}
        came = (
            item.id
            for item in context.items()
            if item.pinned and not (item.id in before and (before[item.id].pinned or before[item.id].form is item.form))
        )
        return frozenset(came)

    def held_against(self, record: Collected) -> str:
        """Return an item that a collection removed and the host has pinned or LOCKED since it was undone; or ""."""
        stays = {item.id for hunk in record.hunks for message in hunk.inserted for item in message.items}
        removed = {item.id for hunk in record.hunks for message in hunk.removed for item in message.items} - stays
        refreshed = {item for removal in record.removals if is_renewal(removal) for item in removal.items}
        held = (
            item.id
            for item in self.context.items()
            if item.id in removed
            if (item.pinned and item.id not in self.undone)
            or (item.policy is GCPolicy.LOCKED and item.id not in refreshed)
        )
        return next(held, "")

    def with_again(self, record: Collected) -> Context:
        """Return the context with a collection that was undone. Raises LogError when it does not fit the window."""
        context = self._patched(record.hunks, record, self.numbers)
        context.leave_out(map(self.format.schema_name, record.schemas))
        return self.unbound(context, first_difference(self.context, context))

    def unbound(self, context: Context, place: int) -> Context:
        """Return the context without thinking from this message on, if the model binds it to what precedes it (N3b)."""
        if not self.binds_thinking:
            return context
        later = (item for message in context.messages[place:] for item in message.items)
        bound = frozenset(item.id for item in later if item.kind is ItemKind.THINKING)
        return context.edited(Edits(dropped=bound)) if bound else context

    def redo(self, context: Context, recalled: Iterable[Block] = ()) -> None:
        """Redo the collection that was undone last, which produced this context; see ``commit``."""
        self.context = context
        self.blocks.recall(context, recalled)
        self.done.append(self.taken_back.pop())
        self.undone = frozenset(key for key in self.undone if context.find(key) is not None)

    def continue_numbering(self, numbers: Numbers) -> None:
        """Continue numbering, whatever was rewound."""
        cursor = self.context.cursor
        self.context.cursor = numbered(cursor, numbers)

    def load(self, saved: SavedMessage) -> Message:
        """Return a message of the ledger or a checkpoint as the window holds it."""
        return saved.message(self._read, self.format)

    # -- inside --------------------------------------------------------------------------------------------------

    def _patched(
        self,
        hunks: Sequence[Patch],
        record: Collected,
        numbers: Numbers,
        *,
        pinned: bool = False,
        as_recorded: bool = False,
    ) -> Context:
        resident = {item.id: item for item in self.context.items()}

        def load(saved: SavedMessage) -> Message:
            if as_recorded:
                return self.load(saved)
            message = _as_held(self.load(saved), resident)
            return _pinned(message, resident) if pinned else message

        cursor = numbered(self.context.cursor, numbers)
        context = self.context.with_messages(patched(self.context.messages, hunks, load, self.format), cursor)
        if record.counter != self.counter.name:
            context = context.recounted(self.intake())
        if self._clears or self.cleared:  # restored messages were saved with their counts of that time
            for message in context.messages[first_difference(self.context, context) :]:
                for item in message.items:
                    if item.kind in _CLEARED:
                        self._count_as_left(context, item.id)
        return context

    def _switch(self, model: str | None, counter: TokenCounter, context: Context) -> None:
        self.model, self.counter, self.context = model, counter, context
        self.calibration = Calibration(exact=counter.exact)
        thinking = [item for item in self.context.items() if item.kind is ItemKind.THINKING]
        turn = self.context.cursor.turn
        self.thinking = [item.id for item in thinking if item.turn < turn]
        self._note_thinking((item for item in thinking if item.turn == turn), turned=True)
        for key in sorted(self.cleared):
            self._count_as_left(self.context, key)

    def _note_thinking(self, new: Iterable[Item], *, turned: bool) -> None:
        """Stop counting thinking of earlier turns, from the new turn on, for models that drop it."""
        if family(self.model, self.format.name).keeps_thinking:
            return
        if turned:
            for key in self.thinking:
                if self.context.find(key) is not None:
                    self.context.recount(key, 0)
            self.thinking = []
        self.thinking.extend(item.id for item in new if item.kind is ItemKind.THINKING)


def numbers_of(cursor: Cursor) -> Numbers:
    """Return the numbering at a cursor."""
    return Numbers(items=cursor.items, messages=cursor.messages, units=cursor.units, summaries=cursor.summaries)


def numbered(cursor: Cursor, numbers: Numbers) -> Cursor:
    """Return the cursor with this numbering."""
    return attrs.evolve(
        cursor, items=numbers.items, messages=numbers.messages, units=numbers.units, summaries=numbers.summaries
    )


def new_items(arrival: Arrival, before: int) -> list[Item]:
    """Return the new items of an arrival."""
    return [item for item in arrival.items() if number_of(item.id) > before]


def with_policies(arrival: Arrival, policies: Mapping[str, GCPolicy]) -> Arrival:
    """Return an arrival with the policies that were decided when it came."""

    def held(message: Message) -> Message:
        items = [attrs.evolve(item, policy=policies.get(item.id, item.policy)) for item in message.items]
        return attrs.evolve(message, items=tuple(items))

    new = {message.id: held(message) for message in arrival.messages}
    if arrival.joined is not None:
        new[arrival.joined.id] = held(arrival.joined)
    results = arrival.cursor.results
    cursor = arrival.cursor if results is None else attrs.evolve(arrival.cursor, results=new.get(results.id, results))
    return attrs.evolve(
        arrival,
        messages=tuple(new[message.id] for message in arrival.messages),
        joined=None if arrival.joined is None else new[arrival.joined.id],
        cursor=cursor,
    )


def first_difference(before: Context, after: Context) -> int:
    """Return the index of the first message that differs."""
    pairs = zip(before.messages, after.messages, strict=False)
    same = min(len(before.messages), len(after.messages))
    return next((place for place, (old, new) in enumerate(pairs) if old is not new), same)


def digests_of(before: Context, after: Context) -> Digests:
    """
    Return the digests of the messages on both sides of a change; an incomplete batch of results may still grow, and so
    may a reply in pieces and system text at the end, which may move too.
    """
    last = before.cursor.results
    grows = bool(before.open_calls) or (last is not None and last.role is not Role.TOOL)
    whole = before.messages[: len(before.messages) - grows]
    return Digests(before=digest_of_messages(whole), after=digest_of_messages(after.messages), count=len(whole))


def digest_of_messages(messages: Iterable[Message]) -> str:
    """Return the digest of messages in order, in hex."""
    return digest_of([message.digest.hex() for message in messages]).hex()


def _as_held(message: Message, resident: Mapping[str, Item]) -> Message:
    """Return it with the policies of the resident items, so later changes by the host apply."""
    items = [
        attrs.evolve(item, policy=resident[item.id].policy, pinned=resident[item.id].pinned)
        if item.id in resident
        else item
        for item in message.items
    ]
    return attrs.evolve(message, items=tuple(items))


def _pinned(message: Message, resident: Mapping[str, Item]) -> Message:
    """Return it with the items pinned that were not resident, or not whole; a trace covers what is elsewhere."""
    items = [
        item
        if item.kind is ItemKind.TRACE or (item.id in resident and resident[item.id].form is item.form)
        else attrs.evolve(item, pinned=True)
        for item in message.items
    ]
    return attrs.evolve(message, items=tuple(items))


@attrs.frozen(kw_only=True)
class Settings:
    """
    How a session is opened.

    Attributes:
        config: Its configuration.
        format: Name of the provider's message shape.
        model: The model's name, or None.
        counter: The host's own counter, or None.
        objects: Types of strategies that were given as objects.
        kept: The recorded settings, if it is not opened by the agent.
        recalls: Removed content can be recalled; otherwise references have no ids.

    """

    config: GCConfig
    format: str
    model: str | None = None
    counter: TokenCounter | None = None
    objects: tuple[str, ...] = ()
    kept: Opened | None = None
    recalls: bool = True

    @classmethod
    def of(cls, opened: Opened, config: GCConfig | None, counter: TokenCounter | None) -> Settings:
        """
        Return the recorded settings, or with another configuration. Raises LogError if the recorded one is no longer
        valid.
        """
        try:
            config = config or GCConfig(**{_RENAMED.get(key, key): value for key, value in opened.config.items()})
        except (TypeError, ConfigError) as error:
            text = f"the session's stored configuration is no longer valid; pass config=: {error}"
            raise LogError(text) from error
        return cls(config=config, format=opened.format, model=opened.model, counter=counter, objects=opened.objects)

    def record(self, session: str) -> Opened:
        """Return the record for the ledger."""
        return self.kept or Opened(
            session=session,
            format=self.format,
            model=self.model,
            config=attrs.asdict(self.config)
            | {
                "strategies": without_option_secrets(self.config.strategies),
                "summarizers": without_option_secrets(self.config.summarizers),
            },
            version=_version(),
            objects=self.objects,
        )

    def fresh(self, read: ReadPayload, *, cites: bool = False) -> SessionState:
        """Return the state of an empty session."""
        return SessionState(
            config=self.config,
            format=format_named(self.format),
            model=self.model,
            counter=self.counter,
            read=read,
            cites=cites,
            recalls=self.recalls,
        )


@functools.cache
def _version() -> str:
    """Return the version of the code that runs: read once, because each look parses the metadata."""
    import importlib.metadata

    return importlib.metadata.version("gc-core")
