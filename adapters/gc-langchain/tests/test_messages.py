"""LangChain's messages as the session reads them, and after a collection."""

import json

import pytest
from gc_langchain import collect_messages
from gc_langchain.messages import LangChainMessages
from langchain_core.messages import (
    AIMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from gc_core import ConfigError, GCConfig
from gc_core.integrations.lanes import Lanes, ModelCall
from gc_core.providers import format_named

CODEC = LangChainMessages()
CALL = {"name": "read", "args": {"path": "a.py", "text": "long"}, "id": "c1", "type": "tool_call"}
ARGUMENTS = json.dumps(CALL["args"])
TEXT = {"type": "text", "text": "I read."}
THINKING = {"type": "thinking", "thinking": "First the file.", "signature": "sig"}
IMAGE = {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}
MESSAGES = {
    "text": HumanMessage("Hello"),
    "texts": HumanMessage([{"type": "text", "text": "one"}, "two"]),
    "image": HumanMessage([{"type": "text", "text": "See"}, IMAGE]),
    "unknown block": HumanMessage([{"type": "text", "text": "See"}, {"type": "hologram", "data": [1, 2]}]),
    "system": SystemMessage("Be brief."),
    "result": ToolMessage("line", tool_call_id="c1", artifact={"kept": 1}),
    "result blocks": ToolMessage([{"type": "text", "text": "a"}, IMAGE], tool_call_id="c1"),
    "reply": AIMessage("Yes."),
    "calls": AIMessage("", tool_calls=[CALL]),
    "claude": AIMessage(
        [
            THINKING,
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "c1", "name": "read", "input": CALL["args"]},
        ],
        tool_calls=[CALL],
    ),
    "responses": AIMessage(
        [
            {"type": "reasoning", "id": "r1", "summary": []},
            {"type": "text", "text": "I read."},
            {
                "type": "function_call",
                "call_id": "c1",
                "id": "f1",
                "name": "read",
                "arguments": json.dumps(CALL["args"]),
            },
        ],
        tool_calls=[CALL],
    ),
    "deepseek": AIMessage("Yes.", additional_kwargs={"reasoning_content": "Hm."}),
}
UNKNOWN = [
    ChatMessage("hi", role="narrator"),
    FunctionMessage("1", name="f"),
    RemoveMessage(id="m1"),
    AIMessage(""),
    HumanMessage([{"type": "tool_result", "tool_use_id": "t", "content": "x"}]),
]


@pytest.mark.parametrize("name", MESSAGES)
def test_every_message_is_read_by_the_format(name):
    payload = CODEC.payload(MESSAGES[name])
    assert format_named("openai").read(format_named("openai").normalise(payload))
    assert CODEC.payload(MESSAGES[name]) == payload


@pytest.mark.parametrize("name", MESSAGES)
def test_an_unchanged_payload_gives_an_equal_message(name):
    message = MESSAGES[name]
    edited = CODEC.edited(message, CODEC.payload(message))
    assert edited.content == message.content
    assert getattr(edited, "tool_calls", None) == getattr(message, "tool_calls", None)


@pytest.mark.parametrize("message", UNKNOWN, ids=lambda message: type(message).__name__)
def test_types_that_chat_completions_does_not_have_are_left_alone(message):
    assert CODEC.payload(message) is None


def test_a_shortened_result_keeps_everything_else_of_its_message():
    message = MESSAGES["result"]
    edited = CODEC.edited(message, {**CODEC.payload(message), "content": "[gc: stub]"})
    assert (edited.content, edited.tool_call_id, edited.artifact) == ("[gc: stub]", "c1", {"kept": 1})
    assert message.content == "line"


@pytest.mark.parametrize("name", ["calls", "claude", "responses"])
def test_shortened_arguments_stand_wherever_the_message_has_them(name):
    message = MESSAGES[name]
    payload = CODEC.payload(message)
    call = {**payload["tool_calls"][0], "function": {"name": "read", "arguments": '{"path": "a.py", "text": "cut"}'}}
    edited = CODEC.edited(message, {**payload, "tool_calls": [call]})
    short = {"path": "a.py", "text": "cut"}
    assert [each["args"] for each in edited.tool_calls] == [short]
    blocks = [block for block in edited.content if isinstance(block, dict) and block["type"] == "tool_use"]
    assert [block["input"] for block in blocks] == [short] * len(blocks)
    assert '"long"' not in str(edited.content)


@pytest.mark.parametrize("name", ["claude", "responses", "deepseek"])
def test_thinking_leaves_as_a_whole(name):
    message = MESSAGES[name]
    payload = {key: value for key, value in CODEC.payload(message).items() if key != "reasoning_content"}
    edited = CODEC.edited(message, payload)
    assert "reasoning_content" not in edited.additional_kwargs
    assert not any(isinstance(block, dict) and block["type"] in {"thinking", "reasoning"} for block in edited.content)
    assert edited.text == message.text


def test_a_text_that_left_leaves_the_calls():
    message = MESSAGES["claude"]
    edited = CODEC.edited(message, {**CODEC.payload(message), "content": None})
    assert [block["type"] for block in edited.content] == ["thinking", "tool_use"]


# -- whole lists -------------------------------------------------------------------------------------------------------


def history(steps, kind=None):
    messages = [HumanMessage("Read all files.", id="first")]
    for number in range(steps):
        call = {"name": "read", "args": {"path": f"f{number}"}, "id": f"c{number}", "type": "tool_call"}
        text = "\n".join(f"f{number} line {line}: {line * line}" for line in range(100))
        messages += [AIMessage("", tool_calls=[call]), ToolMessage(text, tool_call_id=f"c{number}")]
        messages += [kind] if kind is not None and number == steps // 2 else []
    return messages


def test_a_list_that_fits_comes_back_object_for_object():
    given = history(4)
    answer = collect_messages(given, max_tokens=20_000)
    assert len(answer) == len(given)
    assert all(one is other for one, other in zip(answer, given, strict=True))


def test_something_that_is_not_a_configuration_is_refused():
    with pytest.raises(ConfigError, match="expected a GCConfig"):
        collect_messages(history(1), max_tokens=8_000, config={"strategy": "gc_budget"})


def test_a_list_that_is_too_long_is_collected_and_stays_valid():
    given = [SystemMessage("Be brief."), *history(40)]
    answer = collect_messages(given, max_tokens=8_000)
    assert answer[0] is given[0]
    assert answer[1] is given[1]
    assert answer[-1] is given[-1]
    calls = [call["id"] for message in answer if isinstance(message, AIMessage) for call in message.tool_calls]
    results = [message.tool_call_id for message in answer if isinstance(message, ToolMessage)]
    assert calls == results
    assert sum(len(message.text) for message in answer) // 4 < 8_000
    assert given == [SystemMessage("Be brief."), *history(40)]  # nothing of the caller's has changed


@pytest.mark.parametrize("unknown", UNKNOWN[:2], ids=lambda message: type(message).__name__)
def test_an_unknown_message_stays_where_it_stood(unknown):
    given = history(30, unknown)
    lanes = Lanes(CODEC, format="openai", config=GCConfig(strategy="gc_budget", context_limit=9_000))
    with lanes.lane("one") as lane:
        answer = lane.fitted(ModelCall(messages=given))
    lanes.close()
    assert len(answer) < len(given) or any(one is not other for one, other in zip(answer, given, strict=True))
    place = next(number for number, message in enumerate(answer) if message is unknown)
    after = [message for message in answer[place + 1 :] if any(message is each for each in given)]
    assert all(given.index(unknown) < next(n for n, each in enumerate(given) if each is message) for message in after)
