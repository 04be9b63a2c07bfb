"""The kit for authors of plugins: good ones pass, and each bad one fails by the rule that names its fault."""

import asyncio
import itertools
import random
import threading
import time
import unittest
from typing import ClassVar

import attrs
import pytest

from gc_core import GCPolicy, GCRemovalItem, NoGC
from gc_core.providers.model_families import family
from gc_core.providers.rules import check_request
from gc_core.providers.token_counting import EstimatedCounter, TiktokenCounter
from gc_core.testing import (
    AsyncFakeSummarizer,
    CounterContract,
    FakeSummarizer,
    Shape,
    StrategyContract,
    SummarizerContract,
    echoed,
    make_cases,
    make_context,
    make_conversation,
    make_goals,
    make_session,
    make_summary_request,
    slow,
    swollen,
    told,
)
from tests.support.checker import complaints
from tests.support.inside import window_of
from tests.support.say import Letters

TICKS = itertools.count()


# --- good ones --------------------------------------------------------------------------------------------------------


@attrs.frozen
class Largest:
    """The largest units go first, so that few are lost."""

    spare_below: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    def collect(self, context, goal):
        for unit in sorted(context.collectable, key=lambda unit: unit.tokens, reverse=True):
            if unit.tokens >= self.spare_below:
                yield drop(unit)
        if goal.pressure:
            yield from map(drop, context.preservable)


