"""Each discipline of the rolling window, by itself."""

import json

import pytest
from gc_rolling import Rolling

from gc_core import GCConfig, GCPolicy, GCSession, GCTriggerReason, Goal, ItemKind, Major, Young
from gc_core.events import CollectionFinished
from gc_core.values.items import Form
from tests.support.inside import state_of

BINDS, KEEPS = "claude-opus-5-5", "claude-opus-4-5"
COOLDOWN_STEPS = {"nursery_tokens": 0}
"""Collections of the whole window only."""


def session(window=60_000, *, model=KEEPS, events=None, options=None, **more):
    config = GCConfig(strategy="gc_rolling", context_limit=window, output_reservation=0, **more)
    listener = None if events is None else events.append
    return GCSession(config, strategy=Rolling(**(options or {})), model=model, on_event=listener)


def begun(*steps, options=None, **more):
    """A session that collects when it is told to."""
    made = session(options={**COOLDOWN_STEPS, **(options or {})}, auto_trigger=False, **more)
    made.append({"role": "user", "content": "Look."})
    say(made, *steps)
    return made


def used(key, tool, arguments, output):
    function = {"name": tool, "arguments": json.dumps(arguments)}
    calls = [{"id": f"c{key}", "type": "function", "function": function}]
    yield {"role": "assistant", "content": None, "tool_calls": calls}
    yield {"role": "tool", "tool_call_id": f"c{key}", "content": output}


def text(key, rows):
    return "and so it goes on and on in this log\n" * rows + f"port_{key} = 80"


def log(key, rows=60):
    """What a command printed."""
    return used(key, "bash", {"command": f"tail_log {key}"}, text(key, rows))


def code(path, rows=60):
    """A file in which each line occurs once."""
    return "\n".join(f"{path}_name_{row} = compute({row})" for row in range(rows))


def read(key, path, rows=60):
    return used(key, "read", {"path": f"{path}.py"}, code(path, rows))


def say(made, *steps):
    for step in steps:
        for message in step:
            made.append(message)


def loop(made, number, step=log):
    """Calls and results as an agent's loop makes them."""
    for place in range(number):
        reply, answered = step(place)
        made.pre_send()
        made.post_turn(reply)
        made.append(answered)


def results(made):
    return [item for item in made.items() if item.kind is ItemKind.TOOL_RESULT]


def calls(made):
    return [item for item in made.items() if item.kind is ItemKind.TOOL_CALL]


def less(made, tokens):
    """The target of a collection that has to free so many tokens."""
    return 100 * state_of(made).calibration.estimate(made.budget.total - tokens) / made.config.usable


def phases(done):
    return {removal.phase for removal in done.removals}


def reasons(events):
    return [event.result.reason for event in events if isinstance(event, CollectionFinished)]


def proposed(made, tokens, *, phase, options=None):
    """Ids of what it proposes in a phase on the way to so many tokens."""
    removals = Rolling(**(options or {})).collect(made.view(), Goal(target_tokens=tokens))
    return [removal.items[0] for removal in removals if removal.phase == phase]


# --- snip -------------------------------------------------------------------------------------------------------------


def test_a_served_result_becomes_its_live_lines_around_snipped_marks():
    with begun(*(log(place) for place in range(5))) as made:
        done = made.collect_now(target_percent=less(made, 100))
        first = results(made)[0]
        *kept, reference = first.text.split("\n")
        assert kept == ["[...snipped...]", "port_0 = 80"]
        assert reference.startswith("[gc: ")
        assert made.recall(reference) == text(0, 60)
        assert phases(done) == {"snip"}


def test_what_the_agent_has_not_acted_on_stays_whole():
    with begun(*(log(place) for place in range(6))) as made:
        given = [item.id for item in results(made)]
        assert proposed(made, 0, phase="snip", options={"snip_after": 4}) == given[:2]


def test_superseded_content_goes_first():
    again = used("again", "bash", {"command": "tail_log b"}, text("b", 60))
    with begun(log("a"), log("b"), again, log("d"), log("e")) as made:
        (removal,) = made.collect_now(target_percent=less(made, 100)).removals
        assert (removal.reason, removal.items) == ("superseded", (results(made)[1].id,))


