"""What somebody meant and did not write is an error that names it, and never silence."""

import functools
import re
from pathlib import Path
from unittest.mock import Mock

import attrs
import pytest

import gc_core as gc
from gc_core import ConfigError, GCConfig, GCSession, Plugins, compact, load_config
from tests.support.say import user

BAD_FILES = {
    "[tool.gc]\nthreshold_percent = 80\n": "[tool.gc] is not read: call it [gc]",
    "[gc_core]\nthreshold_percent = 80\n": "[gc_core] is not read: call it [gc]",
    "[gc]\n[gc_rolling]\nkeep = 1\n": "[gc_rolling] is not read: call it [gc.strategies.gc_rolling]",
    "[gc]\n[tool.gc_rolling]\nkeep = 1\n": "[tool.gc_rolling] is not read: call it [gc.strategies.gc_rolling]",
    "[gc.gc_rolling]\nkeep = 1\n": "call it [gc.strategies.gc_rolling]",
    "[gc-core]\nthreshold_percent = 80\n": "[gc-core] is not read: call it [gc]",
    "[project]\nname = 'mine'\n": "has no table [gc]; it has ['project']",
    "[tool.gc-core]\nthreshold_percent = 80\n": "[tool.gc-core] is not read: call it [gc]",
    "[GC]\nthreshold_percent = 80\n": "[GC] is not read: call it [gc]",
    "[gcc]\nthreshold_percent = 80\n": "it has ['gcc']; is [gcc] meant to be it?",
    "threshold_percent = 80\n": "threshold_percent is not read: write threshold_percent in the table [gc]",
    "[gc]\n[gc_core]\nthreshold_percent = 80\n": "[gc_core] is not read: call it [gc]",
    "[gc]\n[tool.gc]\nthreshold_percent = 80\n": "[tool.gc] is not read: call it [gc]",
    "[gc]\n[strategies.gc_budget]\nkeep = 0.5\n": "[strategies] is not read: call it [gc.strategies]",
    "[gc]\n[stratgies.gc_budget]\nkeep = 0.5\n": "[stratgies] is not read: call it [gc.strategies]",
    "[gc]\n[gc_strategies.gc_budget]\nkeep = 0.5\n": "[gc_strategies] is not read: call it [gc.strategies]",
    "[gc]\n[tools]\nread = 'locked'\n": "[tools] is not read: call it [gc.tools]",
}


@pytest.mark.parametrize("text", BAD_FILES)
def test_a_file_without_its_table_says_what_it_has_instead(tmp_path, text):
    path = tmp_path / "gc.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(BAD_FILES[text])):
        load_config(path)


def test_tables_of_other_programs_beside_ours_are_left_alone(tmp_path):
    path = tmp_path / "pyproject.toml"
    others = "[project]\n[tool.ruff]\n[tool.gcovr]\n[build-system]\n[gateway]\n[gcs]\n[logging]\n"
    path.write_text("[gc]\ncontext_limit = 9_000\n" + others)
    assert load_config(path).context_limit == 9_000


def test_an_empty_file_configures_nothing(tmp_path):
    path = tmp_path / "gc.toml"
    path.write_text("# later\n")
    assert load_config(path) == GCConfig()


PERCENT = [field.name for field in attrs.fields(GCConfig) if field.name.endswith("_percent")]


@pytest.mark.parametrize("name", PERCENT)
@pytest.mark.parametrize("share", [0.8, 0.01, 0.99])
def test_a_share_for_a_percentage_is_refused_with_what_was_meant(name, share):
    meant = rf"{name} = {share}: expected percent, not a share; did you mean {share * 100:g}\?"
    with pytest.raises(ConfigError, match=meant):
        GCConfig(**{name: share})


def test_a_target_of_one_collection_is_a_percentage_too():
    with GCSession(GCConfig()) as session:
        for ask in (session.collect_now, session.plan):
            with pytest.raises(ConfigError, match=r"target_percent = 0.5: expected percent, .*did you mean 50\?"):
                ask(target_percent=0.5)


