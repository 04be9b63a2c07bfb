"""
Full-text search over the master log: an index beside it that holds no text, only where each word stands.

The index is made of the log alone and can be lost at any time: what is damaged or belongs to another log is made anew.
Words are what SQLite's ``unicode61`` takes for words, runs of letters and digits, whatever their case and accents. A
path, a dotted name and a snake_case name are several words in a row, so each is found whole and by its parts.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import sqlite3
import tempfile
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import attrs

from gc_core import log as master
from gc_core.errors import ConfigError, LogError, MessageError
from gc_core.formats import format_named
from gc_core.items import ItemKind, Part
from gc_core.journal import Journal
from gc_core.log import LogRecord, MasterLog
from gc_core.logs import logger
from gc_core.protocols import Format
from gc_core.references import ByteRange
from gc_core.sources import CONVERSATION, ENRICHMENT

FILE_NAME = "index.db"

SCHEMA = 1
"""Of the index's tables; an index of another one is made anew."""

BATCH = 16 << 20
"""
Bytes of log that one transaction indexes at most: what a killed process has to do again, and for how long (a second or
two) others wait. Batches of 4 MB take a third more time.
"""

MOST_RANKED = 5_000
"""Matches that a search ranks, the newest ones: a word that is everywhere says little, and ranking reads each match."""

MOST_WORDS = 32
"""Words of a query, or of a phrase in it, that are looked for: the first ones."""

DEPTH = 3
"""Levels of directories below a root where sessions are looked for."""

_SMALL_BATCH = 1 << 18
"""Bytes that the thread indexes at a time: a search waits for one such batch at most."""

_KEPT_CALLS = 1_000
"""Calls whose tools are remembered for their results."""

_BUSY_SECONDS = 30.0
_PREVIEW, _BEFORE = 160, 60
"""Characters of a preview, and those of it before the word that was found."""

_TABLES = ("meta", "item", "call", "words")
_CREATE = (
    "CREATE TABLE meta(place INTEGER NOT NULL, first BLOB NOT NULL)",
    """CREATE TABLE item(row INTEGER PRIMARY KEY, id TEXT, role TEXT, source TEXT, kind TEXT, tool TEXT, turn INTEGER,
    time REAL, start INTEGER, stop INTEGER)""",
    "CREATE TABLE call(id TEXT PRIMARY KEY, tool TEXT)",
    # Contentless: the text stands in the log already.
    "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')",
    # Bytes of words held in memory before they are written: a batch is one piece, and is not merged with itself.
    "INSERT INTO words(words, rank) VALUES('hashsize', 33554432)",
    "INSERT INTO meta VALUES(0, x'')",
    f"PRAGMA user_version = {SCHEMA}",
)
# Without CROSS JOIN the planner may begin with the items, and ask the words for each.
_RANKED = """
SELECT id, role, source, kind, tool, turn, time, start, stop, score FROM (
    SELECT item.*, bm25(words) AS score FROM words CROSS JOIN item ON item.row = words.rowid
    WHERE words MATCH :match
    AND (:tool IS NULL OR tool = :tool) AND (:role IS NULL OR role = :role)
    AND (:first_turn IS NULL OR turn >= :first_turn) AND (:last_turn IS NULL OR turn <= :last_turn)
    AND (:since IS NULL OR time >= :since) AND (:until IS NULL OR time <= :until)
    ORDER BY words.rowid DESC LIMIT :ranked
) ORDER BY score, row DESC LIMIT :most
"""
_COUNTED = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"

_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'"([^"]*)"|([^\s"]+)')
# JSON inside a text: "\nsrc" is the path src on a new line, not a word nsrc.
_ESCAPED_BREAK = re.compile(r"\\[ntr]")
_LOG = logger(__name__)

