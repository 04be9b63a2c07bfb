"""Where a configuration comes from: Python beats the environment, which beats the file; typos are found."""

import re
from pathlib import Path

import attrs
import pytest

from gc_core import ConfigError, GCConfig, GCSession, Plugins, hookimpl, load_config
from tests.support.inside import meter_of

DOCUMENT = Path(__file__).parents[1] / "docs" / "reference" / "configuration.md"


@pytest.fixture
def toml(tmp_path):
    def write(text):
        path = tmp_path / "gc.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def load(path=None, environ=(), **values):
    return load_config(path, environ=dict(environ), **values)


# --- who wins ---------------------------------------------------------------------------------------------------------


TABLES = {"provider_edits", "tools", "strategies", "summarizers"}


def test_nothing_given_gives_the_defaults():
    assert load() == GCConfig()


def test_python_beats_the_environment_which_beats_the_file(toml):
    path = toml("[gc]\nthreshold_percent = 70\ntarget_percent = 40\nmax_turns = 9\n")
    environ = {"GC_TARGET_PERCENT": "45", "GC_MAX_TURNS": "8"}
    config = load(path, environ, max_turns=7)
    assert (config.threshold_percent, config.target_percent, config.max_turns) == (70, 45, 7)


def test_the_processs_own_environment_is_read_unless_another_is_given(monkeypatch):
    monkeypatch.setenv("GC_CONTEXT_LIMIT", "9000")
    assert load_config().context_limit == 9_000
    assert load_config(environ={}).context_limit == 128_000


ENVIRONMENT = {
    "GC_STRATEGY": ("gc_truncate, none", "strategy", ("gc_truncate", "none")),
    "GC_CONTEXT_LIMIT": (" 9000 ", "context_limit", 9_000),
    "GC_OUTPUT_RESERVATION": ("0", "output_reservation", 0),
    "GC_THRESHOLD_PERCENT": ("82.5", "threshold_percent", 82.5),
    "GC_TARGET_PERCENT": ("10", "target_percent", 10.0),
    "GC_PRESSURE_PERCENT": ("none", "pressure_percent", None),
    "GC_PRESERVE_RECENT_TURNS": ("0", "preserve_recent_turns", 0),
    "GC_PRESERVE_RECENT_STEPS": ("4", "preserve_recent_steps", 4),
    "GC_PINNED_TURN_INDICES": ("0, 3", "pinned_turn_indices", (0, 3)),
    "GC_MAX_TURNS": ("", "max_turns", None),
    "GC_TOKEN_BUDGET": ("50000", "token_budget", 50_000),
    "GC_MAX_TOTAL_TOKENS": ("1000000", "max_total_tokens", 1_000_000),
    "GC_AUTO_EXPAND": ("yes", "auto_expand", True),
    "GC_CHECK_REPLIES": ("yes", "check_replies", True),
    "GC_AUTO_TRIGGER": ("No", "auto_trigger", False),
    "GC_CHECKPOINT_EVERY_N_STEPS": ("10", "checkpoint_every_n_steps", 10),
    "GC_MEMORY_BACKEND": ("sqlite", "memory_backend", "sqlite"),
    "GC_RECOVERY_STRATEGY": ("raise", "recovery_strategy", "raise"),
    "GC_SUMMARIZER": ("none", "summarizer", "none"),
    "GC_SUMMARIZER_TIMEOUT": ("2.5", "summarizer_timeout", 2.5),
    "GC_SUMMARIZATION_MODEL": ("auto", "summarization_model", "auto"),
    "GC_SUMMARIZATION_PROMPT": ("Write a list.", "summarization_prompt", "Write a list."),
    "GC_BACKGROUND_PERCENT": ("65", "background_percent", 65.0),
    "GC_CHECK_BEFORE_SEND": ("1", "check_before_send", True),
    "GC_CACHE_MARKS": ("no", "cache_marks", False),
    "GC_CACHE_TTL": ("5m", "cache_ttl", "5m"),
    "GC_STABLE_CACHE_TTL": ("1h", "stable_cache_ttl", "1h"),
    "GC_PROMPT_CACHE_KEY": ("acme", "prompt_cache_key", "acme"),
    "GC_BETAS": ("one-2026, two-2026", "betas", ("one-2026", "two-2026")),
    "GC_KEEP_THINKING_TURNS": ("none", "keep_thinking_turns", None),
    "GC_DEFER": ("true", "defer", True),
    "GC_TPM_BUDGET": ("30000", "tpm_budget", 30_000),
    "GC_REREAD_GUARD": ("off", "reread_guard", "off"),
    "GC_IMPORTANCE_SCORER": ("mine", "importance_scorer", "mine"),
    "GC_COMPRESSION_PROFILE": ("coding", "compression_profile", "coding"),
    "GC_STATE_EXTRACTOR": ("mine", "state_extractor", "mine"),
    "GC_TASK_STATE_PERCENT": ("4", "task_state_percent", 4.0),
    "GC_PROMOTE_THRESHOLD": ("0.8", "promote_threshold", 0.8),
}