@pytest.mark.parametrize(
    ("strategy", "option"),
    [
        ("gc_rolling", "target_percent"),
        ("gc_progressive", "target_percent"),
        ("gc_progressive", "digest_percent"),
        ("gc_progressive", "relief_percent"),
        ("gc_progressive", "task_state_percent"),
    ],
)
def test_an_option_that_is_a_percentage_is_refused_alike(strategy, option):
    with pytest.raises(ConfigError, match=rf"{option} = 0.47: expected percent, not a share; did you mean 47\?"):
        GCSession(GCConfig(strategy=strategy, strategies={strategy: {option: 0.47}}))


@pytest.mark.parametrize("declare", [lambda: gc.Major(target_percent=0.4), lambda: gc.Hot(percent=0.4)])
def test_a_trigger_that_is_declared_with_a_share_is_refused(declare):
    with pytest.raises(ConfigError, match=r"percent = 0.4: expected percent, not a share; did you mean 40\?"):
        declare()


def test_the_strategy_of_somebody_else_checks_its_percentages_alike():
    @attrs.frozen(kw_only=True)
    class Mine:
        room_percent: float = attrs.field(default=25.0, validator=gc.percent)

    assert Mine(room_percent=0).room_percent == 0
    for wrong in (0.25, 101, "25", True):
        with pytest.raises(ConfigError, match=f"room_percent = {wrong!r}: expected"):
            Mine(room_percent=wrong)


def test_options_of_a_strategy_that_is_not_there_are_refused_with_the_nearest_name():
    with pytest.raises(ConfigError, match=r"strategies.gc_bdget: no such strategy; .*did you mean gc_budget\?"):
        GCSession(GCConfig(strategies={"gc_bdget": {"keep": 0.1}}))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"nonsense": 1}, "strategy 'gc_rolling' has no option 'nonsense'; it has"),
        ({"target_percent": 0.47}, "did you mean 47?"),
    ],
)
def test_wrong_options_of_a_strategy_not_in_use_are_refused(options, text):
    with pytest.raises(ConfigError, match=re.escape(text)):
        GCSession(GCConfig(strategy="gc_budget", strategies={"gc_rolling": options}))


def test_options_of_one_strategy_in_two_tables_are_refused():
    tables = {"budget": {"keep": 0.2}, "gc_budget": {"keep": 0.4}}
    with pytest.raises(ConfigError, match=r"strategies.gc_budget and strategies.budget are one strategy: expected a"):
        GCSession(GCConfig(strategies=tables))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"summarizers": {"lm": {"retries": 3}}}, "summarizers.lm: no such summarizer; .*; did you mean llm?"),
        ({"summarizers": {"llm": {"retris": 3}}}, "summarizer 'llm' has no option 'retris'; it has .*did you mean"),
        ({"summarizers": {"llm": {}, "gc_llm": {}}}, "summarizers.gc_llm and summarizers.llm are one summarizer"),
        ({"memory_backend": "sqllite"}, "no memory backend 'sqllite'; .*; did you mean sqlite?"),
        ({"compression_profile": "codng"}, "no compression profile 'codng'; .*; did you mean coding?"),
        ({"compression_profile": "atuo"}, "no compression profile 'atuo'; .*; did you mean auto?"),
        ({"importance_scorer": "compsite"}, "no scorer 'compsite'; .*; did you mean composite?"),
        ({"state_extractor": "determinstic"}, "no state extractor 'determinstic'; .*; did you mean deterministic?"),
        ({"summarizer": "lm"}, "no summarizer 'lm'; .*; did you mean llm?"),
        ({"summarizer": "non"}, "no summarizer 'non'; .*; did you mean none?"),
        ({"strategy": "gc_trunc"}, "no strategy 'gc_trunc'; .*; did you mean gc_truncate?"),
        ({"strategy": "GC_Budget"}, "no strategy 'GC_Budget'; .*; did you mean gc_budget?"),
        ({"strategy": "trunkate"}, "no strategy 'trunkate'; .*; did you mean gc_truncate?"),
        ({"summarizer": "gc_lm"}, "no summarizer 'gc_lm'; .*; did you mean llm?"),
        ({"strategies": {"gc_budget": {"kep": 0.5}}}, "strategy 'gc_budget' has no option 'kep'; .*did you mean keep?"),
        ({"provider_edits": {"compact_percnt": 50}}, "provider_edits.compact_percnt = 50: .*did you mean compact_perc"),
    ],
)
def test_an_unknown_name_is_an_error_without_a_directory_too_and_has_the_nearest_name(values, text):
    with pytest.raises(ConfigError, match=text.replace("?", r"\?")):
        GCSession(GCConfig(**values))


