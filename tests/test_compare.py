"""``ctxgc compare``: the sessions, the workers, the tables, and that they are the same every time."""

import json
import multiprocessing
import os
import time
from pathlib import Path

import attrs
import distributed
import pytest
from ctxgc.cli.app import app
from ctxgc.cli.compare_commands import _offer
from ctxgc.cli.console import given as files_of
from ctxgc.evaluation.baselines import MASK, BaselineSession
from ctxgc.evaluation.call_measures import CallMeasures, Fit, Prompt, Recovery, Sent, Share
from ctxgc.evaluation.comparison import BANDS, compare, session_names
from ctxgc.evaluation.executors import crew_of
from ctxgc.evaluation.find_sessions import chosen, own_sessions
from ctxgc.evaluation.jobs import BASELINES_BY_NAME, Recording, Work, measured
from ctxgc.evaluation.replay import replay_baseline
from ctxgc.evaluation.replay_report import pooled, summary_of
from ctxgc.evaluation.reuse import uses_of
from ctxgc.evaluation.totals import sums_of, together
from ctxgc.evaluation.transcripts import Transcript, read_transcript
from ctxgc.evaluation.vendor_modes import SUMMARY_OPENING, VENDOR_MODES, FlatSummary, ToolClearing
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from gc_core import GCConfig, GCSession
from gc_core.errors import ConfigError, ExecutorError

EXAMPLE = Path(__file__).parents[1] / "examples" / "session.jsonl"


def steps(count, *, tokens=100, name="part"):
    """A session of one request and steps, each of which reads a file of its own."""
    messages = [{"role": "user", "content": "Begin with plan.md."}]
    for step in range(count):
        function = {"name": "read", "arguments": json.dumps({"path": f"src/{name}_{step}.py"})}
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{step}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"c{step}", "content": f"{name}_{step}.py\n" + "hello " * tokens},
        ]
    return [*messages, {"role": "assistant", "content": f"It was {name}_1.py."}]


def written(path, messages):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(message) + "\n" for message in messages))
    return path


@pytest.fixture
def small(tmp_path):
    return written(tmp_path / "made.jsonl", steps(12, tokens=200))


def run(*arguments, **more):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)], **more)


def without_times(value):
    """The figures that two runs share: no seconds, no milliseconds, no date."""
    if isinstance(value, dict):
        timed = {"p99_ms", "collecting", "plain", "ingest", "date"}
        return {key: without_times(inner) for key, inner in value.items() if key not in timed}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def plain(comparison):
    """A comparison as JSON has it, without times."""
    return without_times(json.loads(json.dumps(attrs.asdict(comparison), default=str)))


# --- simulated vendors' modes ---------------------------------------------------------------------------------------


def requests(baseline, messages, window=1_000_000):
    made = Transcript(path=Path("made.jsonl"), format="openai", messages=tuple(messages))
    config = GCConfig(context_limit=window, output_reservation=0)
    kept = BaselineSession(baseline, config=config, format="openai", model=None, uses=uses_of(made))
    for message in messages:
        if message["role"] == "assistant":
            yield kept.pre_send().messages
            kept.post_turn(message)
        else:
            kept.append(message)


def test_a_flat_summary_stands_between_the_first_request_and_the_newest_exchange():
    messages = steps(30)
    *_, last = requests(FlatSummary(trigger=2_000, most=300), messages)
    summaries = [str(message["content"]) for message in last if SUMMARY_OPENING in str(message["content"])]
    assert last[0] == messages[0]
    assert last[-1] == messages[-2]
    assert len(summaries) == 1
    assert "part_20.py" in summaries[0]


def test_an_earlier_summary_goes_into_the_next_one_and_what_is_oldest_is_lost():
    seen = list(requests(FlatSummary(trigger=2_000, most=200), steps(60)))
    texts = [str(message["content"]) for message in seen[-1] if SUMMARY_OPENING in str(message["content"])]
    assert len(texts) == 1
    assert "part_0.py" not in texts[0]


