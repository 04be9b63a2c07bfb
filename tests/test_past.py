"""Undo, restore, going back, branches, inconsistent replies, secrets: a session and its past."""

import contextlib
import json
import re
import subprocess
import sys
import threading

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import (
    ConfigError,
    ContextOverflowError,
    GCConfig,
    GCPolicy,
    GCSession,
    Inconsistency,
    InstructionSource,
    NoGC,
    Plugins,
    hookimpl,
)
from gc_core.errors import InconsistentReplyError, LogError, SourceError
from gc_core.providers.rules import check_request
from gc_core.storage.audit import verify
from gc_core.storage.facts import FactKind, FactStore, Promotion
from gc_core.storage.journal import Journal, line_of
from gc_core.storage.master_log import LogRecord, text_of
from gc_core.storage.state import digest_of_messages
from gc_core.storage.store import Store
from tests.support.corpus import corpus_dir, native_sessions, openai_sessions, require_corpus
from tests.support.formats import FORMATS, asked, called, came, said
from tests.support.grids import half
from tests.support.inside import state_of, window_of
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy
from tests.support.provider import complaints
from tests.support.say import answer, call, lines, result, results, rounds, schema, small, use, user

STRATEGIES = ["gc_truncate", "gc_budget"]
SAMPLE = [
    "entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl",
]
made = settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


def digest(session):
    return digest_of_messages(window_of(session).messages)


def play(session, messages):
    for message in messages:
        if message["role"] != "assistant":
            session.append(message)
            continue
        try:
            session.pre_send()
        except ContextOverflowError:
            return
        session.post_turn(message)


def replayed(path, strategy, window=16_000, **more):
    transcript = read_transcript(path)
    config = GCConfig(strategy=strategy, context_limit=window, output_reservation=0)
    session = GCSession(config, format=transcript.format, **more)
    play(session, [message for message in transcript.messages if message["role"] != "system"])
    return session, transcript


def taken(session):
    """Every item that was collected, and is in the log."""
    hunks = [hunk for entry in session.history() if entry.record for hunk in entry.record.hunks]
    return [item for hunk in hunks for message in hunk.removed for item in message.items if item.logged]


# --- everything comes back -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", [*SAMPLE, "native"])
def test_what_was_collected_is_recalled_by_its_bytes_and_undone_to_what_was_sent(name, strategy, tmp_path):
    require_corpus()
    (native,) = [path for path in native_sessions("anthropic") if "1c341e47" in path.name]
    session, transcript = replayed(
        native if name == "native" else corpus_dir() / name, strategy, directory=tmp_path / "s", model="claude-opus-4-5"
    )
    with session:
        assert taken(session)
        for item in taken(session):
            (line,) = (tmp_path / "s" / "master.jsonl").read_bytes()[item.logged.start : item.logged.end].splitlines()
            assert item.id in json.loads(line)["items"]
            assert session.recall(item.id) in session.recall(f"master.jsonl:{item.logged.start}-{item.logged.end}")
        before, count = digest(session), len([entry for entry in session.history() if entry.what == "collected"])
        undone = 0
        while session.undo():
            undone += 1
        assert undone == count
        said = [message["content"] for message in transcript.messages if message["role"] in {"user", "assistant"}]
        there = [payload.get("content") for payload in window_of(session).render().messages]
        assert all(text in there for text in said if isinstance(text, str) and text.strip())
        while session.redo():
            pass
        assert digest(session) == before


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_of_every_real_session_all_that_was_collected_comes_back(strategy, tmp_path):
    require_corpus()
    lines_ = []
    for place, path in enumerate(openai_sessions() + native_sessions("anthropic") + native_sessions("claude-code")):
        session, _ = replayed(path, strategy, directory=tmp_path / str(place), window=32_000)
        with session:
            items = {item.id: item for item in taken(session)}
            log = (session.directory / "master.jsonl").read_bytes()
            for item in items.values():
                line = json.loads(log[item.logged.start : item.logged.end])
                assert item.id in line["items"]
                assert session.recall(item.id) == text_of(
                    LogRecord.read(line_of(line)), item.id, state_of(session).format
                )
            assert verify(session.directory) == ()
            before, undone = digest(session), 0
            while session.undo():
                undone += 1
            whole = {item.id: item for item in session.items()}
            assert {key for key in items if key not in whole} <= stripped(items)
            assert {whole[key].form.value for key in items if key in whole} <= {"whole"}
            while session.redo():
                pass
            assert digest(session) == before or state_of(session).binds_thinking
        assert verify(tmp_path / str(place)) == ()
        if undone:
            lines_.append(
                f"{path.name[:44]:44} {undone:4} collections undone and redone, {len(items):5} items recalled"
            )
    sys.stdout.write("\n".join([f"\n{strategy}", *lines_, ""]))
    assert lines_


