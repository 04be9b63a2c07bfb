"""Drops of a plan: the runs of units that leave without a summary, and the traces that replace them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from gc_core.collector.named_stretches import NamedStretches
from gc_core.collector.notices import Line, Notices, all_units, is_resent
from gc_core.collector.quotes import Quotes
from gc_core.collector.running_totals import RunningTotals
from gc_core.collector.traces import LEAST_TIMES, Notice, Traces
from gc_core.providers.contract import TokenCounter
from gc_core.values.items import Item, ItemKind, Unit
from gc_core.values.policy import GCPolicy
from gc_core.values.references import Reference
from gc_core.window.context import Context, left_out_text
from gc_core.window.view import WindowView

_FEWEST = 2
"""Traces that can be merged."""

_LEAST_ROOM = 8
"""Tokens below which no names are searched for a trace."""


class Cuts:
    """
    Drops units, and counts what replaces them: a trace for every run that is worth one, a line with the names of tools.
    All traces together stay below ``cap`` tokens, their quotes apart: above it the oldest are merged into one.

    Traces are counted at their longest until ``recount``; ``unsure`` is by how much the total may be too high until
    then.
    """

    def __init__(
        self,
        context: Context,
        view: WindowView,
        totals: RunningTotals,
        traces: Traces,
        counter: TokenCounter,
        *,
        quotes: Quotes,
        named: NamedStretches,
        cap: int,
    ) -> None:
        self.unsure = 0
        self._writer = Notices(traces, quotes, named, cap=cap)
        self._quotes = quotes
        self._context = context
        self._view = view
        self._totals = totals
        self._traces = traces
        self._cap = cap
        self._line = _ToolLine(context, counter)
        self._runs = _Runs(traces.most)
        self._traced = 0
        self._notices: tuple[Notice, ...] = ()
        self._taken_up: set[int] = set()

    def gain(self, units: Sequence[Unit]) -> int:
        """
        Return the tokens that dropping these units together would free. Their traces are judged with their neighbours
        when they are counted: a run that is not worth a trace leaves none.
        """
        schemas = [unit for unit in units if unit.number < 0]
        return self._totals.tokens_of(units) - (self._line.cost(schemas) if schemas else 0)

    def drop(self, unit: Unit) -> None:
        """Drop a unit, with the traces next to it."""
        if unit.number < 0:
            self._totals.add(self._line.extend(unit))
        self._totals.take_out(unit)
        if unit.number > 0:
            self._cut_out(unit)

    def recount(self) -> None:
        """Count the traces at their final length instead of their longest."""
        self._take_up()
        self._notices = self._written()
        exact = sum(notice.tokens for notice in self._notices) + self._split_overhead()
        self._totals.add(exact - self._traced)
        self._traced, self.unsure = exact, 0

    def most_freed(self) -> int:
        """Return the most tokens that ``recount`` could free: those of all traces, new and old."""
        free = self._free_traces.items()
        return self._traced + sum([unit.tokens for place, unit in free if not self._totals.gone[place]])

    def left(self) -> Iterator[Item]:
        """Yield the items that leave without a summary: of dropped units, and traces that others absorb."""
        for run in self.runs():
            yield from (item for unit in run for item in unit.items)
        for place in self._taken_up:
            yield from self._view.units[place].items

    def runs(self) -> list[tuple[Unit, ...]]:
        """
        Return the runs of units that leave, traces that are taken up included, oldest first; two between which nothing
        is left are one.
        """
        runs: list[tuple[Unit, ...]] = []
        end = -1
        for first, last in self._runs:
            units = self._view.units[first : last + 1]
            if runs and self._neighbour(end, 1) == first:
                runs[-1] += units
            else:
                runs.append(units)
            end = last
        return runs

    def traces(self, room: int, shown: Callable[[], set[str]]) -> tuple[dict[str, Reference], int]:
        """
        Return the traces, each by the id of the first item that left there, with users' demands and the newest names
        that the window would lose, as far as there is room below the target and the cap; and the tokens that these
        details cost.

        A collection exceeds the target by part of a unit: those tokens are spent on names for the next request.
        """
        written = sum(notice.tokens - notice.quoted for notice in self._notices)
        room = min(room, self._cap - self._staying_tokens() - written)
        free = room = max(0, room)
        traces = {notice.takes_place_of: notice.reference for notice in self._notices}
        known = shown() if self._notices and room >= _LEAST_ROOM else set()
        for notice in reversed(self._notices):
            if room < _LEAST_ROOM:
                break
            most = min(room, _left_out_of(notice.units) // LEAST_TIMES - notice.tokens + notice.quoted)
            traces[notice.takes_place_of], cost = self._traces.with_names(notice, known, most)
            room -= cost
        return traces, free - room

    # -- traces --------------------------------------------------------------------------------

    def _written(self) -> tuple[Notice, ...]:
        """
        Return a trace for each run that is worth one, which covers the runs before it that are not; where all would be
        too many, one for the oldest of them, in front.
        """
        lines = self._writer.priced(self._lines())
        merged = self._merged(lines)
        for line in merged:
            if not line.is_run and line.place not in self._taken_up:
                self._absorb_far(line.place)
        return tuple(self._quoting(self._writer.written(lines, merged)))

    def _merged(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        """
        Return the oldest of the traces, as many as have to become one; all that have been taken up
        are among them.
        """
        able = [line for line in lines if line.tokens and not line.must]
        least = max((count for count, line in enumerate(able, start=1) if line.place in self._taken_up), default=0)
        total = sum(line.tokens for line in lines)
        if not least and (total <= self._cap or len(able) < _FEWEST):
            return ()
        for count in range(max(least, _FEWEST), len(able)):
            merged = tuple(able[:count])
            tokens = self._writer.cost_of(all_units(merged))
            if total - sum(line.tokens for line in merged) + tokens <= self._cap:
                return merged
        return tuple(able)

    def _quoting(self, notices: Sequence[Notice]) -> Iterator[Notice]:
        """
        Yield the notices with what users laid down in what leaves, as far as the cap of quotes has room for it; each
        stays smaller than what it replaces.
        """
        found = [self._quotes.of(notice.heard) for notice in notices]
        left = set(self._quotes.chosen(tuple(dict.fromkeys(said for each in found for said in each))))
        for notice, each in zip(notices, found, strict=True):
            said = tuple(sentence for sentence in each if sentence in left)
            replaced = sum(unit.tokens for unit in notice.heard)
            quoting = self._traces.quoting(notice, said)
            while said and quoting.tokens >= replaced:
                least = self._quotes.least(said)
                said = tuple(sentence for sentence in said if sentence != least)
                quoting = self._traces.quoting(notice, said)
            left.difference_update(said)
            yield quoting

    def _lines(self) -> list[Line]:
        """Return every place that has a trace, or could have one, oldest first."""
        found = [self._line_of(run) for run in self.runs()]
        for place, unit in self._free_traces.items():
            if not self._totals.gone[place] or place in self._taken_up:
                must = self._is_needed(place, place)
                found.append(Line(units=(unit,), place=place, tokens=self._bare(unit), is_run=False, must=must))
        return sorted(found, key=lambda line: line.place)

    def _line_of(self, run: tuple[Unit, ...]) -> Line:
        first, last = self._view.position(run[0].number), self._view.position(run[-1].number)
        tokens = self._traces.spanning(run)[1]
        must = self._is_needed(first, last)
        lost = [unit for unit in run if not is_resent(unit)]
        worth = tokens * LEAST_TIMES <= _left_out_of(lost) and tokens < sum([unit.tokens for unit in run])
        has_trace = must or worth or any(unit.is_trace for unit in run)
        return Line(units=run, place=first, tokens=tokens if has_trace else 0, is_run=True, must=must)

    def _is_needed(self, first: int, last: int) -> bool:
        """
        Return whether the units on both sides must not become neighbours: a conversation begins with the user (N2, G4),
        and where replies alternate with user content, some must be between them (G1).
        """
        before = self._kept(range(first - 1, -1, -1))
        if before is None:
            return self._context.places_system
        after = self._kept(range(last + 1, len(self._view.units)))
        if after is None:
            return False
        if not self._context.recalls and not before.is_step and after.items[0].kind is ItemKind.USER_TEXT:
            return True  # in a returning list nothing else distinguishes a later message from the original request
        units = self._view.units
        return self._context.separates_replies and self._context.replies_meet(
            units[first].items[0].id,
            units[last].items[-1].id,
            lambda number: self._totals.gone[self._view.position(number)],
        )

    def _kept(self, places: Iterable[int]) -> Unit | None:
        """Return the first remaining unit at these places."""
        return next((self._view.units[place] for place in places if not self._totals.gone[place]), None)

    def _staying_tokens(self) -> int:
        """Return the tokens of the traces that stay, without their quotes."""
        return sum(self._bare(unit) for place, unit in self._free_traces.items() if not self._totals.gone[place])

    def _bare(self, trace: Unit) -> int:
        """Return the tokens of a trace without its quotes."""
        reference = trace.items[0].reference
        return trace.tokens - (0 if reference is None else self._traces.quotes_cost(reference))

    @cached_property
    def _free_traces(self) -> dict[int, Unit]:
        """The traces that another one may absorb, by their places, oldest first."""
        traces = [(place, unit) for place, unit in enumerate(self._view.units) if unit.is_trace]
        return {place: unit for place, unit in traces if not unit.pinned and unit.policy is not GCPolicy.LOCKED}

    def _absorb_far(self, place: int) -> None:
        """Absorb a trace into one elsewhere: nothing is left between its neighbours."""
        self._totals.absorb(place)
        self._totals.merged_away.add(place)
        self._taken_up.add(place)

    # -- runs ----------------------------------------------------------------------------------------------------

    def _neighbour(self, place: int, step: int) -> int:
        """
        Return the next place, before (-1) or after (1), at which something is left or a run has ended. System messages
        between are passed over where they stand behind what a user says: what left on both sides has one trace, and
        they follow it.
        """
        near = place + step
        while near in self._totals.merged_away or near in self._passed_over:
            near += step
        return near

    @cached_property
    def _passed_over(self) -> frozenset[int]:
        if not self._context.places_system:
            return frozenset()
        kinds = ((place, unit.items[0].kind) for place, unit in enumerate(self._view.units))
        return frozenset(place for place, kind in kinds if kind is ItemKind.SYSTEM_TEXT)

    def _take_up(self) -> None:
        """Join traces and runs that a summary has made adjacent."""
        if not self._totals.merged_away:
            return
        for place in self._free_traces:
            near = self._neighbour(place, 1)
            if (
                near != place + 1
                and near in self._free_traces
                and not (self._totals.gone[place] or self._totals.gone[near])
            ):
                more = self._absorb(place) + self._absorb(near)
                self._totals.add(more)
                self._traced += more
        taken = True
        while taken:
            taken = False
            for first, last in list(self._runs):
                for near in (self._neighbour(first, -1), self._neighbour(last, 1)):
                    if near in self._free_traces and not self._totals.gone[near]:
                        more = self._absorb(near)
                        self._totals.add(more)
                        self._traced += more
                        taken = True

    def _cut_out(self, unit: Unit) -> None:
        place = self._view.position(unit.number)
        more = self._runs.add(place, unit.original_tokens)
        if self._free_traces:
            more += sum(self._absorb(self._neighbour(place, step)) for step in (-1, 1))
        self._totals.add(more)
        self._traced += more
        self.unsure += max(0, more)

    def _absorb(self, near: int) -> int:
        """Remove a trace beside a cut, because one trace will cover both. Returns what the cuts' traces cost more."""
        unit = self._free_traces.get(near)
        if unit is None or self._totals.gone[near]:
            return 0
        self._totals.absorb(near)
        return self._runs.add(near, unit.original_tokens) + self._traces.carried_cost(unit.items[0].reference)

    def _split_overhead(self) -> int:
        """Return the overhead of messages with two units, of which the first leaves and takes none with it."""
        dropped = self._totals.dropped
        return sum(
            overhead
            for units, overhead in self._shared
            if dropped.intersection(units[:1]) and not dropped.issuperset(units)
        )

    @cached_property
    def _shared(self) -> list[tuple[tuple[int, ...], int]]:
        """The units of each message that has several, and its overhead, which is counted with its first unit."""
        several = [each for each in self._context.messages if each.items[0].unit != each.items[-1].unit]
        return [(tuple(dict.fromkeys([item.unit for item in each.items])), each.overhead) for each in several]


