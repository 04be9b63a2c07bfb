"""Errors that say what was wrong in the words of whoever made it: the file, the place, the name that was meant."""

import subprocess
import sys
from pathlib import Path

import pytest
from ctxgc.cli.app import app
from typer.testing import CliRunner

from gc_core import ConfigError, GCConfig, GCSession, load_config
from gc_core.errors import LogError, SourceError
from gc_core.session.reader import SessionReader

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "session.jsonl"


def ctxgc(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('strategi = "x"', "unknown key 'strategi' = 'x'; did you mean strategy?"),
        ("context_limit = -5", "context_limit = -5: expected a whole number of at least 1"),
        ("strategies = { gc_budget = 5 }", "strategies = {'gc_budget': 5}: expected a table of options"),
    ],
)
def test_an_error_about_a_file_names_it(line, said, tmp_path):
    path = tmp_path / "gc.toml"
    path.write_text(f"[gc]\n{line}\n")
    with pytest.raises(ConfigError) as raised:
        load_config(path, environ={})
    assert str(raised.value).startswith(f"configuration {path}: {said}")


def test_an_error_about_a_value_that_came_after_the_file_does_not_name_it(tmp_path):
    path = tmp_path / "gc.toml"
    path.write_text("[gc]\ncontext_limit = 9_000\n")
    with pytest.raises(ConfigError, match=r"^context_limit = -5: "):
        load_config(path, environ={}, context_limit=-5)
    with pytest.raises(ConfigError, match=r"^context_limit = -5: "):
        load_config(path, environ={"GC_CONTEXT_LIMIT": "-5"})


def test_a_file_that_is_missing_is_named_once(tmp_path):
    with pytest.raises(ConfigError) as raised:
        load_config(tmp_path / "missing.toml")
    assert str(raised.value) == f"configuration {tmp_path / 'missing.toml'} cannot be read: No such file or directory"


def test_a_file_where_a_sessions_directory_is_expected_is_said_to_be_one(tmp_path):
    (tmp_path / "afile").touch()
    with pytest.raises(LogError, match=r"afile is a file; expected a directory$"):
        GCSession(directory=tmp_path / "afile")


def test_a_wrong_option_is_one_error_and_no_failure_of_the_plugin(caplog):
    done = ctxgc("replay", DEMO, "--strategy", "gc_budget", "--option", "keep=x")
    assert (done.exit_code, done.stderr) == (2, "error: strategy 'gc_budget': keep = 'x': expected a number\n")
    with pytest.raises(ConfigError, match="keep = 'x': expected a number"):
        GCSession(GCConfig(strategy="gc_budget", strategies={"gc_budget": {"keep": "x"}}))
    assert "plugin failed" not in caplog.text


@pytest.mark.parametrize("options", [(), ("--markdown",)])
def test_a_comparison_of_nothing_prints_no_table(options, tmp_path):
    done = ctxgc("compare", tmp_path / "missing.jsonl", "--strategy", "none", *options)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "No such file" in done.stderr


def test_a_range_that_goes_down_is_refused_with_the_one_that_goes_up(tmp_path):
    with GCSession(directory=tmp_path / "s") as session:
        session.extend([{"role": "user", "content": str(number)} for number in range(9)])
    with SessionReader(tmp_path / "s") as reader, pytest.raises(SourceError) as raised:
        reader.originals(("i9-i3",))
    assert str(raised.value) == "'i9-i3': a range goes upwards: i3-i9"


@pytest.mark.parametrize(("name", "text"), [("empty.json", "[]"), ("empty.jsonl", "")])
def test_a_file_without_a_message_is_said_to_contain_none(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    assert ctxgc("replay", path, "--strategy", "none").stderr.startswith(f"error: {path} contains no messages; ")


def test_the_example_of_a_crash_says_what_it_is_called_with():
    command = [sys.executable, str(ROOT / "examples" / "resume_after_crash.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert (done.returncode, done.stderr) == (1, "usage: python examples/resume_after_crash.py DIRECTORY\n")
