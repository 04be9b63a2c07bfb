"""The entry points of the plugins that are installed, read once as long as nothing is installed."""

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
"""A place on the path with the time at which it last changed, in nanoseconds; 0 where there is none."""


def installed_entries() -> tuple[importlib.metadata.EntryPoint, ...]:
    """
    Return the entry points of the group ``gc_core``, by name.

    Looking through every distribution takes as long as all else that a session does when it begins, so they are kept
    until the path, or a directory on it, changes: by the same sign importlib.metadata knows that a distribution came
    or went.
    """
    return _read(tuple(map(_stamped, sys.path)))


@functools.lru_cache(maxsize=1)
def _read(_: tuple[Stamp, ...]) -> tuple[importlib.metadata.EntryPoint, ...]:
    import importlib.metadata

    return tuple(sorted(importlib.metadata.entry_points(group=PROJECT), key=_rank))


def distribution_of(entry: importlib.metadata.EntryPoint) -> str:
    """Return the distribution that an entry point came with, or ""."""
    return "" if entry.dist is None else entry.dist.name


def _rank(entry: importlib.metadata.EntryPoint) -> tuple[str, bool, str]:
    """By name; of several with one name, that of the distribution which carries it stands last."""
    distribution = distribution_of(entry)
    return entry.name, bears(distribution, entry.name), distribution


def _stamped(place: str) -> Stamp:
    whole = os.path.abspath(place)  # noqa: PTH100 - twenty times faster than Path.resolve, and links need not be followed
    try:
        return whole, os.stat(whole).st_mtime_ns  # noqa: PTH116 - the same
    except OSError:
        return whole, 0
