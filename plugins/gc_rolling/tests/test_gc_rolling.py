"""Ancient turns are dropped, the middle is summarised, recent turns stay as they are."""

from gc_core import GCConfig, GCSession, ItemKind


def session(window=3_000, **more):
    config = GCConfig(strategy="gc_hybrid", context_limit=window, output_reservation=0, **more)
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
        (told,) = done.summaries
        assert {removal.phase for removal in done.removals} == {"ancient steps", "middle steps"}
        steps = {
            removal.phase: len(removal.action.units) for removal in done.removals if removal.phase == "middle steps"
        }
        assert steps == {"middle steps": 5}
        assert told.by == "extractive"


def test_without_a_summarizer_the_middle_is_truncated_and_the_reason_says_so():
    with session(60_000, preserve_recent_turns=2, summarizer="none") as made:
        for turn in range(10):
            say(made, turn)
        done = made.collect_now(target_percent=0)
        assert "truncated: no summarizer" in {removal.reason for removal in done.removals}
        assert (done.summaries, done.failures) == ((), ())
