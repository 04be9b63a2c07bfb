"""Old turns first, then old steps; under pressure its own oldest summaries before anything that a user said."""

import json

import pytest
from gc_summarize import Summarize

from gc_core import GCConfig, GCSession, Goal, ItemKind
from tests.support.inside import state_of


def session(window=3_000, **more):
    config = GCConfig(strategy="gc_summarize", context_limit=window, output_reservation=0, **more)
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


def test_old_turns_go_before_steps_of_recent_ones():
    with session(40_000, preserve_recent_turns=2) as made:
        for turn in range(6):
            say(made, turn)
        done = made.collect_now(target_percent=100 * 0.7 * made.budget.total / 40_000)
        assert {removal.phase for removal in done.removals} == {"old turns"}
        assert summaries(made)[0].reference.last_turn < 4
        deeper = made.collect_now(target_percent=100 * 0.35 * made.budget.total / 40_000)
        assert "recent steps" in {removal.phase for removal in deeper.removals}


def test_a_summary_is_at_most_its_share_and_its_cap():
    with session(40_000, preserve_recent_turns=1) as made:
        for turn in range(8):
            say(made, turn)
        (report,) = made.collect_now(target_percent=100 * 0.5 * made.budget.total / 40_000).summaries
        assert report.tokens_after <= 0.08 * report.tokens_before  # messages cost a little in addition to their items
    options = {"gc_summarize": {"max_summary_tokens": 300}}
    with session(40_000, preserve_recent_turns=1, strategies=options) as made:
        for turn in range(8):
            say(made, turn)
        (report,) = made.collect_now(target_percent=100 * 0.5 * made.budget.total / 40_000).summaries
        assert report.tokens_after <= 300


def test_under_pressure_the_oldest_summary_goes_before_what_a_user_said():
    percents = {"threshold_percent": 60, "target_percent": 40, "pressure_percent": 60}
    long = {"gc_summarize": {"keep": 0.2}}
    with session(6_000, preserve_recent_turns=1, strategies=long, **percents) as made:
        for turn in range(16):
            say(made, turn)
            made.pre_send()
        names = [item.name for item in summaries(made)]
        said = [item.text for item in made.items() if item.kind is ItemKind.USER_TEXT]
        assert names[0] != "1"
        assert [f"Task {turn}: look at module_{turn}.py." for turn in range(16)] == said


@pytest.mark.parametrize("summarizer", ["extractive", "none"])
def test_a_small_rest_leaves_with_a_trace_only_where_summaries_are_written(summarizer):
    with session(40_000, preserve_recent_turns=1, summarizer=summarizer) as made:
        for turn in range(3):
            say(made, turn, steps=1, lines=2)
        done = made.collect_now(target_percent=0)
        assert bool(done.removals) == (summarizer == "extractive")
        assert summaries(made) == []


# --- files ------------------------------------------------------------------------------------------------------------


def code(path, rows=60):
    return "\n".join(f"{path}_name_{row} = compute({row})" for row in range(rows))


def edit(made, key, path, *, old="pass", new="return 1"):
    use(made, key, "edit", {"path": f"{path}.py", "old_string": old, "new_string": new}, "Done.")


def results(made, tool):
    return [item for item in made.items() if item.kind is ItemKind.TOOL_RESULT and item.name == tool]


def less(made, tokens):
    """The target of a collection that has to free so many tokens."""
    return 100 * state_of(made).calibration.estimate(made.budget.total - tokens) / made.config.usable


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_units_with_files_in_use_go_last_and_no_summary_takes_them(share):
    with session(40_000, preserve_recent_turns=1) as made:
        made.append({"role": "user", "content": "Look at a.py."})
        use(made, "r", "read", {"path": "a.py"}, code("a"))
        for turn in range(4):
            say(made, turn)
        edit(made, "e", "a")
        shows = next(unit for unit in made.view().units if results(made, "read")[0] in unit.items)
        removals = list(Summarize(files_share=share).collect(made.view(), Goal(target_tokens=3_000)))
        report = {number for each in removals if each.reason == "oldest" for number in each.action.units}
        assert len(report) > 8
        assert (shows.number in report) == (share == 0.0)
        assert (removals[-1].items == tuple(item.id for item in shows.items)) == (share == 0.6)


def test_superseded_lines_and_replaced_texts_leave_before_any_summary_is_written():
    with session(40_000, preserve_recent_turns=1) as made:
        made.append({"role": "user", "content": "Look at a.py."})
        use(made, "r1", "read", {"path": "a.py"}, code("a"))
        use(made, "r2", "read", {"path": "a.py", "limit": 40}, code("a", 40))
        edit(made, "e", "a", old=code("before"), new=code("after"))
        for turn in range(2):
            say(made, turn)
        done = made.collect_now(target_percent=less(made, 900))
        assert {removal.phase for removal in done.removals} == {"superseded"}
        *kept, reference = results(made, "read")[0].text.split("\n")
        assert kept == ["[...]", *code("a").split("\n")[40:]]
        assert made.recall(reference) == code("a")
        (call,) = [item for item in made.items() if item.kind is ItemKind.TOOL_CALL and item.name == "edit"]
        assert json.loads(call.text)["new_string"] == code("after")
        assert json.loads(call.text)["old_string"] == "[...]"


def test_without_a_summarizer_files_in_use_do_not_leave_before_what_could_have_been_summarised():
    with session(40_000, preserve_recent_turns=1, summarizer="none") as made:
        made.append({"role": "user", "content": "Look at a.py."})
        use(made, "r", "read", {"path": "a.py"}, code("a"))
        for turn in range(4):
            say(made, turn)
        edit(made, "e", "a")
        assert made.collect_now(target_percent=less(made, 500)).removals == ()