def test_a_short_result_may_keep_more_and_a_command_stays_word_for_word():
    command = {"command": "grep -rn 'port' src " + "--include='*.py' " * 20}
    texts = "\n".join(f"name_{row} = {row}" for row in range(40))
    with begun(used(0, "bash", command, texts), *(log(place) for place in range(1, 6))) as made:
        made.collect_now(target_percent=less(made, 600))
        (call, result) = calls(made)[0], results(made)[0]
        assert json.loads(call.text) == command
        assert 0.25 * result.original_tokens < result.tokens <= 0.7 * result.original_tokens


# --- nursery ----------------------------------------------------------------------------------------------------------


def test_the_nursery_snips_what_is_young_and_leaves_what_was_sent_before():
    events = []
    with session(events=events, options={"nursery_tokens": 2_000}) as made:
        made.append({"role": "user", "content": "Look."})
        loop(made, 20)
        assert set(reasons(events)) == {GCTriggerReason.YOUNG}
        changes = [event.result.earliest_change for event in events if isinstance(event, CollectionFinished)]
        assert changes == sorted(set(changes))
        assert {item.form for item in results(made)[:10]} == {Form.STUB}
        assert [item.form for item in results(made)[-2:]] == [Form.WHOLE] * 2


def test_on_models_that_bind_thinking_the_nursery_is_off_unless_it_is_wanted():
    for wanted in (False, True):
        events = []
        options = {"nursery_tokens": 2_000, "nursery_on_bound_thinking": wanted}
        with session(model=BINDS, events=events, options=options) as made:
            made.append({"role": "user", "content": "Look."})
            loop(made, 20)
            assert bool(reasons(events)) == wanted


def test_an_empty_nursery_collects_nothing():
    assert Rolling(nursery_tokens=0).triggers == (Major(target_percent=47.0, base_tokens=10_000),)
    young, _ = Rolling(snip_after=3, snip_least=100).triggers
    assert young == Young(tokens=4_000, steps=3, least=100)


def test_the_nursery_leaves_views_of_files_and_the_arguments_of_edits_alone():
    def step(place):
        if place % 3 == 0:
            return read(place, f"part_{place}")
        if place % 3 == 1:
            new = code(f"new_{place}")
            return used(place, "edit", {"path": f"part_{place}.py", "old_string": "pass", "new_string": new}, "Done.")
        return log(place, 300)

    events = []
    with session(events=events, options={"nursery_tokens": 1_000}) as made:
        made.append({"role": "user", "content": "Look."})
        loop(made, 24, step)
        assert set(reasons(events)) == {GCTriggerReason.YOUNG}
        commands = {item.id for item in calls(made) if item.name == "bash"}
        snipped = [item for item in made.items() if item.form is Form.STUB]
        assert snipped
        assert {item.call for item in snipped} <= commands


def test_a_loop_that_only_reads_and_edits_files_wakes_no_nursery():
    events = []
    with session(events=events, options={"nursery_tokens": 1_000}) as made:
        made.append({"role": "user", "content": "Look."})
        loop(made, 20, lambda place: read(place, f"part_{place}"))
        assert reasons(events) == []


def test_how_a_run_failed_and_the_newest_plan_stay_whole_until_there_are_newer_ones():
    def run(key, ended):
        return used(key, "bash", {"command": "pytest -q"}, f"{text(key, 60)}\n{ended}")

    def plan(key):
        return used(key, "todo_write", {"todos": [f"{key}: step {row} of the plan" for row in range(60)]}, "ok")

    old = [run("f1", "2 failed, 1 passed in 0.1s"), plan("p1")]
    with begun(*old, *(log(place) for place in range(4))) as made:
        assert proposed(made, 0, phase="snip") == [item.id for item in results(made)[2:4]]
        say(made, run("f2", "1 failed, 2 passed in 0.1s"), plan("p2"), *(log(place) for place in range(4, 8)))
        left = set(proposed(made, 0, phase="snip"))
        assert {results(made)[0].id, calls(made)[1].id} <= left
        assert left.isdisjoint({results(made)[6].id, calls(made)[7].id})
        say(made, run("f3", "3 passed in 0.1s"), *(log(place) for place in range(8, 12)))
        assert results(made)[6].id in proposed(made, 0, phase="snip")


