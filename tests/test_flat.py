"""Work that must not grow with what came before, counted in calls of functions: no clock."""

import sys

import pytest

from gc_core import GCConfig, GCPolicy, GCSession, InstructionSource
from gc_core.relevance.ages import ages_of
from gc_core.values.items import Item, ItemKind, Unit
from tests.support.inside import state_of
from tests.support.say import answer, call, result, user


def calls_of(work):
    """Functions, Python's and C's, that a piece of work calls."""
    count = 0

    def count_one(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count_one)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_a_source_is_registered_as_cheaply_when_there_are_many():
    with GCSession() as session:

        def more(first):
            for place in range(first, first + 50):
                session.register_source(InstructionSource(name=f"s{place}", policy=GCPolicy.EPHEMERAL))

        early = calls_of(lambda: more(0))
        more(50)
        more(100)
        more(150)
        assert calls_of(lambda: more(200)) <= early * 1.1


@pytest.mark.parametrize("kind", ["chat", "tools"])
def test_a_message_costs_as_much_in_a_long_session_as_in_a_short_one(kind, tmp_path):
    config = GCConfig(context_limit=1_500, output_reservation=0, strategy="gc_budget", checkpoint_every_n_steps=10)
    with GCSession(config, directory=tmp_path) as session:
        session.append(user("Do the work."))

        def more(first):
            for place in range(first, first + 50):
                session.pre_send()
                if kind == "chat":
                    session.post_turn(answer(f"Answer {place % 7}: it is so."))
                    session.append(user(f"Question {place % 7} about thing_{place % 7}?"))
                else:
                    session.post_turn(call((f"c{place}", "read", {"path": f"f{place % 7}.py"})))
                    session.append(result(f"c{place}", f"f{place % 7}.py: value_{place % 7}"))

        more(0)
        early = calls_of(lambda: more(50))
        for place in range(2, 7):
            more(50 * place)
        assert len(session.history()) > 3
        assert calls_of(lambda: more(350)) <= early * 1.2


def test_computing_the_age_of_units_takes_no_longer_after_many_turns():
    def asked(turns):
        item = Item(
            id="i1", kind=ItemKind.ASSISTANT_TEXT, source="conversation", policy=GCPolicy.PARTIAL, tokens=1,
            original_tokens=1, text="", unit=1, turn=0,
        )  # fmt: skip
        units = [Unit(number=at, turn=turn, step=0, items=(item,), tokens=1) for at, turn in enumerate(turns, start=1)]
        return calls_of(lambda: ages_of(units))

    assert asked([5, 6, 8, 9]) == asked([50_005, 50_006, 50_008, 50_009])


def test_a_checkpoint_grows_by_little_with_the_turns(tmp_path):
    with GCSession(GCConfig(strategy="gc_budget"), directory=tmp_path) as session:
        session.append(user("Do the work."))
        session.checkpoint()
        early = calls_of(session.checkpoint)
        at = state_of(session).turns[0]
        state_of(session).turns.extend([at] * 5_000)
        assert calls_of(session.checkpoint) <= early + 500
