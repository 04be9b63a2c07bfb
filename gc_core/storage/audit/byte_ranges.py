"""Byte ranges: the contents of the lines of log and ledger, against the ranges that ledger and checkpoints name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gc_core.storage import ledger as ledgers
from gc_core.storage.checkpoints import Checkpoint
from gc_core.storage.ledger import Collected, Entry, Opened, Rewound, Undone
from gc_core.storage.master_log import LogRecord
from gc_core.storage.rebuild import SESSION
from gc_core.storage.state import Position
from gc_core.values.items import number_of
from gc_core.values.patterns import regex
from gc_core.values.references import ByteRange
from gc_core.window.patches import SavedMessage

ITEM = regex(r"i[1-9]\d*", re.ASCII)

Where = tuple[str, ByteRange | None]
"""A file, and the bytes in it or None for the whole file."""


class Lines:
    """The contents of the log's lines, in order."""

    def __init__(self) -> None:
        self.session = ""
        self.places: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._at = self._given = 0

    def take(self, place: ByteRange, record: LogRecord) -> Iterator[str]:
        """Read the next line; yield what is wrong with it."""
        if not place.start:
            self.session = str(record.payload.get("session", ""))
            if record.source != SESSION or not self.session:
                yield "the first line does not say whose log it is"
        self.places[place.start] = (place.end, record.items)
        if record.at < self._at:
            yield f"it says that {record.at} items came before it; a line before it says {self._at}"
        named = [item for item in record.items if item]
        wrong = [item for item in named if not ITEM.fullmatch(item)]
        if wrong or len(set(named)) != len(named):
            yield f"its ids are {named}: expected each once, i1, i2, ..."
        numbers = [number_of(item) for item in named if item not in wrong]
        again = [number for number in numbers if number <= max(self._given, record.at)]
        if again:
            yield f"it gives i{again[0]}, which was given before"
        self._at = max(self._at, record.at)
        self._given = max(self._given, *numbers, 0)

    def unlike(self, start: int, end: int, item: str) -> str:
        """Return why this place does not contain an item, or ""."""
        if start not in self.places:
            return f"{item}: no line of the log begins at {start}"
        its_end, items = self.places[start]
        if end != its_end:
            return f"{item}: the line of the log at {start} ends at {its_end}, not {end}"
        return "" if item in items else f"{item} is not in the line of the log at {start}"


class Entries:
    """The contents of the ledger's lines about log and ledger."""

    def __init__(self) -> None:
        self.opened: Opened | None = None
        self.damaged = False
        self.offsets: list[tuple[ByteRange, int]] = []
        self.collections: dict[int, int] = {}
        self._rewinds: list[tuple[int, Rewound]] = []
        self._openings: list[tuple[ByteRange, Opened]] = []
        self._at = 0

    def take(self, place: ByteRange, entry: Entry) -> Iterator[str]:
        """Read the next entry; yield what is wrong with it."""
        record = entry.record
        if entry.at < self._at:
            yield f"it names byte {entry.at} of the log; an entry before it names {self._at}"
        self._at = max(self._at, entry.at)
        self.offsets.append((place, entry.at))
        if isinstance(record, Opened):
            self.opened = record
            self._openings.append((place, record))
        elif isinstance(record, Collected):
            self.collections[place.start] = place.end
        elif isinstance(record, Rewound):
            self.offsets.append((place, record.log))
            self._rewinds.append((place.start, record))
            if not (record.log <= entry.at and record.ledger <= place.start):
                yield f"it rewinds to {record.log}-{record.ledger}, which is not before it"

    def opened_at(self, end: int) -> Opened | None:
        """Return how the session was opened when the ledger had this size, or None; rewinds do not matter."""
        return next((record for place, record in reversed(self._openings) if place.end <= end), None)

    def of_others(self, session: str) -> Iterator[tuple[ByteRange, str]]:
        """Return where it says that another session was opened, and which."""
        return ((place, record.session) for place, record in self._openings if record.session != session)

    def was_rewound(self, moment: Position) -> bool:
        """Return whether a moment was rewound later."""
        return any(
            moment.ledger <= start and (moment.ledger > record.ledger or moment.log > record.log)
            for start, record in self._rewinds
        )


class Names:
    """The places that ledger and checkpoints name, each with the first record that names it."""

    def __init__(self) -> None:
        self.items: dict[tuple[int, int, str], Where] = {}
        self.collections: dict[tuple[int, int], Where] = {}
        self.ranges: dict[tuple[int, int], Where] = {}

    def take_entry(self, place: ByteRange, entry: Entry) -> None:
        """Add the places that an entry of the ledger names."""
        record = entry.record
        by: Where = (ledgers.FILE_NAME, place)
        if isinstance(record, Collected):
            for hunk in record.hunks:
                self._take_messages((*hunk.removed, *hunk.inserted), by)
        elif isinstance(record, Undone):
            self.collections.setdefault((record.place.start, record.place.end), by)

    def take_checkpoint(self, name: str, checkpoint: Checkpoint) -> None:
        """Add the places that a checkpoint names, under the name of its file."""
        by: Where = (name, None)
        self._take_messages(checkpoint.messages, by)
        for place in (*checkpoint.done, *checkpoint.taken_back):
            self.collections.setdefault((place.start, place.end), by)

    def _take_messages(self, messages: Iterable[SavedMessage], by: Where) -> None:
        for message in messages:
            for item in message.items:
                if item.reference is not None and item.reference.place is not None:
                    self.ranges.setdefault((item.reference.place.start, item.reference.place.end), by)
                for place in (item.logged, message.place if item is message.items[0] else None):
                    if place is not None:
                        self.items.setdefault((place.start, place.end, item.id), by)


def misplaced(lines: Lines, entries: Entries, names: Names, size: int) -> Iterator[tuple[Where, str]]:
    """Yield the records naming a place of a log of this size, or of its ledger, that does not contain what they say."""
    for place, offset in entries.offsets:
        if offset != size and offset not in lines.places:
            yield (ledgers.FILE_NAME, place), f"no line of the log begins at {offset}"
    for (start, end, item), by in names.items.items():
        text = lines.unlike(start, end, item)
        if text:
            yield by, text
    ends = {end for end, _ in lines.places.values()}
    for (start, end), by in names.ranges.items():
        if start not in lines.places or end not in ends:
            yield by, f"bytes {start}-{end} of the log are not whole lines"
    for (start, end), by in names.collections.items():
        if entries.collections.get(start) != end:
            yield by, f"bytes {start}-{end} of the ledger hold no collection"
