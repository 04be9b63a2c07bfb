"""The models of docs/explanation/models.md: what fits, what it costs, how full a window is best."""

import datetime as dt

import pytest
from ctxgc.evaluation.cost_model import CostModel, available, required_ratio
from ctxgc.evaluation.target_advice import best_share, recommended_target, worth
from hypothesis import given
from hypothesis import strategies as st

from gc_core import ConfigError, GCConfig
from gc_core.providers.prices import prices_of

DAY = dt.date(2026, 11, 1)
STEPS = st.integers(1, 20_000)


def model(name="claude-opus-4-5", **more):
    given = {"tokens_per_step": 600, "available": 150_000, "output_per_step": 400, **more}
    return CostModel(prices=prices_of(name, at=DAY), **given)


# -- what fits -------------------------------------------------------------------------------------------------------


def test_the_rest_of_a_window_is_the_window_less_its_constant_content():
    assert available(200_000, system=2_000, output_reservation=4_096, fixed=8_000) == 185_904


def test_a_window_in_which_nothing_is_left_is_refused_with_what_fills_it():
    with pytest.raises(ConfigError, match=r"context_limit = 5000: nothing is left.*system = 1000.*4096"):
        available(5_000, system=1_000, output_reservation=4_096)


@given(steps=STEPS, tokens=st.integers(1, 10_000), room=st.integers(1, 1_000_000))
def test_history_made_smaller_by_the_required_ratio_fits(steps, tokens, room):
    assert steps * tokens / required_ratio(steps, tokens, room) == pytest.approx(room)


@pytest.mark.parametrize("room", [0, -5])
def test_nothing_fits_into_no_room(room):
    with pytest.raises(ConfigError, match=f"available = {room}: expected"):
        required_ratio(10, 10, room)


# -- what it costs ---------------------------------------------------------------------------------------------------


def test_a_step_costs_its_input_its_reply_and_its_share_of_the_summaries():
    costs = model(summary_input=20_000, summary_output=2_000, fixed=1_000)
    assert costs.raw(10) == pytest.approx((7_000 * 5 + 400 * 25) / 1e6)
    assert costs.collected(10) == costs.raw(10)
    assert costs.raw(1_000) == pytest.approx((601_000 * 5 + 400 * 25) / 1e6)
    assert costs.collected(1_000) == pytest.approx((151_000 * 5 + 400 * 25 + (20_000 * 5 + 2_000 * 25) / 20) / 1e6)


def test_a_cheaper_model_for_summaries_makes_them_cheaper():
    plain = model(summary_input=20_000, summary_output=2_000)
    cheap = model(summary_input=20_000, summary_output=2_000, summary_prices=prices_of("claude-haiku-4-5", at=DAY))
    assert cheap.collected(5_000) < plain.collected(5_000)
    assert cheap.raw(5_000) == plain.raw(5_000)


@given(step=STEPS, hit=st.floats(0, 100), summaries=st.integers(0, 50_000))
def test_savings_never_fall_with_the_steps_once_history_is_larger_than_its_room(step, hit, summaries):
    costs = model(hit_percent=hit, summary_input=summaries)
    if step * 600 <= 150_000:
        assert costs.savings(step) == 0
    else:
        assert costs.savings(step) <= costs.savings(step + 1) + 1e-9 < 1


def test_a_price_cliff_that_only_raw_history_passes_makes_collection_save_more():
    def saved(name):
        return model(name, available=90_000, output_per_step=0).savings(300)

    assert saved("claude-haiku-5-5") > saved("claude-opus-4-5")  # the first costs five times as much above 100,000


@pytest.mark.parametrize(
    ("field", "value"),
    [("tokens_per_step", -1), ("available", float("inf")), ("hit_percent", "90"), ("output_per_step", True)],
)
def test_a_number_that_cannot_be_is_named(field, value):
    with pytest.raises(ConfigError, match=f"{field} = {value!r}: expected"):
        model(**{field: value})


# -- how full --------------------------------------------------------------------------------------------------------


@given(alpha=st.floats(0.05, 3), share=st.floats(0, 1))
def test_no_share_of_the_window_is_worth_more_than_the_best(alpha, share):
    best = best_share(alpha)
    assert 0 < best <= 1
    assert worth(share, alpha) <= worth(best, alpha) + 1e-12


@pytest.mark.parametrize(
    ("name", "percent"),
    [
        ("claude-opus-4", 61),
        ("anthropic/claude-opus-4-20250514", 61),
        ("gpt-4.1", 55),
        ("gpt-4.1-2025-04-14", 55),
        ("gemini/gemini-2.5-pro", 64),
    ],
)
def test_a_known_model_has_its_own_target(name, percent):
    found = recommended_target(name)
    assert found.percent == percent
    assert found.date == "2026-02"
    assert "nothing is known" not in found.source


@pytest.mark.parametrize("name", ["claude-opus-4-5", "gpt-4.1-mini", "nobodys-model", "", None])
def test_any_other_model_has_the_mean_and_the_source_says_so(name):
    found = recommended_target(name)
    assert found.alpha == pytest.approx((0.3 + 0.4 + 0.25) / 3, abs=1e-4)
    assert found.source.startswith(f"nothing is known of {name!r}: the mean")


def test_the_default_target_is_that_of_a_model_of_which_nothing_is_known():
    assert GCConfig().target_percent == recommended_target(None).percent
