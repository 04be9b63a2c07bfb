"""A copy of a window that offers exactly what ``ContextView`` promises, and reports changes made to it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Self

import attrs

from gc_core.relevance.working_set import WorkingSet
from gc_core.values.items import Item, Turn, Unit
from gc_core.values.protocols import LivenessView, WorkingSetView
from gc_core.values.results import ColdText
from gc_core.window.view import WindowView


@attrs.frozen
class Answers:
    """Liveness, answered by the window that the copy was made from."""

    _window: WindowView = attrs.field(repr=False)
    _items: Mapping[str, Item] = attrs.field(repr=False)

    def last_carried(self, item: Item) -> frozenset[str]:
        """Return names that no later resident item shows."""
        return self._window.liveness.last_carried(self._items[str(item.id)])

    def reuse(self, item: Item) -> int:
        """Return how many of the item's names the agent has used since."""
        return self._window.liveness.reuse(self._items[str(item.id)])

    def superseded(self, item: Item) -> bool:
        """Return whether a later item makes this tool result stale."""
        return self._window.liveness.superseded(self._items[str(item.id)])

    def distance(self, item: Item) -> int | None:
        """Return the shared names between the item and the agent's current work; None if it is unreachable."""
        return self._window.liveness.distance(self._items[str(item.id)])


@attrs.frozen(kw_only=True, eq=False)
class WindowCopy:
    """
    A ``ContextView`` of copies: whatever is done to it, the original window stays as it is.

    See ``ContextView`` for the meaning of its answers.
    """

    tokens: int
    turns: tuple[Turn, ...] = attrs.field(repr=False)
    units: tuple[Unit, ...] = attrs.field(repr=False)
    collectable: tuple[Unit, ...] = attrs.field(repr=False)
    preservable: tuple[Unit, ...] = attrs.field(repr=False)
    stubbable: tuple[Item, ...] = attrs.field(repr=False)
    young: tuple[Item, ...] = attrs.field(repr=False)
    condensed: tuple[Item, ...] = attrs.field(repr=False)
    liveness: LivenessView = attrs.field(repr=False)
    working_set: WorkingSetView = attrs.field(repr=False)
    can_summarize: bool
    objective: str
    missing: tuple[str, ...]
    _window: WindowView = attrs.field(repr=False)
    _all: Mapping[int, Unit] = attrs.field(repr=False)
    _originals: Mapping[str, Item] = attrs.field(repr=False)

    @classmethod
    def of(cls, window: WindowView, *, can_summarize: bool = False, salt: int = 0) -> Self:
        """Return a copy; ids with another ``salt`` are equal but hash differently, so that sets have another order."""
        originals = {unit.number: unit for unit in (*window.units, *window.schemas)}
        units = {number: _copied(unit, salt) for number, unit in originals.items()}
        items = {str(item.id): item for unit in units.values() for item in unit.items}
        known = {item.id: item for unit in originals.values() for item in unit.items}
        return cls(
            tokens=window.tokens,
            turns=tuple(_in_turn(turn, units) for turn in window.turns),
            units=tuple(units[unit.number] for unit in window.units),
            collectable=tuple(units[unit.number] for unit in window.collectable),
            preservable=tuple(units[unit.number] for unit in window.preservable),
            stubbable=tuple(items[item.id] for item in window.stubbable),
            young=tuple(items[item.id] for item in window.young),
            condensed=tuple(items[item.id] for item in window.condensed),
            liveness=Answers(window, known),
            working_set=_working_set(window, units, items),
            can_summarize=can_summarize,
            objective=window.objective,
            missing=window.missing,
            window=window,
            all=units,
            originals=known,
        )

    def again(self, *, salt: int = 0) -> Self:
        """Return another copy of the same window."""
        return self.of(self._window, can_summarize=self.can_summarize, salt=salt)

    def age(self, unit: Unit) -> int:
        """Return the steps taken since the unit."""
        return self._window.age(unit)

    def search(self, query: str, limit: int = 10) -> tuple[ColdText, ...]:
        """Return removed items that match a query, best first."""
        return self._window.search(query, limit)

    def importance(self, item: Item) -> float:
        """Return an item's importance, from 0 to 1."""
        return self._window.importance(self._originals[str(item.id)])

    def distance(self, item: Item) -> int | None:
        """Return the shared names between the item and the agent's current work; None if it is unreachable."""
        return self.liveness.distance(item)

    def is_recent(self, unit: Unit) -> bool:
        """Return whether the unit goes only when old units do not suffice."""
        return self._window.is_recent(unit)


def all_units(copy: WindowCopy) -> Mapping[int, Unit]:
    """Return every unit that may be named, by number: the resident ones, and tool schemas that no visible call uses."""
    return copy._all  # noqa: SLF001 - no part of what a strategy sees


def changes(copy: WindowCopy) -> Iterator[str]:
    """Yield the changes made to a copy."""
    fresh = copy.again()
    for name in (
        "tokens",
        "turns",
        "units",
        "collectable",
        "preservable",
        "stubbable",
        "young",
        "condensed",
        "can_summarize",
    ):
        if getattr(copy, name) != getattr(fresh, name):
            yield name


def _working_set(window: WindowView, units: Mapping[int, Unit], items: Mapping[str, Item]) -> WorkingSet:
    resident = [units[unit.number] for unit in window.units]
    open_items = frozenset(items[item.id].id for item in (*window.stubbable, *window.condensed))
    return WorkingSet(resident, [window.age(unit) for unit in resident], open_items)


def _copied(unit: Unit, salt: int) -> Unit:
    items = (attrs.evolve(item, id=_id(salt)(item.id), call=_id(salt)(item.call)) for item in unit.items)
    return attrs.evolve(unit, items=tuple(items))


def _in_turn(turn: Turn, units: Mapping[int, Unit]) -> Turn:
    return attrs.evolve(turn, units=tuple(units[unit.number] for unit in turn.units))


@functools.cache
def _id(salt: int) -> type[str]:
    """Return a text type with a different hash, as texts have in another process."""

    class Id(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return hash((salt, str(self))) if salt else str.__hash__(self)

    return Id
