"""The state of the task under attack: killed, undone, refused, and made of absurd texts."""

import shutil

import attrs
import pytest
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig, GCPolicy, GCRemovalItem, GCSession, Plugins, hookimpl
from gc_core.errors import SourceError
from gc_core.storage.audit import verify
from gc_core.values.results import Refusal
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.inside import recorder_of, state_of
from tests.support.promises import Watch
from tests.support.say import answer, lines, rendered, small, user
from tests.test_task_state import blocks_of, busy


def session_of(**more):
    return small(6_000, **{"strategy": "gc_truncate", "task_state_percent": 10, "preserve_recent_turns": 2, **more})


def renewed(result):
    return [removal.items for removal in result.removals if removal.phase == "renewed"]


def about_to_collect(session):
    """
    Up to the point where a collection would restate the state, which depends on the length of the
    directory's name.
    """
    for _ in busy(session, 40):
        if blocks_of(session) and renewed(session.plan().result):
            return
    raise AssertionError("no collection would tell the state anew")


def collected(session):
    """A state that was sent, and a collection that restated it, whose own waits; returns the id of the first."""
    about_to_collect(session)
    (block,) = blocks_of(session)
    assert renewed(session.collect_now()) == [(block.id,)]
    assert not blocks_of(session)
    return block.id


def locked_of(session):
    return [item.id for item in blocks_of(session) if item.policy is GCPolicy.LOCKED]


# --- between the collection and the request that shows its state ------------------------------------------------------


def test_a_state_whose_session_was_killed_before_it_was_placed_is_restated(tmp_path):
    session = session_of(directory=tmp_path / "s")
    collected(session)
    shutil.copytree(tmp_path / "s", tmp_path / "killed")
    session.pre_send()
    with GCSession.open(tmp_path / "killed") as opened:
        assert not blocks_of(opened)
        opened.pre_send()
        assert [item.text for item in blocks_of(opened)] == [item.text for item in blocks_of(session)]


def test_a_session_that_goes_back_between_collection_and_request_has_its_state(tmp_path):
    session = session_of(directory=tmp_path / "s")
    collected(session)
    session.checkpoint()
    session.pre_send()
    session.rollback()
    assert not blocks_of(session)
    session.append(user("Again."))
    session.pre_send()
    assert len(locked_of(session)) == 1
    session.close()
    assert verify(tmp_path / "s") == ()


def test_a_redone_collection_restates_a_state_that_was_never_placed(tmp_path):
    session = session_of(directory=tmp_path / "s")
    collected(session)
    assert session.undo()
    session.close()
    with GCSession.open(tmp_path / "s") as opened:
        assert opened.redo()
        opened.pre_send()
        assert len(locked_of(opened)) == 1


def test_a_session_that_has_collected_nothing_gets_no_task_state(tmp_path):
    session = session_of(directory=tmp_path / "s")
    session.append(user("Never commit to main."))
    session.pre_send()
    session.close()
    with GCSession.open(tmp_path / "s") as opened:
        opened.pre_send()
        assert not blocks_of(opened)


def test_an_unwanted_state_leaves(tmp_path):
    session = session_of(directory=tmp_path / "s")
    turns = busy(session)
    for _ in range(24):
        next(turns)
    assert locked_of(session)
    session.close()
    with GCSession.open(tmp_path / "s", attrs.evolve(session.config, task_state_percent=0)) as opened:
        list(busy(opened, 12, first=40))
        assert not blocks_of(opened)


# --- what comes back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["undo", "restore"])
def test_a_state_that_comes_back_next_to_a_newer_one_is_stale_and_leaves_again(tmp_path, how):
    session = session_of(directory=tmp_path / "s")
    before = collected(session)
    session.pre_send()
    (newest,) = locked_of(session)
    session.undo() if how == "undo" else session.restore(before)
    assert [item.id for item in blocks_of(session)] == [before, newest]
    assert locked_of(session) == [newest]
    session.close()
    with GCSession.open(tmp_path / "s") as opened:
        assert locked_of(opened) == [newest]
        opened.release()
        opened.post_turn(answer("ok"))
        for place in range(8):
            opened.append(user(f"Do {place}. " + lines(60)))
            opened.pre_send()
            assert len(locked_of(opened)) == 1
            opened.post_turn(answer("done"))
        assert before not in {item.id for item in opened.items()}


