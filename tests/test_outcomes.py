"""How turns and steps ended: what the host says of it outlives the process; else results and users tell."""

import pytest

from gc_core import GCSession, ItemKind, SourceError
from gc_core.outcomes import MOST_OUTCOMES, Outcome, Outcomes, said_of_it
from tests.support.say import answer, call, lines, result, small, user


def step(session, key, text, *, tool="bash", command="pytest -q"):
    session.append(call((key, tool, {"command": command})))
    session.append(result(key, text))


def success_of(session):
    """By the texts of results and users."""
    outcomes = Outcomes(session.view().units, session._state.outcomes)
    kinds = {ItemKind.TOOL_RESULT, ItemKind.USER_TEXT}
    return [outcomes.success(item) for item in session.items() if item.kind in kinds]


# -- what the host says ----------------------------------------------------------------------------------------------


def test_an_outcome_is_of_the_running_turn_unless_the_host_names_another():
    with small(strategy="none") as session:
        for turn in range(3):
            session.append(user(f"turn {turn}"))
            session.append(answer("Done."))
        session.mark_outcome(success=True)
        assert success_of(session) == [None, None, 1]
        session.mark_outcome(success=False, turn=0)
        assert success_of(session) == [0, None, 1]
        session.mark_outcome(success=True, turn=0)
        assert success_of(session) == [0.5, None, 1]


def test_an_outcome_may_be_of_the_newest_steps():
    with small(strategy="none") as session:
        session.append(user("Go."))
        for place in range(4):
            step(session, f"c{place}", f"done {place}")
        session.mark_outcome(success=False, steps=2, note="it looped")
        assert success_of(session) == [None, None, None, 0, 0]


def test_what_ended_well_matters_more_than_what_ended_badly():
    with small(strategy="none") as session:
        for turn in range(2):
            session.append(user(f"turn {turn}"))
            step(session, f"c{turn}", "the same")
        for turn in range(2):
            session.mark_outcome(success=turn == 0, turn=turn)
        view = session.view()
        good, bad = (item for item in session.items() if item.kind is ItemKind.TOOL_RESULT)
        recency = {"importance_weights": {"recency": 0}}
        assert view.importance(good) != view.importance(bad)
    with small(strategy="none", **recency) as session:
        for turn in range(2):
            session.append(user(f"turn {turn}"))
            step(session, f"c{turn}", "the same")
        session.mark_outcome(success=True, turn=0)
        session.mark_outcome(success=False, turn=1)
        good, bad = (item for item in session.items() if item.kind is ItemKind.TOOL_RESULT)
        assert session.view().importance(good) > session.view().importance(bad)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"success": 1}, "success = 1, note = '': expected true or false"),
        ({"success": True, "note": None}, "success = True, note = None: expected true or false, and a text"),
        ({"success": True, "turn": 0, "steps": 1}, "takes a turn or steps; got turn=0, steps=1"),
        ({"success": True, "turn": 7}, "turn = 7: the session has turns 0 to 0"),
        ({"success": True, "steps": 2}, "steps = 2: the window has the newest 1 steps"),
        ({"success": True, "steps": 0}, "steps = 0: the window has the newest 1 steps"),
        ({"success": True, "steps": True}, "steps = True: the window has the newest 1 steps"),
    ],
    ids=str,
)
def test_what_is_no_outcome_is_refused_and_nothing_has_changed(arguments, expected):
    with small(strategy="none") as session:
        session.append(user("Go."))
        step(session, "c", "done")
        with pytest.raises(SourceError) as error:
            session.mark_outcome(**arguments)
        assert expected in str(error.value)
        assert session._state.outcomes == ()


