"""Recall, search and history of a session, also for one opened for reading."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import attrs

from gc_core.errors import LogError, SourceError
from gc_core.session.runtime import Runtime
from gc_core.storage import master_log as logs
from gc_core.storage.contents import Passage, passages_of
from gc_core.storage.history import HistoryEntry, entries_of
from gc_core.storage.master_log import LogRecord, text_of
from gc_core.storage.rebuild import collected
from gc_core.storage.search import Filters, Hit, SearchIndex, check_search
from gc_core.storage.search.index_file import FILE_NAME
from gc_core.storage.search.record_texts import parts_of
from gc_core.values.items import ItemKind, number_of
from gc_core.values.messages import Role
from gc_core.values.references import ByteRange

if TYPE_CHECKING:
    from gc_core.relevance.plain_words import PlainWord
    from gc_core.storage.search.indexer import Indexer
    from gc_core.storage.search.sharing import Sharing

_ID = re.compile(r"\bi(\d{1,18})(?:-i(\d{1,18}))?\b", re.ASCII)
_IDS = re.compile(rf"{_ID.pattern}(?:, {_ID.pattern}){{0,99}}", re.ASCII)
_RANGE = re.compile(re.escape(logs.FILE_NAME) + r":(\d{1,18})-(\d{1,18})")


class History:
    """
    Recall, search and history of a session's files.

    Args:
        runtime: The session's.
        index_path: The path of the search index; by default next to the log.
        listed_only: Recall and search only what came with the messages of the caller's last list.

    """

    def __init__(
        self, runtime: Runtime, index_path: Callable[[], Path] | None = None, *, listed_only: bool = False
    ) -> None:
        self._runtime = runtime
        self._listed_only = listed_only
        self._index_path = index_path or (lambda: runtime.directory / FILE_NAME)
        self._indexer: Indexer | None = None

    @property
    def listed(self) -> History:
        """Recall and search only for what came with the messages of the caller's last list."""
        return History(self._runtime, self._index_path, listed_only=True)

    def recall(self, reference: str) -> str:
        """Return the original text of what a reference names; see ``GCSession.recall``."""
        texts = [f"[{key}]\n{text}" for key, text in self.originals(reference)]
        return texts[0].partition("\n")[2] if len(texts) == 1 else "\n\n".join(texts)

    def originals(self, reference: str) -> list[tuple[str, str]]:
        """
        Return the items that a reference names, each with its original text. Raises SourceError if
        there are none.
        """
        form = self._runtime.format
        return [(key, text_of(record, key, form)) for key, record in self._named(reference)]

    def contents(self, reference: str) -> tuple[Passage, ...]:
        """Return the parts of what a reference names; see ``GCSession.contents``."""
        form = self._runtime.format
        named = ((key, record, dict(parts_of(record, form))) for key, record in self._named(reference))
        return passages_of((key, record.turn, parts[key]) for key, record, parts in named if key in parts)

    def search(self, query: str, **filters: Unpack[Filters]) -> tuple[Hit, ...]:
        """Search everything that was ever said; see ``GCSession.search``."""
        check_search(query, filters)
        with self._index() as index:
            hits = index.search(query, **filters)
        is_readable = self._is_readable()
        return tuple(hit for hit in hits if is_readable(hit.bytes))

    def sharing(self, words: Sequence[PlainWord], most: int) -> Sharing:
        """Return the items that share rare words with a question; see ``SearchIndex.sharing``."""
        with self._index() as index:
            return index.sharing(words, most)

    def reply_to(self, item: str) -> tuple[ByteRange, str] | None:
        """
        Return the line and the id of the text that the agent said right after an item; None if it said something else
        or nothing.
        """
        found = self._runtime.store.log.find(number_of(item) + 1)
        if found is None or found[1].role != Role.ASSISTANT.value:
            return None
        parts = parts_of(found[1], self._runtime.format)
        return next(((found[0], key) for key, part in parts if part.kind is ItemKind.ASSISTANT_TEXT), None)

    def entries(self) -> tuple[HistoryEntry, ...]:
        """The changes of the window, oldest first; reads the whole ledger."""
        store = self._runtime.store
        return tuple(
            attrs.evolve(entry, record=collected(store.ledger, entry.place)) if entry.is_collection else entry
            for entry in entries_of(store.ledger.journal, store.log.size)
        )

    def index_in_background(self) -> None:
        """Update the search index of a kept session in a separate thread, after appending."""
        if self._runtime.store.temporary:
            return
        if self._indexer is None:
            from gc_core.storage.search.indexer import Indexer  # a session without files never needs one

            self._indexer = Indexer(self._index_path(), self._runtime.store.log, self._runtime.format)
        self._indexer.notify()

    def close(self) -> None:
        """Stop indexing."""
        if self._indexer is not None:
            self._indexer.stop()

    # -- inside --------------------------------------------------------------------------------------------------

    def _index(self) -> contextlib.closing[SearchIndex]:
        """Open the index for one search, in half a millisecond: an idle session holds no file open."""
        return contextlib.closing(SearchIndex(self._index_path(), self._runtime.store.log, self._runtime.format))

    def _named(self, item: str) -> list[tuple[str, LogRecord]]:
        """Return the items that a reference names, with their records. Raises SourceError if there are none."""
        if not isinstance(item, str):
            raise SourceError(f"item = {item!r}: expected a reference as text")
        named, place = _IDS.search(item[item.rfind("[gc:") + 1 :]), _RANGE.search(item)
        found: list[tuple[str, ByteRange, LogRecord]] = []
        if named is not None:
            for first, last in _ID.findall(named.group()):
                if last and int(last) < int(first):
                    raise SourceError(f"{item!r:.200}: a range goes upwards: i{last}-i{first}")
                found += self._of_items(int(first), int(last or first))
        elif place is not None:
            found = self._of_bytes(int(place.group(1)), int(place.group(2)))
        if not found:
            expected = "i42, i5-i20, master.jsonl:START-END or a whole [gc: ...] line; search() finds text"
            raise SourceError(f"no item {item!r:.200} was ever logged; expected {expected}")
        is_readable = self._is_readable()
        readable = [(key, record) for key, place, record in found if is_readable(place)]
        if not readable:
            raise SourceError(f"{item!r:.200} came with no message of the present list")
        return readable

    def _is_readable(self) -> Callable[[ByteRange], bool]:
        """Return whether a record at a place in the log may be read."""
        if not self._listed_only:
            return lambda _: True
        starts = {given.log for given in self._runtime.state.given}
        return lambda place: place.start in starts

    def _of_items(self, first: int, last: int) -> list[tuple[str, ByteRange, LogRecord]]:
        numbers = range(first, min(last, self._runtime.state.numbers.items) + 1)
        known = ((number, self._runtime.store.log.find(number)) for number in numbers)
        return [(f"i{number}", *found) for number, found in known if found is not None]

    def _of_bytes(self, start: int, end: int) -> list[tuple[str, ByteRange, LogRecord]]:
        """Return whole lines only: a made-up range may begin anywhere, and is refused."""
        inside = end <= self._runtime.store.log.size
        records = [*self._runtime.store.log.records(start, end)] if inside else []
        if not records:
            raise LogError(f"{self._runtime.store.log.journal.path}: bytes {start}-{end} hold no line")
        return [(key, place, record) for place, record in records for key in record.items if key]
