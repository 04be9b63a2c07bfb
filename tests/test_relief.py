"""If the target cannot be reached with softly held content, it gives way in one order."""

from types import SimpleNamespace

import pytest
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig, GCSession, Plugins, hookimpl
from gc_core.events import CollectionFinished
from gc_core.values.removals import GCRemovalItem
from gc_core.values.results import GCTriggerReason
from tests.support.corpus import corpus_dir, require_corpus

AIMLESS = {GCTriggerReason.YOUNG, GCTriggerReason.TURN_LIMIT, GCTriggerReason.CONTEXT_LIMIT}


def words(count):
    return " ".join(["word"] * count)


def tool_turn(number, *, asked, answer):
    function = {"name": "read", "arguments": "{}"}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": words(10)},
        {"role": "assistant", "content": answer},
    ]


def collected(strategy, messages, **given):
    events = []
    settled = {"context_limit": 4_000, "output_reservation": 0, "target_percent": 40.0, "threshold_percent": 50.0}
    config = GCConfig(**{"strategy": strategy, **settled, **given})
    with GCSession(config, on_event=events.append) as session:
        session.extend(messages)
        request = session.pre_send()
    return request, [one.result for one in events if isinstance(one, CollectionFinished)]


def session_of(said, answers):
    turns = [
        message
        for number, asked in enumerate(said)
        for message in tool_turn(number, asked=asked, answer=f"{number} {words(answers)}")
    ]
    return [{"role": "user", "content": "Build it."}, *turns, {"role": "user", "content": words(900)}]


@pytest.mark.parametrize("strategy", ["gc_truncate", "gc_budget", "gc_hybrid", "gc_summarize"])
def test_answers_leave_before_what_users_said_when_the_newest_turn_takes_much_of_the_target(strategy):
    said = [f"Here is what I know of part {number}: {words(40)}" for number in range(8)]
    request, (result,) = collected(strategy, session_of(said, 90), preserve_recent_turns=1)
    assert not result.shortfall
    text = str(request.messages)
    assert sum(one in text for one in said) >= 6
    assert any(removal.phase == "giving way" for removal in result.removals)


@pytest.mark.parametrize(
    ("text", "pressure"),
    [
        ("You must never change part {}.", 0),
        ("You must never change part {}.", 95),
        ("Here is what I know of part {}:", 95),
    ],
    ids=["a demand, continuous", "a demand", "a message"],
)
def test_what_users_said_stays_when_the_target_is_missed_but_for_what_only_continuous_mode_could_take(text, pressure):
    said = [f"{text.format(number)} {words(105)}" for number in range(8)]
    given = {"preserve_recent_turns": 1, "pressure_percent": pressure}
    request, (*_, result) = collected("gc_truncate", session_of(said, 10), **given)
    assert result.shortfall
    kept = [one for one in said if one in str(request.messages)]
    assert sum(len(one.split()) for one in kept) >= 0.2 * 4_000


def test_in_continuous_mode_what_users_said_without_a_demand_gives_way_last_of_all():
    said = [f"Here is what I know of part {number}: {words(105)}" for number in range(8)]
    request, (result,) = collected("gc_truncate", session_of(said, 10), preserve_recent_turns=1, pressure_percent=0)
    assert not result.shortfall
    assert sum(one in str(request.messages) for one in said) >= 4


class Sparing:
    """It takes one step, and wants to keep all others."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        yield GCRemovalItem.drop(context.collectable[0], reason="enough", phase="one")


class Offering:
    """A plugin that offers it."""

    @hookimpl
    def gc_register_strategies(self, register):
        register("sparing", Sparing)


def test_nothing_held_gives_way_while_a_strategy_keeps_what_may_go_anyway():
    said = [f"Here is what I know of part {number}: {words(40)}" for number in range(8)]
    messages = session_of(said, 90)
    messages[5:5] = tool_turn(99, asked="More.", answer="So.")
    messages[7]["content"] = words(1_500)
    settled = {"context_limit": 4_000, "output_reservation": 0, "target_percent": 40.0, "threshold_percent": 50.0}
    plugins = Plugins()
    plugins.register(Offering(), name="sparing")
    with GCSession(GCConfig(strategy="sparing", **settled), plugins=plugins) as session:
        session.extend(messages)
        result = session.collect_now()
    assert result.shortfall
    assert not any(removal.phase == "giving way" for removal in result.removals)


def test_a_second_collection_with_the_same_target_finds_nothing_more():
    said = [f"Here is what I know of part {number}: {words(40)}" for number in range(8)]
    config = GCConfig(
        strategy="gc_truncate",
        context_limit=4_000,
        output_reservation=0,
        threshold_percent=100.0,
        pressure_percent=100.0,
    )
    with GCSession(config) as session:
        session.extend(session_of(said, 90))
        assert session.collect_now(target_percent=40.0).removals
        assert not session.collect_now(target_percent=40.0).removals


@pytest.mark.parametrize(
    ("strategy", "pressure"),
    [
        ("gc_rolling", 0),
        pytest.param("gc_hybrid", 95, marks=pytest.mark.slow),
        pytest.param("gc_rolling", 95, marks=pytest.mark.slow),
        pytest.param("gc_hybrid", 0, marks=pytest.mark.slow),
    ],
)
def test_a_session_of_seventeen_windows_reaches_its_targets(strategy, pressure):
    require_corpus()
    (path,) = corpus_dir().glob("concat-entire-336605*.jsonl")
    reached = SimpleNamespace(yes=0, no=0)

    def hear(event):
        if isinstance(event, CollectionFinished) and event.result.reason not in AIMLESS:
            kind = "yes" if event.result.reached or not event.result.shortfall else "no"
            setattr(reached, kind, getattr(reached, kind) + 1)

    config = GCConfig(strategy=strategy, context_limit=32_000, output_reservation=0, pressure_percent=pressure)
    transcript = read_transcript(path)
    with GCSession(config, format=transcript.format, on_event=hear) as session:
        for message in transcript.messages:
            if message.get("role") == "assistant":
                session.pre_send()
                session.post_turn(message)
            else:
                session.append(message)
    assert reached.yes >= 0.95 * (reached.yes + reached.no)
    assert reached.yes >= 35
