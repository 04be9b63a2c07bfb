"""
Full-text search over the master log: an index next to it that contains no text, only the places of words.

The index is built from the log and may be lost at any time: a damaged one, or one of another log, is rebuilt. Words are
those of SQLite's ``unicode61``, runs of letters and digits, ignoring case and accents. A path, a dotted name and a
snake_case name are several adjacent words, so each is found as a whole and by its parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import attrs

from gc_core.errors import LogError, SourceError
from gc_core.providers.contract import Format
from gc_core.storage.master_log import MasterLog
from gc_core.storage.search.index_file import IndexFile
from gc_core.storage.search.indexing import index_batch
from gc_core.storage.search.queries import finder_of, phrases_of, preview_of, whole
from gc_core.storage.search.ranking import MOST_RANKED, Narrowing, Row, ranked
from gc_core.storage.search.record_texts import parts_of, readable
from gc_core.values.references import ByteRange
from gc_core.values.validators import check_text, is_count, is_number

if TYPE_CHECKING:
    from gc_core.relevance.plain_words import PlainWord
    from gc_core.storage.search.sharing import Sharing

BATCH = 16 << 20
"""
The most bytes of log that one transaction indexes: the work that a killed process has to repeat, and how long (a second
or two) others wait. Batches of 4 MB take a third more time.
"""


@attrs.frozen(kw_only=True)
class Hit:
    """
    An item that was found.

    Attributes:
        item: Its id, ``i42``.
        role: The role, or "".
        source: The instruction source it belongs to.
        kind: Its kind, as the value of an ``ItemKind``.
        tool: Tool name of a call or a result, or "".
        turn: Its turn.
        time: Seconds since 1970.
        bytes: Its line in the master log.
        preview: Some 160 characters around the first match, on one line.
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
    """The filters of a search: see ``SearchIndex.search``."""

    tool: str | None
    role: str | None
    first_turn: int | None
    last_turn: int | None
    since: float | None
    until: float | None
    entity: str | None
    limit: int


_TEXTS = ("tool", "role", "entity")
_TURNS = ("first_turn", "last_turn")
_TIMES = ("since", "until")
_MOST_NUMBER = 2**53
"""The database takes no larger ones."""


def check_search(query: object, filters: Filters) -> None:
    """Raise SourceError, naming it, for a query or filter that cannot be."""
    check_text("query", query)
    given: dict[str, object] = {name: value for name, value in filters.items() if value is not None}
    for name in given.keys() & _TEXTS:
        check_text(name, given[name])
    for name in given.keys() & _TURNS:
        _check_number(name, given[name], is_count(given[name]), "a turn's number, counted from 0")
    for name in given.keys() & _TIMES:
        _check_number(name, given[name], is_number(given[name]), "seconds since 1970")
    limit = filters.get("limit", 0)
    _check_number("limit", limit, is_count(limit), "the most results")


def _check_number(name: str, value: Any, fits: bool, expected: str) -> None:
    if not fits or abs(value) > _MOST_NUMBER:
        raise SourceError(f"{name} = {value!r:.200}: expected {expected}")


class SearchIndex:
    """
    The index of one master log, in an SQLite file of mode 0600. For one thread at a time.

    Several may be open on one file, in several threads and processes: a record is indexed once. A file that is damaged,
    of another schema or of another log is rebuilt, with a warning in the application's log.

    Args:
        path: The file; created if it is missing.
        log: The log to search.
        format: The shape of the log's messages.

    Raises:
        LogError: The file cannot be opened or written; raised by every method.

    """

    def __init__(self, path: Path, log: MasterLog, format: Format) -> None:  # noqa: A002 - the word everywhere
        self.path = path
        self._log = log
        self._format = format
        self._file = IndexFile(path, log)

    def catch_up(self, *, most_bytes: int | None = None) -> int:
        """
        Index what the log has gained, up to the record that reaches ``most_bytes``; return the bytes indexed.

        Each batch is one transaction together with the indexed size: after a kill the next process continues from
        there.
        """
        return self._file.mending(lambda: self._catch_up(most_bytes))

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
        Return the items that contain all words of a query, best first; if there are none, those with some of them.

        The index is updated first, so everything in the log is searched. Any text is a query: double quotes, and words
        without a space between them, make a phrase, and nothing else has a special meaning; a query without a letter or
        digit finds nothing. The first 32 words count.

        Work is bounded: the newest 5,000 of the matches that pass the filters are ranked, and, if no item has all
        words, the rarest words with 5,000 matches together.

        Args:
            query: Words and phrases.
            tool: Only calls and results of this tool.
            role: Only what this role said.
            first_turn: The first turn to search.
            last_turn: The last one.
            since: Seconds since 1970 of the oldest item to search.
            until: Those of the newest one.
            entity: Only items that contain this identifier exactly, not as part of a longer word.
            limit: The most results.

        """
        phrases, required = phrases_of(query), phrases_of(f'"{entity}"') if entity is not None else ()
        if not phrases or (entity is not None and not required):
            return ()
        narrowing = Narrowing(
            tool=tool,
            role=role,
            first_turn=first_turn,
            last_turn=last_turn,
            since=since,
            until=until,
            most=max(limit, 0) if entity is None else MOST_RANKED,
        )
        self.catch_up()
        rows = self._file.mending(lambda: ranked(self._file.db, phrases, required, narrowing))
        return self._hits(rows, [*map(finder_of, phrases)], None if entity is None else whole(entity), limit)

    def sharing(self, words: Sequence[PlainWord], most: int) -> Sharing:
        """
        Return the items that have some of a question's words, of those words that at most ``most`` items have.

        The index is updated first. Costs O(words), however long the log is.
        """
        from gc_core.storage.search.sharing import sharing  # most sessions are never asked

        self.catch_up()
        return self._file.mending(lambda: sharing(self._file.db, words, most))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # -- inside --------------------------------------------------------------------------------------------------

    def _catch_up(self, most_bytes: int | None) -> int:
        done = 0
        while most_bytes is None or done < most_bytes:
            most = BATCH if most_bytes is None else min(BATCH, most_bytes - done)
            moved = index_batch(self._file, self._log, self._format, most)
            if not moved:
                break
            done += moved
        return done

    def _hits(
        self, rows: Iterable[Row], finders: Sequence[re.Pattern[str]], entity: re.Pattern[str] | None, limit: int
    ) -> tuple[Hit, ...]:
        hits: list[Hit] = []
        for row in rows:
            if len(hits) >= limit:
                break
            text = self._text(row[0], ByteRange(row[7], row[8]))
            if text is not None and (entity is None or entity.search(text)):
                hits.append(_hit(row, preview_of(text, finders)))
        return tuple(hits)

    def _text(self, item: str, place: ByteRange) -> str | None:
        """Return the text of an item, or None if it is not in the log as this process sees it."""
        try:
            parts = dict(parts_of(self._log.read(place), self._format))
        except LogError:
            return None
        return readable(parts[item]) if item in parts else None


def _hit(row: Row, preview: str) -> Hit:
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
        score=-score,  # SQLite's is lower for better matches
    )
