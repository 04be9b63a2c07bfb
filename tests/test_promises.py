"""The promises, on real sessions and on made ones, for every first-party strategy."""

import json
import random
import sys

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCPolicy, GCSession, InstructionSource
from gc_core.providers import format_named
from tests.support.corpus import corpus_dir, native_sessions, openai_sessions, require_corpus
from tests.support.grids import chequered, half
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy
from tests.support.promises import Watch

STRATEGIES = ["gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive"]
# Shrinking a whole session takes minutes; the failing seed is printed instead.
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
WINDOWS = [16_000, 32_000, 100_000]
SAMPLE = [
    "entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl",
    "entire--ac8a4f1a-1917-46bf-b8c1-0c3bab0fbc16.jsonl",
    "gemini-cli--failed_to_enter_planmode.jsonl",
]


def config(strategy, window, pressure):
    levels = {"threshold_percent": 80.0, "pressure_percent": pressure}
    return GCConfig(strategy=strategy, context_limit=window, output_reservation=0, **levels)


def run_transcript(path, strategy, window, pressure, model=None):
    transcript = read_transcript(path)
    with GCSession(config(strategy, window, pressure), format=transcript.format, model=model) as session:
        watch = Watch(session, format_name=transcript.format)
        if transcript.system:
            session.system(**{f"part{place}": text for place, text in enumerate(transcript.system)})
            watch.locked += transcript.system
        session.tools(transcript.tools)
        seen = watch.run(transcript.messages)
        assert session.plugins.failures == []
    return seen


@pytest.mark.parametrize("pressure", [90, 0], ids=["threshold", "continuous"])
# One session of each of two agents; all the others, at this window too, are in `make corpus`.
@pytest.mark.parametrize(("strategy", "name"), half(chequered(STRATEGIES, [SAMPLE[0], SAMPLE[2]])))
def test_a_sample_of_real_sessions_keeps_the_promises_at_16k(name, strategy, pressure):
    require_corpus()
    seen = run_transcript(corpus_dir() / name, strategy, 16_000, pressure)
    assert seen.collections


@pytest.mark.parametrize(
    ("strategy", "model"),
    [
        *[pytest.param(strategy, None, id=f"{strategy}-binds_thinking") for strategy in STRATEGIES],
        *[pytest.param(strategy, "claude-opus-4-5", id=f"{strategy}-keeps_thinking") for strategy in STRATEGIES[::5]],
        *[
            pytest.param(strategy, "claude-opus-4-5", id=f"{strategy}-keeps_thinking", marks=pytest.mark.slow)
            for strategy in STRATEGIES[1:5]
        ],
    ],
)
def test_a_native_session_with_thinking_keeps_the_promises_at_32k(strategy, model):
    require_corpus()
    (path,) = [path for path in native_sessions("anthropic") if "1c341e47" in path.name]
    seen = run_transcript(path, strategy, 32_000, 90, model)
    assert seen.collections


@pytest.mark.slow
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("pressure", [90, 0], ids=["threshold", "continuous"])
def test_every_real_session_longer_than_the_window_keeps_the_promises(strategy, window, pressure):
    require_corpus()
    natives = native_sessions("anthropic") + native_sessions("claude-code")
    lines = []
    for path in openai_sessions() + natives:
        seen = run_transcript(path, strategy, window, pressure)
        if seen.collections or seen.overflows:
            lines.append(
                f"{path.name[:44]:44} {seen.calls:5} calls {sum(seen.collections.values()):4} collections"
                f" {seen.deferred:3} deferred, {seen.repeats:4} repeats checked, {len(seen.overflows)} locked over"
            )
    sys.stdout.write("\n".join([f"\n{strategy} {window} {'continuous' if not pressure else 'threshold'}", *lines, ""]))
    assert lines


made = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)


@pytest.mark.parametrize("strategy", half(STRATEGIES))
@made
@given(
    messages=openai_sessions_strategy(max_turns=6, max_steps=5), pressure=st.sampled_from([90, 0]), seed=st.integers()
)
def test_made_openai_sessions_keep_the_promises(strategy, messages, pressure, seed):
    keep_promises("openai", messages, strategy, pressure, seed)


@pytest.mark.parametrize("strategy", STRATEGIES)
@made
@given(
    messages=anthropic_sessions_strategy(max_turns=6, max_steps=5),
    pressure=st.sampled_from([90, 0]),
    seed=st.integers(),
)
def test_made_anthropic_sessions_keep_the_promises(strategy, messages, pressure, seed):
    keep_promises("anthropic", messages, strategy, pressure, seed)


def keep_promises(format_name, messages, strategy, pressure, seed):
    """Made sessions are grown to several windows by long results; sources come in between."""
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    grown = [grow(message, chance) for message in messages]
    with GCSession(config(strategy, 3_000, pressure), format=format_name) as session:
        session.register_source(InstructionSource(name="team", policy=GCPolicy.PRESERVABLE, layer=20, cap=500))
        session.system(base="You are careful.", rules="Never guess.")
        session.tools([schema(format_name, "look"), schema(format_name, "find")], discoverable={"find"})
        watch = Watch(session, format_name=format_name, repeated_ids=True)
        watch.locked += ["You are careful.", "Never guess."]
        for place, message in enumerate(grown):
            if chance.random() < 0.3:
                session.enrich(clock=f"It is step {place}.", weather="mild")
            if chance.random() < 0.1:
                session.memory("team", notes=f"We met {place} times.")
            watch.run([message])
        watch.call(format_named(format_name).reply({"role": "assistant", "content": "Done."}))


def grow(message, chance):
    """Results become long enough to be worth collecting."""
    copy = json.loads(json.dumps(message))
    lines = "\n".join(f"line {chance.randrange(10**6)} of the output" for _ in range(chance.choice([0, 5, 60])))
    if copy["role"] == "tool" and isinstance(copy["content"], str):
        copy["content"] += lines
    for block in copy["content"] if isinstance(copy.get("content"), list) else ():
        if block.get("type") == "tool_result" and isinstance(block.get("content"), str):
            block["content"] += lines
    return copy


def schema(format_name, name):
    parameters = {"type": "object", "properties": {"where": {"type": "string"}}}
    if format_name == "anthropic":
        return {"name": name, "description": f"To {name}.", "input_schema": parameters}
    return {"type": "function", "function": {"name": name, "description": f"To {name}.", "parameters": parameters}}