@pytest.mark.parametrize("variable", ENVIRONMENT)
def test_every_variable_is_read(variable):
    text, key, value = ENVIRONMENT[variable]
    assert getattr(load(environ={variable: text}), key) == value


def test_variables_are_read_also_after_somebody_resolved_the_types_of_the_configuration():
    attrs.resolve_types(GCConfig)
    assert load(environ={"GC_TARGET_PERCENT": "12.5"}).target_percent == 12.5


def test_no_key_lacks_a_variable_but_the_tables():
    keys = {key for _, key, _ in ENVIRONMENT.values()}
    assert {field.name for field in attrs.fields(GCConfig)} - keys == TABLES


# --- what is wrong is named -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("GC_THRESHOLD_PERCENT", "high", "float"),
        ("GC_CONTEXT_LIMIT", "128k", "int"),
        ("GC_CONTEXT_LIMIT", "", "int"),
        ("GC_AUTO_TRIGGER", "perhaps", "bool"),
        ("GC_PINNED_TURN_INDICES", "first", "int"),
    ],
)
def test_a_variable_that_cannot_be_read_is_named_with_its_value(variable, text, expected):
    with pytest.raises(ConfigError, match=f"{variable} = {text!r}: expected .*{expected}"):
        load(environ={variable: text})


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("GC_TARGET_PERCENT", "101", "target_percent = 101.0: expected a number of percent from 0 to 100"),
        ("GC_THRESHOLD_PERCENT", "nan", "threshold_percent = nan: expected a number of percent"),
        ("GC_PINNED_TURN_INDICES", "-1", "pinned_turn_indices = .*: expected turn numbers"),
        ("GC_STRATEGY", "", "strategy = .*: expected a strategy's name"),
    ],
)
def test_a_bad_value_in_the_environment_is_refused_as_anywhere_else(variable, text, message):
    with pytest.raises(ConfigError, match=message):
        load(environ={variable: text})


@pytest.mark.parametrize("typo", ["GC_TRESHOLD_PERCENT", "GC_THRESHOLD_PERCENTS", "GC_THRESHOLDPERCENT"])
def test_a_near_miss_in_the_environment_is_a_typo(typo):
    with pytest.raises(ConfigError, match=f"{typo} = '75'; did you mean GC_THRESHOLD_PERCENT"):
        load(environ={typo: "75"})


def test_variables_of_other_programs_are_left_alone():
    assert load(environ={"GC_DONT": "1", "GC_INITIAL_HEAP_SIZE": "1", "GCC": "x", "HOME": "/"}) == GCConfig()


def test_an_unknown_key_in_the_file_is_named_with_those_that_there_are(toml):
    known = r"\['auto_expand', .*'tpm_budget'\]"
    with pytest.raises(ConfigError, match=rf"unknown key 'colour' = 'red'; known: {known}"):
        load(toml("[gc]\ncolour = 'red'\n"))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("treshold_percent", "threshold_percent"),
        ("threshold", "threshold_percent"),
        ("Strategy", "strategy"),
        ("max_token", "max_total_tokens"),
    ],
)
def test_an_unknown_key_is_named_with_the_one_that_was_meant(toml, key, meant):
    with pytest.raises(ConfigError, match=rf"unknown key '{key}' = 75; did you mean {meant}\?$"):
        load(toml(f"[gc]\n{key} = 75\n"))


