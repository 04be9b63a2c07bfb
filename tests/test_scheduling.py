"""Sessions collect when it pays: young content near the end, old content rarely, what waits is a debt that one sees."""

import itertools
import json
import os
import re

import pytest

from gc_core import GCConfig, GCRemovalItem, GCSession, GCTriggerReason, ItemKind, Major, Young
from gc_core.collector.scheduler import GROWTH
from gc_core.errors import PluginError
from gc_core.events import CollectionDeferred, CollectionFinished, CollectionStarted
from gc_core.values.items import Form
from tests.support.inside import meter_of, moment_of, scheduler_of, window_of
from tests.support.say import call, lines, rendered, result, schema, user

REASON = GCTriggerReason


class Clock:
    """Shows the time that a test says."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


class Nursery:
    """Snips what is young, or all that is served when the whole window is looked at."""

    def __init__(self, *triggers, keep=0.2):
        self.triggers = triggers or (Young(tokens=1_000, steps=2, least=100), Major(target_percent=40.0))
        self.keep = keep
        self.asked = 0

    def collect(self, context, goal):
        self.asked += 1
        for item in context.young if goal.is_young else context.stubbable:
            yield GCRemovalItem.snip(item, keep=self.keep, reason="served")


def session(strategy=None, *, window=40_000, directory=None, model="claude-opus-4-5", events=None, **more):
    levels = {"threshold_percent": 80.0, "pressure_percent": 90.0, **more}
    config = GCConfig(context_limit=window, output_reservation=0, **levels)
    made = GCSession(
        config, format="openai", model=model, strategy=strategy or Nursery(), directory=directory,
        on_event=None if events is None else events.append,
    )  # fmt: skip
    meter_of(made).clock = Clock()
    return made


def step(made, place, size=40):
    """One model call and the result that comes back, which shows no file; returns the request."""
    request = made.pre_send()
    made.post_turn(call((f"c{place}", "run_tests", {"command": f"pytest f{place}.py"})))
    made.append(result(f"c{place}", lines(size, f"row{place}")))
    return request


def run(made, number, *, first=0, size=40):
    if first == 0:
        made.append(user("Look at all of it."))
    return [step(made, place, size) for place in range(first, first + number)]


def reasons(events):
    return [event.result.reason for event in events if isinstance(event, CollectionFinished)]


def first_difference(before, after):
    pairs = zip(before.messages, after.messages, strict=False)
    return next((place for place, (old, new) in enumerate(pairs) if old != new), None)


# --- young content ----------------------------------------------------------------------------------------------------


def test_young_results_are_collected_near_the_end_in_one_break():
    events = []
    with session(events=events) as made:
        requests = [*run(made, 20), made.pre_send()]
        breaks = [
            place for one, two in itertools.pairwise(requests)
            if (place := first_difference(one, two)) is not None
        ]  # fmt: skip
        assert len(breaks) == len(reasons(events)) > 1
        assert set(reasons(events)) == {REASON.YOUNG}
        # Each comes after the one before: snipped texts stay unchanged.
        assert breaks == sorted(set(breaks))
        snipped = [item for item in made.items() if item.form is Form.STUB]
        assert all(item.text.startswith("[...snipped...]\n") or "\n" not in item.text for item in snipped)


def test_a_second_young_collection_with_the_same_goal_is_empty():
    events = []
    with session(events=events) as made:
        run(made, 20)
        goals = [event.goal for event in events if isinstance(event, CollectionStarted)]
        assert goals
        assert not made.plan(goal=goals[-1]).result.changed


def test_the_newest_steps_are_never_young():
    """Also where a strategy says that no step has to be taken, and where a break costs nothing."""
    with session(Nursery(Young(tokens=1, steps=0, least=1)), preserve_recent_steps=3) as made:
        run(made, 12)
        meter_of(made).clock.now += 301
        made.pre_send()
        results = [item for item in made.items() if item.kind is ItemKind.TOOL_RESULT]
        assert [item.form for item in results[-4:]] == [Form.STUB] + [Form.WHOLE] * 3


def test_a_strategy_is_not_asked_before_as_many_steps_as_it_says():
    strategy = Nursery(Young(tokens=300, steps=6, least=100))
    with session(strategy) as made:
        run(made, 6)
        assert (strategy.asked, made.debt.served_tokens) == (0, 0)
        run(made, 1, first=6)
        assert strategy.asked == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read", {"path": "f.py"}),
        ("run", {"command": "cat f.py"}),
        ("write", {"path": "f.py", "content": lines(40)}),
        ("edit", {"path": "f.py", "old_string": "x", "new_string": lines(40)}),
    ],
    ids=["read", "cat", "write", "edit"],
)
def test_what_shows_a_file_in_work_is_never_young(tool, arguments):
    strategy = Nursery()
    with session(strategy) as made:
        made.append(user("Look at all of it."))
        for place in range(12):
            made.pre_send()
            made.post_turn(call((f"c{place}", tool, arguments)))
            made.append(result(f"c{place}", lines(40, f"row{place}")))
        assert (strategy.asked, made.debt.served_tokens) == (0, 0)
        run(made, 8, first=20)
        assert strategy.asked > 0
        calls = {
            item.id for item in made.items() if item.kind is ItemKind.TOOL_CALL and arguments == json.loads(item.text)
        }
        shows = [item for item in made.items() if calls & {item.id, item.call}]
        assert len(shows) == 24
        assert {item.form for item in shows} == {Form.WHOLE}


def test_a_nursery_in_which_nothing_can_go_is_not_asked_again_and_again():
    class Idle(Nursery):
        def collect(self, context, goal):  # noqa: ARG002 - the contract
            self.asked += 1
            return ()

    idle = Idle()
    with session(idle) as made:
        run(made, 40, size=20)
        # A thousand tokens each time, not with every call.
        assert 0 < idle.asked <= 8
        asked = idle.asked
        for _ in range(5):
            made.pre_send()
        assert idle.asked == asked


def test_a_collection_not_worth_its_break_waits_for_a_quarter_more():
    class Oldest(Nursery):
        def collect(self, context, goal):
            yield from list(super().collect(context, goal))[:1]

    strategy = Oldest()
    with session(strategy) as made:
        run(made, 30)
        # 1,000 tokens, then a quarter more each time, up to 11,000.
        assert 5 < strategy.asked <= 12
        assert made.last_result is None
        assert made.debt.served_tokens > 10_000
        assert made.debt.deferred_tokens > 0


def test_content_after_a_trace_is_young_all_the_same():
    """A trace gets its id when something is dropped, later than the newest results: its number says nothing."""

    class Dropping(Nursery):
        def collect(self, context, goal):
            if goal.is_young:
                yield from super().collect(context, goal)
                return
            for unit in context.collectable[:3]:
                yield GCRemovalItem.drop(unit, reason="oldest")

    with session(Dropping(Young(tokens=1_000, steps=2, least=100))) as made:
        run(made, 5)
        before = {item.id for item in made.items() if item.form is Form.WHOLE and item.kind is ItemKind.TOOL_RESULT}
        made.collect_now(target_percent=0)
        whole = [item.id for item in made.items() if item.id in before and item.form is Form.WHOLE]
        run(made, 12, first=5)
        forms = {item.id: item.form for item in made.items()}
        assert {forms[key] for key in whole[-2:]} == {Form.STUB}


def test_what_undo_brought_back_is_pinned_and_not_young():
    with session() as made:
        run(made, 20)
        stubs = [item.id for item in made.items() if item.form is Form.STUB]
        while made.undo():
            pass
        run(made, 12, first=20)
        forms = {item.id: item.form for item in made.items()}
        assert {forms[key] for key in stubs} == {Form.WHOLE}
        assert Form.STUB in {item.form for item in made.items()}
        made.release()
        made.collect_now(target_percent=0)
        assert {item.form for item in made.items() if item.id in stubs} == {Form.STUB}


def test_after_a_rewind_young_content_is_collected_as_before():
    with session() as made:
        run(made, 14)
        made.append(user("Another task."))
        run(made, 14, first=20)
        made.rewind(1)
        made.append(user("Yet another task."))
        run(made, 20, first=40)
        newest = [item for item in made.items() if item.kind is ItemKind.TOOL_RESULT][-18:-8]
        assert {item.form for item in newest} == {Form.STUB}
        assert made.plugins.failures == []


# --- a break that happens anyway --------------------------------------------------------------------------------------


def test_a_cold_cache_collects_what_is_due():
    events = []
    with session(Nursery(Young(tokens=9_000, steps=2), Major(target_percent=40.0)), events=events) as made:
        run(made, 10, size=30)
        assert reasons(events) == []
        meter_of(made).clock.now += 299
        made.pre_send()
        assert reasons(events) == []
        meter_of(made).clock.now += 301
        made.pre_send()
        assert reasons(events) == [REASON.YOUNG]


def test_a_cold_cache_collects_the_whole_window_when_that_is_half_due():
    events = []
    with session(Nursery(Major(target_percent=40.0)), events=events) as made:
        run(made, 34, size=60)
        assert (reasons(events), made.budget.total > 18_000) == ([], True)
        meter_of(made).clock.now += 301
        made.pre_send()
        assert reasons(events) == [REASON.COLD_CACHE]
        assert made.budget.total <= 16_000


def test_a_clock_that_goes_backwards_counts_as_no_time_passed():
    events = []
    with session(Nursery(Young(tokens=9_000, steps=2)), events=events) as made:
        run(made, 10)
        meter_of(made).clock.now -= 10_000
        assert moment_of(made).idle_seconds == 0
        made.pre_send()
        assert reasons(events) == []


@pytest.mark.parametrize("how", ["system", "tools", "model"])
def test_a_break_at_the_head_takes_along_what_is_due(how):
    events = []
    with session(Nursery(Young(tokens=9_000, steps=2)), events=events) as made:
        made.system(base="Be careful.")
        made.tools([schema("read")])
        run(made, 8)
        if how == "system":
            made.system(base="Be very careful.", refresh="now")
        elif how == "tools":
            made.tools([schema("read"), schema("write")], refresh="now")
        else:
            made.switch(model="claude-sonnet-4-5")
        assert reasons(events) == []
        made.pre_send()
        assert reasons(events) == [REASON.YOUNG]
        made.pre_send()
        assert reasons(events) == [REASON.YOUNG]


def test_what_waits_at_the_head_waits_on_while_young_content_is_collected():
    with session() as made:
        made.system(base="Be careful.")
        run(made, 6)
        made.system(base="Be very careful.")
        requests = run(made, 12, first=6)
        assert Form.STUB in {item.form for item in made.items()}
        assert {json.dumps([*request.system]) for request in requests} == {json.dumps([*requests[0].system])}
        made.collect_now(target_percent=0)
        assert "very careful" in rendered(made)


# --- how fast the window grows ----------------------------------------------------------------------------------------


def test_a_session_learns_how_fast_its_window_grows_and_collections_do_not_hide_it():
    events = []
    with session(events=events) as made:
        assert scheduler_of(made).growth == GROWTH
        run(made, 3)
        before = made.budget.total
        run(made, 1, first=3)
        each = made.budget.total - before
        run(made, 26, first=4)
        assert len(reasons(events)) > 3
        calls = 29  # the first request says how much there is, not how much a call adds
        assert scheduler_of(made).growth == pytest.approx((10 * GROWTH + calls * each) / (10 + calls), rel=0.02)


def test_a_window_that_grows_slowly_is_collected_below_the_threshold_and_one_that_grows_fast_at_it():
    for size, number, least, most in ((5, 400, 45.0, 65.0), (150, 60, 80.0, 85.0)):
        events = []
        with session(Nursery(Major(target_percent=40.0), keep=0.0), events=events) as made:
            run(made, number, size=size)
        first = next(event.goal for event in events if isinstance(event, CollectionStarted))
        assert first.reason is REASON.THRESHOLD
        assert least <= first.window_percent < most


# --- debt -------------------------------------------------------------------------------------------------------------


def test_deferred_removals_are_a_debt_that_one_sees():
    with session(pressure_percent=0, defer=True, target_percent=10, threshold_percent=80, strategy=Nursery(
        Major(target_percent=10.0), keep=0.95
    )) as made:  # fmt: skip
        run(made, 12)
        debt = made.debt
        assert debt
        assert debt.deferred_tokens > 0
        assert "breaks even after" in debt.why
        assert f"{debt.deferred_tokens:,} could be removed and were not" in made.explain()
        assert made.last_result is None


def test_without_leave_to_wait_continuous_mode_owes_nothing():
    with session(
        pressure_percent=0, target_percent=10, strategy=Nursery(Major(target_percent=10.0), keep=0.95)
    ) as made:
        run(made, 12)
        assert made.debt.deferred_tokens == 0
        assert made.last_result is not None


def test_a_debt_is_paid_by_the_next_collection():
    with session(Nursery(Young(tokens=9_000, steps=2, least=100))) as made:
        run(made, 8)
        assert made.debt.served_tokens > 1_000
        waiting = f"{made.debt.served_tokens:,} tokens that the agent has consumed are still there in full"
        assert waiting in made.explain()
        made.collect_now(target_percent=0)
        assert not made.debt
        assert "debt" not in made.explain()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"threshold_percent": 80, "target_percent": 60}, r"the next collection starts at [\d.]+ %, down to 60 %"),
        ({"pressure_percent": 0, "target_percent": 50}, r"each call above 50 % collects, down to 50 %"),
        ({"auto_trigger": False}, r"collects only when asked"),
    ],
)
def test_when_the_next_collection_comes_is_said_in_plain_words(values, said):
    with GCSession(GCConfig(**values)) as made:
        assert re.fullmatch(said, made.explain().splitlines()[2])


def test_what_the_agent_has_consumed_is_named_where_it_makes_a_collection_earlier():
    with session(Nursery(Young(tokens=9_000, steps=2, least=100))) as made:
        assert ", and earlier once the agent has consumed 9,000 tokens of results" in made.explain()


def test_the_reason_of_a_debt_is_gone_with_it():
    with session() as made:
        run(made, 20)
        assert made.last_result is not None
        assert (made.debt.deferred_tokens, made.debt.why) == (0, "")
        text = made.explain()
        assert "its break of the prompt cache: rewriting" in text
        assert "down to 40 %" in text


def test_young_content_stays_due_when_the_whole_window_was_not_worth_a_break():
    """In continuous mode the one may wait below the threshold; the other is near the end, where a break is cheap."""

    class Far(Nursery):
        def collect(self, context, goal):
            yield from super().collect(context, goal) if goal.is_young else list(super().collect(context, goal))[:1]

    strategy = Far(Young(tokens=3_000, steps=2, least=100), Major(target_percent=10.0))
    events = []
    with session(strategy, pressure_percent=0, defer=True, target_percent=10, events=events) as made:
        run(made, 13)
        deferred = [event.result.reason for event in events if isinstance(event, CollectionDeferred)]
        assert REASON.CONTINUOUS in deferred
        results = [item for item in made.items() if item.kind is ItemKind.TOOL_RESULT]
        assert {item.form for item in results[:8]} == {Form.STUB}


# --- across processes, and against rubbish ----------------------------------------------------------------------------


def test_a_reopened_session_goes_on(tmp_path):
    strategy = Nursery()
    with session(strategy, directory=tmp_path) as made:
        run(made, 11)
        sent = rendered(made)
    with GCSession.open(tmp_path, strategy=strategy) as again:
        assert rendered(again) == sent
        run(again, 12, first=11)
        assert again.plugins.failures == []
        results = [item for item in again.items() if item.kind is ItemKind.TOOL_RESULT]
        assert {item.form for item in results[:14]} == {Form.STUB}


def test_a_session_that_is_opened_the_next_day_finds_a_cold_cache(tmp_path):
    strategy = Nursery(Young(tokens=9_000, steps=2), Major(target_percent=40.0))
    with session(strategy, directory=tmp_path / "s") as made:
        run(made, 10, size=30)
    log = tmp_path / "s" / "master.jsonl"
    day_before = log.stat().st_mtime - 86_400
    os.utime(log, (day_before, day_before))
    events = []
    with GCSession.open(tmp_path / "s", strategy=strategy, on_event=events.append) as again:
        again.pre_send()
        assert moment_of(again).calls == 11
    assert reasons(events) == [REASON.YOUNG]


@pytest.mark.parametrize(
    "rubbish", [5, "young", [Young(tokens=5)], (Young(tokens=5), "x"), {"young": 1}, 5.5], ids=repr
)
def test_rubbish_in_triggers_is_a_recorded_failure_and_breaks_nothing(rubbish):
    class Odd(Nursery):
        def __init__(self):
            super().__init__()
            self.triggers = rubbish

    with session(Odd()) as made:
        run(made, 12)
        (failure,) = made.plugins.failures
        assert isinstance(failure.error, PluginError)
        assert "triggers = " in str(failure.error)
        assert "expected a tuple of gc_core.Trigger values" in str(failure.error)
        assert made.collect_now(target_percent=0).changed


def test_triggers_that_raise_are_a_recorded_failure():
    class Raising(Nursery):
        def __init__(self):
            pass

        @property
        def triggers(self):
            raise ZeroDivisionError("no triggers today")

        def collect(self, context, goal):  # noqa: ARG002 - the contract
            return ()

    with session(Raising()) as made:
        run(made, 3)
        assert [type(failure.error) for failure in made.plugins.failures] == [ZeroDivisionError]


def test_where_the_model_binds_thinking_the_nursery_is_off_unless_the_strategy_wants_it():
    for wanted in (False, True):
        strategy = Nursery(Young(tokens=1_000, steps=2, least=100, on_bound_thinking=wanted))
        with session(strategy, model="claude-opus-5-5") as made:
            run(made, 14)
            assert (strategy.asked > 0) == wanted


# --- what a young collection may take ---------------------------------------------------------------------------------


class Greedy:
    """Drops all that it may, whatever the goal."""

    def __init__(self, *triggers):
        self.triggers = triggers

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for unit in context.collectable:
            yield GCRemovalItem.drop(unit, reason="oldest")
        for item in context.stubbable:
            yield GCRemovalItem.stub(item, keep=0.0, reason="all of it")


def young_forms(strategy):
    with session(strategy) as made:
        run(made, 20)
        return [item.form for item in made.items() if item.kind is ItemKind.TOOL_RESULT], len(window_of(made).messages)


def test_a_strategy_that_declares_nothing_young_is_not_asked_for_it():
    assert young_forms([Nursery(), Greedy()]) == young_forms([Nursery()])


def test_a_young_collection_drops_nothing_whatever_a_strategy_proposes():
    forms, messages = young_forms([Greedy(Young(tokens=1_000, steps=2, least=100))])
    assert len(forms) == 20
    assert Form.STUB in forms
    assert messages == 41


def test_a_young_collection_that_fails_leaves_the_window_as_it_is():
    class Failing(Greedy):
        def collect(self, context, goal):  # noqa: ARG002 - the contract
            raise ZeroDivisionError("not today")

    forms, messages = young_forms([Failing(Young(tokens=1_000, steps=2, least=100))])
    assert set(forms) == {Form.WHOLE}
    assert messages == 41
