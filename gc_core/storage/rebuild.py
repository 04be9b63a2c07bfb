"""Rebuilds the state of a session from its master log and its ledger. No plugin is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from gc_core.errors import GCError, LogError
from gc_core.storage.ledger import (
    Booked,
    Branched,
    Cleared,
    Collected,
    Configured,
    Entry,
    Inherited,
    Ledger,
    ObjectiveSet,
    Observed,
    Opened,
    Pinned,
    PolicySet,
    Purged,
    Registered,
    Released,
    Rewound,
    Sent,
    Undone,
    inconsistent_record,
)
from gc_core.storage.master_log import PARTS, LogRecord, MasterLog
from gc_core.storage.packed import Packed
from gc_core.storage.state import Position, SessionState, with_policies
from gc_core.values.items import ItemKind
from gc_core.values.layers import SystemPart
from gc_core.values.messages import Payload
from gc_core.values.policy import GCPolicy
from gc_core.values.references import ByteRange
from gc_core.values.sources import CONVERSATION, ENRICHMENT, PLUGIN
from gc_core.window.memory_blocks import Block
from gc_core.window.pending_head import Changes

SESSION = "session"
"""The source of the session's own lines: the first one, which names the session, and closed calls."""

CALLS_CLOSED = "calls_closed"
"""Key of the payload that records closed calls: they got synthetic results because the next model call was due."""


def fold(state: SessionState, log: MasterLog, ledger: Ledger, start: Position, end: Position) -> None:
    """
    Bring a state from ``start`` to ``end``, record by record.

    Raises LogError, naming the line, if log and ledger do not fit together, and if something before ``start`` is
    rewound.
    """
    reached = start
    for place, entry in standing(ledger, start, end):
        _check(log, ledger, place, entry, reached)
        skipped = entry.record.log if isinstance(entry.record, Rewound) else entry.at
        apply_log_records(state, log, reached, min(skipped, end.log))
        enter(state, ledger, place, entry)
        reached = Position(entry.at, place.end)
    apply_log_records(state, log, reached, end.log)


def survives_rewinds(ledger: Ledger, start: Position, end: Position) -> bool:
    """Return whether nothing that happened before ``start`` was rewound between it and ``end``."""
    return all(
        entry.record.ledger >= start.ledger and entry.record.log >= start.log
        for _, entry in ledger.entries(start.ledger, end.ledger)
        if isinstance(entry.record, Rewound)
    )


def standing(ledger: Ledger, start: Position, end: Position) -> list[tuple[ByteRange, Entry]]:
    """Return the entries that no later one rewound."""
    return standing_of(ledger.entries(start.ledger, end.ledger), ledger, start)


def standing_of(
    entries: Iterable[tuple[ByteRange, Entry]], ledger: Ledger, start: Position
) -> list[tuple[ByteRange, Entry]]:
    """
    Return the entries of a ledger, from a position on, that no later one rewound. Raises LogError if one rewinds to
    before the position.
    """
    left: list[tuple[ByteRange, Entry]] = []
    for place, entry in entries:
        record = entry.record
        if isinstance(record, Rewound):
            if record.ledger < start.ledger or record.log < start.log:
                raise LogError(f"{ledger.journal.path}: bytes {place.start} rewind what precedes {start.ledger}")
            left = [kept for kept in left if kept[0].start < record.ledger]
        left.append((place, entry))
    return left


def _check(log: MasterLog, ledger: Ledger, place: ByteRange, entry: Entry, reached: Position) -> None:
    """Check that an entry follows the order of the log, and belongs to the same session."""
    where = f"{ledger.journal.path}: bytes {place.start}-{place.end}"
    if entry.at < reached.log:
        raise LogError(f"{where} speak of {entry.at} bytes of the log; those before it reach to {reached.log}")
    if isinstance(entry.record, Opened) and entry.record.session != (session := session_of(log)):
        raise LogError(f"{where} are of session {entry.record.session!r}; {log.journal.path} is of {session!r}")


def session_of(log: MasterLog) -> str:
    """Return the id of the log's session, from its first line, or ""."""
    _, record = next(log.records(0, log.size), (None, None))
    return "" if record is None or record.source != SESSION else str(record.payload.get("session", ""))


# -- the log -------------------------------------------------------------------------------------------------------


def apply_log_records(state: SessionState, log: MasterLog, reached: Position, end: int) -> None:
    """Apply the lines of the log from a moment up to an offset. Raises LogError, naming the line that does not fit."""
    for place, record in log.records(reached.log, end):
        try:
            _number_on(state, record)
            apply_log_record(state, place, record, Position(place.start, reached.ledger))
        except inconsistent_record() as error:
            where = f"{log.journal.path}: bytes {place.start}-{place.end}"
            raise LogError(f"{where} do not fit: {_error_text(error)}") from error


