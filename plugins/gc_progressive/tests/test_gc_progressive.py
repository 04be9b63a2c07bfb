"""Each level of gc_progressive by itself, and a session that is long enough for all of them."""

import contextlib
import json
import re

import pytest
from gc_progressive import Progressive

from gc_core import (
    GCConfig,
    GCPolicy,
    GCSession,
    GCTriggerReason,
    Goal,
    Hot,
    ItemKind,
    Level,
    Major,
    ObjectiveChange,
    Spend,
    Steps,
    Young,
)
from gc_core.errors import SessionClosedError
from gc_core.events import CollectionFinished
from gc_core.values.items import Form
from gc_core.values.summary import entries_of
from tests.support.inside import state_of

BINDS, KEEPS = "claude-opus-5-5", "claude-opus-4-5"
COOLDOWN_STEPS = {"nursery_tokens": 0, "task_state_percent": 0}
"""No nursery and no state; a test switches on what it is about."""


def session(window=60_000, *, model=KEEPS, events=None, options=None, directory=None, **more):
    more = {"reread_guard": "off", "output_reservation": 0, **more}
    config = GCConfig(strategy="gc_progressive", context_limit=window, **more)
    listener = None if events is None else events.append
    strategy = Progressive(**(options or {}))
    return GCSession(config, strategy=strategy, model=model, on_event=listener, directory=directory)


def used(key, arguments, output, *, said=None, tool="run_tests"):
    call = {"id": f"c{key}", "type": "function", "function": {"name": tool, "arguments": arguments}}
    yield {"role": "assistant", "content": said, "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": f"c{key}", "content": output}


def noise(rows):
    return "and so it goes on and on in this file\n" * rows


def passing(key, rows=40, said=None):
    """A step that ends well, with one line that nothing else tells."""
    path = f'{{"path": "tests/test_part_{key}.py"}}'
    return used(key, path, f"{noise(rows)}reads case_{key}.json\n{key + 1} passed in 0.1s", said=said)


def say(made, *steps):
    for step in steps:
        for message in step:
            made.append(message)


def work(made, first, number, *, rows=40):
    say(made, *(passing(place, rows) for place in range(first, first + number)))


def loop(made, first, number, *, rows=40):
    """Steps as an agent's loop takes them."""
    for place in range(first, first + number):
        reply, answered = passing(place, rows)
        made.pre_send()
        made.post_turn(reply)
        made.append(answered)


def begun(*, steps=40, options=None, rows=40, **more):
    made = session(options={**COOLDOWN_STEPS, **(options or {})}, auto_trigger=False, **more)
    made.append({"role": "user", "content": "Make every parser accept tabs, [please]."})
    work(made, 0, steps, rows=rows)
    return made


def levels(made):
    return {unit.level for unit in made.view().units if not unit.is_trace}


def of_level(made, level):
    return [unit for unit in made.view().units if unit.level is level and not unit.is_trace]


def results(made):
    return [item for item in made.items() if item.kind is ItemKind.TOOL_RESULT]


def phases(done):
    return [removal.phase for removal in done.removals]


def reasons(events):
    return [event.result.reason for event in events if isinstance(event, CollectionFinished)]


def down_to(made, tokens):
    """The target of a collection in percent of the window."""
    return 100 * state_of(made).calibration.estimate(tokens) / made.config.usable


# --- L1 ---------------------------------------------------------------------------------------------------------------


def test_what_has_been_served_shrinks_to_its_live_lines_the_oldest_first():
    with begun(steps=20) as made:
        done = made.collect_now(target_percent=down_to(made, made.budget.total - 3_000))
        assert set(phases(done)) == {"L1"}
        forms = [unit.level for unit in made.view().units if unit.is_step]
        assert forms == sorted(forms, key=lambda level: level is Level.VERBATIM)
        assert Level.CONDENSED in forms
        first = results(made)[0]
        assert "reads case_0.json" in first.text
        assert made.recall(first.text) == f"{noise(40)}reads case_0.json\n1 passed in 0.1s"


