"""A session's directory: master log, ledger and checkpoints, with one writer at a time."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gc_core.errors import LogError, SessionClosedError
from gc_core.observer import UNWATCHED, Watch
from gc_core.storage import ledger as ledgers
from gc_core.storage import master_log as logs
from gc_core.storage.checkpoints import Checkpoint, Checkpoints, shown
from gc_core.storage.journal import Journal
from gc_core.storage.ledger import Entry, Ledger, LedgerRecord, Opened
from gc_core.storage.master_log import LogRecord, MasterLog
from gc_core.storage.rebuild import SESSION, fold, survives_rewinds
from gc_core.storage.state import Position, SessionState
from gc_core.values.folders import TemporaryFolder, private
from gc_core.values.loggers import CURRENT, logger
from gc_core.values.messages import Payload
from gc_core.values.references import ByteRange

if TYPE_CHECKING:
    from gc_core.storage.writer_lock import WriterLock

_log = logger("gc_core.store")


class Store:
    """
    The files of one session.

    Without a directory they are in a private temporary one, which is deleted when the store is closed. They belong to
    the process that opened them: a forked child does not use them, and its exit changes nothing.

    Args:
        directory: Their directory, or None.
        writable: Whether anything may be written; there is one writer at a time.

    Raises:
        LogError: Another process writes there, or the files cannot be opened.

    """

    def __init__(self, directory: Path | None, *, writable: bool = True) -> None:
        self.watch: Watch = UNWATCHED
        self._inherited_from = 0
        _OPEN.add(self)
        # A session that is never closed leaves nothing behind either, unless the process is killed.
        self._folder: TemporaryFolder | None = None
        if directory is None:
            self._folder = TemporaryFolder()
            self.directory = self._folder.path
        else:
            # Absolute: the host may change its own directory.
            self.directory = private(directory.absolute()) if writable else directory.absolute()
        files = (self.directory / logs.FILE_NAME, self.directory / ledgers.FILE_NAME)
        self._lock = self._locked(files) if directory and writable else None
        log, ledger = (Journal(file, writable=writable, lock=self._lock) for file in files)
        self.log, self.ledger = MasterLog(log), Ledger(ledger)
        self.checkpoints = shown(self.directory, writable=writable)
        self.session = self._session()
        self._opened = Opened(session=self.session, format="", model=None, config={}, version="")
        for journal in (self.log.journal, self.ledger.journal):
            if journal.torn and writable:
                _log.warning(
                    "torn bytes moved aside",
                    gc_session=self.session,
                    file=str(journal.path),
                    bytes=journal.torn,
                    at_byte=journal.size,
                )

    @property
    def temporary(self) -> bool:
        """True if its directory is deleted when it is closed."""
        return self._folder is not None

    @property
    def is_inherited(self) -> bool:
        """True if this process was forked from the one that opened it."""
        return self._inherited_from > 0

    @property
    def is_lost(self) -> bool:
        """Whether nothing may be written any more: this process is a fork, or another session opened the directory."""
        return self.is_inherited or (self._lock is not None and self._lock.is_lost)

    def check_owner(self, call: str) -> None:
        """Raise SessionClosedError, saying what to do, where nothing may be written any more (see ``is_lost``)."""
        if self.is_inherited:
            raise SessionClosedError(
                f"{call}() in process {os.getpid()}, a fork of process {self._inherited_from}, which holds the session:"
                " a log has one writer. Open sessions after the fork: GCSession.open(directory) once the parent has"
                " closed it, or on a branch that the parent made with session.fork(directory) and closed"
            )
        if self._lock is not None:
            try:
                self._lock.wake()
            except LogError as error:
                raise SessionClosedError(f"{call}(): {error}") from error

    def leave_to_parent(self) -> None:
        """Leave the files to the parent, in a forked child: none of them is written, unlocked or removed."""
        self._inherited_from = self._inherited_from or os.getppid()

    @property
    def is_used(self) -> bool:
        """True if a session has begun here; one that was killed during creation has not."""
        first = next(iter(self.log.journal.lines()), None)
        return self.ledger.size > 0 or (first is not None and first[0].end < self.log.size)

    @property
    def position(self) -> Position:
        """The sizes of log and ledger."""
        return Position(self.log.size, self.ledger.size)

    def begin(self, format: str) -> None:  # noqa: A002 - the session's own word
        """Write the first line of the log, which names the session."""
        import uuid

        if self.log.size:
            return  # left by a process that was killed at the start
        self.session = uuid.uuid4().hex
        payload = {"format": format, "session": self.session, "version": logs.VERSION}
        self.log.append([LogRecord(at=0, source=SESSION, time=time.time(), payload=payload)])

    def opened(self, record: Opened) -> None:
        """Record how the session is opened."""
        self._opened = record
        self.note(record)

    def note(self, record: LedgerRecord) -> ByteRange:
        """Write a record to the ledger."""
        ids = CURRENT.get()
        span = ids.pair if ids is not None and ids.session == self.session else ""
        place = self.ledger.append(Entry(at=self.log.size, time=time.time(), record=record, span=span))
        self.watch.on_record(record)
        return place

    def payload(self, place: ByteRange) -> Payload:
        """Return the payload of a line of the master log."""
        return self.log.read(place).payload

    def settings(self) -> Opened:
        """Return how the session was last opened; if no ledger says so, what the log says, without configuration."""
        newest = self.newest_checkpoint()
        found = self.ledger.opened_last(0 if newest is None else newest.at.ledger)
        if found is None and newest is not None:
            found = newest.opened
        if found is None:
            _log.warning("opening not recorded", gc_session=self.session, file=str(self.ledger.journal.path))
            record = next(iter(self.log.records()), None)
            if record is None:
                raise LogError(f"{self.directory} holds no session: {logs.FILE_NAME} has no whole line")
            first = record[1].payload
            found = Opened(session=self.session, format=str(first.get("format", "")), model=None, config={}, version="")
        return found

    def reaches(self, position: Position) -> bool:
        """Return whether lines of both files end there."""
        ends = ((self.log.journal, position.log), (self.ledger.journal, position.ledger))
        return all(
            place == 0 or (place <= journal.size and journal.read(ByteRange(place - 1, place)) == b"\n")
            for journal, place in ends
        )

    # -- the state -----------------------------------------------------------------------------------------------

    def keep_checkpoints(self, checkpoints: Checkpoints) -> None:
        """
        Use another backend from now on. Raises LogError when it has checkpoints of lost bytes and
        cannot delete them.
        """
        checkpoints.forget(self.position)
        self.checkpoints = checkpoints

    def state_at(self, end: Position, fresh: Callable[[], SessionState]) -> SessionState:
        """
        Return the state at a moment: the newest checkpoint before it, and what happened since.

        Raises LogError, naming file and bytes, when log and ledger do not fit together.
        """
        for checkpoint in self._surviving(end):
            state = fresh()
            try:
                checkpoint.restore(state)
                fold(state, self.log, self.ledger, checkpoint.at, end)
            except LogError as error:
                self.checkpoints.pass_over(checkpoint, error)
            else:
                return state
        state = fresh()
        fold(state, self.log, self.ledger, Position(), end)
        return state

    def newest_checkpoint(self) -> Checkpoint | None:
        """Return the newest checkpoint that was not rewound."""
        return next(self._surviving(self.position), None)

    def mend(self) -> int:
        """
        Move ledger entries aside that name a missing part of the log; return their number.

        Only a power loss without fsync between two files causes that: the log is written first. Checkpoints of the lost
        part are deleted too. Raises LogError, with nothing changed, when the ledger is of another session.
        """
        self._check_whose()
        newest = self.newest_checkpoint()
        known = 0 if newest is None else newest.at.ledger
        lost = [place for place, entry in self.ledger.entries(known) if entry.at > self.log.size]
        if lost:
            self.ledger.journal.cut(lost[0].start)
            _log.warning(
                "ledger entries moved aside", gc_session=self.session, entries=len(lost), log_bytes=self.log.size
            )
        self.checkpoints.forget(self.position)
        return len(lost)

    def checkpoint(self, state: SessionState) -> Checkpoint:
        """Write a checkpoint."""
        checkpoint = Checkpoint.of(state, self.position, self._opened)
        self.checkpoints.write(checkpoint)
        _log.debug("checkpoint made", log_bytes=checkpoint.at.log, ledger_bytes=checkpoint.at.ledger)
        return checkpoint

    def sync(self) -> None:
        """Wait until everything is on the disk; a temporary session does not need that."""
        if not self.temporary:
            self.log.journal.sync()
            self.ledger.journal.sync()

    def close(self) -> None:
        """Close the files; temporary ones are deleted then."""
        self.log.journal.close()
        self.ledger.journal.close()
        if self._lock is not None:
            self._lock.release()
        if self._folder is not None:
            self._folder.close()

    # -- inside --------------------------------------------------------------------------------------------------

    def _check_whose(self) -> None:
        for place, entry in self.ledger.entries():
            record = entry.record
            if isinstance(record, Opened) and record.session != self.session:
                where = f"{self.ledger.journal.path}: bytes {place.start}-{place.end}"
                raise LogError(f"{where} are of session {record.session}; the log is of {self.session}")
            return

    def _surviving(self, end: Position) -> Iterator[Checkpoint]:
        """Yield the checkpoints of this session up to a moment that were not rewound since, newest first."""
        for checkpoint in self.checkpoints.newest(end):
            if checkpoint.session != self.session or not self.reaches(checkpoint.at):
                self.checkpoints.pass_over(checkpoint, LogError("log and ledger have no such moment"))
                continue
            try:
                survives = survives_rewinds(self.ledger, checkpoint.at, end)
            except LogError as error:
                self.checkpoints.pass_over(checkpoint, error)
            else:
                if survives:
                    yield checkpoint

    def _locked(self, files: tuple[Path, ...]) -> WriterLock:
        from gc_core.storage.writer_lock import WriterLock  # only where a session is kept

        return WriterLock(self.directory, files)

    def _session(self) -> str:
        first = next(iter(self.log.records(0, self.log.size)), None) if self.log.size else None
        return str(first[1].payload.get("session", "")) if first and first[1].source == SESSION else ""


_OPEN: Final[weakref.WeakSet[Store]] = weakref.WeakSet()
"""Every store of this process."""


def _leave_all_to_parent() -> None:
    for store in _OPEN:
        store.leave_to_parent()


if hasattr(os, "register_at_fork"):  # nothing forks where it is missing
    os.register_at_fork(after_in_child=_leave_all_to_parent)