def stripped(items):
    """Thinking that a model binds to the content before it does not come back."""
    return {key for key, item in items.items() if item.kind.value == "thinking"}


@pytest.mark.parametrize("strategy", STRATEGIES)
@made
@given(messages=openai_sessions_strategy(max_turns=6, max_steps=4), data=st.data())
def test_made_openai_sessions_are_undone_and_done_again(strategy, messages, data):
    undo_and_redo("openai", strategy, messages, data)


@pytest.mark.parametrize("strategy", STRATEGIES)
@made
@given(messages=anthropic_sessions_strategy(max_turns=6, max_steps=4), data=st.data())
def test_made_anthropic_sessions_are_undone_and_done_again(strategy, messages, data):
    undo_and_redo("anthropic", strategy, messages, data)


def undo_and_redo(form, strategy, messages, data):
    with small(2_000, format=form, strategy=strategy, preserve_recent_turns=1, preserve_recent_steps=1) as session:
        for message in messages:
            play(session, [message])
            if data.draw(st.integers(0, 4)) == 0:
                session.collect_now(target_percent=data.draw(st.integers(0, 50)))
            if data.draw(st.integers(0, 4)) == 0:
                before = digest(session)
                if session.undo():
                    assert_sound(session)
                    session.redo()
                    if not state_of(session).binds_thinking:
                        assert digest(session) == before
            if data.draw(st.integers(0, 6)) == 0 and taken(session):
                item = data.draw(st.sampled_from(taken(session)))
                restore(session, item)
        while session.undo():
            assert_sound(session)


def restore(session, item):
    """Restores it if it is not there already."""
    try:
        session.restore(item.id)
    except SourceError:
        return
    found = [each for each in session.items() if each.id == item.id]
    assert found or item.kind.value == "thinking"  # a model may bind it to the content before it
    assert all(each.pinned for each in found)
    assert_sound(session)


def assert_sound(session):
    assert session.budget.total == window_of(session).recounted(state_of(session).intake()).budget.total
    request = window_of(session).render()
    assert check_request(request, pending=bool(window_of(session).open_calls)) == ()


# --- undo and restore ------------------------------------------------------------------------------------------------


def full(**more):
    session = small(3_000, auto_trigger=False, preserve_recent_turns=1, **more)
    rounds(session, 6)
    return session


def test_what_undo_brings_back_is_pinned_until_it_is_released():
    with full() as session:
        before = window_of(session).render().messages
        session.collect_now(target_percent=10)
        assert window_of(session).render().messages != before
        assert session.undo()
        assert window_of(session).render().messages == before
        assert not session.collect_now(target_percent=10).changed
        session.release()
        assert session.collect_now(target_percent=10).changed


def test_nothing_is_undone_or_done_again_where_there_is_nothing():
    with full() as session:
        assert not session.undo()
        assert not session.redo()
        session.collect_now(target_percent=10)
        assert session.undo()
        session.release()
        session.collect_now(target_percent=30)
        assert not session.redo()  # something was collected since


def test_only_pre_send_refuses_what_does_not_fit_and_says_by_how_much():
    with full(strategy="gc_truncate") as session:
        session.collect_now(target_percent=0)
        assert session.undo()
        session.switch(context_limit=1_200)
        assert session.budget.total > 1_200
        with pytest.raises(ContextOverflowError, match=r"which is [\d,]+ too many"):
            session.pre_send()
        session.release()
        session.collect_now(target_percent=0)
        assert session.pre_send().tokens <= 1_200


def test_messages_that_came_since_stay_when_a_collection_is_undone():
    with full() as session:
        session.collect_now(target_percent=10)
        session.append(user("What came since."))
        assert session.undo()
        assert window_of(session).render().messages[-1]["content"] == "What came since."