Phrase = tuple[str, ...]
T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Hit:
    """
    An item that was found.

    Attributes:
        item: Its id, ``i42``.
        role: Who spoke, or "".
        source: The instruction source that it belongs to.
        kind: What it is, as the value of an ``ItemKind``.
        tool: Tool name of a call or a result, or "".
        turn: The turn in which it came.
        time: Seconds since 1970.
        bytes: Where its line stands in the master log.
        preview: Some 160 characters around the first word that was found, on one line.
        score: BM25: higher is better.

    """

    item: str
    role: str
    source: str
    kind: str
    tool: str
    turn: int
    time: float
    bytes: ByteRange
    preview: str
    score: float


class Filters(TypedDict, total=False):
    """What a search may be narrowed by: see ``SearchIndex.search``."""

    tool: str | None
    role: str | None
    first_turn: int | None
    last_turn: int | None
    since: float | None
    until: float | None
    entity: str | None
    limit: int


class SearchIndex:
    """
    The index of one master log, in an SQLite file of mode 0600. For one thread at a time.

    Several may be open on one file, in several threads and processes: a record is indexed once. A file that is damaged,
    of another schema or of another log is made anew, with a warning in the log of the application.

    Args:
        path: The file; made when it is missing.
        log: What is searched.
        format: The shape of the log's messages.

    Raises:
        LogError: The file cannot be opened or written, also by every method.

    """

    def __init__(self, path: Path, log: MasterLog, format: Format) -> None:  # noqa: A002 - the word everywhere
        self.path = path
        self._log = log
        self._format = format
        self._db = _connected(path)
        with contextlib.ExitStack() as undo:
            undo.callback(self.close)
            self._mending(self._prepare)
            undo.pop_all()

    def catch_up(self, *, most_bytes: int | None = None) -> int:
        """
        Index what the log has gained, up to and with the record that reaches ``most_bytes``; returns bytes indexed.

        Each batch is one transaction together with the place up to which the log is indexed: whoever is killed leaves
        an index from which the next one goes on.
        """
        return self._mending(lambda: self._catch_up(most_bytes))

    def search(
        self,
        query: str,
        *,
        tool: str | None = None,
        role: str | None = None,
        first_turn: int | None = None,
        last_turn: int | None = None,
        since: float | None = None,
        until: float | None = None,
        entity: str | None = None,
        limit: int = 10,
    ) -> tuple[Hit, ...]:
        """
        The items that hold all words of a query, best first; where there are none, those that hold some of them.

        The index catches up first, so everything that the log holds is searched. Any text is a query: what stands in
        double quotes or without a space between is a phrase, and nothing else has a meaning; a query without a letter
        or digit finds nothing. The first 32 words count.

        Work is bounded: ranked are the newest 5,000 of the matches that pass the filters, and where no item holds all
        words, the rarest of them, as many as have 5,000 matches together.

        Args:
            query: Words and phrases.
            tool: Calls and results of this tool alone.
            role: What this role said alone.
            first_turn: The first turn that is searched.
            last_turn: The last one.
            since: Seconds since 1970 of the oldest item that is searched.
            until: Those of the newest one.
            entity: Only items that hold this identifier letter by letter, not as a piece of a longer word.
            limit: How many at most.

        """
        phrases, required = _phrases(query), _phrases(f'"{entity}"') if entity is not None else ()
        if not phrases or (entity is not None and not required):
            return ()
        filters: dict[str, Any] = {"tool": tool, "role": role, "first_turn": first_turn, "last_turn": last_turn}
        filters |= {"since": since, "until": until, "most": max(limit, 0) if entity is None else MOST_RANKED}
        self.catch_up()
        rows = self._mending(lambda: self._rows(phrases, required, filters))
        return self._hits(rows, [*map(_finder, phrases)], None if entity is None else _whole(entity), limit)

    def rebuild(self) -> None:
        """Make the index anew. Nothing of the old one is left in the file: a purge of the log has to call it."""
        self._mending(self._reset)
        self._mending(self._scrub)
        self.catch_up()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # -- inside: the file ----------------------------------------------------------------------------------------

    def _mending(self, work: Callable[[], T]) -> T:
        """Do it; once more with a new file when the file turns out to be damaged."""
        try:
            try:
                return work()
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._replace(error)
                return work()
        except (sqlite3.Error, OSError) as error:
            raise LogError(f"{self.path}: the search index cannot be used: {error}") from error

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA journal_size_limit = 4194304")
        with self._transaction():
            flaw = self._flaw()
            if flaw is not None:
                self._create()
        if flaw:
            _LOG.warning("the search index is made anew", path=str(self.path), why=flaw)

    def _flaw(self) -> str | None:
        """Why the index cannot be used, "" when there is none yet, None when it can."""
        tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
        schema = self._db.execute("PRAGMA user_version").fetchone()[0]
        if schema != SCHEMA or not tables.issuperset(_TABLES):
            return f"its schema is {schema}, not {SCHEMA}" if tables else ""
        place, first = self._db.execute("SELECT place, first FROM meta").fetchone() or (-1, b"")
        if place == 0:
            return None
        # Another process may have written and indexed more than this one's log saw when it was opened.
        reached = max(self._log.size, self._log.journal.path.stat().st_size)
        if not 0 < place <= reached or first != self._first():
            return "it is of another log"
        begins = place > self._log.size or self._log.journal.read(ByteRange(place - 1, place)) == b"\n"
        return None if begins else f"no line begins at {place}"

    def _first(self) -> bytes:
        """The digest of the log's first line: what tells one log from another."""
        found = self._log.journal.line_from(0)
        return b"" if found is None else hashlib.blake2b(found[1], digest_size=16).digest()

    def _reset(self) -> None:
        with self._transaction():
            self._create()

    def _create(self) -> None:
        for table in _TABLES:
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _CREATE:
            self._db.execute(statement)

    def _scrub(self) -> None:
        """Take the words of the old index out of the file's free pages."""
        self._db.execute("VACUUM")
        busy, *_ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise LogError(
                f"{self.path}: others read the old search index and keep it; its words are still in the file"
            )

    def _replace(self, error: sqlite3.Error) -> None:
        _LOG.warning("the search index is made anew", path=str(self.path), why=str(error))
        self._db.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self._db = _connected(self.path)
        self._prepare()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, one writer at a time."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    # -- inside: indexing ----------------------------------------------------------------------------------------

    def _catch_up(self, most_bytes: int | None) -> int:
        done = 0
        while most_bytes is None or done < most_bytes:
            moved = self._index_batch(BATCH if most_bytes is None else min(BATCH, most_bytes - done))
            if not moved:
                break
            done += moved
        return done

    def _index_batch(self, most: int) -> int:
        if self._place() >= self._log.size:  # asked without a lock, for most searches find nothing new
            return 0
        with self._transaction():
            start = self._place()  # asked anew: another one may have been here in between
            end = self._index_from(start, most)
            self._db.execute("UPDATE meta SET place = ?, first = ?", (end, self._first()))
        return end - start

    def _place(self) -> int:
        """Bytes of the log that are indexed."""
        return int(self._db.execute("SELECT place FROM meta").fetchone()[0])

    def _index_from(self, start: int, most: int) -> int:
        """Index the records of a batch; returns where it ends."""
        end, batch = start, _Batch(self._db)
        for place, line in self._log.journal.lines(start):
            end = place.end
            record = _record(line, place)
            if record is not None:
                batch.take(place, record, _parts(record, self._format))
            if end - start >= most:
                break
        batch.write()
        return end

    # -- inside: searching ---------------------------------------------------------------------------------------

    def _rows(self, phrases: Sequence[Phrase], required: Sequence[Phrase], filters: Mapping[str, Any]) -> list[Any]:
        """Rows of the items that hold all phrases, else of those that hold some."""
        rows = self._ranked((*phrases, *required), filters)
        if rows or len(phrases) == 1:
            return rows
        return self._ranked(required, filters, self._rarest(phrases))

    def _ranked(self, every: Sequence[Phrase], filters: Mapping[str, Any], some: Sequence[Phrase] = ()) -> list[Any]:
        terms = [*map(_quoted, every), *([f"({' OR '.join(map(_quoted, some))})"] if some else [])]
        values = {name: _bindable(value) if isinstance(value, str) else value for name, value in filters.items()}
        asked = {**values, "match": " AND ".join(terms), "ranked": MOST_RANKED}
        return self._db.execute(_RANKED, asked).fetchall()

    def _rarest(self, phrases: Sequence[Phrase]) -> list[Phrase]:
        """As many as have no more matches together than are ranked, so that an old match of a rare one is not lost."""
        counts = [(self._db.execute(_COUNTED, (_quoted(each), MOST_RANKED)).fetchone()[0], each) for each in phrases]
        chosen: list[Phrase] = []
        left = MOST_RANKED
        for count, phrase in sorted(counts, key=lambda pair: pair[0]):
            if count <= left or not chosen:
                chosen.append(phrase)
                left -= count
        return chosen

    def _hits(
        self, rows: Iterable[Any], finders: Sequence[re.Pattern[str]], whole: re.Pattern[str] | None, limit: int
    ) -> tuple[Hit, ...]:
        hits: list[Hit] = []
        for row in rows:
            if len(hits) >= limit:
                break
            text = self._text(row[0], ByteRange(row[7], row[8]))
            if text is not None and (whole is None or whole.search(text)):
                hits.append(_hit(row, _preview(text, finders)))
        return tuple(hits)

    def _text(self, item: str, place: ByteRange) -> str | None:
        """The text of an item, or None when it is not in the log as this process sees it."""
        try:
            parts = dict(_parts(self._log.read(place), self._format))
        except LogError:
            return None
        return _readable(parts[item]) if item in parts else None


