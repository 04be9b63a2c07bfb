"""Thinking that a model binds to its prefix: behind the first change of a plan it stays in no request (N3b)."""

from __future__ import annotations

from gc_core.items import Item, ItemKind, Unit
from gc_core.stub_planning import Stubs
from gc_core.tally import Tally
from gc_core.view import WindowView


class BoundThinking:
    """The thinking that goes with a plan; none where the model does not bind it."""

    def __init__(self, view: WindowView, tally: Tally, stubs: Stubs, *, binds: bool, per_message: int) -> None:
        self._view = view
        self._tally = tally
        self._stubs = stubs
        self._binds = binds
        self._per_message = per_message

    def recount(self) -> None:
        """Count it as gone."""
        for item, unit in self._leaving():
            alone = all(other.kind is ItemKind.THINKING for other in unit.items)  # then its message goes with it
            self._tally.resize(item, unit, -self._per_message if alone and item is unit.items[0] else 0)

    def ids(self) -> frozenset[str]:
        """Ids of the items that go."""
        return frozenset(item.id for item, _ in self._leaving())

    def _leaving(self) -> list[tuple[Item, Unit]]:
        """Thinking that stays in no request behind the first change, with its units."""
        if not self._binds:
            return []
        first = self._first_change()
        pairs = zip(self._view.units[first + 1 :], self._tally.gone[first + 1 :], strict=True)
        later = [(item, unit) for unit, gone in pairs if not gone for item in unit.items]
        return [(item, unit) for item, unit in (*self._beside(first), *later) if item.kind is ItemKind.THINKING]

    def _beside(self, place: int) -> list[tuple[Item, Unit]]:
        """What stands behind the first stub in its own unit: a reply may think again between its calls."""
        if not 0 <= place < len(self._view.units) or self._tally.gone[place]:
            return []
        unit, stubbed = self._view.units[place], self._stubs.smaller()
        first = next((at for at, item in enumerate(unit.items) if item.id in stubbed), len(unit.items))
        return [(item, unit) for item in unit.items[first + 1 :]]

    def _first_change(self) -> int:
        """Position of the first unit that changes; -1 when the head does, before all of them."""
        if any(number < 0 for number in self._tally.dropped):
            return -1
        changed = [place for place, gone in enumerate(self._tally.gone) if gone]
        changed += [self._stubs.place(key) for key in self._stubs.smaller()]
        return min(changed, default=len(self._tally.gone))