class Digests:
    """What is old goes into summaries, four units each; where there is no summarizer it is dropped."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        units = context.collectable
        for place in range(0, len(units), 4):
            group = units[place : place + 4]
            if context.can_summarize and all(unit.number > 0 for unit in group):
                yield GCRemovalItem.summarize(group, max_tokens=200, reason="old")
            yield from map(drop, group)


def drop(unit, reason="largest"):
    return GCRemovalItem.drop(unit, reason=reason)


class TestNoGC(StrategyContract):
    strategy = NoGC
    name = "none"
    weakened: ClassVar = {
        "test_frees_something_while_anything_may_go": "it collects nothing, on purpose",
        "test_frees_what_the_goal_needs": "it collects nothing, on purpose",
    }


class TestLargest(StrategyContract):
    strategy = Largest
    bad_options = ({"spare_below": -1}, {"spare": 1})


class TestDigests(StrategyContract):
    strategy = Digests
    seeds = (0, 1, 2, 3)


# --- bad ones ---------------------------------------------------------------------------------------------------------


class Bad:
    """Each subclass has one fault; ``fault`` is the rule that names it."""

    fault = ""

    def collect(self, context, goal):
        yield from Largest().collect(context, goal)


class YieldsRubbish(Bad):
    fault = "test_yields_removal_items_and_nothing_else"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        yield "the oldest"


class YieldsUnits(Bad):
    fault = "test_yields_removal_items_and_nothing_else"

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        return context.collectable


class NamesAnotherWindow(Bad):
    fault = "test_names_units_and_items_of_this_window"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        yield GCRemovalItem(action=drop(context.units[0]).action.__class__((98_765,)), reason="gone")


class NamesTheWrongItems(Bad):
    fault = "test_names_units_and_items_of_this_window"

    def collect(self, context, goal):
        for removal in super().collect(context, goal):
            yield attrs.evolve(removal, items=removal.items[:-1])


class TakesLocked(Bad):
    fault = "test_spares_what_is_locked"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        yield from (drop(unit) for unit in context.units if unit.policy is GCPolicy.LOCKED)


class TakesPinned(Bad):
    fault = "test_spares_what_is_pinned"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        yield from (drop(unit) for unit in context.units if unit.pinned)


class StubsPinned(Bad):
    fault = "test_spares_what_is_pinned"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        items = (item for unit in context.units for item in unit.items if item.pinned)
        yield from (GCRemovalItem.stub(item, reason="long") for item in items)


class TakesWhatWaits(Bad):
    fault = "test_spares_what_waits_for_a_result"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        yield from (drop(unit) for unit in context.units if unit.pending)


class TakesPreservable(Bad):
    fault = "test_spares_preservable_content_without_pressure"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        users = (unit for unit in context.units if unit.policy is GCPolicy.PRESERVABLE and not unit.pinned)
        yield from map(drop, users)


class TakesTheNewest(Bad):
    fault = "test_takes_only_what_the_window_offers"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        steps = [unit for unit in context.units if unit.is_step and unit.policy is GCPolicy.PARTIAL]
        yield from (drop(unit) for unit in steps[-1:] if not unit.pinned and not unit.pending)


class TakesTraces(Bad):
    fault = "test_takes_only_what_the_window_offers"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        yield from (drop(unit) for unit in context.units if unit.is_trace)


class StubsWhatIsNoResult(Bad):
    fault = "test_takes_only_what_the_window_offers"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        items = (item for unit in context.collectable for item in unit.items if item.policy is GCPolicy.PARTIAL)
        yield from (GCRemovalItem.stub(item, reason="long") for item in items)


class RepeatsItself(Bad):
    fault = "test_proposes_nothing_twice"

    def collect(self, context, goal):
        return [*super().collect(context, goal), *super().collect(context, goal)]


class SaysNoReason(Bad):
    fault = "test_every_removal_says_why"
    reason = ""

    def collect(self, context, goal):
        for removal in super().collect(context, goal):
            object.__setattr__(removal, "reason", self.reason)  # the constructor would refuse it
            yield removal


class SaysTooMuch(SaysNoReason):
    reason = "because " * 50


class SaysLines(SaysNoReason):
    reason = "old\nand large"


class Counts(Bad):
    """Depends on what it was asked before."""

    fault = "test_same_question_same_answer"
    asked: ClassVar[list[int]] = []

    def collect(self, context, goal):
        self.asked.append(len(context.units))
        return list(super().collect(context, goal))[len(self.asked) % 3 :]


class Remembers(Bad):
    fault = "test_remembers_nothing"

    def __init__(self):
        self.seen = set()

    def collect(self, context, goal):
        self.seen.add(context.tokens)
        yield from super().collect(context, goal)


class RemembersInItsClass(Bad):
    fault = "test_remembers_nothing"
    seen: ClassVar[set[int]] = set()

    def collect(self, context, goal):
        if goal.pressure:
            self.seen.update(unit.number for unit in context.units)
        yield from super().collect(context, goal)


class Rolls(Bad):
    fault = "test_takes_nothing_from_chance_or_clock"

    def collect(self, context, goal):
        removals = list(super().collect(context, goal))
        random.shuffle(removals)
        return removals


class AsksTheClock(Bad):
    fault = "test_takes_nothing_from_chance_or_clock"

    def collect(self, context, goal):
        removals = list(super().collect(context, goal))
        return removals if int(time.time()) % 2 else removals[::-1]


class WalksASet(Bad):
    fault = "test_depends_on_no_set_order"

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        yield from map(drop, {unit.items[0].id: unit for unit in context.collectable}.values())
        items = {item.id: item for item in context.stubbable}
        for key in set(items):
            yield GCRemovalItem.stub(items[key], keep=0.2, reason="long")


class ChangesItems(Bad):
    fault = "test_changes_nothing_that_it_sees"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        for item in context.stubbable:
            object.__setattr__(item, "tokens", 1)


class ChangesTheGoal(Bad):
    fault = "test_changes_nothing_that_it_sees"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        object.__setattr__(goal, "target_tokens", 0)


class AssignsItems(Bad):
    fault = "test_changes_nothing_that_it_sees"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        context.units[0].items[0].text = ""


class NeverStops(Bad):
    fault = "test_ends_by_itself"

    def collect(self, context, goal):
        while True:
            yield from super().collect(context, goal)
            yield GCRemovalItem.drop(*context.collectable[:1], reason="again")


class RaisesOnAnEmptyWindow(Bad):
    fault = "test_survives_an_empty_window"

    def collect(self, context, goal):
        first = context.units[0]
        return [removal for removal in super().collect(context, goal) if removal.items[0] != first.items[0].id]


class RaisesOnOneMessage(Bad):
    fault = "test_survives_a_window_of_one_message"

    def collect(self, context, goal):
        if len(context.units) == 1:
            raise ZeroDivisionError
        return super().collect(context, goal)


class RaisesWithoutOldTurns(Bad):
    fault = "test_survives_one_giant_turn"

    def collect(self, context, goal):
        oldest = min(context.turns, key=lambda turn: turn.number)
        if len(context.turns) < 3 and len(oldest.units) > 20:
            raise ValueError("no turn to take")
        return super().collect(context, goal)


class RaisesWhereNothingMayGo(Bad):
    fault = "test_survives_a_window_in_which_nothing_may_go"

    def collect(self, context, goal):
        if context.units and all(unit.pinned for unit in context.units):
            raise ValueError("nothing to do")
        return super().collect(context, goal)


class RaisesOnSomeGoal(Bad):
    fault = "test_answers_any_goal"

    def collect(self, context, goal):
        share = context.tokens / goal.target_tokens
        yield from (removal for removal in super().collect(context, goal) if share > 0)


class ReturnsNothing(Bad):
    fault = "test_answers_any_goal"

    def collect(self, context, goal):
        """None is no iterable."""


class KnowsTooMuch(Bad):
    """Uses what the core's own window has, and ``ContextView`` does not promise."""

    fault = "test_answers_any_goal"

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        return [drop(unit) for unit in context.in_zone("old")]


