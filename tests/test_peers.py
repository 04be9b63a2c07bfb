"""What ``benchmarks.peers`` promises: adapters that fail are named, and what is measured is what a replay measures."""

import itertools
import json
from pathlib import Path

import attrs
import pytest
from ctxgc.evaluation.baselines import NoCollection
from ctxgc.evaluation.replay import replay_baseline
from ctxgc.evaluation.reuse import uses_of
from ctxgc.evaluation.transcripts import Transcript, read_transcript

from benchmarks.peers.catalog import ADAPTERS, PEERS, REQUIREMENTS, Peer, peers_named
from benchmarks.peers.process import AdapterProcess, PeerCallError, PeerError
from benchmarks.peers.replaying import errors_by_kind, replay_peer
from benchmarks.peers.table import (
    Run,
    apart,
    as_json,
    earlier_figures,
    figures,
    markdown,
    row_of,
    table_of,
)
from gc_core import GCConfig
from gc_core.errors import ConfigError, GCError
from tests.support.corpus import openai_sessions, require_corpus
from tests.support.say import answer, call, result, user

WINDOW = 2_500

HERE = Peer(name="keep last here", package="", venv="", adapter=ADAPTERS / "keep_last.py")
EVERYTHING = attrs.evolve(HERE, name="everything here", arguments=("everything",))

