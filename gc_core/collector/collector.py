"""One collection: asks strategies, checks their proposals, and returns the edited window."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import attrs

from gc_core.collector import last_resort
from gc_core.collector.bound_thinking import NO_RULE, ThinkingRule
from gc_core.collector.cold_tier import ColdTier
from gc_core.collector.permissions import Rights
from gc_core.collector.planned_summaries import NO_SUMMARIZER, Originals, PlannedSummary
from gc_core.collector.planner import Planner
from gc_core.collector.profile_order import in_order
from gc_core.collector.soft_content import RIGHTS, giving_way, protected_tokens, spares
from gc_core.collector.summarizing import NONE, Answering, Steps, Written, run_steps
from gc_core.collector.summary_merging import CORE, merged_summaries
from gc_core.errors import PluginError, RemovalError, RuleError
from gc_core.plugins.manager import COLLECT, Named, Plugins
from gc_core.providers.contract import TokenCounter
from gc_core.providers.rules import check_collection, check_request
from gc_core.relevance.importance import Scores, composite
from gc_core.relevance.profiles import GENERAL_PROFILE, CompressionProfile
from gc_core.values.policy import GCPolicy
from gc_core.values.removals import GCRemovalItem
from gc_core.values.results import ColdText, GCResult, Goal, Refusal, is_renewal
from gc_core.values.summary import SummaryOutcome, SummaryRequest
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.context import Context
from gc_core.window.plan import Plan
from gc_core.window.recalled import Recalled
from gc_core.window.view import Protection, WindowView, Zone

MAX_SECONDS = 10.0
"""The seconds that one strategy may take in one collection; checked whenever it yields."""

_REVIEWS = 5
"""The number of times that a plan is changed and reviewed again before the rest is accepted."""

_PROPOSALS_PER_ITEM = 4
_PROPOSALS_BESIDES = 1_000

Clock = Callable[[], float]


@attrs.frozen(kw_only=True)
class Prepared:
    """A summary that was written ahead of need, with its removal."""

    removal: GCRemovalItem
    written: Written


@attrs.frozen(kw_only=True)
class Collector:
    """
    Runs collections.

    Attributes:
        plugins: Isolates strategies, and reviews plans.
        strategies: The strategies in the order in which they are asked.
        counter: Counts the texts that are written.
        answering: Writes and checks summaries.
        read: Reads originals.
        thinking: The effect of an edit on the thinking after it.
        objective: The agent's objective.
        questions: Open questions.
        scores: Scores importance.
        cold: The removed content, if a strategy works with tiers; otherwise None.
        profile: The compression profile.
        renewed: Id of the item that is written again after a collection that drops or summarises something, or "".
        clock: Returns seconds; only for measuring: except for the time limit no decision depends on it.

    """

    plugins: Plugins
    strategies: tuple[Named, ...]
    counter: TokenCounter
    answering: Answering
    read: Originals
    thinking: ThinkingRule = NO_RULE
    objective: str = ""
    questions: tuple[str, ...] = ()
    scores: Scores = composite
    cold: ColdTier | None = None
    profile: CompressionProfile = GENERAL_PROFILE
    renewed: str = ""
    clock: Clock = time.perf_counter

    def steps(
        self,
        context: Context,
        goal: Goal,
        protection: Protection,
        *,
        fit: int | None = None,
        blocks_only: bool = False,
        prepared: Sequence[Prepared] = (),
    ) -> Steps[CollectionOutcome]:
        """
        Collect towards the goal; with ``fit``, by the last resort, until the request has at most ``fit`` tokens, or
        (``blocks_only``) until unsent blocks are no longer the reason why it has more.

        Stops for every summary that has to be requested; ``prepared`` ones are there already. The window given is never
        changed. Raises RuleError when the edited request would break a provider's rule.
        """
        started = self.clock()
        view = self._viewed(context, goal, protection)
        recalled = self._recalled(view, goal) if fit is None else ()
        goal = attrs.evolve(goal, target_tokens=max(0, goal.target_tokens - sum(each.tokens for each in recalled)))
        asked = _Asked(view=view, goal=goal, fit=fit, blocks_only=blocks_only, prepared=prepared)
        planner, plan = yield from self._agreed(context, asked)
        collected = self._carried_out(context, planner, plan, asked, started)
        return attrs.evolve(collected, recalled=recalled) if collected.result.changed else collected

    def collect(self, context: Context, goal: Goal, protection: Protection) -> CollectionOutcome:
        """Collect as ``steps`` does, waiting for every summary."""
        return run_steps(self.steps(context, goal, protection), self.answering.ask)

    def requests(
        self, context: Context, goal: Goal, protection: Protection
    ) -> tuple[tuple[GCRemovalItem, SummaryRequest], ...]:
        """
        Return the summaries with which a collection would reach this goal; none while they would not suffice. Nothing
        is asked and nothing changes.
        """
        asked = _Asked(view=self._viewed(context, goal, protection), goal=goal, fit=None)
        planner = self._planner(context, asked)
        self._ask_all(planner, asked)
        if not planner.met:
            return ()
        return tuple((summary.removal, planner.request(summary, self.read)) for summary in planner.unanswered)

    def _viewed(self, context: Context, goal: Goal, protection: Protection) -> WindowView:
        """Return the window with the policies that plugins give resident items now; nothing LOCKED is lowered."""
        view = self._view(context, goal, protection)
        if not self.plugins.classifies:
            return view
        policies = {}
        for unit in view.units:
            for item in unit.items:
                answer = self.plugins.classify(item, view.age(unit), view.liveness.reuse(item))
                if answer is not None and item.policy is not GCPolicy.LOCKED:
                    policies[item.id] = answer
        return self._view(context, goal, protection, policies)

    def _view(
        self, context: Context, goal: Goal, protection: Protection, policies: Mapping[str, GCPolicy] | None = None
    ) -> WindowView:
        can_summarize = self.answering.name != NONE
        return WindowView(
            context,
            protection,
            pressure=goal.pressure,
            young_after=goal.young_after,
            policies=policies,
            can_summarize=can_summarize,
            objective=self.objective,
            questions=self.questions,
            scores=self.scores,
            search=_nothing if self.cold is None else self.cold.search,
            usable=goal.usable_tokens,
            turns_before=goal.turns_before,
        )

    def _recalled(self, view: WindowView, goal: Goal) -> tuple[Recalled, ...]:
        """Return the removed content that comes back with this collection; nothing if nothing has to leave."""
        if self.cold is None or goal.is_young or view.tokens <= goal.target_tokens:
            return ()
        return self.cold.recalled(self.plugins, view, goal, self.counter)

    # -- asking --------------------------------------------------------------------------------------------------

    def _planned(self, context: Context, asked: _Asked, vetoed: Collection[GCRemovalItem]) -> Steps[Planner]:
        """
        Repeat the earlier proposals without those that a review refused, then take what else is needed, with its
        summaries.
        """
        planner = self._planner(context, asked, vetoed)
        if asked.fit is not None and asked.blocks_only:
            last_resort.shorten_blocks(planner, asked.view, fit=asked.fit)
            return planner
        if asked.fit is None:
            _offer_merged(planner, asked)
            self._offer_prepared(planner, asked)
            for removal, rights in asked.offered:
                if planner.met:
                    break
                planner.offer(removal, rights)
            self._ask_all(planner, asked)
            yield from self._answered(planner, asked)
        all_failed = bool(self.strategies) and len(asked.failures) == len(self.strategies) and not asked.goal.is_young
        if asked.fit is not None and not context.recalls:
            return self._fitted_list(context, asked, vetoed, asked.fit)
        if asked.fit is not None or (all_failed and not planner.met):
            last_resort.run(planner, asked.view, fit=context.budget.total if asked.fit is None else asked.fit)
            return planner
        _offer_expired(planner, asked)
        self._offer_giving_way(planner, asked)
        if planner.renew(self.renewed) and not planner.met:
            self._ask_all(planner, asked)  # next to a trace, units too small to leave may leave
            yield from self._answered(planner, asked)
        return planner

    def _fitted_list(self, context: Context, asked: _Asked, vetoed: Collection[GCRemovalItem], fit: int) -> Planner:
        """Return the plan of the last resort that cuts least of what a model has to read, or the last one tried."""
        for cutting in last_resort.in_list(asked.view, fit):
            planner = self._planner(context, asked, vetoed)
            last_resort.run(planner, asked.view, fit=fit, cutting=cutting)
            if planner.reaches(fit):
                break
        return planner

    def _offer_giving_way(self, planner: Planner, asked: _Asked) -> None:
        """Remove softly protected content to reach a target that no strategy has reached; not without strategies."""
        goal = asked.goal
        if not self.strategies or goal.is_young or goal.turns_before or planner.met:
            return
        if spares(asked.view, (removal for removal, _ in asked.offered)):
            return
        for removal in giving_way(asked.view, goal):
            planner.offer(removal, RIGHTS)
            if planner.met:
                return
        planner.settle()

    def _offer_prepared(self, planner: Planner, asked: _Asked) -> None:
        """
        Offer summaries that were written in advance, if their originals are still there and may go; none for a goal
        with a focus, which they do not know, and none for a young collection, which spares old content.
        """
        rights = attrs.evolve(_rights(asked), whole=True)
        fits = not asked.goal.focus and not asked.goal.is_young
        for prepared in asked.prepared if fits else ():
            if planner.met:
                break
            with contextlib.suppress(RemovalError):  # it names what has left since, and is of no use any more
                planner.offer(prepared.removal, rights)

    def _answered(self, planner: Planner, asked: _Asked) -> Steps[None]:
        """Obtain the text of every summary; when plugins keep items, more proposals and summaries may be needed."""
        while planner.unanswered:
            for summary in planner.unanswered:
                written, keep = yield from self._written(planner, summary, asked)
                planner.answer(summary, written.text, keep)
            planner.settle()
            if not planner.met:
                self._ask_all(planner, asked)

    def _written(
        self, planner: Planner, summary: PlannedSummary, asked: _Asked
    ) -> Steps[tuple[Written, frozenset[str]]]:
        """Obtain the text of a summary, requested once per collection, and the items that plugins want to keep."""
        if summary.key not in asked.written:
            request = planner.request(summary, self.read)
            ready = {prepared.removal.items: prepared.written for prepared in asked.prepared}
            known = None if asked.goal.focus else ready.get(summary.key)
            written = known or (yield from self.answering.steps(request))
            if self.plugins.redacts:
                written = attrs.evolve(written, text=self.plugins.redact(written.text))
            asked.written[summary.key] = written, self.plugins.preserve(request, written.text)
        return asked.written[summary.key]

    def _planner(self, context: Context, asked: _Asked, vetoed: Collection[GCRemovalItem] = ()) -> Planner:
        return Planner(
            context,
            asked.view,
            asked.goal,
            self.counter,
            vetoed=vetoed,
            thinking=self.thinking,
            profile=self.profile,
        )

    def _ask_all(self, planner: Planner, asked: _Asked) -> None:
        """Ask every strategy in order, continuing where it stopped; ``asked`` records their faults, a line each."""
        rights = _rights(asked)
        for place, (name, strategy) in enumerate(self.strategies):
            if planner.met:
                break
            first = place not in asked.proposals
            if first and self.plugins.is_quarantined(name):
                asked.fails(place, f"{name} is quarantined after repeated failures")
                continue
            with self.plugins.guarded(name, COLLECT) as attempt:
                if first:
                    asked.proposals[place] = self._ranked(strategy.collect(asked.view, asked.goal), asked.view)
                self._pull(name, asked.proposals[place], planner, asked.view, rights)
            if attempt.failure is not None:
                asked.fails(place, str(attempt.failure))
            elif first:
                self.plugins.forgive(name, COLLECT)
        asked.offered = planner.offered.copy()
        planner.settle()

    def _ranked(self, proposals: Iterable[object], view: WindowView) -> Iterator[object]:
        """Return the proposals in the strategy's order, and among equals in the profile's."""
        if self.profile.is_neutral:
            return iter(proposals)
        return in_order(proposals, self.profile, {item.id: item for unit in view.units for item in unit.items})

    def _pull(self, name: str, proposals: Iterator[object], planner: Planner, view: WindowView, rights: Rights) -> None:
        """Pull one by one until the goal is met, the strategy is dry, or it takes too much."""
        deadline = self.clock() + MAX_SECONDS
        most = _PROPOSALS_PER_ITEM * sum([len(unit.items) for unit in view.units]) + _PROPOSALS_BESIDES
        for count, proposal in enumerate(proposals):
            if not isinstance(proposal, GCRemovalItem):
                raise PluginError(f"yielded {proposal!r:.200}; expected a GCRemovalItem")
            if count >= most or self.clock() > deadline:
                raise PluginError(f"still yielding after {count:,} proposals; stopped")
            removal = planner.narrowed(attrs.evolve(proposal, strategy=name))
            if removal is not None:
                planner.offer(removal, rights)
            if planner.met:
                return

    def _agreed(self, context: Context, asked: _Asked) -> Steps[tuple[Planner, Plan]]:
        """
        Return a plan of which no review refuses a part, and its planner. What is refused stays in the window; the plan
        continues with further proposals, which are reviewed too.
        """
        vetoed: set[GCRemovalItem] = set()
        for _ in range(_REVIEWS):
            planner = yield from self._planned(context, asked, vetoed)
            plan = planner.finish()
            answers = self.plugins.review(plan)
            if not answers:
                return planner, plan
            asked.refused += answers
            known = {attrs.evolve(removal, tokens_freed=0) for removal in plan.removals}
            refused = known & {attrs.evolve(answer.removal, tokens_freed=0) for answer in answers}
            if not refused:
                return planner, plan
            vetoed |= refused
        passed = self._planner(context, asked, vetoed)
        for removal in plan.removals:
            again = attrs.evolve(removal, tokens_freed=0)
            if again not in vetoed and not is_renewal(removal):
                passed.offer(again, _EVERYTHING)
        for summary in passed.unanswered:
            written, keep = asked.written[summary.key]
            passed.answer(summary, written.text, keep)
        passed.renew(self.renewed)
        asked.refused += plan.refusals
        return passed, passed.finish()

    # -- carrying out --------------------------------------------------------------------------------------------

    def _carried_out(
        self, context: Context, planner: Planner, plan: Plan, asked: _Asked, started: float
    ) -> CollectionOutcome:
        plan = attrs.evolve(plan, refusals=(*plan.refusals, *asked.refused))
        before = context.budget.total
        after = context.edited(plan.edits) if plan.edits else context
        if after is not context and after.budget.total >= before:
            after, plan = context, attrs.evolve(plan, removals=())
        if after is not context:
            self.check(context, after, last_resort=asked.fit is not None)
        protected = protected_tokens(asked.view, asked.goal)
        result = GCResult(
            reason=plan.goal.reason,
            tokens_before=before,
            tokens_after=after.budget.total,
            target_tokens=plan.goal.target_tokens,
            protected_tokens=protected,
            removals=plan.removals,
            refusals=plan.refusals,
            failures=(*asked.failures, *_unanswerable(plan)),
            summaries=tuple(asked.outcome(summary) for summary in planner.summaries) if plan.removals else (),
            note=_note(plan, after.budget.total, protected),
            earliest_change=_earliest_change(context, after),
            seconds=self.clock() - started,
        )
        renewed = sum(removal.tokens_freed for removal in plan.removals if is_renewal(removal))
        return CollectionOutcome(context=after, plan=plan, result=result, of=context, renewed=renewed)

    def check(self, before: Context, after: Context, *, last_resort: bool) -> None:
        """Raise RuleError if a collection breaks a rule; violations in a host's own messages are not its fault."""
        old, new, pending = before.render(), after.render(), bool(after.open_calls)
        breaches = check_request(new, pending=pending)
        if breaches and len(breaches) <= len(check_request(old, pending=pending)):
            breaches = ()
        breaches += check_collection(
            old,
            new,
            final_may_shrink=last_resort,
            thinking_bound=self.thinking.binds,
            reply_left=before.latest_reply != after.latest_reply,
        )
        if breaches:
            listed = "; ".join(str(breach) for breach in breaches[:5])
            raise RuleError(f"the collected request would break {len(breaches)} rules: {listed}")


