"""Opened again, a session is what it was: context, budget and numbering, with checkpoints and without."""

import contextlib
import gc
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs
import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCPolicy, GCRemovalItem, GCSession, Plugins, hookimpl
from gc_core.errors import LogError
from gc_core.providers import format_named
from gc_core.session.history import History
from gc_core.storage.checkpoints import sealed
from gc_core.values.items import Form
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.inside import counter_of, meter_of, state_of, store_of, window_of
from tests.support.likeness import Walk, assert_alike, assert_same, copied, grown, likeness, taken
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy
from tests.support.promises import recount
from tests.support.say import Letters, answer, lines, rounds, small, user

STRATEGIES = ["gc_truncate", "gc_budget"]
PRESSURES = pytest.mark.parametrize("pressure", [90, 0], ids=["threshold", "continuous"])
# Shrinking a whole session takes minutes; the failing seed is printed instead.
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
MODELS = {"openai": (None, "gpt-4o", "gpt-3.5-turbo"), "anthropic": (None, "claude-opus-4-5", "claude-3-7-sonnet")}
made = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)


@pytest.fixture(autouse=True)
def _one_time_and_no_index(monkeypatch):
    """
    Lines of another time may be longer, and places in the log may be named in the window. The index, which is made of
    the log, would be written at its path while another session's files stand there.
    """
    monkeypatch.setattr(History, "index_in_background", lambda _: None)
    monkeypatch.setattr(time, "time", lambda: 1_763_780_000.125)


