"""Conversations without names: each is found by its history, also where several begin alike."""

import json

import pytest
from hypothesis import given as made
from hypothesis import settings
from hypothesis import strategies as st

from gc_core import GCConfig
from gc_core.integrations.lanes import Lanes, ModelCall, Plain

CONFIG = GCConfig(strategy="gc_budget", context_limit=6_000, output_reservation=300)


@pytest.fixture
def lanes():
    opened = Lanes(Plain(), format="openai", config=CONFIG)
    yield opened
    opened.close()


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


def step(whose, number, lines=1):
    """A call with its result, whose words name the conversation."""
    call = {"id": f"{whose}_{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    text = "\n".join(f"secret of {whose}, file {number}, line {line}" for line in range(lines))
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"{whose}_{number}", "content": text},
    ]


def run_of(whose, steps, lines=1):
    return [user("Read all files."), *(message for number in range(steps) for message in step(whose, number, lines))]


def sent(lanes, messages, scope=""):
    """The request for a list, and the session that made it."""
    call = ModelCall(messages=messages)
    with lanes.lane_of(call, scope) as lane:
        return lane.fitted(call), lane.session


def recalled(lanes, messages):
    """All that the recall tool of a conversation reads: item by item, all items at once, and the bytes of the log."""
    call = ModelCall(messages=messages)
    with lanes.lane_of(call) as lane:
        numbers = range(1, lane.session.port.next_item)
        size = (lane.session.directory / "master.jsonl").stat().st_size
        references = [*(f"i{number}" for number in numbers), f"i1-i{numbers.stop}", f"master.jsonl:0-{size}"]
        return "\n".join(lane.tools.call("recall", {"reference": each}) for each in references)


def test_a_growing_list_stays_in_its_lane(lanes):
    whole = run_of("ada", 40, lines=20)
    sessions = {sent(lanes, whole[:end])[1] for end in range(1, len(whole) + 1, 2)}
    assert len(sessions) == 1
    (session,) = sessions
    assert any(entry.is_collection for entry in session.history())


def test_two_runs_of_one_prompt_that_take_turns_have_a_lane_each(lanes):
    runs = [run_of(whose, 30, lines=20) for whose in ("ada", "bob")]
    sessions = [[], []]
    for end in range(1, len(runs[0]) + 1, 2):
        for place, run in enumerate(runs):
            sessions[place].append(sent(lanes, run[:end])[1])
    ada, bob = (set(each[3:]) for each in sessions)
    assert len(ada) == len(bob) == 1
    assert ada != bob


def test_a_new_run_of_a_prompt_leaves_the_long_one_as_it_was(lanes):
    long = run_of("ada", 40, lines=20)
    for end in range(1, len(long) + 1, 2):
        before, session = sent(lanes, long[:end])
    for end in (1, 3, 5, 7):
        sent(lanes, run_of("bob", 3)[:end])
    after, again = sent(lanes, long)
    if again is session:
        assert after == before
    assert "bob" not in json.dumps(after)


def test_a_list_that_goes_back_after_a_collection_goes_on_in_the_same_words(lanes):
    whole = run_of("ada", 40, lines=20)
    for end in range(1, len(whole) + 1, 2):
        before, session = sent(lanes, whole[:end])
    after, again = sent(lanes, [*whole[:-4], said("I stop here."), user("Why?")])
    assert again is session
    assert after[: len(before) - 4] == before[:-4]


def test_two_continuations_of_a_long_conversation_part(lanes):
    whole = run_of("ada", 40, lines=20)
    for end in range(1, len(whole) + 1, 2):
        sent(lanes, whole[:end])
    ways = [[*whole, user(f"Try {whose}."), *run_of(whose, 6)[1:]] for whose in ("bob", "eve")]
    sessions = [[sent(lanes, way[:end])[1] for way in ways] for end in range(len(whole) + 1, len(ways[0]) + 1, 2)]
    assert len(set(sessions[-1])) == 2
    assert sessions[-1] == sessions[-2] == sessions[-3]


def test_a_reminder_that_changes_with_every_request_keeps_a_list_in_its_lane(lanes):
    whole = run_of("ada", 10)
    sessions = {
        sent(lanes, [*whole[:end], user(f"Reminder: {end} messages.")])[1] for end in range(1, len(whole) + 1, 2)
    }
    assert len(sessions) == 1


