"""Writes first, then acts: every change of a session is in its files before it is in the window."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

import attrs

from gc_core.errors import LogError, RuleError, SourceError
from gc_core.events import LayerChanged
from gc_core.providers.contract import Format
from gc_core.providers.rules import check_request
from gc_core.storage.ledger import (
    Booked,
    Branched,
    Cleared,
    Collected,
    Configured,
    Inherited,
    ObjectiveSet,
    Observed,
    Pinned,
    PolicySet,
    Registered,
    Released,
    Rewound,
    Sent,
    Undone,
)
from gc_core.storage.master_log import PARTS, LogRecord
from gc_core.storage.rebuild import CALLS_CLOSED, SESSION, collected
from gc_core.storage.restore import brought_back, originals
from gc_core.storage.state import Position, SessionState, digests_of, first_difference, new_items, numbers_of
from gc_core.storage.store import Store
from gc_core.values.framing import framed_result, is_framed_result
from gc_core.values.items import Item, ItemKind, Part
from gc_core.values.layers import SystemPart
from gc_core.values.messages import Message, Payload
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import CONVERSATION, PLUGIN, SYSTEM, TASK_STATE, InstructionSource
from gc_core.window.callers_list import BranchPoint
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.context import Context, recounted
from gc_core.window.cursor import Cursor
from gc_core.window.intake import OWN_POLICIES, Arrival, Classify, Intake
from gc_core.window.memory_blocks import Blocks
from gc_core.window.patches import hunks_between
from gc_core.window.pending_head import Changes, layers_changed


@attrs.frozen(kw_only=True)
class Taken:
    """
    The result of an arrival.

    Attributes:
        ids: Ids of its items.
        new: All new items, including those of synthetic results.
        arrival: Its effect on the window.
        tokens_before: Tokens of the request before a message arrived.

    """

    ids: tuple[str, ...] = ()
    new: tuple[Item, ...] = ()
    arrival: Arrival
    tokens_before: int = 0


P = ParamSpec("P")
R = TypeVar("R")


def _whole(method: Callable[Concatenate[Recorder, P], R]) -> Callable[Concatenate[Recorder, P], R]:
    """Mark the state stale if an interrupt hits between writing a record and applying it."""

    @functools.wraps(method)
    def call(recorder: Recorder, /, *args: P.args, **kwargs: P.kwargs) -> R:
        before = recorder.store.position
        try:
            return method(recorder, *args, **kwargs)
        except BaseException:  # including an interrupt, which is raised again
            recorder.is_stale = recorder.is_stale or recorder.store.position != before
            raise

    return call


class Recorder:
    """
    A session's state together with its files.

    Every method raises LogError, with nothing changed, when the files cannot be written.
    """

    def __init__(self, store: Store, state: SessionState) -> None:
        self.store = store
        self.state = state
        self.is_stale = False
        self._steps = 0

    def renew(self, state: SessionState) -> None:
        """Replace the state by that of the files; blocks that wait for the end of the next request are in no file."""
        state.blocks = Blocks((*state.blocks.waiting, *self.state.blocks.given), state.blocks.newest)
        self.state, self.is_stale = state, False

    # -- what arrives --------------------------------------------------------------------------------------------

    @_whole
    def take(
        self,
        payload: Payload,
        policy: GCPolicy | None,
        classify: Classify,
        given: str = "",
        kept_after: int | None = None,
    ) -> Taken:
        """
        Take a message of the conversation; ``given`` is its digest in the caller's list. If it is a compaction, user
        messages after the item with the number ``kept_after`` stay before it. Raises MessageError.
        """
        state = self.state
        before = state.context.cursor
        arrival = state.intake(classify).take(payload, before, policy=policy).keeping(kept_after)
        new = new_items(arrival, before.items)
        ids = _ids_of(state.format, payload, new)
        record = LogRecord(
            at=before.items,
            items=ids,
            role=state.format.role(payload).value,
            source=CONVERSATION.name,
            turn=arrival.cursor.turn,
            time=time.time(),
            policies={item.id: item.policy for item in new},
            by_host=policy is not None,
            given=given,
            kept_after=arrival.kept_after,
            payload=payload,
        )
        if any(item.source == TASK_STATE.name for item in new):  # a state that came back in the caller's list
            self.register(TASK_STATE)
        (place,) = self.store.log.append([record])
        arrival = arrival.logged(ids, place, payload)
        tokens = state.context.budget.total
        taken = state.take(arrival, Position(place.start, self.store.ledger.size), given)
        return Taken(ids=tuple(filter(None, ids)), new=tuple(taken), arrival=arrival, tokens_before=tokens)

    @_whole
    def prepare(self) -> tuple[Taken, ...]:
        """Close waiting calls with synthetic results, and place waiting blocks at the end; all or none."""
        state = self.state
        before = state.context.cursor
        closing = state.closing()
        placings = self._placings(closing.cursor)
        records = [record for record, _ in placings]
        closes = bool(closing.messages or closing.left) or closing.joined is not None
        if closes:
            records.insert(0, self._source_record(SESSION, {CALLS_CLOSED: len(before.open_calls)}, before.items))
        if not records:
            return ()
        places = self.store.log.append(records)
        at = Position(places[0].start, self.store.ledger.size)
        taken = [Taken(new=tuple(state.take(closing, at)), arrival=closing)] if closes else []
        for place, (record, arrival) in zip(places[closes:], placings, strict=True):
            logged = arrival.logged(record.items, place, record.payload)
            taken.append(Taken(ids=record.items, new=tuple(state.place(logged)), arrival=logged))
        return tuple(taken)

    @_whole
    def give(self, source: str, texts: Mapping[str, str], unsent: Callable[[Item], bool]) -> None:
        """
        Set new versions of named texts, which wait; an unread one in the window is replaced. Raises SourceError for
        invalid ones.
        """
        state = self.state
        state.give(source, texts)
        waiting = {(block.source, block.name) for block in state.blocks.waiting}
        for name, text in texts.items():
            item = state.context.find(state.blocks.newest.get((source, name), ""))
            if item is None or not unsent(item) or not ((source, name) in waiting or not text.strip()):
                continue
            payload = {"name": name, "text": ""}
            self.store.log.append([self._source_record(source, payload, state.context.cursor.items)])
            state.take_back(source, name)

    def _placings(self, cursor: Cursor) -> list[tuple[LogRecord, Arrival]]:
        """Return the message of each waiting block from here on, and its line."""
        placings = []
        for block in self.state.blocks.waiting:
            arrival = self.state.placing(block, cursor)
            (item,) = arrival.items()
            policies = {item.id: item.policy}
            payload = {"name": block.name, "text": block.text}
            placings.append((self._source_record(block.source, payload, cursor.items, policies), arrival))
            cursor = arrival.cursor
        return placings

    # -- settings ---------------------------------------------------------------------------------------------

    @_whole
    def system(
        self, parts: Mapping[str, str], policy: GCPolicy, *, now: bool, source: str = SYSTEM.name
    ) -> tuple[LayerChanged, ...] | None:
        """
        Set named parts of the system text, of one source; return what they invalidate, None if nothing changed.

        Raises SourceError for invalid ones.
        """
        payload = {PARTS: dict(parts), "policy": policy.value, "refresh": "now" if now else "break"}
        made = [SystemPart(source=source, name=name, text=text, policy=policy) for name, text in parts.items()]
        return self._change(Changes().system(made), source, payload, now=now)

    @_whole
    def tools(
        self, schemas: tuple[Payload, ...], discoverable: frozenset[str], *, now: bool
    ) -> tuple[LayerChanged, ...] | None:
        """Set all tool schemas, as ``system`` does. Raises SourceError for invalid ones."""
        payload = {
            "schemas": list(schemas),
            "discoverable": sorted(discoverable),
            "refresh": "now" if now else "break",
        }
        return self._change(Changes().tools(schemas, discoverable), PLUGIN.name, payload, now=now)

    @_whole
    def register(self, source: InstructionSource) -> None:
        """Add a source. Raises SourceError when its name is taken by another one."""
        if not self.state.context.budget.knows(source):
            self.store.note(Registered(source=source))
            self.state.register(source)

    @_whole
    def pin(self, turn: int | None, item: str | None, *, pinned: bool) -> None:
        """Pin a turn or an item, or unpin it."""
        self.store.note(Pinned(turn=turn, item=item, pinned=pinned))
        self.state.pin(turn, item, pinned=pinned)

    @_whole
    def set_policy(self, item: str, policy: GCPolicy) -> None:
        """Set the policy of a resident item."""
        self.store.note(PolicySet(item=item, policy=policy))
        self.state.context.set_policy(item, policy)

    @property
    def position(self) -> Position:
        """The sizes of log and ledger: while they stay the same, nothing was said, set or decided."""
        return Position(self.store.log.size, self.store.ledger.size)

    @_whole
    def sent(self) -> None:
        """Record a rendered request with its digest, unless it is the last one again."""
        digest = self.state.context.digest
        if not self.state.sent or digest != self.state.sent_digest:
            self.store.note(Sent(digest=digest))
            self.state.sent, self.state.sent_digest = True, digest

    @_whole
    def observe(self, record: Observed) -> None:
        """Record the input tokens that the provider reported."""
        self.store.note(record)
        self.state.observe(record.raw, record.reported, counted=record.counted)

    @_whole
    def book(self, record: Booked) -> None:
        """Record a call outside the conversation."""
        self.store.note(record)

    @_whole
    def inherit(self, record: Inherited) -> None:
        """Record a handoff: the content that the session starts with, and its parent."""
        self.store.note(record)

    @_whole
    def aim(self, text: str) -> None:
        """Set the objective."""
        self.store.note(ObjectiveSet(text=text))
        self.state.objective = self.state.objective.set_to(text)

    @_whole
    def clear(self, record: Cleared) -> None:
        """Record that the provider leaves items out, or does not any more."""
        self.store.note(record)
        self.state.clear(record)

    @_whole
    def configure(self, record: Configured) -> None:
        """Set another model or window."""
        counted = self.state.counted_for(record.model)
        self.store.note(record)
        self.state.configure(record, counted)

    # -- collections ---------------------------------------------------------------------------------------------

    @_whole
    def commit(self, collection: CollectionOutcome, context: Context) -> None:
        """Commit a collection; ``context`` is its own, with the waiting changes of the head in effect."""
        state, plan, result = self.state, collection.plan, collection.result
        removed = [schema.payload for schema in state.context.schemas if schema.item.id in plan.edits.schemas]
        record = Collected(
            reason=result.reason,
            target_tokens=result.target_tokens,
            tokens_before=result.tokens_before,
            tokens_after=context.budget.total,
            removals=result.removals,
            hunks=hunks_between(state.context.messages, context.messages),
            summaries=result.summaries,
            recalled=tuple(each.block for each in collection.recalled),
            schemas=tuple(removed),
            changed_head=bool(state.changes) and not collection.keeps_head,
            numbers=numbers_of(context.cursor),
            counter=state.counter.name,
            digests=digests_of(state.context, context),
        )
        place = self.store.note(record)
        state.commit(context, place, changed_head=record.changed_head, recalled=record.recalled)

    @_whole
    def undo(self) -> Collected | None:
        """
        Undo the last collection and return its record; None if there is none, or if the head changed with it or since
        and the model binds its thinking to that.
        """
        record = self._undoable()
        if record is not None:
            context = self.state.without(record)
            self.store.note(Undone(place=self.state.done[-1]))
            self.state.undo(context, record.recalled)
        return record

    def if_undone(self) -> Context | None:
        """Return the window as ``undo`` would leave it, with nothing changed; None if there is nothing to undo."""
        record = self._undoable()
        return None if record is None else self.state.without(record)

    def _undoable(self) -> Collected | None:
        """Return the collection that ``undo`` undoes; None if there is none."""
        if len(self.state.done) <= self.state.undoable_from:
            return None
        return collected(self.store.ledger, self.state.done[-1])

    @_whole
    def redo(self) -> Collected | None:
        """Redo the last undo; None if there is nothing. Raises SourceError for items held since."""
        if not self.state.taken_back:
            return None
        place = self.state.taken_back[-1]
        record = collected(self.store.ledger, place)
        held = self.state.held_against(record)
        if held:
            raise SourceError(f"item {held} is held since the collection was undone; unpin it first")
        context = self.state.with_again(record)
        self.store.note(Undone(place=place, redone=True))
        self.state.redo(context, record.recalled)
        return record

    @_whole
    def restore(self, item: str) -> None:
        """
        Bring the unit of a collected item back to its place, pinned.

        Raises SourceError when no collection in effect removed it, and RuleError when the request would not be valid.
        """
        state = self.state
        saved = originals(self.store.ledger, state.done, item)
        back = (_counted_now(state.load(message), state.intake()) for message in saved)
        messages = brought_back(state.context.messages, back, state.intake())
        context = state.context.with_messages(messages, state.context.cursor)
        context = state.unbound(context, first_difference(state.context, context))
        breaches = check_request(context.render(), pending=bool(context.open_calls))
        if breaches:
            raise RuleError(f"with {item} the request would break rules: {breaches[0]}")
        record = Collected(
            reason=None,
            tokens_before=state.context.budget.total,
            tokens_after=context.budget.total,
            hunks=hunks_between(state.context.messages, context.messages),
            numbers=state.numbers,
            counter=state.counter.name,
            digests=digests_of(state.context, context),
        )
        state.bring_back(context, self.store.note(record))

    @_whole
    def release(self) -> None:
        """Allow restored content to be collected again."""
        self.store.note(Released())
        self.state.release()

    def turn_ended(self) -> None:
        """Sync the files, and write a checkpoint if one is due."""
        if self.store.temporary:
            return
        self.store.sync()
        self._steps += 1
        every = self.state.config.checkpoint_every_n_steps
        if every and self._steps >= every:
            self._steps = 0
            with contextlib.suppress(LogError):  # isolation keeps its backend's error
                self.store.checkpoint(self.state)

    # -- going back ----------------------------------------------------------------------------------------------

    @_whole
    def rewind(self, to: Position, state: SessionState, why: str) -> None:
        """Continue from this state of an earlier moment; the files keep what came since."""
        numbers = self.state.numbers
        self.store.note(Rewound(log=to.log, ledger=to.ledger, why=why, numbers=numbers))
        state.continue_numbering(numbers)
        self.state, self._sent = state, ""

    @_whole
    def branch(self, kept: int, point: BranchPoint, taken_out: int) -> None:
        """
        Remove everything after this many messages of the caller's list from the window; the files keep it, and do not
        count it from ``taken_out`` on, unless that is 0.
        """
        results = point.cursor.results
        record = Branched(
            kept=kept,
            cursor=attrs.evolve(point.cursor, results=None),
            results="" if results is None else results.id,
            objective=point.objective,
            taken_out=taken_out,
        )
        self.store.note(record)
        self.state.branch(record)

    def turn_began(self, turn: int) -> Position:
        """Return the moment before a turn. Raises SourceError if there was no such turn."""
        count = len(self.state.turns)
        if type(turn) is not int or not 0 <= turn < count:
            has = f"turns 0 to {count - 1}" if count else "no turn yet"
            raise SourceError(f"turn = {turn!r}: the session has {has}")
        return self.state.turns[turn]

    # -- inside --------------------------------------------------------------------------------------------------

    @_whole
    def take_effect(self) -> None:
        """Let the waiting changes of the head take effect: the prefix that they would break is lost already."""
        state = self.state
        payload = {PARTS: {}, "policy": GCPolicy.LOCKED.value, "refresh": "now"}
        changed = state.changed(state.changes, state.context)
        self.store.log.append([self._source_record(SYSTEM.name, payload, state.context.cursor.items)])
        state.change(state.changes, changed, now=True)

    def _change(
        self, given: Changes, source: str, payload: Mapping[str, Any], *, now: bool
    ) -> tuple[LayerChanged, ...] | None:
        state, context = self.state, self.state.context
        changes = state.needed(state.changes.merged(given))
        waited = now and changes.shares(given)  # waiting, but required now
        if changes == state.changes and not waited:
            return None
        changed = state.changed(changes, context)  # raises now rather than after writing
        if changed.system_tokens(source) > context.system_tokens(source):
            state.blocks.check_cap(changed, source, state.counter)
        self.store.log.append([self._source_record(source, payload, context.cursor.items)])
        waits = state.sent and not now
        state.change(changes, changed, now=now)
        if not state.sent:
            return ()  # nothing has been read that could be lost
        return layers_changed(context, changed, given, waits=waits, format=state.format.name)

    def _source_record(
        self, source: str, payload: Payload, at: int, policies: Mapping[str, GCPolicy] | None = None
    ) -> LogRecord:
        policies = policies or {}
        turn = self.state.context.cursor.turn
        return LogRecord(
            at=at,
            items=tuple(policies),
            source=source,
            turn=turn,
            time=time.time(),
            policies=policies,
            payload=payload,
        )


def _counted_now(message: Message, intake: Intake) -> Message:
    """Return the items as the session counts now; thinking that a model does not count stays uncounted."""
    now = recounted(message, intake)
    pairs = zip(message.items, now.items, strict=True)
    items = [old if old.kind is ItemKind.THINKING and not old.tokens else new for old, new in pairs]
    return attrs.evolve(now, items=tuple(items))


def _ids_of(format: Format, payload: Payload, items: Iterable[Item]) -> tuple[str, ...]:  # noqa: A002
    """Return the item of each part of a message, "" for a part without one."""
    parts = format.read(format.normalise(payload))
    left = [item for item in items if not (item.synthetic and item.call)]
    ids = []
    for part in parts:
        found = next((item for item in left if _became(part, item)), None)
        ids.append("" if found is None else found.id)
        if found is not None:
            left.remove(found)
    return tuple(ids)


def _became(part: Part, item: Item) -> bool:
    """
    Match parts and items: a late result is inside a text, wrapped arguments have another text; all others are
    unchanged. A line that gc-core added before the message belongs to none of its parts.
    """
    if part.kind is not item.kind:
        return item.kind in OWN_POLICIES and part.kind is ItemKind.USER_TEXT and item.text == part.text
    if is_framed_result(item):
        return item.text == framed_result(part.call_id, part.text, is_error=part.is_error)
    return part.kind is ItemKind.TOOL_CALL or item.text == part.text
