import datetime as dt

import pytest

from gc_core.providers import PROVIDERS, provider_named
from gc_core.providers.cache_terms import terms_of


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("claude-opus-5", 512),
        ("claude-opus-5-5", 512),
        ("claude-sonnet-4-5-20250929", 1024),
        ("claude-opus-4-1", 1024),
        ("claude-opus-4-8", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-3-5-haiku-20241022", 2048),
        ("claude-opus-4-6", 4096),
        ("claude-haiku-4-5", 4096),
    ],
)
def test_minimums_are_those_of_the_guide(model, least):
    assert terms_of(model, "anthropic").least_tokens == least


@pytest.mark.parametrize(
    "spelling",
    [
        "claude-sonnet-4-5",
        "claude-sonnet-4.5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "openrouter/anthropic/claude-sonnet-4.5",
        "CLAUDE_SONNET_4_5",
    ],
)
def test_a_gateways_spelling_changes_nothing(spelling):
    assert terms_of(spelling, "openai") is terms_of("claude-sonnet-4-5", "anthropic")


def test_a_claude_that_is_not_listed_has_the_largest_minimum():
    assert terms_of("claude-opus-9", "anthropic").least_tokens == max(
        each.least_tokens for each in provider_named("anthropic").cache_terms
    )


def test_newer_models_read_for_less():
    reads = {name: terms_of(name).read for name in ("claude-opus-5", "claude-opus-5-5", "claude-fable-5-1")}
    assert reads == {"claude-opus-5": 0.1, "claude-opus-5-5": 0.05, "claude-fable-5-1": 0.025}
    assert [terms_of(name).read for name in ("gpt-4o", "gpt-4.1", "gpt-5", "gpt-6", "gpt-6.1-sol")] == [
        *(0.5, 0.25, 0.1, 0.1, 0.05)
    ]


def test_openai_has_explicit_marks_and_a_fee_for_writes_from_gpt_5_6_on():
    old, new = terms_of("gpt-5.4"), terms_of("gpt-5.6-sol")
    assert (old.explicit_marks, old.write) == ("", 1.0)
    assert (new.explicit_marks, new.write, new.ttl_seconds) == ("prompt_cache_breakpoint", 1.25, 1800)
    assert old.has_cache_key
    assert new.has_cache_key


def test_without_a_model_the_format_decides():
    assert terms_of(None, "anthropic").writes_at_marks
    assert not terms_of(None, "openai").writes_at_marks
    assert terms_of(None, "gemini").least_tokens == 4096
    assert terms_of("nobodys-model", "anthropic").explicit_marks == "cache_control"
    assert terms_of("nobodys-model", "").name == "unknown"


def test_all_terms_are_dated():
    listed = [each for provider in PROVIDERS.values() for each in provider.cache_terms]
    assert listed
    assert all(dt.date.fromisoformat(each.dated) <= dt.date(2026, 12, 31) for each in listed)


def test_a_mark_may_ask_for_an_hour_where_there_is_a_choice():
    claude, gpt = terms_of("claude-opus-5"), terms_of("gpt-6")
    assert (claude.seconds("1h"), claude.seconds("5m"), claude.seconds("2h")) == (3600, 300, 300)
    assert gpt.seconds("1h") == 1800
