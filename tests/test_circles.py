"""The re-read guard on sessions of somebody who has not seen it: honest monitors and polls, and planted circles."""

import pytest

from gc_core import GCConfig, GCSession, ItemKind
from gc_core.errors import RereadLoopError
from gc_core.events import RereadNoticed
from gc_core.relevance.reread_guard import RereadGuard
from tests.support.circles import CIRCLES, HONEST, circle, honest
from tests.support.inside import core_of


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def played(rounds, *, guard="raise", window=6_000, begins=None, look=lambda *_: None):
    """
    What the guard told: the place of each notice, and where the loop was ended, if it was.

    With ``begins``, the place of a circle's first call, as far as the first notice behind it.
    """
    told, clock = [], Clock()
    config = GCConfig(context_limit=window, output_reservation=0, reread_guard=guard, preserve_recent_turns=1)
    place = 0

    def hear(event):
        if isinstance(event, RereadNoticed):
            told.append((place, event.kind))

    with GCSession(config, on_event=hear) as session:
        core_of(session).rereads.guard = RereadGuard(clock)
        for place, each in enumerate(rounds):
            clock.now += each.seconds
            if each.message["role"] != "assistant":
                session.append(each.message)
                look(session, place)
                continue
            try:
                session.pre_send()
            except RereadLoopError:
                return told, place
            if begins is not None and told and told[-1][0] >= begins:
                break
            look(session, place)
            session.post_turn(each.message)
    return told, None


def test_no_honest_session_is_noticed_or_ended():
    for seed in range(len(HONEST)):  # one of each kind
        name, rounds = honest(seed)
        assert played(rounds) == ([], None), (seed, name)


class Watch:
    """Looks for the first request in which a result of the circle is not as it came first."""

    def __init__(self, rounds, begins):
        self.left = None
        self._begins = begins
        self._read = {each.message["content"] for each in rounds[begins:] if each.message["role"] == "tool"}
        self._first = {}

    def __call__(self, session, place):
        if self.left is not None:
            return
        whole = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT and item.reference is None]
        for item in whole:
            if item.text in self._read:
                self._first.setdefault(item.text, item.id)
        if place >= self._begins and not {item.id for item in whole} >= {*self._first.values()}:
            self.left = place


def calls_until_noticed(seed):
    """
    Calls from the circle's first to the notice, or None where none came.

    Where all that the circle reads still stands in the window, no text that was collected is sought, and the guard is
    silent: then they are counted from the first call whose request lacks some of it.
    """
    _, rounds, begins = circle(seed)
    watch = Watch(rounds, begins)
    told, _ = played(rounds, guard="warn", begins=begins, look=watch)
    first = next((place for place, _ in told if place >= begins), None)
    if first is None or watch.left is None:
        return None
    return sum(bool(each.message.get("tool_calls")) for each in rounds[watch.left : first])


def assert_each_is_noticed_within_eight_calls(seeds):
    counted = {seed: calls_until_noticed(seed) for seed in seeds}
    assert {seed: calls for seed, calls in counted.items() if calls is None or calls > 8} == {}


def test_every_circle_is_noticed_within_eight_calls():
    assert_each_is_noticed_within_eight_calls(range(len(CIRCLES)))


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 100, 300, 400])
def test_so_is_every_circle_that_the_guard_was_not_tuned_by(start):
    assert_each_is_noticed_within_eight_calls(range(start, start + 100))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 10_000, 500))
def test_no_one_of_ten_thousand_honest_sessions_is_ended(start):
    for seed in range(start, start + 500):
        name, rounds = honest(seed)
        assert played(rounds) == ([], None), (seed, name)