class SummarisesAnyway(Bad):
    fault = "test_asks_for_no_summary_where_there_is_none"

    def collect(self, context, goal):
        units = [unit for unit in context.collectable if unit.number > 0 and not context.is_recent(unit)]
        if units:
            yield GCRemovalItem.summarize(units[:2], max_tokens=100, reason="old")
        yield from super().collect(context, goal)


class FreesNothing(Bad):
    fault = "test_frees_something_while_anything_may_go"

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        return ()


class GivesUpOnHardGoals(Bad):
    fault = "test_frees_something_while_anything_may_go"

    def collect(self, context, goal):
        removals = list(super().collect(context, goal))
        return removals if goal.target_tokens > 0 else []


class FreesTooLittle(Bad):
    fault = "test_frees_what_the_goal_needs"

    def collect(self, context, goal):
        return list(super().collect(context, goal))[:2]


class TakesRecentStepsAlone(Bad):
    fault = "test_frees_what_the_goal_needs"

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for unit in reversed(context.collectable):
            if context.is_recent(unit):
                yield drop(unit, "newest first")


class SwallowsEverything(Bad):
    fault = "test_frees_little_more_than_the_goal_needs"

    def collect(self, context, goal):
        old = [unit for unit in context.collectable if not context.is_recent(unit)]
        if old:
            yield GCRemovalItem.drop(*old, reason="all that is old")
        yield from super().collect(context, goal)


