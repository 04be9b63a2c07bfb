"""System messages inside a conversation, as Claude Code sends them: what stands beside them may leave, they stay."""

import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCSession
from gc_core.events import CollectionFinished
from gc_core.storage.audit import verify
from tests.fuzz.promises import flat
from tests.support.checker import complaints
from tests.support.grids import half

STRATEGIES = ("gc_budget", "gc_progressive", "gc_truncate", "gc_hybrid", "gc_rolling")
LIMIT = 24_000


def use(number):
    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"cat big_{number}.txt"}}
    return {"role": "assistant", "content": [call]}


def result(number, words=400):
    text = f"{number}: " + " ".join(f"word{each}" for each in range(words))
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": text}]}


def reminder(number):
    return {"role": "system", "content": f"Reminder {number}: tell the user how far you are."}


def driven(held, kinds, *, strategy="gc_budget", head=3_000, limit=LIMIT):
    """The requests for a list that grows by what ``kinds`` names, call by call, and the results of the collections."""
    requests, results = [], []
    config = GCConfig(strategy=strategy, context_limit=limit, output_reservation=0)
    with GCSession(config, format="anthropic", model="claude-opus-4-5") as session:
        session.listen(lambda event: results.append(event.result) if isinstance(event, CollectionFinished) else None)
        for number, kind in enumerate(kinds):
            if kind == "text":
                held += [
                    {"role": "assistant", "content": [{"type": "text", "text": f"Answer {number}. " * 60}]},
                    {"role": "user", "content": f"Request {number}. " * 60},
                ]
            else:
                held += [use(number), result(number)]
            if kind != "plain":
                held.append(reminder(number))
            requests.append(session.sync(list(held), system=[{"type": "text", "text": "You read. " * (head // 3)}]))
    return requests, results


def body_of(request):
    return {"model": "m", "max_tokens": 9, "messages": list(request.messages), "system": list(request.system)}


@pytest.mark.parametrize("strategy", half(STRATEGIES))
def test_a_reminder_after_every_call_holds_no_call_in_the_window(strategy):
    """A hook of Claude Code's that says something after each call makes such a list."""
    requests, results = driven([{"role": "user", "content": "Read the files."}], ["hook"] * 70, strategy=strategy)
    assert all(request.tokens <= LIMIT for request in requests)
    assert results
    assert [complaint for request in requests for complaint in complaints("anthropic", body_of(request))] == []
    reached = [result.tokens_after <= 0.75 * LIMIT for result in results]
    assert all(reached)
    text = str(requests[-1].messages)
    assert all(f"Reminder {number}:" in text for number in range(70))


def test_a_large_head_and_reminders_fit():
    requests, results = driven([{"role": "user", "content": "Read the files."}], ["hook"] * 60, head=17_000)
    assert all(request.tokens <= LIMIT for request in requests)
    assert min(result.tokens_after for result in results[-3:]) <= 0.9 * LIMIT


def test_a_large_opening_system_message_is_not_written_again_with_every_collection():
    """Claude Code's environment stands behind the request; a notice in front of it would change its prefix."""
    held = [{"role": "user", "content": "Read the files."}, {"role": "system", "content": "An environment. " * 900}]
    requests, results = driven(list(held), ["plain"] * 60)
    assert len(results) > 1
    assert all(list(request.messages[:2]) == held for request in requests)
    assert all(request.tokens <= LIMIT for request in requests)


@given(st.lists(st.sampled_from(["plain", "hook", "text"]), min_size=10, max_size=60), st.sampled_from(STRATEGIES))
@settings(max_examples=25, deadline=None)
def test_wherever_reminders_stand_every_request_is_valid_and_has_them_in_their_order(kinds, strategy):
    requests, _ = driven([{"role": "user", "content": "Read the files."}], kinds, strategy=strategy, limit=9_000)
    assert [complaint for request in requests for complaint in complaints("anthropic", body_of(request))] == []
    text = str(requests[-1].messages)
    places = [text.find(f"Reminder {number}:") for number, kind in enumerate(kinds) if kind != "plain"]
    assert -1 not in places
    assert places == sorted(places)


@given(st.lists(st.sampled_from(["plain", "hook", "text"]), min_size=10, max_size=40), st.sampled_from(STRATEGIES))
@settings(max_examples=15, deadline=None)
def test_a_session_with_reminders_is_opened_again_with_the_same_words(kinds, strategy):
    with tempfile.TemporaryDirectory() as directory:
        config = GCConfig(strategy=strategy, context_limit=5_000, output_reservation=0)
        with GCSession(config, format="anthropic", model="claude-opus-4-5", directory=directory) as session:
            sent = appended(session, [{"role": "user", "content": "Read the files."}], kinds)
        with GCSession.open(directory, config) as session:
            assert flat("anthropic", session.pre_send()) == sent
            if session.undo():
                assert session.redo()
            assert flat("anthropic", session.pre_send()) == sent
        assert not verify(directory)


def appended(session, held, kinds):
    """The last request, in pieces, of a session in which the model answers between a reminder and the next request."""
    for number, kind in enumerate(kinds):
        for message in (*held, use(number), result(number, 120), *([reminder(number)] if kind != "plain" else [])):
            session.append(message)
        request = session.pre_send()
        held = answered(number) if kind == "text" else []
    return flat("anthropic", request)


def answered(number):
    answer = {"role": "assistant", "content": [{"type": "text", "text": f"Answer {number}. " * 60}]}
    return [answer, {"role": "user", "content": f"Request {number}."}]
