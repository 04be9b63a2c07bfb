"""The entry points of installed plugins, read again only after installations."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING

from gc_core.plugins.hookspecs import PROJECT
from gc_core.plugins.registry import bears

if TYPE_CHECKING:
    import importlib.metadata

Stamp = tuple[str, int]
"""A directory on the path with its modification time in nanoseconds; 0 if it does not exist."""


def installed_entries() -> tuple[importlib.metadata.EntryPoint, ...]:
    """
    Return the entry points of the group ``gc_core``, by name.

    Scanning all distributions takes as long as everything else at the start of a session, so the result is cached until
    the path, or a directory on it, changes: importlib.metadata detects new and removed distributions in the same way.
    """
    return _read(tuple(map(_stamped, sys.path)))


@functools.lru_cache(maxsize=1)
def _read(_: tuple[Stamp, ...]) -> tuple[importlib.metadata.EntryPoint, ...]:
    import importlib.metadata

    return tuple(sorted(importlib.metadata.entry_points(group=PROJECT), key=_rank))


def distribution_of(entry: importlib.metadata.EntryPoint) -> str:
    """Return the distribution of an entry point, or ""."""
    return "" if entry.dist is None else _name_of(entry.dist)


@functools.lru_cache(maxsize=256)
def _name_of(distribution: importlib.metadata.Distribution) -> str:
    """Return the name of a distribution; cached, because each look reads and parses its metadata."""
    return distribution.name


def _rank(entry: importlib.metadata.EntryPoint) -> tuple[str, bool, str]:
    """Return the sort key: by name; if several have one name, the distribution with that name is last."""
    distribution = distribution_of(entry)
    return entry.name, bears(distribution, entry.name), distribution


def _stamped(place: str) -> Stamp:
    whole = os.path.abspath(place)  # noqa: PTH100 - twenty times faster than Path.resolve, and links need not be followed
    try:
        return whole, os.stat(whole).st_mtime_ns  # noqa: PTH116 - the same
    except OSError:
        return whole, 0
