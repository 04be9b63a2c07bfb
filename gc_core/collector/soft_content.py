"""Removes softly protected content, in one order, if the target cannot be reached with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from gc_core.collector.permissions import Rights
from gc_core.collector.summary_merging import CORE
from gc_core.values.items import ItemKind, Unit
from gc_core.values.removals import GCRemovalItem, Stub, Summarize
from gc_core.values.results import GCTriggerReason, Goal
from gc_core.window.view import WindowView, Zone, beyond, demand_of

RIGHTS = Rights(zones=frozenset({Zone.PRESERVABLE}))

_KEPT_PARTS = 4
"""The newest summaries, up to one part in this many of their cap, go last: without them nothing says what left."""

_DEMAND = 2


def spares(view: WindowView, offered: Iterable[GCRemovalItem]) -> bool:
    """Return whether there is something that may go at any time and that no strategy has proposed to take out."""
    known = {number for removal in offered for number in _taken(view, removal)}
    return any(unit.number not in known for unit in view.collectable)


def giving_way(view: WindowView, goal: Goal) -> Iterator[GCRemovalItem]:
    """
    PRESERVABLE units in the order in which they leave: answers, the older summaries, in continuous mode what users said
    without a demand, then the newest summaries; each the oldest first. Everything else waits for pressure, which
    continuous mode does not know.
    """
    for _, unit in sorted(_ranked(view, goal), key=lambda pair: pair[0]):
        removal = GCRemovalItem.drop(unit, reason="the target leaves no room for it", phase="giving way")
        yield attrs.evolve(removal, strategy=CORE)


def protected_tokens(view: WindowView, goal: Goal) -> int:
    """Return tokens that this collection may not take: LOCKED, pins, the newest turns, and what waits for pressure."""
    if goal.pressure:
        return view.protected_tokens()
    leaving = {unit.number for _, unit in _ranked(view, goal)}
    waiting = {unit.number for unit in view.in_zone(Zone.PRESERVABLE)} - leaving
    return view.protected_tokens(waiting)


def _ranked(view: WindowView, goal: Goal) -> Iterator[tuple[int, Unit]]:
    """Yield the units that give way, each with its place in the order."""
    accounts = [unit for unit in view.accounts if view.zone(unit) is Zone.PRESERVABLE]
    accounted = {unit.number for unit in accounts}
    older = {unit.number for unit in beyond(accounts, view.caps.summaries // _KEPT_PARTS)}
    for unit in view.in_zone(Zone.PRESERVABLE):
        kind = unit.items[-1].kind
        if unit.number in accounted:
            yield (1 if unit.number in older else 3), unit
        elif kind is ItemKind.ASSISTANT_TEXT:
            yield 0, unit
        elif kind is ItemKind.USER_TEXT and goal.reason is GCTriggerReason.CONTINUOUS and demand_of(unit) < _DEMAND:
            yield 2, unit


def _taken(view: WindowView, removal: GCRemovalItem) -> tuple[int, ...]:
    """Units that a proposal would take out; a summary that no one can write takes none."""
    action = removal.action
    if isinstance(action, Stub) or (isinstance(action, Summarize) and not view.can_summarize):
        return ()
    return action.units
