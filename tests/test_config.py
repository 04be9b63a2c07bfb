"""A configuration is checked when it is made, and what is wrong is named with what would be right."""

import re

import attrs
import pytest

from gc_core import ConfigError, GCConfig, GCPolicy

DEFAULTS = {
    "strategy": ("gc_truncate",),
    "context_limit": 128_000,
    "output_reservation": 4_096,
    "threshold_percent": 90.0,
    "target_percent": 60.0,
    "pressure_percent": 95.0,
    "preserve_recent_turns": 5,
    "preserve_recent_steps": 2,
    "pinned_turn_indices": (),
    "max_turns": None,
    "token_budget": None,
    "max_total_tokens": None,
    "auto_expand": False,
    "auto_trigger": True,
    "check_before_send": True,
    "checkpoint_every_n_steps": 50,
    "recovery_strategy": "undo_last",
    "check_replies": False,
    "summarizer": "extractive",
    "summarizer_timeout": 100.0,
    "summarization_model": None,
    "summarization_prompt": None,
    "background_percent": None,
    "summarizers": {},
    "cache_marks": True,
    "cache_ttl": "5m",
    "stable_cache_ttl": "5m",
    "prompt_cache_key": None,
    "betas": (),
    "provider_edits": {},
    "keep_thinking_turns": 1,
    "defer": False,
    "tpm_budget": None,
    "reread_guard": "warn",
    "importance_scorer": "composite",
    "compression_profile": "general",
    "memory_backend": "files",
    "state_extractor": "deterministic",
    "task_state_percent": None,
    "promote_threshold": 0.6,
    "tools": {},
    "strategies": {},
}

PERCENT = ["threshold_percent", "target_percent", "pressure_percent"]
WHOLE = ["output_reservation", "preserve_recent_turns", "preserve_recent_steps", "checkpoint_every_n_steps"]


def test_every_default_is_the_one_that_the_documents_promise():
    assert attrs.asdict(GCConfig(), recurse=False) == DEFAULTS


@pytest.mark.parametrize("key", PERCENT)
@pytest.mark.parametrize("value", [-1, -0.01, 100.5, 1_000, True, "80", [80], float("nan"), float("inf")], ids=repr)
def test_a_bad_percentage_is_named_with_what_is_allowed(key, value):
    with pytest.raises(ConfigError) as error:
        GCConfig(**{key: value})
    assert str(error.value) == f"{key} = {value!r}: expected a number of percent from 0 to 100"


@pytest.mark.parametrize("key", ["threshold_percent", "target_percent", "context_limit", *WHOLE])
def test_no_value_is_not_a_value(key):
    with pytest.raises(ConfigError, match=f"{key} = None: expected"):
        GCConfig(**{key: None})


@pytest.mark.parametrize(
    ("key", "least"), [("context_limit", 1), ("max_turns", 1), *((key, 0) for key in WHOLE)], ids=str
)
@pytest.mark.parametrize("value", [-1, 1.5, "5", False, 2.0], ids=repr)
def test_a_bad_number_is_named_with_what_is_allowed(key, least, value):
    with pytest.raises(ConfigError) as error:
        GCConfig(**{key: value})
    assert str(error.value) == f"{key} = {value!r}: expected a whole number of at least {least}"


@pytest.mark.parametrize("key", ["context_limit", "max_turns"])
def test_a_window_or_a_number_of_turns_of_zero_is_refused(key):
    with pytest.raises(ConfigError, match=f"{key} = 0: expected a whole number of at least 1"):
        GCConfig(**{key: 0})


@pytest.mark.parametrize("key", ["auto_expand", "auto_trigger", "check_before_send"])
@pytest.mark.parametrize("value", ["yes", 1, None], ids=repr)
def test_a_flag_is_true_or_false(key, value):
    with pytest.raises(ConfigError, match=f"{key} = {value!r}: expected true or false"):
        GCConfig(**{key: value})


@pytest.mark.parametrize(
    "values",
    [
        {"target_percent": 91},
        {"threshold_percent": 96},
        {"threshold_percent": 50},
        {"pressure_percent": 89},
        {"pressure_percent": 0, "target_percent": 91},
    ],
    ids=str,
)
def test_percentages_in_the_wrong_order_are_named_all_three(values):
    with pytest.raises(ConfigError, match=r"target_percent = .*threshold_percent = .*pressure_percent = ") as error:
        GCConfig(**values)
    assert "expected target <= threshold <= pressure" in str(error.value)


@pytest.mark.parametrize("same", [0, 50, 100])
def test_the_three_percentages_may_be_equal(same):
    GCConfig(target_percent=same, threshold_percent=same, pressure_percent=same or None)


@pytest.mark.parametrize("reservation", [1_000, 1_001])
def test_a_reservation_as_large_as_the_window_is_refused(reservation):
    with pytest.raises(ConfigError, match=f"context_limit = 1000: output_reservation keeps {reservation} of these"):
        GCConfig(context_limit=1_000, output_reservation=reservation)


