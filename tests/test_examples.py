"""The examples do what they say: plugins, loops with the official clients, a killed process, a wheel, a judge."""

import importlib.util
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import anthropic
import attrs
import openai
import pytest
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig, GCPolicy, GCSession, ItemKind, Plugins
from gc_core.events import CollectionFinished
from gc_core.storage.audit import verify
from tests.support.provider import ProviderServer
from tests.support.say import answer, lines, use
from tests.support.say import call as openai_call

EXAMPLES = Path(__file__).parents[1] / "examples"
CLIENTS = {
    "openai": lambda url: openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0, timeout=10),
    "anthropic": lambda url: anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, timeout=10),
}


def example(name):
    """An example's module, freshly loaded."""
    spec = importlib.util.spec_from_file_location(name.rpartition("/")[2], EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plugins_with(name):
    plugins = Plugins.discover()
    plugins.register(example(name), name=name)
    return plugins


def call(place, name):
    function = {"name": name, "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{place}", "type": "function", "function": function}],
    }


def steps(session, name, text, count, start=0):
    for place in range(start, start + count):
        session.append(call(place, name))
        session.append({"role": "tool", "tool_call_id": f"c{place}", "content": text})


def policies(session, kind):
    return [item.policy for item in session.items() if item.kind is kind]