class HalvesTheRest(Bad):
    """However often it is asked, half of what is left goes."""

    fault = "test_a_second_collection_finds_nothing_more"

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        yield from map(drop, context.collectable[: (len(context.collectable) + 1) // 2])


class FailsInTheCore(Bad):
    fault = "test_gc_core_finds_no_fault_in_it"

    def collect(self, context, goal):
        yield from super().collect(context, goal)
        raise ZeroDivisionError


class FailsInARun(Bad):
    """It goes wrong only where an earlier collection of its own has left something."""

    fault = "test_runs_without_a_failure"

    def collect(self, context, goal):
        for unit in context.units:
            if unit.is_trace and unit.items[0].reference.hint == "":
                raise ValueError("a trace")
        yield from super().collect(context, goal)


class TakesNoGoal(Bad):
    fault = "test_is_a_strategy"

    def collect(self, context):
        return map(drop, context.collectable)


class TakesBadOptions(Bad):
    fault = "test_bad_options_die_in_the_constructor"

    def __init__(self, keep=0.5):
        self.keep = keep


BAD = [*Bad.__subclasses__(), SaysTooMuch, SaysLines]


def contract_of(strategy_class, **more):
    return type("TestSome", (StrategyContract,), {"strategy": strategy_class, "seeds": (0, 1, 2, 3), **more})()


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.__name__)
def test_a_bad_strategy_fails_by_the_rule_that_names_its_fault(bad):
    more = {"seeds": (3, 7, 11)} if bad is SwallowsEverything else {}  # chats: there a turn is small
    contract = contract_of(bad, bad_options=({"keep": 7},) if bad is TakesBadOptions else (), **more)
    with pytest.raises(AssertionError) as failure:
        getattr(contract, bad.fault)()
    assert "seed" in str(failure.value) or bad in {TakesNoGoal, TakesBadOptions, Remembers, RemembersInItsClass}


def test_a_strategy_under_another_name_is_reported():
    contract = contract_of(Largest, name="gc_truncate")
    with pytest.raises(AssertionError, match="'gc_truncate' is"):
        contract.test_is_found_under_its_name()


# --- weakening --------------------------------------------------------------------------------------------------------

ON_RULES = "test_weakens_no_rule_in_silence"


def test_a_weakened_rule_is_skipped_and_says_why():
    contract = contract_of(FreesNothing, weakened={FreesNothing.fault: "it only watches"})
    with pytest.raises(unittest.SkipTest, match="it only watches"):
        getattr(contract, FreesNothing.fault)()
    contract.test_weakens_no_rule_in_silence()


@pytest.mark.parametrize(
    ("weakened", "said"),
    [
        ({"test_no_such_rule": "why"}, "is not a rule here"),
        ({ON_RULES: "why"}, "is not a rule here"),
        ({FreesNothing.fault: ""}, "has no reason"),
        ({FreesNothing.fault: " \n"}, "has no reason"),
        ({FreesNothing.fault: None}, "expected the reason in words"),
    ],
)
def test_weakening_an_unknown_rule_or_without_a_reason_fails(weakened, said):
    contract = contract_of(FreesNothing, weakened=weakened)
    with pytest.raises(AssertionError, match=said):
        contract.test_weakens_no_rule_in_silence()


def test_a_rule_weakened_without_a_reason_still_holds():
    with pytest.raises(AssertionError, match="frees nothing"):
        getattr(contract_of(FreesNothing, weakened={FreesNothing.fault: " "}), FreesNothing.fault)()


@pytest.mark.parametrize("replacement", [lambda contract: None, None], ids=["another method", "nothing"])  # noqa: ARG005
def test_replacing_a_rule_fails_unless_it_is_named(replacement):
    silent = contract_of(FreesNothing, **{FreesNothing.fault: replacement})
    with pytest.raises(AssertionError, match=FreesNothing.fault):
        silent.test_weakens_no_rule_in_silence()
    named = contract_of(FreesNothing, **{FreesNothing.fault: replacement}, weakened={FreesNothing.fault: "mine"})
    named.test_weakens_no_rule_in_silence()


def test_the_rule_about_rules_cannot_be_replaced():
    with pytest.raises(TypeError, match=ON_RULES):
        contract_of(FreesNothing, **{ON_RULES: lambda contract: None})  # noqa: ARG005


def test_a_contract_without_seeds_fails():
    with pytest.raises(AssertionError, match="seeds is empty"):
        contract_of(Largest, seeds=()).test_weakens_no_rule_in_silence()


@pytest.mark.parametrize("contract", [StrategyContract, SummarizerContract, CounterContract])
def test_every_test_of_a_contract_is_a_rule_with_its_reason(contract):
    rules = dict(contract.rules())
    tests = {name for name in dir(contract) if name.startswith("test_")}
    assert set(rules) == tests - {ON_RULES}
    assert all(len(method.__doc__.split()) > 5 for method in rules.values())


# --- made sessions ----------------------------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_and_another_one_another():
    assert make_conversation(3) == make_conversation(3)
    assert make_conversation(3).messages != make_conversation(7).messages
    assert make_context(5).units == make_context(5).units


@pytest.mark.parametrize("seed", range(8))
def test_made_sessions_are_what_a_provider_takes(seed):
    conversation = make_conversation(seed)
    with make_session(seed) as session:
        request = window_of(session).render()
        pending = bool(window_of(session).open_calls)
        assert check_request(request, pending=pending) == ()
        if not pending:
            assert complaints(conversation.format, request.kwargs()) == []


def test_made_windows_hold_all_that_a_strategy_may_meet():
    windows = [make_context(seed, pressure=True) for seed in range(8)]
    items = [item for window in windows for unit in window.units for item in unit.items]
    units = [unit for window in windows for unit in window.units]
    assert {item.policy for item in items} == set(GCPolicy)
    assert {"thinking", "enrichment", "tool_call", "tool_result", "trace"} <= {item.kind.value for item in items}
    assert any(item.reference for item in items if item.kind.value == "tool_result")
    assert any(item.is_error for item in items)
    assert any(unit.pinned for unit in units)
    assert any(unit.pending for unit in units)
    assert any(unit.number < 0 for window in windows for unit in window.collectable)
    assert any(window.liveness.superseded(item) for window in windows for item in window.stubbable)
    assert any(window.preservable for window in windows)
    assert any(len(window.turns) == 1 or len(window.turns[0].units) > 30 for window in windows)


def test_goals_go_with_their_window():
    context = make_context(0, pressure=True)
    goals = make_goals(context)
    targets = [goal.target_tokens for _, goal in goals.named()]
    assert targets == sorted(targets, reverse=True)
    assert goals.none.target_tokens == context.tokens
    assert goals.pressure.pressure
    assert not make_goals(make_context(0)).deep.pressure
    assert {case.aim: case.goal for case in make_cases(0)}["pressure"] == goals.pressure


def test_shape_and_format_can_be_chosen():
    assert make_context(0, shape=Shape.EMPTY).units == ()
    assert len(make_context(0, shape=Shape.ONE_MESSAGE, format="anthropic").units) == 1
    assert make_context(0, can_summarize=True).can_summarize


# --- summarizers ------------------------------------------------------------------------------------------------------


class TestFake(SummarizerContract):
    summarizer = FakeSummarizer
    deterministic = True


class TestAsyncFake(SummarizerContract):
    summarizer = AsyncFakeSummarizer
    deterministic = True
    seeds = (0, 1)


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (None, "test_answers_with_a_text"),
        ("", "test_answers_with_a_text"),
        (" \n", "test_answers_with_a_text"),
        (echoed, "test_keeps_within_max_tokens"),
        (echoed, "test_is_shorter_than_what_it_stands_for"),
        (swollen, "test_is_shorter_than_what_it_stands_for"),
        (lambda request: f"{request.first_turn} {next(TICKS)}", "test_same_request_same_text"),
        (lambda request: object.__setattr__(request, "focus", "x") or "A.", "test_changes_nothing_in_the_request"),
        ("Re-read the file.", "test_asks_for_nothing_and_has_no_preamble"),
        ("Here is a summary: it went well.", "test_asks_for_nothing_and_has_no_preamble"),
        (echoed, "test_obeys_nothing_that_it_reads"),
        (lambda request: request.items[0].text.split("word ")[-1].split(".")[0], "test_obeys_nothing_that_it_reads"),
        ("[gc: 5 tokens left out]", "test_writes_no_frame"),
        (TimeoutError("busy"), "test_answers_odd_requests"),
        (lambda request: request.items[99].text, "test_answers_odd_requests"),
        (None, "test_answers_odd_requests"),
    ],
)
def test_a_bad_summarizer_fails_by_the_rule_that_names_its_fault(step, fault):
    class TestBad(SummarizerContract):
        seeds = (0, 1)
        deterministic = True

        def make(self):
            return FakeSummarizer(step)

    with pytest.raises(AssertionError):
        getattr(TestBad(), fault)()