def test_undo_gives_back_every_byte_and_redo_takes_them(tmp_path):
    session = session_of(directory=tmp_path / "s")
    about_to_collect(session)
    before = rendered(session)
    session.collect_now()
    after = rendered(session)
    assert session.undo()
    assert rendered(session) == before
    assert session.redo()
    assert rendered(session) == after


def test_redo_does_not_take_a_state_that_the_host_has_pinned():
    session = session_of()
    before = collected(session)
    session.undo()
    session.release()
    session.pin(item=before)
    with pytest.raises(SourceError, match=f"item {before} is held"):
        session.redo()


# --- other people's plugins -------------------------------------------------------------------------------------------


def with_review(review):
    class Plugin:
        @hookimpl
        def gc_review_plan(self, plan):
            return review(plan)

    plugins = Plugins.discover()
    plugins.register(Plugin(), name="review")
    return plugins


@attrs.frozen
class Renewing:
    """Drops unit by unit, and may call its own phase as the core calls one."""

    phase: str = "renewed"
    task_state_percent = 10.0

    def collect(self, context, goal):  # noqa: ARG002 - the protocol
        return [GCRemovalItem.drop(unit, reason="old", phase=self.phase) for unit in context.collectable]


def test_a_review_that_never_agrees_keeps_the_state_that_it_refused():
    """Each pass it refuses one more, until the core goes with what was let pass."""
    passes = []

    def review(plan):
        renewed = [removal for removal in plan.removals if removal.phase == "renewed"]
        others = [removal for removal in plan.removals if removal.phase != "renewed"]
        passes.append(len(others))
        return [Refusal(removal=removal, why="no") for removal in (*renewed, *others[:1])]

    session = small(12_000, strategy=Renewing(phase="mine"), preserve_recent_turns=2, plugins=with_review(review))
    list(busy(session))
    (block,) = blocks_of(session)
    passes.clear()
    result = session.collect_now(target_percent=5)
    assert len(passes) > 4
    assert result.removals
    assert all(removal.phase != "renewed" for removal in result.removals)
    assert block.id in {item.id for item in session.items()}


def test_a_phase_of_a_strategy_that_bears_the_name_counts_as_any_other():
    session, plain = (session_of(strategy=name, task_state_percent=None) for name in (Renewing(), "gc_truncate"))
    list(busy(session))
    list(busy(plain))
    assert len(session.history()) >= len(plain.history())
    assert "saves -" not in session.explain()


def test_redo_does_not_take_what_the_host_has_pinned_though_the_phase_bears_the_name():
    session = session_of(strategy=Renewing(), task_state_percent=0)
    list(busy(session, 5))
    gone = session.collect_now(target_percent=10).removals[0].items[0]
    session.undo()
    session.pin(item=gone)
    with pytest.raises(SourceError, match=f"item {gone} is held"):
        session.redo()


# --- one state at a time ----------------------------------------------------------------------------------------------


def test_a_state_in_the_newest_exchange_leaves_too_once_a_model_call_has_seen_it():
    session = session_of(pressure_percent=0)
    counts = [len(blocks_of(session)) for _ in busy(session)]
    assert max(counts) == 1


@pytest.mark.parametrize(
    ("window", "strategy", "percent", "pressure"),
    [(16_000, "gc_progressive", None, 90), (8_000, "gc_budget", 20, 0)],
)
def test_a_real_session_with_its_state_in_the_window_keeps_the_promises(window, strategy, percent, pressure):
    require_corpus()
    transcript = read_transcript(corpus_dir() / "entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl")
    config = GCConfig(
        strategy=strategy,
        context_limit=window,
        output_reservation=0,
        threshold_percent=80.0,
        pressure_percent=pressure,
        task_state_percent=percent,
    )
    with GCSession(config, format=transcript.format) as session:
        watch = OneState(session, format_name=transcript.format)
        watch.run(transcript.messages[:160])
        assert watch.shown
        assert session.plugins.failures == []


class OneState(Watch):
    """Watches the state too, and that undo and redo change no byte."""

    shown = 0

    def assert_promises(self, request):
        super().assert_promises(request)
        locked = locked_of(self.session)
        assert len(locked) <= 1
        self.shown += len(locked)

    def _committing(self, collection, context):
        before = rendered(self.session)
        super()._committing(collection, context)
        recorder, after = recorder_of(self.session), rendered(self.session)
        if not state_of(self.session).changes and recorder.undo() is not None:
            assert rendered(self.session) == before
            recorder.redo()
            assert rendered(self.session) == after
