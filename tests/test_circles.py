"""The re-read guard on sessions of somebody who has not seen it: honest monitors and polls, and planted circles."""

import pytest

from gc_core import GCConfig, GCSession
from gc_core.errors import RereadLoopError
from gc_core.events import RereadNoticed
from gc_core.relevance.reread_guard import RereadGuard
from tests.support.circles import circle, honest


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def played(rounds, *, guard="raise", window=6_000):
    """What the guard told: the place of each notice, and where the loop was ended, if it was."""
    told, clock = [], Clock()
    config = GCConfig(context_limit=window, output_reservation=0, reread_guard=guard, preserve_recent_turns=1)
    place = 0

    def hear(event):
        if isinstance(event, RereadNoticed):
            told.append((place, event.kind))

    with GCSession(config, on_event=hear) as session:
        session._guard = RereadGuard(clock)
        for place, each in enumerate(rounds):
            clock.now += each.seconds
            if each.message["role"] != "assistant":
                session.append(each.message)
                continue
            try:
                session.pre_send()
            except RereadLoopError:
                return told, place
            session.post_turn(each.message)
    return told, None


@pytest.mark.parametrize("start", [0, 40])
def test_no_honest_session_is_noticed_or_ended(start):
    for seed in range(start, start + 40):
        name, rounds = honest(seed)
        assert played(rounds) == ([], None), (seed, name)


def calls_until_told(seed):
    """Calls from the first that repeats to the notice, or None where none came."""
    _, rounds, begins = circle(seed)
    told, _ = played(rounds, guard="warn")
    first = next((place for place, _ in told if place >= begins), None)
    return None if first is None else sum(bool(each.message.get("tool_calls")) for each in rounds[begins:first])


def test_every_circle_is_noticed_and_nearly_all_within_eight_calls():
    counted = [calls_until_told(seed) for seed in range(55)]
    assert None not in counted
    assert sum(calls <= 8 for calls in counted) >= 0.85 * len(counted)
    assert max(counted) <= 24


@pytest.mark.slow
def test_no_one_of_ten_thousand_honest_sessions_is_ended():
    for seed in range(10_000):
        name, rounds = honest(seed)
        assert played(rounds) == ([], None), (seed, name)
