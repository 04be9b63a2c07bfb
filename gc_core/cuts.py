"""Where units leave without a summary: the runs of them, and what stands there instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from gc_core.context import Context, left_out_text
from gc_core.items import Unit
from gc_core.policy import GCPolicy
from gc_core.protocols import TokenCounter
from gc_core.references import Reference
from gc_core.tally import Tally
from gc_core.traces import Traces
from gc_core.view import WindowView

_LEAST_ROOM = 8
"""Tokens below which no name is looked for that a trace could tell."""


class Cuts:
    """
    Drops units, and counts what stands for them: a trace for every run, a line with the names of tools.

    Traces are counted at their longest until ``recount``; ``unsure`` is how much the total may be too high by then.
    """

    def __init__(self, context: Context, view: WindowView, tally: Tally, traces: Traces, counter: TokenCounter) -> None:
        self.unsure = 0
        self._context = context
        self._view = view
        self._tally = tally
        self._traces = traces
        self._line = _ToolLine(context, counter)
        self._runs = _Runs(traces.most)
        self._traced = 0

    def gain(self, units: Sequence[Unit]) -> int:
        """Tokens that dropping these together would free, what stands for them taken off."""
        places = {self._view.position(unit.number) for unit in units if unit.number > 0}
        runs = sum(1 for place in places if self._beside(place, -1) not in places)
        near = (self._beside(place, step) for place in places for step in (-1, 1))
        new = max(0, runs - sum(self._is_cut(place) for place in near if place not in places))
        cost = new * self._traces.spanning([unit for unit in units if unit.number > 0])[1] if new else 0
        schemas = [unit for unit in units if unit.number < 0]
        return self._tally.tokens_of(units) - cost - (self._line.cost(schemas) if schemas else 0)

    def drop(self, unit: Unit) -> None:
        """A unit leaves, with the traces beside it."""
        if unit.number < 0:
            self._tally.add(self._line.extend(unit))
        self._tally.take_out(unit)
        if unit.number > 0:
            self._cut_out(unit)

    def recount(self) -> None:
        """Count the traces as they will be, instead of at their longest."""
        self._take_up()
        exact = sum(self._traces.spanning(run)[1] for run in self.runs()) + self._split_overhead()
        self._tally.add(exact - self._traced)
        self._traced, self.unsure = exact, 0

    def runs(self) -> list[tuple[Unit, ...]]:
        """
        The runs of units that leave, traces that are taken up included, oldest first; two between which nothing is left
        are one.
        """
        runs: list[tuple[Unit, ...]] = []
        end = -1
        for first, last in self._runs:
            units = self._view.units[first : last + 1]
            if runs and self._beside(end, 1) == first:
                runs[-1] += units
            else:
                runs.append(units)
            end = last
        return runs

    def told(self, room: int, shown: Callable[[], set[str]]) -> tuple[dict[str, Reference], int]:
        """
        The traces, each by the id of the first item that left there, with names that the window would lose, the newest
        first, in what room is left to the target; and what these names cost.

        What was collected goes beyond the target by part of a unit: here that is spent on what is asked for next.
        """
        runs, free = self.runs(), room
        traces = {run[0].items[0].id: self._traces.spanning(run)[0] for run in runs}
        known = shown() if runs and room >= _LEAST_ROOM else set()
        for run in reversed(runs):
            if room < _LEAST_ROOM:
                break
            traces[run[0].items[0].id], cost = self._traces.with_names(run, known, room)
            room -= cost
        return traces, free - room

    def _is_cut(self, place: int) -> bool:
        """Whether a trace stands, or will, at a place beside a unit that is still there."""
        return self._runs.ends_at(place) or self._is_free_trace(place)

    def _is_free_trace(self, place: int) -> bool:
        """Whether a trace stands there that another one may take up."""
        if not 0 <= place < len(self._view.units):
            return False
        unit = self._view.units[place]
        return unit.is_trace and not unit.pinned and unit.policy is not GCPolicy.LOCKED

    def _beside(self, place: int, step: int) -> int:
        """The next place, before (-1) or behind (1), at which something is left or a run has ended."""
        near = place + step
        while near in self._tally.vanished:
            near += step
        return near

    def _take_up(self) -> None:
        """What left for a summary may have brought traces and runs together."""
        if not self._tally.vanished:
            return
        taken = True
        while taken:
            taken = False
            for first, last in list(self._runs):
                for near in (self._beside(first, -1), self._beside(last, 1)):
                    if self._is_free_trace(near) and not self._tally.gone[near]:
                        more = self._absorb(near)
                        self._tally.add(more)
                        self._traced += more
                        taken = True

    def _cut_out(self, unit: Unit) -> None:
        place = self._view.position(unit.number)
        more = self._runs.add(place, _left_out(unit))
        more += sum(self._absorb(self._beside(place, step)) for step in (-1, 1))
        self._tally.add(more)
        self._traced += more
        self.unsure += max(0, more)

    def _absorb(self, near: int) -> int:
        """A trace beside a cut goes too, for one trace will stand for both; returns what the cuts' traces cost more."""
        if not self._is_free_trace(near) or self._tally.gone[near]:
            return 0
        unit = self._view.units[near]
        self._tally.absorb(near)
        return self._runs.add(near, _left_out(unit)) + self._traces.names_cost(unit.items[0].reference)

    def _split_overhead(self) -> int:
        """Overhead of messages that hold two units, of which the first leaves and takes none with it."""
        dropped = self._tally.dropped
        return sum(
            overhead
            for units, overhead in self._shared
            if dropped.intersection(units[:1]) and not dropped.issuperset(units)
        )

    @cached_property
    def _shared(self) -> list[tuple[tuple[int, ...], int]]:
        """The units of each message that holds several, and its overhead, which its first unit is counted with."""
        several = [each for each in self._context.messages if each.items[0].unit != each.items[-1].unit]
        return [(tuple(dict.fromkeys([item.unit for item in each.items])), each.overhead) for each in several]


