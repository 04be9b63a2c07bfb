"""What a budget of tokens should hold of three tiers: never more than it, the hot newest first, each its share."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gc_core import ContextPacker
from gc_core.items import Item, ItemKind, Unit
from gc_core.policy import GCPolicy


def unit(number, tokens):
    item = Item(
        id=f"i{number}", kind=ItemKind.TOOL_RESULT, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=tokens,
        original_tokens=tokens, text="", unit=number, turn=0,
    )  # fmt: skip
    return Unit(number=number, turn=0, step=number, items=(item,), tokens=tokens)


def tiers(sizes, cuts):
    """Units of these sizes, oldest first: cold, then warm, then hot."""
    units = [unit(place + 1, size) for place, size in enumerate(sizes)]
    first, second = sorted(cut % (len(units) + 1) for cut in cuts)
    return units[:first], units[first:second], units[second:]


sizes = st.lists(st.integers(1, 400), max_size=40)
cuts = st.tuples(st.integers(0, 40), st.integers(0, 40))
budgets = st.integers(0, 6_000)
ratios = st.sampled_from([(0.40, 0.35, 0.25), (0.5, 0.5, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.1, 0.1, 0.1)])


def ranked(seed):
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    known = {}
    return lambda each: known.setdefault(each.number, chance.choice([0.0, 0.2, 0.5, 0.9]))


@given(sizes=sizes, cuts=cuts, budget=budgets, ratios=ratios, seed=st.integers(0, 99))
def test_never_over_the_budget_and_every_unit_is_kept_or_left_out(sizes, cuts, budget, ratios, seed):
    cold, warm, hot = tiers(sizes, cuts)
    packed = ContextPacker(ratios=ratios).pack(hot=hot, warm=warm, cold=cold, budget=budget, importance=ranked(seed))
    assert packed.tokens == sum(each.tokens for each in packed.kept) <= budget
    both = [each.number for each in (*packed.kept, *packed.left_out)]
    assert sorted(both) == [each.number for each in (*cold, *warm, *hot)]
    assert [each.number for each in packed.kept] == sorted(each.number for each in packed.kept)


@given(sizes=sizes, cuts=cuts, budget=budgets, seed=st.integers(0, 99))
def test_the_newest_hot_units_are_kept_up_to_their_share(sizes, cuts, budget, seed):
    cold, warm, hot = tiers(sizes, cuts)
    packed = ContextPacker().pack(hot=hot, warm=warm, cold=cold, budget=budget, importance=ranked(seed))
    kept, spent = {each.number for each in packed.kept}, 0
    for each in reversed(hot):
        spent += each.tokens
        if spent > 0.40 * budget:
            break
        assert each.number in kept


@given(sizes=sizes, cuts=cuts, budget=budgets, ratios=ratios, seed=st.integers(0, 99))
def test_what_is_cold_never_has_more_than_its_share(sizes, cuts, budget, ratios, seed):
    cold, warm, hot = tiers(sizes, cuts)
    packed = ContextPacker(ratios=ratios).pack(hot=hot, warm=warm, cold=cold, budget=budget, importance=ranked(seed))
    back = {each.number for each in cold}
    assert sum(each.tokens for each in packed.kept if each.number in back) <= ratios[2] * budget


@given(cuts=cuts, sizes=sizes, seed=st.integers(0, 99))
def test_what_fits_whole_leaves_nothing_out_but_what_is_cold(sizes, cuts, seed):
    cold, warm, hot = tiers(sizes, cuts)
    packed = ContextPacker().pack(hot=hot, warm=warm, cold=cold, budget=sum(sizes), importance=ranked(seed))
    back = {each.number for each in cold}
    assert all(each.number in back for each in packed.left_out) or packed.tokens + min(
        each.tokens for each in packed.left_out
    ) > sum(sizes)


@given(sizes=sizes, cuts=cuts, budget=budgets, seed=st.integers(0, 99))
def test_the_same_units_are_packed_alike_also_where_all_matter_the_same(sizes, cuts, budget, seed):
    cold, warm, hot = tiers(sizes, cuts)
    for importance in (ranked(seed), lambda _: 0.5):
        one, two = (
            ContextPacker().pack(hot=hot, warm=warm, cold=cold, budget=budget, importance=importance) for _ in range(2)
        )
        assert one == two


def test_of_warm_units_that_matter_the_same_the_newer_one_stays():
    warm = [unit(number, 100) for number in range(1, 5)]
    packed = ContextPacker().pack(hot=[], warm=warm, budget=200, importance=lambda _: 0.5)
    assert [each.number for each in packed.kept] == [3, 4]
    assert [each.number for each in packed.left_out] == [1, 2]


def test_warm_units_stay_by_importance_and_the_least_important_is_the_first_to_go():
    warm = [unit(number, 100) for number in range(1, 6)]
    matters = {1: 0.9, 2: 0.1, 3: 0.5, 4: 0.3, 5: 0.2}
    packed = ContextPacker().pack(hot=[], warm=warm, budget=200, importance=lambda each: matters[each.number])
    assert [each.number for each in packed.kept] == [1, 3]
    assert [each.number for each in packed.left_out] == [2, 5, 4]


def test_a_unit_that_does_not_fit_is_passed_over_and_smaller_ones_still_come_in():
    packed = ContextPacker().pack(hot=[unit(1, 30), unit(2, 5_000), unit(3, 30)], budget=100, importance=lambda _: 1.0)
    assert [each.number for each in packed.kept] == [1, 3]


def test_hot_units_that_all_fit_are_not_weighed():
    asked = []
    hot = [unit(number, 10) for number in range(1, 5)]
    ContextPacker().pack(hot=hot, budget=1_000, importance=lambda each: asked.append(each.number) or 0.5)
    assert asked == []


@pytest.mark.parametrize(
    "ratios", [(0.5, 0.5), (0.5, 0.5, 0.5), (-0.1, 0.5, 0.5), (2.0, 0.0, 0.0), (math.nan, 0.1, 0.1)]
)
def test_shares_that_are_none_are_refused_by_name(ratios):
    with pytest.raises(ValueError, match="ratios"):
        ContextPacker(ratios=ratios)