@pytest.mark.parametrize("steps", [2, 5])
def test_the_newest_steps_stay_verbatim_until_they_have_been_served(steps):
    with begun(steps=20, options={"nursery_steps": steps}) as made:
        removals = list(Progressive(nursery_steps=steps).collect(made.view(), Goal(target_tokens=0)))
        condensed = [removal.items[0] for removal in removals if removal.phase == "L1"]
        assert condensed == [item.id for item in results(made)[: 20 - steps]]


def test_superseded_content_is_condensed_first():
    with begun(steps=0) as made:
        for key, name in enumerate(["a", "b", "b", "c", "d", *"efghijklmn"]):
            say(made, used(key, f'{{"pattern": "port_{name}"}}', noise(40) + f"port_{name} = 80", tool="grep"))
        first = next(iter(Progressive().collect(made.view(), Goal(target_tokens=0))))
        assert (first.reason, first.items) == ("superseded", (results(made)[1].id,))


def test_what_is_condensed_shrinks_further_by_shares_from_its_original():
    with session(options={**COOLDOWN_STEPS, "shares": (0.2, 0.1)}, auto_trigger=False, summarizer="none") as made:
        made.append({"role": "user", "content": "Look."})
        texts = ["\n".join(f"name_{key}_{row} = value_{row}_{key}" for row in range(100)) for key in range(16)]
        for key, text in enumerate(texts):
            say(made, used(key, f'{{"pattern": "name_{key}"}}', text, tool="grep"))
        seen, sizes, key = [], [], results(made)[0].id
        for percent in (26, 22, 12, 10, 8, 6):
            seen += phases(made.collect_now(target_percent=percent))
            sizes += [item.tokens for item in results(made) if item.id == key]
            assert made.recall(key) == texts[0]
        assert sizes == sorted(sizes, reverse=True)
        assert {"L1 0.2", "L1 0.1"} <= set(seen)


def test_the_nursery_condenses_what_was_served_and_nothing_before_it():
    events = []
    with session(events=events, options={"nursery_tokens": 2_000}) as made:
        made.append({"role": "user", "content": "Look."})
        loop(made, 0, 20)
        assert set(reasons(events)) == {GCTriggerReason.YOUNG}
        changes = [event.result.earliest_change for event in events if isinstance(event, CollectionFinished)]
        assert changes == sorted(set(changes))
        assert [unit.level for unit in made.view().units][-2:] == [Level.VERBATIM] * 2
        assert Level.CONDENSED in levels(made)


def test_a_nursery_of_ten_steps_leaves_ten_steps_verbatim():
    with session(options={"nursery_tokens": 2_000, "nursery_steps": 10}) as made:
        made.append({"role": "user", "content": "Look."})
        loop(made, 0, 40)
        steps = [unit.level for unit in made.view().units if unit.is_step]
        assert steps[-10:] == [Level.VERBATIM] * 10
        assert Level.CONDENSED in steps


def test_on_models_that_bind_thinking_the_nursery_is_off_unless_it_is_wanted():
    for wanted in (False, True):
        events = []
        options = {"nursery_tokens": 2_000, "nursery_on_bound_thinking": wanted}
        with session(model=BINDS, events=events, options=options) as made:
            made.append({"role": "user", "content": "Look."})
            loop(made, 0, 20)
            assert bool(reasons(events)) == wanted


# --- files ------------------------------------------------------------------------------------------------------------


def code(path, rows=60):
    """A file in which each line occurs once."""
    return "\n".join(f"{path}_name_{row} = compute({row})" for row in range(rows))


def read(key, path, rows=60):
    return used(key, f'{{"path": "{path}.py"}}', code(path, rows), tool="read")


def edit(key, path, *, old="pass", new="return 1"):
    arguments = json.dumps({"path": f"{path}.py", "old_string": old, "new_string": new})
    return used(key, arguments, "Done.", tool="edit")