def test_a_request_that_is_sent_again_stays_in_its_lane(lanes):
    whole = run_of("ada", 5)
    given = [*(whole[:end] for end in range(1, len(whole) + 1, 2)), whole, whole[:5], whole, whole[:3], whole]
    sessions = {sent(lanes, messages)[1] for messages in given}
    assert len(sessions) == 1


def test_scopes_share_nothing(lanes):
    whole = run_of("ada", 2)
    assert sent(lanes, whole, "one")[1] is not sent(lanes, whole, "two")[1]


def test_lists_without_a_user_message_are_found_by_all_that_they_have(lanes):
    first = [{"role": "system", "content": "Go on."}, said("I begin.")]
    sessions = {sent(lanes, messages)[1] for messages in (first, [*first, *step("ada", 1)])}
    assert len(sessions) == 1


def test_the_recall_tool_reads_nothing_that_another_conversation_said(lanes):
    hello = [user("hi"), said("Hello, how can I help?")]
    ada = [*hello, user("The secret of ada is 4711."), said("I keep it.")]
    bob = [*hello, user("I am bob.")]
    sent(lanes, hello[:1])
    sent(lanes, ada[:3])
    _, session = sent(lanes, bob)
    assert session.search("4711")  # the lane that they shared until now has it
    assert "4711" not in recalled(lanes, bob)
    assert "I am bob." in recalled(lanes, bob)
    sent(lanes, ada)
    assert "bob" not in recalled(lanes, ada)
    assert "4711" in recalled(lanes, ada)


def test_a_named_conversation_recalls_what_its_list_has_left(lanes):
    with lanes.lane("ada") as lane:
        lane.fitted(ModelCall(messages=[user("hi"), said("Hello."), user("My number is 4711.")]))
        lane.fitted(ModelCall(messages=[user("hi"), said("Hello."), user("Forget it.")]))
        assert "4711" in lane.tools.call("recall", {"reference": "i3"})


@settings(max_examples=30, deadline=None)
@made(
    together=st.integers(0, 3),
    steps=st.integers(2, 8),
    turns=st.lists(st.integers(0, 2), min_size=6, max_size=40),
    lines=st.sampled_from([1, 25]),
)
def test_conversations_that_begin_alike_never_read_each_others_words(together, steps, turns, lines):
    common = [user("Read all files."), *(message for number in range(together) for message in step("all", number))]
    runs = [
        [*common, *(message for number in range(steps) for message in step(whose, number, lines))]
        for whose in ("ada", "bob", "eve")
    ]
    opened = Lanes(Plain(), format="openai", config=CONFIG)
    reached = [1, 1, 1]
    try:
        for turn in turns:
            messages = runs[turn][: reached[turn]]
            request, _ = sent(opened, messages)
            reached[turn] = min(len(runs[turn]), reached[turn] + 2)
            others = {"ada", "bob", "eve"} - {("ada", "bob", "eve")[turn]}
            everything = json.dumps(request) + recalled(opened, messages)
            assert not any(f"secret of {other}" in everything for other in others)
    finally:
        opened.close()


def test_a_conversation_goes_on_in_its_directory_in_another_process(tmp_path):
    whole = run_of("ada", 40, lines=20)
    first = Lanes(Plain(), format="openai", config=CONFIG, directory=tmp_path)
    for end in range(1, len(whole) - 1, 2):
        before, session = sent(first, whole[:end])
    first.close()
    second = Lanes(Plain(), format="openai", config=CONFIG, directory=tmp_path)
    try:
        after, again = sent(second, whole)
        assert again.directory == session.directory
        assert after[: len(before)] == before
    finally:
        second.close()


def test_ends_that_cannot_be_read_cost_a_new_reading_alone(tmp_path):
    whole = run_of("ada", 3)
    first = Lanes(Plain(), format="openai", config=CONFIG, directory=tmp_path)
    _, session = sent(first, whole)
    first.close()
    (session.directory / "ends.txt").write_bytes(b"\xff\xfe no digest\n")
    second = Lanes(Plain(), format="openai", config=CONFIG, directory=tmp_path)
    try:
        request, again = sent(second, whole)
        assert request == whole
        assert again.directory != session.directory
    finally:
        second.close()


def test_a_directory_that_cannot_be_written_keeps_no_request_back(tmp_path):
    opened = Lanes(Plain(), format="openai", config=CONFIG, directory=tmp_path)
    whole = run_of("ada", 3)
    try:
        _, session = sent(opened, whole[:3])
        (session.directory / "ends.txt").unlink()
        (session.directory / "ends.txt").mkdir()
        assert sent(opened, whole)[0] == whole
    finally:
        opened.close()
