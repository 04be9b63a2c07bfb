"""What the window names of what left: by references that stay, and by the summaries of a plan."""

from __future__ import annotations

from collections.abc import Container, Sequence

import attrs

from gc_core.collector.running_totals import RunningTotals
from gc_core.values.items import ItemKind, Unit
from gc_core.values.references import Reference, Stretch
from gc_core.window.stretches import stretches_of
from gc_core.window.view import WindowView, Zone

_STAND_INS = frozenset({ItemKind.TRACE, ItemKind.SUMMARY})


@attrs.frozen(eq=False)
class NamedStretches:
    """
    Knows which stretches other lines name, so that no two name the same.

    Attributes:
        planned: The stretches that the summaries of the plan name, by their numbers.

    """

    _view: WindowView
    _totals: RunningTotals
    planned: dict[int, tuple[Stretch, ...]] = attrs.field(factory=dict, init=False)
    _stand_ins: tuple[tuple[int, Unit], ...] = attrs.field(init=False)

    @_stand_ins.default
    def _found(self) -> tuple[tuple[int, Unit], ...]:
        return tuple((place, unit) for place, unit in enumerate(self._view.units) if unit.items[0].kind in _STAND_INS)

    def beside(self, leaving: Container[int] = ()) -> tuple[Stretch, ...]:
        """Return what is named by references other than those of the ``leaving`` units."""
        stays = (
            stretch
            for place, unit in self._stand_ins
            if not self._totals.gone[place] and unit.number not in leaving
            for item in unit.items
            if item.reference is not None
            for stretch in item.reference.stretches
        )
        return (*stays, *(stretch for stretches in self.planned.values() for stretch in stretches))

    def from_request(self, reference: Reference, first: Unit, elsewhere: Sequence[Stretch]) -> Reference:
        """
        Return the reference of a summary that begins with this unit, naming also the request before it in its turn, if
        that may leave and nothing else names it: so it needs no line of its own when it does.
        """
        place = self._view.position(first.number) - 1
        before = self._view.units[place] if place >= 0 and not self._totals.gone[place] else None
        if before is None or before.turn != first.turn or self._view.zone(before) is Zone.HELD:
            return reference
        begun, *others = reference.stretches or (None,)
        named = stretches_of(before.items, elsewhere)
        if begun is None or begun.first != first.items[0].id or not named:
            return reference
        return attrs.evolve(reference, parts=(attrs.evolve(begun, first=named[0].first), *others))
