"""
Everything that differs between two processes, made the same: clock, ids, directories, environment.

``install`` has to run before gc_core is imported, for a module may keep the clock that it finds.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
from filelock import FileLock

STARTED = 1_830_000_000.125
"""Later than any file of this machine was written, so that what is read from one is always equally old: expired."""

HEX_ID = re.compile(r"\b[0-9a-f]{8}(-?)[0-9a-f]{4}(?:\1[0-9a-f]{4}){3}\1[0-9a-f]{12}\b|\b[0-9a-f]{32}\b")


@attrs.define
class Clock:
    """
    Moves by a quarter of a second at each reading in the main thread. Every reading has three decimals: byte offsets in
    the master log are part of a request.
    """

    now: float = STARTED

    def __call__(self) -> float:
        if threading.current_thread() is threading.main_thread():
            self.now += 0.25
        return self.now


CLOCK = Clock()


@attrs.define
class Numbers:
    """Random names, one after the other: their letters cost tokens where they are part of a request."""

    last: int = 0

    def next(self) -> int:
        self.last += 1
        return self.last


NUMBERS = Numbers()


def numbered_id() -> uuid.UUID:
    return uuid.UUID(int=NUMBERS.next(), version=4)


def numbered_names() -> Iterator[str]:
    while True:
        yield f"{NUMBERS.next():08}"


def install() -> None:
    """Replace the clocks and random ids of this process, and silence its logs."""
    time.time = CLOCK
    time.perf_counter = lambda: 0.0
    uuid.uuid4 = numbered_id
    tempfile._name_sequence = numbered_names()
    logging.disable(logging.CRITICAL)


def root() -> Path:
    """One directory for all processes: its path is part of requests and costs tokens there."""
    memory = Path("/dev/shm")  # noqa: S108 - private by its mode
    return (memory if memory.is_dir() else Path(tempfile.gettempdir())) / "gc-golden"


@contextmanager
def fresh_root() -> Iterator[Path]:
    """An empty root as working and home directory, and the clock at its start; other processes wait meanwhile."""
    directory, before = root(), Path.cwd()
    environment = dict(os.environ)
    with FileLock(directory.with_suffix(".lock")):
        shutil.rmtree(directory, ignore_errors=True)  # left by a process that was killed
        directory.mkdir(mode=0o700)
        os.chdir(directory)
        os.environ |= {"HOME": str(directory), "COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC"}
        CLOCK.now, NUMBERS.last = STARTED, 0
        try:
            yield directory
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ |= environment
            shutil.rmtree(directory, ignore_errors=True)


TIMES = frozenset({"time", "seconds", "sent", "made", "ingest_seconds", "median_ms", "began", "ended", "as_of"})
"""Keys of files and documents whose numbers are times."""


def timeless(value: Any) -> Any:
    """A JSON value with 0 for every time in it."""
    if isinstance(value, dict):
        return {key: 0 if is_time(key, part) else timeless(part) for key, part in value.items()}
    return [timeless(part) for part in value] if isinstance(value, list | tuple) else value


def is_time(key: str, value: object) -> bool:
    return key in TIMES and isinstance(value, int | float)


def anonymous(text: str) -> str:
    """A text with placeholders for the root directory and random ids."""
    return HEX_ID.sub("<id>", text.replace(str(root()), "<root>"))
