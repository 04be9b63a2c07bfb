"""A recorded session through the gateway by the vendors' own clients: fit, cost and cache reads as without it."""

import pytest
from gc_gateway.call_costs import CallCosts
from gc_gateway.collecting import Collecting

from benchmarks.gateway_session import in_process, recorded, straight, through_the_gateway
from gc_core import Usage
from gc_core.providers.prices import prices_of
from tests.support.corpus import corpus_dir, require_corpus

FORMATS = ("openai", "anthropic", "gemini")


@pytest.fixture(scope="module")
def messages():
    require_corpus()
    return recorded(corpus_dir() / "concat-entire-336605.jsonl", 50)


@pytest.mark.parametrize(
    "provider", [*FORMATS[:2], *(pytest.param(form, marks=pytest.mark.slow) for form in FORMATS[2:])]
)
def test_a_recorded_session_fits_and_costs_the_same_as_in_process(messages, provider):
    inside, outside = (way(provider, messages, 12_000) for way in (in_process, through_the_gateway))
    assert outside.collections == inside.collections >= 2
    assert outside.far.percent == pytest.approx(inside.far.percent, abs=1)
    assert outside.spent == pytest.approx(inside.spent, rel=0.01)


def test_the_usage_of_a_reply_is_known_in_the_next_turn_however_busy_the_machine_is(messages, monkeypatch):
    """Nothing in the background runs at all here."""
    monkeypatch.setattr(Collecting, "take_usage", lambda *_: None)
    inside, outside = (way("anthropic", messages, 12_000) for way in (in_process, through_the_gateway))
    assert outside.collections == inside.collections >= 2
    assert outside.spent == pytest.approx(inside.spent, rel=0.01)


@pytest.mark.parametrize(
    "provider", [*FORMATS[:2], *(pytest.param(form, marks=pytest.mark.slow) for form in FORMATS[2:])]
)
def test_where_nothing_is_collected_the_cache_is_read_as_without_the_gateway(messages, provider):
    with_it, without = through_the_gateway(provider, messages[:30], 1_000_000), straight(provider, messages[:30])
    assert with_it.collections == 0
    assert without.cached_percent > 50
    assert with_it.cached_percent >= without.cached_percent - 3
    assert with_it.sent == without.sent


# -- what the calls would have cost ------------------------------------------------------------------------------------

PRICES = prices_of("claude-opus-4-5", "anthropic")


def usage(sent, *, read=0, written=0):
    return Usage(input_tokens=sent, output_tokens=100, cache_read_tokens=read, cache_write_tokens=written)


def test_calls_that_were_sent_whole_cost_what_they_would_have_cost():
    costs = CallCosts()
    reports = [usage(10_000, written=10_000)]
    reports += [usage(10_000 + 500 * n, read=9_500 + 500 * n, written=500) for n in range(1, 9)]
    for report in reports:
        cost = costs.call(report, 1.0, PRICES)
        assert cost.spent == pytest.approx(cost.without)


def test_the_break_of_the_cache_that_a_collection_causes_is_on_the_gateways_side():
    """Half is sent, and written anew: without the gateway the whole list would have been read."""
    costs = CallCosts()
    costs.call(usage(10_000, written=10_000), 1.0, PRICES)
    costs.call(usage(20_000, read=10_000, written=10_000), 1.0, PRICES)
    broken = costs.call(usage(10_500, written=10_500), 10_500 / 20_500, PRICES)
    assert broken.without == pytest.approx(PRICES.cost(usage(20_500, read=20_000, written=500)))
    assert broken.spent > broken.without
    after = costs.call(usage(11_000, read=10_500, written=500), 11_000 / 21_000, PRICES)
    assert after.without == pytest.approx(PRICES.cost(usage(21_000, read=20_500, written=500)))
    assert after.spent < after.without


def test_a_provider_without_a_cache_would_have_been_paid_for_the_whole_list_each_time():
    costs = CallCosts()
    costs.call(usage(10_000), 1.0, PRICES)
    cost = costs.call(usage(5_000), 0.25, PRICES)
    assert cost.without == pytest.approx(PRICES.cost(usage(20_000)))
