"""The master log: every message as it arrived, append-only. What leaves the window is still here."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import attrs

from gc_core.errors import SessionClosedError

FILE_NAME = "master.jsonl"

_RECORDS, _BYTES = 64, 1_000_000
"""A mark in the index stands for so many records, or fewer when they are larger: so much is read to find one."""


@attrs.frozen(kw_only=True)
class LogRecord:
    """
    One line of the log.

    Attributes:
        items: Ids of the items that the message became, in the order of its parts; empty when it became none.
        role: Who spoke.
        payload: The message as it arrived.

    """

    items: tuple[str, ...]
    role: str
    payload: Mapping[str, Any]


class MasterLog:
    """
    Appends records to a file and reads single ones back.

    Without a directory the file is an anonymous temporary one that ends with the session. ``append`` returns after
    the lines have been written, so an acknowledged message survives the end of the process; when that fails, on a
    full disk for instance, the file is as it was before. In memory there is a sparse index: of long
    sessions 16 bytes for ``_RECORDS`` records.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._file = _temporary() if directory is None else _in(directory)
        # A session that nobody closes is no leak: the file goes when the log does.
        weakref.finalize(self, self._file.close)
        self._size = self._file.seek(0, os.SEEK_END)
        self._first_items = array("q")
        self._offsets = array("q")
        self._unmarked = 0

    def append(self, records: Iterable[tuple[LogRecord, int]]) -> None:
        """Write records, all or none; the number of its first item, from which ``find`` finds it, is beside each."""
        if self._file.closed:
            raise SessionClosedError("the session was closed; it takes no further messages")
        lines = [(_line(record), first_item) for record, first_item in records]
        self._write(b"".join(line for line, _ in lines))
        for line, first_item in lines:
            self._mark(first_item)
            self._size += len(line)

    def find(self, number: int) -> LogRecord | None:
        """The record that holds the item with this number, or None."""
        place = _rightmost(self._first_items, number)
        while place >= 0:
            record = self._find_from(place, number)
            # A record without items has the number of the last one before it, which may stand before this mark.
            if record is not None or self._first_items[place] < number:
                return record
            place -= 1
        return None

    def close(self) -> None:
        """Close the file; a temporary one is gone then."""
        self._file.close()

    def _write(self, lines: bytes) -> None:
        """All of it, or an error and nothing."""
        self._file.seek(self._size)
        left = memoryview(lines)
        with contextlib.ExitStack() as undo:
            undo.callback(self._take_back)
            while left:
                left = left[self._file.write(left) :]
            undo.pop_all()

    def _take_back(self) -> None:
        with contextlib.suppress(OSError):
            self._file.truncate(self._size)

    def _mark(self, first_item: int) -> None:
        """Note where the next record will stand, if the last note is far enough back."""
        if self._offsets and self._unmarked < _RECORDS and self._size - self._offsets[-1] < _BYTES:
            self._unmarked += 1
            return
        self._first_items.append(first_item)
        self._offsets.append(self._size)
        self._unmarked = 1

    def _find_from(self, place: int, number: int) -> LogRecord | None:
        """The record with this item between a mark and the next one, or None."""
        end = self._offsets[place + 1] if place + 1 < len(self._offsets) else self._size
        self._file.seek(self._offsets[place])
        wanted = f'"i{number}"'.encode()
        for line in io.BytesIO(self._file.read(end - self._offsets[place])):
            if wanted in line[: line.index(b"]")]:  # the ids stand first in a line; only the right one is parsed
                saved = json.loads(line)
                return LogRecord(items=tuple(saved["items"]), role=saved["role"], payload=saved["payload"])
        return None


def _line(record: LogRecord) -> bytes:
    saved = attrs.asdict(record)
    try:
        return (json.dumps(saved, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form; escaped, the line is still the same JSON.
        return (json.dumps(saved) + "\n").encode()


def _temporary() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="gc-core-", buffering=0)


def _in(directory: Path) -> IO[bytes]:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(directory / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    return os.fdopen(handle, "r+b", buffering=0)


def _rightmost(numbers: array[int], number: int) -> int:
    """The last place whose number is not above the given one, or -1."""
    low, high = 0, len(numbers)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low - 1