def proposed(made, tokens, **options):
    return list(Progressive(**{**COOLDOWN_STEPS, **options}).collect(made.view(), Goal(target_tokens=tokens)))


def test_the_nursery_leaves_views_of_files_and_the_arguments_of_edits_alone():
    events = []
    with session(events=events, options={"nursery_tokens": 1_000}) as made:
        made.append({"role": "user", "content": "Look."})
        for place in range(0, 24, 3):
            steps = (
                read(place, f"part_{place}"),
                edit(place + 1, f"part_{place}", new=code(f"new_{place}")),
                passing(place + 2, 300),
            )
            for reply, answered in steps:
                made.pre_send()
                made.post_turn(reply)
                made.append(answered)
        assert set(reasons(events)) == {GCTriggerReason.YOUNG}
        condensed = [item for item in made.items() if item.form is Form.STUB]
        assert condensed
        assert {item.name for item in condensed} == {"run_tests"}


def test_repeated_lines_of_an_older_view_leave_and_all_others_stay_whole_and_in_order():
    with begun(steps=0) as made:
        say(made, read("old", "a"), read("new", "a", 40), *(passing(place, 1) for place in range(4)))
        done = made.collect_now(target_percent=down_to(made, made.budget.total - 100))
        assert [(removal.phase, removal.reason) for removal in done.removals] == [("L1", "shown again")]
        *kept, reference = results(made)[0].text.split("\n")
        assert kept == ["[...]", *code("a").split("\n")[40:]]
        assert made.recall(reference) == code("a")


def test_the_old_text_of_an_edit_leaves_and_its_new_text_stays_in_a_json_object():
    old, new = code("before", 30), code("after", 30)
    with begun(steps=0) as made:
        say(made, edit("e", "a", old=old, new=new), *(passing(place, 1) for place in range(4)))
        made.collect_now(target_percent=down_to(made, made.budget.total - 100))
        (call,) = [item for item in made.items() if item.kind is ItemKind.TOOL_CALL and item.name == "edit"]
        left = json.loads(call.text)
        assert json.loads(made.recall(left.pop("left_out")))["old_string"] == old
        assert left == {"path": "a.py", "old_string": "[...]", "new_string": new}


def test_of_files_the_least_used_shrink_first_all_views_of_one_together_and_those_in_use_stay_whole():
    with begun(steps=0) as made:
        say(made, *(read(f"{name}{part}", name, 30 + part) for part in range(2) for name in "abc"), edit("e", "a"))
        say(made, *(passing(place, 1) for place in range(4)))
        views = {name: [results(made)[place].id, results(made)[place + 3].id] for place, name in enumerate("abc")}
        size = sum(item.tokens for item in results(made)[:6]) / 3
        shrunk = [
            removal.items[0]
            for removal in proposed(made, 2 * 1.5 * size, files_share=0.5)
            if removal.reason.startswith("its file was last named")
        ]
        assert shrunk == [*views["b"], *views["c"]]


@pytest.mark.parametrize("target", [0, 1_500])
def test_summaries_and_the_digest_take_no_step_that_shows_a_file_in_use(target):
    with begun(steps=0) as made:
        say(made, read("r", "a"))
        for place in range(0, 260, 20):
            work(made, place, 20, rows=4)
            say(made, edit(place, "a"))
        shows = next(unit.number for unit in made.view().units if results(made)[0] in unit.items)
        chosen = [removal for removal in proposed(made, target) if removal.phase in {"L2", "L3"}]
        assert {removal.phase for removal in chosen} == {"L2", "L3"}
        assert any(shows in removal.action.units for removal in chosen) == (target == 0)


def test_steps_that_show_a_file_in_use_are_dropped_last():
    with begun(steps=0, summarizer="none") as made:
        say(made, read("r", "a"), *(passing(place, 30) for place in range(8)))
        shows = next(unit.number for unit in made.view().units if results(made)[0] in unit.items)
        removals = proposed(made, 2_000, files_share=0.9)
        dropped = [removal.action.units[0] for removal in removals if removal.phase in {"evict", "drop"}]
        assert len(dropped) > 2
        assert dropped[-1] == shows