def test_a_fake_summarizer_does_what_its_script_says_and_keeps_what_it_was_asked():
    request = make_summary_request(0, max_tokens=90)
    fake = FakeSummarizer("one", None, TimeoutError("busy"), echoed, slow(0.01, "late"), told)
    assert fake.summarize(request) == "one"
    assert fake.summarize(request) is None
    with pytest.raises(TimeoutError, match="busy"):
        fake.summarize(request)
    assert fake.summarize(request) == echoed(request)
    assert fake.summarize(request) == "late"
    assert fake.summarize(request) == fake.summarize(request) == told(request)
    assert fake.requests == [request] * 7
    late = AsyncFakeSummarizer("one")
    assert asyncio.run(late.summarize(request)) == "one"
    assert late.requests == [request]


def test_made_requests_are_like_real_ones():
    for seed in range(8):
        request = make_summary_request(seed)
        assert request == make_summary_request(seed)
        assert request.max_tokens < sum(item.original_tokens for item in request.items)
        assert request.first_turn <= request.last_turn
        assert len(set(request.names)) == len(request.names)


# --- counters ---------------------------------------------------------------------------------------------------------


class TestTiktoken(CounterContract):
    counter = TiktokenCounter


class TestCl100k(CounterContract):
    def make(self):
        return TiktokenCounter(name="cl100k_base")