def test_below_its_trigger_a_mode_changes_nothing_however_small_the_window():
    messages = steps(30)
    for mode in VENDOR_MODES:
        *_, last = requests(mode, messages, window=500)
        assert list(last) == messages[:-1]


def test_tool_clearing_keeps_three_results_and_every_call_from_its_trigger_on():
    messages = steps(30)
    *_, last = requests(ToolClearing(trigger=2_000), messages)
    contents = [message["content"] for message in last if message["role"] == "tool"]
    assert contents[:-3] == [MASK] * 27
    assert MASK not in contents[-3:]
    assert [message for message in last if message["role"] == "assistant"] == [
        message for message in messages[:-1] if message["role"] == "assistant"
    ]


def test_tool_clearing_judges_the_history_as_it_was_and_so_clears_again_at_every_request():
    seen = list(requests(ToolClearing(trigger=2_000), steps(40)))
    cleared = [sum(message["content"] == MASK for message in request) for request in seen]
    begun = next(place for place, count in enumerate(cleared) if count)
    assert cleared[begun:] == list(range(cleared[begun], cleared[begun] + len(cleared) - begun))


@pytest.mark.parametrize("mode", [FlatSummary(trigger=20_000, most=1_000), ToolClearing(trigger=12_000)])
def test_a_mode_makes_requests_that_a_provider_takes(mode):
    summary = replay_baseline(read_transcript(EXAMPLE), config=GCConfig(context_limit=64_000), baseline=mode).summary()
    assert (summary.rule_breaches, summary.first_request_kept) == (0, 100.0)
    assert summary.breaks > 0


# --- the tables -----------------------------------------------------------------------------------------------------

shares = st.builds(lambda kept, more: Share(kept=kept, whole=kept + more), st.integers(0, 9), st.integers(0, 9))
calls = st.builds(
    CallMeasures,
    number=st.integers(1, 9),
    sent=st.none() | st.builds(Sent, prompt=st.builds(Prompt, tokens=st.integers(50, 200), cached=st.integers(0, 50))),
    without=st.builds(Prompt, tokens=st.integers(100, 300), cached=st.integers(0, 100)),
    fit=st.builds(
        Fit, far=shares, near=shares, edits=shares, reuse=shares, recovery=st.builds(Recovery, missed=st.integers(1, 3))
    ),
    tried=st.booleans(),
    seconds=st.sampled_from([0.0, 0.5, 2.0]),
)


@settings(max_examples=25)
@given(parts=st.lists(st.lists(calls, max_size=5), max_size=4))
def test_sums_of_sessions_add_up_to_those_of_all_their_calls(parts):
    whole = together(sums_of(part, window=120) for part in parts).summary()
    once = summary_of([one for part in parts for one in part], window=120)
    assert whole == attrs.evolve(once, cost=whole.cost, cost_with_misses=whole.cost_with_misses)


def test_no_session_at_all_has_figures_of_nothing():
    assert pooled([]).calls == 0


def test_five_columns_fit_a_terminal_of_100(small):
    lines = run(small, "--window", "2000,3000", "--workers", 1, "--by-length").stdout.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 100
    rows = [line.split("  ") for line in lines if line.startswith("gc_truncate")]
    assert {len([cell for cell in row if cell.strip()]) for row in rows} == {5}


def test_every_measure_has_a_column_and_a_line_fits_200_columns(small):
    done = run(small, "--window", "2000", "--workers", 1, "--by-length", "--wide")
    header = " ".join(" ".join(line.split()) for line in done.stdout.splitlines()[1:4])
    for word in ("edits", "that", "miss", "range", "far", "quotes %", "misses", "cost", "verbatim", "reuse %",
                 "far fit %", "near %", "prompt", "user text", "request", "recovered", "calls", "over", "breaches",
                 "breaks a", "p99"):  # fmt: skip
        assert word in header
    assert max(map(len, done.stdout.splitlines())) <= 200
    assert "…" not in done.stdout
    assert "*simulated: one flat summary at 150k*" in done.stdout
    assert "*simulated: tool clearing at 100k keeping 3*" in done.stdout
    assert "sessions of 10-50 calls (1 session, 13 calls" in done.stdout


