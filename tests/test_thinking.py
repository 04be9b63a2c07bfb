"""Thinking of earlier turns goes with other removals, only after the first change, where the rules allow it."""

import pytest

from gc_core import GCConfig, GCPolicy, GCRemovalItem, GCSession, ItemKind
from gc_core.providers.rules import check_request
from tests.support.checker import complaints
from tests.support.inside import window_of
from tests.support.say import lines, results, use, user

KEEPS = "claude-opus-4-5"
BINDS = "claude-opus-5-5"


class StubsFrom:
    """Stubs every result from a turn on."""

    def __init__(self, turn=0):
        self.turn = turn

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for item in context.stubbable:
            if item.kind is ItemKind.TOOL_RESULT and item.turn >= self.turn:
                yield GCRemovalItem.stub(item, keep=0.1, reason="old")


def anthropic(turn, step):
    key = f"t{turn}_{step}"
    yield use((key, "read", {"path": f"f{key}"}), text=f"I read {key}.", thinking=f"Think about {key}. " * 12)
    yield results((key, lines(60, f"v{key}")))


def responses(turn, step):
    key = f"t{turn}_{step}"
    thought = [{"type": "summary_text", "text": f"Think about {key}. " * 12}]
    yield {"type": "reasoning", "id": f"rs_{key}", "summary": thought, "encrypted_content": "QUJD" * 20}
    yield {"type": "function_call", "call_id": key, "id": f"fc_{key}", "name": "read", "arguments": f'{{"p": "{key}"}}'}
    yield {"type": "function_call_output", "call_id": key, "output": lines(60, f"v{key}")}


SAYS = {"anthropic": anthropic, "responses": responses}


def session(format_name="anthropic", model=KEEPS, *, turn=0, turns=4, steps=2, said=None, **more):
    config = GCConfig(context_limit=100_000, output_reservation=0, auto_trigger=False, **more)
    made = GCSession(config, format=format_name, model=model, strategy=StubsFrom(turn))
    for number in range(turns):
        made.append(user(f"Task {number}."))
        for step in range(steps):
            for message in SAYS[format_name](number, step):
                made.append(message)
    if said is not None:
        made.append(user(said))
    return made


def thinking_turns(made):
    return [item.turn for item in made.items() if item.kind is ItemKind.THINKING]


def assert_valid(made):
    request = window_of(made).render()
    assert complaints(made.format, request.kwargs()) == []
    assert check_request(request) == ()
    assert made.plugins.failures == []


@pytest.mark.parametrize("format_name", SAYS)
@pytest.mark.parametrize(("keep", "left"), [(1, [3, 3]), (2, [2, 2, 3, 3]), (None, [0, 0, 1, 1, 2, 2, 3, 3])])
def test_the_newest_turns_keep_their_thinking(format_name, keep, left):
    with session(format_name, None if format_name == "responses" else KEEPS, keep_thinking_turns=keep) as made:
        plan = made.plan(target_percent=0)
        done = made.collect_now(target_percent=0)
        assert plan.plan.tokens == done.tokens_after == made.budget.total
        # After the first change: the thought that led to the first call comes before it.
        first = [0] if keep is not None else []
        assert thinking_turns(made) == first + left
        assert_valid(made)


def test_thinking_before_the_first_change_stays():
    with session(turn=1) as made:
        made.collect_now(target_percent=0)
        assert thinking_turns(made) == [0, 0, 1, 3, 3]
        assert_valid(made)


def test_where_nothing_else_is_removed_no_thinking_goes():
    with session(turn=9) as made:
        assert not made.collect_now(target_percent=0).changed
        assert len(thinking_turns(made)) == 8


@pytest.mark.parametrize("format_name", SAYS)
@pytest.mark.parametrize("keep", [0, 1])
def test_the_turn_of_the_latest_reply_keeps_its_thinking_when_the_next_has_begun(format_name, keep):
    """N3: the latest reply stays as it is, and so does what it thought in the loop before."""
    model = None if format_name == "responses" else KEEPS
    with session(format_name, model, said="And now?", keep_thinking_turns=keep) as made:
        made.collect_now(target_percent=0)
        assert thinking_turns(made) == [0, 3, 3]
        assert_valid(made)


def test_a_run_of_thinking_goes_whole_also_where_a_part_of_it_counts_nothing():
    with session(turns=1) as made:
        block = {"type": "thinking", "thinking": "", "signature": ""}
        made.append(user("Task 1."))
        for message in anthropic(1, 0):
            if message["role"] == "assistant":
                message["content"].insert(1, block)
            made.append(message)
        for number in (2, 3):
            made.append(user(f"Task {number}."))
            for message in anthropic(number, 0):
                made.append(message)
        assert 0 in [item.tokens for item in made.items() if item.kind is ItemKind.THINKING]
        made.collect_now(target_percent=0)
        assert thinking_turns(made) == [0, 3]
        assert made.plugins.failures == []


def test_pinned_and_preservable_thinking_stays():
    with session() as made:
        first, second = (
            next(item for item in made.items() if item.kind is ItemKind.THINKING and item.turn == turn)
            for turn in (1, 2)
        )
        made.pin(item=first.id)
        made.set_policy(second.id, GCPolicy.PRESERVABLE)
        made.collect_now(target_percent=0)
        assert {first.id, second.id} <= {item.id for item in made.items()}
        assert thinking_turns(made) == [0, 1, 2, 3, 3]
        assert_valid(made)


def test_a_pinned_turn_keeps_its_thinking():
    with session() as made:
        made.pin(turn=1)
        made.collect_now(target_percent=0)
        assert thinking_turns(made) == [0, 1, 1, 3, 3]


def test_where_the_model_binds_thinking_all_of_it_goes_after_the_change_whatever_is_kept():
    with session(model=BINDS, turn=1, keep_thinking_turns=None) as made:
        made.collect_now(target_percent=0)
        assert thinking_turns(made) == [0, 0, 1]
        assert_valid(made)


def test_thinking_that_went_comes_back_with_undo():
    with session() as made:
        before = window_of(made).render().messages
        made.collect_now(target_percent=0)
        after = window_of(made).render().messages
        assert made.undo()
        assert window_of(made).render().messages == before
        assert made.redo()
        assert window_of(made).render().messages == after


def test_a_second_collection_takes_no_more_thinking():
    with session() as made:
        made.collect_now(target_percent=0)
        assert not made.plan(target_percent=0).result.changed


class DropsEnrichment:
    """Takes out what was placed at the end of a request."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for unit in context.collectable:
            if unit.items[0].kind is ItemKind.ENRICHMENT:
                yield GCRemovalItem.drop(unit, reason="old")


def test_thinking_of_a_reply_that_continues_after_a_block_goes_with_the_block():
    config = GCConfig(context_limit=100_000, output_reservation=0, auto_trigger=False)
    thought = {"type": "thinking", "thinking": "Think. " * 20, "signature": "c2ln"}
    with GCSession(config, format="anthropic", model=BINDS, strategy=DropsEnrichment()) as made:
        made.append(user("Do it."))
        made.append({"role": "assistant", "content": [{"type": "text", "text": "I begin."}]})
        made.enrich(weather="mild " * 80)
        made.pre_send()
        made.append({"role": "assistant", "content": [thought, {"type": "text", "text": "I go on."}]})
        made.append(user("And then?"))
        made.pre_send()
        made.append({"role": "assistant", "content": [thought, {"type": "text", "text": "Done."}]})
        result = made.collect_now(target_percent=0)
        assert result.removals
        assert_valid(made)
        assert thinking_turns(made) == []
