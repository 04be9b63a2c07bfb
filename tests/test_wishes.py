"""Good times for a collection that a strategy only wishes for: hot content, steps, spend, another objective."""

import itertools

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gc_core import ConfigError, GCConfig, GCRemovalItem, GCSession, Plugins
from gc_core.cache.economics import Economics
from gc_core.collector.scheduler import OPPORTUNISTIC_REASONS, Break, Moment, Scheduler
from gc_core.events import CollectionDeferred, CollectionFinished
from gc_core.providers.calibration import Calibration
from gc_core.values.items import Form
from gc_core.values.results import GCTriggerReason, Goal
from gc_core.values.triggers import Hot, Major, ObjectiveChange, Spend, Steps
from tests.support.say import call, lines, result, user

REASON = GCTriggerReason
EXACT = Calibration(exact=True)
CLAUDE = Economics(read=0.1, write=1.25, ttl_seconds=300.0)
MAJOR = Major(target_percent=40.0)
WISHED = (Hot(), Steps(), Spend(tokens=500_000), ObjectiveChange())
MET = {
    "hot": {"hot_tokens": 40_000},
    "steps": {"steps_since": 20},
    "spend": {"spent_since": 500_000},
    "objective": {"changed_objective": True},
}
"""A moment in which exactly one of them is met."""


LEVELS = {"threshold_percent": 80.0, "pressure_percent": 90.0}


def scheduler(*triggers, **config):
    """One whose window grows so fast that a collection begins at the threshold, at the latest moment."""
    config = GCConfig(context_limit=100_000, output_reservation=0, **{**LEVELS, **config})
    return Scheduler(config=config, economics=CLAUDE, triggers=(MAJOR, *(triggers or WISHED)), growth=1e9)


def at(tokens, **more):
    return Moment(tokens=tokens, calibration=EXACT, **more)


# --- the scheduler ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MET)
def test_each_wish_is_met_only_by_its_own_occasion(name):
    made = scheduler()
    goal = made.before_send(at(50_000, **MET[name]))
    assert (goal.reason.value, goal.target_tokens) == (name, 40_000)
    assert not goal.pressure
    assert made.before_send(at(50_000)) is None
    others = {key: value for key, values in MET.items() if key != name for key, value in values.items()}
    wish = {"hot": Hot(), "steps": Steps(), "spend": Spend(tokens=500_000), "objective": ObjectiveChange()}[name]
    assert scheduler(wish).before_send(at(50_000, **others)) is None


@pytest.mark.parametrize(
    ("wish", "below", "met"),
    [
        (Hot(), {"hot_tokens": 39_999}, {"hot_tokens": 40_000}),
        (Hot(percent=10), {"hot_tokens": 9_999}, {"hot_tokens": 10_000}),
        (Steps(), {"steps_since": 19}, {"steps_since": 20}),
        (Steps(every=3), {"steps_since": 2}, {"steps_since": 3}),
        (Spend(tokens=7), {"spent_since": 6}, {"spent_since": 7}),
    ],
)
def test_a_wish_is_met_from_its_own_number_on_or_from_the_sessions(wish, below, met):
    assert scheduler(wish).before_send(at(50_000, **below)) is None
    assert scheduler(wish).before_send(at(50_000, **met)).reason in OPPORTUNISTIC_REASONS


@given(tokens=st.integers(0, 40_000), met=st.sampled_from(sorted(MET)), continuous=st.booleans())
def test_at_or_below_the_target_no_wish_is_granted(tokens, met, continuous):
    made = scheduler(pressure_percent=0 if continuous else 90)
    for goal in (made.before_send(at(tokens, **MET[met])), made.after_turn(at(tokens, **MET[met]), crossed=False)):
        assert goal is None or goal.reason not in OPPORTUNISTIC_REASONS


@given(met=st.sampled_from(sorted(MET)), waits=st.integers(0, 79_999), tokens=st.integers(40_001, 79_999))
def test_what_was_not_worth_it_waits_until_the_window_has_grown(met, waits, tokens):
    goal = scheduler().before_send(at(tokens, wanted_waits=waits, **MET[met]))
    assert (goal is None) == (tokens < waits)


@given(
    reason=st.sampled_from(sorted(OPPORTUNISTIC_REASONS, key=lambda each: each.value)),
    found=st.builds(Break, freed=st.integers(0, 90_000), rewritten=st.integers(0, 90_000)),
    calls=st.integers(0, 500),
)
def test_a_wish_is_worth_its_break_exactly_where_that_pays(reason, found, calls):
    made, moment = scheduler(), at(50_000, calls=calls)
    pays = found.freed > 0 and found.calls_to_break_even(CLAUDE) <= made._horizon(moment)
    assert made.is_worth(moment, found, Goal(target_tokens=40_000, reason=reason)) == pays