def test_a_dropped_step_is_restored_between_its_neighbours_and_its_trace_covers_less():
    with full(strategy="gc_truncate") as session:
        order = [item.id for item in session.items() if item.kind.value != "system_text"]
        session.collect_now(target_percent=5)
        gone = [key for key in order if key not in {item.id for item in session.items()}]
        (trace, *_) = [item for item in session.items() if item.kind.value == "trace"]
        session.restore(gone[len(gone) // 2])
        there = [item.id for item in session.items() if item.kind.value not in {"system_text", "trace"}]
        assert there == [key for key in order if key in there]
        assert gone[len(gone) // 2] in there
        lessened = [item for item in session.items() if item.kind.value == "trace"]
        assert sum(item.reference.tokens for item in lessened) < trace.reference.tokens
        assert_sound(session)


def test_a_stub_is_restored_to_the_whole_text():
    with small(2_000, strategy="none") as session:
        session.append(user("Do it."))
        session.append(call(("c1", "read", {})))
        (key,) = session.append(result("c1", lines(2_000)))
        session.pre_send()
        session.restore(key)
        assert lines(2_000) in [item.text for item in session.items()]


def test_what_was_never_collected_cannot_be_restored():
    with full() as session:
        for key in ("i1", "i999", "x"):
            with pytest.raises(SourceError, match="was not collected"):
                session.restore(key)


def test_thinking_that_was_bound_to_what_undo_takes_away_leaves_too():
    with small(10_000, format="anthropic", auto_trigger=False, preserve_recent_turns=1) as session:
        session.append(user("Begin."))
        for step in range(6):
            session.append(use((f"c{step}", "read", {"n": step}), thinking=f"thought {step}"))
            session.append(results((f"c{step}", lines(60))))
        session.append(user("Go on."))
        session.pre_send()
        session.collect_now(target_percent=6)
        session.append(use(("c9", "read", {}), thinking="after"))
        session.append(results(("c9", "x")))
        assert session.undo()
        assert "after" not in json.dumps(window_of(session).render().messages)
        session.collect_now(target_percent=6)
        session.system(rules="x", refresh="now")
        assert not session.undo()  # the thinking that would come back is bound to another head


# --- recall ----------------------------------------------------------------------------------------------------------


def test_ids_ranges_bytes_stubs_and_traces_are_recalled(tmp_path):
    with small(100_000, directory=tmp_path, strategy="gc_truncate", preserve_recent_turns=1) as session:
        session.tools([schema("read_file")])
        rounds(session, 6)
        session.pre_send()  # says where the log is
        texts = {item.id: item.text for item in session.items() if item.id.startswith("i")}
        session.collect_now(target_percent=0)
        (trace, *_) = [item for item in session.items() if item.kind.value == "trace"]
        first, last = trace.reference.first, trace.reference.last
        recalled = session.recall(f"{first}-{last}")
        assert texts[first] in recalled
        assert texts[last] in recalled
        assert session.recall(trace.text) == recalled
        (place,) = re.findall(r"master\.jsonl:\d+-\d+", trace.text)
        assert texts[first] in session.recall(place)
        assert session.recall(first) == texts[first]


@pytest.mark.parametrize("reference", ["i" + "9" * 5_000, "master.jsonl:9" + "9" * 30 + "-1", "[gc: nothing]", "i0-i0"])
def test_a_made_up_reference_is_refused(reference):
    with full() as session, pytest.raises((SourceError, LogError)):
        session.recall(reference)


def test_the_bytes_of_a_reference_are_the_line_that_arrived(tmp_path):
    with small(2_000, directory=tmp_path, strategy="none") as session:
        session.tools([schema("read_file")])
        session.append(user("Do it."))
        session.append(call(("c1", "read", {"path": "src/login.py"})))
        session.append(result("c1", lines(2_000)))
        request = session.pre_send()
        system, stub = request.messages[0]["content"], request.messages[-1]["content"]
        assert str(tmp_path) in system
        start, end = map(int, re.search(r"read src/login\.py; master\.jsonl:(\d+)-(\d+)\]", stub).groups())
        command = f"tail -c +{start + 1} {tmp_path}/master.jsonl | head -c {end - start}"
        line = subprocess.run(["sh", "-c", command], capture_output=True, check=True).stdout  # noqa: S603, S607 - ours
        assert json.loads(line)["payload"]["content"] == lines(2_000)


# --- going back and branching ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_before_every_turn_the_window_is_as_it_was(strategy, tmp_path):
    require_corpus()
    transcript = read_transcript(corpus_dir() / "concat-tau2-retail.jsonl")
    config = GCConfig(strategy=strategy, context_limit=16_000, output_reservation=0, checkpoint_every_n_steps=20)
    with GCSession(config, directory=tmp_path / "s") as session:
        seen = {}
        for message in transcript.messages[:260]:
            turn = window_of(session).cursor.turn
            before = digest(session)
            play(session, [message])
            if window_of(session).cursor.turn != turn:
                seen[window_of(session).cursor.turn] = before
        numbers = state_of(session).numbers
        for turn in sorted(seen, reverse=True)[::4]:
            session.rewind(turn)
            assert digest(session) == seen[turn]
            assert state_of(session).numbers == numbers
        (key,) = session.append(user("Something else."))
        assert int(key[1:]) == numbers.items + 1
        expected = digest(session)
        session.close()
        with GCSession.open(tmp_path / "s") as again:
            assert digest(again) == expected


def test_a_branch_goes_its_own_way(tmp_path):
    with small(10_000, directory=tmp_path / "a", preserve_recent_turns=1) as session:
        session.tools([schema("read_file")])
        rounds(session, 3)
        rounds(session, 1, task="And now?")
        with session.fork(tmp_path / "b") as branch, session.fork(tmp_path / "c", at=1) as earlier:
            assert digest(branch) == digest(session)
            branch.append(user("In the branch."))
            session.append(user("In the trunk."))
            assert branch.recall("i1") == session.recall("i1") == earlier.recall("i1")
            assert window_of(earlier).cursor.turn == 0
            assert "In the trunk." not in json.dumps(window_of(branch).render().messages)
            branch.pre_send()
            assert branch.collect_now(target_percent=0).changed  # with the break, the line changes that names it
            assert str(tmp_path / "b") in branch.pre_send().messages[0]["content"]
        with pytest.raises(LogError, match="not empty"):
            session.fork(tmp_path / "b")


def test_rewinding_to_a_turn_that_never_was_is_refused():
    with full() as session:
        for turn in (-1, 99):
            with pytest.raises(SourceError, match="the session has turns 0 to"):
                session.rewind(turn)


def test_rolling_back_restores_the_digest_and_is_itself_in_the_history():
    with small(10_000, preserve_recent_turns=1) as session:
        with pytest.raises(LogError, match="no checkpoint"):
            session.rollback()
        rounds(session, 3)
        checkpoint = session.checkpoint()
        rounds(session, 2)
        assert digest(session) != checkpoint.digest
        assert session.rollback().at == checkpoint.at
        assert digest(session) == checkpoint.digest
        assert session.history()[-1].what == "rewound"


# --- inconsistent replies --------------------------------------------------------------------------------------------


class Doubts:
    """Finds every reply inconsistent that says so."""

    def __init__(self, *items):
        self.items = items

    @hookimpl
    def gc_validate_reply(self, reply):
        return Inconsistency(reason="it says so", items=self.items) if "wrong" in json.dumps(reply) else None


def doubting(*items, **more):
    plugins = Plugins.discover()
    plugins.register(Doubts(*items))
    return small(3_000, plugins=plugins, auto_trigger=False, preserve_recent_turns=1, **more)


def test_by_default_the_last_collection_is_undone_and_no_message_is_lost():
    with doubting() as session:
        rounds(session, 5)
        session.checkpoint()
        session.collect_now(target_percent=5)
        rounds(session, 3, first=5, task=None)
        session.pre_send()
        session.post_turn(call(("last", "read", {"path": "z"})))
        session.append(result("last", "what it said"))
        known = {item.id for item in session.items() if not item.synthetic}
        with pytest.raises(InconsistentReplyError, match="it says so") as error:
            session.post_turn(answer("wrong"))
        assert error.value.recovered
        assert known < {item.id for item in session.items()}
        request = session.pre_send()
        assert complaints("openai", request.kwargs()) == []
        assert request.messages[-1]["content"] == "what it said"
        session.post_turn(answer("right"))
        assert not any(item.pinned for item in session.items())


def test_where_the_whole_does_not_fit_only_what_was_named_comes_back():
    with doubting("i2") as session:
        rounds(session, 8)
        session.collect_now(target_percent=5)
        rounds(session, 3, first=8, task=None)
        with pytest.raises(InconsistentReplyError) as error:
            session.post_turn(answer("wrong"))
        assert error.value.recovered
        assert "i2" in {item.id for item in session.items()}
        assert session.pre_send().tokens <= 3_000


def test_where_it_does_not_fit_and_nothing_is_named_nothing_changes():
    with doubting() as session:
        rounds(session, 8)
        session.collect_now(target_percent=5)
        rounds(session, 3, first=8, task=None)
        before = digest(session)
        with pytest.raises(InconsistentReplyError, match="would have") as error:
            session.post_turn(answer("wrong"))
        assert not error.value.recovered
        assert digest(session) == before


def test_a_rollback_takes_again_what_came_since_the_checkpoint():
    with doubting("i2", recovery_strategy="rollback_to_checkpoint") as session:
        rounds(session, 5)
        session.checkpoint()
        session.collect_now(target_percent=5)
        session.append(user("And now?"))
        session.pre_send()
        session.post_turn(call(("last", "read", {"path": "z"})))
        session.append(result("last", "what it said"))
        for _ in range(2):
            with pytest.raises(InconsistentReplyError, match="it says so") as error:
                session.post_turn(answer("wrong"))
            assert error.value.recovered
            request = session.pre_send()
            assert complaints("openai", request.kwargs()) == []
            assert request.messages[-1]["content"] == "what it said"
            assert json.dumps(request.messages).count("And now?") == 1
            assert "i2" in {item.id for item in session.items()}
        session.post_turn(answer("right"))


def test_after_two_recoveries_in_a_row_it_is_reported_with_both_digests_and_nothing_changes():
    with doubting(recovery_strategy="rollback_to_checkpoint") as session:
        rounds(session, 2)
        checkpoint = session.checkpoint()
        for _ in range(2):
            with pytest.raises(InconsistentReplyError) as error:
                session.post_turn(answer("wrong"))
            assert error.value.recovered
        with pytest.raises(InconsistentReplyError, match=checkpoint.digest) as error:
            session.post_turn(answer("wrong"))
        assert not error.value.recovered
        session.post_turn(answer("fine"))
        with pytest.raises(InconsistentReplyError) as error:
            session.post_turn(answer("wrong"))
        assert error.value.recovered


def test_what_could_not_be_restored_is_no_recovery_however_often_it_is_tried():
    """A session without a directory writes no checkpoint by itself."""
    with doubting(recovery_strategy="rollback_to_checkpoint", checkpoint_every_n_steps=1) as session:
        rounds(session, 3)
        for _ in range(4):
            with pytest.raises(InconsistentReplyError, match="without directory= writes none by itself") as error:
                session.post_turn(answer("wrong"))
            assert not error.value.recovered


@pytest.mark.parametrize("strategy", ["undo_last", "raise"])
def test_the_recovery_that_is_configured_is_made(strategy):
    with doubting(recovery_strategy=strategy) as session:
        rounds(session, 5)
        before = digest(session)
        session.collect_now(target_percent=5)
        collected = digest(session)
        with pytest.raises(InconsistentReplyError) as error:
            session.post_turn(answer("wrong"))
        assert error.value.recovered == (strategy == "undo_last")
        assert digest(session) == (before if strategy == "undo_last" else collected)


# --- secrets ---------------------------------------------------------------------------------------------------------


class Masks:
    @hookimpl
    def gc_redact(self, text):
        return text.replace("hunter2", "*******") if "hunter2" in text else None


class Broken:
    @hookimpl
    def gc_redact(self, text):
        raise ValueError(text)


def masking(plugin, **more):
    plugins = Plugins.discover()
    plugins.register(plugin)
    return small(10_000, plugins=plugins, **more)


def test_a_secret_is_masked_before_it_is_written(tmp_path):
    with masking(Masks(), directory=tmp_path) as session:
        session.system(rules="The password is hunter2.")
        session.append(user("hunter2 is it"))
        session.append(call(("c1", "login", {"password": "hunter2"})))
        session.append(result("c1", "hunter2 accepted"))
        session.enrich(note="hunter2")
        request = session.pre_send()
        assert complaints("openai", request.kwargs()) == []
    for path in (tmp_path / "master.jsonl", tmp_path / "ledger.jsonl"):
        assert "hunter2" not in path.read_text()
    assert "*******" in (tmp_path / "master.jsonl").read_text()


def test_where_a_plugin_that_masks_fails_nothing_of_the_text_is_written(tmp_path):
    with masking(Broken(), directory=tmp_path) as session:
        session.append(user("hunter2"))
        assert "hunter2" not in session.recall("i1")
    assert "hunter2" not in (tmp_path / "master.jsonl").read_text()


# --- memory across sessions ------------------------------------------------------------------------------------------


def test_what_one_session_promotes_a_later_one_knows_within_its_cap(tmp_path):
    facts = FactStore(tmp_path / "facts.jsonl")
    with small(directory=tmp_path / "one") as session:
        (key,) = session.append(user("Never edit generated files."))
        (change,) = session.promote(facts, [Promotion.add("Never edit generated files", FactKind.CONSTRAINT, key)])
        place = change.fact.bytes
    line = (tmp_path / "one" / "master.jsonl").read_bytes()[place.start : place.end]
    assert json.loads(line)["payload"]["content"] == "Never edit generated files."
    with small(directory=tmp_path / "two") as session:
        session.append(user("Begin."))
        session.load_facts(FactStore(tmp_path / "facts.jsonl"), cap=100)
        assert "Never edit generated files" in session.pre_send().messages[-1]["content"]
        assert session.budget.entry("facts").tokens <= 100


# --- search ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [True, False], ids=["directory", "temporary"])
def test_what_left_the_window_is_found(kept, tmp_path):
    with small(3_000, directory=tmp_path if kept else None, strategy="gc_truncate", preserve_recent_turns=1) as session:
        session.append(user("Look."))
        session.append(call(("c1", "read", {"path": "src/rare_name.py"})))
        session.append(result("c1", "def rarest_of_all(): pass\n" + lines(50)))
        rounds(session, 6)
        session.collect_now(target_percent=5)
        hits = session.search("rarest_of_all")
        assert "rarest_of_all" not in json.dumps(window_of(session).render().messages)
        assert [session.recall(hit.item).split("(")[0] for hit in hits] == ["def rarest_of_all"]
        assert session.search("rare_name.py", tool="read")
        assert session.search("nothing like this was said") == ()


# --- what a newcomer met ---------------------------------------------------------------------------------------------


def test_without_a_checkpoint_an_inconsistent_reply_is_reported_and_nothing_changes():
    with doubting() as session:
        rounds(session, 2)
        before = digest(session)
        with pytest.raises(InconsistentReplyError, match=r"it says so.*no collection") as error:
            session.post_turn(answer("wrong"))
        assert not error.value.recovered
        assert digest(session) == before


def test_a_session_that_ran_with_a_strategy_object_wants_it_again(tmp_path):
    with GCSession(strategy=NoGC(), directory=tmp_path) as session:
        session.append(user("Begin."))
    with pytest.raises(ConfigError, match=r"NoGC.*pass strategy="):
        GCSession.open(tmp_path)
    with GCSession.open(tmp_path, strategy=NoGC()) as session:
        assert session.recall("i1") == "Begin."


def test_a_strategy_that_was_given_by_name_is_kept(tmp_path):
    GCSession(strategy="gc_budget", directory=tmp_path).close()
    with GCSession.open(tmp_path) as session:
        assert session.config.strategy == ("gc_budget",)


def test_a_fact_needs_an_item_that_states_it(tmp_path):
    with small() as session, pytest.raises(SourceError, match="no item 'i9999' was ever logged"):
        session.promote(FactStore(tmp_path / "facts.jsonl"), [Promotion.add("x", FactKind.FACT, "i9999")])


def test_items_pinned_by_undo_are_named_when_they_do_not_fit():
    with full(strategy="gc_truncate") as session:
        session.collect_now(target_percent=0)
        session.undo()
        session.switch(context_limit=1_200)
        with pytest.raises(ContextOverflowError, match=r"pinned until release\(\)"):
            session.pre_send()


def test_results_are_found_by_their_role_in_both_formats():
    with small(format="anthropic") as session:
        session.append(user("Begin."))
        session.append(use(("c1", "read", {"path": "a"})))
        session.append(results(("c1", "the only gooseberry")))
        assert [hit.role for hit in session.search("gooseberry", role="tool")] == ["tool"]


# --- what a reviewer broke -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["append", "collect", "undo", "rewind", "pin"])
def test_what_is_interrupted_between_files_and_window_is_whole_again_at_the_next_call(act, tmp_path, monkeypatch):
    with small(3_000, directory=tmp_path / "s", auto_trigger=False, preserve_recent_turns=1) as session:
        rounds(session, 4)
        rounds(session, 2, task="And now?", first=4)
        if act == "undo":
            session.collect_now(target_percent=5)
        real = Journal._write

        def interrupted(journal, data):
            real(journal, data)
            raise KeyboardInterrupt

        acts = {
            "append": lambda: session.append(user("interrupted")),
            "collect": lambda: session.collect_now(target_percent=5),
            "undo": session.undo,
            "rewind": lambda: session.rewind(1),
            "pin": lambda: session.pin(turn=0),
        }
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "_write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                acts[act]()
        session.append(user("It goes on."))
        before, rendered = digest(session), window_of(session).render().messages
        session.close()
        with GCSession.open(tmp_path / "s") as again:
            assert digest(again) == before
            assert window_of(again).render().messages == rendered
    assert verify(tmp_path / "s") == ()


@pytest.mark.parametrize("form", half(FORMATS))
@pytest.mark.parametrize("act", ["a block is placed", "a memory is placed", "the state is placed", "a reply comes"])
def test_an_interrupt_leaves_blocks_whole_in_every_format(form, act, tmp_path, monkeypatch):
    """Between the files and the window, whichever write of the call it is."""
    options = {"format": form, "task_state_percent": 10.0, "preserve_recent_turns": 1, "auto_trigger": False}
    for number in range(2):
        directory = tmp_path / f"s{number}"
        with small(4_000, directory=directory, **options) as session:
            session.register_source(InstructionSource(name="team", policy=GCPolicy.PRESERVABLE, layer=20))
            session.append(asked(form, "Mend a.py. Never touch b.py."))
            for place in range(6):
                session.enrich(clock=f"step {place}")
                session.pre_send()
                session.post_turn(called(form, f"c{place}", "read", {"path": f"f{place}"}))
                session.append(came(form, f"c{place}", "read", lines(20, f"f{place}")))
            session.collect_now(target_percent=20)
            acts = {
                "a block is placed": lambda: [session.enrich(clock="late"), session.pre_send()],
                "a memory is placed": lambda: [session.memory("team", notes="We met."), session.pre_send()],
                "the state is placed": lambda: [session.collect_now(target_percent=5), session.pre_send()],
                "a reply comes": lambda: session.post_turn(said(form, "end", "Done.")),
            }
            real, left = Journal._write, [number]

            def interrupted(journal, data, real=real, left=left):
                real(journal, data)
                is_own = threading.current_thread() is threading.main_thread()  # other tests' threads may write too
                left[0] -= is_own
                if is_own and left[0] == -1:
                    raise KeyboardInterrupt

            with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
                patch.setattr(Journal, "_write", interrupted)
                acts[act]()
            session.append(asked(form, "It goes on."))
            session.pre_send()
            before, rendered = digest(session), window_of(session).render().messages
        assert verify(directory) == ()
        with GCSession.open(directory) as again:
            assert digest(again) == before
            assert window_of(again).render().messages == rendered


def test_a_capped_source_opens_under_another_counter(tmp_path):
    with small(20_000, directory=tmp_path, model="gpt-4o") as session:
        session.register_source(InstructionSource(name="team", policy=GCPolicy.PRESERVABLE, layer=20, cap=100))
        session.append(user("hi"))
        session.memory("team", notes="word " * 80)
        session.switch(model="claude-sonnet-5")
        session.pre_send()
    GCSession.open(tmp_path).close()


def test_only_a_checkpoint_of_this_session_that_stands_is_gone_back_to(tmp_path):
    with small(20_000, directory=tmp_path / "a", preserve_recent_turns=1) as session:
        rounds(session, 2)
        rounds(session, 2, task="And?", first=2)
        with session.fork(tmp_path / "b") as branch:
            rounds(branch, 3, task="More.", first=4, size=77)
            foreign = branch.checkpoint()
        rounds(session, 1, task="Else.", first=8, size=5)
        taken_back = session.checkpoint()
        with pytest.raises(LogError, match=r"another session or branch|digest"):
            session.rollback(foreign)
        session.rewind(1)
        with pytest.raises(LogError, match="taken back"):
            session.rollback(taken_back)


def test_a_session_that_was_killed_while_it_was_created_is_created_again(tmp_path):
    store = Store(tmp_path)
    store.begin("openai")
    store.close()
    with GCSession(directory=tmp_path) as session:
        session.append(user("Begin."))
    with GCSession.open(tmp_path) as session:
        assert session.recall("i1") == "Begin."


def test_a_relative_directory_is_the_same_after_the_host_has_changed_its_own(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with small(directory="s", checkpoint_every_n_steps=1) as session:
        rounds(session, 1)
        monkeypatch.chdir(tmp_path / "elsewhere")
        rounds(session, 2, task=None, first=1)
        assert session.plugins.failures == []
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_is_restored_after_a_switch_is_counted_as_the_model_counts():
    with small(60_000, model="gpt-4o", auto_trigger=False, preserve_recent_turns=1) as session:
        rounds(session, 6)
        rounds(session, 1, task="And?", first=6)
        session.collect_now(target_percent=0)
        gone = taken(session)
        session.switch(model="claude-sonnet-5")
        session.restore(gone[-1].id)
        assert_sound(session)


def test_what_the_host_pins_and_locks_stays_so_when_a_collection_is_undone():
    with small(20_000, strategy="gc_budget", preserve_recent_turns=0, preserve_recent_steps=0) as session:
        session.append(user("x"))
        session.pre_send()
        session.post_turn(call(("a", "read", {"path": "p"})))
        (key,) = session.append(result("a", lines(900)))
        rounds(session, 2, task="And?")
        session.collect_now(target_percent=10)
        assert [item.form.value for item in session.items() if item.id == key] == ["stub"]
        session.set_policy(key, GCPolicy.LOCKED)
        session.pin(item=key)
        session.undo()
        session.release()
        (held,) = [item for item in session.items() if item.id == key]
        assert (held.pinned, held.policy, held.form.value) == (True, GCPolicy.LOCKED, "whole")


def test_a_trace_cannot_be_restored_and_undoing_a_restore_pins_nothing():
    with full(strategy="gc_truncate") as session:
        session.collect_now(target_percent=5)
        (trace, *_) = [item for item in session.items() if item.kind.value == "trace"]
        session.restore(trace.reference.first)
        session.undo()
        assert not any(item.pinned for item in session.items() if item.kind.value == "trace")
        assert state_of(session).undone == frozenset()


def test_going_back_leaves_model_window_and_what_waits_as_the_host_set_them():
    with small(20_000, model="gpt-4o", preserve_recent_turns=1) as session:
        rounds(session, 2)
        rounds(session, 1, task="And?", first=2)
        session.switch(model="claude-sonnet-5", context_limit=8_000)
        session.enrich(clock="NOON")
        session.rewind(1)
        assert (state_of(session).model, session.config.context_limit) == ("claude-sonnet-5", 8_000)
        session.append(user("again"))
        assert "NOON" in json.dumps(session.pre_send().messages)


def test_a_branch_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("x")
    with full() as session:
        for target in (tmp_path / "file", tmp_path / "file" / "below"):
            with pytest.raises(LogError):
                session.fork(target)


def test_secrets_are_masked_in_documents_and_schemas_too(tmp_path):
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hunter2 inside"}}
    schema = {"name": "look", "input_schema": {"type": "object", "properties": {"id": {"description": "hunter2"}}}}
    with masking(Masks(), directory=tmp_path, format="anthropic") as session:
        session.tools([schema])
        session.append({"role": "user", "content": [document]})
        session.pre_send()
    assert "hunter2" not in (tmp_path / "master.jsonl").read_text()
