"""Thinking that leaves with a plan, after its first change: bound to its prefix by the model (N3b), or old."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import attrs

from gc_core.collector.planned_stubs import Stubs
from gc_core.collector.running_totals import RunningTotals
from gc_core.values.items import Item, ItemKind, Unit, number_of
from gc_core.values.policy import GCPolicy
from gc_core.window.view import WindowView


@attrs.frozen(kw_only=True)
class ThinkingRule:
    """
    The effect of a change on the thinking after it.

    Attributes:
        binds: The model binds thinking to what precedes it: all of it leaves.
        old_before: Thinking of turns before this one leaves too, unless it is protected: the prefix breaks there
            anyway.

    """

    binds: bool = False
    old_before: int = 0

    def taken(self, items: Iterable[Item], unit: Unit) -> list[Item]:
        """
        Return which of these items of a unit go: its thinking, all of it or none, for a run of it may not be split
        (N3).
        """
        thinking = [item for item in items if item.kind is ItemKind.THINKING]
        if self.binds:
            return thinking
        held = unit.pinned or unit.turn >= self.old_before or any(map(_is_held, thinking))
        return [] if held or not any(item.tokens for item in thinking) else thinking


NO_RULE = ThinkingRule()
"""The rule that keeps all thinking."""


class BoundThinking:
    """The thinking that leaves with a plan."""

    def __init__(self, view: WindowView, totals: RunningTotals, stubs: Stubs, *, rule: ThinkingRule) -> None:
        self._view = view
        self._totals = totals
        self._stubs = stubs
        # A new turn may have begun since the latest reply, whose thinking stays as it is (N3).
        latest = next((unit.turn for unit in reversed(view.units) if unit.is_step), 0)
        self._rule = attrs.evolve(rule, old_before=min(rule.old_before, latest))

    def recount(self) -> None:
        """Count it as removed."""
        for item, unit in self._leaving():
            whole = all(other.kind is ItemKind.THINKING for other in unit.items)  # then its message goes with it
            framing = unit.tokens - sum(other.tokens for other in unit.items)
            self._totals.resize(item, unit, -framing if whole and item is unit.items[0] else 0)

    def ids(self) -> frozenset[str]:
        """Return the ids of the items that leave."""
        return frozenset(item.id for item, _ in self._leaving())

    def _leaving(self) -> list[tuple[Item, Unit]]:
        """Thinking that stays in no request after the first change, with its units."""
        if not self._thinking or not (self._rule.binds or self._rule.old_before):
            return []
        first, gone = self._first_change(), self._totals.gone
        later = [(unit.items, unit) for place, unit in self._thinking.items() if place > first and not gone[place]]
        groups = [*self._across(first), *self._in_same_unit(first), *later]
        return [(item, unit) for items, unit in groups for item in self._rule.taken(items, unit)]

    @cached_property
    def _thinking(self) -> dict[int, Unit]:
        """The units that hold thinking, by their places: seldom many, and nothing is asked of the others."""
        units = enumerate(self._view.units)
        return {place: unit for place, unit in units for item in unit.items if item.kind is ItemKind.THINKING}

    def _across(self, first: int) -> list[tuple[tuple[Item, ...], Unit]]:
        """
        Return the items after the first change whose unit began before it: a reply that continues after a block which
        was placed inside it.
        """
        before = [unit for place, unit in self._thinking.items() if place < first and not self._totals.gone[place]]
        began = (
            [number_of(unit.items[0].id) for unit in self._view.units[first:] if not _replaces(unit)] if before else []
        )
        if not began:
            return []
        start = min(began)
        return [(tuple(item for item in unit.items if number_of(item.id) > start), unit) for unit in before]

    def _in_same_unit(self, place: int) -> list[tuple[tuple[Item, ...], Unit]]:
        """Return the items after the first stub in its own unit: a reply may think again between its calls."""
        if not 0 <= place < len(self._view.units) or self._totals.gone[place]:
            return []
        unit, stubbed = self._view.units[place], self._stubs.smaller()
        first = next((at for at, item in enumerate(unit.items) if item.id in stubbed), len(unit.items))
        return [(unit.items[first + 1 :], unit)]

    def _first_change(self) -> int:
        """Position of the first unit that changes; -1 when the head does, before all of them."""
        if any(number < 0 for number in self._totals.dropped):
            return -1
        gone = self._totals.gone
        changed = [self._stubs.place(key) for key in self._stubs.smaller()]
        return min([*changed, gone.index(True) if True in gone else len(gone)])


def _is_held(item: Item) -> bool:
    return item.pinned or item.fixed or item.policy is not GCPolicy.EPHEMERAL


def _replaces(unit: Unit) -> bool:
    """Return whether the message replaces removed content: then its number does not say where it is."""
    return unit.is_trace or unit.is_summary
