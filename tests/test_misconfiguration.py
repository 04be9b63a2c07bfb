"""What somebody meant and did not write is an error that names it, and never silence."""

import re

import pytest

from gc_core import ConfigError, GCConfig, GCSession, load_config

BAD_FILES = {
    "[tool.gc]\nthreshold_percent = 80\n": "[tool.gc] is not read: call it [gc]",
    "[gc_core]\nthreshold_percent = 80\n": "[gc_core] is not read: call it [gc]",
    "[gc-core]\nthreshold_percent = 80\n": "[gc-core] is not read: call it [gc]",
    "[project]\nname = 'mine'\n": "has no table [gc]; it has ['project']",
    "threshold_percent = 80\n": "its keys are outside",
}


@pytest.mark.parametrize("text", BAD_FILES)
def test_a_file_without_its_table_says_what_it_has_instead(tmp_path, text):
    path = tmp_path / "gc.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(BAD_FILES[text])):
        load_config(path)


def test_an_empty_file_configures_nothing(tmp_path):
    path = tmp_path / "gc.toml"
    path.write_text("# later\n")
    assert load_config(path) == GCConfig()


@pytest.mark.parametrize("name", ["threshold_percent", "target_percent", "pressure_percent"])
def test_a_share_for_a_percentage_is_refused_with_what_was_meant(name):
    with pytest.raises(ConfigError, match=rf"{name} = 0.8: expected percent, not a share; did you mean 80\?"):
        GCSession(GCConfig(**{name: 0.8}))


def test_options_of_a_strategy_that_is_not_there_are_refused_with_the_nearest_name():
    with pytest.raises(ConfigError, match=r"strategies.gc_bdget: no such strategy; .*did you mean gc_budget\?"):
        GCSession(GCConfig(strategies={"gc_bdget": {"keep": 0.1}}))


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


def test_no_strategy_at_all_is_refused():
    with pytest.raises(ConfigError, match="strategy='none' collects nothing"):
        GCSession(strategy=[])


@pytest.mark.parametrize("config", [{"context_limit": 8_000}, "gc.toml", 3])
def test_something_that_is_not_a_configuration_is_refused_with_how_to_make_one(config):
    with pytest.raises(ConfigError, match=r"expected a GCConfig; load_config\(path\) reads"):
        GCSession(config)
