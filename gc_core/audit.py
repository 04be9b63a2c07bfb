"""Whether the files of a session agree with each other: every line, every place, every digest. Only reads."""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from gc_core import ledger as ledgers
from gc_core import log as logs
from gc_core import search
from gc_core.checkpoints import DIRECTORY, Checkpoint, _read
from gc_core.errors import GCError, LogError
from gc_core.fold import SESSION, enter_one, take_one
from gc_core.hunks import SavedMessage
from gc_core.intake import Cursor
from gc_core.journal import Journal
from gc_core.ledger import Collected, Entry, Ledger, Opened, Rewound, Undone
from gc_core.log import LogRecord, MasterLog
from gc_core.messages import Message
from gc_core.protocols import TokenCounter
from gc_core.references import ByteRange
from gc_core.state import Position, SessionState, Settings, digest_of_messages

_Where = tuple[str, ByteRange | None]

_ITEM = re.compile(r"i[1-9]\d*", re.ASCII)
_MOMENT = re.compile(r"(\d+)-(\d+)\.json", re.ASCII)

# Of a checkpoint; tokens depend on the counter, and texts that wait stand in no other file.
_FOLDED = (
    *("opened", "settings", "head", "cursor", "results", "changes", "newest", "calibration", "pinned_turns", "sent"),
    *("undone", "done", "taken_back", "turns", "thinking"),
)

