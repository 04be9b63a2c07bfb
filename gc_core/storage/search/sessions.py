"""Searches all sessions below a directory, running and finished."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Unpack

from gc_core.errors import ConfigError, LogError
from gc_core.providers import format_named
from gc_core.storage import master_log as master
from gc_core.storage.journal import Journal
from gc_core.storage.master_log import MasterLog
from gc_core.storage.search import Filters, Hit, SearchIndex, check_search
from gc_core.storage.search.index_file import FILE_NAME
from gc_core.values.loggers import logger
from gc_core.values.validators import path_of

DEPTH = 3
"""The levels of directories below a root that are searched for sessions."""

_log = logger("gc_core.session_search")


def search_sessions(root: str | Path, query: str, **filters: Unpack[Filters]) -> tuple[tuple[Path, Hit], ...]:
    """
    Search all sessions under a directory, including itself, down to three levels; return hits best first, each with its
    directory.

    Logs are only read. An index next to a log is updated if it can be written; for any other log a temporary one is
    built, which takes a second for 10 MB. An unreadable log is skipped with a warning. Raises SourceError for a
    query or filter that cannot be, and ConfigError for what is not a path.
    """
    check_search(query, filters)
    found: list[tuple[Path, Hit]] = []
    for directory in _sessions(path_of("root", root)):
        try:
            found.extend((directory, hit) for hit in _search_session(directory, query, filters))
        except (LogError, ConfigError) as error:
            _log.warning("session not searched", path=str(directory), why=str(error))
    found.sort(key=lambda pair: -pair[1].score)
    return tuple(found[: max(filters.get("limit", 10), 0)])


def _sessions(root: Path) -> list[Path]:
    found = (path.parent for depth in range(DEPTH + 1) for path in root.glob("*/" * depth + master.FILE_NAME))
    return sorted(found)


def _search_session(directory: Path, query: str, filters: Filters) -> tuple[Hit, ...]:
    import tempfile

    with contextlib.ExitStack() as opened:
        journal = opened.enter_context(contextlib.closing(Journal(directory / master.FILE_NAME, writable=False)))
        log = MasterLog(journal)
        first = next(log.records(), None)
        if first is None:
            return ()
        form = format_named(str(first[1].payload.get("format")))
        path = _writable_index(directory) or Path(opened.enter_context(tempfile.TemporaryDirectory())) / FILE_NAME
        index = opened.enter_context(contextlib.closing(SearchIndex(path, log, form)))
        return index.search(query, **filters)


def _writable_index(directory: Path) -> Path | None:
    """Return the index next to a log, if there is one that can be written."""
    path = directory / FILE_NAME
    return path if path.is_file() and os.access(path, os.W_OK) and os.access(directory, os.W_OK) else None
