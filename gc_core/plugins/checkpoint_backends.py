"""
Memory backends: where a session keeps its checkpoints, as bytes by key.

All three work without further installations. Their contents may be lost: log and ledger contain the same.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from gc_core.errors import LogError
from gc_core.values.folders import private
from gc_core.values.patterns import regex
from gc_core.values.posix import CAREFULLY
from gc_core.values.sqlite_failures import is_damage, sqlite_failures

if TYPE_CHECKING:
    import sqlite3

FOLDER, DATABASE = "checkpoints", "checkpoints.db"
"""The folder for ``files`` and the file for ``sqlite``, in a session's directory."""


_KEY = regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", re.ASCII)
_UNFINISHED = ".new"
_BUSY_SECONDS = 5.0


def check_key(key: str) -> str:
    """
    Return a key that every backend accepts. Raises LogError for any other: it could name files
    outside the backend.
    """
    if not isinstance(key, str) or _KEY.fullmatch(key) is None or key.endswith(_UNFINISHED):
        said = "up to 200 letters, digits, '.', '_' and '-', no '.' first"
        raise LogError(f"key = {key!r:.300}: expected {said}, and no {_UNFINISHED} at the end")
    return key


@attrs.frozen
class InMemoryBackend:
    """
    Keeps bytes while the process lives: for development and tests.

    Args:
        directory: The session's; not used.

    """

    directory: Path | None = None
    _kept: dict[str, bytes] = attrs.field(factory=dict, init=False, repr=False, eq=False)

    def write(self, key: str, data: bytes) -> None:
        """Store the bytes under a key."""
        self._kept[check_key(key)] = bytes(data)

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a key, or None."""
        return self._kept.get(check_key(key))

    def delete(self, key: str) -> None:
        """Delete a key; a missing one is not an error."""
        self._kept.pop(check_key(key), None)

    def keys(self, prefix: str = "") -> tuple[str, ...]:
        """Return the keys with this prefix, sorted."""
        return tuple(sorted(key for key in list(self._kept) if key.startswith(prefix)))


@attrs.frozen
class FileBackend:
    """
    Keeps one file per key, mode 0600, in a folder of mode 0700; one writer at a time, any number of readers.

    A file is written next to its place and then renamed, so that a reader finds the old bytes or the new ones. Raises
    LogError, naming the file, when it cannot be written, read or deleted.

    Args:
        directory: The folder; created with the first key.

    """

    directory: Path = attrs.field(converter=Path)
    _writing: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False, eq=False)

    def write(self, key: str, data: bytes) -> None:
        """Store the bytes under a key: completely, or not at all."""
        path = self.directory / check_key(key)
        new = self.directory / f"unfinished{_UNFINISHED}"
        with self._writing:
            private(self.directory)
            try:
                new.unlink(missing_ok=True)  # left by a killed writer; a link is not followed
                with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(data)
                new.replace(path)
            except OSError as error:
                with contextlib.suppress(OSError):
                    new.unlink()
                raise LogError(f"{path} cannot be written: {error}") from error

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a key, or None."""
        path = self.directory / check_key(key)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LogError(f"{path} cannot be read: {error}") from error

    def delete(self, key: str) -> None:
        """Delete a key; a missing one is not an error."""
        path = self.directory / check_key(key)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise LogError(f"{path} cannot be deleted: {error}") from error

    def keys(self, prefix: str = "") -> tuple[str, ...]:
        """Return the keys with this prefix, sorted."""
        try:
            names = [entry.name for entry in os.scandir(self.directory) if entry.is_file()]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise LogError(f"{self.directory} cannot be read: {error}") from error
        return tuple(sorted(name for name in names if name.startswith(prefix) and _is_key(name)))


@attrs.frozen
class SQLiteBackend:
    """
    Keeps all keys in one SQLite file, mode 0600; several processes may read while one writes.

    Each call opens the file and closes it, so it may be used from any thread. It uses SQLite's rollback journal, not
    its WAL: between two writes there is one file, which can be read where writing is not allowed. An unfinished write
    of a killed writer is rolled back by the next one that may write; a file that is not a database any more is replaced
    with the next key. Raises LogError, naming the file, when it cannot be written or read, and when another process has
    locked it for five seconds.

    Args:
        path: The file; created with the first key.
        writable: Whether it may be changed at all, even to roll back an unfinished write.

    """

    path: Path = attrs.field(converter=Path)
    writable: bool = attrs.field(default=True, kw_only=True)

    def write(self, key: str, data: bytes) -> None:
        """Store the bytes under a key: completely, or not at all."""
        check_key(key)
        try:
            self._write(key, data)
        except LogError as error:
            if not is_damage(error.__cause__):
                raise
            with self._as_log_error("replaced"):
                for path in (self.path, self._journal):
                    path.unlink(missing_ok=True)
            self._write(key, data)

    def _write(self, key: str, data: bytes) -> None:
        with self._as_log_error("written"):
            if self.path.is_symlink():  # it could lead to a file outside the session
                self.path.unlink()
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | CAREFULLY, 0o600))
            with self._opened("rw") as db:
                db.execute("BEGIN IMMEDIATE")
                db.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID")
                db.execute("INSERT OR REPLACE INTO kept(key, data) VALUES (?, ?)", (key, bytes(data)))

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a key, or None."""
        check_key(key)
        found = self._rows("SELECT data FROM kept WHERE key = ?", (key,))
        return bytes(found[0][0]) if found else None

    def delete(self, key: str) -> None:
        """Delete a key; a missing one is not an error."""
        check_key(key)
        if self._rows("SELECT 1 FROM kept WHERE key = ?", (key,)):
            with self._as_log_error("written"), self._opened("rw") as db:
                db.execute("DELETE FROM kept WHERE key = ?", (key,))

    def keys(self, prefix: str = "") -> tuple[str, ...]:
        """Return the keys with this prefix, sorted."""
        rows = self._rows("SELECT key FROM kept WHERE substr(key, 1, ?) = ? ORDER BY key", (len(prefix), prefix))
        return tuple(str(key) for (key,) in rows)

    # -- inside --------------------------------------------------------------------------------------------------

    def _rows(self, query: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        rows = list[tuple[Any, ...]]()
        with self._as_log_error("read"):
            if self.path.is_file() and self.path.stat().st_size:  # a reader creates no file
                with self._opened("rw" if self.writable and self._journal.exists() else "ro") as db:
                    # A writer that was killed before the first key was stored has left a file without the table.
                    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'kept'").fetchone():
                        rows = db.execute(query, values).fetchall()
        return rows

    @property
    def _journal(self) -> Path:
        """
        The journal of a transaction next to the file; if one is left, it must be rolled back before
        anything is read.
        """
        return self.path.with_name(f"{self.path.name}-journal")

    @contextlib.contextmanager
    def _opened(self, mode: str) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction."""
        import sqlite3

        where = f"{self.path.absolute().as_uri()}?mode={mode}"
        with contextlib.closing(sqlite3.connect(where, timeout=_BUSY_SECONDS, uri=True)) as db, db:
            db.execute("PRAGMA synchronous = NORMAL")
            yield db

    @contextlib.contextmanager
    def _as_log_error(self, what: str) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except sqlite_failures() as error:
            why = str(error)
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_ROLLBACK:
                why = "a writer was killed in the middle of a write, which the next GCSession.open takes back"
            raise LogError(f"{self.path} cannot be {what}: {why}") from error


def _is_key(name: str) -> bool:
    return _KEY.fullmatch(name) is not None and not name.endswith(_UNFINISHED)
