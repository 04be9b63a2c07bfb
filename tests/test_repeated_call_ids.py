"""Calls of one reply that share an id: OpenAI and Anthropic refuse the request, so the later ones get another id."""

import itertools
import json

import pytest

from gc_core import GCConfig, GCSession
from gc_core.events import MessageRepaired
from gc_core.storage.audit import verify
from tests.fuzz.validity import complaints

IDS = [("a", "a"), ("a", "b", "a"), ("a", "a-2", "a"), ("a", "a", "a", "b", "b")]


def openai_reply(ids):
    calls = [
        {"id": each, "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": f"{at}.py"})}}
        for at, each in enumerate(ids)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def openai_results(ids):
    return [{"role": "tool", "tool_call_id": each, "content": f"text of {at}.py"} for at, each in enumerate(ids)]


def anthropic_reply(ids):
    blocks = [
        {"type": "tool_use", "id": each, "name": "read", "input": {"path": f"{at}.py"}} for at, each in enumerate(ids)
    ]
    return {"role": "assistant", "content": blocks}


def anthropic_results(ids):
    blocks = [
        {"type": "tool_result", "tool_use_id": each, "content": f"text of {at}.py"} for at, each in enumerate(ids)
    ]
    return [{"role": "user", "content": blocks}]


FORMATS = {"openai": (openai_reply, openai_results), "anthropic": (anthropic_reply, anthropic_results)}


def run_steps(name, ids, directory, events):
    reply, results = FORMATS[name]
    config = GCConfig(context_limit=100_000)
    session = GCSession(config, format=name, directory=directory, on_event=events.append)
    session.append({"role": "user", "content": "Read them."})
    session.pre_send()
    session.post_turn(reply(ids))
    for message in results(ids):
        session.append(message)
    return session


def pairs(request):
    """The path of each call with the text of its result."""
    called, answered = {}, {}
    for message in request.messages:
        for call in message.get("tool_calls") or ():
            called[call["id"]] = call["function"]["arguments"]
        if message["role"] == "tool":
            answered[message["tool_call_id"]] = message["content"]
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                called[block["id"]] = json.dumps(block["input"])
            elif block["type"] == "tool_result":
                answered[block["tool_use_id"]] = block["content"]
    return [(json.loads(called[key])["path"], answered[key]) for key in called]


@pytest.mark.parametrize(("name", "ids"), list(itertools.product(FORMATS, IDS)))
def test_each_call_has_its_own_id_and_result(name, ids, tmp_path):
    events = []
    with run_steps(name, ids, tmp_path / "s", events) as session:
        request = session.pre_send()
        assert list(complaints(name, request.kwargs())) == []
        assert pairs(request) == [(f"{at}.py", f"text of {at}.py") for at in range(len(ids))]
        assert [event.kind for event in events if isinstance(event, MessageRepaired)] == ["repeated_id"]


@pytest.mark.parametrize("name", FORMATS)
def test_the_log_keeps_the_ids_that_the_model_gave_and_the_request_is_the_same_when_opened_again(name, tmp_path):
    with run_steps(name, ("a", "a"), tmp_path / "s", []) as session:
        request = session.pre_send()
        logged = (tmp_path / "s" / "master.jsonl").read_text("utf-8")
    assert "a-2" not in logged
    with GCSession.open(tmp_path / "s") as again:
        assert again.pre_send().messages == request.messages
    assert verify(tmp_path / "s") == ()


@pytest.mark.parametrize("name", FORMATS)
def test_a_session_that_is_opened_between_call_and_result_still_knows_which_is_which(name, tmp_path):
    reply, results = FORMATS[name]
    with GCSession(GCConfig(context_limit=100_000), format=name, directory=tmp_path / "s") as session:
        session.append({"role": "user", "content": "Read them."})
        session.pre_send()
        session.post_turn(reply(("a", "a")))
    with GCSession.open(tmp_path / "s") as session:
        for message in results(("a", "a")):
            session.append(message)
        assert pairs(session.pre_send()) == [("0.py", "text of 0.py"), ("1.py", "text of 1.py")]


@pytest.mark.parametrize("name", FORMATS)
def test_a_call_without_a_result_is_answered_under_the_id_that_is_sent(name, tmp_path):
    reply, results = FORMATS[name]
    with GCSession(GCConfig(context_limit=100_000), format=name, directory=tmp_path / "s") as session:
        session.append({"role": "user", "content": "Read them."})
        session.pre_send()
        session.post_turn(reply(("a", "a")))
        for message in results(("a",)):
            session.append(message)
        session.append({"role": "user", "content": "Well?"})
        assert list(complaints(name, session.pre_send().kwargs())) == []
