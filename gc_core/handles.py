"""An open file, read and written at offsets, that is closed when nobody holds it any more."""

from __future__ import annotations

import os
import stat
import weakref
from pathlib import Path

from gc_core.errors import LogError


class Handle:
    """
    An open file. It is closed when nobody holds it: a call under way keeps it open, so that no thread can write to a
    number that the system has given to another file in the meantime.
    """

    def __init__(self, path: Path, flags: int) -> None:
        self.number = os.open(path, flags, 0o600)
        self.named = False
        """Whether the name of the file is known to be on the disk."""
        # Not at exit, while threads may still write: the system closes it then.
        weakref.finalize(self, os.close, self.number).atexit = False

    def read(self, start: int, length: int) -> bytes:
        """So many bytes, fewer where the file ends."""
        part = os.pread(self.number, length, start)
        if len(part) == length:
            return part
        parts, found = [part], len(part)
        while part:
            part = os.pread(self.number, length - found, start + found)
            parts.append(part)
            found += len(part)
        return b"".join(parts)

    def write(self, data: bytes, start: int) -> None:
        """All bytes, or an OSError behind some of them."""
        left = memoryview(data)
        while left:
            written = os.pwrite(self.number, left, start)
            left, start = left[written:], start + written


def opened(path: Path, *, writable: bool) -> Handle:
    """A regular file; for writing it is made when it is missing, mode 0600. Raises LogError."""
    flags = os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY
    try:
        # A pipe would wait for its other end.
        handle = Handle(path, flags | os.O_NONBLOCK)
        regular = stat.S_ISREG(os.fstat(handle.number).st_mode)
    except (OSError, ValueError) as error:
        raise LogError(f"{path} cannot be opened: {error}") from error
    if not regular:
        raise LogError(f"{path} cannot be opened: it is not a regular file")
    return handle
