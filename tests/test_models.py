import pytest

from gc_core.providers.model_families import family


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o-mini", "gpt-o200k"),
        ("gpt-4.1", "gpt-o200k"),
        ("openai/gpt-5-2025-08-07", "gpt-o200k"),
        ("ft:gpt-4o:acme", "gpt-o200k"),
        ("o4-mini", "gpt-o200k"),
        ("gpt-4", "gpt-cl100k"),
        ("gpt-4-1106-preview", "gpt-cl100k"),
        ("gpt-35-turbo", "gpt-cl100k"),
        ("gpt-5.5", "gpt-5.5"),
        ("gpt-6.1-sol", "gpt-6"),
        ("claude-3-5-sonnet-latest", "claude-4"),
        ("claude-opus-4-1-20250805", "claude-4"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-4"),
        ("claude-haiku-4-5", "claude-4"),
        ("claude-opus-4-5@20251101", "claude-4.6"),
        ("anthropic/claude-sonnet-4.6", "claude-4.6"),
        ("claude-opus-4-7", "claude-5"),
        ("claude-fable-5", "claude-5"),
        ("claude-opus-5-5", "claude-5.5"),
        ("claude-fable-5-1", "claude-5.5"),
        ("claude-nocturne-9", "claude-5.5"),
        ("models/gemini-2.5-pro", "gemini"),
        ("deepseek-chat", "deepseek"),
        ("my-own-llama", "unknown"),
        ("", "unknown"),
    ],
)
def test_finds_the_family_however_a_gateway_spells_the_model(model, name):
    assert family(model).name == name


@pytest.mark.parametrize(
    ("format_name", "name"),
    [
        ("openai", "gpt-o200k"),
        ("responses", "gpt-o200k"),
        ("anthropic", "claude-5.5"),
        ("gemini", "gemini"),
        ("x", "unknown"),
    ],
)
def test_takes_the_default_of_the_format_when_no_model_is_named(format_name, name):
    assert family(None, format_name).name == name


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4", "gpt-5.5", "o1"])
def test_calls_only_public_tokenizers_exact(model):
    assert family(model).exact
    assert family(model).factor == 1.0


@pytest.mark.parametrize("model", ["gpt-6-sol", "claude-opus-4-6", "gemini-3-pro", "deepseek-chat", "my-own-llama"])
def test_calls_every_other_count_an_estimate(model):
    assert not family(model).exact


@pytest.mark.parametrize(
    ("model", "keeps"),
    [
        ("claude-sonnet-4-5", False),
        ("claude-haiku-4-5", False),
        ("claude-opus-4-1", False),
        ("claude-opus-4-5", True),
        ("claude-sonnet-4-6", True),
        ("claude-opus-5", True),
    ],
)
def test_knows_which_models_keep_the_thinking_of_earlier_turns(model, keeps):
    assert family(model).keeps_thinking is keeps


@pytest.mark.parametrize(("model", "binds"), [("claude-opus-5", False), ("claude-opus-5-5", True)])
def test_knows_which_models_bind_thinking_to_the_content_before_it(model, binds):
    assert family(model).binds_thinking is binds
