"""The master log: every message and every change of a source as it arrived, including what left the window."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from gc_core.errors import LogError
from gc_core.providers.contract import Format
from gc_core.storage.journal import Journal, line_of
from gc_core.values.json_values import DEEPEST_RECORD, read_json
from gc_core.values.patterns import regex
from gc_core.values.policy import GCPolicy
from gc_core.values.references import LOG_NAME, ByteRange
from gc_core.values.sources import CONVERSATION

FILE_NAME = LOG_NAME

VERSION = 1
"""The version of the log's form; the first line of a log has it."""

PARTS = "parts"
"""Key of a payload with parts of the system text, by name, of the line's source."""

_AROUND = 1 << 14
"""Bytes before and after a place that are checked for damage if an item is not found."""

_AT = regex(rb'\{"at":(\d{1,18}),')


@attrs.frozen(kw_only=True)
class LogRecord:
    """
    One line of the log.

    Attributes:
        at: The number of items before it: the order of a log, and its search key.
        items: Ids of the items of a message, in the order of its parts, "" for a part without one; otherwise empty.
        role: The role, or "".
        source: The instruction source it belongs to.
        turn: Its turn.
        time: Seconds since 1970; the line has it to the millisecond.
        policies: The policies that session, host and plugins chose for its items on arrival, by item id.
        by_host: The host said how all of them are held.
        given: Digest of the message in the caller's list, in hex (``GCSession.sync``), or "".
        kept_after: Of a compaction: number of the item after which user messages stay before it, or None.
        payload: The message, or the change of the source, as it arrived.

    """

    at: int
    items: tuple[str, ...] = ()
    role: str = ""
    source: str
    turn: int = 0
    time: float = 0.0
    policies: Mapping[str, GCPolicy] = attrs.field(factory=dict)
    by_host: bool = False
    given: str = ""
    kept_after: int | None = None
    payload: Mapping[str, Any]

    @property
    def policy(self) -> GCPolicy | None:
        """The host's own policy for all of its items, or None."""
        return next(iter(self.policies.values()), None) if self.by_host else None

    def line(self) -> bytes:
        """
        Return the line as it is in the file; ``at`` and the ids come first, so that they are found
        without parsing.
        """
        return line_of(
            {
                "at": self.at,
                "items": self.items,
                "role": self.role,
                "source": self.source,
                "turn": self.turn,
                "time": round(self.time, 3),
                "policies": {key: policy.value for key, policy in self.policies.items()},
                **({"by_host": True} if self.by_host else {}),
                **({"given": self.given} if self.given else {}),
                **({} if self.kept_after is None else {"kept_after": self.kept_after}),
                "payload": self.payload,
            }
        )

    @classmethod
    def read(cls, line: bytes) -> LogRecord:
        """Return the record in a line. Raises LogError for a line of another form."""
        try:
            saved = read_json(line, DEEPEST_RECORD)
            return cls(
                at=_read(saved["at"], int),
                items=tuple(_read(item, str) for item in _read(saved["items"], list)),
                role=_read(saved["role"], str),
                source=_read(saved["source"], str),
                turn=_read(saved["turn"], int),
                time=_read(saved["time"], float, int),
                policies={key: GCPolicy(policy) for key, policy in saved["policies"].items()},
                by_host=_read(saved.get("by_host", False), bool),
                given=_read(saved.get("given", ""), str),
                kept_after=_read(saved.get("kept_after"), int, type(None)),
                payload=_read(saved["payload"], dict),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            text = f"not a valid line of a master log: {line[:200]!r}; {type(error).__name__}: {error}"
            raise LogError(text) from error


def _read(value: Any, *kinds: type[Any]) -> Any:
    """Return a value of a line; damaged lines may be JSON of another type."""
    if type(value) not in kinds:
        raise TypeError(f"{value!r:.60} is not a {kinds[0].__name__}")
    return value


def text_of(record: LogRecord, item: str, format: Format) -> str:  # noqa: A002 - the session's own word
    """Return the original text of an item. Raises ValueError if the record does not contain the item."""
    place = record.items.index(item)
    if record.source != CONVERSATION.name:
        return str(record.payload["text"])
    return format.read(format.normalise(record.payload))[place].text


class MasterLog:
    """Appends records and finds single ones by the number of an item; the file is in the order of the items."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    @property
    def size(self) -> int:
        """The size of the log in bytes: the place of the next record."""
        return self.journal.size

    def append(self, records: Iterable[LogRecord]) -> tuple[ByteRange, ...]:
        """Write records, all or none; return the place of each. Raises LogError when they cannot be written."""
        return self.journal.append(record.line() for record in records)

    def read(self, place: ByteRange) -> LogRecord:
        """Return the record at a place. Raises LogError if there is none."""
        return self._record(place, self.journal.read(place))

    def records(self, start: int = 0, end: int | None = None) -> Iterator[tuple[ByteRange, LogRecord]]:
        """Yield the records from an offset on, each with its place. Raises LogError at an invalid line."""
        for place, line in self.journal.lines(start, end):
            yield place, self._record(place, line)

    def find(self, number: int) -> tuple[ByteRange, LogRecord] | None:
        """
        Return the record with this item, or None: by binary search, O(log n) reads and no memory.

        A damaged line only affects its own items. Raises LogError when the item may be in one.
        """
        low, high = 0, self.size
        found: tuple[ByteRange, bytes] | None = None
        while low < high:
            middle = (low + high) // 2
            probe = self._numbered_from(middle, high)
            if probe is None:
                high = middle
            elif _numbered_before(probe[1]) < number:
                found, low = probe, probe[0].end
            else:
                high = middle
        if number <= 0:
            return None
        held = self._holding(number, found)
        if held is None and self._is_astray(number, ByteRange(0, 0) if found is None else found[0]):
            return self._scanned(number)
        return held

    def _is_astray(self, number: int, place: ByteRange) -> bool:
        """
        Return whether a damaged number may have misled the search to a place: the order is broken there, or the item is
        near.
        """
        first = self.journal.line_from(max(0, place.start - _AROUND))
        around = () if first is None else self.journal.lines(first[0].start, place.end + _AROUND)
        lines = [line for _, line in around if _AT.match(line)]
        numbers, wanted = [*map(_numbered_before, lines)], f'"i{number}"'.encode()
        return numbers != sorted(numbers) or any(wanted in line for line in lines)

    def _scanned(self, number: int) -> tuple[ByteRange, LogRecord] | None:
        """Return the record with this item, searched line by line."""
        wanted = f'"i{number}"'.encode()
        for place, line in self.journal.lines():
            if wanted in line:
                with contextlib.suppress(LogError):  # a damaged line only affects its own items
                    record = self._record(place, line)
                    if f"i{number}" in record.items:
                        return place, record
        return None

    def _numbered_from(self, offset: int, end: int) -> tuple[ByteRange, bytes] | None:
        """Return the first line with a number at or after an offset, if it begins before the end."""
        probe = self.journal.line_from(offset)
        while probe is not None and probe[0].start < end:
            if _AT.match(probe[1]):
                return probe
            probe = self.journal.line_from(probe[0].end)
        return None

    def _holding(self, number: int, last: tuple[ByteRange, bytes] | None) -> tuple[ByteRange, LogRecord] | None:
        """
        Return the last record with fewer items before it, if it contains the item; otherwise a damaged one after it
        may.
        """
        if last is not None:
            record = self._record(*last)
            if f"i{number}" in record.items:
                return last[0], record
        following = self.journal.line_from(0 if last is None else last[0].end)
        if following is not None and not _AT.match(following[1]):
            self._record(*following)
        return None

    def _record(self, place: ByteRange, line: bytes) -> LogRecord:
        try:
            return LogRecord.read(line)
        except LogError as error:
            raise LogError(f"{self.journal.path}, bytes {place.start}-{place.end}: {error}") from error


def _numbered_before(line: bytes) -> int:
    head = _AT.match(line)
    return int(head.group(1)) if head else 0
