"""The running totals of a plan: the window's tokens in total, by unit, and what of each zone could still be removed."""

from __future__ import annotations

from collections.abc import Iterable

from gc_core.values.items import Item, Unit
from gc_core.window.view import WindowView, Zone

_OPEN_ZONES = (Zone.OLD, Zone.RECENT, Zone.PRESERVABLE)
"""Zones whose removable tokens are tracked: others wait for them, or they are only removed for a certain goal."""


class RunningTotals:
    """
    The running totals of a plan. Every change costs O(1).

    Attributes:
        total: The most tokens of the request; changed by the methods only.
        dropped: Numbers of the units, including schemas, removed by a proposal.
        gone: By place, whether the unit leaves: on a proposal, or as a trace that another takes up.
        merged_away: Places that leave for a summary at another place: nothing is left between their neighbours.
        kept: Numbers of the units that were put back: nothing more happens to them.
        changes: Counts removals and returns of units; texts written for the others may be stale then.

    """

    def __init__(self, view: WindowView) -> None:
        self.total = view.tokens
        self.dropped: set[int] = set()
        self.gone = [False] * len(view.units)
        self.merged_away: set[int] = set()
        self.kept: set[int] = set()
        self.changes = 0
        self._view = view
        self._now = {unit.number: unit.tokens for unit in (*view.units, *view.schemas)}
        self._sizes: dict[str, int] = {}
        self._open = {zone: sum(unit.tokens for unit in view.in_zone(zone)) for zone in _OPEN_ZONES}
        self._forgotten: set[int] = set()

    def add(self, tokens: int) -> None:
        """Add the cost of what replaces removed units."""
        self.total += tokens

    def tokens_of(self, units: Iterable[Unit]) -> int:
        """Return the current tokens of these units."""
        return sum(self._now[unit.number] for unit in units)

    def size_of(self, item: Item) -> int:
        """Return the current tokens of a resident item."""
        return self._sizes.get(item.id, item.tokens)

    def open_in(self, zone: Zone) -> int:
        """Return the tokens of a zone that could still be removed."""
        return self._open[zone]

    def resize(self, item: Item, unit: Unit, size: int) -> None:
        """Change the size of an item."""
        gain = self.size_of(item) - size
        self._sizes[item.id] = size
        self.total -= gain
        self._now[unit.number] -= gain
        zone = self._view.zone(unit)
        if zone in self._open and unit.number not in self._forgotten:
            self._open[zone] -= gain

    def take_out(self, unit: Unit) -> None:
        """Remove a unit for a proposal."""
        number = unit.number
        self.forget(unit)
        self.dropped.add(number)
        self.changes += 1
        self.total -= self._now[number]
        self._now[number] = 0
        if number > 0:
            self.gone[self._view.position(number)] = True

    def put_back(self, unit: Unit, *, keep: bool) -> None:
        """Put a removed unit back; with ``keep`` it stays."""
        number, zone = unit.number, self._view.zone(unit)
        self.gone[self._view.position(number)] = False
        self.dropped.discard(number)
        self.changes += 1
        tokens = unit.tokens - sum(item.tokens - self.size_of(item) for item in unit.items)
        self._now[number] = tokens
        self.total += tokens
        if keep:
            self.kept.add(number)
        elif zone in self._open:
            self._forgotten.discard(number)
            self._open[zone] += tokens

    def absorb(self, place: int) -> None:
        """Remove a trace that another one covers."""
        self.gone[place] = True
        self.total -= self._view.units[place].tokens

    def give_back(self, place: int) -> None:
        """Put a removed trace back."""
        self.gone[place] = False
        self.total += self._view.units[place].tokens

    def forget(self, unit: Unit) -> None:
        """Stop counting a unit that is dropped, or cannot be with profit, among those that must go first."""
        zone = self._view.zone(unit)
        if zone in self._open and unit.number not in self._forgotten:
            self._forgotten.add(unit.number)
            self._open[zone] -= self._now[unit.number]
