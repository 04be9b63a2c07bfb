"""Finds the items of a search index that share rare words with a question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from gc_core.relevance.plain_words import PlainWord
from gc_core.storage.search.index_file import bindable
from gc_core.values.references import ByteRange
from gc_core.values.scripts import folded, parted

if TYPE_CHECKING:
    import sqlite3

MOST_COUNTED = 2_000
"""The most items with a word that are counted: more are as good as all."""

_TERMS = "SELECT term FROM temp.term WHERE term >= ? AND term < ?"
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
_ROWS = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
_ITEM = "SELECT id, kind, tool, start, stop FROM item WHERE row = ?"


@attrs.frozen(kw_only=True)
class Sharer:
    """
    An item with rare words of a question.

    Attributes:
        item: Its id.
        kind: Its kind, as the value of an ``ItemKind``.
        tool: Tool name of a call or a result, or "".
        bytes: Its line in the master log.
        words: The rare words in it.

    """

    item: str
    kind: str
    tool: str
    bytes: ByteRange
    words: tuple[PlainWord, ...]


@attrs.frozen(kw_only=True)
class Sharing:
    """
    The items that share rare words with a question.

    Attributes:
        items: The number of all items.
        counts: The number of items with each word, at most ``MOST_COUNTED``.
        sharers: The items with a rare word, the newest first.

    """

    items: int
    counts: Mapping[PlainWord, int]
    sharers: tuple[Sharer, ...]


def sharing(db: sqlite3.Connection, words: Sequence[PlainWord], most: int) -> Sharing:
    """Return the items with those words that at most so many items have, in any form."""
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.term USING fts5vocab(main, words, row)")
    matches = {word: _match(db, word) for word in words}
    counts = {word: _first(db, _COUNT, (match, MOST_COUNTED)) if match else 0 for word, match in matches.items()}
    found: defaultdict[int, list[PlainWord]] = defaultdict(list)
    for word in words:
        if 0 < counts[word] <= most:
            for (row,) in db.execute(_ROWS, (matches[word], most)):
                found[row].append(word)
    return Sharing(
        items=_first(db, "SELECT coalesce(max(row), 0) FROM item", ()),
        counts=counts,
        sharers=tuple(_sharer(db, row, found[row]) for row in sorted(found, reverse=True)),
    )


# -- inside ----------------------------------------------------------------------------------------------------------


def _match(db: sqlite3.Connection, word: PlainWord) -> str:
    """Return the expression that finds a word in every form the index has; "" if it has none."""
    if word.is_pair:
        return f'"{parted(word.text)}"'
    start = bindable(word.beginning)
    terms = [term for (term,) in db.execute(_TERMS, (start, f"{start}\U0010ffff")) if word.is_form(folded(term))]
    return " OR ".join(f'"{term}"' for term in terms)


def _first(db: sqlite3.Connection, question: str, values: tuple[object, ...]) -> int:
    return int(db.execute(question, values).fetchone()[0])


def _sharer(db: sqlite3.Connection, row: int, words: Sequence[PlainWord]) -> Sharer:
    item, kind, tool, start, stop = db.execute(_ITEM, (row,)).fetchone()
    return Sharer(item=item, kind=kind, tool=tool, bytes=ByteRange(start, stop), words=tuple(words))