def test_sessions_are_distinguished_by_their_length(tmp_path):
    for count in (4, 15, 60):
        written(tmp_path / f"s{count}.jsonl", steps(count, tokens=5))
    done = run(tmp_path, "--window", "2000", "--workers", 1, "--json")
    (table,) = json.loads(done.stdout)["comparison"]["tables"]
    assert table["sessions"] == ["s15.jsonl", "s4.jsonl", "s60.jsonl"]
    assert [(band["band"]["least"], band["sessions"]) for band in table["bands"]] == [
        (10, ["s15.jsonl"]),
        (50, ["s60.jsonl"]),
    ]
    assert [row["system"] for row in table["bands"][0]["rows"]] == [row["system"] for row in table["rows"]]
    for band in table["bands"]:
        (alone,) = {row["summary"]["calls"] for row in band["rows"]}
        assert alone == int(band["sessions"][0][1:-6]) + 1


def test_tables_by_length_are_shown_in_markdown_too(small):
    shown = run(small, "--window", "2000", "--workers", 1, "--by-length", "--markdown").stdout
    assert "#### Window 2,000, sessions of 10-50 calls (1 session, 13 calls" in shown


def test_a_session_is_in_one_band_at_most():
    for count in range(1_000):
        assert sum(band.holds(count) for band in BANDS) == (count >= 10)


# --- the same every time --------------------------------------------------------------------------------------------


def test_two_runs_say_the_same_but_for_times_in_one_process_or_in_two(tmp_path):
    for number, count in enumerate((12, 24)):
        written(tmp_path / f"s{number}.jsonl", steps(count, name=f"part{number}"))
    one, two = (
        json.loads(run(tmp_path, "--window", "1000", "--workers", workers, "--json").stdout) for workers in (1, 2)
    )
    assert without_times(one) == without_times(two)


def test_files_of_the_same_name_are_distinguished_and_a_file_named_twice_counts_once(tmp_path):
    paths = [written(tmp_path / place / "s.jsonl", steps(3)) for place in ("a/x", "b/x", "b/y")]
    names = session_names([*paths, paths[0], tmp_path / "a" / "x" / ".." / "x" / "s.jsonl"])
    assert list(names.values()) == ["a/x/s.jsonl", "b/x/s.jsonl", "y/s.jsonl"]
    assert list(names) == paths


# --- who does the work ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1", dashboard_address=None
    ) as made:
        yield made.scheduler_address.replace("tcp://", "dask://")


def test_a_cluster_finds_what_this_process_finds(small, cluster):
    here, there = (
        compare([small], config=GCConfig(), strategies=["gc_truncate"], windows=[2_000], executor=executor)
        for executor in ("processes", cluster)
    )
    assert plain(here) == plain(there)


def test_a_cluster_reports_a_missing_file(small, cluster, tmp_path):
    found = compare([tmp_path / "no.jsonl", small], config=GCConfig(), strategies=[], windows=[2_000], executor=cluster)
    assert found.tables[0].sessions == ("made.jsonl",)
    assert [failure for failure in found.failures if "no.jsonl: No such file" in failure] == list(found.failures)


def test_work_that_takes_its_session_along_needs_no_file_and_brings_little_back(small):
    config = GCConfig(context_limit=2_000, output_reservation=0)
    near = Work(recording=Recording(path=small), config=config, system="keep last")
    far = attrs.evolve(near, recording=near.recording.taken_along())
    here = measured(near)
    small.unlink()
    there = measured(far)
    timeless = {"collecting": (), "plain": (), "ingest": ()}
    assert attrs.evolve(here.sums, **timeless) == attrs.evolve(there.sums, **timeless)


