"""Groups old steps to be summarised together: runs of consecutive steps, with the requests between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gc_core as gc

Spare = Callable[[gc.Unit], bool]
"""Whether a unit shows a file in use."""


def segments(context: gc.ContextView, *, age: int, steps: int, spare: Spare) -> Iterator[tuple[gc.Unit, ...]]:
    """
    Runs of at most this many steps, with what the user said between them if it may go, all older than ``age`` steps and
    none to ``spare``, the oldest first; no summary is in one.
    """
    run: list[gc.Unit] = []
    left = steps
    for unit in sorted(context.collectable, key=lambda unit: unit.number):
        if not is_conversation(unit) or context.age(unit) < age or spare(unit):
            continue
        run.append(unit)
        left -= unit.is_step
        if not left:
            yield tuple(run)
            run, left = [], steps
    if run:
        yield tuple(run)


def is_conversation(unit: gc.Unit) -> bool:
    """Return whether the unit is a step or what a user said: no schema, no summary, nothing given by name."""
    return unit.is_step or unit.items[0].kind is gc.ItemKind.USER_TEXT
