"""The file of a search index: SQLite's tables for one log, rebuilt when damaged or of another log."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gc_core.errors import LogError
from gc_core.storage.master_log import MasterLog
from gc_core.values.loggers import logger
from gc_core.values.posix import CAREFULLY
from gc_core.values.references import ByteRange
from gc_core.values.sqlite_failures import is_damage, sqlite_failures

if TYPE_CHECKING:
    import sqlite3

FILE_NAME = "index.db"

SCHEMA = 2
"""The schema version; an index with another one is rebuilt."""

_BUSY_SECONDS = 30.0
_RETRY_SECONDS = 0.01

_TABLES = ("meta", "item", "call", "words")
_CREATE = (
    "CREATE TABLE meta(place INTEGER NOT NULL, first BLOB NOT NULL)",
    """CREATE TABLE item(row INTEGER PRIMARY KEY, id TEXT, role TEXT, source TEXT, kind TEXT, tool TEXT, turn INTEGER,
    time REAL, start INTEGER, stop INTEGER)""",
    "CREATE TABLE call(id TEXT PRIMARY KEY, tool TEXT)",
    # Contentless: the log already contains the text.
    "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')",
    # Bytes of words held in memory before they are written: a batch is one segment, without merges.
    "INSERT INTO words(words, rank) VALUES('hashsize', 33554432)",
    "INSERT INTO meta VALUES(0, x'')",
    f"PRAGMA user_version = {SCHEMA}",
)
_log = logger("gc_core.index_file")

T = TypeVar("T")


class IndexFile:
    """
    An SQLite file of mode 0600 with the tables of one log's index, and the indexed size of the log.

    Args:
        path: The file; created if it is missing.
        log: The indexed log.

    Attributes:
        db: The connection; replaced when the file had to be rebuilt.

    Raises:
        LogError: The file cannot be opened or written.

    """

    def __init__(self, path: Path, log: MasterLog) -> None:
        self._path = path
        self._log = log
        self.db = _connected(path)
        with contextlib.ExitStack() as undo:
            undo.callback(self.close)
            self.mending(self._prepare)
            undo.pop_all()

    def mending(self, work: Callable[[], T]) -> T:
        """Run the action; once more with a new file if the file turns out to be damaged. Raises LogError."""
        try:
            try:
                return work()
            except sqlite_failures() as error:
                if not is_damage(error):
                    raise
                self._replace(error)
                return work()
        except sqlite_failures() as error:
            raise LogError(f"{self._path}: the search index cannot be used: {error}") from error

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run all or nothing, one writer at a time."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.db.execute("COMMIT")
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")

    def place(self) -> int:
        """Return the number of indexed bytes of the log."""
        return int(self.db.execute("SELECT place FROM meta").fetchone()[0])

    def reach(self, place: int) -> None:
        """Set the indexed size, in the transaction that indexes it."""
        self.db.execute("UPDATE meta SET place = ?, first = ?", (place, self._first()))

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    # -- inside --------------------------------------------------------------------------------------------------

    def _use_write_ahead_log(self) -> None:
        """
        Set the journal mode. SQLite does not wait for others while it changes the mode, whatever the timeout: several
        processes that open a new file at once would fail. So it is retried here, for as long as the usual timeout.
        """
        import sqlite3

        ends = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                self.db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return

    def _prepare(self) -> None:
        self._use_write_ahead_log()
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.execute("PRAGMA journal_size_limit = 4194304")
        with self.transaction():
            flaw = self._flaw()
            if flaw is not None:
                self._create()
        if flaw:
            _log.warning("search index rebuilt", path=str(self._path), why=flaw)

    def _flaw(self) -> str | None:
        """Return why the index cannot be used, "" if there is none yet, None if it is usable."""
        tables = _tables(self.db)
        schema = self.db.execute("PRAGMA user_version").fetchone()[0]
        if schema != SCHEMA:
            return f"its schema is {schema}, not {SCHEMA}" if tables else ""
        if tables != _expected_tables():
            return "its tables have another schema"
        place, first = self.db.execute("SELECT place, first FROM meta").fetchone() or (-1, b"")
        if type(place) is not int:
            return f"it says that it reaches to {place!r:.60}"
        if place == 0:
            return None
        # Another process may have written and indexed more than this one's log had when it was opened.
        reached = max(self._log.size, self._log.journal.path.stat().st_size)
        if not 0 < place <= reached or first != self._first():
            return "it is of another log"
        begins = place > self._log.size or self._log.journal.read(ByteRange(place - 1, place)) == b"\n"
        return None if begins else f"no line begins at {place}"

    def _first(self) -> bytes:
        found = self._log.journal.line_from(0)
        return b"" if found is None else mark_of(found[1])

    def _create(self) -> None:
        for table in _TABLES:
            self.db.execute(f"DROP TABLE IF EXISTS {table}")
        _create_tables(self.db)

    def _replace(self, error: Exception) -> None:
        _log.warning("search index rebuilt", path=str(self._path), why=str(error))
        self.db.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self.db = _connected(self._path)
        self._prepare()


def mark_of(line: bytes) -> bytes:
    """Return the digest of a log's first line, which identifies the log."""
    return hashlib.blake2b(line, digest_size=16).digest()


def bindable(text: str) -> str:
    """Return the text in a form for SQLite: lone surrogates have no UTF-8 form."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _create_tables(db: sqlite3.Connection) -> None:
    for statement in _CREATE:
        db.execute(statement)


def _tables(db: sqlite3.Connection) -> dict[str, str]:
    """Return the statement of each table. SQLite reads a damaged one as it can: a column may have lost its key."""
    return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


@functools.cache
def _expected_tables() -> dict[str, str]:
    """Return the statements of the tables, with those that this version of SQLite adds for the words."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        _create_tables(db)
        return _tables(db)


def _connected(path: Path) -> sqlite3.Connection:
    import sqlite3

    try:
        if path.is_symlink():  # it could lead to a file outside the session
            path.unlink()
        # SQLite would make it readable for everybody.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | CAREFULLY, 0o600))
        return sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    except sqlite_failures() as error:
        raise LogError(f"{path} cannot be opened: {error}") from error