def _number_on(state: SessionState, record: LogRecord) -> None:
    """Continue numbering after a lost collection, which may have numbered traces: the log's ids decide."""
    numbers = state.numbers
    if record.at < numbers.items:
        raise LogError(f"{record.at} items were numbered before it; now {numbers.items} are")
    if record.at > numbers.items:
        state.continue_numbering(attrs.evolve(numbers, items=record.at))


def apply_log_record(state: SessionState, place: ByteRange, record: LogRecord, at: Position) -> None:
    """Apply one line of the log, written at this moment. Raises SourceError or LogError if it does not fit."""
    payload = record.payload
    if record.source == SESSION:
        if CALLS_CLOSED in payload:
            state.take(state.closing(), at)
        return
    if record.source == CONVERSATION.name:
        arrival = state.intake().take(payload, state.context.cursor, policy=record.policy, became=record.items)
        arrival = arrival.keeping(record.kept_after)
        state.take(with_policies(arrival, record.policies).logged(record.items, place, payload), at, record.given)
    elif PARTS in payload:
        policy = GCPolicy(payload["policy"])
        texts = payload[PARTS].items()
        parts = [SystemPart(source=record.source, name=name, text=text, policy=policy) for name, text in texts]
        _change(state, state.changes.system(parts), payload)
    elif record.source == PLUGIN.name:
        tools = state.changes.tools(tuple(payload["schemas"]), frozenset(payload["discoverable"]))
        _change(state, tools, payload)
    else:
        _place_block(state, place, record)


def _change(state: SessionState, changes: Changes, payload: Payload) -> None:
    needed = state.needed(changes)
    state.change(needed, state.changed(needed, state.context), now=payload["refresh"] == "now")


def _place_block(state: SessionState, place: ByteRange, record: LogRecord) -> None:
    if not record.payload["text"]:
        state.take_back(record.source, record.payload["name"])
        return
    # Its cap was checked when it was given: another counter might now exceed it.
    kind = ItemKind.ENRICHMENT if record.source == ENRICHMENT.name else ItemKind.MEMORY_BLOCK
    block = Block(source=record.source, name=record.payload["name"], text=record.payload["text"], kind=kind)
    state.place(
        with_policies(state.placing(block, state.context.cursor), record.policies).logged(
            record.items, place, record.payload
        )
    )


# -- the ledger ----------------------------------------------------------------------------------------------------


def enter(state: SessionState, ledger: Ledger, place: ByteRange, entry: Entry) -> None:
    """Apply one line of the ledger. Raises LogError, naming it, if it does not fit."""
    try:
        apply_ledger_entry(state, ledger, place, entry)
    except inconsistent_record() as error:
        where = f"{ledger.journal.path}: bytes {place.start}-{place.end}"
        raise LogError(f"{where} ({type(entry.record).__name__}) do not fit: {_error_text(error)}") from error


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, GCError) else f"{type(error).__name__}: {error}"


def apply_ledger_entry(state: SessionState, ledger: Ledger, place: ByteRange, entry: Entry) -> None:  # noqa: C901, PLR0912
    """Apply an entry as ``enter`` does, without naming the line in errors."""
    match entry.record:
        case Opened() | Purged() | Booked() | Inherited():
            pass
        case Registered(source=source):
            state.register(source)
        case Sent(digest=digest):
            state.sent, state.sent_digest = True, digest
        case Observed(raw=raw, reported=reported, counted=counted):
            state.observe(raw, reported, counted=counted)
        case ObjectiveSet() as record:
            state.objective = state.objective.set_to(record.text)
        case Cleared() as record:
            state.clear(record)
        case Configured() as record:
            state.configure(record, state.counted_for(record.model))
        case Pinned(turn=turn, item=item, pinned=pinned):
            state.pin(turn, item, pinned=pinned)
        case PolicySet(item=item, policy=policy):
            state.context.set_policy(item, policy)
        case Collected() as record:
            state.collect_again(record, place)
        case Undone(place=of, redone=True):
            _check_last(state.taken_back, of)
            record = collected(ledger, of)
            state.redo(state.with_again(record), record.recalled)
        case Undone(place=of):
            _check_last(state.done, of)
            record = collected(ledger, of)
            state.undo(state.without(record), record.recalled)
        case Released():
            state.release()
        case Branched() as record:
            state.branch(record)
        case Rewound(numbers=numbers):
            state.continue_numbering(numbers)


def _check_last(places: Sequence[ByteRange] | Packed[ByteRange], place: ByteRange) -> None:
    if not places or places[-1] != place:
        raise LogError(f"of the collections, that at {place.start} is not the last one")


def collected(ledger: Ledger, place: ByteRange) -> Collected:
    """Return the collection at a place of the ledger. Raises LogError for another record."""
    record = ledger.read(place).record
    if not isinstance(record, Collected):
        raise LogError(f"{ledger.journal.path}: bytes {place.start}-{place.end} hold no collection")
    return record
