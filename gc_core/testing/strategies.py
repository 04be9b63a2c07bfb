"""The contract of strategies, as rules for an author's tests."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import attrs

from gc_core.errors import GCError, RuleError
from gc_core.isolation import isolated
from gc_core.plugins.manager import Plugins
from gc_core.testing.contexts import YOUNG, Aims, Case, Everything, is_summary, make_cases
from gc_core.testing.contract import Contract, rule
from gc_core.testing.conversations import Shape
from gc_core.testing.purity import MOMENTS, at_moment
from gc_core.testing.runs import Promise, Run, run
from gc_core.testing.windows import changes
from gc_core.values.policy import GCPolicy
from gc_core.values.protocols import COLLECT_ARGUMENTS, GCStrategy
from gc_core.values.removals import GCRemovalItem
from gc_core.values.triggers import Young
from gc_core.values.validators import call_misfit
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.view import is_enrichment

LONGEST_REASON = 200
"""The most characters of a reason: it appears in reports and in the ledger."""

_PER_ITEM, _BESIDES = 4, 1_000
"""As in a collection: a strategy with more proposals is stopped."""

_CRUMBS = 200
"""Tokens that need not be freed: a trace may cost as much as what it replaces."""

_FEW = ("moderate", "pressure")
"""The goals of rules that ask repeatedly."""


@attrs.frozen(kw_only=True)
class Pulled:
    """
    A strategy's answer.

    Attributes:
        proposals: All its proposals, up to the limit.
        error: The error that it raised, or None.
        ended: Whether it ended by itself.

    """

    proposals: tuple[object, ...]
    error: BaseException | None
    ended: bool


def pull(strategy: GCStrategy, case: Case) -> Pulled:
    """Ask a strategy and take all its proposals, within reason; its error is recorded."""
    most = _PER_ITEM * sum(len(unit.items) for unit in case.context.units) + _BESIDES
    found: list[object] = []
    with isolated() as attempt:  # one rule checks what it raises
        found.extend(itertools.islice(strategy.collect(case.context, case.goal), most + 1))
    return Pulled(proposals=tuple(found[:most]), error=attempt.error, ended=len(found) <= most)


class StrategyContract(Contract):
    """
    The rules for strategies. Subclass it in your tests as ``class TestMine(StrategyContract)``, and name the strategy.

    Attributes:
        strategy: The class; or override ``make`` where it needs arguments.
        name: Its name in a configuration, when the plugin is installed; "" skips that rule.
        bad_options: Options that the constructor must refuse, each as keywords.

    """

    strategy: ClassVar[type[GCStrategy] | None] = None
    name: ClassVar[str] = ""
    bad_options: ClassVar[Sequence[Mapping[str, Any]]] = ()

    def make(self) -> GCStrategy:
        """Return a strategy to test; a new one with every call."""
        assert self.strategy is not None, f"{type(self).__name__} names no strategy: set `strategy` or override make()"
        return self.strategy()

    # -- its interface ----------------------------------------------------------------------------------------------

    @rule
    def test_is_a_strategy(self) -> None:
        """It has ``collect(context, goal)``, and nothing else is required."""
        strategy = self.make()
        assert isinstance(strategy, GCStrategy), f"{strategy!r} has no collect(context, goal)"
        misfit = call_misfit(strategy, "collect", COLLECT_ARGUMENTS)
        assert not misfit, f"{strategy!r}: {misfit}"

    @rule
    def test_is_found_under_its_name(self) -> None:
        """If it has a name, a configuration finds this class by it."""
        if self.name:
            found, expected = Plugins.discover().strategy(self.name), self.make()
            assert type(found) is type(expected), f"{self.name!r} is {type(found)}; expected {type(expected)}"

    @rule
    def test_bad_options_die_in_the_constructor(self) -> None:
        """A bad option is refused when the strategy is created, by its name, and not in the tenth turn."""
        for options in self.bad_options:
            error = self._refusal(options)
            assert error is not None, f"{options} was accepted; a validator of the field has to refuse it"
            named = any(name in str(error) for name in options)
            assert named, f"{options} was refused with {error!r}, which names no option; name the one that is bad"

    def _refusal(self, options: Mapping[str, Any]) -> Exception | None:
        try:
            (self.strategy or type(self.make()))(**options)
        except (ValueError, TypeError, GCError) as error:
            return error
        return None

    # -- its proposals ----------------------------------------------------------------------------------------

    @rule
    def test_yields_removal_items_and_nothing_else(self) -> None:
        """Anything but a GCRemovalItem is a fault; after three, the strategy is quarantined."""
        for case, pulled in self._asked():
            for proposal in pulled.proposals:
                text = f"{case}: yields {proposal!r:.200}; expected a GCRemovalItem"
                assert isinstance(proposal, GCRemovalItem), text

    @rule
    def test_names_units_and_items_of_this_window(self) -> None:
        """A removal names resident units, with their items: its constructors ensure that."""
        for case, removal in self._removals():
            wrong = _misnamed(case, removal)
            assert not wrong, f"{case}: {_short(removal)} {wrong}; use GCRemovalItem.drop, .stub and .summarize"

    @rule
    def test_spares_what_is_locked(self) -> None:
        """LOCKED content never leaves and never shrinks."""
        for case, removal in self._removals():
            held = [item.id for item in case.items(removal) if item.policy is GCPolicy.LOCKED]
            assert not held, f"{case}: {_short(removal)} touches {held}, which are LOCKED; {_ALLOWED}"

    @rule
    def test_spares_what_is_pinned(self) -> None:
        """Pinned content stays as it is: items, and whole units with a pinned item."""
        for case, removal in self._removals():
            held = [unit.number for unit in case.touched(removal) if unit.pinned]
            assert not held, f"{case}: {_short(removal)} touches unit {held}, which is pinned; {_ALLOWED}"

    @rule
    def test_spares_what_waits_for_a_result(self) -> None:
        """A call that waits for its result stays, with the existing results, which would answer nothing without it."""
        for case, removal in self._removals():
            held = [unit.number for unit in case.touched(removal) if unit.pending]
            assert not held, f"{case}: {_short(removal)} touches unit {held}, which waits for a result; {_ALLOWED}"

    @rule
    def test_spares_preservable_content_without_pressure(self) -> None:
        """PRESERVABLE content goes only when the goal says so, and then only what ``context.preservable`` offers."""
        for case, removal in self._removals():
            allowed = {unit.number for unit in case.context.preservable}
            units = (unit for unit in case.units(removal) if unit.policy is GCPolicy.PRESERVABLE)
            held = [unit.number for unit in units if unit.number not in allowed]
            item = case.item(removal)
            held += [] if item is None or item.policy is not GCPolicy.PRESERVABLE else [item.unit]
            text = "take units from context.preservable, which is empty without pressure"
            assert not held, f"{case}: {_short(removal)} touches unit {held}, which is PRESERVABLE; {text}"

    @rule
    def test_takes_only_what_the_window_offers(self) -> None:
        """Everything else that is protected, such as the newest steps and traces, is not offered."""
        for case, removal in self._removals():
            offered = {unit.number for unit in (*case.context.collectable, *case.context.preservable)}
            refused = [unit.number for unit in case.units(removal) if unit.number not in offered]
            item = case.item(removal)
            stubs = (*case.context.stubbable, *case.context.condensed)
            if item is not None and item.id not in [each.id for each in stubs]:
                refused.append(item.unit)
            assert not refused, f"{case}: {_short(removal)} touches unit {refused}, which is not offered; {_ALLOWED}"

    @rule
    def test_a_young_collection_takes_only_what_is_young(self) -> None:
        """A strategy that declares Young, asked for that, stubs items of ``context.young`` and changes nothing else."""
        for case, removal in self._removals():
            item = case.item(removal)
            wrong = case.goal.is_young and (item is None or item.id not in [each.id for each in case.context.young])
            assert not wrong, f"{case}: {_short(removal)} where goal.is_young; stub only items of context.young"

    @rule
    def test_proposes_nothing_twice(self) -> None:
        """No action comes twice: the second one is refused, and frees nothing."""
        for case, pulled in self._asked():
            actions = set[object]()
            for removal in _only_removals(pulled):
                assert removal.action not in actions, f"{case}: {_short(removal)} was proposed before; once is right"
                actions.add(removal.action)

    @rule
    def test_every_removal_says_why(self) -> None:
        """The reason appears in reports and in the ledger: a few words on one line."""
        for case, removal in self._removals():
            reason = removal.reason
            fine = isinstance(reason, str) and reason.strip() and len(reason) < LONGEST_REASON and "\n" not in reason
            text = f"expected a few words on one line, fewer than {LONGEST_REASON} characters"
            assert fine, f"{case}: {removal.action!r:.200} has the reason {reason!r:.80}; {text}"

    # -- purity ----------------------------------------------------------------------------------------------------

    @rule
    def test_same_question_same_answer(self) -> None:
        """The same window and goal give the same proposals: a dry run shows what the collection will do."""
        for case, _ in self._asked(*_FEW):
            strategy = self.make()
            _assert_same(case, pull(strategy, case.again()), pull(strategy, case.again()), "when asked again")

    @rule
    def test_remembers_nothing(self) -> None:
        """Earlier questions make no difference, and are stored nowhere: not in the object, not in its class."""
        strategy = self.make()
        kept = _kept_by(strategy)
        for case, first in reversed(self._asked(*_FEW)):
            _assert_same(case, first, pull(strategy, case.again()), "when it has seen other windows before")
        now = _kept_by(strategy)
        changed = sorted(name for name in kept.keys() | now.keys() if kept.get(name) != now.get(name))
        assert not changed, f"{strategy!r} keeps what it saw in {changed}; a strategy has no state"

    @rule
    def test_takes_nothing_from_chance_or_clock(self) -> None:
        """Another time or another random number makes no difference."""
        for case, _ in self._asked(*_FEW):
            strategy = self.make()
            first, second = (_pulled_at(strategy, case.again(), moment) for moment in MOMENTS)
            _assert_same(case, first, second, "a day later, with another random seed")

    @rule
    def test_depends_on_no_set_order(self) -> None:
        """A set of texts has another order in every process; sort it, or use a dict."""
        for case, _ in self._asked(*_FEW):
            first, second = (pull(self.make(), case.again(salt=salt)) for salt in (1, 2))
            _assert_same(case, first, second, "when the ids of items hash otherwise")

    @rule
    def test_changes_nothing_that_it_sees(self) -> None:
        """The window and the goal stay as they were; the core carries removals out."""
        for case, _ in self._asked(*_FEW):
            again = case.again()
            error = pull(self.make(), again).error
            frozen = isinstance(error, attrs.exceptions.FrozenError)
            assert not frozen, f"{case}: tries to change what it sees; propose removals instead"
            changed = sorted(changes(again.context)) + ["goal"] * (again.goal != case.goal)
            assert not changed, f"{case}: has changed {changed} of what it sees; propose removals instead"

    # -- termination -------------------------------------------------------------------------

    @rule
    def test_ends_by_itself(self) -> None:
        """Its proposals end; the core stops one that continues, and counts that as a fault."""
        for case, pulled in self._asked():
            most = f"still yielding after {len(pulled.proposals):,} proposals; expected at most a few for each item"
            assert pulled.ended, f"{case}: {most}"

    @rule
    def test_answers_any_goal(self) -> None:
        """It raises for no goal: reached or out of reach, with and without pressure."""
        for case, pulled in self._asked():
            _assert_no_error(case, pulled)

    @rule
    def test_survives_an_empty_window(self) -> None:
        """A session may collect before anything is said."""
        self._assert_survives(Shape.EMPTY)

    @rule
    def test_survives_a_window_of_one_message(self) -> None:
        """There is the request, and nothing else."""
        self._assert_survives(Shape.ONE_MESSAGE)

    @rule
    def test_survives_one_giant_turn(self) -> None:
        """An autonomous agent's whole session is one turn of very many steps; it has no old turn."""
        self._assert_survives(Shape.GIANT_TURN)

    @rule
    def test_survives_a_window_in_which_nothing_may_go(self) -> None:
        """When everything is pinned nothing is offered, except tool schemas that no visible call uses."""
        self._assert_survives(Shape.HELD)

    @rule
    def test_asks_for_no_summary_where_there_is_none(self) -> None:
        """Without ``context.can_summarize`` a proposal to summarise is refused, and frees nothing."""
        for case, removal in self._removals():
            wrong = is_summary(removal) and not case.context.can_summarize
            assert not wrong, f"{case}: {_short(removal)} where context.can_summarize is False; drop or stub instead"

    # -- freed tokens -------------------------------------------------------------------------------------------

    @rule
    def test_frees_something_while_anything_may_go(self) -> None:
        """A goal that is out of reach does not excuse freeing nothing."""
        for case in self._cases("impossible"):
            most, freed = _best(case).result.tokens_freed, self._result(case).result.tokens_freed
            assert freed > 0 or most < _CRUMBS, f"{case}: frees nothing, where {most:,} tokens may go"

    @rule
    def test_frees_what_the_goal_needs(self) -> None:
        """A goal is reached if dropping less than half of what may go would reach it."""
        for case in self._cases("moderate"):
            best, result = _best(case).result, self._result(case).result
            text = f"{result.tokens_after:,} tokens are left, where dropping the oldest leaves {best.tokens_after:,}"
            assert result.shortfall == 0 or best.shortfall > 0, f"{case}: {text}; propose more: the core stops in time"

    @rule
    def test_frees_little_more_than_the_goal_needs(self) -> None:
        """
        Proposals are small, because each goes as a whole: at most a turn, or all enrichment, leaves beyond the goal.

        A summary may cover more.
        """
        for case in self._cases("moderate"):
            result = self._result(case).result
            if any(map(is_summary, result.removals)):
                continue
            enrichment = sum(unit.tokens for unit in case.context.units if is_enrichment(unit))
            spare = max(turn.tokens for turn in case.context.turns) + enrichment
            beyond = case.goal.target_tokens - result.tokens_after
            text = f"frees {beyond:,} tokens beyond the goal, more than any turn has ({spare:,})"
            assert beyond <= spare, f"{case}: {text}; propose less at a time: the core pulls one by one"

    @rule
    def test_a_second_collection_finds_nothing_more(self) -> None:
        """Collecting again with the same goal changes nothing: each change breaks the prompt cache."""
        for case in self._cases():
            first = self._result(case)
            second = case.made.collected(self.make(), case.goal, first.context).result
            more = [_short(removal) for removal in second.removals[:2]]
            assert not more, f"{case}: a second collection would take {more}; the first one has to"

    @rule
    def test_gc_core_finds_no_fault_in_it(self) -> None:
        """The core can read every proposal, and every plan leaves a request that a provider accepts."""
        for case in self._cases():
            failures = self._result(case).result.failures
            assert not failures, f"{case}: {failures[0]}"

    # -- whole runs ----------------------------------------------------------------------------------------------

    @rule
    def test_every_request_fits(self) -> None:
        """No request has more tokens than the window has room for."""
        self._assert_kept(Promise.FITS)

    @rule
    def test_every_request_is_valid(self) -> None:
        """Every request keeps the provider's rules: calls and results pair, thinking is whole."""
        self._assert_kept(Promise.VALID)

    @rule
    def test_locked_content_stays_in_every_request(self) -> None:
        """System text, the first request and LOCKED content are in every request, byte for byte."""
        self._assert_kept(Promise.HELD)

    @rule
    def test_pins_stay(self) -> None:
        """Pinned content stays in the window verbatim."""
        self._assert_kept(Promise.PINNED)

    @rule
    def test_what_left_can_be_recalled(self) -> None:
        """Every item that left or shrank is recalled with its own text."""
        self._assert_kept(Promise.RECOVERABLE)

    @rule
    def test_requests_stay_as_sent_between_collections(self) -> None:
        """A sent request stays unchanged until a collection, and a second one with the same goal changes nothing."""
        self._assert_kept(Promise.STILL)

    @rule
    def test_every_collection_makes_the_request_smaller(self) -> None:
        """A collection that changes something frees something."""
        self._assert_kept(Promise.SMALLER)

    @rule
    def test_runs_without_a_failure(self) -> None:
        """In a whole run no failure of the strategy is recorded."""
        self._assert_kept(Promise.FAULTLESS)

    # -- inside --------------------------------------------------------------------------------------------------

    @property
    def _kind(self) -> Any:
        """The class itself, the key of cached answers; mypy does not see that classes hash."""
        return type(self)

    @property
    def _aims(self) -> tuple[str, ...]:
        """All goals; the young one only if the strategy declares it."""
        usual = tuple(field.name for field in attrs.fields(Aims))
        return (*usual, YOUNG) if any(isinstance(each, Young) for each in _triggers_of(self.make())) else usual

    def _cases(self, *aims: str) -> Iterator[Case]:
        aims = aims or self._aims
        return (_case(seed, aim) for seed in self.seeds for aim in aims)

    def _asked(self, *aims: str) -> tuple[tuple[Case, Pulled], ...]:
        """Return every case with a fresh strategy's answer: asked once, for all rules that check single answers."""
        answers = (answer for seed in self.seeds for answer in _answers(self._kind, seed))
        return tuple(answer for answer in answers if not aims or answer[0].aim in aims)

    def _removals(self) -> Iterator[tuple[Case, GCRemovalItem]]:
        """Yield every removal for every case; other rules check anything else it yields or raises."""
        for case, pulled in self._asked():
            for removal in _only_removals(pulled):
                yield case, removal

    def _assert_survives(self, shape: Shape) -> None:
        for case in itertools.chain.from_iterable(make_cases(seed, shape=shape) for seed in self.seeds[:2]):
            pulled = pull(self.make(), case)
            _assert_no_error(case, pulled)
            offered = {unit.number for unit in (*case.context.collectable, *case.context.preservable)}
            for removal in _only_removals(pulled):
                wrong = sorted({unit.number for unit in case.units(removal)} - offered)
                assert not wrong, f"{case}: {_short(removal)} touches unit {wrong}, which is not offered; {_ALLOWED}"

    def _result(self, case: Case) -> CollectionOutcome:
        try:
            return _collected(self._kind, case.made.conversation.seed, case.aim)
        except RuleError as error:
            raise AssertionError(f"{case}: {error}") from error

    def _assert_kept(self, promise: Promise) -> None:
        """Check whole runs, which take the longest: the first half of the seeds has one of every shape."""
        for seed in self.seeds[: max(1, len(self.seeds) // 2)]:
            found = _run(self._kind, seed)
            broken = found.broken.get(promise, ())
            assert not broken, f"run of seed {seed}, {found.collections} collections: {broken[0]}"


_ALLOWED = "drop units of context.collectable and .preservable, stub items of context.stubbable and .condensed"


@functools.lru_cache(maxsize=256)
def _run(contract: type[StrategyContract], seed: int) -> Run:
    """Return the run of a seed, which serves every rule on runs."""
    return run(seed, contract().make())


@functools.lru_cache(maxsize=256)
def _answers(contract: type[StrategyContract], seed: int) -> tuple[tuple[Case, Pulled], ...]:
    # A copy is asked: whatever is done to it, the case stays as it is for the other rules.
    cases = (_case(seed, aim) for aim in contract()._aims)  # noqa: SLF001 - of the class above
    return tuple((case, pull(contract().make(), case.again())) for case in cases)


@functools.lru_cache(maxsize=64)
def _made_case(seed: int, aim: str) -> Case:
    (case,) = make_cases(seed, aims=(aim,))
    return case


def _case(seed: int, aim: str) -> Case:
    """Return a case; the window is generated once, for every rule and every strategy, each goal is its own."""
    case = _made_case(seed, aim)
    return attrs.evolve(case, goal=attrs.evolve(case.goal))


@functools.lru_cache(maxsize=256)
def _collected(contract: type[StrategyContract], seed: int, aim: str) -> CollectionOutcome:
    return _case(seed, aim).collected(contract().make())


def _best(case: Case) -> CollectionOutcome:
    """Return what dropping everything that may go, oldest first, reaches."""
    return _collected(_Best()._kind, case.made.conversation.seed, case.aim)  # noqa: SLF001 - of the class above


class _Best(StrategyContract):
    strategy = Everything


def _triggers_of(strategy: GCStrategy) -> tuple[object, ...]:
    """Return its declared triggers; they are validated when a session is created with it."""
    found = getattr(strategy, "triggers", ())
    return found if isinstance(found, tuple) else ()


def _only_removals(pulled: Pulled) -> Iterator[GCRemovalItem]:
    return (proposal for proposal in pulled.proposals if isinstance(proposal, GCRemovalItem))


def _short(removal: GCRemovalItem) -> str:
    return f"{removal.action!r:.120}, {removal.reason!r:.60},"


def _misnamed(case: Case, removal: GCRemovalItem) -> str:
    """Return what is wrong with the names in a removal, or ""."""
    item = case.item(removal)
    if item is not None:
        return "" if removal.items == (item.id,) else f"has the items {removal.items}, and stubs {item.id}"
    units = case.units(removal)
    expected = tuple(item.id for unit in units for item in unit.items)
    if not units or len(units) != len(getattr(removal.action, "units", ())):
        return "names what is not in this window"
    return "" if removal.items == expected else f"has the items {removal.items}; those units hold {expected}"


def _assert_same(case: Case, first: Pulled, second: Pulled, when: str) -> None:
    """Compare item ids as texts; another rule checks errors."""
    pairs = itertools.zip_longest(first.proposals, second.proposals)
    for place, (one, other) in enumerate(pairs):
        assert one == other, f"{case}: proposal {place} is {one!r:.200}, and {when} {other!r:.200}"


def _assert_no_error(case: Case, pulled: Pulled) -> None:
    if pulled.error is not None:
        text = f"raises {type(pulled.error).__name__}: {pulled.error}; with nothing to propose, yield nothing"
        raise AssertionError(f"{case}: {text}") from pulled.error


def _pulled_at(strategy: GCStrategy, case: Case, moment: float) -> Pulled:
    with at_moment(moment):
        return pull(strategy, case)


def _kept_by(strategy: GCStrategy) -> dict[str, str]:
    """Return the data of an object and its class, as text."""
    slots = (name for owner in type(strategy).__mro__ for name in getattr(owner, "__slots__", ()))
    kept = {name: repr(getattr(strategy, name, None)) for name in slots if not name.startswith("__")}
    kept |= {name: repr(value) for name, value in getattr(strategy, "__dict__", {}).items()}
    for name, value in vars(type(strategy)).items():
        if not name.startswith("__") and not callable(value) and not inspect.isdatadescriptor(value):
            kept[f"{type(strategy).__name__}.{name}"] = repr(value)
    return kept