def config(strategy, window, pressure):
    return GCConfig(
        strategy=strategy,
        context_limit=window,
        output_reservation=0,
        threshold_percent=80.0,
        pressure_percent=pressure,
        checkpoint_every_n_steps=3,
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


@contextlib.contextmanager
def reopened(session, way=as_it_is):
    """
    The session as its files tell it: a copy of them, opened in the place of the files, for their path may be in the
    window. The session itself goes on with its own files, which are put aside meanwhile.
    """
    own = session.directory
    aside = own.with_name("aside")
    own.rename(aside)
    try:
        way(copied(aside, own))
        with GCSession.open(own) as other:
            yield other
    finally:
        shutil.rmtree(own)
        aside.rename(own)


def assert_opens_alike(session):
    for way in WAYS:
        with reopened(session, way) as other:
            assert_alike(session, other)


def walk_twice(session, walk, folder, *, every):
    """
    Walk a session; every so many steps it is opened anew and compared. Then go back to the middle: a twin, opened from
    the files of that moment, takes the same steps, and what comes of each is the same.
    """
    walk.begin(session)
    steps, came, middle = list(walk.steps()), [], None
    for place, step in enumerate(steps):
        came.append(taken(step, session))
        if place % every == every - 1 or place == len(steps) - 1:
            assert_opens_alike(session)
        if middle is None and place >= len(steps) // 2 and not state_of(session).blocks.waiting:
            copied(session.directory, folder / "middle")
            middle, waits_above = place, meter_of(session).waits_above
    assert session.plugins.failures == []
    expected, own = likeness(session, ledger=False), session.directory
    session.close()
    if middle is not None:
        shutil.rmtree(own)
        with GCSession.open(copied(folder / "middle", own)) as twin:
            # How long a session waits after a collection that was not worth its break is in no file.
            meter_of(twin).waits_above = waits_above
            assert [taken(step, twin) for step in steps[middle + 1 :]] == came[middle + 1 :]
            assert_same(expected, likeness(twin, ledger=False))


# -- real sessions and made ones ---------------------------------------------------------------------------------------

REAL = [
    pytest.param("entire--ac8a4f1a-1917-46bf-b8c1-0c3bab0fbc16.jsonl", "gc_truncate", 90, marks=pytest.mark.slow),
    ("concat-tau2-retail.jsonl", "gc_budget", 0),
    ("gemini-cli--failed_to_enter_planmode.jsonl", "gc_budget", 90),
    pytest.param(
        "native/anthropic--entire-1c341e47-b281-4cb7-82da-3ad6d3013b7f.json", "gc_budget", 90, marks=pytest.mark.slow
    ),
    ("native/claude-code--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl", "gc_truncate", 0),
]


@pytest.mark.parametrize(("name", "strategy", "pressure"), REAL)
def test_a_real_session_is_the_same_when_it_is_opened_again(name, strategy, pressure, tmp_path):
    require_corpus()
    transcript = read_transcript(corpus_dir() / name)
    messages = transcript.messages[:90]
    walk = Walk(transcript.format, messages, 7, models=MODELS[transcript.format], extras=0.15)
    with GCSession(config(strategy, 16_000, pressure), format=transcript.format, directory=tmp_path / "own") as session:
        session.tools(transcript.tools)
        walk_twice(session, walk, tmp_path, every=30)
        assert state_of(session).done


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
            walk_twice(session, walk, Path(name), every=14)


# -- what opening does not do ------------------------------------------------------------------------------------------


class Untouchable:
    """A plugin whose every answer is an error, once it is armed."""

    armed = False

    @hookimpl
    def gc_classify(self, item):
        if self.armed:
            raise AssertionError(f"asked for {item.id}")
        return GCPolicy.PRESERVABLE if "hold" in item.text else None

    @hookimpl
    def gc_review_plan(self, plan):
        assert not self.armed, plan
        return ()

    @hookimpl
    def gc_request_rendered(self, request):
        assert not self.armed, request

    @hookimpl
    def gc_budget_updated(self, budget):
        assert not self.armed, budget


@attrs.frozen
class Oldest:
    """Drops the oldest steps; it can be made to refuse."""

    armed: list = attrs.field(factory=list)

    def collect(self, context, goal):
        assert not self.armed, goal
        for unit in context.collectable:
            yield GCRemovalItem.drop(unit, reason="oldest")


@pytest.mark.parametrize("way", WAYS)
def test_opening_calls_no_plugin_and_no_strategy(way, tmp_path):
    plugin, strategy = Untouchable(), Oldest()
    plugins = Plugins.discover()
    plugins.register(plugin, name="untouchable")
    with small(
        2_000, directory=tmp_path / "own", plugins=plugins, strategy=strategy, checkpoint_every_n_steps=3
    ) as session:
        session.enrich(clock="noon")
        session.append(answer("I hold on to it."))
        rounds(session, 12)
        session.collect_now(target_percent=20.0)
        expected = likeness(session)
        assert state_of(session).done
        assert any(item.policy is GCPolicy.PRESERVABLE for item in session.items())
        plugin.armed = True
        strategy.armed.append(True)
        copy = copied(store_of(session).directory, tmp_path / "copy")
        way(copy)
        with GCSession.open(copy, plugins=plugins, strategy=strategy) as other:
            assert likeness(other) == expected
        assert plugins.failures == []


def test_a_block_that_never_was_placed_is_not_there_afterwards(tmp_path):
    """Enrichment is rebuilt every turn: until it is in a request, nothing of it is written."""
    with small(directory=tmp_path / "own", checkpoint_every_n_steps=1) as session:
        session.append(user("Do it."))
        session.pre_send()
        session.enrich(clock="noon")
        session.post_turn(answer("Done."))
        session.enrich(clock="")
        for way in WAYS:
            with reopened(session, way) as other:
                assert state_of(other).blocks.waiting == state_of(session).blocks.waiting == ()


@pytest.mark.parametrize("way", WAYS)
def test_another_counter_counts_the_window_again(way, tmp_path):
    with small(6_000, directory=tmp_path / "own", checkpoint_every_n_steps=3) as session:
        session.system(base="You are careful.")
        rounds(session, 8)
        copy = copied(store_of(session).directory, tmp_path / "copy")
        way(copy)
        with GCSession.open(copy, counter=Letters()) as other:
            request = window_of(other).render()
            assert (
                other.budget.total == recount(request, format_named("openai"), counter_of(other)) > session.budget.total
            )


# -- files that were cut -----------------------------------------------------------------------------------------------


@pytest.fixture
def full(session_files, tmp_path):
    """A copy of it for one test."""
    return copied(session_files, tmp_path / "full")


@pytest.fixture(scope="module")
def session_files(tmp_path_factory):
    """The directory of a session that was closed: two collections, a pin, usage, and messages after the last entry."""
    directory = tmp_path_factory.mktemp("session_files") / "full"
    with small(3_000, directory=directory, checkpoint_every_n_steps=3) as session:
        session.system(base="You are careful.")
        rounds(session, 14)
        session.collect_now(target_percent=30.0)
        session.pin(item=session.items()[-1].id)
        session.append(user("Go on, ünbeirrt."))
        session.append(answer("Yes."))
    return directory


def records_of(path):
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(("way", "step"), [(as_it_is, 7), (without_checkpoints, 61)])
def test_a_log_cut_at_any_byte_of_its_end_opens_with_every_whole_line(full, tmp_path, way, step):
    whole, plugins = records_of(full / "master.jsonl"), Plugins.discover()
    ends = ends_of(whole)
    for cut in {*range(ends[-3], ends[-1], step), *ends[-3:]}:
        copy = copied(full, tmp_path / "copy")
        way(copy)
        os.truncate(copy / "master.jsonl", cut)
        left = whole[: sum(end <= cut for end in ends)]
        with GCSession.open(copy, plugins=plugins) as session:
            assert records_of(copy / "master.jsonl") == left
            assert [session.recall(key) for key in ids_of(left)]
            assert_ids_are_those_of_the_log(session)
    assert_goes_on(copy)


@pytest.mark.parametrize(("way", "step"), [(as_it_is, 79), (without_checkpoints, 211)])
def test_a_ledger_cut_at_any_byte_of_its_end_opens(full, tmp_path, way, step):
    whole, plugins = records_of(full / "ledger.jsonl"), Plugins.discover()
    ends = ends_of(whole)
    for cut in {*range(ends[-3], ends[-1], step), *ends[-6:]}:
        copy = copied(full, tmp_path / "copy")
        way(copy)
        os.truncate(copy / "ledger.jsonl", cut)
        with GCSession.open(copy, plugins=plugins) as session:
            assert_ids_are_those_of_the_log(session)
        if cut in ends:
            assert_goes_on(copy)


def assert_ids_are_those_of_the_log(session):
    """Also where a collection that numbered traces was lost."""
    known = [item for item in session.items() if item.logged is not None and item.form is Form.WHOLE]
    assert all(session.recall(item.id) in item.text for item in known)
    assert {item.id for item in known} <= set(ids_of(records_of(store_of(session).directory / "master.jsonl")))


def assert_goes_on(directory):
    """And is the same once more when it is opened after that."""
    with GCSession.open(directory) as session:
        rounds(session, 3, first=100)
        expected = likeness(session)
    with GCSession.open(directory) as session:
        assert likeness(session) == expected


@pytest.mark.parametrize("way", [as_it_is, without_checkpoints])
def test_what_the_ledger_says_of_lost_bytes_is_moved_aside(full, tmp_path, way):
    """Down to half of the log: collections of what is gone are gone, and the numbers go on from what is there."""
    whole = records_of(full / "master.jsonl")
    for left in range(1, len(whole), 4):
        copy = copied(full, tmp_path / "copy")
        way(copy)
        cut = ends_of(whole)[left - 1]
        os.truncate(copy / "master.jsonl", cut)
        before = (copy / "ledger.jsonl").read_bytes()
        with GCSession.open(copy) as session:
            kept = (copy / "ledger.jsonl").read_bytes()
            assert state_of(session).context.cursor.messages or left < 3
            session.append(user("Go on."))
            session.pre_send()
        aside = b"".join(path.read_bytes() for path in copy.glob("ledger.jsonl.torn-*"))
        assert all(json.loads(line)["at"] > cut for line in aside.splitlines()[:1])
        assert kept.startswith(before[: len(before) - len(aside)])
        assert before.endswith(aside)


@pytest.mark.parametrize("log_or_ledger", ["master.jsonl", "ledger.jsonl"])
def test_a_checkpoint_of_lost_bytes_does_not_come_back_when_the_files_have_grown_again(full, tmp_path, log_or_ledger):
    """Its offsets lie inside other lines then."""
    whole = records_of(full / log_or_ledger)
    newest = max((full / "checkpoints").glob("*.json"))
    at = int(newest.stem.split("-")[log_or_ledger == "ledger.jsonl"])
    lost = next(place for place, end in enumerate(ends_of(whole)) if end >= at) - 1
    copy = copied(full, tmp_path / "copy")
    os.truncate(copy / log_or_ledger, ends_of(whole)[lost - 1])
    with GCSession.open(copy, attrs.evolve(GCConfig(), context_limit=60_000, checkpoint_every_n_steps=0)) as session:
        for _ in range(3):
            session.append(user(lines(30, "another")))
            session.pre_send()
            session.post_turn(answer("Very well."))
            session.pin(turn=0)
            session.unpin(turn=0)
        while store_of(session).position.log <= at or store_of(session).position.ledger <= at:
            session.append(user("More."))
            session.pin(turn=0)
        for way in (as_it_is, without_checkpoints):
            with reopened(session, way) as other:
                assert_alike(session, other)


def ends_of(whole):
    ends, end = [], 0
    for line in whole:
        end += len(line)
        ends.append(end)
    return ends


def said(line):
    return json.loads(line)["payload"]


def ids_of(whole):
    return [key for line in whole for key in json.loads(line)["items"] if key]


# -- files that do not fit ---------------------------------------------------------------------------------------------


def edited(path, kind, change):
    """Change the last entry of a kind in a ledger; returns its first byte."""
    whole = records_of(path)
    place = max(place for place, line in enumerate(whole) if json.loads(line)["kind"] == kind)
    saved = json.loads(whole[place])
    change(saved)
    whole[place] = json.dumps(saved, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    path.write_bytes(b"".join(whole))
    return ends_of([b"", *whole])[place]


def replaced(keys, value):
    def change(saved):
        *path, last = keys
        for key in path:
            saved = saved[key]
        saved[last] = value

    return change


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("pinned", replaced(["item"], "i999")),
        ("pinned", replaced(["at"], 7)),
        ("pinned", replaced(["at"], -7)),
        ("collected", replaced(["hunks", 0, "gone", 0, "id"], "m999")),
        ("collected", replaced(["hunks", 0, "behind"], "m999")),
        ("collected", replaced(["hunks", 0, "come"], [{"id": "m9", "role": "user", "overhead": 3, "items": []}])),
        ("collected", replaced(["hunks"], [{"behind": "", "gone": [], "come": [{"id": 1}]}])),
        ("collected", replaced(["removals"], [{"reason": []}])),
        ("collected", replaced(["hunks"], None)),
        ("collected", replaced(["kind"], "gathered")),
        ("sent", replaced(["kind"], "undone")),
        ("opened", replaced(["session"], "0" * 32)),
    ],
)
def test_a_ledger_that_does_not_fit_is_refused_with_file_and_bytes(full, kind, change):
    without_checkpoints(full)
    start = edited(full / "ledger.jsonl", kind, change)
    log = (full / "master.jsonl").read_bytes()
    with pytest.raises(LogError) as refused:
        GCSession.open(full)
    assert str(full) in str(refused.value)
    assert f"bytes {start}-" in str(refused.value)
    assert (full / "master.jsonl").read_bytes() == log