@pytest.mark.parametrize("name", ["spark://a:1", "dask://", "dask://here", "dask://here:0", "dask://here:70000", "x"])
def test_an_unknown_executor_is_refused_with_those_that_there_are(small, name):
    done = run(small, "--executor", name)
    assert done.exit_code == 2
    assert f"executor {name!r}: expected 'processes' or 'dask://HOST:PORT'" in done.stderr


def test_a_lost_worker_is_reported_by_name():
    with (
        pytest.raises(ExecutorError, match=r"'processes' lost a worker \(BrokenProcessPool"),
        crew_of("processes", workers=2) as crew,
    ):
        list(crew.results(os._exit, [1]))


def interrupted():
    with crew_of("processes", workers=2) as crew:
        crew.executor.submit(time.sleep, 600)
        crew.executor.submit(time.sleep, 600)
        raise KeyboardInterrupt


def test_an_interrupt_stops_the_processes_at_once():
    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    given_up = time.monotonic() + 60
    while set(multiprocessing.active_children()) - before:
        assert time.monotonic() < given_up
        time.sleep(0.01)


# --- whose sessions -------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path):
    """A home with two sessions of Claude Code, one of a subagent, and one of Codex; the last is the newest."""
    claude, codex = tmp_path / ".claude" / "projects", tmp_path / ".codex" / "sessions" / "2026" / "11" / "22"
    files = [
        (claude / "-srv-shop" / "1.jsonl", [{"type": "summary"}, {"cwd": "/srv/shop"}]),
        (claude / "-srv-site" / "2.jsonl", [{"type": "summary"}]),
        (claude / "-srv-site" / "agent-3.jsonl", [{"cwd": "/srv/site"}]),
        (codex / "rollout-2026-11-22T10-00-00-4.jsonl", [{"type": "session_meta", "payload": {"cwd": "/srv/bot"}}]),
    ]
    for age, (path, lines) in enumerate(reversed(files)):
        written(path, lines)
        os.utime(path, (1_790_000_000 - age, 1_790_000_000 - age))
    return tmp_path


def test_own_sessions_are_found_newest_first_with_their_projects(home):
    found = own_sessions(home, {})
    assert [(session.agent, session.project) for session in found] == [
        ("Codex", "/srv/bot"),
        ("Claude Code", "-srv-site"),
        ("Claude Code", "/srv/shop"),
    ]
    assert all(session.bytes == session.path.stat().st_size for session in found)


def test_the_agents_own_variables_say_where_their_sessions_are(home):
    moved = {"CLAUDE_CONFIG_DIR": str(home / ".claude"), "CODEX_HOME": str(home / ".codex")}
    assert own_sessions(home / "other", moved) == own_sessions(home, {})
    with pytest.raises(ConfigError, match="no session of Claude Code in"):
        own_sessions(home / "other", {})


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("3", [3]), ("1,3", [1, 3]), (" 2 - 4, 1 ", [1, 2, 3, 4]), ("All", [1, 2, 3, 4, 5]), ("2 2-3", [2, 3])],
)
def test_sessions_are_chosen_by_numbers_ranges_or_all(text, numbers):
    assert chosen(text, 5) == numbers


@pytest.mark.parametrize("text", ["", "0", "6", "2-9", "4-2", "one", "1-", "-3", "1;2"])
def test_an_answer_that_means_nothing_is_explained(text):
    with pytest.raises(ConfigError, match=r"expected numbers from 1 to 5, ranges as 1-5, or 'all'"):
        chosen(text, 5)


def test_without_sessions_and_without_a_terminal_it_says_what_to_pass(home):
    done = run(env={"HOME": str(home)}, input="1\n")
    assert done.exit_code == 2
    assert "pass files or directories of sessions" in done.stderr