READY = """
import json, sys, time
sys.stdin.readline()
print(json.dumps({"ready": True}), flush=True)
"""
SECOND_FAILS = """
print(json.dumps({"messages": [0], "seconds": 0.0}), flush=True) if sys.stdin.readline() else None
print(json.dumps({"error": "ValueError: no way"}), flush=True) if sys.stdin.readline() else None
for line in sys.stdin:
    print(json.dumps({"messages": [0, {"role": "user", "content": "a summary"}], "seconds": 0.0}), flush=True)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("peers")


def reading(number):
    """Reads so many files; call ids repeat, a call stays without its result, arguments are no JSON."""
    messages = [user("Look at the files.")]
    for place in range(number):
        text = "\n".join(f"line {line} of widget_{place}_part calls helper_{place}_{line}()" for line in range(20))
        messages += [call((f"c{place % 3}", "Read", {"path": f"src/part_{place}.py"})), result(f"c{place % 3}", text)]
    messages += [call(("lost", "Read", "{no json")), user("Go on."), answer("helper_0_1 and widget_3_part are wrong.")]
    return Transcript(
        path=Path("made.jsonl"), format="openai", system=("You look at files.",), messages=tuple(messages)
    )


def played(transcript, peer, home, **more):
    config = GCConfig(context_limit=WINDOW, output_reservation=0, threshold_percent=80.0)
    return replay_peer(transcript, peer=peer, config=config, uses=uses_of(transcript), home=home, **more)


def script(directory, body):
    path = directory / "adapter.py"
    path.write_text(READY + body, encoding="utf-8")
    return attrs.evolve(HERE, name="a broken one", adapter=path)


def timeless(calls):
    return [attrs.evolve(one, seconds=0.0, ingest_seconds=0.0) for one in calls]


def test_a_peer_that_keeps_everything_has_the_figures_of_no_collection(home):
    transcript = reading(20)
    config = GCConfig(context_limit=WINDOW, output_reservation=0, threshold_percent=80.0)
    expected = replay_baseline(transcript, config=config, baseline=NoCollection())
    found = played(transcript, EVERYTHING, home)
    assert expected.summary().far_uses
    assert timeless(found.report.calls) == timeless(expected.calls)
    assert not found.errors


def test_a_recorded_session_comes_back_from_an_adapter_as_it_went(home):
    require_corpus()
    path = next(path for path in openai_sessions() if path.name.startswith("entire--70c88cff"))
    transcript = read_transcript(path)
    config = GCConfig(context_limit=32_000, output_reservation=0)
    uses = uses_of(transcript)
    expected = replay_baseline(transcript, config=config, baseline=NoCollection(), uses=uses)
    found = replay_peer(transcript, peer=EVERYTHING, config=config, uses=uses, home=home)
    assert timeless(found.report.calls) == timeless(expected.calls)


def test_a_peer_gets_trigger_and_target_and_counts_as_the_meter_does(home):
    calls = played(reading(20), HERE, home).report.calls
    drops = [(one.tokens, then.tokens) for one, then in itertools.pairwise(calls) if then.tokens < one.tokens]
    assert max(one.tokens for one in calls) < 0.8 * WINDOW
    assert drops
    assert all(0.4 * WINDOW < then <= 0.6 * WINDOW for _, then in drops)


@pytest.mark.parametrize(
    ("body", "message", "patience"),
    [
        ("raise SystemExit('no licence')", "call 1: its process ended: no licence", 60),
        ("sys.stdin.readline(); print('hello', flush=True); time.sleep(60)", "call 1: answered 'hello", 60),
        ("sys.stdin.readline(); print('[1]', flush=True); time.sleep(60)", "call 1: answered '[1]", 60),
        (
            """sys.stdin.readline(); print('{"messages": 3}', flush=True); time.sleep(60)""",
            "call 1: answered {'messages'",
            60,
        ),
        ("time.sleep(60)", "call 1: no answer in 1.5 seconds", 1.5),
    ],
)
def test_an_adapter_that_fails_is_reported_by_its_name_and_its_calls_are_not_sent(
    body, message, patience, tmp_path, home
):
    found = played(reading(2), script(tmp_path, body), home, patience=patience)
    assert len(found.errors) == 1
    assert found.errors[0].startswith("a broken one: ")
    assert message in found.errors[0]
    assert found.report.summary().calls_over == len(found.report.calls)


def test_a_peer_that_raises_in_one_call_is_asked_again_in_the_next(tmp_path, home):
    found = played(reading(3), script(tmp_path, SECOND_FAILS), home)
    assert [one.sent is not None for one in found.report.calls] == [True, False, True, True, True]
    assert found.errors == ("a broken one: call 2: ValueError: no way",)
    assert found.report.calls[3].sent.prompt.cached == found.report.calls[3].tokens


def test_an_adapter_says_what_its_peer_raised(home):
    peer = attrs.evolve(HERE, name="keep last")
    with AdapterProcess(peer, window=100, trigger=0, target=0, home=home) as process:
        with pytest.raises(PeerCallError, match="keep last: call 1: IndexError"):
            process.call(1, [user("Hello."), result("c1", "text")])
        with pytest.raises(PeerCallError, match="call 2: IndexError"):
            process.call(2, [user("Hello?")])


def test_a_peer_that_is_not_installed_is_reported_with_the_command_that_installs_it(tmp_path):
    with pytest.raises(PeerError, match=r"headroom: no .*, expected its environment: make bench-peers"):
        played(reading(1), PEERS[-1], tmp_path)


def test_another_format_is_refused():
    spoken = Transcript(path=Path("made.jsonl"), format="anthropic", messages=(user("Hello."),))
    with pytest.raises(GCError, match="format 'anthropic'"):
        played(spoken, HERE, Path())


def test_every_peer_has_an_adapter_and_a_pinned_version():
    for peer in PEERS:
        assert peer.adapter.is_file()
        assert peer.version
        assert ("*" in peer.name) == any("stub" in note for note in peer.notes)
    pins = [line for file in REQUIREMENTS.iterdir() for line in file.read_text(encoding="utf-8").splitlines()]
    assert all("==" in pin and "/" not in pin for pin in pins)


def test_peers_are_chosen_by_how_their_names_begin():
    assert [peer.name for peer in peers_named(("headroom", "langchain c"))] == ["langchain clear_tool_uses", "headroom"]
    assert peers_named(()) == PEERS
    with pytest.raises(ConfigError, match="no peer 'nobody'; there are: langchain"):
        peers_named(("nobody",))


def test_a_run_is_shown_with_its_errors_and_compared_with_an_earlier_one(tmp_path, home):
    found = played(reading(3), script(tmp_path, SECOND_FAILS), home)
    table = table_of(WINDOW, [row_of("a broken one", "peer", [found])])
    run = Run(made="Made today.", versions=(), tables=(table,))
    text = "\n".join(markdown(run))
    assert "| a broken one |" in text
    assert "- a broken one, made.jsonl: 1 x a broken one: ValueError: no way" in text
    earlier = earlier_figures(as_json(run))
    assert earlier == pytest.approx(figures(run))
    assert not list(apart(run, earlier, 0.1))
    changed = {key: value + (key[2] == "calls_over") for key, value in earlier.items()}
    assert list(apart(run, changed, 0.1)) == ["2500 a broken one: calls_over 2, now 1"]
    assert json.loads(as_json(run))["tables"][0]["rows"][0]["sessions"][0]["session"] == "made.jsonl"


def test_errors_are_counted_by_what_they_say():
    errors = ("a: call 3: ValueError: x", "a: call 12: ValueError: x", "a: its start: no answer in 3 seconds")
    assert errors_by_kind(errors) == {"a: ValueError: x": 2, "a: its start: no answer in 3 seconds": 1}
