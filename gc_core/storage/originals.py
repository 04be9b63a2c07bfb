"""Reads items as they arrived from the log, for example what a summary covers."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

import attrs

from gc_core.errors import LogError
from gc_core.providers.contract import Format, TokenCounter
from gc_core.relevance.name_scan import scan
from gc_core.storage.ledger import Branched, Ledger, Rewound
from gc_core.storage.master_log import LogRecord, MasterLog
from gc_core.storage.search.record_texts import spoken_parts_of
from gc_core.values.items import Item, ItemKind, number_of
from gc_core.values.policy import GCPolicy
from gc_core.values.references import ByteRange, Reference
from gc_core.values.sources import CONVERSATION

_MOST: Final = 4
"""
The most that is read between the ends of a reference, as a multiple of its tokens: the range may contain other units,
which their own replacements cover.
"""

_BESIDES: Final = 2_000


def _merged(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the ranges in order, with overlapping and adjacent ones as one; empty ones are left out."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(each for each in ranges if each[0] < each[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


@attrs.frozen(kw_only=True)
class TakenBack:
    """
    The parts of a log that were rewound, or that the caller took out of its list: they are in the file, but do not
    count any more.

    Attributes:
        ranges: The byte ranges, in order and apart from each other.

    """

    ranges: tuple[tuple[int, int], ...] = attrs.field(default=(), converter=_merged)

    @classmethod
    def of(cls, ledger: Ledger, since: int = 0) -> TakenBack:
        """Read the ranges from the ledger, from an offset on. O(its length), parsing only the lines of these kinds."""
        rewound: list[tuple[int, int]] = []
        taken_out: list[tuple[int, tuple[int, int]]] = []
        for place, entry in ledger.going_back(since):
            match entry.record:
                case Rewound(log=start, ledger=before):
                    rewound.append((start, entry.at))
                    taken_out = [each for each in taken_out if each[0] < before]
                case Branched(taken_out=start) if start:
                    taken_out.append((place.start, (start, entry.at)))
        return cls(ranges=(*rewound, *(span for _, span in taken_out)))

    def also(self, *ranges: tuple[int, int]) -> TakenBack:
        """Return these ranges and others."""
        return TakenBack(ranges=(*self.ranges, *ranges))

    def holds(self, place: ByteRange) -> bool:
        """Return whether a line at this place was taken back."""
        before = bisect.bisect_right(self.ranges, place.start, key=lambda each: each[0]) - 1
        return before >= 0 and place.start < self.ranges[before][1]


@attrs.frozen(kw_only=True)
class Reading:
    """
    A reader of originals.

    Attributes:
        log: The log.
        format: The provider's message shape.
        counter: Counts their tokens.
        taken_back: The parts of the log that do not count any more.
        damaged: Called with every unreadable line; the others are still read.

    """

    log: MasterLog
    format: Format
    counter: TokenCounter
    taken_back: TakenBack
    damaged: Callable[[LogError], None]

    def between(self, reference: Reference, resident: Collection[str], after: int = 0) -> tuple[Item, ...]:
        """
        Return the items of the conversation between the ends of a reference, oldest first, except ``resident`` ones and
        those up to number ``after``. O(items that the reference covers), however far apart its ends are.
        """
        begins = min(number_of(first) for first in (reference.first, *(each.first for each in reference.stretches)))
        low, high = max(begins, after + 1), number_of(reference.last)
        first, last = self._place_of(range(low, high + 1)), self._place_of(range(high, low - 1, -1))
        if first is None or last is None:
            return ()
        said = (record for record in self._records(first.start, last.end) if record.source == CONVERSATION.name)
        items = items_of(said, self.format, self.counter)
        among = (item for item in items if low <= number_of(item.id) <= high and item.id not in resident)
        return tuple(_up_to(among, _MOST * reference.tokens + _BESIDES))

    def _place_of(self, numbers: Sequence[int]) -> ByteRange | None:
        """Return the place of the first readable one of these items."""
        for number in numbers:
            try:
                found = self.log.find(number)
            except LogError as error:
                self.damaged(error)
                continue
            if found is not None:
                return found[0]
        return None

    def _records(self, start: int, end: int) -> Iterator[LogRecord]:
        for place, line in self.log.journal.lines(start, end):
            if self.taken_back.holds(place):
                continue
            try:
                yield LogRecord.read(line)
            except LogError as error:
                self.damaged(LogError(f"{self.log.journal.path}, bytes {place.start}-{place.end}: {error}"))


def _up_to(items: Iterable[Item], tokens: int) -> Iterator[Item]:
    yielded = 0
    for item in items:
        yield item
        yielded += 0 if item.kind is ItemKind.THINKING else item.original_tokens  # not counted for earlier turns
        if yielded > tokens:
            return


def items_of(records: Iterable[LogRecord], format: Format, counter: TokenCounter) -> Iterator[Item]:  # noqa: A002
    """
    Yield the items of these records as they arrived, each in the unit of its message; results are paired with their
    calls by the newest call of the same id.
    """
    calls: dict[str, str] = {}
    for unit, record in enumerate(records):
        for key, part in spoken_parts_of(record, format):
            if part.kind is ItemKind.TOOL_CALL:
                calls[part.call_id] = key
            yield Item(
                id=key,
                kind=part.kind,
                source=record.source,
                policy=record.policies.get(key, GCPolicy.EPHEMERAL),
                tokens=0,
                original_tokens=counter.count(part.text),
                text=part.text,
                unit=unit,
                turn=record.turn,
                name=part.name,
                call=calls.get(part.call_id, "") if part.kind is ItemKind.TOOL_RESULT else "",
                is_error=part.is_error,
                scan=scan(part.text),
            )
