"""The command line, as a user types it."""

import io
import json
import subprocess
import sys
from pathlib import Path

import attrs
import cattrs
import pytest
import typer.main
from ctxgc.cli.app import COMMANDS, app
from ctxgc.cli.tables import summary_table
from ctxgc.evaluation.totals import ReasonCount, ReplaySummary
from rich.console import Console
from typer.testing import CliRunner

from gc_core.values.results import GCTriggerReason

EXAMPLE = Path(__file__).parents[1] / "examples" / "session.jsonl"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def session(tmp_path):
    """A session of six calls in about 1,200 tokens."""
    messages = [{"role": "user", "content": "Count."}]
    for number in range(5):
        messages += [
            {"role": "assistant", "content": f"{number}: " + "one two three " * 60},
            {"role": "user", "content": "On."},
        ]
    path = tmp_path / "made.jsonl"
    path.write_text(
        "".join(json.dumps(message) + "\n" for message in [*messages, {"role": "assistant", "content": "Done."}])
    )
    return path


@pytest.fixture(scope="module")
def demo():
    return run("replay", EXAMPLE, "--strategy", "gc_truncate", "--window", 16_000)


# --- ctxgc replay ---------------------------------------------------------------------------------------------------


def test_the_demo_says_first_what_happened(demo):
    assert demo.exit_code == 0
    first = demo.stdout.splitlines()[0]
    assert "every request fitted 16,000 tokens; 60 would not have fitted without collection." in first


def test_the_demo_collects_several_times_and_breaks_nothing(demo):
    figures = {line[:16].strip(): line[16:].split()[0] for line in demo.stdout.splitlines()[2:14]}
    assert int(figures["collections"]) >= 4
    assert [figures[name] for name in ("calls over", "rule breaches", "LOCKED missing")] == ["0", "0", "0"]


def test_the_demo_says_what_each_figure_means(demo):
    meanings = {line[:16].strip(): line[16:].strip().partition("  ")[2].strip() for line in demo.stdout.splitlines()}
    assert meanings["collections"] == "threshold 8"
    assert meanings["tried again"] == "second collections tried, of which 0 removed anything (expected 0)"
    assert meanings["edits that miss"].startswith("% of 0 edits quote a line that is not in the prompt; if each takes")
    assert meanings["far fit"].startswith("% of 62 names used again after long are in the prompt, ")


@pytest.mark.parametrize(("deferred", "said"), [(0, "threshold 2"), (1, "threshold 2; 1 put off, which would have")])
def test_what_was_put_off_is_told_only_where_something_was(deferred, said):
    document = json.loads(run("replay", EXAMPLE, "--window", 16_000, "--json").stdout)
    summary = cattrs.structure(document["pooled"], ReplaySummary)
    counts = (ReasonCount(reason=GCTriggerReason.THRESHOLD, count=2),)
    shown = Console(width=200, file=io.StringIO())
    shown.print(summary_table(attrs.evolve(summary, deferred=deferred, collections=counts)))
    (line,) = (line for line in shown.file.getvalue().splitlines() if line.startswith("collections"))
    assert said in line
    assert ("put off" in line) == bool(deferred)


def test_the_demo_draws_the_sawtooth_between_its_levels(demo):
    assert "█" in demo.stdout
    for level in ("window 16,000", "threshold 14,400", "target 9,600"):
        assert level in demo.stdout


def test_the_demo_fits_a_screen(demo):
    assert len(demo.stdout.splitlines()) <= 40


def test_the_continuous_mode_has_no_threshold_in_its_chart():
    shown = run("replay", EXAMPLE, "--window", 16_000, "--pressure", 0).stdout
    assert "continuous" in shown
    assert "threshold 14,400" not in shown


def test_json_is_one_document_and_nothing_else():
    done = run("replay", EXAMPLE, "--window", 16_000, "--json")
    document = json.loads(done.stdout)
    (session,) = document["sessions"]
    assert session["summary"] == document["pooled"]
    assert len(session["fill"]) == session["summary"]["calls"] >= 60
    assert document["config"]["strategy"] == ["gc_truncate"]
    assert document["failures"] == []
    assert done.stdout.count("\n") == 1


def test_several_sessions_get_a_row_each_and_one_together(session):
    done = run("replay", EXAMPLE, session, "--window", 16_000)
    rows = [line.split()[0] for line in done.stdout.splitlines() if line]
    assert {"session", "session.jsonl", "made.jsonl", "all"} <= set(rows)
    assert "█" not in done.stdout


def test_a_directory_means_the_sessions_in_it(session):
    (session.parent / "more.jsonl").write_text(session.read_text())
    assert "12 calls" in run("replay", session.parent, "--window", 16_000).stdout


def test_a_chart_can_be_left_out_and_asked_for(session):
    assert "█" not in run("replay", session, "--no-chart").stdout
    assert run("replay", session, session, "--chart").stdout.count("Tokens sent in made.jsonl") == 2


def test_percentages_come_from_options(session):
    done = run("replay", session, "--window", 1_000, "--threshold", 50, "--target", 20, "--pressure", 60, "--json")
    config = json.loads(done.stdout)["config"]
    assert [config[f"{name}_percent"] for name in ("threshold", "target", "pressure")] == [50, 20, 60]