@attrs.define(kw_only=True)
class _Asked:
    """
    One collection's questions to the strategies, which continue where they stopped when a review refuses something.

    Attributes:
        view: What they see.
        goal: The goal.
        fit: Tokens that the last resort has to reach, if it is used.
        blocks_only: It shortens blocks and nothing else.
        proposals: The remaining proposals of each strategy, by its place.
        offered: All proposals so far.
        failures: The strategies' faults.
        prepared: Summaries that were written in advance.
        written: The text of each summary, by its key, and the items that plugins want to keep nevertheless.
        refused: Proposals that reviews refused.

    """

    view: WindowView
    goal: Goal
    fit: int | None
    blocks_only: bool = False
    proposals: dict[int, Iterator[object]] = attrs.field(factory=dict)
    offered: list[tuple[GCRemovalItem, Rights]] = attrs.field(factory=list)
    failures: list[str] = attrs.field(factory=list)
    prepared: Sequence[Prepared] = ()
    written: dict[tuple[str, ...], tuple[Written, frozenset[str]]] = attrs.field(factory=dict)
    refused: list[Refusal] = attrs.field(factory=list)

    def outcome(self, summary: PlannedSummary) -> SummaryOutcome:
        """Return how a summary of the plan came about."""
        written, _ = self.written[summary.key]
        reference = summary.reference
        return SummaryOutcome(
            label=summary.label,
            by=written.by,
            first=reference.first,
            last=reference.last,
            tokens_before=reference.tokens,
            tokens_after=summary.tokens,
            attempts=written.attempts,
            complaints=written.complaints,
        )

    def fails(self, place: int, why: str) -> None:
        """Stop asking a strategy in this collection."""
        self.proposals[place] = iter(())
        self.failures.append(why)


