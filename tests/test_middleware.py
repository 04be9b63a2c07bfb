"""Middleware acts before the log: what it makes of a message is checked, logged, and never asked for again."""

import json

import pytest

from gc_core import ContextMiddleware, GCSession, Plugins, hookimpl
from gc_core.errors import MessageError
from gc_core.providers.rules import check_request

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "login.py"}'}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "x = 1"}
USER = {"role": "user", "content": "Mend login.py."}
THINKS = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "sealed"},
        {"type": "text", "text": "It is mended."},
    ],
}


class Middleware:
    """What ``change`` makes of a message."""

    def __init__(self, change):
        self.change, self.seen = change, []

    @hookimpl(specname="gc_process_message")
    def process(self, message):
        self.seen.append(json.dumps(message))
        return self.change(message)


def begun(*changes, **more):
    session = GCSession(plugins=Plugins(), strategy="none", **more)
    for place, change in enumerate(changes):
        session.plugins.register(Middleware(change), name=f"m{place}")
    return session


def upper(message):
    content = message.get("content")
    return {**message, "content": content.upper()} if isinstance(content, str) else None


def test_an_object_with_process_is_a_middleware():
    assert isinstance(Middleware(upper), ContextMiddleware)


def test_what_it_makes_of_messages_and_replies_is_logged_and_sent(tmp_path):
    with begun(upper, directory=tmp_path) as session:
        session.append(USER)
        session.pre_send()
        session.post_turn({"role": "assistant", "content": "Mended."})
        texts = [message["content"] for message in session.pre_send().messages[-2:]]
        assert texts == ["MEND LOGIN.PY.", "MENDED."]
        assert session.recall("i1") == "MEND LOGIN.PY."
    assert b"Mend login.py" not in (tmp_path / "master.jsonl").read_bytes()


def test_none_leaves_the_message_and_what_was_done_to_the_argument_is_nothing():
    def spoils(message):
        message["content"] = "spoilt"
        message.setdefault("tool_calls", []).clear()

    with begun(spoils) as session:
        session.append(USER)
        session.append(CALLS)
        session.append(RESULT)
        assert session.pre_send().messages == (USER, CALLS, RESULT)
        assert session.plugins.failures == []


def test_it_is_never_asked_again_when_a_session_is_opened(tmp_path):
    with begun(upper, directory=tmp_path) as session:
        session.append(USER)
        sent = session.pre_send().messages
    again = Middleware(lambda message: {**message, "content": "another"})
    plugins = Plugins()
    plugins.register(again, name="again")
    with GCSession.open(tmp_path, plugins=plugins) as session:
        assert session.pre_send().messages == sent
        assert again.seen == []
        session.rewind(0)
        assert again.seen == []


def test_the_newest_is_asked_first_as_pluggy_does():
    def adds(word):
        return lambda message: {**message, "content": f"{message['content']} {word}"}

    for order in (("a", "b"), ("b", "a")):
        with GCSession(plugins=Plugins(), strategy="none") as session:
            for name in order:
                session.plugins.register(Middleware(adds(name)), name=name)
            session.append({"role": "user", "content": "Go"})
            assert session.pre_send().messages[0]["content"] == f"Go {order[1]} {order[0]}"


def test_secrets_are_masked_after_it(tmp_path):
    class Masks:
        @hookimpl
        def gc_redact(self, text):
            return text.replace("hunter2", "****")

    with begun(lambda message: {**message, "content": "It is hunter2."}, directory=tmp_path) as session:
        session.plugins.register(Masks(), name="masks")
        session.append(USER)
        assert session.pre_send().messages[-1]["content"] == "It is ****."
    assert b"hunter2" not in (tmp_path / "master.jsonl").read_bytes()


def raises(message):  # noqa: ARG001 - the contract
    raise ZeroDivisionError


def with_call(**changes):
    def change(message):
        if "tool_calls" not in message:
            return None
        return {**message, "tool_calls": [{**CALL, **changes}]}

    return change


REFUSED = {
    "raises": (USER, raises, "ZeroDivisionError"),
    "words": (USER, lambda _: "Mend it.", "expected a message as a dict"),
    "no JSON": (USER, lambda message: {**message, "content": {1, 2}}, "not JSON serializable"),
    "not a number": (USER, lambda message: {**message, "temperature": float("nan")}, "not JSON compliant"),
    "no message": (USER, lambda _: {"role": "user"}, "content"),
    "an unknown role": (USER, lambda message: {**message, "role": "narrator"}, "narrator"),
    "another role": (USER, lambda message: {**message, "role": "assistant"}, "changed the role"),
    "another id": (CALLS, with_call(id="c2"), "changed the tool calls"),
    "another tool": (CALLS, with_call(function={"name": "write", "arguments": "{}"}), "changed the tool calls"),
    "no calls": (CALLS, lambda _: {"role": "assistant", "content": "Nothing to do."}, "changed the tool calls"),
    "a call more": (
        CALLS,
        lambda message: {**message, "tool_calls": [*message["tool_calls"], {**CALL, "id": "c9"}]},
        "changed the tool calls",
    ),
    "another call's result": (RESULT, lambda message: {**message, "tool_call_id": "c7"}, "which calls have results"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_change_that_cannot_be_taken_is_recorded_and_the_message_stays(name):
    message, change, complaint = REFUSED[name]
    conversation = [USER, CALLS, RESULT]
    with begun(lambda each: change(each) if each == message else None) as session:
        for each in conversation:
            session.append(each)
        request = session.pre_send()
        assert list(request.messages) == conversation
        assert check_request(request) == ()
        (failure,) = session.plugins.failures
        assert (failure.plugin, failure.doing) == ("m0", "gc_process_message")
        assert complaint in str(failure)
        if name != "raises":
            assert isinstance(failure.error, MessageError)
            assert str(failure.error).startswith("middleware 'm0'")


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "Hm!", "signature": "sealed"},
        {"type": "thinking", "thinking": "Hm.", "signature": "forged"},
        {"type": "text", "text": "Hm."},
    ],
    ids=["other words", "another seal", "none"],
)
def test_signed_thinking_is_left_as_it_is(block):
    def change(message):
        if message["role"] != "assistant":
            return None
        return {**message, "content": [block, *message["content"][1:]]}

    with begun(change, format="anthropic") as session:
        session.append(USER)
        session.append(THINKS)
        assert session.pre_send().messages[1]["content"] == THINKS["content"]
        assert "thinking" in str(session.plugins.failures[0]) or "signed" in str(session.plugins.failures[0])


def test_middleware_after_a_refused_change_sees_the_unchanged_message():
    with begun(lambda _: "rubbish", upper) as session:
        session.append(USER)
        assert session.pre_send().messages[0]["content"] == "MEND LOGIN.PY."
        assert len(session.plugins.failures) == 1


def test_a_message_that_arrives_malformed_is_still_the_hosts_error():
    with begun(lambda _: USER) as session, pytest.raises(MessageError):
        session.append({"role": "user"})
