import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gc_core.providers.calibration import LEAST_RATIO, MOST_HIDDEN, MOST_RATIO, Calibration

tokens = st.integers(min_value=0, max_value=2_000_000)
reports = st.lists(st.tuples(st.integers(-10, 2_000_000), st.integers(-10, 2_000_000)), max_size=6)


@st.composite
def calibrations(draw):
    calibration = Calibration(exact=draw(st.booleans()))
    for raw, reported in draw(reports):
        calibration = calibration.observed(raw, reported)
    return calibration


def test_adds_five_percent_to_an_estimate_before_the_first_report():
    assert Calibration().estimate(1_000) == 1_050


def test_trusts_an_exact_count_before_the_first_report():
    assert Calibration(exact=True).estimate(1_000) == 1_000


def test_answers_the_report_itself_for_the_request_that_was_reported():
    assert Calibration().observed(1_000, 41_000).estimate(1_000) == 41_000


def test_adds_only_what_is_new_to_the_last_report():
    assert Calibration(exact=True).observed(1_000, 41_000).estimate(1_250) == 41_250


def test_anchors_an_exact_counter_to_hidden_overhead_and_keeps_its_ratio():
    calibration = Calibration(exact=True).observed(1_000, 1_400).observed(21_000, 31_400)
    assert calibration.ratio == 1.0
    assert calibration.estimate(22_000) == 32_400


def test_learns_the_ratio_from_the_difference_of_reports():
    calibration = Calibration()
    for call in range(30):
        calibration = calibration.observed(10_000 * (call + 1), 40_000 + 13_000 * call)
    assert calibration.ratio == pytest.approx(1.3, abs=0.01)


def test_hardly_learns_from_a_small_difference():
    calibration = Calibration().observed(10_000, 10_000).observed(10_010, 10_200)
    assert calibration.ratio == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(("raw", "reported"), [(0, 500), (-1, 500), (1_000, 0), (1_000, -3), (100_000, 3)])
def test_ignores_a_report_that_cannot_be_true(raw, reported):
    calibration = Calibration().observed(1_000, 1_200)
    assert calibration.observed(raw, reported) == calibration


def test_does_not_learn_a_ratio_when_a_report_falls_while_the_count_grows():
    calibration = Calibration().observed(100_000, 120_000).observed(101_000, 90_000)
    assert calibration.ratio == 1.0
    assert calibration.estimate(101_000) == 90_000


def test_shrinks_in_proportion_when_a_collection_takes_more_than_the_provider_ever_counted():
    calibration = Calibration().observed(100_000, 60_000)
    assert calibration.estimate(10_000) == 6_000


def test_keeps_hidden_overhead_through_a_collection():
    assert Calibration().observed(100_000, 140_000).estimate(10_000) == 50_000


def test_says_that_nothing_fits_under_the_hidden_overhead():
    assert Calibration().observed(1_000, 41_000).to_raw(30_000) == 0


@given(calibrations(), tokens)
def test_never_estimates_nothing_for_something(calibration, raw):
    assert calibration.estimate(raw) > 0 if raw else calibration.estimate(raw) == 0


@given(calibrations(), tokens, tokens)
def test_never_estimates_less_for_more(calibration, one, other):
    assert calibration.estimate(min(one, other)) <= calibration.estimate(max(one, other))


@given(calibrations())
def test_keeps_the_ratio_in_its_bounds_whatever_is_reported(calibration):
    assert LEAST_RATIO <= calibration.ratio <= MOST_RATIO


@given(calibrations(), st.integers(-1_000, 4_000_000))
def test_a_request_of_the_target_size_is_estimated_within_the_target(calibration, target):
    raw = calibration.to_raw(target)
    assert raw >= 0
    assert raw == 0 or calibration.estimate(raw) <= target


@given(calibrations(), tokens)
def test_a_target_is_the_largest_that_fits(calibration, raw):
    assume(raw > 0)
    assert calibration.to_raw(calibration.estimate(raw)) >= raw


@given(calibrations(), st.integers(1, 2_000_000), st.integers(1, 2_000_000))
def test_answers_the_last_credible_report_whatever_came_before(calibration, raw, reported):
    assume(raw <= reported <= MOST_RATIO * raw + MOST_HIDDEN)
    assert calibration.observed(raw, reported).estimate(raw) == reported


def test_refuses_a_ratio_out_of_bounds():
    with pytest.raises(ValueError, match="ratio"):
        Calibration(ratio=9.0)


@pytest.mark.parametrize("reported", [10**12, 2 * 5_000 + 200_001])
def test_one_absurd_report_does_not_close_the_window(reported):
    before = Calibration().observed(5_000, 5_400)
    assert before.observed(5_000, reported) is before
    assert Calibration().observed(100, 20_000).estimate(100) == 20_000  # what a provider adds by itself is believed