def _nothing(_query: str, _limit: int) -> tuple[ColdText, ...]:
    return ()


def _offer_merged(planner: Planner, asked: _Asked) -> None:
    """Merge the oldest summaries into one if all of them together exceed their cap."""
    removal = None if asked.goal.is_young else merged_summaries(asked.view)
    if removal is not None and not planner.met:
        planner.offer(removal, _rights(asked))


def _offer_expired(planner: Planner, asked: _Asked) -> None:
    """Remove what strategies have left of the turns beyond the limit, except what a review refused."""
    for unit in asked.view.expired if asked.goal.turns_before else ():
        removal = GCRemovalItem.drop(unit, reason="beyond max_turns", phase="turns")
        planner.offer(attrs.evolve(removal, strategy=CORE), _rights(asked))


_EVERYTHING = Rights(zones=frozenset(Zone) - {Zone.HELD}, stub_recent=True, stub_any_kind=True, whole=True)


def _rights(asked: _Asked) -> Rights:
    """Return what strategies may take; if only young content is to shrink, nothing before it changes."""
    goal = asked.goal
    if goal.is_young:
        return Rights(zones=frozenset(), stub_only=frozenset(item.id for item in asked.view.young))
    zones = {Zone.OLD, Zone.RECENT, Zone.SCHEMA} | ({Zone.PRESERVABLE} if goal.pressure else set())
    above = goal.pressure_tokens or 0
    return Rights(
        zones=frozenset(zones),
        preservable_above=above,
        preservable_to=above if goal.relief_tokens is None else min(above, goal.relief_tokens),
    )


