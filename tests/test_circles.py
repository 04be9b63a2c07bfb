"""The re-read guard on sessions of somebody who has not seen it: honest monitors and polls, and planted circles."""

import pytest

from gc_core import GCConfig, GCSession, ItemKind
from gc_core.errors import RereadLoopError
from gc_core.events import RereadNoticed
from gc_core.relevance.reread_guard import RereadGuard
from tests.support.circles import CIRCLES, HONEST, circle, honest
from tests.support.fifth_circles import FIFTH_CIRCLES, SAME_CALLS
from tests.support.fifth_rounds import FIFTH_HONEST, fifth_circle, fifth_honest
from tests.support.fourth_rounds import FOURTH_HONEST, fourth_circle, fourth_honest
from tests.support.inside import core_of
from tests.support.later_rounds import LATER_CIRCLES, LATER_HONEST, later_circle, later_honest
from tests.support.more_circles import MORE_CIRCLES, MORE_HONEST, more_circle, more_honest
from tests.support.ordinary_rounds import ORDINARY_CIRCLES, ORDINARY_HONEST, ordinary_circle, ordinary_honest
from tests.support.repeats import calls_in, first_repeat
from tests.support.unseen_rounds import UNSEEN_CIRCLES, unseen_circle, unseen_honest


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def played(rounds, *, guard="raise", window=6_000, begins=None, look=lambda *_: None, thinks=False):
    """
    What the guard told: the place of each notice, and where the loop was ended, if it was.

    With ``begins``, the place of a circle's first call, as far as the first notice behind it. With ``thinks``, the
    seconds of a reply are those in which the model writes it; otherwise they pass before it is asked.
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
            replies = each.message["role"] == "assistant"
            clock.now += 0 if thinks and replies else each.seconds
            if not replies:
                session.append(each.message)
                look(session, place)
                continue
            try:
                session.pre_send()
            except RereadLoopError:
                return told, place
            look(session, place)
            if begins is not None and told and told[-1][0] >= begins:
                break
            clock.now += each.seconds if thinks else 0
            session.post_turn(each.message)
    return told, None


def test_no_honest_session_is_noticed_or_ended():
    for seed in range(len(HONEST)):  # one of each kind
        name, rounds = honest(seed)
        assert played(rounds) == ([], None), (seed, name)


def assert_none_is_noticed_or_ended(seeds):
    for seed in seeds:
        name, rounds = more_honest(seed)
        assert played(rounds) == ([], None), (seed, name)


def test_no_poll_of_two_seconds_and_more_and_no_reading_for_an_edit_is_noticed_or_ended():
    assert_none_is_noticed_or_ended(range(2 * len(MORE_HONEST)))


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
    return calls_in(rounds[watch.left : first])


def assert_each_is_noticed_within_eight_calls(seeds):
    counted = {seed: calls_until_noticed(seed) for seed in seeds}
    assert {seed: calls for seed, calls in counted.items() if calls is None or calls > 8} == {}


def test_every_circle_is_noticed_within_eight_calls():
    assert_each_is_noticed_within_eight_calls(range(len(CIRCLES)))


def calls_until_another_is_noticed(rounds, begins, **more):
    """
    The same of a larger, slower or disguised circle, counted from its first call that returns what was returned before:
    until then nobody can tell it from work. With the calls of its lap. It may be noticed before all that it reads has
    left.
    """
    watch = Watch(rounds, begins)
    told, _ = played(rounds, guard="warn", begins=begins, look=watch, **more)
    noticed = next((place for place, _ in told if place >= begins), len(rounds))
    repeat = first_repeat(rounds, begins)
    return calls_in(rounds[max(repeat.place, watch.left or 0) : noticed]), repeat.lap


def assert_each_is_noticed_within_eight_calls_or_in_its_second_lap(seeds):
    counted = {seed: calls_until_another_is_noticed(*more_circle(seed)[1:]) for seed in seeds}
    assert {seed: found for seed, found in counted.items() if is_late(*found)} == {}


def is_late(calls, lap):
    """More than eight calls, and past the begin of the second lap: to read each of many files once more is work."""
    return calls > max(8, lap + 1)


def test_so_is_one_that_is_slow_or_disguised_and_a_large_ring_in_its_second_lap():
    assert_each_is_noticed_within_eight_calls_or_in_its_second_lap(range(2 * len(MORE_CIRCLES)))


@pytest.mark.slow
@pytest.mark.parametrize("start", [1_000, 1_100])
def test_so_is_every_other_circle_that_the_guard_was_not_tuned_by(start):
    assert_each_is_noticed_within_eight_calls_or_in_its_second_lap(range(start, start + 100))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 2_000, 250))
def test_no_one_of_a_thousand_polls_and_readings_is_noticed_or_ended(start):
    assert_none_is_noticed_or_ended(range(start, start + 250))


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 100, 300, 400])
def test_so_is_every_circle_that_the_guard_was_not_tuned_by(start):
    assert_each_is_noticed_within_eight_calls(range(start, start + 100))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 10_000, 500))
def test_no_one_of_ten_thousand_honest_sessions_is_ended_and_hardly_one_is_noticed(start):
    """Three polls within four seconds look like a circle: of all ten thousand, seed 8780 is warned once."""
    played_seeds = [played(honest(seed)[1]) for seed in range(start, start + 500)]
    assert [ended for _, ended in played_seeds if ended is not None] == []
    assert sum(len(told) for told, _ in played_seeds) <= (start == 8_500)


def told_of_unseen(seed):
    """
    The name of an unseen honest session's sort, and what the guard told of it.

    Something is collected in it: what is never collected makes no circle, and the session would prove nothing.
    """
    name, rounds = unseen_honest(seed)
    collected = []
    told, ended = played(rounds, thinks=True, look=lambda session, _: collected.append(session.last_result))
    assert any(result is not None and result.removals for result in collected), (seed, name)
    return name, told, ended


def assert_no_unseen_is_ended_and_only_some_sorts_are_noticed(seeds, most):
    found = [told_of_unseen(seed) for seed in seeds]
    assert [(name, ended) for name, _, ended in found if ended is not None] == []
    noticed = [name for name, told, _ in found if told]
    assert {*noticed} <= NOTICED_THOUGH_HONEST
    assert len(noticed) <= most


def late_among(circles):
    """Sorts of those circles that were not noticed within eight calls or in their second lap."""
    return {
        name
        for name, rounds, begins in circles
        if is_late(*calls_until_another_is_noticed(rounds, begins, thinks=True))
    }


# The guard's misses on these sessions were looked at and mended on 2026-11-29: since then they say what it does for
# agents that it was made for, and no more what it does for others.
NOTICED_THOUGH_HONEST = {  # in some or all of their sessions, where a tool itself waits; none is ended
    "a_benchmark_ten_times",
    "a_flaky_test",
    "a_sensor",
    "rows_that_are_left",
    "two_nodes_behind_one_address",
}


def test_no_unseen_honest_session_is_ended_and_only_some_sorts_are_noticed():
    assert_no_unseen_is_ended_and_only_some_sorts_are_noticed(range(30), 2)


def test_every_unseen_circle_is_noticed_within_eight_calls_or_in_its_second_lap():
    assert late_among(map(unseen_circle, range(0, UNSEEN_CIRCLES, 2))) == set()


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 2_000, 250))
def test_no_one_of_two_thousand_unseen_honest_sessions_is_ended_and_one_in_fifteen_is_noticed(start):
    """Of all 2,000, 132 are noticed, 146 times; none is ended. Before their misses were mended, 190 were."""
    assert_no_unseen_is_ended_and_only_some_sorts_are_noticed(range(start, start + 250), 19)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 400, 100))
def test_so_is_each_of_four_hundred_unseen_circles(start):
    assert late_among(map(unseen_circle, range(start, start + 100))) == set()


# Held out until 2026-11-29, when 288 of 350 circles were noticed so; since then the guard's misses on it are mended.
LATER_NOTICED_THOUGH_HONEST = {"runs_a_flaky_test_until_it_fails"}  # the user ordered it; the same but for the time


def assert_no_later_is_ended_and_one_sort_is_noticed(seeds):
    for seed in seeds:
        name, rounds = later_honest(seed)
        told, ended = played(rounds, thinks=True)
        assert ended is None, (seed, name)
        assert not told or name in LATER_NOTICED_THOUGH_HONEST, (seed, name)


@pytest.mark.slow
def test_no_later_honest_session_is_ended_and_one_sort_is_noticed():
    assert_no_later_is_ended_and_one_sort_is_noticed(range(len(LATER_HONEST)))


def test_every_later_circle_is_noticed_within_eight_calls_or_in_its_second_lap():
    """Every third sort, all of them in `make corpus`."""
    assert late_among(map(later_circle, range(0, len(LATER_CIRCLES), 3))) == set()


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 720, 240))
def test_no_one_of_720_later_honest_sessions_is_ended_and_one_sort_is_noticed(start):
    """Of all 720, 20 are noticed."""
    assert_no_later_is_ended_and_one_sort_is_noticed(range(start, start + 240))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 350, 70))
def test_each_of_350_later_circles_is_noticed_within_eight_calls_or_in_its_second_lap(start):
    """Of all 350, 310 within eight calls, and the others, whose laps have eight, with the ninth."""
    assert late_among(map(later_circle, range(start, start + 70))) == set()


# A later set again, by a hand that has not seen the guard; 226 of its 300 circles were noticed within eight calls.
ORDINARY_LATE = {
    "the_same_rows_by_other_queries",
    "a_subagent_asked_in_other_words",
    "a_failing_test_with_other_flags",
    "an_old_log_with_other_flags",
}


def assert_none_of(honest_sessions):
    """None of these sessions, by name and rounds, is noticed or ended."""
    assert [name for name, rounds in honest_sessions if played(rounds, thinks=True) != ([], None)] == []


def noticed_within_eight_calls(circles):
    return sum(calls_until_another_is_noticed(*each[1:], thinks=True)[0] <= 8 for each in circles)


@pytest.mark.slow
def test_no_ordinary_honest_session_is_noticed():
    assert_none_of(map(ordinary_honest, range(0, len(ORDINARY_HONEST), 2)))


@pytest.mark.slow
def test_no_honest_session_of_a_fourth_set_is_noticed():
    assert_none_of(map(fourth_honest, range(0, len(FOURTH_HONEST), 2)))


@pytest.mark.slow
def test_ordinary_circles_in_the_same_words_are_noticed_within_eight_calls():
    assert late_among(map(ordinary_circle, range(0, len(ORDINARY_CIRCLES), 2))) <= ORDINARY_LATE


@pytest.mark.slow
def test_of_300_ordinary_sessions_none_is_noticed_and_of_as_many_circles_most_within_eight_calls():
    assert_none_of(map(ordinary_honest, range(300)))
    assert noticed_within_eight_calls(map(ordinary_circle, range(300))) >= 264


@pytest.mark.slow
def test_so_it_is_with_a_fourth_set_whose_odd_half_nobody_looked_at():
    assert_none_of(map(fourth_honest, range(300)))
    assert noticed_within_eight_calls(map(fourth_circle, range(0, 300, 2))) >= 110
    assert noticed_within_eight_calls(map(fourth_circle, range(1, 300, 2))) >= 110


def test_no_honest_session_of_a_fifth_set_is_noticed():
    """In half of its sorts an agent reads the same again and works between."""
    assert_none_of(map(fifth_honest, range(1, len(FIFTH_HONEST), 3)))


def test_every_circle_of_the_same_calls_is_noticed_within_eight_calls():
    """Nobody looked at any before."""
    circles = [fifth_circle(lap * len(FIFTH_CIRCLES) + sort) for lap in range(2) for sort in range(len(SAME_CALLS))]
    assert noticed_within_eight_calls(circles) == len(circles)


@pytest.mark.slow
def test_of_480_sessions_of_a_fifth_set_none_is_noticed_and_of_as_many_circles_most():
    """Sorts with an odd place were only counted. Comments on a ticket are work, also those of a circle."""
    assert_none_of(map(fifth_honest, range(480)))
    assert noticed_within_eight_calls(map(fifth_circle, range(0, 480, 2))) >= 216
    assert noticed_within_eight_calls(map(fifth_circle, range(1, 480, 2))) >= 192
    same = [fifth_circle(seed) for seed in range(480) if seed % len(FIFTH_CIRCLES) < len(SAME_CALLS)]
    assert noticed_within_eight_calls(same) == len(same) == 160
