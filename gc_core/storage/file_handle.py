"""Files that are read and written at offsets, of which a few dozen are open, however many sessions there are."""

from __future__ import annotations

import errno
import os
import stat
import weakref
from collections import deque
from pathlib import Path
from typing import Final, Protocol

from gc_core.errors import LogError
from gc_core.values.posix import CAREFULLY, read_at, write_at


class Resting(Protocol):
    """An object that holds a descriptor and can release it until it is needed again."""

    def rest(self) -> bool:
        """Close it, unless it was used since this was last called; returns whether it is closed."""


class Ring:
    """
    The open ones of a process, of which those used least recently rest when there are too many.

    Attributes:
        limit: The number that stay open.

    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        # No lock: adding and taking are atomic, and one too many or too few does no harm.
        self._open: deque[weakref.ref[Resting]] = deque()

    def add(self, opened: Resting) -> None:
        """Count one more as open, and let others rest."""
        self._open.append(weakref.ref(opened))
        for _ in range(2 * len(self._open)):
            if len(self._open) <= self.limit:
                return
            oldest = self._open.popleft()
            held = oldest()
            if held is not None and not held.rest():
                self._open.append(oldest)


FILES: Final = Ring(64)
"""
The most files that all journals of a process hold open together. A system allows 256 to 1,024 in total, and a server
may have a thousand sessions; reopening one takes some ten microseconds.
"""

_NEW, _WRITE, _READ = os.O_RDWR | os.O_CREAT, os.O_RDWR, os.O_RDONLY


class _OpenFile:
    """
    An open file. It is closed when nothing refers to it: a running call keeps it open, so that no thread can write to a
    descriptor that the system has reused meanwhile.
    """

    __slots__ = ("__weakref__", "number")

    def __init__(self, path: Path, flags: int) -> None:
        # A pipe would wait for its other end; a link would lead to a file that is not the session's.
        self.number = os.open(path, flags | CAREFULLY, 0o600)
        # Not at exit, while threads may still write: the system closes it then.
        weakref.finalize(self, os.close, self.number).atexit = False


class Handle:
    """
    A regular file; for writing it is created if it is missing, mode 0600.

    It is opened when needed, and closed again when others have been used since and too many are open. Every call may
    raise OSError, also because another file has taken its place.
    """

    def __init__(self, path: Path, *, writable: bool) -> None:
        self._path = path
        self._again = _WRITE if writable else _READ
        self._used = True
        self._file: _OpenFile | None = _OpenFile(path, _NEW if writable else _READ)
        status = os.fstat(self._file.number)
        self._which = (status.st_dev, status.st_ino)
        self.is_regular = stat.S_ISREG(status.st_mode)
        self.named = False
        """Whether the name of the file is known to be on the disk."""
        FILES.add(self)

    def wake(self) -> None:
        """Open it now, so that a call which changes it fails before it has changed anything."""
        self._used = True
        if self._file is None:
            self._opened_again()

    def read(self, start: int, length: int) -> bytes:
        """Return this many bytes, fewer at the end of the file."""
        self._used = True
        file = self._file or self._opened_again()
        part = read_at(file.number, length, start)
        if len(part) == length:
            return part
        parts, found = [part], len(part)
        while part:
            part = read_at(file.number, length - found, start + found)
            parts.append(part)
            found += len(part)
        return b"".join(parts)

    def write(self, data: bytes, start: int) -> None:
        """Write all bytes; an OSError may follow some of them."""
        self._used = True
        file = self._file or self._opened_again()
        left = memoryview(data)
        while left:
            written = write_at(file.number, left, start)
            left, start = left[written:], start + written

    def size(self) -> int:
        """Return the size in bytes."""
        return os.fstat(self._held().number).st_size

    def truncate(self, size: int) -> None:
        """Truncate it to this many bytes."""
        os.ftruncate(self._held().number, size)

    def sync(self) -> None:
        """Wait until everything that was written to the file, through any opening, is on the disk."""
        os.fsync(self._held().number)

    def rest(self) -> bool:
        """Close it until it is needed again, unless it was used since the last call; return whether it is closed."""
        if self._used:
            self._used = False
            return False
        self._file = None
        return True

    def _held(self) -> _OpenFile:
        self._used = True
        return self._file or self._opened_again()

    def _opened_again(self) -> _OpenFile:
        file = _OpenFile(self._path, self._again)
        status = os.fstat(file.number)
        if (status.st_dev, status.st_ino) != self._which:
            raise OSError(errno.ESTALE, "another file has taken its place", str(self._path))
        self._file = file
        FILES.add(self)
        return file


def opened(path: Path, *, writable: bool) -> Handle:
    """Open a regular file; for writing it is created if it is missing, mode 0600. Raises LogError."""
    try:
        handle = Handle(path, writable=writable)
    except (OSError, ValueError) as error:
        why = "it is a symbolic link" if getattr(error, "errno", 0) == errno.ELOOP else error
        raise LogError(f"{path} cannot be opened: {why}") from error
    if not handle.is_regular:
        raise LogError(f"{path} cannot be opened: it is not a regular file")
    return handle
