"""A file of JSON lines that only grows: whole lines or nothing, and every line found again by its bytes."""

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
"""Bytes that one look for a line break reads: a search by halves makes some twenty of them."""

_SHORTEST = len(b"{}\n")
_HALVES = regex(r"[\ud800-\udbff][\udc00-\udfff]")
"""Two lone surrogates side by side, as a stream leaves them that was cut inside a letter."""


class Journal:
    """
    One append-only file of JSON lines.

    ``append`` returns after the lines have been written, so they survive the end of the process; when that fails, on a
    full disk for instance, the file is as it was before. What a crash left after the last whole line is moved aside
    into a file of its own, FILE.torn-OFFSET, when a writer opens the journal; a reader passes over it. Nothing of the
    file is held in memory. A journal that no one holds is closed; one that rests while many others are used holds no
    file open (see ``gc_core.storage.file_handle``).

    Args:
        path: The file; made when it is missing, mode 0600.
        writable: Whether lines may be added.
        lock: Held while the file is changed. Without one the caller sees to it that there is one writer.

    Attributes:
        size: Bytes of whole lines: where the next one will stand.
        torn: Bytes that stood after them when it was opened.

    Raises:
        LogError: The file cannot be opened, read, written or mended, or the journal was closed.

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
        """Write lines, each with its line break, all or none; returns where each one stands. Raises LogError."""
        places, end = [], self.size
        for line in (lines := tuple(lines)):
            if not line or line.find(b"\n") != len(line) - 1:
                raise LogError(f"{self.path}: not one line that ends in its line break: {line[:200]!r}")
            places.append(ByteRange(end, end + len(line)))
            end += len(line)
        with self._lock:
            self._write(b"".join(lines))
        return tuple(places)

    def read(self, place: ByteRange) -> bytes:
        """Return the bytes at a place. Raises LogError when the file does not reach so far."""
        self._check(place)
        return self._pread(place.start, place.end - place.start)

    def lines(self, start: int = 0, end: int | None = None) -> Iterator[tuple[ByteRange, bytes]]:
        """
        Yield the lines from the one that begins at ``start`` up to ``end``, each with its place;
        O(one line) memory.
        """
        end = self.size if end is None else min(end, self.size)
        place, rest = start, b""
        while (behind := place + len(rest)) < end:
            # As much again as there is: by small steps, a long line would be copied once a step.
            *whole, rest = (rest + self._pread(behind, min(max(_CHUNK, len(rest)), end - behind))).split(b"\n")
            for line in whole:
                yield ByteRange(place, place + len(line) + 1), line + b"\n"
                place += len(line) + 1

    def line_from(self, offset: int) -> tuple[ByteRange, bytes] | None:
        """Return the first line that begins at or after an offset, or None: for a search by halves in a sorted file."""
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
        Write other bytes of the same length over a place, for a purge alone, which syncs when it is done.

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
        """Move the lines from the one that begins at an offset aside, as if a crash had torn them. Raises LogError."""
        self._check(ByteRange(offset, self.size))
        with self._lock:
            self._held(writing=True)
            if offset > 0 and self._pread(offset - 1, 1) != b"\n":
                raise LogError(f"{self.path}: no line begins at {offset}")
            if offset < self.size:
                self._move_aside(offset, self.size)

    def sync(self) -> None:
        """Return when everything written is on the disk, whatever happens to the power."""
        handle = self._held()
        try:
            handle.sync()
            if not handle.named:
                sync_folder(self.path.parent)
                handle.named = True
        except OSError as error:
            raise LogError(f"{self.path} cannot be brought to the disk: {error}") from error

    def close(self) -> None:
        """Close the file, as soon as no other thread reads or writes any more. Every later call raises LogError."""
        self._handle = None

    # -- inside --------------------------------------------------------------------------------------------------

    def _held(self, *, writing: bool = False) -> Handle:
        handle = self._handle
        if handle is None:
            raise LogError(f"{self.path} was closed")
        if writing and not self._writable:
            raise LogError(f"{self.path} was opened for reading alone")
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
            # Inside: an interrupt finds the bytes counted, or has them taken back.
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
            raise LogError(f"{self.path}: what was written behind {self.size:,} cannot be undone: {error}") from error

    def _pread(self, start: int, length: int) -> bytes:
        try:
            found = self._held().read(start, length)
        except OSError as error:
            raise LogError(f"{self.path}: bytes {start}-{start + length} cannot be read: {error}") from error
        if len(found) != length:
            raise LogError(f"{self.path}: no bytes {start}-{start + length}; it ends at {start + len(found):,}")
        return found

    def _find_break(self, start: int) -> int | None:
        """Return where the first line break at or after ``start`` is."""
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
        """Bytes up to the end of the last line that is whole and JSON; power loss may leave a line of nothing."""
        for start, behind in self._lines_back(end):
            if behind - start >= _SHORTEST and _is_object(self._pread(start, behind - start)):
                return behind
        return 0

    def _lines_back(self, end: int) -> Iterator[tuple[int, int]]:
        """Yield where the lines with a line break begin and end, the last one first: each byte is looked at once."""
        behind, low = None, end
        while low > 0:
            high, low = low, max(0, low - _CHUNK)
            chunk = self._pread(low, high - low)
            place = chunk.rfind(b"\n")
            while place >= 0:
                start = low + place + 1
                if behind is not None:
                    yield start, behind
                behind = start
                place = chunk.rfind(b"\n", 0, place)
        if behind is not None:
            yield 0, behind

    def _move_aside(self, start: int, end: int) -> None:
        """Cut off what stands from an offset on, when a copy of it is on the disk."""
        with contextlib.ExitStack() as undo:
            try:
                aside, number = _made_aside(self.path, start)
                # A part of a copy, for instance on a full disk, is worth nothing: the bytes are still in the file.
                undo.callback(aside.unlink, missing_ok=True)
                with os.fdopen(number, "wb") as copy:
                    for place in range(start, end, _CHUNK):
                        copy.write(self._pread(place, min(_CHUNK, end - place)))
                    copy.flush()
                    os.fsync(number)
                sync_folder(aside.parent)
                undo.pop_all()
                # The size first: an interrupt in between must not leave a hole in front of the next line.
                self.size = start
                self._held().truncate(start)
            except OSError as error:
                text = f"{self.path}: {end - start:,} torn bytes at {start} cannot be moved aside: {error}"
                raise LogError(text) from error


def line_of(record: Mapping[str, Any]) -> bytes:
    """Return one line, letters as they are, so that plain grep finds them. Raises LogError for what JSON cannot say."""
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise LogError(f"a record has no form in JSON: {type(error).__name__}: {error}") from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form; escaped, the line is still the same JSON. Two halves of a letter are not:
        # escaped, they would be read back as the letter.
        if _HALVES.search(text):
            return text.encode("utf-8", "surrogatepass")
        return (json.dumps(record, separators=(",", ":")) + "\n").encode()


def _made_aside(path: Path, offset: int) -> tuple[Path, int]:
    """Return a file for the torn bytes that did not exist before, and its number."""
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
        # That it is nested deeper than can be read from here does not make it torn.
        return line.startswith(b"{") and line.endswith(b"}\n")
    except ValueError:
        return False
