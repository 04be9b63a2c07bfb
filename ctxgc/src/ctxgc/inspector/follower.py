"""Follows a session while another process writes it: new records are applied, nothing is locked or written."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import attrs

from ctxgc.inspector.panel import Doing, Panel
from gc_core.errors import LogError
from gc_core.storage import ledger as ledgers
from gc_core.storage import master_log as logs
from gc_core.storage.ledger import Entry, Opened, Purged
from gc_core.storage.master_log import text_of
from gc_core.storage.rebuild import fold, survives_rewinds
from gc_core.storage.state import Position, SessionState, Settings
from gc_core.storage.store import Store
from gc_core.values.items import number_of
from gc_core.values.messages import Payload
from gc_core.values.references import ByteRange, Reference

MOST_ORIGINALS = 200
"""The most items of a reference whose originals are read at once."""

_AT = re.compile(rb'\{"at":(\d{1,18}),')
"""The beginning of a line of the ledger: the size of the log when it was written."""

_DOING = re.compile(rb'"kind":"(?:collected|undone|rewound|purged)"')
_HEAD = 200
"""The bytes at the beginning of a line of the ledger that contain its kind."""


@attrs.frozen
class _Stamp:
    """The state of a file: another inode is another file, another size or time another content."""

    inode: int
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> _Stamp:
        """Read the state. Raises LogError for a missing file."""
        try:
            found = path.stat()
        except OSError as error:
            raise LogError(f"{path} does not exist: {error.strerror}") from error
        return cls(found.st_ino, found.st_size, found.st_mtime_ns)


class Follower:
    """
    One session's files, read repeatedly; safe to call from several threads, which wait for each other.

    The first read opens the newest checkpoint and applies what came since. Every later one applies what is new: O(new).
    Everything is read again only if necessary: after a rewind or a purge, when the session was opened with other
    settings, or when the files were replaced. An incomplete last line is waited for.

    Args:
        directory: The session's.

    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory.absolute()
        self._lock = threading.Lock()
        self._stamps: tuple[_Stamp, ...] = ()
        self._store: Store | None = None
        self._state: SessionState | None = None
        self._settings: Settings | None = None
        self._reached = Position()
        self._doings_so_far: list[Doing] = []
        self.whole_reads = 0
        """The number of full reads."""

    def poll(self) -> Panel | None:
        """
        Return the current session, or None if nothing has changed since the last call.

        Raises LogError: there is no session (any more), or its files do not fit together. The next call tries again.
        """
        with self._lock:
            stamps = self._stamps_now()
            if stamps == self._stamps:
                return None
            whole = self._store is None or not self._same_files(stamps)
            self._advance(whole=whole)
            self._stamps = stamps
            if self._state is None or self._settings is None:
                return None
            return Panel.of(self.directory, self._state, self._settings, tuple(self._doings_so_far))

    def original(self, item: str) -> str | None:
        """Return the original text of an item; None for what the framework wrote, or an unknown item."""
        return next((text for _, text in self._originals(item, item)), None)

    def originals(self, reference: Reference) -> tuple[tuple[str, str], ...]:
        """Return the items that a reference covers, each with its original text; of very many the first 200."""
        return tuple(self._originals(reference.first, reference.last))

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            self._forget()

    # -- inside --------------------------------------------------------------------------------------------------

    def _stamps_now(self) -> tuple[_Stamp, ...]:
        """Return the state of the files, before they are read, so that concurrent writes are noticed the next time."""
        try:
            return tuple(_Stamp.of(self.directory / name) for name in (logs.FILE_NAME, ledgers.FILE_NAME))
        except LogError as error:
            self._forget()
            if not self.directory.exists():
                raise LogError(f"{self.directory} does not exist") from error
            raise LogError(f"{self.directory} holds no session: {error}") from error

    def _same_files(self, stamps: tuple[_Stamp, ...]) -> bool:
        """Return whether the files have only grown."""
        return len(self._stamps) == len(stamps) and all(
            old.inode == new.inode and old.size <= new.size for old, new in zip(self._stamps, stamps, strict=True)
        )

    def _forget(self) -> None:
        if self._store is not None:
            self._store.close()
        self._store, self._state, self._stamps = None, None, ()

    def _advance(self, *, whole: bool) -> None:
        """Bring the state up to date with the files. After an error the next call starts over."""
        old, self._store = self._store, Store(self.directory, writable=False)
        if old is not None:
            old.close()
        try:
            if whole or not self._grow(self._store):
                self._read_whole(self._store)
        except LogError:
            self._forget()
            raise

    def _grow(self, store: Store) -> bool:
        """Apply what is new; return False if everything must be read again."""
        if self._state is None or store.log.size < self._reached.log or store.ledger.size < self._reached.ledger:
            return False
        end = _end_of(store, self._reached.ledger)
        new = [entry.record for _, entry in store.ledger.entries(self._reached.ledger, end.ledger)]
        if any(isinstance(record, Opened | Purged) for record in new):
            return False
        if not survives_rewinds(store.ledger, self._reached, end):
            return False
        fold(self._state, store.log, store.ledger, self._reached, end)
        self._doings_so_far += _doings(store, self._reached.ledger, end.ledger)
        self._reached = end
        return True

    def _read_whole(self, store: Store) -> None:
        end = _end_of(store, 0)
        store.ledger.journal.size = end.ledger
        self._settings = Settings.of(store.settings(), None, None)
        fresh = functools.partial(self._settings.fresh, self._payload, cites=True)
        self._state = store.state_at(end, fresh)
        self._doings_so_far = list(_doings(store, 0, end.ledger))
        self._reached = end
        self.whole_reads += 1

    def _payload(self, place: ByteRange) -> Payload:
        """Return a line of the log, through the current reader of the files."""
        if self._store is None:
            raise LogError(f"{self.directory} was closed")
        return self._store.payload(place)

    def _originals(self, first: str, last: str) -> Iterator[tuple[str, str]]:
        if not (_is_numbered(first) and _is_numbered(last)):
            return
        start = number_of(first)
        for number in range(start, min(number_of(last), start + MOST_ORIGINALS - 1) + 1):
            text = self._logged(number)
            if text is not None:
                yield f"i{number}", text

    def _logged(self, number: int) -> str | None:
        with self._lock:
            if self._store is None or self._state is None:
                return None
            found = self._store.log.find(number)
            return None if found is None else text_of(found[1], f"i{number}", self._state.format)


def _is_numbered(item: str) -> bool:
    return item[:1] == "i" and item[1:].isascii() and item[1:].isdigit()


def _end_of(store: Store, start: int) -> Position:
    """
    Return the moment that both files contain: the log was opened first, so what the ledger says of a longer one was
    written since.
    """
    for place, line in store.ledger.journal.lines(start):
        at = _AT.match(line)
        if at is not None and int(at.group(1)) > store.log.size:
            return Position(store.log.size, place.start)
    return Position(store.log.size, store.ledger.size)


def _doings(store: Store, start: int, end: int) -> Iterator[Doing]:
    """Yield what was done to the window; other lines are not parsed."""
    for place, line in store.ledger.journal.lines(start, end):
        if _DOING.search(line, 0, _HEAD):
            doing = Doing.of(place, Entry.read(line))
            if doing is not None:
                yield doing
