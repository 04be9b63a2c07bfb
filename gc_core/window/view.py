"""The window as a strategy may see it, and the protection that applies whatever a strategy proposes."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from gc_core.relevance.ages import ages_of
from gc_core.relevance.compactions import is_compaction
from gc_core.relevance.demands import is_demand
from gc_core.relevance.importance import Scores, composite
from gc_core.relevance.liveness import Liveness
from gc_core.relevance.name_scan import scan
from gc_core.relevance.reachability import Roots
from gc_core.relevance.working_set import WorkingSet
from gc_core.values.items import Item, ItemKind, Turn, Unit, number_of
from gc_core.values.policy import GCPolicy
from gc_core.values.results import ColdText
from gc_core.values.sources import ENRICHMENT, TASK_STATE
from gc_core.window.caps import Caps
from gc_core.window.context import Context
from gc_core.window.repeats import repeated_units
from gc_core.window.stubs import is_condensed, is_stubbable


class Zone(enum.Enum):
    """
    The protection of a unit against dropping.

    OLD may go. RECENT are the older steps of the recent turns: they go only if everything OLD is not enough.
    PRESERVABLE goes under pressure, RESERVE (recent, but after the newest exchange) only in the last resort. SCHEMA is
    a discoverable tool's schema that no visible call uses: it goes last, because it is at the head of the prefix. HELD
    never goes: LOCKED, pinned, pending, traces, and what the model has to answer next.
    """

    OLD = "old"
    RECENT = "recent"
    PRESERVABLE = "preservable"
    RESERVE = "reserve"
    SCHEMA = "schema"
    HELD = "held"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is Python code, and every unit is looked up


_SPOKEN = frozenset({ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_CALL, ItemKind.USER_TEXT})

_BINDING = 2

NAMED_STEPS = 30
"""Steps for which a name counts as recently used."""

_STAND_INS = frozenset({ItemKind.TRACE, ItemKind.SUMMARY})
_BLOCKS = frozenset({ItemKind.ENRICHMENT, ItemKind.MEMORY_BLOCK})
_GIVEN = frozenset({ENRICHMENT.name, TASK_STATE.name})
"""Sources of named content from the host, which follows other rules than messages."""


@attrs.frozen(kw_only=True)
class Protection:
    """
    The content that the session protects.

    Attributes:
        recent_turns: The newest turns that drop and summarize may not touch.
        recent_steps: The newest steps that no action may touch.
        pinned_turns: Turns that no action may touch.

    """

    recent_turns: int
    recent_steps: int
    pinned_turns: frozenset[int] = frozenset()


class WindowView:
    """
    The read-only answers for one collection; a ``ContextView``.

    ``policies`` are the plugins' current policies of resident items, by item id; they apply to this collection, and
    permanently if it changes something. ``objective`` is the agent's objective, ``questions`` are the open ones, and
    ``scores`` scores importance. ``usable`` are the tokens of a request, of which the caps are shares. With
    ``turns_before`` the turns before that one are only protected by LOCKED and pins.
    """

    def __init__(
        self,
        context: Context,
        protection: Protection,
        *,
        pressure: bool = False,
        young_after: int = 0,
        policies: Mapping[str, GCPolicy] | None = None,
        can_summarize: bool = False,
        objective: str = "",
        questions: tuple[str, ...] = (),
        scores: Scores = composite,
        search: Callable[[str, int], tuple[ColdText, ...]] = lambda _query, _limit: (),
        usable: int = 0,
        turns_before: int = 0,
    ) -> None:
        self._context = context
        self._protection = protection
        self._pressure = pressure
        self._young_after = young_after
        self.policies = policies or {}
        self._can_summarize = can_summarize
        self._objective = objective
        self._questions = questions
        self._scores = scores
        self._search = search
        self.caps = Caps.of(usable)
        self._turns_before = turns_before

    @property
    def tokens(self) -> int:
        """Tokens of the current request."""
        return self._context.budget.total

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The resident units, oldest first."""
        pinned = self._protection.pinned_turns
        units = self._context.units()
        if self.policies:
            units = tuple(_reclassified(unit, self.policies) for unit in units)
        if pinned:
            units = tuple(attrs.evolve(unit, pinned=True) if unit.turn in pinned else unit for unit in units)
        return units

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """The resident turns, oldest first."""
        grouped: dict[int, list[Unit]] = {}
        for unit in self.units:
            grouped.setdefault(unit.turn, []).append(unit)
        return tuple(Turn(number=number, units=tuple(units)) for number, units in sorted(grouped.items()))

    @cached_property
    def collectable(self) -> tuple[Unit, ...]:
        """Units that may be dropped or summarised: old ones, the older steps of recent turns, unused schemas."""
        return (*self.in_zone(Zone.OLD), *self.in_zone(Zone.RECENT), *self.schemas)

    @cached_property
    def schemas(self) -> tuple[Unit, ...]:
        """Discoverable tool schemas that no visible call uses."""
        return self._context.unused_schemas()

    @cached_property
    def preservable(self) -> tuple[Unit, ...]:
        """
        The PRESERVABLE units if pressure allows them to go: what the model said, then users' statements without a
        demand, then their demands, each the oldest first.
        """
        return tuple(sorted(self.in_zone(Zone.PRESERVABLE), key=demand_of)) if self._pressure else ()

    @cached_property
    def expired(self) -> tuple[Unit, ...]:
        """Units of the turns that a limit of turns removes, oldest first."""
        return tuple(unit for unit in self.in_zone(Zone.OLD) if self._is_expired(unit))

    @cached_property
    def stubbable(self) -> tuple[Item, ...]:
        """EPHEMERAL items that a stub may replace, oldest first."""
        older = self.units[: self._recent_from]
        return tuple(item for unit in older if self.may_stub(unit) for item in unit.items if is_stubbable(item))

    @cached_property
    def young(self) -> tuple[Item, ...]:
        """Those that came since the last young collection, and show no file in use."""
        fresh = (item for item in self.stubbable if number_of(item.id) > self._young_after)
        return tuple(item for item in fresh if not self.working_set.holds(item))

    @cached_property
    def condensed(self) -> tuple[Item, ...]:
        """Stubs that a shorter one may replace, oldest first."""
        older = self.units[: self._recent_from]
        return tuple(item for unit in older if self.may_stub(unit) for item in unit.items if is_condensed(item))

    @property
    def can_summarize(self) -> bool:
        """True if summaries are available."""
        return self._can_summarize

    def age(self, unit: Unit) -> int:
        """Return the steps taken since the unit."""
        return self._ages[self.position(unit.number)] if unit.number > 0 else 0

    @cached_property
    def liveness(self) -> Liveness:
        """The liveness of the resident items."""
        return Liveness([item for unit in self.units for item in unit.items], self._roots)

    @cached_property
    def working_set(self) -> WorkingSet:
        """The files that the agent works on."""
        open_items = {item.id for item in (*self.stubbable, *self.condensed)}
        return WorkingSet(self.units, self._ages, open_items)

    @property
    def objective(self) -> str:
        """The agent's objective, in words."""
        return self._objective

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Names in the objective that only the user's own words contain: the content about them has left."""
        shown = {
            name
            for unit in self.units
            for item in unit.items
            if item.kind is not ItemKind.USER_TEXT
            for name in item.scan.names
        }
        spans = scan(self._objective).spans
        return tuple(dict.fromkeys(name for span in spans for name in span.names if name not in shown))

    def search(self, query: str, limit: int = 10) -> tuple[ColdText, ...]:
        """Return removed items that match a query, best first."""
        return self._search(query, limit)

    def importance(self, item: Item) -> float:
        """Return an item's importance, from 0 to 1."""
        return self._importance(item)

    def distance(self, item: Item) -> int | None:
        """Return how many shared names lie between the item and the agent's current work; None: unreachable."""
        return self.liveness.distance(item)

    def is_recent(self, unit: Unit) -> bool:
        """
        Return whether the unit goes only when old content does not suffice: a step of the recent turns, or an unused
        schema.
        """
        zone = self._zone_of[unit.number]
        return zone is Zone.RECENT or zone is Zone.SCHEMA

    @cached_property
    def named(self) -> frozenset[str]:
        """Names that the agent and the user have used recently, in texts and calls."""
        spoken = (unit for place, unit in enumerate(self.units) if self._steps_after[place] <= NAMED_STEPS)
        return frozenset(
            name for unit in spoken for item in unit.items if item.kind in _SPOKEN for name in item.scan.names
        )

    # -- for the core --------------------------------------------------------------------------------------------

    @cached_property
    def zones(self) -> tuple[Zone, ...]:
        """The protection of every unit, by position."""
        return tuple([self._zone(place, unit) for place, unit in enumerate(self.units)])

    def zone(self, unit: Unit) -> Zone:
        """Return the protection of a unit."""
        return self._zone_of[unit.number]

    def position(self, number: int) -> int:
        """Return the position of a unit among the resident ones. Raises KeyError for a unit that is not resident."""
        return self._positions[number]

    def may_stub(self, unit: Unit) -> bool:
        """Return whether the unit's items may be stubbed at all: unpinned, and not waiting for results."""
        return not unit.pinned and not unit.pending

    def is_fresh(self, unit: Unit) -> bool:
        """Return whether a trace or a summary is of the last pass: nothing has come since."""
        return number_of(unit.items[0].id) > self._newest_arrival

    def is_before_recent_steps(self, place: int) -> bool:
        """Return whether the unit at this position is older than the protected steps."""
        return place < self._recent_from

    def in_zone(self, zone: Zone) -> tuple[Unit, ...]:
        """Return all units of a zone, oldest first."""
        return tuple(self._by_zone.get(zone, ()))

    @cached_property
    def final(self) -> int:
        """
        Position of the first unit of the newest exchange (rule A5): everything after the last step, or that step when
        nothing was said since; and always the newest input, what a user said or a tool answered.
        """
        said = [self.position(number) for number in self._context.newest_input()]
        steps = [place for place, unit in enumerate(self.units) if unit.is_step]
        if not steps or not said:
            return 0
        open_since = steps[-1] + 1 if max(said) > steps[-1] and not self.units[steps[-1]].pending else steps[-1]
        return min(open_since, *said)

    # -- inside --------------------------------------------------------------------------------------------------

    @cached_property
    def _importance(self) -> Callable[[Item], float]:
        return self._scores(self.units, self._objective)

    @property
    def _roots(self) -> Roots:
        """The roots of liveness: the newest steps and exchange, protected content, and open questions."""
        held = {unit.number for unit in self.units[self._recent_from :]}
        items = (
            item.id
            for unit in self.units
            for item in unit.items
            if unit.number in held or unit.pinned or item.policy is GCPolicy.LOCKED
        )
        return Roots(items=frozenset(items), names=scan("\n".join((self._objective, *self._questions))).names)

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {unit.number: place for place, unit in enumerate(self.units)}

    @cached_property
    def _steps_after(self) -> list[int]:
        after, count = [0] * len(self.units), 0
        for place in reversed(range(len(self.units))):
            after[place] = count
            count += self.units[place].is_step
        return after

    @cached_property
    def _unanswered(self) -> frozenset[int]:
        """The units without a reply behind them; that of an exchange may stand before what its answer has seen."""
        return self._context.unanswered()

    @cached_property
    def _ages(self) -> list[int]:
        return ages_of(self.units)

    @cached_property
    def _recent_from(self) -> int:
        steps = [place for place, unit in enumerate(self.units) if unit.is_step]
        wanted = self._protection.recent_steps
        if wanted == 0:
            return self.final
        return min(self.final, steps[-wanted]) if len(steps) >= wanted else 0

    @cached_property
    def _recent_turn(self) -> int:
        return self._context.cursor.turn - self._protection.recent_turns + 1

    @cached_property
    def _zone_of(self) -> dict[int, Zone]:
        known = {unit.number: zone for unit, zone in zip(self.units, self.zones, strict=True)}
        return known | {unit.number: Zone.SCHEMA for unit in self.schemas}

    @cached_property
    def _by_zone(self) -> dict[Zone, list[Unit]]:
        grouped: dict[Zone, list[Unit]] = {}
        for unit, zone in zip(self.units, self.zones, strict=True):
            grouped.setdefault(zone, []).append(unit)
        return grouped

    @cached_property
    def _next_to_system(self) -> frozenset[int]:
        """Return the units that stay because of a system message inside the conversation (N4)."""
        return frozenset(map(self.position, self._context.units_next_to_system()))

    def _zone(self, place: int, unit: Unit) -> Zone:
        locked = unit.pinned or unit.is_trace or unit.policy is GCPolicy.LOCKED
        if locked or unit.pending or place in self._next_to_system:
            return Zone.HELD
        given = unit.items[0].source in _GIVEN or unit.items[0].kind in _BLOCKS  # most units are not: asked once
        if given and (zone := self._unseen(unit)) is not None:
            return zone
        if place >= self.final:
            return Zone.RESERVE if unit.is_summary else Zone.HELD  # a summary is not an input, wherever it is
        if (given and is_enrichment(unit)) or unit.number in self._above_caps or unit.number in self._repeated:
            return Zone.OLD
        if unit.turn < self._turns_before and self._is_expired(unit):
            return Zone.OLD
        return self._softly(place, unit)

    def _unseen(self, unit: Unit) -> Zone | None:
        """Return the protection of a stale state, and of a block that no model call has seen."""
        if _is_stale_state(unit):  # it leaves before a request fails, although no model call has seen it
            return Zone.RESERVE if unit.number in self._unanswered else Zone.OLD
        if is_block(unit) and unit.number in self._unanswered:
            return Zone.RESERVE  # no model call has seen it: it is left out before a request fails
        return None

    def _softly(self, place: int, unit: Unit) -> Zone:
        """Return the protection of a unit that may go in some situation: by its turn, and by the steps since."""
        recent = unit.turn >= self._recent_turn
        if unit.policy is GCPolicy.PRESERVABLE:
            return Zone.RESERVE if self._is_fresh(unit) or (recent and not unit.is_summary) else Zone.PRESERVABLE
        if not recent and place < self._recent_from:
            return Zone.OLD
        return Zone.RECENT if unit.is_step and place < self._recent_from else Zone.RESERVE

    @cached_property
    def accounts(self) -> tuple[Unit, ...]:
        """PRESERVABLE units that cover what left, the newest first."""
        return tuple([unit for unit in self._held_softly if is_account(unit)])

    @cached_property
    def _held_softly(self) -> tuple[Unit, ...]:
        """PRESERVABLE units, the newest first."""
        return tuple([unit for unit in reversed(self.units) if unit.policy is GCPolicy.PRESERVABLE])

    def protected_tokens(self, staying: Collection[int] = ()) -> int:
        """
        Return tokens that no collection may take: LOCKED, pins, the newest turns and steps, and the
        units ``staying``.
        """
        units = (unit for place, unit in enumerate(self.units) if self._is_open(place, unit))
        return self.tokens - sum(unit.tokens for unit in units if unit.number not in staying)

    def _is_open(self, place: int, unit: Unit) -> bool:
        if unit.pinned or unit.pending or unit.policy is GCPolicy.LOCKED or place >= self._recent_from:
            return False
        recent = unit.turn >= self._recent_turn and not unit.is_summary
        return unit.is_trace or not (recent and (unit.policy is GCPolicy.PRESERVABLE or not unit.is_step))

    def _is_expired(self, unit: Unit) -> bool:
        return unit.turn < self._turns_before and not unit.is_summary

    @cached_property
    def _above_caps(self) -> frozenset[int]:
        """
        PRESERVABLE units of old turns that are more than their kind may have: the oldest. What users said stays before
        the answers that they got. Own summaries are merged if there is a summarizer.
        """
        summaries = [unit for unit in self.accounts if not (unit.is_summary and self._can_summarize)]
        accounts = {unit.number for unit in self.accounts}
        beside = accounts | self._repeated
        old = [unit for unit in self._held_softly if unit.turn < self._recent_turn and unit.number not in beside]
        said = [unit for unit in old if _is_said(unit)]
        answers = [unit for unit in old if not _is_said(unit)]
        above = {unit.number for unit in beyond([*said, *answers], self.caps.said)}
        return frozenset(above.union(unit.number for unit in beyond(summaries, self.caps.summaries)))

    @cached_property
    def _repeated(self) -> frozenset[int]:
        """Units of old turns whose message the user has sent again since: it is the newest that holds."""
        return repeated_units(self.units, before=self._recent_turn)

    def renewable(self, item: str) -> tuple[Unit, ...]:
        """
        Return the unit if it contains only this item and a model call has seen it: neither its policy nor the newest
        exchange, which it is not part of, keeps it.
        """
        return tuple(
            unit
            for place, unit in enumerate(self.units)
            if item and unit.items[0].id == item and len(unit.items) == 1 and unit.number not in self._unanswered
            if not (unit.pinned or unit.pending or place in self._next_to_system)
        )

    def _is_fresh(self, unit: Unit) -> bool:
        """
        Return whether the unit is a summary after which nothing has come: the pass that wrote it did not count on
        dropping it, so no second one may. Otherwise a summary is as old as it is: a turn of 500 steps would keep all
        its summaries for good.
        """
        return unit.is_summary and self.is_fresh(unit)

    @cached_property
    def _newest_arrival(self) -> int:
        items = (item for unit in self.units for item in unit.items)
        return max((number_of(item.id) for item in items if item.kind not in _STAND_INS), default=0)


