"""Decides which notice covers what: each run of removed units is named by one line, and by no second one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from gc_core.collector.named_stretches import STAND_INS, NamedStretches
from gc_core.collector.quotes import Quotes
from gc_core.collector.traces import Notice, Traces
from gc_core.values.items import Unit
from gc_core.values.references import Stretch
from gc_core.values.sources import ENRICHMENT, TASK_STATE
from gc_core.window.stretches import stretches_of

_RESENT_SOURCES = frozenset({ENRICHMENT.name, TASK_STATE.name})
"""Sources of blocks with a newer version, present or coming: their content is not lost."""


@attrs.frozen(kw_only=True, eq=False)
class Line:
    """
    A place that has a trace, or could have one.

    Attributes:
        units: The units that it covers.
        place: The place of the first of them.
        tokens: Its cost; 0 if it is not worth writing.
        is_run: Units leave there; otherwise it is an existing trace.
        must: No provider would accept the request without it.

    """

    units: tuple[Unit, ...]
    place: int
    tokens: int
    is_run: bool
    must: bool


@attrs.frozen(kw_only=True)
class _Group:
    """
    The content of one notice.

    Attributes:
        units: The units that it covers.
        run: Those between which nothing stays; of several merged lines all of them.
        price: Its tokens without the units between which something stays.
        heard: Units that another line names, and in which users laid something down that it may quote.

    """

    units: tuple[Unit, ...]
    run: tuple[Unit, ...]
    price: int
    heard: tuple[Unit, ...] = ()


class Notices:
    """Writes the notices of a plan; all of them together have about ``cap`` tokens, without what they quote."""

    def __init__(self, traces: Traces, quotes: Quotes, named: NamedStretches, *, cap: int) -> None:
        self._traces = traces
        self._quotes = quotes
        self._named = named
        self._cap = cap

    def priced(self, lines: Sequence[Line]) -> Sequence[Line]:
        """
        Return the lines; where no run is worth one, the last run has one for all of them, if it is smaller than they
        are and something would be named nowhere, or if it has to quote a rule.
        """
        runs = [line for line in lines if line.is_run]
        if not runs or any(line.tokens for line in runs):
            return lines
        units = all_units(runs)
        tokens = self._traces.spanning(units)[1]
        is_smaller = tokens < sum(unit.tokens for unit in units if not is_resent(unit))
        if not ((is_smaller and self._lacks(units)) or self._quotes.rules_of(units)):
            return lines
        return [attrs.evolve(line, tokens=tokens) if line is runs[-1] else line for line in lines]

    def cost_of(self, units: Sequence[Unit]) -> int:
        """Return the tokens of one notice for all these units."""
        return self._traces.spanning(units, self._named.beside({unit.number for unit in units}))[1]

    def written(self, lines: Sequence[Line], merged: Sequence[Line]) -> list[Notice]:
        """
        Return a notice for the ``merged`` lines, and one for each other run that is worth it, without quotes. It covers
        the runs before it that are not worth one, the last notice those behind it too.
        """
        elsewhere = self._named.beside()
        groups = self._grouped(lines, merged)
        staying = sum(line.tokens for line in lines if not line.is_run and line not in set(merged))
        room = self._cap - staying - sum(group.price for group in groups)
        notices: list[Notice] = []
        for place, group in enumerate(groups, start=1):
            named = (*elsewhere, *_inherited(group.units))
            later = (stretch for after in groups[place:] for stretch in _stretches(after.run, named))
            notice = self._notice(group, (*elsewhere, *later), room)
            room -= notice.tokens - group.price
            elsewhere += notice.reference.stretches
            notices.append(notice)
        return notices

    def _grouped(self, lines: Sequence[Line], merged: Sequence[Line]) -> list[_Group]:
        together = set(merged)
        singles: list[_Group] = []
        in_front, silent = tuple[Unit, ...](), tuple[Unit, ...]()
        for line in lines:
            if line in together:
                in_front, silent = (*in_front, *silent, *line.units), ()
            elif line.is_run and line.tokens:
                singles.append(_Group(units=(*silent, *line.units), run=line.units, price=line.tokens))
                silent = ()
            elif line.is_run:
                silent += line.units
        run = all_units(merged)
        front = [_Group(units=in_front, run=run, price=self.cost_of(run))] if merged else []
        return self._with_rest([*front, *singles], silent) if silent else [*front, *singles]

    def _with_rest(self, groups: list[_Group], rest: tuple[Unit, ...]) -> list[_Group]:
        """Return the groups, the last one with the units behind it, whose rules it quotes if they are named already."""
        if not groups:
            return []
        *others, last = groups
        if self._lacks(rest):
            return [*others, attrs.evolve(last, units=(*last.units, *rest))]
        return [*others, attrs.evolve(last, heard=rest)]

    def _lacks(self, units: Iterable[Unit]) -> bool:
        """Return whether content is among these units that no line names."""
        return bool(_stretches((unit for unit in units if not is_resent(unit)), self._named.beside()))

    def _notice(self, group: _Group, elsewhere: tuple[Stretch, ...], room: int) -> Notice:
        reference, tokens = self._traces.spanning(group.units, elsewhere)
        most = min(self._cap, group.price + max(0, room))
        if tokens > most:
            reference, tokens = self._traces.fitted(reference, most)
        if tokens > max(most, group.price):
            reference = attrs.evolve(reference, calls=())
            tokens = self._traces.tokens(reference)
        return Notice(
            units=group.units,
            takes_place_of=group.run[0].items[0].id,
            reference=reference,
            tokens=tokens,
            heard=(*group.units, *group.heard),
        )


def all_units(lines: Iterable[Line]) -> tuple[Unit, ...]:
    """Return the units of all these lines."""
    return tuple(unit for line in lines for unit in line.units)


def is_resent(unit: Unit) -> bool:
    """Return whether the unit's content is there in a newer version, or comes."""
    return unit.items[0].source in _RESENT_SOURCES and all(item.source in _RESENT_SOURCES for item in unit.items)


def _inherited(units: Iterable[Unit]) -> Iterator[Stretch]:
    """Yield what references among these units name: whoever takes their place names it all."""
    for unit in units:
        for item in unit.items:
            if item.reference is not None and item.kind in STAND_INS:
                yield from item.reference.stretches


def _stretches(units: Iterable[Unit], elsewhere: Sequence[Stretch]) -> tuple[Stretch, ...]:
    return stretches_of((item for unit in units for item in unit.items), elsewhere)
