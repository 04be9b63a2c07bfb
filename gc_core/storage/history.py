"""The changes of a session's window, read only from its ledger: nothing is restored, and no token counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from gc_core.errors import LogError
from gc_core.storage import ledger as ledgers
from gc_core.storage.journal import Journal
from gc_core.storage.ledger import Collected
from gc_core.values.json_values import DEEPEST_RECORD, read_json
from gc_core.values.references import LOG_NAME, ByteRange


@attrs.frozen(kw_only=True)
class HistoryEntry:
    """
    Something that was done to the window.

    Attributes:
        place: Where the ledger holds it.
        time: Seconds since 1970.
        what: ``collected``, ``restored``, ``undone``, ``redone``, ``rewound`` or ``purged``.
        text: The result, in words.
        in_force: Of a collection or restored item: it has not been undone.
        record: The whole of a collection, with its final texts; None for the others, and from ``read_history``.
        span: In which it was done, as ``trace-span`` in hex, where telemetry watched; else "".

    """

    place: ByteRange
    time: float
    what: str
    text: str
    in_force: bool = False
    record: Collected | None = attrs.field(default=None, repr=False)
    span: str = ""

    @property
    def is_collection(self) -> bool:
        """Whether it can be undone."""
        return self.what in {"collected", "restored"}


def read_history(directory: Path) -> tuple[HistoryEntry, ...]:
    """
    Return the history of the session in a directory, which another process may be writing meanwhile.

    Raises LogError if there is none or its ledger cannot be read.
    """
    if not (directory / LOG_NAME).is_file():
        raise LogError(f"{directory} holds no session: there is no {LOG_NAME}")
    log = Journal(directory / LOG_NAME, writable=False)
    ledger = Journal(directory / ledgers.FILE_NAME, writable=False)
    try:
        return entries_of(ledger, log.size)
    finally:
        log.close()
        ledger.close()


def entries_of(ledger: Journal, log_size: int) -> tuple[HistoryEntry, ...]:
    """The changes in a ledger for a log of this length in bytes, oldest first. Raises LogError at an invalid line."""
    entries: list[HistoryEntry] = []
    in_effect: list[tuple[HistoryEntry, dict[str, Any]]] = []
    for entry, record in _entries(ledger, log_size):
        if entry.what == "rewound":
            in_effect = [kept for kept in in_effect if kept[0].place.start < record["ledger"]]
        entries.append(entry)
        in_effect.append((entry, record))
    done = _in_force(ledger, in_effect)
    return tuple(attrs.evolve(entry, in_force=entry.place in done) for entry in entries)


def _entries(ledger: Journal, log_size: int) -> Iterator[tuple[HistoryEntry, dict[str, Any]]]:
    """The entries of the lines with their records, up to the first for a longer log: it was written since."""
    for place, line in ledger.lines():
        try:
            record = read_json(line, DEEPEST_RECORD)
            if record["at"] > log_size:
                return
            entry = _entry(place, record)
        except (LookupError, TypeError, ValueError) as error:
            where = f"{ledger.path}, bytes {place.start}-{place.end}"
            raise LogError(
                f"{where}: not a valid ledger line: {line[:200]!r}; {type(error).__name__}: {error}"
            ) from error
        if entry is not None:
            yield entry, record


def _entry(place: ByteRange, record: dict[str, Any]) -> HistoryEntry | None:
    if record["kind"] not in {"collected", "undone", "rewound", "purged"}:
        return None
    what, text = _described(record)
    return HistoryEntry(place=place, time=record["time"], what=what, text=text, span=record.get("span", ""))


def _described(record: dict[str, Any]) -> tuple[str, str]:
    match record["kind"]:
        case "collected":
            reason, tokens = record["reason"], f"{record['tokens_before']:,} to {record['tokens_after']:,} tokens"
            return ("collected", f"{reason}: {tokens}") if reason else ("restored", tokens)
        case "undone":
            text = f"the collection at byte {record['place'][0]:,} of the ledger"
            return "redone" if record.get("redone") else "undone", text
        case "purged":
            return "purged", f"{record['occurrences']} times, for {record['by']}"
    return "rewound", record["why"]


def _in_force(ledger: Journal, in_effect: list[tuple[HistoryEntry, dict[str, Any]]]) -> set[ByteRange]:
    """The places of the collections that were neither undone nor rewound."""
    done: list[ByteRange] = []
    undone: list[ByteRange] = []
    for entry, record in in_effect:
        if entry.is_collection:
            done.append(entry.place)
            continue
        if entry.what not in {"undone", "redone"}:
            continue
        source, target = (undone, done) if entry.what == "redone" else (done, undone)
        if not source or [source[-1].start, source[-1].end] != record["place"]:
            where = f"{ledger.path}: bytes {entry.place.start}-{entry.place.end}"
            raise LogError(f"{where}: of the collections, that at {record['place'][0]} is not the last one")
        target.append(source.pop())
    return set(done)
