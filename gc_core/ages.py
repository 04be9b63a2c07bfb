"""How many steps ago the units of a window were, also where most of the steps since have left it."""

from __future__ import annotations

from collections.abc import Sequence

from gc_core.items import Unit


def ages_of(units: Sequence[Unit]) -> list[int]:
    """
    Steps that have been taken since each of these units, oldest first. O(units).

    Inside a turn the numbers of its steps tell, whatever has left. Between turns all units that left count as steps, as
    nearly all of them were. A summary or trace is as old as the newest item that it stands for, by that item's number.
    """
    ages = [0] * len(units)
    newer: int | None = None
    between = 0
    for place in reversed(range(len(units))):
        unit = units[place]
        if _stands_in(unit):
            continue
        if newer is not None:
            step = units[newer]
            ages[place] = ages[newer] + _steps_between(unit, step, missing=step.number - unit.number - 1 - between)
        between += 1
        if unit.is_step:
            newer, between = place, 0
    _place_stand_ins(units, ages)
    return ages


def _steps_between(unit: Unit, step: Unit, *, missing: int) -> int:
    """Steps behind a unit, up to and with that step, the next that is there; ``missing`` units between them left."""
    if unit.turn == step.turn and unit.is_step:
        return step.step - unit.step
    counted = 1 + max(0, missing)
    return min(step.step + 1, counted) if unit.turn == step.turn else max(step.step + 1, counted)


def _place_stand_ins(units: Sequence[Unit], ages: list[int]) -> None:
    """Each between its neighbours that are none, as the number of its last item is between theirs."""
    older: list[int | None] = []
    before: int | None = None
    for place, unit in enumerate(units):
        older.append(before)
        before = before if _stands_in(unit) else place
    newer: int | None = None
    for place in reversed(range(len(units))):
        if not _stands_in(units[place]):
            newer = place
        elif newer is not None:
            least = ages[newer] + units[newer].is_step
            known = older[place]
            most = least if known is None else ages[known]
            ages[place] = least + round((most - least) * _share(units, known, place, newer))


def _share(units: Sequence[Unit], older: int | None, place: int, newer: int) -> float:
    """How far behind its newer neighbour a stand-in lies, on the way to the older one, from 0 to 1."""
    first = _number(units[newer].items[0].id)
    reference = units[place].items[0].reference
    if older is None or reference is None:
        return 0.0
    way = first - _number(units[older].items[-1].id) - 1
    return min(1.0, max(0.0, (first - _number(reference.last) - 1) / way)) if way > 0 else 0.0


def _stands_in(unit: Unit) -> bool:
    return unit.is_summary or unit.is_trace


def _number(key: str) -> int:
    return int(key[1:])