def test_the_threshold_comes_before_any_wish():
    moment = at(80_000, **{key: value for values in MET.values() for key, value in values.items()})
    assert scheduler().before_send(moment).reason is REASON.THRESHOLD
    assert scheduler().before_send(attrs.evolve(moment, tokens=70_000)).reason is REASON.HOT


@pytest.mark.parametrize(
    ("kind", "values"),
    [(Hot, {"percent": 101}), (Hot, {"percent": -1}), (Steps, {"every": 0}), (Spend, {"tokens": 0})],
)
def test_a_wish_that_cannot_be_is_refused(kind, values):
    with pytest.raises((ValueError, ConfigError), match=next(iter(values))):
        kind(**values)


# --- a session --------------------------------------------------------------------------------------------------------


@attrs.frozen
class Wishing:
    """Stubs what has been served, whatever it is asked for; counts how often it is."""

    triggers: tuple
    asked: list = attrs.field(factory=list, eq=False)
    keep: float = 0.1
    most: int = 1_000

    def collect(self, context, goal):
        self.asked.append(goal.reason)
        for item in context.stubbable[: self.most]:
            yield GCRemovalItem.stub(item, keep=self.keep, reason="served")


def session(strategy, events, **more):
    config = GCConfig(context_limit=20_000, output_reservation=0, reread_guard="off", **{**LEVELS, **more})
    return GCSession(config, strategy=strategy, plugins=Plugins(), model="claude-opus-4-5", on_event=events.append)


def run(made, number, *, first=0, size=40):
    for place in range(first, first + number):
        made.pre_send()
        made.post_turn(call((f"c{place}", "read", {"path": f"f{place}.py"})))
        made.append(result(f"c{place}", lines(size, f"row{place}")))


def reasons(events):
    return [event.result.reason for event in events if isinstance(event, CollectionFinished)]


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        (Hot(percent=30), REASON.HOT),
        (Steps(every=20), REASON.STEPS),
        (Spend(tokens=60_000), REASON.SPEND),
    ],
)
def test_in_a_session_each_wish_is_granted_once_and_starts_again(wish, reason):
    events = []
    with session(Wishing((Major(target_percent=20.0), wish)), events) as made:
        made.append(user("Look at all of it."))
        for place in range(40):
            run(made, 1, first=place)
            if reasons(events):
                break
        assert [item for item in made.items() if item.form is Form.STUB]
        run(made, 3, first=place + 1)
        assert reasons(events) == [reason]


def test_another_objective_is_noticed_once():
    events = []
    with session(Wishing((Major(target_percent=20.0), ObjectiveChange())), events) as made:
        made.append(user("Look at parser.py and lexer.py."))
        run(made, 20)
        assert reasons(events) == []
        made.objective = "Look at server.py and client.py."
        run(made, 5, first=20)
        assert reasons(events) == [REASON.OBJECTIVE]


def test_what_was_not_worth_its_break_is_not_asked_with_every_call():
    events = []
    strategy = Wishing((Major(target_percent=5.0), Steps(every=1)), most=1, keep=0.9)
    with session(strategy, events) as made:
        made.append(user("Look at all of it."))
        run(made, 40)
        deferred = [event.result for event in events if isinstance(event, CollectionDeferred)]
        wished = [result.tokens_before for result in deferred if result.reason is REASON.STEPS]
        assert reasons(events) == []
        # Once for each twentieth of the window that it has grown by, which is every third or fourth step here.
        assert 0 < len(wished) <= 20
        assert all(later - earlier >= 1_000 for earlier, later in itertools.pairwise(wished))


def test_in_continuous_mode_nothing_is_wished_for_below_the_target():
    events = []
    strategy = Wishing((Hot(percent=1), Steps(every=1), Spend(tokens=1), ObjectiveChange()))
    with session(strategy, events, pressure_percent=0) as made:
        made.append(user("Look at all of it."))
        for place in range(40):
            made.objective = f"Look at part_{place}.py and module_{place}.py."
            run(made, 1, first=place)
        assert reasons(events)
        results = [event.result for event in events if isinstance(event, CollectionFinished | CollectionDeferred)]
        assert all(each.tokens_before > each.target_tokens for each in results)


def test_an_opened_session_does_not_take_its_objective_for_another_one(tmp_path):
    events = []
    strategy = Wishing((Major(target_percent=20.0), ObjectiveChange()))
    config = GCConfig(context_limit=20_000, output_reservation=0, reread_guard="off")
    with GCSession(config, strategy=strategy, plugins=Plugins(), directory=tmp_path / "s") as made:
        made.append(user("Look at parser.py and lexer.py."))
        made.objective = "Look at server.py and client.py."
        run(made, 20)
    with GCSession.open(tmp_path / "s", strategy=strategy, plugins=Plugins(), on_event=events.append) as again:
        before = len(strategy.asked)
        run(again, 2, first=20)
        assert REASON.OBJECTIVE not in strategy.asked[before:]
