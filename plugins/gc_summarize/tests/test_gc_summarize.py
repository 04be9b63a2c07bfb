"""Old turns first, then old steps; under pressure its own oldest summaries before anything that a user said."""

import pytest

from gc_core import GCConfig, GCSession, ItemKind


def session(window=3_000, **more):
    config = GCConfig(strategy="gc_summarize", context_limit=window, output_reservation=0, **more)
    return GCSession(config)


def say(made, turn, steps=4, lines=25):
    made.append({"role": "user", "content": f"Task {turn}: look at module_{turn}.py."})
    for step in range(steps):
        key, path = f"c{turn}_{step}", f"module_{turn}_{step}.py"
        function = {"name": "read", "arguments": f'{{"path": "{path}"}}'}
        calls = [{"id": key, "type": "function", "function": function}]
        made.append({"role": "assistant", "content": None, "tool_calls": calls})
        text = "\n".join(f"value_{turn}_{step}_{number} = {number}" for number in range(lines))
        made.append({"role": "tool", "tool_call_id": key, "content": text})
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
        (told,) = made.collect_now(target_percent=100 * 0.5 * made.budget.total / 40_000).summaries
        assert told.tokens_after <= 0.21 * told.tokens_before  # messages cost a little beside their items
    options = {"gc_summarize": {"max_summary_tokens": 300}}
    with session(40_000, preserve_recent_turns=1, strategies=options) as made:
        for turn in range(8):
            say(made, turn)
        (told,) = made.collect_now(target_percent=100 * 0.5 * made.budget.total / 40_000).summaries
        assert told.tokens_after <= 300


def test_under_pressure_the_oldest_summary_goes_before_what_a_user_said():
    with session(6_000, preserve_recent_turns=1, threshold_percent=60, target_percent=40, pressure_percent=60) as made:
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
