"""The ages of a window's units in steps, also if most of the steps since have left it."""

from __future__ import annotations

from collections.abc import Sequence

from gc_core.values.items import Unit, number_of


def ages_of(units: Sequence[Unit]) -> list[int]:
    """
    Return the steps that have been taken since each of these units, oldest first. O(units).

    Computed from the numbers of the steps in their turns, whatever has left between; a turn that left counts as one
    step. A summary or trace has no such number: its age is estimated from the number of its last item. No collection
    makes a unit older than it was before: otherwise the next one would remove what this one spared for its age.
    """
    last: dict[int, int] = {}
    for unit in units:
        if unit.is_step:
            last[unit.turn] = max(last.get(unit.turn, -1), unit.step)
    later = _steps_later(last, {unit.turn for unit in units})
    newest = next((unit for unit in reversed(units) if unit.is_step), None)
    ages = [0] * len(units)
    following: dict[int, int] = {}
    for place in reversed(range(len(units))):
        unit = units[place]
        if newest is not None and (unit.is_summary or unit.is_trace):
            ages[place] = _units_since(unit, newest)
        elif unit.is_step:
            following[unit.turn] = unit.step
            ages[place] = later.get(unit.turn, 0) + last[unit.turn] - unit.step
        else:
            since = last[unit.turn] - following[unit.turn] + 1 if unit.turn in following else 0
            ages[place] = later.get(unit.turn, 0) + since
    return ages


def _steps_later(last: dict[int, int], turns: set[int]) -> dict[int, int]:
    """Return by resident turn the steps of all later ones, judging by their last resident steps."""
    later: dict[int, int] = {}
    steps, reached = 0, max(turns, default=0)
    for turn in sorted(turns, reverse=True):
        steps += max(0, reached - turn - 1)  # turns that left
        later[turn] = steps
        steps += last.get(turn, -1) + 1 if turn == reached else max(1, last.get(turn, -1) + 1)
        reached = turn
    return later


def _units_since(unit: Unit, newest: Unit) -> int:
    """
    Return the units from the last item that a summary or trace covers up to the newest step, by the
    numbers of items.
    """
    reference = unit.items[0].reference
    end, items = newest.number, number_of(newest.items[0].id)
    return 0 if reference is None else max(0, round((items - number_of(reference.last)) * end / items))