class _Runs:
    """
    The runs of neighbouring places that are cut out, and the most that their traces cost.

    ``cost`` is the most that a trace for this many left-out tokens has.
    """

    def __init__(self, cost: Callable[[int], int]) -> None:
        self._cost = cost
        self._other_end: dict[int, int] = {}
        self._tokens: dict[int, int] = {}

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Return the first and last place of every run, in order."""
        return ((first, self._other_end[first]) for first in sorted(self._tokens))

    def ends_at(self, place: int) -> bool:
        """Return whether a run begins or ends there."""
        return place in self._other_end

    def add(self, place: int, left_out: int) -> int:
        """Add a unit that leaves; return how many more tokens the traces cost then. O(1)."""
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
    """The line of the system text that names the tools whose schemas left."""

    def __init__(self, context: Context, counter: TokenCounter) -> None:
        self._context = context
        self._counter = counter
        self._schemas: list[Unit] = []

    def cost(self, more: Iterable[Unit]) -> int:
        """Return by what the line grows; the first part of a system text is a message too."""
        head = self._context.head
        before, after = ((*head.left_out, *_names(removed)) for removed in (self._schemas, [*self._schemas, *more]))
        tokens = self._counter.count(left_out_text(after))
        if before:
            return tokens - self._counter.count(left_out_text(before))
        return tokens + (0 if head.parts else self._counter.per_message)

    def extend(self, schema: Unit) -> int:
        """Add one more schema; return by what the line grows."""
        cost = self.cost([schema])
        self._schemas.append(schema)
        return cost


def _names(schemas: Iterable[Unit]) -> list[str]:
    """Return the names in the order of the schemas, whose numbers fall."""
    return [unit.items[0].name for unit in sorted(schemas, key=lambda unit: -unit.number)]


def _left_out_of(units: Iterable[Unit]) -> int:
    """Return the original tokens of these units, or of the originals that traces among them cover."""
    return sum([unit.original_tokens for unit in units])