def test_a_ledger_that_names_log_bytes_inside_a_line_is_refused(full):
    without_checkpoints(full)
    whole = records_of(full / "master.jsonl")
    edited(full / "ledger.jsonl", "pinned", replaced(["at"], ends_of(whole)[-1] - 5))
    with pytest.raises(LogError, match=r"master\.jsonl.*bytes \d+-\d+"):
        GCSession.open(full)


@pytest.mark.parametrize("way", [as_it_is, without_checkpoints])
@pytest.mark.parametrize("name", ["ledger.jsonl", "master.jsonl"])
def test_a_file_of_another_session_is_refused_and_both_stay_as_they_are(full, tmp_path, name, way):
    with small(3_000, directory=tmp_path / "other", checkpoint_every_n_steps=3) as other:
        rounds(other, 9, task="Something else.")
    shutil.copy(tmp_path / "other" / name, full / name)
    way(full)
    before = {path.name: path.read_bytes() for path in full.glob("*.jsonl")}
    with pytest.raises(LogError, match=re.escape(str(full))):
        GCSession.open(full)
    assert {path.name: path.read_bytes() for path in full.glob("*.jsonl")} == before


def test_checkpoints_of_another_session_are_passed_over(full, tmp_path):
    with small(3_000, directory=tmp_path / "other", checkpoint_every_n_steps=1) as other:
        rounds(other, 12, task="Something else.")
    with GCSession.open(copied(full, tmp_path / "copy")) as session:
        expected = likeness(session)
    without_checkpoints(full)
    shutil.copytree(tmp_path / "other" / "checkpoints", full / "checkpoints")
    with GCSession.open(full) as session:
        assert likeness(session) == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: "",
        lambda _: "[]",
        lambda _: "{}",
        lambda _: "[" * 100_000,
        lambda saved: json.dumps({**saved, "at": [1]}),
        lambda saved: json.dumps({**saved, "at": None}),
        lambda saved: json.dumps({**saved, "at": [float("inf"), 0]}),
        lambda saved: json.dumps({**saved, "at": [saved["at"][0] - 1, saved["at"][1]]}),
        lambda saved: json.dumps({**saved, "digest": "00"}),
        lambda saved: json.dumps({**saved, "messages": saved["messages"][1:]}),
        lambda saved: json.dumps({**saved, "messages": [{**saved["messages"][0], "place": [3, 9]}]}),
        lambda saved: json.dumps({**saved, "messages": [{**saved["messages"][0], "place": [3]}]}),
        lambda saved: json.dumps({**saved, "settings": {**saved["settings"], "context_limit": 0}}),
        lambda saved: json.dumps({**saved, "sources": [{"name": "memory", "policy": "nonsense", "layer": 3}]}),
        lambda saved: json.dumps({**saved, "sources": [{"name": "system", "policy": "partial", "layer": 3}]}),
    ],
)
def test_a_damaged_checkpoint_is_passed_over(full, tmp_path, damage):
    with GCSession.open(copied(full, tmp_path / "copy")) as session:
        expected = likeness(session)
    for path in (full / "checkpoints").glob("*.json"):
        saved = json.loads(path.read_text())
        del saved["sum"]
        path.write_bytes(sealed(damage(saved).encode()))
    with GCSession.open(full) as session:
        assert likeness(session) == expected


