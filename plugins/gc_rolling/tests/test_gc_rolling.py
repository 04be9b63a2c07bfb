"""Each discipline of the rolling window, by itself."""

import pytest
from gc_rolling import Rolling

from gc_core import CollectionFinished, GCConfig, GCPolicy, GCSession, GCTriggerReason, Goal, ItemKind, Major, Young
from gc_core.items import Form

BINDS, KEEPS = "claude-opus-5-5", "claude-opus-4-5"
QUIET = {"nursery_tokens": 0, "fold": False, "shares": (), "autocompact_percent": 100, "conversation_percent": 100}
"""Nothing but snips, enrichment and drops; a test switches on what it is about."""


def session(window=60_000, *, model=KEEPS, events=None, options=None, **more):
    config = GCConfig(strategy="gc_rolling", context_limit=window, output_reservation=0, **more)
    listener = None if events is None else events.append
    return GCSession(config, strategy=Rolling(**(options or {})), model=model, on_event=listener)


def used(key, tool, arguments, output):
    function = {"name": tool, "arguments": arguments}
    key = str(key)
    yield {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": key, "type": "function", "function": function}],
    }
    yield {"role": "tool", "tool_call_id": key, "content": output}


def text(key, rows):
    return "and so it goes on and on in this file\n" * rows + f"port_{key} = 80"


def read(key, rows=60):
    return used(key, "read", f'{{"path": "module_{key}.py"}}', text(key, rows))


def say(made, *steps):
    for step in steps:
        for message in step:
            made.append(message)


def loop(made, number, *, first=0, rows=60):
    """Calls and results as an agent's loop makes them."""
    for place in range(first, first + number):
        reply, answered = read(place, rows)
        made.pre_send()
        made.post_turn(reply)
        made.append(answered)


def repair(made, turn, steps=2, rows=40):
    """A task: files are read, one is edited, the tests pass."""
    made.append({"role": "user", "content": f"Task {turn}: repair it, [please]."})
    for step in range(steps):
        say(made, read(f"{turn}_{step}", rows))
    say(made, used(f"{turn}e", "edit", f'{{"path": "module_{turn}.py", "new": "x"}}', "ok"))
    say(made, used(f"{turn}t", "bash", '{"command": "pytest -q"}', "....\n4 passed in 0.1s"))
    made.append({"role": "assistant", "content": f"Task {turn} is done."})


def results(made):
    return [item for item in made.items() if item.kind is ItemKind.TOOL_RESULT]


def less(made, tokens):
    """The target of a collection that has to free so many tokens."""
    return 100 * made._state.calibration.estimate(made.budget.total - tokens) / made.config.usable


def phases(done):
    return {removal.phase for removal in done.removals}


def reasons(events):
    return [event.result.reason for event in events if isinstance(event, CollectionFinished)]


# --- snip -------------------------------------------------------------------------------------------------------------


def test_a_served_result_becomes_its_live_lines_around_snipped_marks():
    with session(options=QUIET, auto_trigger=False) as made:
        made.append({"role": "user", "content": "Look."})
        say(made, *(read(place) for place in range(5)))
        done = made.collect_now(target_percent=less(made, 100))
        first = results(made)[0]
        *kept, reference = first.text.split("\n")
        assert kept == ["[...snipped...]", "port_0 = 80"]
        assert reference.startswith("[gc: ")
        assert made.recall(reference) == text(0, 60)
        assert phases(done) == {"snip"}


def test_what_the_agent_has_not_acted_on_stays_whole():
    with session(options={**QUIET, "snip_after": 4}, auto_trigger=False) as made:
        made.append({"role": "user", "content": "Look."})
        say(made, *(read(place) for place in range(6)))
        given = [item.id for item in results(made)]
        proposed = Rolling(snip_after=4).collect(made.view(), Goal(target_tokens=0))
        assert [removal.items[0] for removal in proposed if removal.phase == "snip"] == given[:2]


def test_superseded_content_goes_first():
    with session(options=QUIET, auto_trigger=False) as made:
        made.append({"role": "user", "content": "Look."})
        say(
            made,
            read("a"),
            read("b"),
            used("c", "read", '{"path": "module_b.py"}', text("b", 60)),
            read("d"),
            read("e"),
        )
        (removal,) = made.collect_now(target_percent=less(made, 100)).removals
        assert (removal.reason, removal.items) == ("superseded", (results(made)[1].id,))


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


def test_a_nursery_of_nothing_is_none():
    assert Rolling(nursery_tokens=0).triggers == (Major(target_percent=50.0, conversation_percent=76.0),)
    young, _ = Rolling(snip_after=3, snip_least=100).triggers
    assert young == Young(tokens=4_000, steps=3, least=100)


# --- micro steps ------------------------------------------------------------------------------------------------------


def test_what_is_condensed_shrinks_further_by_steps_and_the_reference_stays():
    with session(options={**QUIET, "shares": (0.45, 0.2, 0.05)}, auto_trigger=False) as made:
        made.append({"role": "user", "content": "Look."})
        texts = ["\n".join(f"name_{place}_{row} = value_{row}_{place}" for row in range(120)) for place in range(6)]
        say(made, *(used(place, "read", f'{{"path": "f{place}.py"}}', text) for place, text in enumerate(texts)))
        sizes, seen, key = [], set(), results(made)[0].id
        for percent in (15, 12, 9, 8, 7):
            seen |= phases(made.collect_now(target_percent=percent))
            first = [item for item in results(made) if item.id == key]
            sizes += [item.tokens for item in first]
            assert all(item.text.count("[gc: ") == 1 for item in first)
            assert all(made.recall(item.id) == texts[0] for item in first)
        assert sizes == sorted(sizes, reverse=True)
        assert any(phase.startswith("micro") for phase in seen)