# --- superseded views -------------------------------------------------------------------------------------------------


def test_repeated_lines_of_an_older_view_leave_and_all_others_stay_whole_and_in_order():
    older, newer = code("a"), code("a", 40)
    again = used("again", "read", {"path": "a.py", "limit": 40}, newer)
    with begun(read("first", "a"), again, *(log(place, 1) for place in range(4))) as made:
        first, second = results(made)[:2]
        done = made.collect_now(target_percent=less(made, 100))
        assert phases(done) == {"superseded"}
        *kept, reference = results(made)[0].text.split("\n")
        assert kept == ["[...]", *older.split("\n")[40:]]
        assert made.recall(reference) == older
        assert [item.text for item in results(made)[1:2]] == [newer]
        assert done.removals[0].items == (first.id,)
        assert second.form is Form.WHOLE


def test_a_view_that_repeats_too_little_of_an_older_one_leaves_it_whole():
    for rows, trimmed in ((17, False), (18, True)):
        again = used("again", "read", {"path": "a.py", "limit": rows}, code("a", rows))
        with begun(read("first", "a"), again, *(log(place, 1) for place in range(4))) as made:
            assert bool(proposed(made, 0, phase="superseded")) == trimmed


def test_the_same_lines_of_another_file_supersede_nothing():
    same = code("a")
    steps = (used(name, "read", {"path": f"{name}.py"}, same) for name in ("a", "copy_of_a"))
    with begun(*steps, *(log(place, 1) for place in range(4))) as made:
        assert proposed(made, 0, phase="superseded") == []


def test_the_old_text_of_an_edit_leaves_and_its_new_text_stays_in_a_json_object():
    old, new = code("before", 30), code("after", 30)
    edit = used("e", "edit", {"path": "a.py", "old_string": old, "new_string": new}, "Done.")
    with begun(edit, *(log(place, 1) for place in range(4))) as made:
        whole = calls(made)[0]
        done = made.collect_now(target_percent=less(made, 100))
        assert phases(done) == {"superseded"}
        left = json.loads(calls(made)[0].text)
        reference = left.pop("left_out")
        assert left == {"path": "a.py", "old_string": "[...]", "new_string": new}
        assert json.loads(made.recall(reference)) == json.loads(whole.text)
        sent = made.pre_send().messages[1]["tool_calls"][0]["function"]["arguments"]
        assert json.loads(sent)["new_string"] == new


def test_short_old_texts_of_an_edit_stay():
    edit = used("e", "edit", {"path": "a.py", "old_string": "x = 1\n" * 20, "new_string": code("after", 30)}, "Done.")
    with begun(edit, *(log(place, 1) for place in range(4))) as made:
        assert proposed(made, 0, phase="superseded") == []


# --- files ------------------------------------------------------------------------------------------------------------


def files_shrunk(made, tokens, options=None):
    """The files that shrink on the way to so many tokens, in their order, each with its views."""
    file_of = {item.id: file.name for file in made.view().working_set.files for item in file.items}
    found = {}
    for key in proposed(made, tokens, phase="files", options=options):
        found.setdefault(file_of[key], []).append(key)
    return found


def test_of_files_the_least_used_shrink_first_and_those_in_use_stay_whole():
    steps = [read(name, name) for name in "abcd"]
    edits = [used("e", "edit", {"path": "a.py", "old_string": "pass", "new_string": "return 1"}, "Done.")]
    with begun(*steps, *edits, *(log(place, 1) for place in range(3))) as made:
        size = results(made)[0].tokens
        share = {"files_share": 0.5}
        assert list(files_shrunk(made, 2 * 2.5 * size, share)) == ["b.py", "c.py"]
        assert list(files_shrunk(made, 2 * 4.5 * size, share)) == []
        assert list(files_shrunk(made, 0, share)) == ["b.py", "c.py", "d.py", "a.py"]


