"""Which model writes summaries, and in which words: what the configuration says for the summarizers that ask one."""

import datetime as dt

import pytest

from gc_core import ConfigError, GCConfig, GCSession
from gc_core.providers.prices import prices_of, provider_offers
from gc_core.summaries.model_choice import cheapest, completed
from gc_core.summaries.prompt import DEFAULT_PROMPT, filled, with_instructions
from gc_core.values.messages import Usage
from tests.support.inside import collections_of

DAY = dt.date(2026, 11, 1)
ROOM = 124_000


def options(given=None, *, model="claude-opus-4-5", format="anthropic", **keys):  # noqa: A002
    return completed(given or {}, GCConfig(**keys), model, format)


# -- which model -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "format_name", "asked"),
    [
        ("claude-opus-4-5", "anthropic", "anthropic/claude-opus-4-5"),
        ("gemini-2.5-pro", "gemini", "gemini/gemini-2.5-pro"),
        ("gpt-5.4", "openai", "gpt-5.4"),
        ("openrouter/anthropic/claude-opus-4.5", "anthropic", "openrouter/anthropic/claude-opus-4.5"),
    ],
)
def test_by_default_the_sessions_own_model_is_asked(model, format_name, asked):
    assert options(model=model, format=format_name)["summarization_model"] == asked


def test_the_summarizers_own_option_is_stronger_than_the_configurations_key():
    own = {"summarization_model": "openai/small"}
    assert options(own, summarization_model="openai/large")["summarization_model"] == "openai/small"
    assert options(summarization_model="openai/large")["summarization_model"] == "openai/large"
    assert options({"retries": 5})["retries"] == 5


@pytest.mark.parametrize("wanted", [None, "auto"])
def test_a_session_without_a_model_has_to_name_one(wanted):
    with pytest.raises(ConfigError, match=r"summarization_model = .*give model="):
        GCSession(GCConfig(summarizer="llm", summarization_model=wanted))


@pytest.mark.parametrize(
    ("model", "provider"), [("claude-opus-4-5", "anthropic"), ("gpt-5.4", "openai"), ("gemini-2.5-pro", "gemini")]
)
def test_auto_is_the_cheapest_of_the_provider_that_holds_a_whole_request(model, provider):
    found = cheapest(model, ROOM, DAY)
    assert found.startswith(f"{provider}/")
    usage = Usage(input_tokens=ROOM, output_tokens=ROOM // 4)
    (chosen,) = [offer for offer in provider_offers(model, DAY) if offer.prices.model == found.partition("/")[2]]
    assert chosen.window >= ROOM
    assert chosen.prices.cost(usage) < prices_of(model, at=DAY).cost(usage)


def test_auto_takes_a_larger_window_where_the_request_is_larger():
    windows = {offer.prices.model: offer.window for offer in provider_offers("claude-opus-4-6", DAY)}
    small, large = (cheapest("claude-opus-4-6", tokens, DAY).partition("/")[2] for tokens in (ROOM, 800_000))
    assert windows[small] < 800_000 <= windows[large]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("nobodys-model", "does not know this model; name one instead"),
        ("openrouter/anthropic/claude-sonnet-4.5", "name one instead"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "name one instead"),
        ("claude-opus-4-5", "known to hold 5,000,000 tokens"),
    ],
)
def test_where_auto_knows_nothing_it_says_so_and_guesses_nothing(model, said):
    with pytest.raises(ConfigError, match=f'"auto" finds no model other than {model!r}: .*{said}'):
        cheapest(model, 5_000_000 if "hold" in said else ROOM, DAY)


def test_a_session_takes_what_auto_finds_for_its_window():
    config = GCConfig(summarizer="llm", summarization_model="auto")
    with GCSession(config, format="anthropic", model="claude-opus-4-5") as session:
        assert collections_of(session).answering.model == cheapest("claude-opus-4-5", config.usable)


def test_other_summarizers_are_given_none_of_it():
    with GCSession(GCConfig(summarizer="extractive", summarization_model="auto")) as session:
        assert collections_of(session).answering.model is None


# -- in which words --------------------------------------------------------------------------------------------------


def test_other_instructions_take_the_place_of_the_sections_alone():
    prompt = options(summarization_prompt="Write a list of the tools.")["summarization_prompt"]
    prompt_text = filled(prompt, max_tokens=321, focus="the port", complaints=["too long"])
    assert "Write a list of the tools." in prompt_text
    assert "## Done" not in prompt_text
    data = DEFAULT_PROMPT.partition("What lies between")[2].partition("\n\n")[0]
    rules = DEFAULT_PROMPT.partition("Rules:\n")[2].partition("- At most")[0]
    assert data in prompt_text
    assert rules in prompt_text
    assert all(each in prompt_text for each in ("At most 321 tokens", "the port", "too long"))


def test_braces_and_tags_in_the_instructions_are_text():
    prompt_text = filled(with_instructions('As {"json": 1}, please.'), max_tokens=9)
    assert 'As {"json": 1}, please.' in prompt_text


def test_the_whole_prompt_of_the_option_is_stronger():
    given = {"summarization_prompt": "All mine."}
    assert options(given, summarization_prompt="Write a list.")["summarization_prompt"] == "All mine."