def test_a_window_below_the_default_reservation_is_refused_with_a_reservation_that_works():
    with pytest.raises(ConfigError, match="set output_reservation = ") as refused:
        GCConfig(context_limit=4_000)
    suggested = int(re.search(r"set output_reservation = (\d+)", str(refused.value))[1])
    assert GCConfig(context_limit=4_000, output_reservation=suggested).usable == 3_000


@pytest.mark.parametrize("value", ["", [], [""], 5, None, ["a", 5], {"a": 1}], ids=repr)
def test_a_strategy_is_a_name_or_names(value):
    with pytest.raises(ConfigError, match=r"strategy = .*: expected a strategy's name or a list of names"):
        GCConfig(strategy=value)


def test_a_single_strategy_may_be_given_as_a_string():
    assert GCConfig(strategy="a").strategy == ("a",)
    assert GCConfig(strategy=["a", "b"]).strategy == ("a", "b")


@pytest.mark.parametrize("value", [5, "0", [-1], [True], ["0"], [1.0], None], ids=repr)
def test_pinned_turns_are_numbers_from_0_on(value):
    with pytest.raises(ConfigError, match=r"pinned_turn_indices = .*: expected turn numbers, counted from 0"):
        GCConfig(pinned_turn_indices=value)


@pytest.mark.parametrize("value", ["LOCKED", "keep", None, 3, ["locked"]], ids=repr)
def test_the_policy_of_a_tool_is_a_policy_or_exclude(value):
    with pytest.raises(ConfigError) as error:
        GCConfig(tools={"read": value})
    assert f"tools.read = {value!r}" in str(error.value)
    for word in ("locked", "preservable", "partial", "ephemeral", "exclude"):
        assert repr(word) in str(error.value)


@pytest.mark.parametrize("value", [5, ["read"], "read", None], ids=repr)
def test_tools_and_strategies_are_tables(value):
    with pytest.raises(ConfigError, match=r"tools = .*: expected a table"):
        GCConfig(tools=value)
    with pytest.raises(ConfigError, match=r"strategies = .*: expected a table of options"):
        GCConfig(strategies=value)
    with pytest.raises(ConfigError, match=r"strategies = .*: expected a table of options"):
        GCConfig(strategies={"truncate": value})


def test_exclude_keeps_a_result_until_its_unit_leaves():
    config = GCConfig(tools={"a": "exclude", "b": "locked"})
    assert config.tool_policies() == {"a": GCPolicy.PARTIAL, "b": GCPolicy.LOCKED}


@pytest.mark.parametrize(("pressure", "continuous"), [(0, True), (0.0, True), (None, True), (90, False), (95, False)])
def test_no_pressure_means_continuous_mode(pressure, continuous):
    assert GCConfig(pressure_percent=pressure).continuous is continuous


def test_what_is_usable_is_the_window_without_the_reservation():
    assert GCConfig(context_limit=10_000, output_reservation=1_000).usable == 9_000


def test_a_configuration_does_not_change_when_what_it_was_made_of_does():
    tools, options = {"read": "locked"}, {"truncate": {}}
    config = GCConfig(tools=tools, strategies=options)
    tools["read"] = "nonsense"
    options["truncate"]["keep"] = 5
    assert (config.tools, config.strategies) == ({"read": "locked"}, {"truncate": {}})


@pytest.mark.parametrize("value", [0, -1, True, "5", None, float("nan"), float("inf")], ids=repr)
def test_a_bad_time_is_named_with_what_is_allowed(value):
    with pytest.raises(ConfigError, match=r"summarizer_timeout = .*: expected a number of seconds above 0"):
        GCConfig(summarizer_timeout=value)


@pytest.mark.parametrize("value", ["", None, 5], ids=repr)
def test_a_summarizer_is_a_name(value):
    with pytest.raises(ConfigError, match=r"summarizer = .*: expected a name"):
        GCConfig(summarizer=value)


def test_what_is_written_ahead_is_asked_for_before_the_threshold():
    assert GCConfig(background_percent=90).background_percent == 90
    with pytest.raises(ConfigError, match=r"background_percent = 91: expected at most threshold_percent 90"):
        GCConfig(background_percent=91)


def test_the_first_part_of_the_cache_is_not_kept_for_a_shorter_time():
    with pytest.raises(ConfigError, match="must not be shorter than cache_ttl"):
        GCConfig(cache_ttl="1h")
    assert GCConfig(cache_ttl="1h", stable_cache_ttl="1h").cache_ttl == "1h"


@pytest.mark.parametrize("ttl", ["1d", 300, None])
def test_a_time_that_no_provider_knows_is_refused(ttl):
    with pytest.raises(ConfigError, match="cache_ttl = "):
        GCConfig(cache_ttl=ttl)
