"""Verifies that the files of a session agree: every line, every place, every digest. Read-only."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import attrs

from gc_core.errors import LogError
from gc_core.isolation import Attempt, isolated
from gc_core.providers.contract import TokenCounter
from gc_core.storage import ledger as ledgers
from gc_core.storage import master_log as logs
from gc_core.storage import task_state_file as task_file
from gc_core.storage.audit.byte_ranges import ITEM, Entries, Lines, Names, misplaced
from gc_core.storage.audit.checkpoints import MISFIT, Kept, moments, place_of, unlike
from gc_core.storage.audit.search_index import index_flaws
from gc_core.storage.checkpoints import Checkpoint, checkpoint_stores_in
from gc_core.storage.journal import Journal
from gc_core.storage.ledger import Collected, Entry, Ledger, Rewound, Sent
from gc_core.storage.master_log import LogRecord, MasterLog
from gc_core.storage.rebuild import apply_ledger_entry, apply_log_record
from gc_core.storage.search import index_file
from gc_core.storage.state import Position, SessionState, Settings, digest_of_messages
from gc_core.values.items import number_of
from gc_core.values.messages import Message
from gc_core.values.references import ByteRange


@attrs.frozen(kw_only=True)
class Finding:
    """
    A disagreement between the files.

    Attributes:
        file: The file, relative to the session's directory.
        place: The bytes in it, or None for the whole file.
        text: What is wrong.

    """

    file: str
    place: ByteRange | None = None
    text: str

    def __str__(self) -> str:
        """Return file, bytes and what is wrong, on one line."""
        where = "" if self.place is None else f", bytes {self.place.start}-{self.place.end}"
        return f"{self.file}{where}: {self.text}"


def verify(directory: str | Path, counter: TokenCounter | None = None) -> tuple[Finding, ...]:
    """
    Return every disagreement between the files of a session; empty if there is none. Changes nothing and takes no lock.

    Every line must be readable, ids and offsets in order, and every named place must hold what it is named for. Log and
    ledger are replayed from the beginning, without checkpoints, in one pass; the digests of every request that was
    sent, of every collection in effect, and every checkpoint must match the window of their time. Rewound parts are
    read but not compared. After the first line that does not fit, the comparison ends: later states cannot be known.

    Bytes that no digest covers can be changed without being noticed: everything after the last request, collection and
    checkpoint. A purge renews the digests (see ``purge``), so they only cover what has happened since then.

    A session that is being written can be verified: what is written after the start does not count.
    Memory grows with the number of lines, not with their length.

    Args:
        directory: The session's.
        counter: The host's own counter; tokens are not compared, so the session's default is fine too.

    Raises:
        LogError: There is no session.

    """
    directory = Path(directory)
    if not (directory / logs.FILE_NAME).is_file():
        raise LogError(f"{directory} holds no session: there is no {logs.FILE_NAME}")
    with contextlib.ExitStack() as opened:
        # The log first: ledger entries about bytes beyond those read here were written since.
        log = opened.enter_context(contextlib.closing(Journal(directory / logs.FILE_NAME, writable=False)))
        try:
            ledger = opened.enter_context(contextlib.closing(Journal(directory / ledgers.FILE_NAME, writable=False)))
        except LogError as error:
            return (Finding(file=ledgers.FILE_NAME, text=str(error)),)
        return tuple(_Audit(directory, MasterLog(log), Ledger(ledger)).run(counter))


class _Audit:
    """One verification of a session."""

    def __init__(self, directory: Path, log: MasterLog, ledger: Ledger) -> None:
        self._directory, self._log, self._ledger = directory, log, ledger
        self._findings: list[Finding] = []
        self._lines, self._entries, self._names = Lines(), Entries(), Names()
        self._walk = log.journal.lines()
        self._reached = Position()
        self._checkpoints: dict[Position, list[Kept]] = {}
        self._settings: Settings | None = None
        # The current window, and whether its digest was the expected one; None once it cannot be known.
        self._state: SessionState | None = None
        self._fits = True
        self._fits_as_sent = True

    def run(self, counter: TokenCounter | None) -> list[Finding]:
        """Return all findings."""
        standing = self._read_ledger()
        self._begin(counter)
        for place, entry in standing:
            skipped = entry.record.log if isinstance(entry.record, Rewound) else entry.at
            self._advance(skipped, taking=True)
            self._advance(entry.at, taking=False)
            self.enter(place, entry)
        if self._entries.damaged:
            self._state = None
        self._advance(self._log.size, taking=True)
        for kept in itertools.chain.from_iterable(self._checkpoints.values()):
            self._look_at_rest(kept)
        for place, session in self._entries.of_others(self._lines.session):
            self._say(ledgers.FILE_NAME, place, f"it is of session {session!r}; the log is of {self._lines.session!r}")
        for by, text in misplaced(self._lines, self._entries, self._names, self._log.size):
            self._say(*by, text)
        for text in index_flaws(self._directory, self._lines):
            self._say(index_file.FILE_NAME, None, text)
        for text in task_file.state_flaws(self._directory, self._lines.session):
            self._say(task_file.FILE_NAME, None, text)
        self._findings += [*_torn(self._log.journal), *_torn(self._ledger.journal)]
        return self._findings

    def _say(self, file: str, place: ByteRange | None, text: str) -> None:
        self._findings.append(Finding(file=file, place=place, text=text))

    # -- the ledger ----------------------------------------------------------------------------------------------

    def _read_ledger(self) -> list[tuple[ByteRange, Entry]]:
        """Return the entries in effect, up to an unreadable one: what follows cannot be known."""
        standing: list[tuple[ByteRange, Entry]] = []
        end = self._ledger.size
        for place, line in self._ledger.journal.lines():
            try:
                entry = Entry.read(line)
            except MISFIT as error:
                self._say(ledgers.FILE_NAME, place, f"cannot be read: {error}")
                self._entries.damaged = True
                continue
            if entry.at > self._log.size:
                if entry.at <= self._log.journal.path.stat().st_size:
                    end = place.start  # written since the start
                    break
                self._say(ledgers.FILE_NAME, place, f"names byte {entry.at} of a log of {self._log.size}")
                self._entries.damaged = True
            for text in self._entries.take(place, entry):
                self._say(ledgers.FILE_NAME, place, text)
            self._names.take_entry(place, entry)
            if not self._entries.damaged:
                _take_back(standing, entry)
                standing.append((place, entry))
        self._checkpoints = moments(checkpoint_stores_in(self._directory, self._watched), Position(self._log.size, end))
        return standing

    # -- the replay ------------------------------------------------------------------------------------------------

    def _begin(self, counter: TokenCounter | None) -> None:
        if self._entries.opened is None:
            self._say(ledgers.FILE_NAME, None, "does not say how the session was opened")
            return
        try:
            self._settings = Settings.of(self._entries.opened, None, counter)
            self._state = self._fresh(self._settings)
        except MISFIT as error:
            self._say(ledgers.FILE_NAME, None, f"the session cannot be opened with its settings: {error}")

    def _fresh(self, settings: Settings) -> SessionState:
        return settings.fresh(lambda place: self._log.read(place).payload)

    def _advance(self, end: int, *, taking: bool) -> None:
        """Advance over the lines of the log up to an offset; they are in effect or (not ``taking``) were rewound."""
        while self._reached.log < min(end, self._log.size):
            place, line = next(self._walk)
            try:
                record = LogRecord.read(line)
                texts = [*self._lines.take(place, record)]
            except MISFIT as error:
                self._say(logs.FILE_NAME, place, f"cannot be read: {error}")
                self._lines.places[place.start] = (place.end, ())
                self._state = self._state if not taking else None
            else:
                for text in texts:
                    self._say(logs.FILE_NAME, place, text)
                if taking and self._state is not None:
                    self._take(self._state, place, record)
            self._reached = Position(place.end, self._reached.ledger)
            if taking:
                self._look_at_moment()

    def _take(self, state: SessionState, place: ByteRange, record: LogRecord) -> None:
        before = state.context.cursor.items
        try:
            if record.at != before:
                raise LogError(f"it says that {record.at} items precede it, but {before} do")
            apply_log_record(state, place, record, Position(place.start, self._reached.ledger))
        except MISFIT as error:
            self._say(logs.FILE_NAME, place, f"does not fit what is before it: {error}")
            self._state = None
            return
        cursor = state.context.cursor
        if record.turn != cursor.turn:
            self._say(logs.FILE_NAME, place, f"it says that it came in turn {record.turn}; it is turn {cursor.turn}")
        for item in record.items:
            if ITEM.fullmatch(item) and number_of(item) > cursor.items:
                self._say(logs.FILE_NAME, place, f"it names {item}, and only {cursor.items} items were numbered")

    def enter(self, place: ByteRange, entry: Entry) -> None:
        if self._state is not None:
            record = entry.record
            if isinstance(record, Collected):
                messages = self._state.context.messages
                self._compare(place, "before", record.digests.before, messages, record.digests.count)
            elif isinstance(record, Sent):
                self._compare_sent(place, record, self._state.context.digest)
            try:
                apply_ledger_entry(self._state, self._ledger, place, entry)
            except MISFIT as error:
                kind = type(record).__name__
                self._say(ledgers.FILE_NAME, place, f"{kind} does not fit the window: {error}")
                self._state = None
            else:
                if isinstance(record, Collected):
                    messages = self._state.context.messages
                    self._compare(place, "after", record.digests.after, messages, len(messages))
        self._reached = Position(self._reached.log, place.end)
        self._look_at_moment()

    def _compare(self, place: ByteRange, when: str, expected: str, messages: tuple[Message, ...], count: int) -> None:
        """Compare digests; a damaged message shows in every digest until it leaves, so only the first is reported."""
        found = digest_of_messages(messages[:count])
        fits = found == expected and count <= len(messages)
        if self._fits and self._fits_as_sent and not fits:
            self._say(ledgers.FILE_NAME, place, f"{when} it, the messages have digest {found}; it says {expected}")
        self._fits = fits

    def _compare_sent(self, place: ByteRange, record: Sent, found: str) -> None:
        """Compare a request that was sent; damaged messages were reported already."""
        fits = record.digest in {"", found}
        if self._fits and self._fits_as_sent and not fits:
            self._say(
                ledgers.FILE_NAME,
                place,
                f"the request that was sent has digest {record.digest}; the files give {found}",
            )
        self._fits_as_sent = fits

    # -- checkpoints ---------------------------------------------------------------------------------------------

    def _look_at_moment(self) -> None:
        """Compare the checkpoint of this moment, if there is one."""
        if self._state is None or self._settings is None:
            return
        for kept in self._checkpoints.pop(self._reached, ()):
            checkpoint = self._opened(kept)
            if checkpoint is not None:
                opened = self._entries.opened_at(checkpoint.at.ledger) or checkpoint.opened
                text = unlike(checkpoint, self._state, self._fresh(self._settings), opened)
                if text:
                    self._say(str(kept), None, text)

    def _look_at_rest(self, kept: Kept) -> None:
        """Check a checkpoint whose moment was not reached: it was rewound, is unknown, or does not exist."""
        checkpoint = self._opened(kept)
        if checkpoint is not None and self._state is not None and not self._entries.was_rewound(checkpoint.at):
            self._say(str(kept), None, f"log and ledger had no moment {checkpoint.at.log}-{checkpoint.at.ledger}")

    def _opened(self, kept: Kept) -> Checkpoint | None:
        try:
            checkpoint = kept.read()
        except LogError as error:
            self._say(str(kept), None, f"it cannot be read: {error}")
            return None
        if checkpoint.session != self._lines.session:
            self._say(str(kept), None, f"it is of session {checkpoint.session!r}, not {self._lines.session!r}")
        else:
            self._names.take_checkpoint(str(kept), checkpoint)
            return checkpoint
        return None

    @contextlib.contextmanager
    def _watched(self, backend: str, doing: str) -> Iterator[Attempt]:  # noqa: ARG002 - the form of a border
        """Check what cannot be read at all."""
        with isolated() as attempt:
            yield attempt
        if attempt.error is not None:
            self._say(place_of(backend), None, f"it cannot be read: {attempt.error}")


# -- inside ------------------------------------------------------------------------------------------------------------


def _take_back(standing: list[tuple[ByteRange, Entry]], entry: Entry) -> None:
    """Remove the entries that this one rewinds."""
    if isinstance(entry.record, Rewound):
        while standing and standing[-1][0].start >= entry.record.ledger:
            standing.pop()


def _torn(journal: Journal) -> Iterator[Finding]:
    """Yield a finding for the bytes after the last whole line, if they are still incomplete."""
    if not journal.torn:
        return
    with contextlib.closing(Journal(journal.path, writable=False)) as now:
        if now.torn and now.size <= journal.size:
            place = ByteRange(journal.size, journal.size + now.torn)
            yield Finding(file=journal.path.name, place=place, text=f"{now.torn} torn bytes after the last whole line")
