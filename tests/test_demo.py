"""What ``make demo`` tells its reader to do next works in the environment that it made, with one strategy."""

import json
import re
import shlex
from pathlib import Path

import pytest
from ctxgc.cli.app import app
from typer.testing import CliRunner

from gc_core import GCSession
from gc_core.plugins import manager

ROOT = Path(__file__).parents[1]
EXAMPLE = "examples/session.jsonl"
PRINTED = re.findall(r'@echo "  \.demo/bin/ctxgc (.+?)  +\w', (ROOT / "Makefile").read_text())
PLUGIN = re.findall(r"-e plugins/(\w+)", (ROOT / "requirements-demo.txt").read_text())


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """Runs a command in a directory with the example, where no plugin is installed but the demo's."""
    entries = tuple(entry for entry in manager.installed_entries() if entry.name in PLUGIN)
    monkeypatch.setattr(manager, "installed_entries", lambda: entries)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return lambda line: CliRunner().invoke(app, shlex.split(line))


def test_the_demo_installs_one_strategy_and_prints_three_commands():
    assert (PLUGIN, len(PRINTED)) == (["gc_budget"], 3)


@pytest.mark.parametrize("line", PRINTED)
def test_a_command_that_the_demo_prints_works_with_what_the_demo_installed(demo, line):
    done = demo(line)
    assert (done.exit_code, "error" in done.stderr) == (0, False)


def test_the_printed_commands_replay_in_the_window_of_the_demo():
    replays = [line for line in PRINTED if line.startswith(("replay", "compare"))]
    assert len(replays) == 2
    assert all("--window 16000" in line for line in replays)


@pytest.mark.parametrize("line", [f"recall {EXAMPLE} i1", f"search {EXAMPLE} test", f"export {EXAMPLE}"])
def test_a_foreign_log_is_read_without_any_strategy_of_its_own(demo, line):
    done = demo(line)
    assert (done.exit_code, done.stderr) == (0, "")


def test_an_adopted_session_collects_only_with_the_strategy_that_its_host_names(demo, tmp_path):
    assert demo(f"adopt {EXAMPLE} mine").exit_code == 0
    with GCSession.open(tmp_path / "mine") as session:
        assert session.config.strategy == ("none",)
    with GCSession.open(tmp_path / "mine", strategy="gc_budget") as session:
        assert session.config.strategy == ("gc_budget",)


def test_a_strategy_of_our_own_that_is_missing_is_named_with_the_command_that_installs_it(demo):
    done = demo(f"replay {EXAMPLE}")
    command = "pip install gc-truncate, in a clone pip install ./plugins/gc_truncate"
    assert (done.exit_code, done.stderr) == (
        2,
        f"error: no strategy 'gc_truncate'; installed: ['gc_budget', 'none']; {command}\n",
    )
    findings = json.loads(demo("doctor --json").stdout)["findings"]
    assert [each["remedy"] for each in findings if each["level"] == "error"] == [command]
