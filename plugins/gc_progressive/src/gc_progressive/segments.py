"""Groups old steps to be summarised together: runs of consecutive steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gc_core as gc

Spare = Callable[[gc.Unit], bool]
"""Whether a unit shows a file in use."""


def segments(context: gc.ContextView, *, age: int, steps: int, spare: Spare) -> Iterator[tuple[gc.Unit, ...]]:
    """
    Runs of at most this many steps, all older than ``age`` steps and none to ``spare``, the oldest first; no summary is
    in one.
    """
    run: list[gc.Unit] = []
    for unit in sorted(context.collectable, key=lambda unit: unit.number):
        if unit.number < 0 or not unit.is_step or context.age(unit) < age or spare(unit):
            continue
        run.append(unit)
        if len(run) == steps:
            yield tuple(run)
            run = []
    if run:
        yield tuple(run)
