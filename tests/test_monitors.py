"""Monitors that ask the same for days: what they repeat leaves, and every item that leaves is named by one line."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCSession
from gc_core.values.references import Reference, Stretch
from gc_core.window.own_texts import own_message
from tests.support.formats import FORMATS
from tests.support.grids import half, in_turn
from tests.support.monitors import Monitor, watched
from tests.support.say import answer, call, result, small, user

STRATEGIES = ["gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive"]
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
ASKED = "Check host web-1 and report any change."


def look(session, turn, request=ASKED, report="Nothing new."):
    """One turn of a monitor; returns the request that its answer saw."""
    session.append(user(request))
    session.pre_send()
    session.post_turn(call((f"c{turn}", "check", {})))
    session.append(result(f"c{turn}", "status: " + ("degraded" if turn % 3 == 2 else "ok")))
    sent = session.pre_send()
    session.post_turn(answer(report))
    return sent


def texts(session):
    return [item.text for item in session.items()]


@pytest.mark.parametrize(("strategy", "form"), half(in_turn(STRATEGIES, FORMATS)))
@settings(max_examples=1, deadline=None, phases=QUICK, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6))
def test_every_item_that_leaves_a_monitor_is_named_by_exactly_one_line(strategy, form, seed):
    watched(Monitor.of(seed), strategy, form)


# Seeds with polls inside a turn, chats, several prompts, times in prompts.
@pytest.mark.parametrize(("strategy", "seed"), half(in_turn(STRATEGIES, [2, 4, 7, 12, 13])))
def test_lines_do_not_overlap_in_monitors_that_once_had_overlapping_ones(strategy, seed):
    assert watched(Monitor.of(seed), strategy, "openai").collections


@pytest.mark.parametrize("strategy", half(STRATEGIES))
def test_equal_requests_do_not_pile_up_without_their_answers(strategy):
    with GCSession(GCConfig(strategy=strategy, context_limit=8_000, output_reservation=500)) as session:
        session.system(base="You monitor hosts.")
        for turn in range(200):
            roles = [message["role"] for message in look(session, turn).messages]
            assert "user" * 7 not in "".join(roles)


def test_the_newest_of_equal_requests_and_other_ones_stay():
    with small(3_000, strategy="gc_budget") as session:
        look(session, 0, "You are a monitor.")
        look(session, 1, "Which hosts are there in all?")
        for turn in range(2, 150):
            look(session, turn)
        kept = texts(session)
    assert "Which hosts are there in all?" in kept
    assert kept.count(ASKED) < 60


def test_a_reply_to_a_question_is_no_repeated_request():
    with small(3_000, strategy="gc_budget") as session:
        look(session, 0, "You are a monitor.")
        look(session, 1, "May I restart hosts?", report="Shall I restart web-7 when it is degraded?")
        look(session, 2, "Yes, do that.", report="I do. Shall I page somebody too?")
        look(session, 3, "Yes, do that.")
        for turn in range(4, 60):
            look(session, turn)
        assert session.last_result is not None
        assert texts(session).count("Yes, do that.") == 2


@pytest.mark.parametrize(
    "asked", ["Shall I restart it? It is slow.", "Which one?\n1. web-7\n2. web-8", "Go on? (yes/no)"]
)
def test_a_question_need_not_be_the_last_thing_that_is_said(asked):
    with small(3_000, strategy="gc_budget") as session:
        look(session, 0, "You are a monitor.", report=asked)
        look(session, 1, "yes", report="Done.")
        look(session, 2, "And web-8.", report=asked)
        look(session, 3, "yes", report="Done.")
        for turn in range(4, 90):
            look(session, turn, f"And host {turn}?")
        assert texts(session).count("yes") == 2


def test_one_question_before_a_request_keeps_no_other_copy_of_it():
    with small(3_000, strategy="gc_budget") as session:
        look(session, 0, "You are a monitor.")
        look(session, 1, report="Shall I restart it?")
        for turn in range(2, 150):
            look(session, turn)
        assert texts(session).count(ASKED) < 60


@pytest.mark.parametrize("strategy", half(STRATEGIES))
def test_a_reply_whose_question_has_left_is_no_repeated_request(strategy):
    with small(3_000, strategy=strategy) as session:
        look(session, 0, "May I restart hosts?", report="Shall I restart web-7?")
        look(
            session, 1, "yes", report=f"I do, as long as it is up. {'All of it is up. ' * 9}Shall I page somebody too?"
        )
        look(session, 2, "yes")
        for turn in range(3, 90):
            look(session, turn, f"And host {turn}?")
        assert "Shall I restart web-7?" not in texts(session)
        assert texts(session).count("yes") == 2


def test_the_lines_of_a_monitor_are_the_same_after_a_restart(tmp_path):
    config = GCConfig(strategy="gc_progressive", context_limit=6_000, output_reservation=500)
    with GCSession(config, directory=tmp_path / "s") as session:
        for turn in range(120):
            look(session, turn, f"{ASKED} It is {turn}.")
        sent = session.pre_send().messages
        assert any("left out here" in str(message) for message in sent)
    with GCSession.open(tmp_path / "s") as again:
        assert again.pre_send().messages == sent


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_for_strict_servers_the_loop_s_page_merges_user_messages(strategy):
    page = (Path(__file__).parents[1] / "docs" / "how-to" / "openai-loop.md").read_text()
    (code,) = re.findall(r"```python\n(def merged.*?)```", page, re.DOTALL)
    told = {}
    exec(code, told)  # noqa: S102 - our own page
    all_sent = []
    with small(2_000, strategy=strategy) as session:
        for turn in range(60):
            session.append(user(f"What is {turn} plus {turn}? Say it at some length."))
            sent = told["merged"](session.pre_send().messages)
            session.post_turn(answer(f"It is {2 * turn}. " * 12))
            roles = [message["role"] for message in sent]
            assert roles == (["user", "assistant"] * len(roles))[: len(roles)]
            all_sent.append(sent)
        assert any("left out here" in str(sent) for sent in all_sent)


def test_a_summary_of_several_stretches_names_each_and_is_recognised():
    parts = (
        Stretch(first="i2", last="i9", first_turn=0, last_turn=1),
        Stretch(first="i30", last="i30", first_turn=7, last_turn=7),
    )
    reference = Reference(tokens=400, first="i2", last="i30", first_turn=0, last_turn=7, parts=parts)
    text = reference.summary_text("summary 3", "- It ended.")
    assert 'of="turns 0-1, 7"' in text
    assert "left out here: turns 0-1, 7, i2-i9, i30" in text
    assert own_message(text).number == 3


def test_a_line_that_names_several_stretches_is_recalled_whole():
    with small(3_000) as session:
        for turn in range(4):
            look(session, turn, f"Question {turn}.")
        first, last = (session.items()[place].id for place in (0, -1))
        told = session.recall(f"[gc: 9 tokens left out here: turns 0, 3, {first}, {last} #123456]")
    assert told == f"[{first}]\nQuestion 0.\n\n[{last}]\nNothing new."


def test_a_line_about_what_other_lines_name_names_nothing_again():
    reference = Reference(tokens=400, first="i2", last="i9", first_turn=0, last_turn=1, parts=())
    assert reference.trace_text().startswith("[gc: 400 tokens left out here #")
