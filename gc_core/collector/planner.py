"""Plans a collection: which proposals are accepted, in which order, and when the goal is reached."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import attrs

from gc_core.collector.bound_thinking import NO_RULE, BoundThinking, ThinkingRule
from gc_core.collector.named_stretches import NamedStretches
from gc_core.collector.permissions import Rights
from gc_core.collector.planned_drops import Cuts
from gc_core.collector.planned_stubs import Stubs, is_cuttable
from gc_core.collector.planned_summaries import NO_SUMMARIZER, Originals, PlannedSummary, Summaries, request_for
from gc_core.collector.quotes import Quotes
from gc_core.collector.running_totals import RunningTotals
from gc_core.collector.traces import Traces
from gc_core.errors import RemovalError
from gc_core.providers.contract import TokenCounter
from gc_core.relevance.profiles import GENERAL_PROFILE, CompressionProfile
from gc_core.values.items import Item, Unit
from gc_core.values.policy import GCPolicy
from gc_core.values.references import Reference
from gc_core.values.removals import RENEWED, Drop, GCRemovalItem, Stub, Summarize
from gc_core.values.results import Goal, Refusal
from gc_core.values.sources import TASK_STATE
from gc_core.values.summary import SummaryForm, SummaryRequest
from gc_core.window.context import Context, Edits, NewText
from gc_core.window.plan import Plan
from gc_core.window.view import WindowView, Zone

_WASTE_PERCENT = 5.0
"""The room below the target, in percent of it, from which a unit is shortened instead of dropped."""

_SEAM = 12
"""Tokens that a stub may have beyond its share, because its reference is not known yet."""

_WHOLE = frozenset({GCPolicy.PRESERVABLE, GCPolicy.LOCKED})


class Planner:
    """
    Takes proposals one by one, checks each against the protection, and keeps the running total.

    Traces are counted at their longest, stubs by their live content until their texts are written. ``vetoed`` are
    proposals that a review refused; ``offered`` are all proposals so far, with their permissions.

    Thinking after the first change leaves in the same pass, according to ``thinking``. ``profile`` decides what is kept
    first in stubs.
    """

    def __init__(
        self,
        context: Context,
        view: WindowView,
        goal: Goal,
        counter: TokenCounter,
        *,
        vetoed: Collection[GCRemovalItem] = (),
        thinking: ThinkingRule = NO_RULE,
        profile: CompressionProfile = GENERAL_PROFILE,
    ) -> None:
        self.goal = goal
        self.offered: list[tuple[GCRemovalItem, Rights]] = []
        self._vetoed = vetoed
        self._view = view
        self._tools = (*(schema.item.name for schema in context.schemas), *context.head.left_out)
        self._counter = counter
        self._units = {unit.number: unit for unit in (*view.units, *view.schemas)}
        self._removals: list[GCRemovalItem] = []
        self._refusals: list[Refusal] = []
        self._later: list[tuple[GCRemovalItem, Rights]] = []
        self._exact = False
        traces = Traces(counter, cites=context.cites, recalls=context.recalls, form=context.recall_form)
        self._totals = RunningTotals(view)
        self._rights: dict[int, Rights] = {}
        self._quotes = quotes = Quotes(view, self._totals, counter)
        named = NamedStretches(view, self._totals)
        self._cuts = Cuts(
            context, view, self._totals, traces, counter, quotes=quotes, named=named, cap=view.caps.notices
        )
        self._stubs = Stubs(context, view, self._totals, counter, profile)
        self._summaries = Summaries(
            context, view, self._totals, traces, counter, quotes=quotes, named=named, fills=goal.fills
        )
        self._thinking = BoundThinking(view, self._totals, self._stubs, rule=thinking)

    # -- progress -------------------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """The most tokens of the resulting request."""
        return self._totals.total

    @property
    def met(self) -> bool:
        """True if the goal is reached; with a limit of turns, if nothing is left of those beyond it."""
        if self.goal.turns_before:
            return all(unit.number in self._totals.dropped for unit in self._view.expired)
        return self.reaches(self.goal.target_tokens)

    def narrowed(self, removal: GCRemovalItem) -> GCRemovalItem | None:
        """Return the part of a proposal that the goal concerns, or None; with a limit of turns, units beyond it."""
        if not self.goal.turns_before:
            return removal
        if isinstance(removal.action, Stub):
            return None
        wanted = set(removal.action.units)
        units = [unit for unit in self._view.expired if unit.number in wanted]
        return removal.of(units) if units else None

    def reaches(self, tokens: int) -> bool:
        """
        Return whether the request will have at most this many tokens.

        Stubs and traces are estimated while proposals come in. When the estimate says yes, or might, their texts are
        written and counted, so that a goal that counts as met is met, and little more is taken than needed.
        """
        if self._totals.total - self._cuts.unsure <= tokens:
            self._recount()
        return self._totals.total <= tokens

    def quote_less(self, fit: int) -> None:
        """Quote only so much of what users laid down that the request has at most this many tokens."""
        while self._quotes.cap and not self.reaches(fit):
            self._quotes.cap //= 2
            self._exact = False
            self._recount()

    def size_of(self, item: Item) -> int:
        """Return the resulting tokens of a resident item; 0 if its unit is dropped."""
        return 0 if item.unit in self._totals.dropped else self._totals.size_of(item)

    def _recount(self) -> None:
        """
        Count stubs and traces as they will be, instead of at their longest, without thinking that goes with the change:
        a second pass, which begins with exactly these tokens, then refuses the same proposals.
        """
        if self._exact:
            return
        self._exact = True
        self._stubs.write()
        self._cuts.recount()
        self._thinking.recount()  # a trace that leaves for another one may be the first change

    # -- proposals -----------------------------------------------------------------------------------------------

    def offer(self, removal: GCRemovalItem, rights: Rights) -> bool:
        """
        Accept or refuse a proposal; True when it was accepted.

        Raises RemovalError when it names something that does not exist here: that is the strategy's fault.
        """
        accepted = self._offer(removal, rights)
        self.offered.append((removal, rights))
        return accepted

    def settle(self) -> None:
        """Offer postponed proposals again, until nothing more is accepted or the goal is met."""
        self._recount()
        accepted = True
        while accepted and not self.met:
            waiting, self._later = self._later, []
            accepted = False
            for place, (removal, rights) in enumerate(waiting):
                if self.met:
                    self._later += waiting[place:]
                    break
                accepted = self._offer(removal, rights) or accepted
            self._recount()

    def renew(self, item: str) -> bool:
        """
        Remove a block that the session writes again after whatever leaves the window, if that is allowed. Returns
        whether it was.
        """
        if not any(isinstance(removal.action, Drop | Summarize) for removal in self._removals):
            return False
        for unit in self._view.renewable(item):
            removal = GCRemovalItem.drop(unit, reason="told anew", phase=RENEWED)
            removal = attrs.evolve(removal, strategy=unit.items[0].source)
            if not self._is_vetoed(removal) and self._cuts.gain([unit]) > 0:
                self._cuts.drop(unit)
                self._removals.append(removal)
                self._exact = False
                return True
        return False

    def _offer(self, removal: GCRemovalItem, rights: Rights) -> bool:
        accepted = self._offer_action(removal, rights)
        if accepted:
            self._exact = False
        return accepted

    def _offer_action(self, removal: GCRemovalItem, rights: Rights) -> bool:
        action = removal.action
        if isinstance(action, Summarize):
            return self._offer_summary(removal, action, self._known(removal, action.units), rights)
        if isinstance(action, Drop):
            units = self._known(removal, action.units)
            if self._is_vetoed(removal):
                return self._pass_over(units)
            return self._offer_drop(removal, units, rights)
        if self._is_vetoed(removal):
            return False
        return self._offer_stub(removal, action, rights)

    def _is_vetoed(self, removal: GCRemovalItem) -> bool:
        return bool(self._vetoed) and removal in self._vetoed  # most plans have none, and hashing a removal takes long

    def _known(self, removal: GCRemovalItem, numbers: Iterable[int]) -> list[Unit]:
        """Return the resident units that a proposal names."""
        units = []
        for number in dict.fromkeys(numbers):
            try:
                units.append(self._units[number])
            except KeyError:
                raise RemovalError(f"{removal.action} names unit {number}, which is not in this window") from None
        ids = tuple([item.id for unit in units for item in unit.items])
        if removal.items != ids:
            raise RemovalError(f"{removal.action} names items {removal.items}; those units hold {ids}")
        return units

    def _offer_drop(self, removal: GCRemovalItem, units: list[Unit], rights: Rights) -> bool:
        fresh = self._fresh(units)
        if not fresh:
            return self._refuse(removal, "proposed already")
        why = next(filter(None, (self._never(unit, rights) for unit in fresh)), "")
        if why:
            return self._refuse(removal, why)
        why = self._waits(fresh, rights, summarised=False)
        if why:
            return self._postpone(removal, rights, why)
        if self._cuts.gain(fresh) <= 0:
            for unit in fresh:
                self._totals.forget(unit)
            return self._postpone(removal, rights, "smaller than the line that would name it")
        if self.goal.fills:
            fresh = self._filling(removal, fresh, rights)
        for unit in fresh:
            if unit.number not in self._totals.dropped:
                self._cuts.drop(unit)
        if fresh:
            self._removals.append(removal.of(fresh))
        return True

    def _filling(self, removal: GCRemovalItem, units: list[Unit], rights: Rights) -> list[Unit]:
        """Return those of the units that have to leave, one by one; the last is only shortened if that suffices."""
        removed: list[Unit] = []
        for unit in units:
            if (removed and self.met) or self._shortened(removal, unit, rights):
                break
            self._cuts.drop(unit)
            self._exact = False
            removed.append(unit)
        return removed

    def _shortened(self, removal: GCRemovalItem, unit: Unit, rights: Rights) -> bool:
        """
        Shorten a unit instead of dropping it if dropping would leave more room below the target than the unit is worth.
        Returns whether that suffices.
        """
        if self._exceeds_without(unit):
            return False
        self._recount()
        room = self.goal.target_tokens - (self._totals.total - self._totals.tokens_of([unit]))
        if unit.number < 0 or room < self.goal.target_tokens * _WASTE_PERCENT / 100.0 or unit.policy in _WHOLE:
            return False
        taken = [stub for stub in self._cuts_to(unit, room) if not self._stubs.take(stub, rights.cutting())]
        if not taken or not self.met:
            return False
        reason = f"{removal.reason}: as much as there is room for"
        self._removals += [attrs.evolve(removal, action=stub, items=(stub.item,), reason=reason) for stub in taken]
        return True

    def _exceeds_without(self, unit: Unit) -> bool:
        """
        Return whether the request is too large without the unit however short its traces are: these are not counted for
        every unit of a long window, because each count reads everything that leaves.
        """
        if self._view.zone(unit) is not Zone.OLD or self._totals.open_in(Zone.OLD) <= self._totals.tokens_of([unit]):
            return False  # whether more may leave than the old depends on the very number of tokens
        self._stubs.write()
        self._thinking.recount()
        least = self._totals.total - self._cuts.most_freed()
        return least - self._totals.tokens_of([unit]) > self.goal.target_tokens

    def _cuts_to(self, unit: Unit, room: int) -> Iterator[Stub]:
        """Yield stubs with which a unit has at most this many tokens: items above a common size are cut to it."""
        items = sorted(filter(is_cuttable, unit.items), key=self._totals.size_of)
        room -= self._totals.tokens_of([unit]) - sum(map(self._totals.size_of, items))
        for left, item in zip(range(len(items), 0, -1), items, strict=True):
            share = room // left - _SEAM
            if self._totals.size_of(item) > share:
                yield Stub(item.id, max(0.0, share / max(item.tokens, item.original_tokens)))
            room -= min(self._totals.size_of(item), share)

    def _offer_summary(self, removal: GCRemovalItem, action: Summarize, units: list[Unit], rights: Rights) -> bool:
        fresh = self._fresh(units)
        why = self._not_summarised(fresh, rights, action.form)
        if why:
            return self._refuse(removal, why)
        summary = self._summaries.of(removal, action, fresh, target=self.goal.target_tokens, whole=rights.whole)
        if summary is None:
            return self._postpone(removal, rights, "too little for a summary")
        if self._is_vetoed(summary.removal):
            return self._pass_over(summary.units)
        why = self._waits(_not_digested(summary.units, action.form), rights, summarised=True)
        if why:
            return self._postpone(removal, rights, why)
        self._summaries.take(summary)
        self._rights[summary.number] = rights
        if len(summary.units) < len(fresh):
            self._later.append((removal, rights))  # the rest, if this does not suffice
        self._removals.append(summary.removal)
        return True

    def _offer_stub(self, removal: GCRemovalItem, action: Stub, rights: Rights) -> bool:
        if not self._stubs.has(action.item):
            raise RemovalError(f"{action} names item {action.item!r}, which is not in this window")
        if removal.items != (action.item,):
            raise RemovalError(f"{action} names items {removal.items}; expected {(action.item,)}")
        why = self._stubs.take(action, rights)
        if why:
            return self._refuse(removal, why)
        self._removals.append(removal)
        return True

    def _never(self, unit: Unit, rights: Rights) -> str:
        """Return why a unit may never be removed, or ""."""
        if unit.number in self._totals.kept:
            return f"a plugin keeps unit {unit.number}"
        return rights.refusal_reason(unit, self._view.zone(unit))

    def _fresh(self, units: Iterable[Unit]) -> list[Unit]:
        """Return those that have not been removed yet."""
        return [unit for unit in units if unit.number not in self._totals.dropped]

    def _waits(self, units: Iterable[Unit], rights: Rights, *, summarised: bool) -> str:
        """Return why units that may be removed are not due yet, or ""."""
        zones = {self._view.zone(unit) for unit in units}
        return rights.deferral_reason(zones, self._totals, self.goal.target_tokens, summarised=summarised)

    def _not_summarised(self, units: Collection[Unit], rights: Rights, form: SummaryForm) -> str:
        """Return why these units can never have a summary together, or ""."""
        if not self._view.can_summarize:
            return NO_SUMMARIZER
        # A young collection removes no units, because everything old stays as it is.
        more = rights if rights.stub_only is not None else attrs.evolve(rights, zones=rights.zones | {Zone.PRESERVABLE})
        held = (
            self._never(unit, more if _is_digested(unit, form) else rights)
            or self._summaries.refusal_reason(unit, form)
            for unit in units
        )
        return next(filter(None, held), "" if units else "proposed already")

    def _pass_over(self, units: Iterable[Unit]) -> bool:
        """Note that a review refused a proposal, with its reason; later proposals need not wait for it."""
        for unit in units:
            self._totals.forget(unit)
        return False

    def _refuse(self, removal: GCRemovalItem, why: str) -> bool:
        self._refusals.append(Refusal(removal=removal, why=why))
        return False

    def _postpone(self, removal: GCRemovalItem, rights: Rights, why: str) -> bool:
        self._later.append((removal, rights))
        return self._refuse(removal, why)

    # -- summaries -----------------------------------------------------------------------------------------------

    @property
    def unanswered(self) -> tuple[PlannedSummary, ...]:
        """Summaries without a text, in the order of the proposals."""
        return self._summaries.unanswered

    @property
    def summaries(self) -> tuple[PlannedSummary, ...]:
        """All summaries of the plan."""
        return self._summaries.all

    def request(self, summary: PlannedSummary, read: Originals) -> SummaryRequest:
        """Return the request for a summary."""
        self._stubs.write()
        stated = any(item.source == TASK_STATE.name for unit in self._view.units for item in unit.items)
        request = request_for(summary, read, self._stubs.shown(), self._counter)
        return attrs.evolve(request, focus=self.goal.focus, stated=stated, tools=self._tools)

    def answer(self, summary: PlannedSummary, body: str, keep: Collection[str] = ()) -> None:
        """
        Take the text of a summary. If plugins ``keep`` one of its items, that unit stays where it is, and a summary of
        the others may be requested again, which ``settle`` offers.
        """
        self._exact = False
        if not {item.id for unit in summary.units for item in unit.items}.isdisjoint(keep):
            self._removals = [each for each in self._removals if each is not summary.removal]
            rest = self._summaries.withdraw(summary, keep)
            if rest:
                self._later.append((summary.removal.of(rest), self._rights[summary.number]))
            return
        self._summaries.answer(summary, body)

    # -- the plan ------------------------------------------------------------------------------------------------

    def finish(self) -> Plan:
        """Write the texts, newest first, and the traces."""
        self._recount()
        texts = self._stubs.smaller()
        traces, named = self._cuts.traces(self.goal.target_tokens - self._totals.total, self._stubs.shown)
        unclaimed = dict(texts)
        removals = (attrs.evolve(each, tokens_freed=self._freed(each, unclaimed)) for each in self._removals)
        return Plan(
            goal=self.goal,
            removals=tuple(removal for removal in removals if removal.tokens_freed > 0),
            refusals=tuple(self._refusals),
            edits=self._edits(texts, traces),
            tokens=self._totals.total + named,
        )

    def _edits(self, texts: dict[str, NewText], traces: dict[str, Reference]) -> Edits:
        cut = (item.id for item in self._cuts.left())
        schemas = (unit for unit in self._view.schemas if unit.number in self._totals.dropped)
        return Edits(
            dropped=frozenset(cut).union(self._summaries.ids(), self._thinking.ids()),
            texts=texts,
            traces=traces,
            summaries=self._summaries.edits(),
            policies={**self._view.policies, **self._summaries.preserved},
            schemas=frozenset(unit.items[0].id for unit in schemas),
        )

    def _freed(self, removal: GCRemovalItem, unclaimed: dict[str, NewText]) -> int:
        """Return the tokens that the request loses by an accepted proposal."""
        action = removal.action
        if isinstance(action, Summarize):
            return self._summaries.freed(removal)
        if isinstance(action, Drop):
            return sum([self._units[number].tokens for number in action.units])
        key = removal.items[0]
        text = unclaimed.pop(key, None)  # a second stub of the same item in one pass frees nothing more
        return self._stubs.item(key).tokens - text.tokens if text else 0


def _is_digested(unit: Unit, form: SummaryForm) -> bool:
    """Return whether a summary becomes part of a digest: its content stays in the window, so no pressure is needed."""
    return unit.is_summary and form is SummaryForm.DIGEST


def _not_digested(units: Iterable[Unit], form: SummaryForm) -> list[Unit]:
    """Return the units that do not go into a digest."""
    return [unit for unit in units if not _is_digested(unit, form)]
