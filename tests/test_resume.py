"""Opened again, a session is what it was: context, budget and numbering, with checkpoints and without."""

import contextlib
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCPolicy, GCRemovalItem, GCSession, Plugins, hookimpl
from gc_core.errors import LogError
from gc_core.transcripts import read_transcript
from tests.support.corpus import corpus_dir, native_sessions, require_corpus
from tests.support.likeness import Walk, assert_alike, copied, grown, likeness, taken
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy
from tests.support.say import answer, call, lines, result, rounds, small, user

STRATEGIES = ["gc_truncate", "gc_budget"]
PRESSURES = pytest.mark.parametrize("pressure", [90, 0], ids=["threshold", "continuous"])
# Shrinking a whole session takes minutes; the failing seed is printed instead.
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
MODELS = {"openai": (None, "gpt-4o", "gpt-3.5-turbo"), "anthropic": (None, "claude-opus-4-5", "claude-3-7-sonnet")}
made = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)


def config(strategy, window, pressure):
    return GCConfig(
        strategy=strategy, context_limit=window, output_reservation=0, pressure_percent=pressure, checkpoint_steps=3
    )


# -- the ways to open --------------------------------------------------------------------------------------------------


def as_it_is(_copy):
    """The newest checkpoint, and what happened since."""


def without_checkpoints(copy):
    shutil.rmtree(copy / "checkpoints", ignore_errors=True)


def with_a_torn_checkpoint(copy):
    for newest in sorted((copy / "checkpoints").glob("*.json"))[-1:]:
        os.truncate(newest, newest.stat().st_size // 2)


WAYS = (as_it_is, without_checkpoints, with_a_torn_checkpoint)


def reopened(session, folder, way=as_it_is):
    """The session as its files tell it, from a copy of them."""
    copy = copied(session._store.directory, folder / way.__name__)
    way(copy)
    return GCSession.open(copy)


def assert_opens_alike(session, folder):
    for way in WAYS:
        with reopened(session, folder, way) as other:
            assert_alike(session, other)


def walk_twice(session, walk, folder, *, every):
    """
    Walk a session; every so many steps it is opened anew and compared. From the middle on a twin, opened then, takes
    the same steps, and what came of each is compared too.
    """
    walk.begin(session)
    steps = list(walk.steps())
    with contextlib.ExitStack() as stack:
        twin = None
        for place, step in enumerate(steps):
            came = taken(step, session)
            if twin is not None:
                assert taken(step, twin) == came
            if place % every == every - 1 or place == len(steps) - 1:
                assert_opens_alike(session, folder)
                if twin is not None:
                    assert_alike(session, twin, places=False)
            if twin is None and place >= len(steps) // 2 and not session._state.blocks.waiting:
                twin = stack.enter_context(GCSession.open(copied(session._store.directory, folder / "twin")))
                twin._waits_above = session._waits_above
        assert session.plugins.failures == []


# -- real sessions and made ones ---------------------------------------------------------------------------------------

REAL = [
    ("entire--ac8a4f1a-1917-46bf-b8c1-0c3bab0fbc16.jsonl", "gc_truncate", 90),
    ("concat-tau2-retail.jsonl", "gc_budget", 0),
    ("gemini-cli--failed_to_enter_planmode.jsonl", "gc_budget", 90),
    ("native/anthropic--entire-1c341e47-b281-4cb7-82da-3ad6d3013b7f.json", "gc_budget", 90),
    ("native/claude-code--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl", "gc_truncate", 0),
]


@pytest.mark.parametrize(("name", "strategy", "pressure"), REAL)
def test_a_real_session_is_the_same_when_it_is_opened_again(name, strategy, pressure, tmp_path):
    require_corpus()
    transcript = read_transcript(corpus_dir() / name)
    messages = transcript.messages[:160]
    walk = Walk(transcript.format, messages, 7, models=MODELS[transcript.format], extras=0.15)
    with GCSession(config(strategy, 16_000, pressure), format=transcript.format, directory=tmp_path / "own") as session:
        session.tools(transcript.tools)
        walk_twice(session, walk, tmp_path, every=40)
        assert session._state.done


@PRESSURES
@pytest.mark.parametrize("strategy", STRATEGIES)
@made
@given(messages=openai_sessions_strategy(max_turns=6, max_steps=5), seed=st.integers())
def test_a_made_openai_session_is_the_same_when_it_is_opened_again(strategy, pressure, messages, seed):
    keeps_alike("openai", strategy, pressure, messages, seed)


@PRESSURES
@pytest.mark.parametrize("strategy", STRATEGIES)
@made
@given(messages=anthropic_sessions_strategy(max_turns=6, max_steps=5), seed=st.integers())
def test_a_made_anthropic_session_is_the_same_when_it_is_opened_again(strategy, pressure, messages, seed):
    keeps_alike("anthropic", strategy, pressure, messages, seed)


def keeps_alike(format_name, strategy, pressure, messages, seed):
    walk = Walk(format_name, grown(messages, seed), seed, models=MODELS[format_name], extras=0.5)
    with tempfile.TemporaryDirectory(prefix="gc-resume-") as name:
        own = Path(name) / "own"
        with GCSession(config(strategy, 3_000, pressure), format=format_name, directory=own) as session:
            walk_twice(session, walk, Path(name), every=7)
