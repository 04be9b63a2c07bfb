"""Fills a search index: the log's next records become rows, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gc_core.errors import LogError
from gc_core.providers.contract import Format
from gc_core.storage.master_log import LogRecord, MasterLog
from gc_core.storage.search.index_file import IndexFile, bindable
from gc_core.storage.search.record_texts import parts_of, readable
from gc_core.values.items import ItemKind, Part
from gc_core.values.loggers import logger
from gc_core.values.references import ByteRange
from gc_core.values.scripts import parted

if TYPE_CHECKING:
    import sqlite3

_KEPT_CALLS = 1_000
"""The most calls whose tools are remembered for their results."""

_log = logger("gc_core.indexing")


def index_batch(file: IndexFile, log: MasterLog, form: Format, most: int) -> int:
    """
    Index the next records, up to the one that reaches this many bytes; return the bytes indexed.

    The indexed size is written with it: after a kill the index continues from there.
    """
    if file.place() >= log.size:  # read without a lock, because most searches find nothing new
        return 0
    with file.transaction():
        start = file.place()  # read again: another process may have indexed in between
        end = _index_from(file.db, log, form, start, most)
        file.reach(end)
    return end - start


def _index_from(db: sqlite3.Connection, log: MasterLog, form: Format, start: int, most: int) -> int:
    """Index the records of a batch; return its end."""
    end, batch = start, _Batch(db)
    for place, line in log.journal.lines(start):
        end = place.end
        record = _record(line, place)
        if record is not None:
            batch.take(place, record, parts_of(record, form))
        if end - start >= most:
            break
    batch.write()
    return end


def _record(line: bytes, place: ByteRange) -> LogRecord | None:
    """Return the record in a line; None for an invalid one, because the lines after it should be found all the same."""
    try:
        return LogRecord.read(line)
    except LogError as error:
        _log.warning("log line not searched", at_byte=place.start, why=str(error))
        return None


class _Batch:
    """The rows of one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._row: int = db.execute("SELECT coalesce(max(row), 0) FROM item").fetchone()[0]
        self._items: list[tuple[Any, ...]] = []
        self._texts: list[tuple[int, str]] = []
        self._calls: dict[str, str] = {}

    def take(self, place: ByteRange, record: LogRecord, parts: Iterable[tuple[str, Part]]) -> None:
        role, source = bindable(record.role), bindable(record.source)
        for item, part in parts:
            self._row += 1
            key, tool = bindable(item), self._tool(part)
            self._items.append(
                (self._row, key, role, source, part.kind.value, tool, record.turn, record.time, place.start, place.end)
            )
            self._texts.append((self._row, bindable(parted(readable(part)))))

    def write(self) -> None:
        self._db.executemany("INSERT INTO item VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._items)
        self._db.executemany("INSERT INTO words(rowid, text) VALUES(?, ?)", self._texts)
        self._db.executemany("INSERT OR REPLACE INTO call VALUES(?, ?)", self._calls.items())
        self._db.execute("DELETE FROM call WHERE rowid <= (SELECT max(rowid) FROM call) - ?", (_KEPT_CALLS,))

    def _tool(self, part: Part) -> str:
        """Return the tool of a call or result. Call ids repeat within a session: the last one counts."""
        key, name = bindable(part.call_id), bindable(part.name)
        if part.kind is ItemKind.TOOL_CALL:
            self._calls.pop(key, None)  # moves it to the end
            self._calls[key] = name
        elif part.kind is ItemKind.TOOL_RESULT:
            return name or self._calls.get(key) or self._called_before(key)
        return name

    def _called_before(self, key: str) -> str:
        found = self._db.execute("SELECT tool FROM call WHERE id = ?", (key,)).fetchone()
        return found[0] if found else ""
