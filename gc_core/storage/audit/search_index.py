"""Verifies that a search index matches its log. Read-only."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gc_core.storage import master_log as logs
from gc_core.storage.audit.byte_ranges import Lines
from gc_core.storage.search.index_file import FILE_NAME, SCHEMA, mark_of
from gc_core.values.sqlite_failures import sqlite_failures


def index_flaws(directory: Path, lines: Lines) -> Iterator[str]:
    """Yield what is wrong with the index of a session, if there is one."""
    path = directory / FILE_NAME
    if not path.is_file():
        return
    try:
        with contextlib.closing(_read_only(path)) as db:
            yield from _flaws(db, directory / logs.FILE_NAME, lines)
    except sqlite_failures() as error:
        yield f"it cannot be read: {error}"


def _read_only(path: Path) -> sqlite3.Connection:
    """Open the index read-only. Without a journal next to it, SQLite need not create one."""
    journal = path.with_name(f"{path.name}-wal")
    how = "mode=ro" if journal.is_file() and journal.stat().st_size else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)


def _flaws(db: sqlite3.Connection, log: Path, lines: Lines) -> Iterator[str]:
    schema = db.execute("PRAGMA user_version").fetchone()[0]
    if not schema:
        return  # the session's own thread is just creating it
    if schema != SCHEMA:
        yield f"its schema is {schema}, not {SCHEMA}"
        return
    end, first = db.execute("SELECT place, first FROM meta").fetchone() or (-1, b"")
    if type(end) is not int:
        yield f"it says that it is made up to {end!r:.60}"
        return
    if end and first != _mark(log):
        yield "it is of another log"
        return
    # What was written since the start may be indexed too.
    known = max((place for place, _ in lines.places.values()), default=0)
    if not 0 <= end <= log.stat().st_size or (0 < end < known and end not in lines.places):
        yield f"it is made up to {end}, where no line of the log ends"
    for row, item, start, stop in db.execute("SELECT row, id, start, stop FROM item WHERE start < ?", (known,)):
        text = lines.unlike(start, stop, item)
        if text:
            yield f"row {row}: {text}"


def _mark(log: Path) -> bytes:
    with log.open("rb") as file:
        return mark_of(file.readline())