def test_at_a_terminal_it_asks_which_session_is_meant(home, monkeypatch, capsys):
    written(home / ".claude" / "projects" / "-srv-site" / "2.jsonl", steps(12))
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    ours, its = os.openpty()
    os.write(ours, b"9\n1\n")
    with os.fdopen(its, encoding="utf-8") as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        with pytest.raises(SystemExit) as ended:
            app(["compare", "--window", "2000", "--workers", "1"])
    os.close(ours)
    shown = capsys.readouterr()
    assert ended.value.code == 0
    assert "/srv/bot" in shown.err
    assert "expected numbers from 1 to 3" in shown.err
    assert "Window 2,000 (1 session, 13 calls" in shown.out


# --- bad input ------------------------------------------------------------------------------------------------------


def test_an_empty_directory_is_named(tmp_path):
    done = run(tmp_path)
    assert done.exit_code == 2
    assert f"{tmp_path}: no *.jsonl and no *.json in it, expected recorded sessions" in done.stderr


def test_a_file_that_is_not_a_session_is_reported_and_the_others_continue(tmp_path):
    written(tmp_path / "a.jsonl", steps(12))
    (tmp_path / "b.jsonl").write_text("no json\n")
    written(tmp_path / "c.jsonl", [{"role": "user", "content": "Is anybody there?"}])
    (tmp_path / "none").mkdir()
    done = run(tmp_path, tmp_path / "none", "--window", "2000", "--workers", 1)
    assert done.exit_code == 1
    assert "Window 2,000 (1 session, 13 calls" in done.stdout
    for said in ("b.jsonl: no message", "c.jsonl: no message of the assistant", "none: no *.jsonl"):
        assert said in done.stderr


def test_what_a_file_lacks_is_a_warning_with_file_and_line(small):
    with small.open("a") as file:
        file.write("{broken\n{broken\n")
    done = run(small, "--window", "2000", "--workers", 1)
    assert done.exit_code == 0
    assert f"warning: {small}:27: " in done.stderr
    assert "(and 1 more)" in done.stderr


@pytest.mark.parametrize("window", ["0", "-5", "32k", "2000,", "99", "999999999999", "1e5"])
def test_a_window_that_cannot_be_meant_is_refused(small, window):
    done = run(small, f"--window={window}")
    assert done.exit_code == 2
    assert "expected numbers of tokens from 100 to 100,000,000" in done.stderr


def test_an_unknown_strategy_is_refused_with_those_that_are_installed(small):
    done = run(small, "--strategy", "gc_truncate,gc_nope")
    assert done.exit_code == 2
    assert "no strategy 'gc_nope'; installed: ['" in done.stderr
    assert "'gc_truncate'" in done.stderr


def test_baselines_and_modes_have_names_of_their_own():
    assert len(BASELINES_BY_NAME) == 7
    assert sum(name.startswith("simulated: ") for name in BASELINES_BY_NAME) == 2


def test_an_unreadable_file_is_not_a_session_of_ones_own(home):
    project = home / ".claude" / "projects" / "-srv-shop"
    (project / "gone.jsonl").symlink_to("nowhere")
    (project / "folder.jsonl").mkdir()
    assert len(own_sessions(home, {})) == 3


def test_a_project_is_offered_by_its_name_whatever_it_contains(home):
    session = attrs.evolve(own_sessions(home, {})[0], project="/srv/[/b][red]x\x1b[31m")
    console = Console(width=120)
    with console.capture() as shown:
        console.print(_offer([session]))
    assert "/srv/[/b][red]x\ufffd[31m" in shown.get()


def test_a_path_that_is_not_a_file_is_reported_and_stops_nothing(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "a.jsonl")
    found = run("--workers", 1, *(tmp_path / name for name in ("loop", "pipe", "folder", "n" * 300)))
    assert found.exit_code == 1
    for complaint in ("symbolic links", "is a pipe", "no *.jsonl", "File name too long"):
        assert complaint in found.output


def test_the_directory_of_a_session_of_gc_cores_own_is_its_log_alone(tmp_path):
    with GCSession(GCConfig(), directory=tmp_path):
        pass
    assert files_of([tmp_path]).files == (tmp_path / "master.jsonl",)
