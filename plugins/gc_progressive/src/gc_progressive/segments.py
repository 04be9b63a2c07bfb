"""Which old steps are told together: runs of steps that follow one another."""

from __future__ import annotations

from collections.abc import Iterator

import gc_core as gc


def segments(context: gc.ContextView, *, age: int, steps: int) -> Iterator[tuple[gc.Unit, ...]]:
    """Runs of at most so many steps, all older than ``age`` steps, the oldest first; no summary is in one."""
    run: list[gc.Unit] = []
    for unit in sorted(context.collectable, key=lambda unit: unit.number):
        if unit.number < 0 or not unit.is_step or context.age(unit) < age:
            continue
        run.append(unit)
        if len(run) == steps:
            yield tuple(run)
            run = []
    if run:
        yield tuple(run)
