"""
POSIX file operations that Windows lacks, and their replacements there.

Without them sessions work, in memory and with a directory, but promise less, which is logged once when this module is
imported: modes do not restrict access to a file, a link that takes a file's place at the last moment is followed, and
nothing makes sure that a new file's name is on the disk. Nothing forks there, so no child has to give a session up.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gc_core.values.loggers import logger

_FLAGS: Final = ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK")
_MISSING: Final = tuple(
    f"os.{name}" for name in (*_FLAGS, "O_DIRECTORY", "pread", "pwrite", "register_at_fork") if not hasattr(os, name)
)

CAREFULLY: Final = sum(getattr(os, name, 0) for name in _FLAGS) | getattr(os, "O_BINARY", 0)
"""
Flags for ``os.open``: no link is followed, no pipe waited for, no child inherits the file, and on Windows bytes stay as
they are.
"""

_moving: Final = threading.Lock()
"""Held while a file's one position is set and used, where no calls take a position."""


def _read_at(number: int, length: int, start: int) -> bytes:
    with _moving:
        os.lseek(number, start, os.SEEK_SET)
        return os.read(number, length)


def _write_at(number: int, data: bytes | memoryview, start: int) -> int:
    with _moving:
        os.lseek(number, start, os.SEEK_SET)
        return os.write(number, data)


read_at: Final[Callable[[int, int, int], bytes]] = getattr(os, "pread", _read_at)
"""Bytes of an open file from a position on, fewer where it ends; from any thread."""

write_at: Final[Callable[[int, bytes | memoryview, int], int]] = getattr(os, "pwrite", _write_at)
"""Write bytes to an open file from a position on; returns how many were written. From any thread."""


def sync_folder(folder: Path) -> None:
    """Wait until the names of the files in a folder are on the disk; Windows does not let a program ask for that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


if _MISSING:
    logger("gc_core.store").info(
        "this system lacks calls of POSIX: files are not protected from other users or links, names are not synced",
        missing=", ".join(_MISSING),
    )
