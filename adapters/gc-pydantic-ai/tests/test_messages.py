"""Pydantic AI's messages as the session reads them, and after a collection."""

import pytest
from gc_pydantic_ai.messages import PydanticMessages
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from gc_core.providers import format_named

CODEC = PydanticMessages()
IMAGE = BinaryContent(b"\x89PNG", media_type="image/png")
MESSAGES = {
    "first": ModelRequest([SystemPromptPart("Be brief."), UserPromptPart("Hello")]),
    "image": ModelRequest([UserPromptPart(["See", IMAGE, "and tell"])]),
    "results": ModelRequest(
        [ToolReturnPart("read", "line", tool_call_id="c1"), ToolReturnPart("read", {"a": 1}, tool_call_id="c2")]
    ),
    "result and text": ModelRequest([ToolReturnPart("read", "line", tool_call_id="c1"), UserPromptPart("Go on")]),
    "text": ModelResponse([TextPart("Yes.")]),
    "calls": ModelResponse(
        [
            ThinkingPart("First the file.", signature="sig"),
            TextPart("I read."),
            ToolCallPart("read", {"path": "a", "text": "long"}, tool_call_id="c1"),
            ToolCallPart("read", '{"path": "b"}', tool_call_id="c2"),
        ]
    ),
    "file": ModelResponse([TextPart("Here."), FilePart(IMAGE)]),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_every_message_is_read_by_the_format(name):
    payload = CODEC.payload(MESSAGES[name])
    assert format_named("anthropic").read(format_named("anthropic").normalise(payload))
    assert CODEC.payload(MESSAGES[name]) == payload


@pytest.mark.parametrize("name", MESSAGES)
def test_an_unchanged_payload_gives_an_equal_message(name):
    assert CODEC.edited(MESSAGES[name], CODEC.payload(MESSAGES[name])) == MESSAGES[name]


def with_block(name, place, **changes):
    payload = CODEC.payload(MESSAGES[name])
    blocks = [{**block, **changes} if number == place else block for number, block in enumerate(payload["content"])]
    return CODEC.edited(MESSAGES[name], {**payload, "content": blocks})


def test_a_shortened_result_keeps_its_call_and_its_name():
    edited = with_block("results", 1, content="[gc: stub]")
    assert [(part.tool_name, part.tool_call_id) for part in edited.parts] == [("read", "c1"), ("read", "c2")]
    assert [part.content for part in edited.parts] == ["line", "[gc: stub]"]
    assert MESSAGES["results"].parts[1].content == {"a": 1}


def test_shortened_arguments_stand_in_their_call():
    edited = with_block("calls", 2, input={"path": "a", "text": "cut"})
    assert edited.parts[2].args == {"path": "a", "text": "cut"}
    assert edited.parts[3] == MESSAGES["calls"].parts[3]


def test_a_dropped_block_leaves_the_others_as_they_are():
    message = MESSAGES["calls"]
    payload = CODEC.payload(message)
    edited = CODEC.edited(message, {**payload, "content": payload["content"][1:]})
    assert list(edited.parts) == list(message.parts[1:])


def test_a_shortened_text_in_a_prompt_keeps_the_image_beside_it():
    edited = with_block("image", 2, text="cut")
    assert list(edited.parts[0].content) == ["See", IMAGE, "cut"]
    assert len(edited.parts) == 1


def test_a_notice_that_joined_a_message_is_a_part_of_its_own():
    payload = CODEC.payload(MESSAGES["first"])
    notice = {"type": "text", "text": "[gc: 9 tokens left out]"}
    edited = CODEC.edited(MESSAGES["first"], {**payload, "content": [*payload["content"], notice]})
    assert list(edited.parts[:2]) == list(MESSAGES["first"].parts)
    assert edited.parts[2].content == notice["text"]