class Indexer:
    """
    A thread of its own that keeps the index of a log near its end, in small batches, so that a search has little to do.

    What goes wrong is a warning in the log of the application, and tried again at the next ``notify``.

    Args:
        path: The file of the index.
        log: What is indexed; to be closed after ``stop`` alone.
        format: The shape of the log's messages.

    """

    def __init__(self, path: Path, log: MasterLog, format: Format) -> None:  # noqa: A002 - the word everywhere
        self._open = functools.partial(SearchIndex, path, log, format)
        self._wake = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="gc-core-indexer", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """The log has grown. Returns at once."""
        self._wake.set()

    def stop(self) -> None:
        """Return when the batch at hand is done and the file closed."""
        self._stopped = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped:
            try:
                with contextlib.closing(self._open()) as index:
                    self._follow(index)
            except LogError as error:
                _LOG.warning("the search index falls behind", why=str(error))
                self._wait()

    def _follow(self, index: SearchIndex) -> None:
        while not self._stopped:
            if not index.catch_up(most_bytes=_SMALL_BATCH):
                self._wait()

    def _wait(self) -> None:
        self._wake.wait()
        if not self._stopped:
            self._wake.clear()


def search_sessions(root: Path, query: str, **filters: Unpack[Filters]) -> tuple[tuple[Path, Hit], ...]:
    """
    Search all sessions under a directory, itself included, down to three levels; best first, each with its directory.

    Logs are only read. An index that lies beside one catches up if it can be written; for any other log one is made and
    thrown away, which takes a second for 10 MB. A log that cannot be read is passed over with a warning.
    """
    found: list[tuple[Path, Hit]] = []
    for directory in _sessions(root):
        try:
            found.extend((directory, hit) for hit in _search_session(directory, query, filters))
        except (LogError, ConfigError) as error:
            _LOG.warning("a session is not searched", path=str(directory), why=str(error))
    found.sort(key=lambda pair: -pair[1].score)
    return tuple(found[: max(filters.get("limit", 10), 0)])