def test_options_beat_the_configuration_file(session, tmp_path):
    path = tmp_path / "gc.toml"
    path.write_text('[gc]\nstrategy = "none"\ncontext_limit = 900\n')
    config = json.loads(run("replay", session, "--config", path, "--window", 1_000, "--json").stdout)["config"]
    assert (config["strategy"], config["context_limit"]) == (["none"], 1_000)


def test_locked_content_over_the_window_is_listed_with_its_owners(tmp_path):
    path = tmp_path / "large.jsonl"
    path.write_text(
        json.dumps({"role": "user", "content": "word " * 500})
        + "\n"
        + json.dumps({"role": "assistant", "content": "Ok."})
    )
    done = run("replay", path, "--window", 100)
    assert done.exit_code == 0
    assert "1 call had more LOCKED content than the window holds." in done.stdout
    assert "large.jsonl: call 1 needs" in done.stdout


# --- what is wrong --------------------------------------------------------------------------------------------------


def test_a_missing_file_is_named_and_the_others_go_on(session):
    done = run("replay", "nowhere.jsonl", session)
    assert done.exit_code == 1
    assert "error: nowhere.jsonl: No such file" in done.stderr
    assert "6 calls" in done.stdout


def test_a_file_without_messages_is_named(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("{broken\n")
    done = run("replay", path, "--json")
    assert done.exit_code == 1
    assert f"{path}: no message" in done.stderr
    assert json.loads(done.stdout)["failures"][0]["file"] == str(path)


def test_a_bad_line_is_a_warning_with_file_and_line(session):
    with session.open("a") as file:
        file.write("\n{broken\n")
    done = run("replay", session)
    assert done.exit_code == 0
    assert f"warning: {session}:14: " in done.stderr


def test_repairs_of_a_session_are_reported_on_stderr(session):
    with session.open("a") as file:
        file.write(json.dumps({"role": "tool", "tool_call_id": "c1", "content": "late"}) + "\n")
    done = run("replay", session, "--json")
    json.loads(done.stdout)
    assert "WARNING: made.jsonl: " in done.stderr


def test_a_message_that_the_wanted_format_has_not_is_named():
    done = run("replay", EXAMPLE, "--format", "anthropic")
    assert done.exit_code == 1
    assert "session.jsonl: role: 'tool'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--strategy", "nope"], "no strategy 'nope'; installed: ['"),
        (["--option", "depth=3"], "has no option 'depth'"),
        (["--option", "depth"], "expected NAME=VALUE"),
        (["--strategy", "none", "--strategy", "truncate", "--option", "a=1"], "several strategies"),
        (["--target", "91"], "expected target <= threshold"),
        (["--threshold", "900"], "threshold_percent = 900.0"),
        (["--config", "nowhere.toml"], "configuration nowhere.toml cannot be read"),
        (["--format", "smoke-signals"], "unknown format 'smoke-signals'"),
    ],
)
def test_a_wrong_option_is_explained_and_stops_before_anything_runs(session, arguments, said):
    done = run("replay", session, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_no_session_at_all_is_a_usage_error():
    assert run("replay").exit_code == 2


# --- the rest -------------------------------------------------------------------------------------------------------


def test_strategies_lists_what_is_installed_and_who_brings_it():
    done = run("strategies")
    assert done.exit_code == 0
    rows = {line.split()[0]: line.split()[1] for line in done.stdout.splitlines() if line.strip()}
    assert (rows["none"], rows["gc_truncate"]) == ("gc_core", "gc_truncate")


def test_the_version_is_printed():
    assert run("--version").stdout.startswith("gc-core ")


def test_help_names_the_commands():
    shown = run("--help").stdout
    assert "replay" in shown
    assert "strategies" in shown


def test_the_example_holds_no_path_of_the_machine_that_recorded_it():
    text = EXAMPLE.read_text(encoding="utf-8")
    found = [
        place for place in ("/work/", "/home/", "/root/", "/Users/", "gc-record-", "/shared/corpus") if place in text
    ]
    assert found == []


def test_the_list_of_commands_is_made_without_importing_one_of_them():
    script = "import sys; from typer.testing import CliRunner; from ctxgc.cli.app import app\n"
    script += "CliRunner().invoke(app, ['--help'], catch_exceptions=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    loaded = set(done.stdout.split())
    assert "ctxgc.cli.app" in loaded
    assert not {name for name in loaded if name.startswith("gc_core") or name.endswith("_commands")}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_the_first_sentence_of_each_commands_help(name):
    command = typer.main.get_command(app).get_command(None, name)
    assert COMMANDS[name].summary == command.get_short_help_str(limit=200)
    assert len(COMMANDS[name].summary) <= 55  # longer ones are cut in a terminal of 80 columns


def test_the_help_of_replay_and_report_names_the_defaults():
    defaults = {"replay": ("gc_truncate", "128,000", "90", "60", "95"), "report": ("gc_truncate", "128,000")}
    for command, values in defaults.items():
        said = " ".join(CliRunner().invoke(app, [command, "--help"]).output.split())
        assert [value for value in values if f"Default: {value}." not in said] == []


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["histroy"], "history"),
        (["replay", "--stratgy", "budget", "x"], "--strategy"),
        (["replay", "--strategy", "budgett", "examples/session.jsonl"], "did you mean gc_budget?"),
        (["compare", "examples/session.jsonl", "--strategy", "trunkate"], "did you mean gc_truncate?"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_one_that_may_be_meant(given, meant):
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 2
    assert meant in done.stderr
