"""Finds the best rows of a search index, with bounded work however long the log is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from gc_core.storage.search.index_file import bindable
from gc_core.storage.search.queries import Phrase

if TYPE_CHECKING:
    import sqlite3

MOST_RANKED = 5_000
"""
The most matches that are ranked, the newest ones: a word that is everywhere says little, and
ranking reads each match.
"""

# Without CROSS JOIN the planner may begin with the items, and query the words for each.
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

Row = tuple[Any, ...]
"""Id, role, source, kind, tool, turn, time, first and last byte of the line, score: lower is better."""


@attrs.frozen(kw_only=True)
class Narrowing:
    """The conditions of a match besides its words, and the number of rows: see ``SearchIndex.search``."""

    tool: str | None
    role: str | None
    first_turn: int | None
    last_turn: int | None
    since: float | None
    until: float | None
    most: int


def ranked(
    db: sqlite3.Connection, phrases: Sequence[Phrase], required: Sequence[Phrase], narrowing: Narrowing
) -> list[Row]:
    """Return the items with all phrases, otherwise those with some; the required ones in any case."""
    rows = _ranked(db, (*phrases, *required), narrowing)
    if rows or len(phrases) == 1:
        return rows
    return _ranked(db, required, narrowing, _rarest(db, phrases))


def _ranked(
    db: sqlite3.Connection, every: Sequence[Phrase], narrowing: Narrowing, some: Sequence[Phrase] = ()
) -> list[Row]:
    terms = [*map(_quoted, every), *([f"({' OR '.join(map(_quoted, some))})"] if some else [])]
    values = attrs.asdict(narrowing).items()
    asked = {name: bindable(value) if isinstance(value, str) else value for name, value in values}
    return db.execute(_RANKED, {**asked, "match": " AND ".join(terms), "ranked": MOST_RANKED}).fetchall()


def _rarest(db: sqlite3.Connection, phrases: Sequence[Phrase]) -> list[Phrase]:
    """
    Return as many rare phrases as have together no more matches than are ranked, so that old
    matches are not lost.
    """
    counts = [(db.execute(_COUNTED, (_quoted(each), MOST_RANKED)).fetchone()[0], each) for each in phrases]
    chosen: list[Phrase] = []
    left = MOST_RANKED
    for count, phrase in sorted(counts, key=lambda pair: pair[0]):
        if count <= left or not chosen:
            chosen.append(phrase)
            left -= count
    return chosen


def _quoted(phrase: Phrase) -> str:
    return f'"{" ".join(phrase)}"'