# --- L2 ---------------------------------------------------------------------------------------------------------------


def test_whole_segments_that_are_older_than_fifty_steps_become_a_summary_of_a_tenth():
    with begun(steps=140) as made:
        original = sum(unit.original_tokens for unit in made.view().units if unit.is_step) / 140
        done = made.collect_now(target_percent=down_to(made, 16_000))
        chosen = [removal for removal in done.removals if removal.phase == "L2"]
        assert chosen
        assert all(len(removal.action.units) in {50, 40} for removal in chosen)
        for unit in of_level(made, Level.SUMMARY):
            (item,) = unit.items
            assert item.tokens <= 50 * original / 10 + 20
            assert "passed in 0.1s" in item.text


@pytest.mark.parametrize("age", [3, 10])
def test_when_more_is_needed_younger_steps_become_summaries_too_down_to_the_first_age(age):
    with begun(steps=40) as made:
        view = made.view()
        ages = {unit.number: view.age(unit) for unit in view.units}
        removals = proposed(made, 0, ages=(age, 50, 200))
        chosen = [ages[number] for removal in removals if removal.phase == "L2" for number in removal.action.units]
        assert min(chosen) == age


def test_a_segment_is_summarised_from_its_originals_though_its_steps_are_condensed():
    with begun(steps=140, window=200_000) as made:
        made.collect_now(target_percent=down_to(made, made.budget.total - 10_000))
        assert Level.CONDENSED in levels(made)
        before = {unit.number: unit.original_tokens for unit in made.view().units}
        done = made.collect_now(target_percent=down_to(made, 20_000))
        removal = next(removal for removal in done.removals if removal.phase == "L2")
        unit = of_level(made, Level.SUMMARY)[0]
        assert unit.items[0].reference.tokens >= sum(before[number] for number in removal.action.units)


def test_without_a_summarizer_old_steps_are_condensed_and_dropped():
    with begun(steps=140, summarizer="none") as made:
        done = made.collect_now(target_percent=5)
        assert not {"L2", "L3"} & set(phases(done))
        assert "evict" in phases(done)
        assert done.failures == ()


# --- L3 ---------------------------------------------------------------------------------------------------------------


def test_what_is_older_than_two_hundred_steps_is_one_digest():
    with begun(steps=260, rows=20) as made:
        done = made.collect_now(target_percent=down_to(made, 22_000))
        assert "L3" in phases(done)
        (digest,) = of_level(made, Level.DIGEST)
        assert digest.items[0].reference.first == "i2"


def test_the_digest_never_exceeds_its_cap_and_says_how_its_newest_segment_ended():
    cap = 15
    with begun(steps=0, window=16_000, options={"ages": (3, 10, 20), "segment_steps": 10}) as made:
        seen = 0
        for part in range(12):
            work(made, 40 * part, 40, rows=6)
            made.collect_now(target_percent=25)
            found = of_level(made, Level.DIGEST)
            assert len(found) <= 1
            for digest in found:
                assert digest.tokens <= cap * made.config.usable / 100
                last = digest.items[0].reference.last
                assert int(last[1:]) > seen
                entries = entries_of(digest.items[0].text)
                new = [entry for entry in entries if max(map(int, re.findall(r"\bi(\d+)", entry))) > seen]
                assert any("passed in 0.1s" in entry for entry in new)
                seen = int(last[1:])
        assert seen


@pytest.mark.parametrize("percent", [8, 15])
def test_the_cap_of_the_digest_is_an_option(percent):
    with begun(steps=400, rows=2, window=30_000, options={"digest_percent": percent, "digest_ratio": 3}) as made:
        made.collect_now(target_percent=down_to(made, 14_000))
        (digest,) = of_level(made, Level.DIGEST)
        assert digest.tokens <= percent * 30_000 / 100


