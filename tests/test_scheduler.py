"""The scheduler is arithmetic: the same moment gives the same goal, by room, by money and by what was declared."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gc_core import GCConfig
from gc_core.cache.economics import Economics
from gc_core.collector.scheduler import (
    CLIFF_PERCENT,
    GROWTH,
    LEAST_CALLS,
    WORTH_PERCENT,
    Break,
    Moment,
    Scheduler,
    cheapest_distance,
)
from gc_core.errors import ConfigError
from gc_core.providers.calibration import Calibration
from gc_core.session.window_meter import Growth
from gc_core.values.results import GCTriggerReason, Goal
from gc_core.values.triggers import Major, Young

EXACT = Calibration(exact=True)
CLAUDE = Economics(read=0.1, write=1.25, ttl_seconds=300.0)
CLIFFS = (100_000, 200_000, 272_000)
YOUNG, MAJOR = Young(tokens=4_000, steps=2, least=200), Major(target_percent=50.0, conversation_percent=76.0)
REASON = GCTriggerReason
FAST = 1e9
"""Tokens a call at which the cheapest distance is beyond every window: a collection begins at the threshold."""


def scheduler(window=100_000, *, economics=CLAUDE, triggers=(YOUNG, MAJOR), growth=FAST, **config):
    levels = {"threshold_percent": 80.0, "pressure_percent": 90.0, **config}
    return Scheduler(
        config=GCConfig(context_limit=window, output_reservation=0, **levels),
        economics=economics,
        triggers=triggers,
        growth=growth,
    )


def at(tokens, **more):
    return Moment(tokens=tokens, calibration=EXACT, **more)


def young_goal(**more):
    return Goal(target_tokens=0, reason=REASON.YOUNG, **more)


moments = st.builds(
    Moment,
    tokens=st.integers(0, 300_000),
    calibration=st.builds(Calibration, exact=st.booleans()),
    turns_before=st.integers(0, 5),
    expired_tokens=st.integers(0, 9_000),
    waits_above=st.integers(0, 300_000),
    conversation_tokens=st.integers(0, 300_000),
    young_tokens=st.integers(0, 30_000),
    young_after=st.integers(0, 500),
    young_waits=st.integers(0, 30_000),
    calls=st.integers(0, 5_000),
    idle_seconds=st.floats(0, 10_000),
    broken=st.booleans(),
)
economics = st.builds(
    Economics,
    read=st.floats(0, 1),
    write=st.floats(0, 3),
    cliffs=st.sampled_from([(), CLIFFS[:1], CLIFFS]),
    ttl_seconds=st.sampled_from([300.0, 3600.0]),
)
schedulers = st.builds(
    scheduler,
    st.sampled_from([4_000, 100_000, 1_000_000]),
    economics=economics,
    triggers=st.lists(st.sampled_from([YOUNG, MAJOR]), unique=True, max_size=2).map(tuple),
    growth=st.sampled_from([0.0, GROWTH, FAST]),
    pressure_percent=st.sampled_from([90, 0]),
    defer=st.booleans(),
    max_turns=st.sampled_from([None, 2]),
)
breaks = st.builds(Break, freed=st.integers(0, 200_000), rewritten=st.integers(0, 200_000))


# --- what a break costs -----------------------------------------------------------------------------------------------


@given(
    read=st.floats(0.01, 1), more=st.floats(0, 2), freed=st.integers(1, 10**6), rewritten=st.integers(0, 10**6),
    calls=st.integers(0, 1_000),
)  # fmt: skip
def test_a_break_pays_after_as_many_calls_as_save_what_writing_again_costs(read, more, freed, rewritten, calls):
    prices = Economics(read=read, write=read + more, ttl_seconds=300.0)
    needed = Break(freed=freed, rewritten=rewritten).calls_to_break_even(prices)
    assert needed == pytest.approx((prices.write - read) * rewritten / (read * freed))
    saved, cost = calls * read * freed, (prices.write - read) * rewritten
    if abs(saved - cost) > 1e-6 * max(1.0, cost):
        assert (calls >= needed) == (saved >= cost)


def test_what_frees_nothing_never_pays():
    assert Break(freed=0, rewritten=0).calls_to_break_even(CLAUDE) == float("inf")


def test_where_writing_is_no_dearer_than_reading_a_break_is_free():
    assert Break(freed=1, rewritten=90_000).calls_to_break_even(Economics(read=0.1, write=0.1, ttl_seconds=1.0)) == 0
    assert Break(freed=1, rewritten=90_000).calls_to_break_even(Economics(read=0.1, write=0.0, ttl_seconds=1.0)) == 0


def test_where_reading_is_free_only_a_free_break_pays():
    """What is not read any more saves nothing there."""
    assert Break(freed=500, rewritten=9).calls_to_break_even(Economics(read=0.0, write=1.0, ttl_seconds=1.0)) == float(
        "inf"
    )
    assert Break(freed=500, rewritten=9).calls_to_break_even(Economics(read=0.0, write=0.0, ttl_seconds=1.0)) == 0


@given(made=schedulers, moment=moments, one=breaks, freed=st.integers(0, 9_000), nearer=st.integers(0, 9_000))
def test_more_freed_or_less_rewritten_is_never_worth_less(made, moment, one, freed, nearer):
    better = Break(freed=one.freed + freed, rewritten=max(0, one.rewritten - nearer))
    for goal in (young_goal(), Goal(target_tokens=1_000, reason=REASON.THRESHOLD)):
        assert made.is_worth(moment, better, goal) or not made.is_worth(moment, one, goal)


def test_a_session_is_expected_to_last_as_long_again():
    found = Break(freed=1_000, rewritten=2_000)  # (1.25 - 0.1) * 2,000 / (0.1 * 1,000) = 23 calls
    made = scheduler()
    assert not made.is_worth(at(20_000, calls=22), found, young_goal())
    assert made.is_worth(at(20_000, calls=23), found, young_goal())
    early = Break(freed=1_150, rewritten=1_000)  # 10 calls
    assert early.calls_to_break_even(CLAUDE) == pytest.approx(LEAST_CALLS)
    assert made.is_worth(at(20_000, calls=0), attrs.evolve(early, freed=1_151), young_goal())


def test_the_arithmetic_is_stated_in_words():
    text = scheduler().arithmetic(at(20_000, calls=40), Break(freed=1_000, rewritten=2_000))
    assert text == (
        "rewriting 2,000 cached tokens (1.25 instead of 0.1 of the input price) saves 1,000 per call (0.1): breaks even"
        " after 23.0 calls, 40 expected"
    )
    cold = scheduler().arithmetic(at(20_000, idle_seconds=301.0), Break(freed=1_000, rewritten=2_000))
    assert cold == "1,000 tokens less to read in every call; the cache is cold, so the break costs nothing"


# --- a break that costs nothing ---------------------------------------------------------------------------------------


def test_the_cache_is_cold_after_its_life_and_when_the_head_breaks():
    made = scheduler()
    assert not made.is_cold(at(1, idle_seconds=300.0))
    assert made.is_cold(at(1, idle_seconds=300.1))
    assert made.is_cold(at(1, broken=True))


def test_a_cold_cache_is_used_for_what_would_be_due_before_long():
    made = scheduler()
    assert made.before_send(at(56_000, idle_seconds=301.0)).reason is REASON.COLD_CACHE
    assert made.before_send(at(56_000, broken=True)).target_tokens == 50_000
    assert made.before_send(at(54_000, idle_seconds=301.0)) is None
    assert made.before_send(at(56_000)) is None
    assert made.before_send(at(54_000, idle_seconds=301.0, young_tokens=200)).reason is REASON.YOUNG


def test_a_strategy_without_triggers_is_not_asked_because_the_cache_is_cold():
    assert scheduler(triggers=()).before_send(at(79_000, broken=True, young_tokens=50_000)) is None


def test_a_collection_not_worth_a_warm_break_is_worth_a_cold_one():
    far = Break(freed=10, rewritten=50_000)
    assert not scheduler().is_worth(at(60_000), far, young_goal())
    assert scheduler().is_worth(at(60_000, broken=True), far, young_goal())
    assert scheduler().is_worth(at(60_000), far, Goal(target_tokens=0, reason=REASON.COLD_CACHE))
    assert not scheduler().is_worth(at(60_000), Break(freed=0, rewritten=0), Goal(target_tokens=0, reason=REASON.YOUNG))


# --- room -------------------------------------------------------------------------------------------------------------


@given(made=schedulers, moment=moments)
def test_the_same_moment_gives_the_same_goal(made, moment):
    assert made.before_send(moment) == made.before_send(moment)
    assert made.after_turn(moment, crossed=True) == attrs.evolve(made).after_turn(moment, crossed=True)


@given(made=schedulers, moment=moments, crossed=st.booleans())
def test_nothing_is_due_where_the_host_collects_by_itself(made, moment, crossed):
    made = attrs.evolve(made, config=attrs.evolve(made.config, auto_trigger=False))
    assert made.before_send(moment) is None
    assert made.after_turn(moment, crossed=crossed) is None


@given(made=schedulers, moment=moments)
def test_no_goal_is_negative_and_only_pressure_lets_preservable_content_go(made, moment):
    goal = made.before_send(moment)
    if goal is None:
        return
    assert goal.target_tokens >= 0
    if made.config.continuous or made.usage(moment) < made.config.pressure_percent or goal.is_young:
        assert not goal.pressure


@given(made=schedulers, moment=moments)
def test_over_the_threshold_a_collection_is_due_unless_the_last_one_waits(made, moment):
    if made.crossed(moment) and moment.tokens >= moment.waits_above:
        goal = made.before_send(moment)
        assert goal.reason in {REASON.THRESHOLD, REASON.CONTINUOUS}
        assert goal.target_tokens <= moment.tokens


def test_with_the_hosts_own_schedule_nothing_is_checked_before_a_call():
    assert scheduler(check_before_send=False).before_send(at(99_000)) is None


def test_a_reply_that_crossed_the_threshold_while_it_streamed_is_enough():
    assert scheduler().after_turn(at(70_000), crossed=False) is None
    assert scheduler().after_turn(at(70_000), crossed=True).reason is REASON.THRESHOLD


def test_crumbs_are_not_worth_a_break_unless_they_reach_the_target():
    made, moment = scheduler(), at(85_000)
    goal = made.before_send(moment)
    least = int(made.config.usable * WORTH_PERCENT / 100.0)
    assert not made.is_worth(moment, Break(freed=least - 1, rewritten=0), goal)
    assert made.is_worth(moment, Break(freed=least, rewritten=80_000), goal)
    assert made.is_worth(moment, Break(freed=10, rewritten=80_000), attrs.evolve(goal, target_tokens=84_990))
    assert made.next_try(moment) == 85_000 + least


def test_what_would_not_fit_is_always_worth_it():
    made = scheduler()
    assert made.is_worth(at(100_001), Break(freed=1, rewritten=99_000), Goal(target_tokens=0, reason=REASON.THRESHOLD))


def test_a_conversation_that_reaches_its_cap_is_collected_below_the_threshold():
    made = scheduler(threshold_percent=90, pressure_percent=95)
    assert made.before_send(at(80_000, conversation_tokens=75_999)) is None
    goal = made.before_send(at(80_000, conversation_tokens=76_000))
    assert (goal.reason, goal.target_tokens) == (REASON.THRESHOLD, 50_000)
    assert (goal.window_percent, goal.conversation_percent) == (80.0, 76.0)


def test_the_deeper_of_two_targets_holds():
    assert scheduler().before_send(at(85_000)).target_tokens == 50_000
    assert scheduler(target_percent=30).before_send(at(85_000)).target_tokens == 30_000
    assert scheduler(triggers=(MAJOR, Major(target_percent=20.0))).before_send(at(85_000)).target_tokens == 20_000


def test_in_a_large_window_it_goes_down_to_a_base_and_a_share_where_that_is_less():
    major = Major(target_percent=50.0, base_tokens=10_000, more_percent=25.0)
    assert [major.kept_percent(usable) for usable in (20_000, 40_000, 100_000)] == [50.0, 50.0, 35.0]
    assert scheduler(triggers=(major,)).before_send(at(85_000)).target_tokens == 35_000
    assert Major(target_percent=50.0).kept_percent(10**9) == 50.0


def test_a_target_that_is_not_a_percentage_is_refused():
    with pytest.raises(ConfigError, match="target_percent"):
        scheduler().manual(at(10), 101)
    assert scheduler().manual(at(90_000), 0).target_tokens == 0


# --- where a collection begins ----------------------------------------------------------------------------------------

DEAR = Economics(read=0.1, write=1.35, ttl_seconds=300.0)
"""2 (w - r) / r is 25, so 40,000 tokens kept and 900 new ones a call make sqrt(25 * 36,000,000) = 30,000."""
UNCACHED = Economics(read=1.0, write=1.0, ttl_seconds=0.0)


def test_the_cheapest_distance_is_the_root_of_what_is_kept_times_what_a_call_adds():
    assert cheapest_distance(DEAR, kept=40_000, growth=900) == pytest.approx(30_000)
    assert cheapest_distance(DEAR, kept=10_000, growth=900) == pytest.approx(15_000)
    assert cheapest_distance(DEAR, kept=40_000, growth=225) == pytest.approx(15_000)


@given(
    read=st.floats(0.01, 1), more=st.floats(0.001, 3), kept=st.floats(1, 10**6), growth=st.floats(1, 10**5),
    factor=st.sampled_from([0.5, 0.8, 1.25, 2.0]),
)  # fmt: skip
def test_no_other_distance_costs_less_a_call(read, more, kept, growth, factor):
    prices = Economics(read=read, write=read + more, ttl_seconds=300.0)

    def cost(distance):
        return (prices.write - prices.read) * kept * growth / distance + prices.read * distance / 2

    cheapest = cheapest_distance(prices, kept=kept, growth=growth)
    assert cost(cheapest) <= cost(factor * cheapest) * (1 + 1e-9)


def test_a_collection_begins_as_far_above_the_target_as_is_cheapest():
    made = scheduler(economics=DEAR, triggers=(), target_percent=40, growth=900)
    assert made.threshold_percent == pytest.approx(70)
    assert made.before_send(at(69_000)) is None
    goal = made.before_send(at(71_000))
    assert (goal.reason, goal.target_tokens) == (REASON.THRESHOLD, 40_000)
    assert made.crossed(at(71_000))
    assert not made.crossed(at(69_000))


def test_the_deeper_target_of_a_strategy_counts_as_what_is_kept():
    made = scheduler(economics=DEAR, triggers=(Major(target_percent=10.0),), growth=900)
    assert made.threshold_percent == pytest.approx(25)


def test_where_reading_is_free_a_collection_waits_for_the_limit():
    free = Economics(read=0.0, write=1.0, ttl_seconds=300.0)
    assert cheapest_distance(free, kept=1, growth=0) == float("inf")
    made = scheduler(economics=free, triggers=(), target_percent=10, growth=0.0)
    assert made.threshold_percent == 80


@pytest.mark.parametrize("prices", [UNCACHED, attrs.evolve(UNCACHED, write=0.5)], ids=["as dear", "cheaper"])
def test_where_nothing_is_cached_it_begins_a_twentieth_of_the_window_above_the_target(prices):
    assert cheapest_distance(prices, kept=40_000, growth=900) == 0
    made = scheduler(economics=prices, triggers=(), target_percent=40)
    assert made.threshold_percent == 45
    assert made.before_send(at(44_999)) is None
    assert made.before_send(at(45_000)).target_tokens == 40_000


def test_a_distance_below_a_twentieth_of_the_window_is_not_worth_its_breaks():
    assert scheduler(economics=DEAR, triggers=(), target_percent=40, growth=1.0).threshold_percent == 45


@given(made=schedulers, growth=st.floats(0, FAST), target=st.floats(1, 100), limit=st.floats(1, 100))
def test_the_limit_of_the_user_always_holds(made, growth, target, limit):
    target, limit = sorted((target, limit))
    config = attrs.evolve(made.config, target_percent=target, threshold_percent=limit, pressure_percent=100)
    made = attrs.evolve(made, config=config, growth=growth)
    assert made.threshold_percent <= limit
    assert made.threshold_percent >= min(limit, made.target_percent + WORTH_PERCENT)


def test_a_budget_in_tokens_is_a_limit_too():
    made = scheduler(triggers=(), token_budget=50_000)
    assert made.threshold_percent == 50
    assert made.before_send(at(50_000)).reason is REASON.THRESHOLD


# --- how fast a window grows ------------------------------------------------------------------------------------------


def requests(*tokens, growth=None):
    """The growth once requests of so many tokens have gone out, one after the other."""
    growth = growth or Growth()
    for each in tokens:
        growth = growth.after(each)
    return growth


def test_before_anything_is_known_a_call_adds_what_is_usual():
    assert Growth().per_call == GROWTH == 900
    assert requests(30_000).per_call == 900, "the first request says how much there is, not how much a call adds"


def test_growth_is_learned_from_calls_and_what_is_usual_counts_as_ten_of_them():
    assert requests(5_000, 7_000).per_call == pytest.approx((10 * 900 + 2_000) / 11)
    assert requests(*range(5_000, 5_001 + 10 * 2_700, 2_700)).per_call == pytest.approx((900 + 2_700) / 2)
    assert requests(*range(0, 500_001, 500)).per_call == pytest.approx(500, rel=0.01)


def test_tokens_freed_by_a_collection_are_not_negative_growth():
    collected = requests(5_000, 50_000).freed(30_000)
    assert requests(21_500, growth=collected).grown == 45_000 + 1_500
    assert requests(21_500, growth=collected).calls == 2
    assert requests(4_000, growth=collected).grown == 45_000, "whatever else made the window smaller"
    assert Growth().freed(500) == Growth(), "nothing has been sent that could have shrunk"


# --- continuous mode --------------------------------------------------------------------------------------------------


@given(moment=moments, found=breaks)
def test_in_continuous_mode_everything_above_the_target_goes_unless_the_host_lets_it_wait(moment, found):
    made = scheduler(pressure_percent=0)
    moment = attrs.evolve(moment, waits_above=0)
    goal = made.after_turn(moment, crossed=False)
    if made.usage(moment) > 60:
        assert goal.reason is REASON.CONTINUOUS
        assert made.is_worth(moment, found, goal)


@given(found=breaks, calls=st.integers(0, 1_000), tokens=st.integers(60_001, 100_000))
def test_what_may_wait_waits_below_the_threshold_until_it_pays(found, calls, tokens):
    made, moment = scheduler(pressure_percent=0, defer=True), at(tokens, calls=calls)
    goal = made.after_turn(moment, crossed=False)
    pays = found.freed > 0 and found.calls_to_break_even(CLAUDE) <= max(LEAST_CALLS, calls)
    assert made.is_worth(moment, found, goal) == (pays or tokens >= 80_000)


# --- price cliffs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cliff", CLIFFS)
def test_just_below_a_price_cliff_a_collection_goes_under_it(cliff):
    made = scheduler(1_000_000, economics=attrs.evolve(CLAUDE, cliffs=CLIFFS))
    near = int(cliff * CLIFF_PERCENT / 100)
    goal = made.before_send(at(near))
    assert (goal.reason, goal.target_tokens) == (REASON.PRICE, cliff // 2)
    below = made.before_send(at(near - 1))
    assert below is None or below.target_tokens < cliff // 2  # of the cliff before this one


def test_a_price_cliff_that_the_window_never_reaches_is_none():
    made = scheduler(200_000, economics=attrs.evolve(CLAUDE, cliffs=(200_000,)))
    assert made.before_send(at(159_000)) is None


def test_a_collection_that_stays_over_the_cliff_is_not_worth_its_break():
    made = scheduler(1_000_000, economics=attrs.evolve(CLAUDE, cliffs=(200_000,)))
    moment = at(210_000)
    goal = made.before_send(moment)
    assert not made.is_worth(moment, Break(freed=10_000, rewritten=100_000), goal)
    assert made.is_worth(moment, Break(freed=20_000, rewritten=200_000), goal)
    assert made.before_send(attrs.evolve(moment, waits_above=260_000)) is None


# --- young content ----------------------------------------------------------------------------------------------------


def test_young_content_is_due_when_enough_was_served_and_waits_when_it_was_not_worth_it():
    made = scheduler()
    assert made.before_send(at(30_000, young_tokens=3_999)) is None
    goal = made.before_send(at(30_000, young_tokens=4_000, young_after=17))
    assert (goal.reason, goal.young_after, goal.target_tokens) == (REASON.YOUNG, 17, 0)
    assert goal.is_young
    assert made.before_send(at(30_000, young_tokens=4_999, young_waits=5_000)) is None
    assert made.before_send(at(30_000, young_tokens=5_000, young_waits=5_000)).is_young


def test_without_a_nursery_nothing_is_young():
    assert scheduler(triggers=(MAJOR,)).before_send(at(30_000, young_tokens=90_000)) is None


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Young, {"tokens": 0}),
        (Young, {"tokens": 1, "steps": -1}),
        (Young, {"tokens": 1, "least": -1}),
        (Major, {"target_percent": 101}),
        (Major, {"target_percent": 1, "conversation_percent": -1}),
        (Major, {"target_percent": 1, "base_tokens": -1}),
        (Major, {"target_percent": 1, "base_tokens": 1, "more_percent": 101}),
    ],
)
def test_a_trigger_that_cannot_be_is_refused(kind, values):
    with pytest.raises((ValueError, ConfigError), match=next(reversed(values))):
        kind(**values)


# --- turns ------------------------------------------------------------------------------------------------------------


def test_a_turn_too_many_lets_the_oldest_go():
    goal = scheduler(max_turns=3).before_send(at(30_000, turns_before=2, expired_tokens=1_000))
    assert (goal.reason, goal.target_tokens, goal.turns_before) == (REASON.TURN_LIMIT, 29_000, 2)
    assert scheduler(max_turns=4).before_send(at(30_000, turns_before=1)) is None