def test_a_name_that_is_like_none_gets_no_suggestion():
    with pytest.raises(ConfigError, match=r"no strategy 'xylophone'; installed: .*\]$"):
        GCSession(GCConfig(strategy="xylophone"))


@pytest.mark.parametrize("values", [{}, {"strategies": {"gc_budget": {}}}, {"summarizers": {"mine": {}}}], ids=repr)
def test_plugins_that_were_made_without_discovery_say_so_when_a_name_is_unknown(values):
    expected = re.escape("; these plugins were made without discovery: Plugins.discover() finds the installed ones")
    with pytest.raises(ConfigError, match=expected):
        GCSession(GCConfig(**values), plugins=Plugins())


@pytest.mark.parametrize("name", ["gc_bdget", "budget", "GC_Budget"])
def test_a_name_to_block_that_is_nearly_an_installed_one_is_warned_of(name, caplog):
    Plugins.discover(blocked=[name])
    (record,) = caplog.records
    assert (record.levelname, record.gc_event) == ("WARNING", "blocked plugin unknown")
    assert (record.gc_plugin, record.gc_meant) == (name, "gc_budget")


@pytest.mark.parametrize("name", ["gc_budget", "xylophone", "gc_xylophone"])
def test_a_name_to_block_that_is_installed_or_like_none_is_taken_in_silence(name, caplog):
    assert Plugins.discover(blocked=[name]).manager.is_blocked(name)
    assert caplog.records == []


def test_a_name_like_one_that_was_registered_by_hand_is_a_misspelling_and_no_lack_of_discovery():
    class Own:
        @gc.hookimpl
        def gc_register_strategies(self, register):
            register("gc_fussy", Fussy)

    plugins = Plugins()
    plugins.register(Own())
    with pytest.raises(ConfigError, match=r"no strategy 'fusy'; .*\]; did you mean gc_fussy\?$"):
        GCSession(GCConfig(strategy="fusy"), plugins=plugins)


def test_options_of_a_strategy_not_in_use_are_not_an_error():
    with GCSession(GCConfig(strategies={"gc_budget": {}})) as session:
        assert session.config.strategy == ("gc_truncate",)


class Misspelt:
    def colect(self, context, goal):  # noqa: ARG002 - the contract, misspelt
        yield from ()


@pytest.mark.parametrize("strategy", [object(), dict, 3, Misspelt(), [Misspelt()], {"gc_budget": {}}, ["gc_budget", 3]])
def test_something_that_is_not_a_strategy_is_refused_with_what_a_strategy_has(strategy):
    with pytest.raises(ConfigError, match=r"expected a strategy's name, or an object with a method collect"):
        GCSession(strategy=strategy)


class TakesNothing:
    def collect(self):
        return []


class TakesNoGoal:
    def collect(self, context):  # noqa: ARG002 - one argument too few
        yield from ()


class TakesMore:
    def collect(self, context, goal, budget):  # noqa: ARG002 - one argument too many
        yield from ()


class TakesNames:
    def collect(self, *, context, goal):  # noqa: ARG002 - only by name
        yield from ()


class Awaited:
    async def collect(self, context, goal):  # noqa: ARG002 - the contract, with async
        return []


