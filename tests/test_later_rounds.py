"""What the later sessions promise of themselves, whatever the guard makes of them."""

import pytest

from gc_core import GCConfig, GCSession
from tests.support.later_rounds import LATER_CIRCLES, LATER_HONEST, later_circle, later_honest
from tests.support.repeats import lines_of

pytestmark = pytest.mark.slow


def played(rounds):
    """
    For each reply the texts of results that its request holds; and whether something was collected.

    Nobody watches for circles.
    """
    config = GCConfig(context_limit=6_000, output_reservation=0, reread_guard="off", preserve_recent_turns=1)
    held, collected = {}, False
    with GCSession(config) as session:
        for place, each in enumerate(rounds):
            if each.message["role"] != "assistant":
                session.append(each.message)
                continue
            request = session.pre_send()
            held[place] = [one["content"] for one in request.messages if one["role"] == "tool"]
            session.post_turn(each.message)
            collected = collected or (session.last_result is not None and bool(session.last_result.removals))
    return held, collected


def asked(rounds, begins):
    """The place of each of the circle's calls, with the lines that it is answered; short answers are left out."""
    results = {
        each.message["tool_call_id"]: each.message["content"] for each in rounds if each.message["role"] == "tool"
    }
    for place, each in enumerate(rounds[begins:], begins):
        for one in each.message.get("tool_calls") or []:
            lines = lines_of(results[one["id"]])
            if len(lines) > 25:
                yield place, lines


@pytest.mark.parametrize("seed", range(len(LATER_HONEST)))
def test_something_is_collected_in_each_later_honest_session(seed):
    _, rounds = later_honest(seed)
    assert played(rounds)[1]


@pytest.mark.parametrize("seed", range(len(LATER_CIRCLES)))
def test_each_rereading_of_a_later_circle_asks_for_text_that_has_left(seed):
    _, rounds, begins = later_circle(seed)
    held, _ = played(rounds)
    known, again = set(), 0
    for place, lines in asked(rounds, begins):
        here = set().union(*map(lines_of, held[place]))
        if len(lines & known) > 0.9 * len(lines):
            assert len(lines & here) < 0.1 * len(lines), place
            again += 1
        known |= lines
    assert again >= 20


def test_later_sessions_are_the_same_for_a_seed():
    assert later_honest(7) == later_honest(7)
    assert later_circle(7) == later_circle(7)