# -- a batch -----------------------------------------------------------------------------------------------------------


class _Batch:
    """What one transaction adds."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._row: int = db.execute("SELECT coalesce(max(row), 0) FROM item").fetchone()[0]
        self._items: list[tuple[Any, ...]] = []
        self._texts: list[tuple[int, str]] = []
        self._calls: dict[str, str] = {}

    def take(self, place: ByteRange, record: LogRecord, parts: Iterable[tuple[str, Part]]) -> None:
        role, source = _bindable(record.role), _bindable(record.source)
        for item, part in parts:
            self._row += 1
            key, tool = _bindable(item), self._tool(part)
            self._items.append(
                (self._row, key, role, source, part.kind.value, tool, record.turn, record.time, place.start, place.end)
            )
            self._texts.append((self._row, _bindable(_readable(part))))

    def write(self) -> None:
        self._db.executemany("INSERT INTO item VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._items)
        self._db.executemany("INSERT INTO words(rowid, text) VALUES(?, ?)", self._texts)
        self._db.executemany("INSERT OR REPLACE INTO call VALUES(?, ?)", self._calls.items())
        self._db.execute("DELETE FROM call WHERE rowid <= (SELECT max(rowid) FROM call) - ?", (_KEPT_CALLS,))

    def _tool(self, part: Part) -> str:
        """The tool that a part calls or answers for. Call ids come again in one session: the last one counts."""
        key, name = _bindable(part.call_id), _bindable(part.name)
        if part.kind is ItemKind.TOOL_CALL:
            self._calls.pop(key, None)  # so that it becomes the newest one
            self._calls[key] = name
        elif part.kind is ItemKind.TOOL_RESULT:
            return name or self._calls.get(key) or self._called_before(key)
        return name

    def _called_before(self, key: str) -> str:
        found = self._db.execute("SELECT tool FROM call WHERE id = ?", (key,)).fetchone()
        return found[0] if found else ""


# -- what is read of a record ------------------------------------------------------------------------------------------


def _record(line: bytes, place: ByteRange) -> LogRecord | None:
    """The record of a line; None for one that is none, for the lines behind it are to be found all the same."""
    try:
        return LogRecord.read(line)
    except LogError as error:
        _LOG.warning("a line of the log is not searched", start=place.start, why=str(error))
        return None


def _parts(record: LogRecord, form: Format) -> Iterator[tuple[str, Part]]:
    """The items of a record with what is read of them; all strings under the first item when it cannot be read."""
    named = [item for item in record.items if item]
    parts = _read(record, form) if named else ()
    if parts is not None and len(parts) == len(record.items):
        yield from ((item, part) for item, part in zip(record.items, parts, strict=True) if item)
    elif named:
        text = "\n".join(_strings(record.payload))
        yield named[0], Part(kind=ItemKind.OPAQUE, place=(), text=text)


def _read(record: LogRecord, form: Format) -> Sequence[Part] | None:
    payload = record.payload
    if record.source != CONVERSATION.name and isinstance(payload, Mapping) and isinstance(payload.get("text"), str):
        kind = ItemKind.ENRICHMENT if record.source == ENRICHMENT.name else ItemKind.MEMORY_BLOCK
        return (Part(kind=kind, place=(), text=payload["text"]),)
    try:
        return form.read(form.normalise(payload))
    except MessageError:
        return None


def _readable(part: Part) -> str:
    """The text of a part as people would write it: arguments and results without the escapes of JSON."""
    text = part.text
    if part.kind is ItemKind.TOOL_CALL and not part.free_text:
        with contextlib.suppress(ValueError, RecursionError):
            text = "\n".join(_strings(json.loads(text)))
    return _unescaped(text)


def _strings(value: Any) -> Iterator[str]:
    """The keys and values of a JSON value, in its order."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            left.extend(inner for pair in reversed([*value.items()]) for inner in reversed(pair))
        elif isinstance(value, list | tuple):
            left.extend(reversed(value))
        elif value is not None:
            yield str(value)


