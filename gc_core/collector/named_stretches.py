"""What the window names of what left: by references that stay, and by the summaries of a plan."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import attrs

from gc_core.collector.running_totals import RunningTotals
from gc_core.values.items import ItemKind, Unit
from gc_core.values.references import Reference, Stretch
from gc_core.window.stretches import stretches_of
from gc_core.window.view import WindowView, Zone

STAND_INS = frozenset({ItemKind.TRACE, ItemKind.SUMMARY})
"""Kinds of items that stand for what left."""


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
        return tuple((place, unit) for place, unit in enumerate(self._view.units) if unit.items[0].kind in STAND_INS)

    def beside(self, leaving: Container[int] = ()) -> tuple[Stretch, ...]:
        """Return what a notice need not name: what references that stay name, except those of the ``leaving`` units."""
        stand_ins = (unit for place, unit in self._stand_ins if not self._totals.gone[place])
        return self._of(unit for unit in stand_ins if unit.number not in leaving)

    def beside_summary(self, leaving: Container[int]) -> tuple[Stretch, ...]:
        """
        Return what a summary that covers the ``leaving`` units need not name: also what references named that leave
        otherwise, because a notice takes their place.
        """
        return self._of(unit for _, unit in self._stand_ins if unit.number not in leaving)

    def _of(self, units: Iterable[Unit]) -> tuple[Stretch, ...]:
        references = (item.reference for unit in units for item in unit.items if item.reference is not None)
        named = (stretch for reference in references for stretch in reference.stretches)
        return (*named, *(stretch for stretches in self.planned.values() for stretch in stretches))

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
        named = stretches_of((*before.items, first.items[0]), elsewhere)
        if begun is None or begun.first != first.items[0].id or len(named) != 1:
            return reference
        return attrs.evolve(reference, parts=(attrs.evolve(begun, first=named[0].first), *others))