class AwaitedOneByOne:
    async def collect(self, context, goal):  # noqa: ARG002 - the contract, with async
        for unit in ():
            yield unit


class Holding:
    """A strategy whose collect is an attribute."""

    def __init__(self, collect):
        self.collect = collect


NOT_CALLABLE = [
    TakesNothing(),
    TakesNoGoal(),
    TakesMore(),
    TakesNames(),
    Holding(TakesNoGoal().collect),
    Holding(functools.partial(TakesMore().collect, None, None)),
    Holding(TakesMore),
]


@pytest.mark.parametrize("strategy", NOT_CALLABLE, ids=lambda strategy: type(strategy).__name__)
def test_a_strategy_that_cannot_be_called_is_refused_with_the_signature_that_it_needs(strategy, tmp_path):
    with GCSession(directory=tmp_path / "s") as session:
        session.append(user("Do it."))
    for give in (
        lambda: GCSession(strategy=strategy),
        lambda: GCSession(strategy=["gc_budget", strategy]),
        lambda: GCSession.open(tmp_path / "s", strategy=strategy),
        lambda: compact([user("Do it.")], budget=1_000, strategy=strategy),
    ):
        with pytest.raises(ConfigError, match=r"strategy = .*: expected a method collect\(context, goal\); it has c"):
            give()


@pytest.mark.parametrize("strategy", [Awaited(), AwaitedOneByOne()], ids=lambda strategy: type(strategy).__name__)
def test_a_strategy_that_would_have_to_be_awaited_is_refused(strategy):
    with pytest.raises(ConfigError, match=r"expected a method collect\(context, goal\); it is asynchronous"):
        GCSession(strategy=strategy)


@pytest.mark.parametrize(
    ("cls", "said"), [(TakesNoGoal, r"it has collect\(context\)"), (Awaited, "it is asynchronous")]
)
def test_a_registered_strategy_that_cannot_be_called_is_refused_by_its_name(cls, said):
    class Own:
        @gc.hookimpl
        def gc_register_strategies(self, register):
            register("own", cls)

    plugins = Plugins()
    plugins.register(Own())
    with pytest.raises(ConfigError, match=rf"strategy 'own' .*expected a method collect\(context, goal\); {said}"):
        GCSession(strategy="own", plugins=plugins)


def passing(*given, **named):  # noqa: ARG001 - it takes anything
    return ()


def by_place(context, goal, /):  # noqa: ARG001 - the contract, by position
    return ()


def with_an_option(option, context, goal):  # noqa: ARG001 - the contract, behind something of its own
    return ()


def renamed(function):
    """Return a function that takes what gc-core gives, and looks like what it wraps."""

    @functools.wraps(function)
    def collect(context, goal):  # noqa: ARG001 - the contract
        return function()

    return collect


def hidden(function):
    """Return a function whose signature cannot be read."""
    function.__signature__ = "none"
    return function


class Called:
    def __call__(self, context, goal, more=None):  # noqa: ARG002 - the contract
        return ()


@pytest.mark.parametrize(
    "collect",
    [
        *(passing, functools.partial(passing, 1), Called(), renamed(passing), renamed(lambda: ()), zip, map, Mock()),
        *(hidden(lambda: ()), functools.partial(with_an_option, 1), functools.lru_cache(passing), by_place, max),
    ],
    ids=lambda each: type(each).__name__,
)
def test_whatever_else_can_be_called_with_context_and_goal_is_a_strategy(collect):
    with GCSession(strategy=Holding(collect)) as session:
        session.append(user("Do it."))


def test_no_strategy_at_all_is_refused():
    with pytest.raises(ConfigError, match="strategy='none' collects nothing"):
        GCSession(strategy=[])


HOW_TO_MAKE_ONE = "load_config(path) reads a TOML file, load_config(**values) takes a dict's values"

NO_CONFIGURATIONS = [
    {"context_limit": 8_000},
    "gc.toml",
    Path("gc.toml"),
    '{"strategy": "none"}',
    "gc_budget",
    3,
    GCConfig,
]