def test_all_views_of_a_file_shrink_together():
    parts = [
        used(f"{name}{part}", "read", {"path": f"{name}.py", "offset": part, "limit": 12}, code(f"{name}{part}", 12))
        for part in range(3)
        for name in ("old", "new")
    ]
    with begun(*parts, read("last", "new", 12), *(log(place, 1) for place in range(3))) as made:
        views = [item.id for item in results(made)[0:6:2]]
        room = sum(item.tokens for item in results(made)[1:7:2]) + results(made)[6].tokens
        assert files_shrunk(made, 2 * (room + 50), {"files_share": 0.5}) == {"old.py": views}


def test_a_large_file_leaves_some_steps_sooner_than_a_small_one():
    with begun(read("small", "small", 20), read("large", "large", 300), *(log(place, 1) for place in range(3))) as made:
        assert next(iter(files_shrunk(made, 0))) == "large.py"


def test_a_file_that_shrank_keeps_whole_lines_of_what_was_named_lately():
    with begun(read("a", "a", 800), *(log(place, 1) for place in range(3))) as made:
        made.append({"role": "assistant", "content": "Next comes a_name_217."})
        say(made, *(log(place, 1) for place in range(3, 6)))
        (key,) = proposed(made, 0, phase="files")
        assert phases(made.collect_now(target_percent=3)) == {"files"}
        (view,) = [item for item in results(made) if item.id == key]
        assert view.tokens <= 0.06 * view.original_tokens
        assert "a_name_217 = compute(217)" in view.text.split("\n")
        assert made.recall(view.text) == code("a", 800)


def test_pinned_and_locked_views_stay_whole_though_their_file_shrinks():
    parts = [code(f"a{part}", 40) for part in range(3)]
    steps = [used(part, "read", {"path": "a.py", "offset": part}, text) for part, text in enumerate(parts)]
    with begun(*steps, *(log(place) for place in range(3, 9))) as made:
        pinned, locked, free = results(made)[:3]
        made.pin(item=pinned.id)
        made.set_policy(locked.id, GCPolicy.LOCKED)
        made.collect_now(target_percent=0)
        left = {item.id: item.text for item in made.items()}
        assert (left[pinned.id], left[locked.id]) == (pinned.text, locked.text)
        assert left.get(free.id) != free.text


def test_steps_that_show_a_file_in_use_are_dropped_last():
    with begun(read("a", "a"), *(log(place) for place in range(6)), options={"files_share": 0.9}) as made:
        removals = Rolling(files_share=0.9).collect(made.view(), Goal(target_tokens=2_000))
        dropped = [removal.action.units[0] for removal in removals if removal.phase == "drop"]
        shows = next(unit.number for unit in made.view().units if results(made)[0] in unit.items)
        assert dropped[-1] == shows
        assert dropped[:-1] == sorted(dropped[:-1])


# --- the whole --------------------------------------------------------------------------------------------------------


def test_enrichment_goes_before_anything_else():
    with begun() as made:
        made.enrich(weather="mild " * 200)
        made.pre_send()
        say(made, *(log(place) for place in range(5)))
        assert phases(made.collect_now(target_percent=less(made, 50))) == {"enrichment"}


def test_a_young_collection_takes_nothing_but_young_results():
    with begun(*(log(place) for place in range(8)), options={"nursery_tokens": 4_000}) as made:
        items = {item.id: item for item in results(made)}
        after = int(results(made)[2].id[1:])
        goal = Goal(target_tokens=0, reason=GCTriggerReason.YOUNG, young_after=after)
        taken = [removal.items[0] for removal in made.plan(goal=goal).plan.removals]
        assert taken == [key for key in items if after < int(key[1:])][:3]


def test_a_collection_goes_deeper_in_a_large_window():
    shares = []
    for window in (20_000, 60_000, 200_000):
        with session(window) as made:
            made.append({"role": "user", "content": "Look."})
            goal = made.plan().plan.goal
            shares.append(state_of(made).calibration.estimate(goal.target_tokens) / window)
    assert shares == pytest.approx([0.47, 1 / 6 + 0.25, 0.3], abs=0.001)


def test_options_from_a_configuration_are_checked_by_name():
    config = GCConfig(strategy="gc_rolling", strategies={"gc_rolling": {"files_share": 2}})
    with pytest.raises(Exception, match="files_share"):
        GCSession(config)
