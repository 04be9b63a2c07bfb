"""The entry points of installed plugins, read again only after installations."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Final

from gc_core.plugins.hookspecs import PROJECT
from gc_core.plugins.registry import bears

if TYPE_CHECKING:
    import importlib.metadata

Stamp = tuple[str, tuple[tuple[str, int], ...]]
"""
A place on the path, and the metadata directories in it, each with its modification time in nanoseconds. What is no
directory, as a zip file, stands for itself; what does not exist has none.
"""

_METADATA: Final = (".dist-info", ".egg-info", "egg-info")


def installed_entries() -> tuple[importlib.metadata.EntryPoint, ...]:
    """
    Return the entry points of the group ``gc_core``, by name.

    Scanning all distributions takes longer than everything else at the start of a session, so the result is cached
    until the path changes, or a distribution comes, goes or is replaced in a directory on it. Other files there, such
    as those that an agent writes beside its program, do not count.
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
        return whole, _metadata_in(whole, os.stat(whole).st_mtime_ns)  # noqa: PTH116 - the same
    except OSError:
        return whole, ()


@functools.lru_cache(maxsize=256)
def _metadata_in(place: str, changed: int) -> tuple[tuple[str, int], ...]:
    """Return what a place holds for its ``Stamp``; it is listed again when it was ``changed``."""
    try:
        with os.scandir(place) as entries:
            found = [entry for entry in entries if entry.name.lower().endswith(_METADATA)]
            return tuple(sorted((entry.name, entry.stat().st_mtime_ns) for entry in found))
    except NotADirectoryError:
        return (("", changed),)