@pytest.mark.parametrize("config", NO_CONFIGURATIONS, ids=repr)
def test_something_that_is_not_a_configuration_is_refused_with_how_to_make_one(config, tmp_path):
    with GCSession(GCConfig(), directory=tmp_path / "s") as session:
        session.append(user("Do it."))
    expected = re.escape(f"config = {config!r:.200}: expected a GCConfig; {HOW_TO_MAKE_ONE}")
    for give in (
        lambda: GCSession(config),
        lambda: GCSession.open(tmp_path / "s", config),
        lambda: compact([user("Do it.")], budget=1_000, config=config),
    ):
        with pytest.raises(ConfigError, match=expected):
            give()


@pytest.mark.parametrize("path", [{"strategy": "none"}, 5, GCConfig(), ["gc.toml"], b"gc.toml"], ids=repr)
def test_something_that_is_not_a_path_is_refused_with_how_to_make_a_configuration(path):
    expected = re.escape(f"path = {path!r:.200}: expected the path of a TOML file; {HOW_TO_MAKE_ONE}")
    with pytest.raises(ConfigError, match=expected):
        load_config(path)


def test_what_is_advised_for_a_dict_names_the_nearest_key():
    values = {"strategy": "none", "treshold_percent": 80}
    with pytest.raises(ConfigError, match=r"unknown key 'treshold_percent' = 80; did you mean threshold_percent\?"):
        load_config(**values)


def test_a_path_that_no_file_can_have_is_named():
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config("gc\0.toml")


@pytest.mark.parametrize("summarizer", ["llm", object(), 5, type])
def test_a_summarizer_given_as_something_else_is_refused_with_where_a_name_belongs(summarizer):
    with pytest.raises(
        ConfigError, match=r"summarizer = .*: expected an object with a method summarize\(\); a name bel"
    ):
        GCSession(summarizer=summarizer)


def test_a_validator_without_its_method_is_refused():
    with pytest.raises(ConfigError, match=r"validator = .*: expected an object with a method validate\(\)$"):
        GCSession(validator=object())


@pytest.mark.parametrize(
    ("variable", "text", "meant"),
    [
        ("GC_THRESHOLD", "80", "did you mean GC_THRESHOLD_PERCENT?"),
        ("GC_TARGET", "60 %", "did you mean GC_TARGET_PERCENT?"),
        ("GC_STRATEGIS", "gc_budget", "did you mean GC_STRATEGY?"),
        ("GC_STRATEGIES", "{}", "a table has no variable; write [gc.strategies] in a file"),
        ("GC_TOOLS", "{}", "a table has no variable; write [gc.tools] in a file"),
    ],
)
def test_a_variable_that_was_meant_for_a_key_is_refused(variable, text, meant):
    with pytest.raises(ConfigError, match=re.escape(meant)):
        load_config(environ={variable: text})


@pytest.mark.parametrize(
    "variable", ["GC_TARGET=x86_64", "GC_TOKEN=s3cret", "GC_CACHE=/var/x", "GC_LIMIT=5", "GC_LOG=1"]
)
def test_a_variable_of_another_program_is_left_alone(variable):
    name, _, text = variable.partition("=")
    assert load_config(environ={name: text}) == GCConfig()


def test_a_session_is_opened_to_undo_also_where_its_strategy_and_its_options_are_not_installed(tmp_path):
    class Own:
        @gc.hookimpl
        def gc_register_strategies(self, register):
            register("own", Fussy)

    plugins = Plugins.discover()
    plugins.register(Own())
    config = GCConfig(strategy="own", strategies={"own": {"keep": 2}})
    with GCSession(config, directory=tmp_path / "s", plugins=plugins) as session:
        session.append(user("Do it."))
    with GCSession.open_idle(tmp_path / "s") as session:
        assert [item.text for item in session.items()] == ["Do it."]


@attrs.frozen
class Fussy:
    keep: int = 1

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        yield from ()
