"""An append-only file of JSON lines: whole lines or nothing, and every line found again by its bytes."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gc_core.errors import LogError
from gc_core.storage.file_handle import Handle, opened
from gc_core.values.json_values import DEEPEST_RECORD, DepthError, read_json
from gc_core.values.patterns import regex
from gc_core.values.posix import sync_folder
from gc_core.values.references import ByteRange

_CHUNK = 1 << 18
_PROBE = 1 << 13
"""Bytes read at a time to find a line break: a binary search reads some twenty such pieces."""

_SHORTEST = len(b"{}\n")
_HALVES = regex(r"[\ud800-\udbff][\udc00-\udfff]")
"""Two adjacent lone surrogates, as left by a stream that was cut inside a character."""


class Journal:
    """
    One append-only file of JSON lines.

    ``append`` returns after the lines have been written, so they survive the end of the process; if that fails, for
    example on a full disk, the file is as it was before. Bytes after the last whole line, left by a crash, are moved to
    a separate file, FILE.torn-OFFSET, when a writer opens the journal; a reader skips it. Nothing of the file is kept
    in memory. A journal without references is closed; an idle one holds no file open while many others are used (see
    ``gc_core.storage.file_handle``).

    Args:
        path: The file; made when it is missing, mode 0600.
        writable: Whether lines may be added.
        lock: Held while the file is changed. Without one the caller sees to it that there is one writer.

    Attributes:
        size: Bytes of whole lines: the offset of the next one.
        torn: Bytes after them when it was opened.

    Raises:
        LogError: The file cannot be opened, read, written or repaired, or the journal was closed.

    """

    def __init__(
        self, path: Path, *, writable: bool = True, lock: contextlib.AbstractContextManager[None] | None = None
    ) -> None:
        self.path = path
        self._lock = lock or contextlib.nullcontext()
        self._writable = writable
        self._handle: Handle | None = opened(path, writable=writable)
        end = self._handle.size()
        self.size = self._whole_size(end)
        self.torn = end - self.size
        if self.torn and writable:
            self._move_aside(self.size, end)

    def append(self, lines: Iterable[bytes]) -> tuple[ByteRange, ...]:
        """Write lines, each with its line break, all or none; return the place of each. Raises LogError."""
        places, end = [], self.size
        for line in (lines := tuple(lines)):
            if not line or line.find(b"\n") != len(line) - 1:
                raise LogError(f"{self.path}: not a single line with its line break: {line[:200]!r}")
            places.append(ByteRange(end, end + len(line)))
            end += len(line)
        with self._lock:
            self._write(b"".join(lines))
        return tuple(places)

    def read(self, place: ByteRange) -> bytes:
        """Return the bytes at a place. Raises LogError if the file ends before."""
        self._check(place)
        return self._pread(place.start, place.end - place.start)

    def lines(self, start: int = 0, end: int | None = None) -> Iterator[tuple[ByteRange, bytes]]:
        """
        Yield the lines from the one that begins at ``start`` up to ``end``, each with its place;
        O(one line) memory.
        """
        end = self.size if end is None else min(end, self.size)
        place, rest = start, b""
        while (reached := place + len(rest)) < end:
            # Read as much again as there is: with small steps, a long line would be copied at each step.
            *whole, rest = (rest + self._pread(reached, min(max(_CHUNK, len(rest)), end - reached))).split(b"\n")
            for line in whole:
                yield ByteRange(place, place + len(line) + 1), line + b"\n"
                place += len(line) + 1

    def line_from(self, offset: int) -> tuple[ByteRange, bytes] | None:
        """Return the first line that begins at or after an offset, or None: for binary search in a sorted file."""
        start = 0
        if offset > 0:
            before = self._find_break(offset - 1)
            if before is None:
                return None
            start = before + 1
        end = self._find_break(start)
        return None if end is None else (ByteRange(start, end + 1), self._pread(start, end + 1 - start))

    def overwrite(self, place: ByteRange, data: bytes) -> None:
        """
        Overwrite a place with other bytes of the same length, for a purge only, which syncs at its end.

        Raises LogError for another length.
        """
        self._check(place)
        if len(data) != place.end - place.start:
            raise LogError(f"{self.path}: {len(data)} bytes do not fit at {place.start}-{place.end}")
        try:
            with self._lock:
                self._held(writing=True).write(data, place.start)
        except OSError as error:
            text = f"{self.path}: bytes {place.start}-{place.end} could not be overwritten, or in part: {error}"
            raise LogError(text) from error

    def cut(self, offset: int) -> None:
        """Move the lines from an offset on aside, as if a crash had torn them. Raises LogError."""
        self._check(ByteRange(offset, self.size))
        with self._lock:
            self._held(writing=True)
            if offset > 0 and self._pread(offset - 1, 1) != b"\n":
                raise LogError(f"{self.path}: no line begins at {offset}")
            if offset < self.size:
                self._move_aside(offset, self.size)

    def sync(self) -> None:
        """Wait until everything written is on the disk and survives a power loss. Raises LogError if that fails."""
        handle = self._held()
        try:
            handle.sync()
            if not handle.named:
                sync_folder(self.path.parent)
                handle.named = True
        except OSError as error:
            raise LogError(f"{self.path} cannot be synced to the disk: {error}") from error

    def close(self) -> None:
        """Close the file as soon as no other thread reads or writes. Every later call raises LogError."""
        self._handle = None

    # -- inside --------------------------------------------------------------------------------------------------

    def _held(self, *, writing: bool = False) -> Handle:
        handle = self._handle
        if handle is None:
            raise LogError(f"{self.path} was closed")
        if writing and not self._writable:
            raise LogError(f"{self.path} was opened for reading only")
        if writing:
            try:
                handle.wake()
            except OSError as error:
                raise LogError(f"{self.path} cannot be opened again: {error}") from error
        return handle

    def _check(self, place: ByteRange) -> None:
        if not 0 <= place.start <= place.end <= self.size:
            raise LogError(f"{self.path}: no bytes {place.start}-{place.end}; it has {self.size:,}")

    def _write(self, data: bytes) -> None:
        handle = self._held(writing=True)
        end = self.size + len(data)
        try:
            handle.write(data, self.size)
            # Inside: after an interrupt the bytes are either counted or removed.
            self.size = end
        except OSError as error:
            text = f"{self.path}: {len(data):,} bytes could not be written, and nothing was: {error}"
            raise LogError(text) from error
        finally:
            if self.size != end:
                self._take_back(handle)

    def _take_back(self, handle: Handle) -> None:
        try:
            handle.truncate(self.size)
        except OSError as error:
            raise LogError(f"{self.path}: bytes written after {self.size:,} cannot be removed: {error}") from error

    def _pread(self, start: int, length: int) -> bytes:
        try:
            found = self._held().read(start, length)
        except OSError as error:
            raise LogError(f"{self.path}: bytes {start}-{start + length} cannot be read: {error}") from error
        if len(found) != length:
            raise LogError(f"{self.path}: no bytes {start}-{start + length}; it ends at {start + len(found):,}")
        return found

    def _find_break(self, start: int) -> int | None:
        """Return the first line break at or after ``start``."""
        length = _PROBE
        while start < self.size:
            chunk = self._pread(start, min(length, self.size - start))
            place = chunk.find(b"\n")
            if place >= 0:
                return start + place
            start += len(chunk)
            length = min(2 * length, _CHUNK)
        return None

    def _whole_size(self, end: int) -> int:
        """Return the end of the last line that is whole and JSON; a power loss may leave a line of nothing."""
        for start, line_end in self._lines_back(end):
            if line_end - start >= _SHORTEST and _is_object(self._pread(start, line_end - start)):
                return line_end
        return 0

    def _lines_back(self, end: int) -> Iterator[tuple[int, int]]:
        """Yield begin and end of the lines with a line break, the last one first: each byte is read once."""
        line_end, low = None, end
        while low > 0:
            high, low = low, max(0, low - _CHUNK)
            chunk = self._pread(low, high - low)
            place = chunk.rfind(b"\n")
            while place >= 0:
                start = low + place + 1
                if line_end is not None:
                    yield start, line_end
                line_end = start
                place = chunk.rfind(b"\n", 0, place)
        if line_end is not None:
            yield 0, line_end

    def _move_aside(self, start: int, end: int) -> None:
        """Cut off everything from an offset on, after a copy of it is on the disk."""
        with contextlib.ExitStack() as undo:
            try:
                aside, number = _made_aside(self.path, start)
                # A partial copy, for example on a full disk, is useless: the bytes are still in the file.
                undo.callback(aside.unlink, missing_ok=True)
                with os.fdopen(number, "wb") as copy:
                    for place in range(start, end, _CHUNK):
                        copy.write(self._pread(place, min(_CHUNK, end - place)))
                    copy.flush()
                    os.fsync(number)
                sync_folder(aside.parent)
                undo.pop_all()
                # The size first: an interrupt in between must not leave a hole before the next line.
                self.size = start
                self._held().truncate(start)
            except OSError as error:
                text = f"{self.path}: {end - start:,} torn bytes at {start} cannot be moved aside: {error}"
                raise LogError(text) from error


def line_of(record: Mapping[str, Any]) -> bytes:
    """
    Return one line, with characters unescaped, so that plain grep finds them. Raises LogError for values that are not
    JSON.
    """
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise LogError(f"a record cannot be written as JSON: {type(error).__name__}: {error}") from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form; escaped, the line is the same JSON. Not so for surrogate pairs: escaped,
        # they would be read back as the character.
        if _HALVES.search(text):
            return text.encode("utf-8", "surrogatepass")
        return (json.dumps(record, separators=(",", ":")) + "\n").encode()


def _made_aside(path: Path, offset: int) -> tuple[Path, int]:
    """Create a file for the torn bytes; return it with its number."""
    aside, count = path.with_name(f"{path.name}.torn-{offset}"), 1
    while True:
        with contextlib.suppress(FileExistsError):
            return aside, os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        count += 1
        aside = path.with_name(f"{path.name}.torn-{offset}-{count}")


def _is_object(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(read_json(line, DEEPEST_RECORD), dict)
    except DepthError:
        # Deep nesting, which may exceed this process's stack, does not make a line torn.
        return line.startswith(b"{") and line.endswith(b"}\n")
    except ValueError:
        return False