class _Runs:
    """
    The runs of neighbouring places that are cut out, and what their traces cost at most.

    ``cost`` says what a trace for so many left-out tokens has at most.
    """

    def __init__(self, cost: Callable[[int], int]) -> None:
        self._cost = cost
        self._other_end: dict[int, int] = {}
        self._tokens: dict[int, int] = {}

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """First and last place of every run, in their order."""
        return ((first, self._other_end[first]) for first in sorted(self._tokens))

    def ends_at(self, place: int) -> bool:
        """Whether a run begins or ends there."""
        return place in self._other_end

    def add(self, place: int, left_out: int) -> int:
        """A unit leaves; returns how many tokens more the traces cost then. O(1)."""
        first, last, before = place, place, 0
        if place - 1 in self._other_end:
            first = self._other_end.pop(place - 1)
        if place + 1 in self._other_end:
            last = self._other_end.pop(place + 1)
        for run in {first, place + 1} if last != place else {first}:
            known = self._tokens.pop(run, None)
            if known is not None:
                left_out += known
                before += self._cost(known)
        self._other_end[first], self._other_end[last] = last, first
        self._tokens[first] = left_out
        return self._cost(left_out) - before


class _ToolLine:
    """The line of the system text that names the tools whose schemas leave, behind those that left before."""

    def __init__(self, context: Context, counter: TokenCounter) -> None:
        self._context = context
        self._counter = counter
        self._schemas: list[Unit] = []

    def cost(self, more: Iterable[Unit]) -> int:
        """What the line grows by; the first part of a system text is a message too."""
        head = self._context.head
        before, after = ((*head.left_out, *_names(gone)) for gone in (self._schemas, [*self._schemas, *more]))
        tokens = self._counter.count(left_out_text(after))
        if before:
            return tokens - self._counter.count(left_out_text(before))
        return tokens + (0 if head.parts else self._counter.per_message)

    def extend(self, schema: Unit) -> int:
        """One more leaves; returns what the line grows by."""
        cost = self.cost([schema])
        self._schemas.append(schema)
        return cost


def _names(schemas: Iterable[Unit]) -> list[str]:
    """In the order of the schemas: their numbers fall."""
    return [unit.items[0].name for unit in sorted(schemas, key=lambda unit: -unit.number)]


def _left_out(unit: Unit) -> int:
    """Tokens that a unit, or what a trace stands for, had when it arrived."""
    return sum(item.original_tokens if item.reference is None else item.reference.tokens for item in unit.items)
