"""The plan of one collection: which proposals are accepted, what they free, and the final texts and traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

import attrs

from gc_core.actions import Drop, GCRemovalItem, Stub, Summarize
from gc_core.context import Context, Edits, NewText, left_out_text
from gc_core.errors import RemovalError
from gc_core.items import Item, ItemKind, Part, Unit
from gc_core.policy import GCPolicy
from gc_core.protocols import TokenCounter
from gc_core.references import HINTED_FROM, MOST_NAMES, ByteRange, Reference
from gc_core.results import Goal, Refusal
from gc_core.scan import scan
from gc_core.stubs import reference_over, reference_to, smallest_stub, write_stub
from gc_core.summary import SummaryRequest
from gc_core.summary_planning import PlannedSummary, ReadOriginal, allowed_tokens, planned, request_for
from gc_core.tokens import part_tokens
from gc_core.view import WindowView, Zone, is_stubbable

_LONGEST_TRACE = Reference(
    tokens=10**7,
    first="i1000000",
    last="i1000001",
    first_turn=10**5,
    last_turn=10**5 + 1,
    calls=(("read_the_file", 100), ("run_command", 100), ("another", 100)),
    preview="how some text of this very length begins",
)
_LONGEST_PLACE = ByteRange(10**9, 10**9 + 1)


_OPEN_ZONES = (Zone.OLD, Zone.RECENT, Zone.PRESERVABLE)
"""Zones of which it is known what could still be taken: others wait for them, or they are taken only to some end."""

_ASKED = frozenset({ItemKind.TOOL_CALL, ItemKind.ASSISTANT_TEXT, ItemKind.USER_TEXT})
_LEAST_ROOM, _LONGEST_NAME = 8, 60
"""Tokens below which no name is looked for, and characters of a name beyond which it would cost too many."""

NO_SUMMARIZER = "no summarizer is configured"
"""Why a proposal to summarise is refused where the configuration says ``summarizer = "none"``."""

_WRITINGS = 3
"""Times that one plan writes its stubs before it counts new ones at their limit."""


@attrs.frozen(kw_only=True)
class Rights:
    """
    What a proposer may take.

    Attributes:
        zones: Zones of units that it may drop.
        stub_recent: It may stub items of the newest steps and of the newest exchange.
        stub_any_kind: It may stub items that are not EPHEMERAL (never LOCKED or pinned ones).
        preservable_above: PRESERVABLE units only while the request has at least this many tokens.
        whole: A summary takes all its units, for its text is written already, not only as many as the goal needs.

    """

    zones: frozenset[Zone]
    stub_recent: bool = False
    stub_any_kind: bool = False
    preservable_above: int = 0
    whole: bool = False


@attrs.frozen(kw_only=True)
class Plan:
    """
    The checked removals of one collection, before anything has changed.

    Attributes:
        goal: What was to be reached.
        removals: The accepted proposals, with the tokens that each frees.
        refusals: The refused ones.
        edits: What carrying it out does to the window.
        tokens: Tokens of the request afterwards, what waits at its head apart.

    """

    goal: Goal
    removals: tuple[GCRemovalItem, ...]
    refusals: tuple[Refusal, ...]
    edits: Edits
    tokens: int


class Planner:
    """
    Takes proposals one by one, checks each against the protection, and keeps the running total.

    Traces are counted at their longest, stubs by what is alive in them until their texts are written. ``vetoed`` are
    proposals that a review refused; ``offered`` are all that came in, with the rights under which they did.

    Where a model ``binds_thinking`` to its prefix, all thinking behind the first change goes in the same pass (N3b).
    """

    def __init__(
        self,
        context: Context,
        view: WindowView,
        goal: Goal,
        counter: TokenCounter,
        *,
        vetoed: Collection[GCRemovalItem] = (),
        binds_thinking: bool = False,
    ) -> None:
        self._binds_thinking = binds_thinking
        self.goal = goal
        self.context = context
        self.offered: list[tuple[GCRemovalItem, Rights]] = []
        self._vetoed = vetoed
        self._view = view
        self._counter = counter
        self._total = view.tokens
        self._gone = [False] * len(view.units)
        self._dropped: set[int] = set()
        self._limits: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self._texts: dict[str, NewText] = {}
        self._unread: set[str] = set()
        self._changed = False
        self._writings = 0
        self._now = {unit.number: unit.tokens for unit in view.units}
        self._schemas = {unit.number: unit for unit in view.schemas}
        self._units = {unit.number: unit for unit in view.units} | self._schemas
        self._now.update({unit.number: unit.tokens for unit in view.schemas})
        self._open = {zone: sum(u.tokens for u in view.in_zone(zone)) for zone in _OPEN_ZONES}
        self._forgotten: set[int] = set()
        self._summaries: list[PlannedSummary] = []
        self._summarised: set[int] = set()
        self._preserved: dict[str, GCPolicy] = {}
        self._removals: list[GCRemovalItem] = []
        self._refusals: list[Refusal] = []
        self._references: dict[str, Reference] = {}
        self._spans: dict[tuple[int, ...], tuple[Reference, int]] = {}
        self._later: list[tuple[GCRemovalItem, Rights]] = []
        self._cites = context.cites
        self._cuts_made = _Cuts(*map(self._longest_trace, (HINTED_FROM - 1, 10**7)))
        self._traced = 0
        self._unsure = 0
        self._exact = False

    @cached_property
    def _items(self) -> dict[str, tuple[Item, int]]:
        """Every item with its unit's place. Only stubs ask for it, so a plan of drops alone does not pay for it."""
        return {item.id: (item, place) for place, unit in enumerate(self._view.units) for item in unit.items}

    @property
    def total(self) -> int:
        """Tokens that the request will have at most."""
        return self._total

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.reaches(self.goal.target_tokens)

    def reaches(self, tokens: int) -> bool:
        """
        Whether the request will have at most this many tokens.

        Stubs and traces are estimated while proposals come in. When the estimate says yes, or might, their texts are
        written and counted: so a goal that is met is really met, and little more is taken than it needs.
        """
        if self._total - self._unsure <= tokens:
            self._recount()
        return self._total <= tokens

    def size_of(self, item: Item) -> int:
        """Tokens that a resident item will have; 0 when its unit is dropped."""
        unit = self._view.units[self._items[item.id][1]]
        return 0 if unit.number in self._dropped else self._sizes.get(item.id, item.tokens)

    def offer(self, removal: GCRemovalItem, rights: Rights) -> bool:
        """
        Accept or refuse a proposal; True when it was accepted.

        Raises RemovalError when it names what does not exist here: that is the strategy's fault, not the window's.
        """
        accepted = self._offer(removal, rights)
        self._exact = self._exact and not accepted
        self.offered.append((removal, rights))
        return accepted

    def _offer(self, removal: GCRemovalItem, rights: Rights) -> bool:
        action = removal.action
        if isinstance(action, Summarize):
            return self._offer_summary(removal, action, self._known(removal, action.units), rights)
        if isinstance(action, Drop):
            units = self._known(removal, action.units)
            if removal in self._vetoed:
                return self._pass_over(units)
            return self._offer_drop(removal, units, rights)
        if removal in self._vetoed:
            return False
        return self._offer_stub(removal, action, rights)

    def settle(self) -> None:
        """Offer again what was refused only for the moment, until nothing more is accepted or the goal is met."""
        self._recount()
        accepted = True
        while accepted and not self.met:
            waiting, self._later = self._later, []
            accepted = False
            for place, (removal, rights) in enumerate(waiting):
                if self.met:
                    self._later += waiting[place:]
                    break
                taken = self._offer(removal, rights)
                self._exact = self._exact and not taken
                accepted = taken or accepted
            self._recount()

    def _recount(self) -> None:
        """
        Count stubs and traces as they will be, instead of at their longest, and no thinking that goes with the change:
        what is refused then is refused in a second pass too, which begins with exactly these tokens.
        """
        if self._exact:
            return
        self._exact = True
        self._write()
        for item, unit in self._bound_thinking():
            alone = all(other.kind is ItemKind.THINKING for other in unit.items)  # then its message goes with it
            self._resize(item, unit, -self._counter.per_message if alone and item is unit.items[0] else 0)
        exact = sum(self._spanning(run)[1] for run in self._runs()) + self._split_overhead()
        self._total += exact - self._traced
        self._traced, self._unsure = exact, 0

    def _split_overhead(self) -> int:
        """Overhead of messages that hold two units, of which the first leaves and takes none with it."""
        return sum(
            overhead
            for units, overhead in self._shared
            if self._dropped.intersection(units[:1]) and not self._dropped.issuperset(units)
        )

    @cached_property
    def _shared(self) -> list[tuple[tuple[int, ...], int]]:
        """The units of each message that holds several, and its overhead, which its first unit is counted with."""
        several = [each for each in self.context.messages if each.items[0].unit != each.items[-1].unit]
        return [(tuple(dict.fromkeys([item.unit for item in each.items])), each.overhead) for each in several]

    def _longest_trace(self, tokens: int) -> int:
        place = _LONGEST_PLACE if self._cites else None
        return self._trace_tokens(attrs.evolve(_LONGEST_TRACE, tokens=tokens, place=place))

    def _trace_tokens(self, reference: Reference) -> int:
        part = Part(kind=ItemKind.TRACE, place=(), text=reference.trace_text())
        return part_tokens(part, self._counter) + self._counter.per_message

    def finish(self) -> Plan:
        """Write the texts, newest first, and the traces."""
        self._recount()
        texts = self._smaller_texts()
        dropped, traces = self._cuts()
        traces, named = self._named(traces)
        unclaimed = dict(texts)
        removals = tuple(self._freed(removal, unclaimed) for removal in self._removals)
        bound = frozenset(item.id for item, _ in self._bound_thinking())
        summarised = (item.id for summary in self._summaries for unit in summary.units for item in unit.items)
        edits = Edits(
            dropped=dropped.union(bound, summarised),
            texts=texts,
            traces=traces,
            summaries={summary.stands_at: summary.edit() for summary in self._summaries},
            policies={**self._view.policies, **self._preserved},
            schemas=frozenset(unit.items[0].id for number, unit in self._schemas.items() if number in self._dropped),
        )
        kept = tuple(removal for removal in removals if removal.tokens_freed > 0)
        return Plan(
            goal=self.goal, removals=kept, refusals=tuple(self._refusals), edits=edits, tokens=self._total + named
        )

    # -- drops ---------------------------------------------------------------------------------------------------

    def _known(self, removal: GCRemovalItem, numbers: Iterable[int]) -> list[Unit]:
        """The units that a proposal names, as they are here."""
        units = []
        for number in dict.fromkeys(numbers):
            try:
                units.append(self._unit(number))
            except KeyError:
                raise RemovalError(f"{removal.action} names unit {number}, which is not in this window") from None
        ids = tuple([item.id for unit in units for item in unit.items])
        if removal.items != ids:
            raise RemovalError(f"{removal.action} names items {removal.items}; those units hold {ids}")
        return units

    def _unit(self, number: int) -> Unit:
        return self._units[number]

    def _offer_drop(self, removal: GCRemovalItem, units: list[Unit], rights: Rights) -> bool:
        fresh = [unit for unit in units if unit.number not in self._dropped]
        if not fresh:
            return self._refuse(removal, "proposed already")
        for unit in fresh:
            why = self._holds(unit, rights)
            if why:
                return self._refuse(removal, why)
        why = self._waits(fresh, rights)
        if why:
            return self._postpone(removal, rights, why)
        if self._gain(fresh) <= 0:
            for unit in fresh:
                # What PRESERVABLE content could relieve is judged alike in every pass, by all that stands there.
                if self._view.zone(unit) is not Zone.PRESERVABLE:
                    self._forget(unit)
            return self._postpone(removal, rights, "smaller than the trace that would stand for it")
        for unit in fresh:
            self._drop(unit)
        self._removals.append(removal)
        return True

    def _waits(self, units: Iterable[Unit], rights: Rights) -> str:
        """Why units that may go are not due yet, or ""."""
        zones = {self._view.zone(unit) for unit in units}
        if Zone.PRESERVABLE in zones and not self._relieves(rights.preservable_above):
            return "preservable: without it usage would be on the same side of the pressure"
        if Zone.RECENT in zones and not self._needs(Zone.RECENT):
            return "the old turns suffice"
        return "the conversation suffices" if Zone.SCHEMA in zones and not self._needs(Zone.SCHEMA) else ""

    def _holds(self, unit: Unit, rights: Rights) -> str:
        """Why the unit may not be dropped, or ""."""
        zone = self._view.zone(unit)
        if zone in rights.zones:
            return ""
        if unit.pinned:
            return f"unit {unit.number} is pinned"
        if unit.pending:
            return f"unit {unit.number} waits for a result"
        if zone is Zone.HELD:
            return f"unit {unit.number} is held ({unit.policy.value})"
        return f"unit {unit.number} is {zone.value}: turn {unit.turn} is protected"

    def _relieves(self, pressure: int) -> bool:
        """
        Whether PRESERVABLE content is worth taking: usage is under pressure, and all of it together could end that.

        Where one oversized new result is the reason, it could not; the last resort cuts that first.
        """
        return pressure == 0 or self._total - self._open[Zone.PRESERVABLE] < pressure <= self._total

    def _needs(self, zone: Zone) -> bool:
        """Whether the target would be missed even if everything that goes before this zone were dropped."""
        before = [Zone.OLD] if zone is Zone.RECENT else [Zone.OLD, Zone.RECENT]
        return self._total - sum(self._open[earlier] for earlier in before) > self.goal.target_tokens

    def _pass_over(self, units: Iterable[Unit]) -> bool:
        """A review said no; it told why, and what goes after them need not wait for them."""
        for unit in units:
            self._forget(unit)
        return False

    def _forget(self, unit: Unit) -> None:
        """A unit that is dropped, or cannot be with profit, no longer stands before those that go after it."""
        zone = self._view.zone(unit)
        if zone in self._open and unit.number not in self._forgotten:
            self._forgotten.add(unit.number)
            self._open[zone] -= self._now[unit.number]

    def _gain(self, units: list[Unit]) -> int:
        """Tokens that dropping these together would free, what stands for them taken off."""
        places = {self._view.position(unit.number) for unit in units if unit.number > 0}
        runs = sum(1 for place in places if place - 1 not in places)
        beside = (near for place in places for near in (place - 1, place + 1) if near not in places)
        new = max(0, runs - sum(map(self._is_cut, beside)))
        cost = new * self._spanning(units)[1] if new else 0
        named = [unit for unit in units if unit.number < 0]
        return sum(self._now[unit.number] for unit in units) - cost - (self._line_cost(named) if named else 0)

    def _line_cost(self, more: Iterable[Unit]) -> int:
        """What the line with the names of left-out tools grows by; the first part of a system text is a message too."""
        head = self.context.head
        dropped = {number for number in self._dropped if number < 0}
        before, after = (
            (*head.left_out, *(self._schemas[number].items[0].name for number in sorted(gone, reverse=True)))
            for gone in (dropped, dropped | {unit.number for unit in more})
        )
        cost = self._counter.count(left_out_text(after)) - (self._counter.count(left_out_text(before)) if before else 0)
        return cost + (0 if before or head.parts else self._counter.per_message)

    def _is_cut(self, place: int) -> bool:
        """Whether a trace stands there, or will."""
        if not 0 <= place < len(self._gone) or place in self._summarised:
            return False
        return self._gone[place] or self._view.units[place].is_trace

    def _drop(self, unit: Unit) -> None:
        if unit.number < 0:
            self._total += self._line_cost([unit])
        self._take_out(unit)
        if unit.number > 0:
            self._cut_out(unit)

    def _take_out(self, unit: Unit) -> None:
        self._forget(unit)
        self._dropped.add(unit.number)
        self._changed = self._changed or bool(self._limits)
        self._total -= self._now[unit.number]
        self._now[unit.number] = 0

    def _cut_out(self, unit: Unit) -> None:
        place = self._view.position(unit.number)
        self._gone[place] = True
        more = self._cuts_made.add(place, _left_out(unit))
        for near in (place - 1, place + 1):
            more += self._absorb(near)
        self._total += more
        self._traced += more
        self._unsure += max(0, more)

    def _absorb(self, near: int) -> int:
        """A trace beside a cut goes too, for one trace will stand for both; returns what the cuts' traces cost more."""
        if not 0 <= near < len(self._gone) or self._gone[near] or not self._view.units[near].is_trace:
            return 0
        unit = self._view.units[near]
        self._gone[near] = True
        self._total -= unit.tokens
        return self._cuts_made.add(near, _left_out(unit)) + self._names_cost(unit.items[0].reference)

    def _names_cost(self, reference: Reference | None) -> int:
        """Tokens of the names that an absorbed trace hands on; the longest trace is reckoned without any."""
        if reference is None or not reference.names:
            return 0
        return self._trace_tokens(reference) - self._trace_tokens(attrs.evolve(reference, names=()))

    # -- summaries -----------------------------------------------------------------------------------------------

    @property
    def unanswered(self) -> tuple[PlannedSummary, ...]:
        """Summaries that still have no text, in the order in which they were proposed."""
        return tuple(summary for summary in self._summaries if summary.body is None)

    @property
    def summaries(self) -> tuple[PlannedSummary, ...]:
        """All summaries of the plan."""
        return tuple(self._summaries)

    def request(self, summary: PlannedSummary, read: ReadOriginal) -> SummaryRequest:
        """What is asked for a summary."""
        self._write()
        return request_for(summary, read, self._stays(), self.goal.focus, self._counter)

    def answer(self, summary: PlannedSummary, body: str, keep: Collection[str] = ()) -> None:
        """The text of a summary; units that hold one of the items to ``keep`` stay where they are after all."""
        self._exact = False
        place = self._summaries.index(summary)
        kept = [unit for unit in summary.units if not {item.id for item in unit.items}.isdisjoint(keep)]
        self._total -= summary.tokens
        if kept:
            self._leave(kept)
        rest = tuple(unit for unit in summary.units if unit not in kept)
        if not rest:
            del self._summaries[place]
            return
        reference = self._spanning(rest)[0]
        answered = attrs.evolve(summary, units=rest, reference=reference).answered(body, self._counter)
        self._summaries[place] = answered
        self._total += answered.tokens

    def _leave(self, units: Sequence[Unit]) -> None:
        """A plugin wants these units in the window: they stay, and are held from now on."""
        for unit in units:
            place = self._view.position(unit.number)
            self._gone[place] = False
            self._summarised.discard(place)
            self._dropped.discard(unit.number)
            self._now[unit.number] = unit.tokens
            self._total += unit.tokens
            self._preserved.update((item.id, GCPolicy.PRESERVABLE) for item in unit.items)
        self._changed = self._changed or bool(self._limits)

    def _offer_summary(self, removal: GCRemovalItem, action: Summarize, units: list[Unit], rights: Rights) -> bool:
        fresh = [unit for unit in units if unit.number not in self._dropped]
        held = (self._holds(unit, rights) or _no_original(unit) for unit in fresh)
        never = "" if self._view.can_summarize else NO_SUMMARIZER
        why = never or next(filter(None, held), "" if fresh else "proposed already")
        if why:
            return self._refuse(removal, why)
        summary = self._summary_of(removal, action, fresh, rights)
        if summary is None:
            return self._postpone(removal, rights, "too little for a summary")
        if summary.removal in self._vetoed:
            return self._pass_over(summary.units)
        why = self._waits(summary.units, rights)
        if why:
            return self._postpone(removal, rights, why)
        for unit in summary.units:
            self._take_out(unit)
            place = self._view.position(unit.number)
            self._gone[place] = True
            self._summarised.add(place)
        self._total += summary.tokens
        self._summaries.append(summary)
        self._removals.append(summary.removal)
        return True

    def _summary_of(
        self, removal: GCRemovalItem, action: Summarize, units: list[Unit], rights: Rights
    ) -> PlannedSummary | None:
        """The summary of as many of these units, in their order, as the goal needs; None when it would be too short."""
        taken: list[Unit] = []
        tokens, found = 0, None
        label = f"summary {self.context.cursor.summaries + len(self._summaries) + 1}"
        for unit in units:
            taken.append(unit)
            tokens += self._now[unit.number]
            enough = self._total - tokens + allowed_tokens(action, tokens) <= self.goal.target_tokens
            if (enough and not rights.whole) or unit is units[-1]:
                ordered = sorted(taken, key=lambda each: self._view.position(each.number))
                reference = self._spanning(ordered)[0]
                found = planned(removal, ordered, reference, label, self._counter, tokens=tokens)
                if found is not None:
                    break
        return found

    # -- stubs ---------------------------------------------------------------------------------------------------

    def _offer_stub(self, removal: GCRemovalItem, action: Stub, rights: Rights) -> bool:
        if action.item not in self._items:
            raise RemovalError(f"{action} names item {action.item!r}, which is not in this window")
        item, place = self._items[action.item]
        unit = self._view.units[place]
        why = self._keeps_whole(item, unit, place, rights)
        if why:
            return self._refuse(removal, why)
        limit = max(int(action.keep * item.tokens), smallest_stub(item, self._counter, self._reference(item)))
        if limit >= self._sizes.get(item.id, item.tokens):
            return self._refuse(removal, "a stub would not be smaller")
        self._limits[item.id] = limit
        if rights.stub_any_kind:
            self._unread.add(item.id)
        self._resize(item, unit, min(limit, self._estimate(item, limit, rights)))
        self._changed = True
        self._removals.append(removal)
        return True

    def _estimate(self, item: Item, limit: int, rights: Rights) -> int:
        """Tokens that a stub will have: what is alive in it. Where exactness matters more than thrift, its limit."""
        if rights.stub_any_kind or self._writings >= _WRITINGS:
            return limit
        alive = self._view.liveness.last_carried(item)
        chars = sum(span.end - span.start for span in item.scan.spans if not alive.isdisjoint(span.names))
        return smallest_stub(item, self._counter, self._reference(item)) + int(
            item.tokens * chars / max(1, len(item.text))
        )

    def _resize(self, item: Item, unit: Unit, size: int) -> None:
        gain = self._sizes.get(item.id, item.tokens) - size
        self._sizes[item.id] = size
        self._total -= gain
        self._now[unit.number] -= gain
        zone = self._view.zone(unit)
        if zone in self._open and unit.number not in self._forgotten:
            self._open[zone] -= gain

    def _keeps_whole(self, item: Item, unit: Unit, place: int, rights: Rights) -> str:
        """Why the item may not be stubbed, or ""."""
        if unit.number in self._dropped:
            return "its unit is dropped in this pass"
        if item.pinned or unit.pinned:
            return f"item {item.id} is pinned"
        if not self._may_shrink(item, rights):
            return f"item {item.id} cannot be stubbed ({item.kind.value}, {item.policy.value}, {item.form.value})"
        if not rights.stub_recent and (unit.pending or not self._view.is_behind_recent_steps(place)):
            return f"item {item.id} belongs to the newest steps"
        return ""

    def _may_shrink(self, item: Item, rights: Rights) -> bool:
        if rights.stub_any_kind:
            return is_cuttable(item)
        return is_stubbable(item)

    def _spanning(self, units: Sequence[Unit]) -> tuple[Reference, int]:
        """The reference for a run of units and its tokens; asked for again whenever the traces are counted."""
        run = tuple([unit.number for unit in units])
        known = self._spans.get(run)
        if known is None:
            items = [item for unit in units for item in unit.items]
            reference = reference_over(items, cites=self._cites)
            known = self._spans[run] = reference, self._trace_tokens(reference)
        return known

    def _reference(self, item: Item) -> Reference:
        known = self._references.get(item.id)
        if known is None:
            call = self._items.get(item.call, (None, 0))[0] if item.call else None
            known = self._references[item.id] = reference_to(item, call, cites=self._cites)
        return known

    # -- refusals ------------------------------------------------------------------------------------------------

    def _refuse(self, removal: GCRemovalItem, why: str) -> bool:
        self._refusals.append(Refusal(removal=removal, why=why))
        return False

    def _postpone(self, removal: GCRemovalItem, rights: Rights, why: str) -> bool:
        self._later.append((removal, rights))
        return self._refuse(removal, why)

    # -- results -------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        """Write and count the texts of all stubs, unless nothing has changed since."""
        if not self._changed:
            return
        self._changed = False
        self._writings += 1
        self._texts = self._written()
        for key, text in self._texts.items():
            item, place = self._items[key]
            self._resize(item, self._view.units[place], min(text.tokens, item.tokens))

    def _written(self) -> dict[str, NewText]:
        """
        The stubs' texts, newest first: each keeps what the window would lose, given what stands behind it by then.

        What is LOCKED shows its names wherever it stands.
        """
        shown: set[str] = set()
        for item in self.context.items():
            if item.policy is GCPolicy.LOCKED:
                shown |= item.scan.names
        texts: dict[str, NewText] = {}
        for unit, gone in zip(reversed(self._view.units), reversed(self._gone), strict=True):
            if gone:
                continue
            for item in reversed(unit.items):
                scanned = item.scan
                if item.id in self._limits:
                    texts[item.id] = self._stubbed(item, shown)
                    scanned = texts[item.id].scan
                shown |= scanned.names
        return texts

    def _stubbed(self, item: Item, shown: set[str]) -> NewText:
        limit, ends = self._limits[item.id], item.id in self._unread
        stub = write_stub(item, limit, self._counter, shown, ends=ends, reference=self._reference(item))
        return NewText(text=stub.text, tokens=stub.tokens, reference=stub.reference, scan=scan(stub.text))

    def _cuts(self) -> tuple[frozenset[str], dict[str, Reference]]:
        """Ids of the items that leave, and one trace for every run of them."""
        dropped: set[str] = set()
        traces: dict[str, Reference] = {}
        for run in self._runs():
            dropped.update(item.id for unit in run for item in unit.items)
            traces[run[0].items[0].id] = self._spanning(run)[0]
        return frozenset(dropped), traces

    def _named(self, traces: dict[str, Reference]) -> tuple[dict[str, Reference], int]:
        """
        The traces with names that the window would lose, the newest first, in what room is left to the target; and what
        these names cost.

        What was collected goes beyond the target by part of a unit: here that is spent on what is asked for next.
        """
        room = free = self.goal.target_tokens - self._total
        if room < _LEAST_ROOM or not traces:
            return traces, 0
        shown, named = self._stays(), dict(traces)
        for run in reversed(list(self._runs())):
            key = run[0].items[0].id
            more = _telling(run, shown)[: MOST_NAMES - len(traces[key].names)]
            while more:
                longer = attrs.evolve(traces[key], names=(*traces[key].names, *more))
                cost = self._trace_tokens(longer) - self._trace_tokens(traces[key])
                if cost <= room:
                    named[key], room = longer, room - cost
                    shown.update(more)
                    break
                more = more[: len(more) // 2]
            if room < _LEAST_ROOM:
                break
        return named, free - room

    def _stays(self) -> set[str]:
        """Names that the window shows when everything is carried out."""
        shown: set[str] = set()
        for item in self.context.items():
            if item.policy is GCPolicy.LOCKED:
                shown |= item.scan.names
        for unit, gone in zip(self._view.units, self._gone, strict=True):
            for item in () if gone else unit.items:
                written = self._texts.get(item.id)
                shown |= item.scan.names if written is None else written.scan.names
                shown.update(() if item.reference is None else item.reference.names)
        return shown

    def _smaller_texts(self) -> dict[str, NewText]:
        return {key: text for key, text in self._texts.items() if text.tokens < self._items[key][0].tokens}

    def _bound_thinking(self) -> list[tuple[Item, Unit]]:
        """Thinking that stays in no request behind the first change, with its units; of a model that binds it."""
        if not self._binds_thinking:
            return []
        changed = [place for place, gone in enumerate(self._gone) if gone]
        changed += [self._items[key][1] for key in self._smaller_texts()]
        first = -1 if any(number < 0 for number in self._dropped) else min(changed, default=len(self._gone))
        pairs = zip(self._view.units[first + 1 :], self._gone[first + 1 :], strict=True)
        later = [(item, unit) for unit, gone in pairs if not gone for item in unit.items]
        return [(item, unit) for item, unit in later if item.kind is ItemKind.THINKING]

    def _runs(self) -> Iterator[list[Unit]]:
        run: list[Unit] = []
        for place, unit in enumerate(self._view.units):
            if self._gone[place] and place not in self._summarised:
                run.append(unit)
            elif run:
                yield run
                run = []
        if run:
            yield run

    def _freed(self, removal: GCRemovalItem, unclaimed: dict[str, NewText]) -> GCRemovalItem:
        action = removal.action
        if isinstance(action, Summarize):
            found = (summary for summary in self._summaries if summary.removal is removal)
            return attrs.evolve(removal, tokens_freed=sum(summary.tokens_freed for summary in found))
        if isinstance(action, Drop):
            units = [self._unit(number) for number in action.units]
            return attrs.evolve(removal, tokens_freed=sum(unit.tokens for unit in units))
        key = removal.items[0]
        text = unclaimed.pop(key, None)  # a second stub of the same item in one pass frees nothing more
        return attrs.evolve(removal, tokens_freed=self._items[key][0].tokens - text.tokens if text else 0)


class _Cuts:
    """
    The runs of units that leave, and what their traces cost at most: little ones have no hint.

    ``short`` and ``long`` are the tokens of the longest trace without and with one.
    """

    def __init__(self, short: int, long: int) -> None:
        self._short, self._long = short, long
        self._other_end: dict[int, int] = {}
        self._tokens: dict[int, int] = {}

    def cost(self, left_out: int) -> int:
        """Tokens of a trace for so many that are left out."""
        return self._long if left_out >= HINTED_FROM else self._short

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
                before += self.cost(known)
        self._other_end[first], self._other_end[last] = last, first
        self._tokens[first] = left_out
        return self.cost(left_out) - before


def _telling(run: Sequence[Unit], shown: AbstractSet[str]) -> list[str]:
    """Names in what was asked and done there that nothing shows any more, the most often named first."""
    counts: Counter[str] = Counter()
    for unit in run:
        for item in unit.items:
            if item.kind in _ASKED:
                # In their order, for a set has another one in every process.
                names = dict.fromkeys(name for span in item.scan.spans for name in span.names)
                counts.update(name for name in names if name not in shown)
    return [name for name, _ in counts.most_common(MOST_NAMES) if len(name) <= _LONGEST_NAME]


def _no_original(unit: Unit) -> str:
    """Why a unit cannot be summarised, or "": a summary is written from originals, never from another one."""
    if unit.number < 0:
        return "a tool schema is dropped, not summarised"
    return f"unit {unit.number} is a summary: it is dropped or stays" if unit.is_summary else ""


def _left_out(unit: Unit) -> int:
    """Tokens that a unit, or what a trace stands for, had when it arrived."""
    return sum(item.original_tokens if item.reference is None else item.reference.tokens for item in unit.items)


_CUTTABLE = frozenset(
    {ItemKind.TOOL_RESULT, ItemKind.TOOL_CALL, ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.ATTACHMENT}
)


def is_cuttable(item: Item) -> bool:
    """Whether the last resort could cut the item: text, calls and results that are neither pinned nor LOCKED."""
    return item.kind in _CUTTABLE and not item.pinned and item.policy is not GCPolicy.LOCKED