def test_before_the_first_turn_there_is_nothing_to_say():
    with small(strategy="none") as session, pytest.raises(SourceError, match="the session has no turn yet"):
        session.mark_outcome(success=True)


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("checkpoint", [False, True])
def test_outcomes_survive_that_a_session_is_opened_again(tmp_path, checkpoint):
    with small(strategy="none", directory=tmp_path / "s") as session:
        session.append(user("Go."))
        step(session, "c", "done")
        session.mark_outcome(success=False, note="the user said so")
        if checkpoint:
            session.checkpoint()
        session.mark_outcome(success=True, steps=1)
        before = session._state.outcomes
    assert before[0] == Outcome(success=False, turn=0, note="the user said so")
    with GCSession.open(tmp_path / "s") as session:
        assert session._state.outcomes == before
        assert success_of(session) == [0, 0.5]


def test_going_back_takes_the_outcomes_back_that_were_said_since(tmp_path):
    with small(strategy="none", directory=tmp_path / "s") as session:
        for turn in range(2):
            session.append(user(f"turn {turn}"))
            session.append(answer("Done."))
            session.mark_outcome(success=True)
        assert len(session._state.outcomes) == 2
        session.rewind(turn=1)
        assert len(session._state.outcomes) == 1


def test_the_newest_outcomes_are_remembered():
    with small(strategy="none") as session:
        session.append(user("Go."))
        for place in range(MOST_OUTCOMES + 3):
            session.mark_outcome(success=True, note=str(place))
        kept = session._state.outcomes
        assert len(kept) == MOST_OUTCOMES
        assert kept[-1].note == str(MOST_OUTCOMES + 2)


# -- what results and users tell -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "success"),
    [
        ("collected 3 items\n===== 3 passed in 0.12s =====", 1),
        ("E   assert 1 == 2\n===== 1 failed, 2 passed in 0.20s =====", 0),
        ("Tests: 12 passed, 12 total", 1),
        ("339 passed. 0 failed. 96 errors.", 0),
        ("339 passed. 0 failed. 0 errors.", 1),
        ("ok  \tpkg/login\t0.011s", 1),
        ("FAIL\tpkg/login\t0.011s", 0),
        ("Ran 4 tests in 0.01s\n\nOK", 1),
        ("all done\nexit code 0", 1),
        ("cc: not there\nexit code 2", 0),
        (lines(5), None),
        ("3 warnings", None),
    ],
    ids=ascii,
)
def test_a_run_tells_how_the_steps_before_it_ended(text, success):
    with small(strategy="none") as session:
        session.append(user("Go."))
        step(session, "c0", "edited", tool="edit", command="edit")
        step(session, "c1", text)
        step(session, "c2", "something else")
        assert success_of(session) == [success, success, success, None]


def test_what_a_file_says_of_tests_is_no_outcome():
    with small(strategy="none") as session:
        session.append(user("Go."))
        step(session, "c0", "===== 3 passed in 0.12s =====", tool="read")
        assert success_of(session) == [None, None]


def test_each_run_tells_of_the_steps_since_the_run_before_it():
    with small(strategy="none") as session:
        session.append(user("Go."))
        step(session, "c0", "===== 1 failed in 0.1s =====")
        step(session, "c1", "edited")
        step(session, "c2", "===== 1 passed in 0.1s =====")
        assert success_of(session) == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("said", "success"),
    [
        ("Thanks, works", 1),
        ("It works now, great. Next: the footer.", 1),
        ("Perfect.", 1),
        ("still broken", 0),
        ("Thanks, but it still fails.", 0),
        ("that's wrong", 0),
        ("It doesn't work", 0),
        ("No, that's everything for now.", None),
        ("Now do the footer.", None),
        ("How does this thing work?", None),
    ],
)
def test_the_users_next_message_tells_how_the_turn_ended(said, success):
    assert said_of_it(said) is (None if success is None else bool(success))
    with small(strategy="none") as session:
        session.append(user("Mend it."))
        step(session, "c0", "edited")
        session.append(answer("Done."))
        session.append(user(said))
        assert success_of(session) == [success, success, None]


def test_what_the_host_says_counts_more_than_what_results_tell():
    with small(strategy="none") as session:
        session.append(user("Go."))
        step(session, "c0", "===== 1 failed in 0.1s =====")
        session.mark_outcome(success=True)
        assert success_of(session) == [1, 1]