def test_a_result_with_a_rule_of_agents_md_is_held():
    session = GCSession(GCConfig(strategy="budget"), plugins=plugins_with("keep_rules"))
    session.append({"role": "user", "content": "Start."})
    steps(session, "read", "AGENTS.md: you must never push to main.\n" + "words\n" * 300, 1)
    steps(session, "read", "nothing of that kind\n" + "words\n" * 300, 1, start=1)
    assert policies(session, ItemKind.TOOL_RESULT) == [GCPolicy.PRESERVABLE, GCPolicy.EPHEMERAL]
    steps(session, "read", "fine", 4, start=2)
    session.collect_now(target_percent=0)
    texts = [item.text for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
    assert any(text.startswith("AGENTS.md: you must never push to main.") and len(text) > 1_000 for text in texts)


def test_a_tools_output_is_decided_again_at_every_collection():
    plugins = plugins_with("one_shot_tool")
    session = GCSession(GCConfig(strategy="budget", preserve_recent_steps=0), plugins=plugins)
    session.append({"role": "user", "content": "Start."})
    steps(session, "screenshot", "button_submit_form\n" + "pixels of the page\n" * 300, 1)
    session.append({"role": "assistant", "content": "I press button_submit_form."})
    session.append({"role": "user", "content": "Go on."})
    assert session.plan(target_percent=1).plan.edits.policies == {"i3": GCPolicy.PARTIAL}
    steps(session, "click", "ok", 4, start=1)
    assert session.plan(target_percent=1).plan.edits.policies == {"i3": GCPolicy.EPHEMERAL}


@pytest.mark.parametrize("name", ["keep_rules", "one_shot_tool"])
def test_locked_is_never_lowered(name):
    session = GCSession(GCConfig(strategy="budget"), plugins=plugins_with(name))
    session.append({"role": "user", "content": "AGENTS.md says you must ask."})
    session.collect_now(target_percent=0)
    assert policies(session, ItemKind.USER_TEXT) == [GCPolicy.LOCKED]


# -- the loops with the official clients ----------------------------------------------------------------------------

FILES = 16
WINDOW = 7_000
RECALLED = "i3"
"""The result of the first read: i1 is the question, i2 the call."""


@pytest.fixture
def files(tmp_path):
    """Files to read, each with something that occurs nowhere else."""
    root = tmp_path / "files"
    root.mkdir()
    for place in range(FILES):
        (root / f"f{place}.txt").write_text(f"secret_{place}_only_here\n" + lines(60, f"word{place}"))
    return root


def replies_of(kind):
    """The model reads every file, one that is not there too, takes the first one back, and answers."""
    reads = [f"f{place}.txt" for place in range(FILES)] + ["../outside.txt"]
    calls = [("read_file", {"path": path}) for path in reads]
    calls += [("recall", {"reference": RECALLED})]
    saying = {"openai": openai_call, "anthropic": use}[kind]
    return [*(saying((f"c{place}", *named)) for place, named in enumerate(calls)), answer("I have read them.")]


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_a_loop_with_the_official_client_collects_and_is_never_refused(kind, files, tmp_path):
    loop = example(f"{kind}_loop")
    collected = []
    config = GCConfig(strategy="gc_budget", context_limit=WINDOW, output_reservation=1_000, threshold_percent=70)
    with ProviderServer(replies_of(kind), limit=WINDOW) as server, CLIENTS[kind](server.url) as client:
        said = loop.answered(
            client, "What is in them?", files, config=config, directory=tmp_path / "session", on_event=collected.append
        )
    assert said == "I have read them."
    assert server.refusals == []
    assert sum(isinstance(event, CollectionFinished) for event in collected) >= 3
    *_, before, last = ("".join(map(str, body["messages"])) for body in server.requests)
    assert "word0 59 of the text" not in before
    assert "word0 59 of the text" in last
    assert "KeyError: '../outside.txt'" in last


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_a_loop_whose_window_is_smaller_than_it_thinks_goes_on(kind, files):
    loop = example(f"{kind}_loop")
    with ProviderServer(replies_of(kind), limit=6_000) as server, CLIENTS[kind](server.url) as client:
        config = GCConfig(strategy="gc_budget", context_limit=200_000, output_reservation=1_000)
        assert loop.answered(client, "What is in them?", files, config=config) == "I have read them."
    assert len(server.refusals) == 1


# -- a process that is killed ---------------------------------------------------------------------------------------


def killed_after(directory, number):
    """Run the example until it has said so many lines, and kill it; what it said."""
    command = [sys.executable, str(EXAMPLES / "resume_after_crash.py"), str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own example
        said = [process.stdout.readline().split() for _ in range(number)]
        process.kill()
        said += [line.split() for line in process.stdout if line.endswith("\n")]
    assert process.returncode == -signal.SIGKILL
    return said


def test_a_long_session_is_killed_twice_and_goes_on_where_it_was(tmp_path):
    crash = example("resume_after_crash")
    directory = tmp_path / "long"
    first, second = killed_after(directory, 30), killed_after(directory, 20)
    done, going_on = number_of(first[-1]), number_of(second[0])
    assert going_on in {done + 1, done + 2}  # one step may have been done and not said
    crash.FILES = number_of(second[-1]) + 10
    assert crash.work(directory) == f"Done: I have read {crash.FILES} files."
    with GCSession.open(directory) as session:
        assert sum(entry.what == "collected" for entry in session.history()) >= 3
        for call, item in first + second:
            assert session.recall(item) == crash.read(call)
    assert verify(directory) == ()


def number_of(step):
    return int(step[0].removeprefix("call_"))


# -- a policy, and somebody else's strategy -------------------------------------------------------------------------


def test_the_rules_of_a_project_stay_wherever_they_come_from():
    plugins = Plugins.discover()
    plugins.register(example("policy_plugin").ProjectRules())
    config = GCConfig(strategy="budget", context_limit=12_000, preserve_recent_turns=1)
    with GCSession(config, plugins=plugins) as session:
        session.system(source="project", agents="Run the tests before you commit.")
        session.append({"role": "user", "content": "Start."})
        steps(session, "read", "lib/AGENTS.md\n" + "Tabs, and no spaces.\n" * 60, 1)
        session.append({"role": "assistant", "content": "I have read it."})
        session.append({"role": "user", "content": "Never touch main.cfg."})
        steps(session, "read", "lib/main.py\n" + "words\n" * 1_000, 9, start=1)
        session.collect_now(target_percent=0)
        text = json.dumps([*session.pre_send().messages])
    assert "Run the tests before you commit." in text
    assert text.count("Tabs, and no spaces.") == 60
    assert "Never touch main.cfg." in text
    assert text.count("words") < 5_000


@pytest.fixture(scope="module")
def fair_share(tmp_path_factory):
    """The place where only the third party's wheel is installed."""
    made = tmp_path_factory.mktemp("third_party")
    source = shutil.copytree(EXAMPLES / "third_party_strategy", made / "source")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(made)]
    ended = subprocess.run(build, cwd=source, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (wheel,) = made.glob("gc_fair_share-*.whl")
    shutil.unpack_archive(wheel, made / "site", "zip")  # all that an installer does with a wheel of pure Python
    return made / "site"


def test_a_third_partys_wheel_is_found_by_its_entry_point_and_keeps_the_contract(fair_share, monkeypatch):
    monkeypatch.syspath_prepend(str(fair_share))
    plugins = Plugins.discover()
    assert plugins.failures == []
    assert "fair_share" in {info.name for info in plugins.strategies()}
    config = GCConfig(strategy="fair_share", context_limit=16_000, strategies={"fair_share": {"keep": 0.3}})
    with GCSession(config, plugins=plugins) as session:
        session.append({"role": "user", "content": "Start."})
        steps(session, "read", lines(200), 20)
        assert session.pre_send().tokens <= 16_000
        assert [name for name, _ in session.last_result.freed_by()] == ["fair_share"]
    contract = example("third_party_strategy/tests/test_contract").TestFairShare
    contract.seeds = (0,)  # one window of each kind, so that the suite stays fast; its own tests have eight
    for name, _ in contract.rules():
        getattr(contract(), name)()


# -- a judge --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    judge = example("judge")
    left, right = (
        GCConfig(strategy=name, context_limit=16_000, output_reservation=0) for name in ("gc_budget", "gc_truncate")
    )
    recorded = read_transcript(EXAMPLES / "session.jsonl")
    half = attrs.evolve(recorded, messages=recorded.messages[:100])
    return judge, judge.pairs(half, left, right, number=12)


def longer(question):
    return "1" if len(question.first) > len(question.second) else "2"


def test_pairs_are_two_windows_of_one_moment_that_differ(drawn):
    _, pairs = drawn
    assert len({pair.call for pair in pairs}) == len(pairs) == 12
    assert all(pair.left.messages != pair.right.messages and pair.reality for pair in pairs)
    assert all(max(pair.left.tokens, pair.right.tokens) <= 16_000 for pair in pairs)


def test_a_judge_who_has_a_reason_is_counted_in_both_orders(drawn):
    judge, pairs = drawn
    models = iter(["a longer reply", "short"] * 12)
    tally = judge.judged(pairs, lambda _: next(models), longer)
    assert tally == judge.Tally(left=12)
    assert tally.chance == pytest.approx(2 / 2**12)


def test_a_judge_who_prefers_a_place_decides_nothing(drawn):
    judge, pairs = drawn
    tally = judge.judged(pairs, lambda _: "the same", lambda _: "1")
    assert tally == judge.Tally(turned=12)
    assert tally.chance == 1


def test_the_prompt_says_nothing_of_who_wrote_which(drawn):
    judge, pairs = drawn
    prompts = []

    def asked(question):
        prompts.append(question.prompt())
        return "0"

    assert judge.judged(pairs[:2], lambda request: f"{request.tokens} tokens", asked).even == 2
    assert not any(word in prompt for prompt in prompts for word in ("gc_budget", "gc_truncate", "left", "right"))