def _reclassified(unit: Unit, policies: Mapping[str, GCPolicy]) -> Unit:
    items = (attrs.evolve(item, policy=policies.get(item.id, item.policy)) for item in unit.items)
    return attrs.evolve(unit, items=tuple(items))


def beyond(units: Iterable[Unit], most: int) -> Iterator[Unit]:
    """Yield those of the units that exceed this many tokens, in order; from the first that does, all."""
    for unit in units:
        most -= unit.tokens
        if most < 0:
            yield unit


def is_account(unit: Unit) -> bool:
    """Return whether the unit covers what left: a summary, also of an agent's own compaction."""
    return unit.is_summary or is_compaction(unit.items[0].text)


def _is_said(unit: Unit) -> bool:
    return any(item.kind is ItemKind.USER_TEXT for item in unit.items)


def demand_of(unit: Unit) -> int:
    """0 for the model's statements, 1 for a user's, 2 for a user's demand or a summary of it."""
    texts = [item.text for item in unit.items if item.kind is ItemKind.USER_TEXT]
    if not texts:
        return _BINDING if unit.is_summary else 0
    return _BINDING if any(map(is_demand, texts)) else 1


def _is_stale_state(unit: Unit) -> bool:
    """
    Return whether the unit is an outdated task state: the newest version contains everything that is in force. In a
    turn of thousands of steps each collection would leave one after otherwise, and none would be old enough to go.
    """
    return all(item.source == TASK_STATE.name and item.policy is GCPolicy.EPHEMERAL for item in unit.items)


def is_block(unit: Unit) -> bool:
    """Return whether the unit is a text that a host gives by name: it can be given again."""
    return all(item.kind in _BLOCKS for item in unit.items)


def is_enrichment(unit: Unit) -> bool:
    """Return whether the unit holds only enrichment: it may go as soon as a model call has seen it."""
    name = ENRICHMENT.name
    return unit.items[0].source == name and all(item.source == name for item in unit.items)