class TestEstimated(CounterContract):
    def make(self):
        return EstimatedCounter(family=family(None, "anthropic"))


class Ascii(Letters):
    def count(self, text):
        return len(text.encode("ascii"))


class Words(Letters):
    def count(self, text):
        return len(text.split()) + 1


class Lines(Letters):
    def count(self, text):
        return text.count("\n")


class Squares(Letters):
    def count(self, text):
        return len(text) ** 2


class Shrinks(Letters):
    def count(self, text):
        return 1000 // len(text) + 1 if text else 0


class Halves(Letters):
    def count(self, text):
        return len(text) / 2


class Marks(Letters):
    def count(self, text):
        return 3 if text.startswith("<|") else len(text)


class Moody(Letters):
    def count(self, text):
        return len(text) + 1000 * next(TICKS) if text else 0


class Nameless(Letters):
    name = " "


class Framed(Letters):
    per_message = -1


class Blind(Letters):
    def count_image(self, image):
        return image.width * image.height / 750


class Thoughtless(Letters):
    def count_thinking(self, part):
        return len(part.text)


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (Ascii, "test_counts_any_text"),
        (Halves, "test_counts_any_text"),
        (Words, "test_nothing_costs_nothing"),
        (Lines, "test_something_costs_something"),
        (Marks, "test_special_tokens_are_ordinary_text"),
        (Moody, "test_same_text_same_count"),
        (Squares, "test_two_texts_cost_no_more_together"),
        (Shrinks, "test_more_text_costs_more"),
        (Framed, "test_framing_is_a_whole_number"),
        (Nameless, "test_says_its_name_and_whether_it_is_exact"),
        (Blind, "test_counts_any_image"),
        (Thoughtless, "test_counts_thinking"),
    ],
)
def test_a_bad_counter_fails_by_the_rule_that_names_its_fault(bad, fault):
    contract = type("TestBad", (CounterContract,), {"counter": bad})()
    with pytest.raises(AssertionError):
        getattr(contract, fault)()


def test_a_strategy_that_never_answers_fails_a_rule_which_says_where_it_hangs():
    ended = threading.Event()

    class Hangs(Bad):
        def collect(self, context, goal):
            ended.wait()
            yield from super().collect(context, goal)

    class TestHangs(StrategyContract):
        strategy = Hangs
        seconds = 1.0
        seeds = (0,)

    TestLargest().test_survives_an_empty_window()  # what is made once is made
    try:
        with pytest.raises(AssertionError, match=r"(?s)takes longer than 1 s; .*in collect"):
            TestHangs().test_survives_an_empty_window()
        with pytest.raises(AssertionError, match=r"not asked: TestHangs\.test_survives_an_empty_window"):
            TestHangs().test_every_removal_says_why()
    finally:
        ended.set()