# What a damaged line makes of the code that takes it for a whole one.
_MISFIT = (GCError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


@attrs.frozen(kw_only=True)
class Finding:
    """
    One thing that does not agree.

    Attributes:
        file: The file, as it is named from the session's directory.
        place: The bytes in it, or None for the whole file.
        text: What is wrong.

    """

    file: str
    place: ByteRange | None = None
    text: str

    def __str__(self) -> str:
        """File, bytes and what is wrong, on one line."""
        where = "" if self.place is None else f", bytes {self.place.start}-{self.place.end}"
        return f"{self.file}{where}: {self.text}"


def verify(directory: str | Path, counter: TokenCounter | None = None) -> tuple[Finding, ...]:
    """
    Everything in which the files of a session do not agree; empty when all do. Changes nothing and takes no lock.

    Every line can be read, ids and offsets are in order, every place that is named holds what it is named for. Log and
    ledger are folded from the beginning, without checkpoints, in one pass; on the way the digests of every collection
    in force, and every checkpoint, have to fit the window of their moment. What was taken back by going back is read
    but not compared. Where the first line does not fit, the comparison ends: what follows cannot be known.

    What no digest covers can be changed unseen: the text of a message that came behind the last collection and the
    last checkpoint, and the texts of system and tools. A purge makes the digests anew (see ``purge``), so they bear
    witness to what has happened since then, not before.

    A session that is being written can be verified: what comes behind the moment at which this began does not count.
    Memory grows with the number of lines, not with their length.

    Args:
        directory: The session's.
        counter: The host's own counter; tokens are not compared, so the session's usual one does as well.

    Raises:
        LogError: There is no session.

    """
    directory = Path(directory)
    if not (directory / logs.FILE_NAME).is_file():
        raise LogError(f"{directory} holds no session: there is no {logs.FILE_NAME}")
    with contextlib.ExitStack() as opened:
        # The log first: what the ledger says of more than is seen here was written since.
        log = opened.enter_context(contextlib.closing(Journal(directory / logs.FILE_NAME, writable=False)))
        try:
            ledger = opened.enter_context(contextlib.closing(Journal(directory / ledgers.FILE_NAME, writable=False)))
        except LogError as error:
            return (Finding(file=ledgers.FILE_NAME, text=str(error)),)
        return tuple(_Audit(directory, MasterLog(log), Ledger(ledger)).run(counter))


class _Audit:
    """One look at a session."""

    def __init__(self, directory: Path, log: MasterLog, ledger: Ledger) -> None:
        self._directory, self._log, self._ledger = directory, log, ledger
        self._findings: list[Finding] = []
        self._lines, self._entries, self._names = _Lines(), _Entries(), _Names()
        self._walk = log.journal.lines()
        self._reached = Position()
        self._checkpoints: dict[Position, Path] = {}
        self._settings: Settings | None = None
        # The window of the moment, and whether its digest was the expected one; None when it cannot be known any more.
        self._state: SessionState | None = None
        self._fits = True

    def run(self, counter: TokenCounter | None) -> list[Finding]:
        """All that does not agree."""
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
        for path in self._checkpoints.values():
            self._look_at_rest(path)
        self._check_names()
        self._findings += _index_findings(self._directory, self._lines)
        self._findings += [*_torn(self._log.journal), *_torn(self._ledger.journal)]
        return self._findings

    def _say(self, file: str, place: ByteRange | None, text: str) -> None:
        self._findings.append(Finding(file=file, place=place, text=text))

    # -- the ledger ----------------------------------------------------------------------------------------------

    def _read_ledger(self) -> list[tuple[ByteRange, Entry]]:
        """The entries in force, up to one that cannot be read: what comes behind that cannot be known."""
        standing: list[tuple[ByteRange, Entry]] = []
        end = self._ledger.size
        for place, line in self._ledger.journal.lines():
            try:
                entry = Entry.read(line)
            except _MISFIT as error:
                self._say(ledgers.FILE_NAME, place, f"cannot be read: {error}")
                self._entries.damaged = True
                continue
            if entry.at > self._log.size:
                if entry.at <= self._log.journal.path.stat().st_size:
                    end = place.start  # written since this began
                    break
                self._say(ledgers.FILE_NAME, place, f"names byte {entry.at} of a log of {self._log.size}")
                self._entries.damaged = True
            for text in self._entries.take(place, entry):
                self._say(ledgers.FILE_NAME, place, text)
            self._names.take_entry(place, entry)
            if not self._entries.damaged:
                _take_back(standing, entry)
                standing.append((place, entry))
        self._checkpoints = _moments(self._directory, Position(self._log.size, end))
        return standing

    # -- the fold ------------------------------------------------------------------------------------------------

    def _begin(self, counter: TokenCounter | None) -> None:
        if self._entries.opened is None:
            self._say(ledgers.FILE_NAME, None, "does not tell how the session was opened")
            return
        try:
            self._settings = Settings.of(self._entries.opened, None, counter)
            self._state = self._fresh(self._settings)
        except _MISFIT as error:
            self._say(ledgers.FILE_NAME, None, f"the session cannot be opened with its settings: {error}")

    def _fresh(self, settings: Settings) -> SessionState:
        return settings.fresh(lambda place: self._log.read(place).payload)

    def _advance(self, end: int, *, taking: bool) -> None:
        """Pass over the lines of the log up to an offset; they are in force or (not ``taking``) were taken back."""
        while self._reached.log < min(end, self._log.size):
            place, line = next(self._walk)
            try:
                record = LogRecord.read(line)
                texts = [*self._lines.take(place, record)]
            except _MISFIT as error:
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
                raise LogError(f"it says that {record.at} items came before it, and {before} did")
            take_one(state, place, record, Position(place.start, self._reached.ledger))
        except _MISFIT as error:
            self._say(logs.FILE_NAME, place, f"does not fit what is before it: {error}")
            self._state = None
            return
        cursor = state.context.cursor
        if record.turn != cursor.turn:
            self._say(logs.FILE_NAME, place, f"it says that it came in turn {record.turn}; it is turn {cursor.turn}")
        for item in record.items:
            if _ITEM.fullmatch(item) and int(item[1:]) > cursor.items:
                self._say(logs.FILE_NAME, place, f"it names {item}, and only {cursor.items} items were numbered")

    def enter(self, place: ByteRange, entry: Entry) -> None:
        if self._state is not None:
            record = entry.record
            if isinstance(record, Collected):
                messages = self._state.context.messages
                self._compare(place, "before", record.digests.before, messages, record.digests.count)
            try:
                enter_one(self._state, self._ledger, place, entry)
            except _MISFIT as error:
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
        """One damaged message shows in every digest until it leaves: the first one tells."""
        found = digest_of_messages(messages[:count])
        fits = found == expected and count <= len(messages)
        if self._fits and not fits:
            self._say(ledgers.FILE_NAME, place, f"{when} it, the messages have digest {found}; it says {expected}")
        self._fits = fits

    # -- checkpoints ---------------------------------------------------------------------------------------------

    def _look_at_moment(self) -> None:
        """Compare the checkpoint of this moment, if there is one."""
        if self._state is None or self._settings is None:
            return
        path = self._checkpoints.pop(self._reached, None)
        checkpoint = None if path is None else self._opened(path)
        if path is None or checkpoint is None:
            return
        text = self._unlike(checkpoint, self._state, self._fresh(self._settings))
        if text:
            self._say(_name(path), None, text)

    def _unlike(self, checkpoint: Checkpoint, state: SessionState, fresh: SessionState) -> str:
        """In what a checkpoint differs from the state of its moment, or ""."""
        found = digest_of_messages(state.context.messages)
        if checkpoint.digest != found:
            return f"it has digest {checkpoint.digest}; log and ledger give {found}"
        opened = self._entries.opened_at(checkpoint.at.ledger)
        ours = Checkpoint.of(state, checkpoint.at, checkpoint.opened if opened is None else opened)
        unlike = [name for name in _FOLDED if _field(checkpoint, name) != _field(ours, name)]
        if unlike:
            return f"its {unlike[0]} is another one than log and ledger give"
        try:
            checkpoint.restore(fresh)
        except _MISFIT as error:
            return f"it cannot be restored: {error}"
        for restored, folded in zip(fresh.context.messages, state.context.messages, strict=True):
            if _plain(restored) != _plain(folded):
                return f"message {folded.id} is another one in it than log and ledger give"
        return ""

    def _look_at_rest(self, path: Path) -> None:
        """A checkpoint whose moment did not come by: it was taken back, or is not known, or there was none."""
        checkpoint = self._opened(path)
        if checkpoint is not None and self._state is not None and not self._entries.took_back(checkpoint.at):
            self._say(_name(path), None, f"log and ledger had no moment {checkpoint.at.log}-{checkpoint.at.ledger}")

    def _opened(self, path: Path) -> Checkpoint | None:
        checkpoint = _read(path)
        if checkpoint is None:
            self._say(_name(path), None, "it cannot be read")
        elif checkpoint.session != self._lines.session:
            self._say(_name(path), None, f"it is of session {checkpoint.session!r}, not {self._lines.session!r}")
        elif path.name != f"{checkpoint.at.log:015d}-{checkpoint.at.ledger:015d}.json":
            self._say(_name(path), None, f"it says that it is of {checkpoint.at.log}-{checkpoint.at.ledger}")
        else:
            self._names.take_checkpoint(path, checkpoint)
            return checkpoint
        return None

    # -- places --------------------------------------------------------------------------------------------------

    def _check_names(self) -> None:
        """Every place that ledger and checkpoints name holds what it is named for."""
        for place, offset in self._entries.offsets:
            if offset != self._log.size and offset not in self._lines.places:
                self._say(ledgers.FILE_NAME, place, f"no line of the log begins at {offset}")
        for (start, end, item), by in self._names.items.items():
            text = self._lines.unlike(start, end, item)
            if text:
                self._say(*by, text)
        behind = {end for end, _ in self._lines.places.values()}
        for (start, end), by in self._names.ranges.items():
            if start not in self._lines.places or end not in behind:
                self._say(*by, f"bytes {start}-{end} of the log are no whole lines")
        for (start, end), by in self._names.collections.items():
            if self._entries.collections.get(start) != end:
                self._say(*by, f"bytes {start}-{end} of the ledger hold no collection")


class _Lines:
    """What the lines of the log say, in their order."""

    def __init__(self) -> None:
        self.session = ""
        self.places: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._at = self._given = 0

    def take(self, place: ByteRange, record: LogRecord) -> Iterator[str]:
        """The next line; yields what is wrong with it."""
        if not place.start:
            self.session = str(record.payload.get("session", ""))
            if record.source != SESSION or not self.session:
                yield "the first line does not say whose log it is"
        self.places[place.start] = (place.end, record.items)
        if record.at < self._at:
            yield f"it says that {record.at} items came before it; a line before it says {self._at}"
        named = [item for item in record.items if item]
        wrong = [item for item in named if not _ITEM.fullmatch(item)]
        if wrong or len(set(named)) != len(named):
            yield f"its ids are {named}: expected each once, i1, i2, ..."
        numbers = [int(item[1:]) for item in named if item not in wrong]
        again = [number for number in numbers if number <= max(self._given, record.at)]
        if again:
            yield f"it gives i{again[0]}, which was given before"
        self._at = max(self._at, record.at)
        self._given = max(self._given, *numbers, 0)

    def unlike(self, start: int, end: int, item: str) -> str:
        """Why this place does not hold an item, or ""."""
        if start not in self.places:
            return f"{item}: no line of the log begins at {start}"
        its_end, items = self.places[start]
        if end != its_end:
            return f"{item}: the line of the log at {start} ends at {its_end}, not {end}"
        return "" if item in items else f"{item} is not in the line of the log at {start}"


class _Entries:
    """What the lines of the ledger say of log and ledger."""

    def __init__(self) -> None:
        self.opened: Opened | None = None
        self.damaged = False
        self.offsets: list[tuple[ByteRange, int]] = []
        self.collections: dict[int, int] = {}
        self._rewinds: list[tuple[int, Rewound]] = []
        self._openings: list[tuple[int, Opened]] = []
        self._at = 0

    def take(self, place: ByteRange, entry: Entry) -> Iterator[str]:
        """The next entry; yields what is wrong with it."""
        record = entry.record
        if entry.at < self._at:
            yield f"it names byte {entry.at} of the log; an entry before it names {self._at}"
        self._at = max(self._at, entry.at)
        self.offsets.append((place, entry.at))
        if isinstance(record, Opened):
            self.opened = record
            self._openings.append((place.end, record))
        elif isinstance(record, Collected):
            self.collections[place.start] = place.end
        elif isinstance(record, Rewound):
            self.offsets.append((place, record.log))
            self._rewinds.append((place.start, record))
            if not (record.log <= entry.at and record.ledger <= place.start):
                yield f"it goes back to {record.log}-{record.ledger}, which is not behind it"

    def opened_at(self, end: int) -> Opened | None:
        """How the session was opened when the ledger reached to there, whatever was taken back since."""
        return next((record for reached, record in reversed(self._openings) if reached <= end), None)

    def took_back(self, moment: Position) -> bool:
        """Whether a moment was taken back later."""
        return any(
            moment.ledger <= start and (moment.ledger > record.ledger or moment.log > record.log)
            for start, record in self._rewinds
        )


class _Names:
    """What ledger and checkpoints name by its place, and who does first."""

    def __init__(self) -> None:
        self.items: dict[tuple[int, int, str], _Where] = {}
        self.collections: dict[tuple[int, int], _Where] = {}
        self.ranges: dict[tuple[int, int], _Where] = {}

    def take_entry(self, place: ByteRange, entry: Entry) -> None:
        """What an entry of the ledger names."""
        record = entry.record
        by: _Where = (ledgers.FILE_NAME, place)
        if isinstance(record, Collected):
            for hunk in record.hunks:
                self._take_messages((*hunk.gone, *hunk.come), by)
        elif isinstance(record, Undone):
            self.collections.setdefault((record.place.start, record.place.end), by)

    def take_checkpoint(self, path: Path, checkpoint: Checkpoint) -> None:
        """What a checkpoint names."""
        by: _Where = (_name(path), None)
        self._take_messages(checkpoint.messages, by)
        for place in (*checkpoint.done, *checkpoint.taken_back):
            self.collections.setdefault((place.start, place.end), by)

    def _take_messages(self, messages: Iterable[SavedMessage], by: _Where) -> None:
        for message in messages:
            for item in message.items:
                if item.reference is not None and item.reference.place is not None:
                    self.ranges.setdefault((item.reference.place.start, item.reference.place.end), by)
                for place in (item.logged, message.place if item is message.items[0] else None):
                    if place is not None:
                        self.items.setdefault((place.start, place.end, item.id), by)


# -- inside ------------------------------------------------------------------------------------------------------------


def _take_back(standing: list[tuple[ByteRange, Entry]], entry: Entry) -> None:
    """Without the entries that this one takes back."""
    if isinstance(entry.record, Rewound):
        while standing and standing[-1][0].start >= entry.record.ledger:
            standing.pop()


def _moments(directory: Path, end: Position) -> dict[Position, Path]:
    """The checkpoints up to a moment."""
    found: dict[Position, Path] = {}
    for path in sorted((directory / DIRECTORY).glob("*.json")):
        name = _MOMENT.fullmatch(path.name)
        if name and int(name[1]) <= end.log and int(name[2]) <= end.ledger:
            found[Position(int(name[1]), int(name[2]))] = path
    return found


def _name(path: Path) -> str:
    return f"{DIRECTORY}/{path.name}"


def _field(checkpoint: Checkpoint, name: str) -> Any:
    value = getattr(checkpoint, name)
    # The message behind it is compared by its id, as the checkpoint has it.
    return attrs.evolve(value, results=None) if isinstance(value, Cursor) else value


def _plain(message: Message) -> tuple[Any, ...]:
    """What a message is, its tokens apart: those may have been counted by another counter."""
    items = tuple(attrs.evolve(item, tokens=0, original_tokens=0) for item in message.items)
    return message.id, message.role, message.payload, message.synthetic, message.as_logged, items


def _torn(journal: Journal) -> Iterator[Finding]:
    """Bytes behind the last whole line, if they are still none."""
    if not journal.torn:
        return
    with contextlib.closing(Journal(journal.path, writable=False)) as now:
        if now.torn and now.size <= journal.size:
            place = ByteRange(journal.size, journal.size + now.torn)
            yield Finding(file=journal.path.name, place=place, text=f"{now.torn} torn bytes behind the last whole line")


# -- the index ---------------------------------------------------------------------------------------------------------


def _index_findings(directory: Path, lines: _Lines) -> Iterator[Finding]:
    path = directory / search.FILE_NAME
    if not path.is_file():
        return
    try:
        with contextlib.closing(_read_only(path)) as db:
            for text in _index_flaws(db, directory / logs.FILE_NAME, lines):
                yield Finding(file=search.FILE_NAME, text=text)
    except sqlite3.Error as error:
        yield Finding(file=search.FILE_NAME, text=f"it cannot be read: {error}")


def _read_only(path: Path) -> sqlite3.Connection:
    """Without a journal beside it, SQLite need not make one to read."""
    beside = path.with_name(f"{path.name}-wal")
    how = "mode=ro" if beside.is_file() and beside.stat().st_size else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)


def _index_flaws(db: sqlite3.Connection, log: Path, lines: _Lines) -> Iterator[str]:
    schema = db.execute("PRAGMA user_version").fetchone()[0]
    if schema != search.SCHEMA:
        yield f"its schema is {schema}, not {search.SCHEMA}"
        return
    end, first = db.execute("SELECT place, first FROM meta").fetchone() or (-1, b"")
    if end and first != _first(log):
        yield "it is of another log"
        return
    # What was written since this began may be indexed too.
    known = max((place for place, _ in lines.places.values()), default=0)
    if not 0 <= end <= log.stat().st_size or (0 < end < known and end not in lines.places):
        yield f"it is made up to {end}, where no line of the log ends"
    for row, item, start, stop in db.execute("SELECT row, id, start, stop FROM item WHERE start < ?", (known,)):
        text = lines.unlike(start, stop, item)
        if text:
            yield f"row {row}: {text}"


def _first(log: Path) -> bytes:
    with log.open("rb") as file:
        return hashlib.blake2b(file.readline(), digest_size=16).digest()