def _unanswerable(plan: Plan) -> tuple[str, ...]:
    """Return what a strategy that needs summaries cannot do without a summarizer."""
    names = dict.fromkeys(refusal.removal.strategy for refusal in plan.refusals if refusal.why == NO_SUMMARIZER)
    return tuple(f"{name}: {NO_SUMMARIZER}; set summarizer, for instance to 'extractive'" for name in names)


def _note(plan: Plan, after: int, protected: int) -> str:
    missing = after - plan.goal.target_tokens
    if (
        plan.goal.is_young or plan.goal.turns_before
    ) and plan.removals:  # its target is not a number that anybody wants to reach
        return ""
    if missing <= 0:
        return "" if plan.removals else "nothing had to be removed: the request is at or below the target"
    if plan.removals and protected > plan.goal.target_tokens:
        protection = f"LOCKED content, pins, the newest turns and what users said have {protected:,} tokens"
        return f"{missing:,} tokens short of the target of {plan.goal.target_tokens:,}: {protection}"
    if plan.removals:
        return f"{missing:,} tokens short of the target: what is left is held"
    reasons = sorted({refusal.why for refusal in plan.refusals})
    return f"nothing could be removed: {reasons[0]}" if reasons else "nothing could be removed: everything is held"


def _earliest_change(before: Context, after: Context) -> int:
    if before is after:
        return -1
    pairs = zip(before.messages, after.messages, strict=False)
    return next((place for place, (old, new) in enumerate(pairs) if old is not new), len(after.messages))