def _unescaped(text: str) -> str:
    return _ESCAPED_BREAK.sub("  ", text) if "\\" in text else text


def _bindable(text: str) -> str:
    """The text as SQLite takes it: a lone surrogate has no UTF-8 form."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


# -- what a query says -------------------------------------------------------------------------------------------------


_QUERY_CHARS = 4_000
"""Characters of a query that count: more words than are searched for."""


def _phrases(query: str) -> tuple[Phrase, ...]:
    """Words and phrases of a query, each as its words in a row. Letters and digits alone: nothing is left to escape."""
    plain = unicodedata.normalize("NFC", _unescaped(query[:_QUERY_CHARS]))
    found = (tuple(_WORD.findall(quoted or word)[:MOST_WORDS]) for quoted, word in _QUOTED.findall(plain))
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))[:MOST_WORDS]


def _quoted(phrase: Phrase) -> str:
    return f'"{" ".join(phrase)}"'


def _finder(phrase: Phrase) -> re.Pattern[str]:
    """Finds a phrase in a folded text; its first word leads the pattern, for Python searches fast for plain letters."""
    first, *rest = (re.escape(_folded(word)) for word in phrase)
    return re.compile(r"[\W_]+".join((rf"{first}(?<![^\W_]{first})", *rest)) + r"(?![^\W_])")


def _whole(entity: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(_unescaped(entity))}(?!\w)")


def _folded(text: str) -> str:
    """Without case and accents, every letter in its place."""
    return text.lower() if text.isascii() else "".join(map(_folded_letter, text))


@functools.lru_cache(maxsize=4_096)
def _folded_letter(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[0].lower()[:1]


def _preview(text: str, finders: Sequence[re.Pattern[str]]) -> str:
    start = max(0, _first_match(text, finders) - _BEFORE)
    cut = " ".join(text[start : start + _PREVIEW].split())
    return f"{'…' if start else ''}{cut}{'…' if start + _PREVIEW < len(text) else ''}"


def _first_match(text: str, finders: Sequence[re.Pattern[str]]) -> int:
    """Where the first of the phrases stands, else 0."""
    for plain in (str.lower, _folded):  # taking accents away is slow, and seldom needed
        folded = plain(text)
        places = [found.start() for finder in finders if (found := finder.search(folded))]
        if places:
            return min(places)
    return 0


def _hit(row: Sequence[Any], preview: str) -> Hit:
    item, role, source, kind, tool, turn, time, start, stop, score = row
    return Hit(
        item=item,
        role=role,
        source=source,
        kind=kind,
        tool=tool,
        turn=turn,
        time=time,
        bytes=ByteRange(start, stop),
        preview=preview,
        score=-score,  # SQLite's is lower for the better
    )


# -- files -------------------------------------------------------------------------------------------------------------

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def _connected(path: Path) -> sqlite3.Connection:
    try:
        # SQLite would make it readable for everybody.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise LogError(f"{path} cannot be opened: {error}") from error


def _is_damage(error: sqlite3.Error) -> bool:
    # An error of Python's own making carries no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in _DAMAGE


def _sessions(root: Path) -> list[Path]:
    found = (path.parent for depth in range(DEPTH + 1) for path in root.glob("*/" * depth + master.FILE_NAME))
    return sorted(found)


def _search_session(directory: Path, query: str, filters: Filters) -> tuple[Hit, ...]:
    with contextlib.ExitStack() as opened:
        journal = opened.enter_context(contextlib.closing(Journal(directory / master.FILE_NAME, writable=False)))
        log = MasterLog(journal)
        first = next(log.records(), None)
        if first is None:
            return ()
        form = format_named(str(first[1].payload.get("format")))
        path = _beside(directory) or Path(opened.enter_context(tempfile.TemporaryDirectory())) / FILE_NAME
        index = opened.enter_context(contextlib.closing(SearchIndex(path, log, form)))
        return index.search(query, **filters)


def _beside(directory: Path) -> Path | None:
    """The index beside a log, if there is one that can be written."""
    path = directory / FILE_NAME
    return path if path.is_file() and os.access(path, os.W_OK) and os.access(directory, os.W_OK) else None
