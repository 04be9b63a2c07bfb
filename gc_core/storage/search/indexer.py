"""A thread that keeps a search index near the end of its log, so that a search has little to do."""

from __future__ import annotations

import contextlib
import functools
import threading
from pathlib import Path
from typing import Final

from gc_core.errors import LogError
from gc_core.providers.contract import Format
from gc_core.storage.master_log import MasterLog
from gc_core.storage.search import SearchIndex
from gc_core.values.loggers import SCOPE, bound, logger

_SMALL_BATCH = 1 << 18
"""Bytes that the thread indexes at a time: a search waits for at most one such batch."""

IDLE_SECONDS: Final = 2.0
"""Idle seconds after which the index is closed, so that an idle session holds no file open."""

_log = logger("gc_core.indexer")


class Indexer:
    """
    A thread that indexes a log in small batches.

    Errors are logged as warnings in the application's log, and retried at the next ``notify``.

    Args:
        path: The file of the index.
        log: The indexed log; close it only after ``stop``.
        format: The shape of the log's messages.

    """

    def __init__(self, path: Path, log: MasterLog, format: Format) -> None:  # noqa: A002 - the word everywhere
        self._open = functools.partial(SearchIndex, path, log, format)
        self._scope = SCOPE.get()
        self._wake = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="gc-core-indexer", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """Note that the log has grown. Returns at once."""
        self._wake.set()

    def stop(self) -> None:
        """Stop, waiting until the current batch is done and the file closed."""
        self._stopped = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        with bound(self._scope):
            while not self._stopped:
                try:
                    with contextlib.closing(self._open()) as index:
                        self._follow(index)
                except LogError as error:
                    _log.warning("search index not updated", why=str(error))
                self._wait()

    def _follow(self, index: SearchIndex) -> None:
        """Keep the index near the end of the log, until nothing has come for a while."""
        while not self._stopped:
            if not index.catch_up(most_bytes=_SMALL_BATCH) and not self._wait(IDLE_SECONDS):
                return

    def _wait(self, seconds: float | None = None) -> bool:
        """Wait until there is something to do; return whether there is within this many seconds."""
        woken = self._wake.wait(seconds)
        if not self._stopped:
            self._wake.clear()
        return woken
