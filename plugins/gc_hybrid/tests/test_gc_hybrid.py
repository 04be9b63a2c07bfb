"""Ancient turns are dropped, the middle is summarised, recent turns stay as they are."""

import json

import pytest
from gc_hybrid import Hybrid

from gc_core import GCConfig, GCSession, Goal, ItemKind
from tests.support.inside import state_of


def session(window=3_000, **more):
    config = GCConfig(strategy="gc_hybrid", context_limit=window, output_reservation=0, **more)
    return GCSession(config)


def use(made, key, tool, arguments, output):
    function = {"name": tool, "arguments": json.dumps(arguments)}
    calls = [{"id": key, "type": "function", "function": function}]
    made.append({"role": "assistant", "content": None, "tool_calls": calls})
    made.append({"role": "tool", "tool_call_id": key, "content": output})


def say(made, turn, steps=4, lines=25):
    made.append({"role": "user", "content": f"Task {turn}: look at module_{turn}.py."})
    for step in range(steps):
        text = "\n".join(f"value_{turn}_{step}_{number} = {number}" for number in range(lines))
        use(made, f"c{turn}_{step}", "grep", {"pattern": f"value_{turn}_{step}"}, text)
    made.append({"role": "assistant", "content": f"Task {turn} is done."})


def summaries(made):
    return [item for item in made.items() if item.kind is ItemKind.SUMMARY]


def test_the_ancient_leave_with_a_trace_and_the_middle_as_a_summary():
    options = {"gc_hybrid": {"middle_turns": 3}}
    with session(60_000, preserve_recent_turns=2, strategies=options) as made:
        for turn in range(10):
            say(made, turn)
        done = made.collect_now(target_percent=0)
        by_phase = {removal.phase: removal for removal in done.removals}
        assert "ancient turns" in by_phase
        summary = next(item for item in summaries(made) if item.reference.last_turn < 8)
        assert (summary.reference.first_turn, summary.reference.last_turn) == (5, 7)
        traces = [item for item in made.items() if item.kind is ItemKind.TRACE]
        assert {item.reference.first_turn for item in traces} >= {0, 1, 2, 3, 4}


def test_only_what_the_goal_needs_goes_and_the_ancient_first():
    with session(60_000, preserve_recent_turns=2, strategies={"gc_hybrid": {"middle_turns": 3}}) as made:
        for turn in range(10):
            say(made, turn)
        done = made.collect_now(target_percent=100 * 0.8 * made.budget.total / 60_000)
        assert {removal.phase for removal in done.removals} == {"ancient turns"}
        assert summaries(made) == []


def test_inside_a_giant_turn_the_same_numbers_count_steps():
    with session(60_000, strategies={"gc_hybrid": {"middle_turns": 5}}) as made:
        say(made, 0, steps=30)
        done = made.collect_now(target_percent=0)
        (report,) = done.summaries
        assert {removal.phase for removal in done.removals} == {"ancient steps", "middle steps"}
        steps = {
            removal.phase: len(removal.action.units) for removal in done.removals if removal.phase == "middle steps"
        }
        assert steps == {"middle steps": 5}
        assert report.by == "extractive"


def test_without_a_summarizer_the_middle_is_truncated_and_the_reason_says_so():
    with session(60_000, preserve_recent_turns=2, summarizer="none") as made:
        for turn in range(10):
            say(made, turn)
        done = made.collect_now(target_percent=0)
        assert "truncated: no summarizer" in {removal.reason for removal in done.removals}
        assert (done.summaries, done.failures) == ((), ())


# --- files ------------------------------------------------------------------------------------------------------------


def code(path, rows=60):
    return "\n".join(f"{path}_name_{row} = compute({row})" for row in range(rows))


def edit(made, key, path, *, old="pass", new="return 1"):
    use(made, key, "edit", {"path": f"{path}.py", "old_string": old, "new_string": new}, "Done.")


def results(made, tool):
    return [item for item in made.items() if item.kind is ItemKind.TOOL_RESULT and item.name == tool]


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_units_with_files_in_use_go_after_every_generation_and_no_summary_takes_them(share):
    with session(60_000, preserve_recent_turns=1) as made:
        made.append({"role": "user", "content": "Look at a.py."})
        use(made, "r", "read", {"path": "a.py"}, code("a"))
        for turn in range(4):
            say(made, turn)
        edit(made, "e", "a")
        shows = next(unit for unit in made.view().units if results(made, "read")[0] in unit.items)
        removals = list(Hybrid(files_share=share).collect(made.view(), Goal(target_tokens=3_000)))
        report = {number for each in removals if each.phase.startswith("middle") for number in each.action.units}
        assert len(report) > 8
        assert (shows.number in report) == (share == 0.0)
        assert (removals[-1].items == tuple(item.id for item in shows.items)) == (share == 0.6)


def test_superseded_lines_and_replaced_texts_leave_before_any_generation():
    with session(60_000, preserve_recent_turns=1) as made:
        made.append({"role": "user", "content": "Look at a.py."})
        use(made, "r1", "read", {"path": "a.py"}, code("a"))
        use(made, "r2", "read", {"path": "a.py", "limit": 40}, code("a", 40))
        edit(made, "e", "a", old=code("before"), new=code("after"))
        for turn in range(2):
            say(made, turn)
        target = state_of(made).calibration.estimate(made.budget.total - 900)
        done = made.collect_now(target_percent=100 * target / 60_000)
        assert {removal.phase for removal in done.removals} == {"superseded"}
        *kept, reference = results(made, "read")[0].text.split("\n")
        assert kept == ["[...]", *code("a").split("\n")[40:]]
        assert made.recall(reference) == code("a")
        (call,) = [item for item in made.items() if item.kind is ItemKind.TOOL_CALL and item.name == "edit"]
        assert json.loads(call.text)["new_string"] == code("after")
        assert json.loads(call.text)["old_string"] == "[...]"