def test_what_is_condensed_and_held_stays_as_it_is():
    with session(options={**QUIET, "shares": (0.3, 0.05)}, auto_trigger=False) as made:
        made.append({"role": "user", "content": "Look."})
        texts = ["\n".join(f"name_{place}_{row} = value_{row}_{place}" for row in range(120)) for place in range(6)]
        say(made, *(used(place, "read", f'{{"path": "f{place}.py"}}', text) for place, text in enumerate(texts)))
        made.collect_now(target_percent=15)
        pinned, locked, free = results(made)[:3]
        assert {pinned.form, locked.form} == {Form.STUB}
        made.pin(item=pinned.id)
        made.set_policy(locked.id, GCPolicy.LOCKED)
        made.collect_now(target_percent=5)
        left = {item.id: item.text for item in made.items()}
        assert (left[pinned.id], left[locked.id]) == (pinned.text, locked.text)
        assert left.get(free.id) != free.text


def test_a_note_of_the_host_shrinks_with_age_and_keeps_its_one_reference():
    with session(options={**QUIET, "shares": (0.05,)}, auto_trigger=False) as made:
        made.append({"role": "user", "content": "Look."})
        say(made, *(read(place, 200) for place in range(6)))
        first = results(made)[0]
        made.condense({first.id: "\n".join(f"It says little in part {part}." for part in range(60))})
        made.collect_now(target_percent=less(made, 7_600))
        (note,) = [item for item in results(made) if item.id == first.id]
        assert note.tokens <= 0.05 * first.tokens
        assert note.text.count("[gc: ") == 1
        assert made.recall(note.text) == first.text


# --- fold -------------------------------------------------------------------------------------------------------------


def folded():
    made = session(options={**QUIET, "fold": True}, auto_trigger=False, preserve_recent_turns=1)
    for turn in range(3):
        repair(made, turn)
    return made


def test_resolved_steps_fold_into_one_line_and_the_users_words_stay():
    with folded() as made:
        done = made.collect_now(target_percent=1.6)
        assert "fold" in phases(done)
        folds = [item for item in made.items() if item.kind is ItemKind.SUMMARY]
        assert folds
        assert all("\n" not in item.text and "folded: edited module_" in item.text for item in folds)
        assert all("4 passed in 0.1s" in item.text for item in folds)
        said = [item.text for item in made.items() if item.kind is ItemKind.USER_TEXT]
        assert said[:3] == [f"Task {turn}: repair it, [please]." for turn in range(3)]
        assert "port_0_0 = 80" in made.recall(folds[0].text)


def test_steps_that_failed_do_not_fold():
    with session(options={**QUIET, "fold": True}, auto_trigger=False) as made:
        made.append({"role": "user", "content": "Repair it."})
        for place in range(4):
            say(made, read(place), used(f"t{place}", "bash", '{"command": "pytest"}', "3 passed, 1 failed in 0.1s"))
        assert "fold" not in phases(made.collect_now(target_percent=0))


# --- autocompaction ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("option", "values"), [("autocompact_percent", (0, 100)), ("conversation_percent", (0, 100))])
def test_close_to_the_ceiling_what_is_old_becomes_one_summary_closed_by_the_boundary(option, values):
    for value in values:
        options = {**QUIET, option: value}
        with session(options=options, auto_trigger=False, preserve_recent_turns=1) as made:
            for turn in range(5):
                repair(made, turn, steps=4)
            done = made.collect_now(target_percent=1)
            summaries = [item for item in made.items() if item.kind is ItemKind.SUMMARY]
            assert ("autocompaction" in phases(done)) == bool(summaries) == (value == 0)
            for item in summaries:
                assert item.text.endswith("]\n[COMPACTION_BOUNDARY]\n</summary>")
                assert not any(word in item.text.lower() for word in ("re-read", "review above", "please read"))


def test_without_a_summarizer_there_is_neither_fold_nor_compaction():
    options = {"autocompact_percent": 0}
    with session(options=options, auto_trigger=False, summarizer="none", preserve_recent_turns=1) as made:
        for turn in range(5):
            repair(made, turn)
        done = made.collect_now(target_percent=0)
        assert phases(done).isdisjoint({"fold", "autocompaction"})
        assert done.failures == ()


# --- the whole --------------------------------------------------------------------------------------------------------


def test_enrichment_goes_before_anything_else():
    with session(options=QUIET, auto_trigger=False) as made:
        made.append({"role": "user", "content": "Look."})
        made.enrich(weather="mild " * 200)
        made.pre_send()
        say(made, *(read(place) for place in range(5)))
        assert phases(made.collect_now(target_percent=less(made, 50))) == {"enrichment"}


def test_a_young_collection_takes_nothing_but_young_results():
    with session(auto_trigger=False) as made:
        made.append({"role": "user", "content": "Look."})
        say(made, *(read(place) for place in range(8)))
        items = {item.id: item for item in results(made)}
        after = int(results(made)[2].id[1:])
        goal = Goal(target_tokens=0, reason=GCTriggerReason.YOUNG, young_after=after)
        taken = [removal.items[0] for removal in made.plan(goal=goal).plan.removals]
        assert taken == [key for key in items if after < int(key[1:])][:3]


def test_options_from_a_configuration_are_checked_by_name():
    config = GCConfig(strategy="gc_rolling", strategies={"gc_rolling": {"shares": [0.1, 0.5]}})
    with pytest.raises(Exception, match="shares"):
        GCSession(config)