def test_an_unknown_keyword_is_refused_alike():
    with pytest.raises(ConfigError, match="unknown key 'treshold' = 75"):
        load(treshold=75)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gc]\nthreshold_percent = '80'\n", "threshold_percent = '80': expected a number"),
        ("[gc]\nmax_turns = true\n", "max_turns = True: expected a whole number of at least 1"),
        ("[gc.tools]\nread = 'keep'\n", "tools.read = 'keep': expected one of"),
        ("[gc]\ntools = 'read'\n", "tools = 'read': expected a table"),
        ("[gc]\nstrategies = {truncate = 5}\n", "strategies = .*: expected a table of options"),
        ("gc = 5\n", r"gc = 5; expected a table \[gc\]"),
        ("[gc\n", "cannot be read: "),
    ],
)
def test_a_bad_value_in_the_file_is_named(toml, text, message):
    with pytest.raises(ConfigError, match=message):
        load(toml(text))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.toml cannot be read"):
        load(tmp_path / "nowhere.toml")
    (tmp_path / "latin.toml").write_bytes(b"[gc]\nstrategy = '\xe9'\n")
    with pytest.raises(ConfigError, match=r"latin\.toml cannot be read"):
        load(tmp_path / "latin.toml")


def test_a_missing_pressure_in_the_file_is_the_default_and_not_continuous_mode(toml):
    """W39."""
    assert load(toml("[gc]\nthreshold_percent = 70\n")).pressure_percent == 95


# --- options of strategies --------------------------------------------------------------------------------------------


@attrs.frozen
class Fussy:
    """Has an option."""

    keep: int = attrs.field(default=1, validator=attrs.validators.ge(0))

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        return ()


class Offer:
    @hookimpl
    def gc_register_strategies(self, register):
        register("fussy", Fussy)


def strategy_of(config):
    plugins = Plugins()
    plugins.register(Offer(), name="offer")
    with GCSession(config, plugins=plugins) as session:
        ((_, strategy),) = meter_of(session).declared.strategies
    return strategy


@pytest.mark.parametrize("chosen", ["fussy", "gc_fussy"])
@pytest.mark.parametrize("named", ["fussy", "gc_fussy"])
def test_options_in_the_file_reach_the_strategy_with_either_name(toml, chosen, named):
    config = load(toml(f"[gc]\nstrategy = '{chosen}'\n[gc.strategies.{named}]\nkeep = 3\n"))
    assert strategy_of(config) == Fussy(keep=3)


def test_a_bad_option_dies_when_the_session_is_made(toml):
    with pytest.raises(ConfigError, match=r"strategy 'fussy' refused its options \{'keep': -1\}.*'keep' must be >= 0"):
        strategy_of(load(toml("[gc]\nstrategy = 'fussy'\n[gc.strategies.fussy]\nkeep = -1\n")))


def test_an_unknown_option_is_named_with_those_that_there_are(toml):
    with pytest.raises(ConfigError, match=r"strategy 'fussy' has no option 'keeps'; it has \['keep'\]"):
        strategy_of(load(toml("[gc]\nstrategy = 'fussy'\n[gc.strategies.fussy]\nkeeps = 1\n")))


# --- the document -----------------------------------------------------------------------------------------------------


def rows():
    found = re.findall(r"^\| `(\w+)` \| `(.*?)` \| .+? \| (?:`(\w+)`)? ?\|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    return {key: (default, variable) for key, default, variable in found}


def written(value):
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(list(value) if isinstance(value, tuple) else value).replace("'", '"')


def test_the_documents_table_is_what_the_code_has():
    in_code = {
        field.name: (
            written(getattr(GCConfig(), field.name)),
            "" if field.name in TABLES else f"GC_{field.name.upper()}",
        )
        for field in attrs.fields(GCConfig)
    }
    assert rows() == in_code


def test_the_documents_example_can_be_loaded(toml):
    (example,) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    config = load(toml(example))
    assert (config.context_limit, config.threshold_percent, config.tools["get_licence"]) == (200_000, 75, "exclude")


def test_keys_outside_the_table_do_not_become_silent_defaults(toml):
    with pytest.raises(ConfigError, match=r"context_limit is not read: write context_limit in the table \[gc\]"):
        load(toml("context_limit = 1000"))
