"""
Drops the oldest turns first, whole, and only as many as the goal needs.

Use it for simple sessions and as a baseline: it costs almost nothing and understands nothing. Dropped turns leave the
window without a summary; a trace says how much, and the log keeps them. What the user typed stays until usage reaches
``pressure_percent``.
"""

from collections.abc import Iterator
from itertools import groupby

import attrs

import gc_core as gc


@attrs.frozen
class Truncate:
    """Drops the oldest turns first; inside recent turns their oldest steps, when nothing else is left."""

    def collect(self, context: gc.ContextView, goal: gc.Goal) -> Iterator[gc.GCRemovalItem]:
        """Propose whole old turns, then single steps of recent turns, then, under pressure, users' messages."""
        old = [unit for unit in context.collectable if not context.is_recent(unit)]
        for _, turn in groupby(old, key=lambda unit: unit.turn):
            yield gc.GCRemovalItem.drop(*turn, reason="oldest turn", phase="turns")
        for unit in context.collectable[len(old) :]:
            yield gc.GCRemovalItem.drop(unit, reason="oldest step of a recent turn", phase="steps")
        if goal.pressure:
            for unit in context.preservable:
                yield gc.GCRemovalItem.drop(unit, reason="oldest user message, under pressure", phase="preservable")


@gc.hookimpl
def gc_register_strategies(register: gc.RegisterStrategy) -> None:
    """Offer Truncate as ``gc_truncate``."""
    register("gc_truncate", Truncate)
