"""The stretches of items that one line names: each item that leaves is named by one line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from gc_core.values.items import Item, number_of
from gc_core.values.references import Stretch


def stretches_of(items: Iterable[Item], elsewhere: Sequence[Stretch] = ()) -> tuple[Stretch, ...]:
    """
    Return the stretches from the first to the last of these items, in order, without and around those named
    ``elsewhere``. A stretch may contain what stays: when that leaves, it is named already.
    """
    others = _apart(elsewhere)
    starts = [first for first, _ in others]
    found: list[Stretch] = []
    for stretch in sorted(_named(items), key=lambda each: number_of(each.first)):
        before = bisect_right(starts, number_of(stretch.first))
        ends = others[before - 1][1] if before else 0
        if number_of(stretch.last) <= max(ends, number_of(found[-1].last) if found else 0):
            continue
        if found and bisect_right(starts, number_of(found[-1].last)) == before:
            found[-1] = _joined(found[-1], stretch)
        else:
            found.append(stretch)
    return tuple(found)


def _apart(stretches: Iterable[Stretch]) -> list[tuple[int, int]]:
    """Return the first and last numbers of stretches, in order, without those inside others."""
    found: list[tuple[int, int]] = []
    for first, last in sorted((number_of(each.first), number_of(each.last)) for each in stretches):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return found


def _named(items: Iterable[Item]) -> Iterable[Stretch]:
    for item in items:
        if item.reference is not None:
            yield from item.reference.stretches
        else:
            yield Stretch(first=item.id, last=item.id, first_turn=item.turn, last_turn=item.turn)


def _joined(first: Stretch, second: Stretch) -> Stretch:
    last = max(first, second, key=lambda each: number_of(each.last))
    return Stretch(first=first.first, last=last.last, first_turn=first.first_turn, last_turn=last.last_turn)