# --- evictions and what is held ---------------------------------------------------------------------------------------


def test_what_matters_least_is_evicted_first():
    with begun(steps=30, summarizer="none") as made:
        view = made.view()
        matters = {unit.number: max(map(view.importance, unit.items)) for unit in view.collectable}
        proposed = list(Progressive().collect(view, Goal(target_tokens=3_000)))
        gone = [matters[removal.action.units[0]] for removal in proposed if removal.phase == "evict"]
        assert gone
        assert gone == sorted(gone)


def test_what_is_held_stays_whatever_happens():
    with begun(steps=60) as made:
        pinned, locked = results(made)[3], results(made)[5]
        made.pin(item=pinned.id)
        made.set_policy(locked.id, GCPolicy.LOCKED)
        made.collect_now(target_percent=0)
        left = {item.id: item.text for item in made.items()}
        assert (left[pinned.id], left[locked.id]) == (pinned.text, locked.text)
        assert left["i1"] == "Make every parser accept tabs, [please]."
        assert [unit.level for unit in made.view().units][-2:] == [Level.VERBATIM] * 2


def test_under_pressure_user_texts_that_are_old_go_into_the_digest_and_younger_ones_stay():
    options = {"ages": (2, 4, 8), "segment_steps": 5}
    percents = {"target_percent": 30, "threshold_percent": 50, "pressure_percent": 60}
    with session(8_000, options={**COOLDOWN_STEPS, **options}, auto_trigger=False, **percents) as made:
        made.append({"role": "user", "content": "Make every parser accept tabs."})
        for turn in range(30):
            said = f"In turn {turn} I want part {turn}. " + "It is told at some length. " * 4
            made.append({"role": "user", "content": said})
            work(made, 2 * turn, 2, rows=2)
        assert made.budget.total > 0.6 * made.config.usable
        view = made.view()
        old = {unit.items[0].id for unit in view.units if unit.turn > 0 and view.age(unit) >= 8}
        done = made.collect_now(target_percent=30)
        digests = [removal for removal in done.removals if removal.phase == "L3"]
        texts = {key for removal in digests for key in removal.items} & {
            item.id for unit in view.units for item in unit.items if item.kind is ItemKind.USER_TEXT
        }
        assert texts
        assert texts <= old
        left = [item.text for item in made.items() if item.kind is ItemKind.USER_TEXT]
        assert left[0] == "Make every parser accept tabs."
        assert left[-1].startswith("In turn 29 ")


# --- when it asks -----------------------------------------------------------------------------------------------------


def test_it_asks_for_what_its_options_name():
    major, young = Progressive().triggers
    assert major == Major(target_percent=47.0, base_tokens=10_000, relief_percent=60.0)
    assert young == Young(tokens=4_000, steps=2, least=60)
    assert Progressive(nursery_tokens=0).triggers == (major,)
    asked = Progressive(nursery_tokens=0, wishes=("hot", "steps", "objective"), spend_tokens=9).triggers
    assert asked == (major, Hot(), Steps(), ObjectiveChange(), Spend(tokens=9))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"wishes": ("hot",)}, GCTriggerReason.HOT),
        ({"wishes": ("steps",)}, GCTriggerReason.STEPS),
        ({"spend_tokens": 100_000}, GCTriggerReason.SPEND),
    ],
)
def test_each_wish_is_granted_by_itself(options, reason):
    events = []
    with session(20_000, events=events, options={**COOLDOWN_STEPS, **options, "target_percent": 20}) as made:
        made.append({"role": "user", "content": "Look."})
        loop(made, 0, 28, rows=20)
        assert set(reasons(events)) == {reason}


def test_another_objective_is_a_good_time_where_it_is_wished_for():
    events = []
    with session(
        20_000, events=events, options={**COOLDOWN_STEPS, "wishes": ("objective",), "target_percent": 20}
    ) as made:
        made.append({"role": "user", "content": "Look at parser.py and lexer.py."})
        loop(made, 0, 24, rows=20)
        assert reasons(events) == []
        made.objective = "Look at server.py and client.py."
        loop(made, 24, 2, rows=20)
        assert reasons(events) == [GCTriggerReason.OBJECTIVE]