@pytest.mark.parametrize("seed", range(12))
def test_a_checkpoint_with_one_bit_flipped_is_passed_over_with_an_event(full, tmp_path, seed, caplog):
    """Whichever bit it is: in a number, a name, a place, the configuration."""
    with GCSession.open(copied(full, tmp_path / "copy")) as session:
        expected = likeness(session)
    newest = max((full / "checkpoints").glob("*.json"))
    data = bytearray(newest.read_bytes())
    bit = random.Random(seed).randrange(8 * len(data))  # noqa: S311 - repeatable
    data[bit // 8] ^= 1 << bit % 8
    newest.write_bytes(data)
    with GCSession.open(full) as session:
        assert likeness(session) == expected
    skipped = [record.gc_checkpoint for record in caplog.records if record.gc_event == "checkpoint skipped"]
    assert {*skipped} == {f"files/{newest.name}"}


def test_a_whole_checkpoint_that_leads_nowhere_is_passed_over(full, tmp_path):
    """Its sum is right, and it can be restored, but what came since does not fit what it says."""
    with GCSession.open(copied(full, tmp_path / "copy")) as session:
        expected = likeness(session)
    for path in (full / "checkpoints").glob("*.json"):
        saved = json.loads(path.read_text())
        del saved["sum"]
        saved["cursor"]["items"] += 1_000
        path.write_bytes(sealed(json.dumps(saved).encode()))
    with GCSession.open(full) as session:
        assert likeness(session) == expected


def test_a_foreign_file_among_the_checkpoints_is_skipped(full, tmp_path):
    with GCSession.open(copied(full, tmp_path / "copy")) as session:
        expected = likeness(session)
    for name in ("notes.json", "12-x.json", "zzz-5.json", ".json"):
        (full / "checkpoints" / name).write_text("{}")
    with GCSession.open(full) as session:
        assert likeness(session) == expected


# -- one writer --------------------------------------------------------------------------------------------------------


WRITER = """
import sys
from gc_core import GCSession
session = GCSession.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def test_a_second_writer_is_refused_until_the_first_is_killed(full):
    with subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, "-c", WRITER, str(full)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(LogError, match="open in another session"):
            GCSession.open(full)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        with GCSession.open(full) as session:
            session.append(user("Go on."))


def test_a_second_writer_in_the_same_process_is_refused(full):
    with GCSession.open(full), pytest.raises(LogError, match="open in another session"):
        GCSession.open(full)
    GCSession.open(full).close()


def test_opening_what_fails_leaves_no_lock_behind(full):
    good = (full / "ledger.jsonl").read_bytes()
    without_checkpoints(full)
    edited(full / "ledger.jsonl", "pinned", replaced(["item"], "i999"))
    with pytest.raises(LogError):
        GCSession.open(full)
    (full / "ledger.jsonl").write_bytes(good)
    GCSession.open(full).close()


# -- temporary ones ----------------------------------------------------------------------------------------------------


def test_a_temporary_session_leaves_no_directory_behind_when_it_is_closed():
    session = small(3_000, checkpoint_every_n_steps=1)
    directory = store_of(session).directory
    rounds(session, 8)
    assert directory.exists()
    session.close()
    assert not directory.exists()


def test_a_temporary_session_that_is_never_closed_leaves_no_directory_behind():
    session = small(3_000, checkpoint_every_n_steps=1)
    directory = store_of(session).directory
    rounds(session, 8)
    del session
    gc.collect()
    assert not directory.exists()


def test_a_session_that_is_never_closed_keeps_its_directory_and_lets_the_next_one_in(tmp_path):
    session = small(3_000, directory=tmp_path / "own", checkpoint_every_n_steps=2)
    rounds(session, 8)
    expected = likeness(session)
    del session
    gc.collect()
    with GCSession.open(tmp_path / "own") as other:
        assert likeness(other) == expected
