import datetime as dt
import subprocess
import sys

import pytest

from gc_core.cache.economics import economics_of
from gc_core.providers.prices import missing_price, prices_of, window_of
from gc_core.values.messages import Usage

NOVEMBER = dt.date(2026, 11, 1)


def test_prices_come_with_their_source():
    prices = prices_of("claude-sonnet-4-5", "anthropic", NOVEMBER)
    assert (prices.input, prices.output, prices.cache_read) == (3, 15, 0.3)
    assert (prices.cache_write, prices.cache_write_1h) == (3.75, 6)
    assert (prices.source.package, prices.source.date) == ("genai-prices", "2026-11-01")
    assert prices.source.version
    assert (prices.read_share, prices.write_share) == (0.1, 1.25)


@pytest.mark.parametrize(
    "spelling",
    [
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "openrouter/anthropic/claude-sonnet-4.5",
        "anthropic/claude-sonnet-4-5",
        "vertex_ai/claude-sonnet-4-5@20250929",
    ],
)
def test_a_gateways_spelling_has_the_models_price(spelling):
    assert prices_of(spelling).model == "claude-sonnet-4-5"


def test_above_a_cliff_the_whole_request_costs_more():
    prices = prices_of("claude-haiku-5-5", "anthropic", NOVEMBER)
    assert [cliff.tokens for cliff in prices.cliffs] == [100_000]
    assert prices.at(100_000).input == prices.input
    assert prices.at(100_001).input == pytest.approx(5 * prices.input)
    below, above = (prices.cost(Usage(input_tokens=tokens)) for tokens in (100_000, 100_001))
    assert above == pytest.approx(5 * below, rel=1e-3)


def test_a_call_costs_what_each_kind_of_token_costs():
    prices = prices_of("claude-sonnet-4-5", "anthropic", NOVEMBER)
    usage = Usage(
        input_tokens=10_000,
        output_tokens=1_000,
        cache_read_tokens=6_000,
        cache_write_tokens=3_000,
        cache_write_1h_tokens=1_000,
    )
    expected = (1_000 * 3 + 6_000 * 0.3 + 2_000 * 3.75 + 1_000 * 6 + 1_000 * 15) / 1e6
    assert prices.cost(usage) == pytest.approx(expected)


def test_each_pass_of_a_call_is_priced_by_its_own_size():
    prices = prices_of("claude-haiku-5-5", "anthropic", NOVEMBER)
    compaction = Usage(input_tokens=150_000, output_tokens=2_000)
    call = Usage(input_tokens=20_000, iterations=(compaction,))
    assert prices.cost(call) == pytest.approx(prices.cost(Usage(input_tokens=20_000)) + prices.cost(compaction))


def test_tokens_without_their_own_price_cost_as_much_as_input():
    prices = prices_of("gpt-5.4", "openai", NOVEMBER)
    assert prices.write_share == 1
    assert prices.cache_write_1h == prices.input


def test_an_unknown_model_is_named():
    assert prices_of("nobodys-model", "openai") is None
    assert "nobodys-model" in missing_price("nobodys-model", "openai")
    assert "no model is named" in missing_price(None, "openai")
    assert missing_price("gpt-5.4", "openai") == ""


def test_economics_never_fail():
    known = economics_of("gpt-6.1-sol", "openai", NOVEMBER)
    assert (known.read, known.write, known.cliffs, known.ttl_seconds, known.note) == (0.05, 1.25, (272_000,), 1800, "")
    unknown = economics_of("claude-opus-99", "anthropic")
    assert (unknown.read, unknown.write, unknown.cliffs) == (0.1, 1.25, ())
    assert "claude-opus-99" in unknown.note
    assert economics_of(None).write == 1


def test_without_the_package_the_price_is_missing_and_everything_goes_on():
    code = """
import sys
sys.modules["genai_prices"] = None
from gc_core import GCConfig, GCSession
from gc_core.providers.prices import missing_price
from gc_core.values.messages import Usage
with GCSession(GCConfig(), model="gpt-5.4") as session:
    session.append({"role": "user", "content": "hi"})
    session.pre_send()
    reply = {"role": "assistant", "content": "ok"}
    session.post_turn(reply, usage={"prompt_tokens": 9, "completion_tokens": 1})
    print(session.cache.cost, session.cache.missing)
    print(session.explain())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.startswith("None no price of 'gpt-5.4': genai-prices is not installed")
    assert "cost unknown" in done.stdout


@pytest.mark.parametrize(
    ("model", "tokens"), [("gpt-5", 272_000), ("openai/gpt-5-codex", 272_000), ("gpt-4.1", 1_000_000), ("unknown", 0)]
)
def test_what_openai_keeps_for_the_reply_is_no_part_of_the_window(model, tokens):
    assert window_of(model) == tokens