def test_options_from_a_configuration_are_checked_by_name():
    config = GCConfig(strategy="gc_progressive", strategies={"gc_progressive": {"wishes": ["soon"]}})
    with pytest.raises(Exception, match="wishes"):
        GCSession(config)


# --- the state, and what comes back -----------------------------------------------------------------------------------


@pytest.mark.parametrize("percent", [0, 5])
def test_the_task_state_is_in_the_window_within_its_share(percent):
    with begun(steps=80, window=30_000, options={"task_state_percent": percent}) as made:
        made.append({"role": "user", "content": "Never touch vendored.py."})
        made.collect_now(target_percent=10)
        made.pre_send()
        chosen = [item for item in made.items() if item.source == "task_state"]
        assert bool(chosen) == bool(percent)
        for item in chosen:
            assert item.policy is GCPolicy.LOCKED
            assert "Never touch vendored.py." in item.text
            assert item.tokens <= percent * 30_000 / 100


# --- the whole --------------------------------------------------------------------------------------------------------

STEPS, WINDOW = 600, 12_000


def long_run(directory):
    """A session of 600 steps in a small window; what was seen at each of them."""
    seen, repeats, events = [], [], []
    made = session(WINDOW, events=events, directory=directory)
    made.append({"role": "user", "content": "Make every parser accept tabs."})
    for place in range(STEPS):
        if place % 75 == 74:
            made.append({"role": "user", "content": f"Now look at part {place}, and never touch file_{place}.py."})
        reply, answered = passing(place, 25, "We decided to go on." if place % 9 == 0 else None)
        request = made.pre_send()
        made.post_turn(reply)
        made.append(answered)
        seen.append((request.tokens, levels(made) if place % 20 == 0 else None))
        if place % 50 == 49 and made.last_result is not None:
            done = made.collect_now()
            again = made.collect_now()
            repeats.append((done, again))
    return made, seen, events, repeats


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    directory = tmp_path_factory.mktemp("long") / "s"
    made, seen, events, repeats = long_run(directory)
    yield made, seen, events, repeats, directory
    with contextlib.suppress(SessionClosedError):
        made.close()


def test_over_six_hundred_steps_all_levels_are_there_and_nothing_is_over_the_window(long):
    _, seen, _, _, _ = long
    assert max(tokens for tokens, _ in seen) <= WINDOW
    assert all(Level.DIGEST in found for _, found in seen[300::20])
    assert set().union(*(found for _, found in seen[::20])) == set(Level)


def test_over_six_hundred_steps_a_second_collection_is_empty_and_the_last_resort_never_needed(long):
    _, _, events, repeats, _ = long
    assert repeats
    assert not any(again.changed for _, again in repeats)
    assert GCTriggerReason.CONTEXT_LIMIT not in reasons(events)
    majors = [reason for reason in reasons(events) if reason is GCTriggerReason.THRESHOLD]
    assert len(majors) <= STEPS / 10


def test_after_six_hundred_steps_undo_and_redo_lead_back_and_it_reopens_as_it_was(long):
    made, _, _, _, directory = long
    for place in range(STEPS, STEPS + 15):
        reply, answered = passing(place, 25, None)
        made.append(reply)
        made.append(answered)
    before = [(item.id, item.text) for item in made.items()]
    assert made.collect_now(target_percent=20).changed
    after = [(item.id, item.text) for item in made.items()]
    assert made.undo()
    assert [(item.id, item.text) for item in made.items()] == before
    assert made.redo()
    assert [(item.id, item.text) for item in made.items()] == after
    made.close()
    with GCSession.open(directory, strategy=Progressive()) as again:
        assert [(item.id, item.text) for item in again.items()] == after
