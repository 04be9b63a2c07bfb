"""What the formats promise: every block in one part, edits that touch nothing else, replies fit to be sent back."""

import base64
import copy
import itertools
import json
import struct

import anthropic
import httpx2
import openai
import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import Usage as AnthropicUsage
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from gc_core.errors import ConfigError, MessageError
from gc_core.providers import format_named
from gc_core.providers.anthropic.format import AnthropicFormat
from gc_core.providers.images import image_size
from gc_core.providers.openai.format import OpenAIFormat
from gc_core.values.items import Image, ItemKind
from gc_core.values.messages import Role, Usage
from tests.support import messages as made
from tests.support.corpus import native_sessions, openai_sessions, require_corpus

OPENAI = OpenAIFormat()
ANTHROPIC = AnthropicFormat()
FORMATS = {"openai": OPENAI, "anthropic": ANTHROPIC}

openai_messages = made.openai_messages
anthropic_messages = made.anthropic_messages
messages_of_both = st.one_of(
    openai_messages.map(lambda message: (OPENAI, message)), anthropic_messages.map(lambda message: (ANTHROPIC, message))
)


def recorded(path):
    """The messages of a recorded session, with their format."""
    if path.suffix == ".jsonl":
        return OPENAI, [json.loads(line) for line in path.read_text().split("\n") if line]
    return ANTHROPIC, json.loads(path.read_text())["messages"]


RECORDED = [*openai_sessions(), *native_sessions("anthropic")]


def blocks_of(message):
    """Every block of a message as an object, by the place at which a part stands for it."""
    content = message.get("content")
    found = {("content", at): block for at, block in enumerate(content)} if isinstance(content, list) else {}
    found |= {("tool_calls", at): call for at, call in enumerate(message.get("tool_calls") or [])}
    return found


def changed_text(part):
    return '{"stub":"…"}' if part.kind is ItemKind.TOOL_CALL else f"new {part.place}"


def check_edit(form, message, texts):
    """The law of edit, for one choice of places."""
    before, parts = copy.deepcopy(message), form.read(message)
    edited = form.edit(message, texts)
    left = [texts.get(part.place, part.text) for part in parts if texts.get(part.place, "") is not None]
    assert message == before
    assert [part.text for part in form.read(edited)] == left if left else edited is None
    if left:
        check_untouched(message, edited, texts)


def check_untouched(message, edited, texts):
    there = {id(block) for block in blocks_of(edited).values()}
    for place, block in blocks_of(message).items():
        if place not in texts and ("content",) not in texts:
            assert id(block) in there
    gone = (
        {"content", "tool_calls"}
        | {place[0] for place in texts}
        | ({"refusal", "audio", "function_call"} if ("aside",) in texts else set())
    )
    for key in message.keys() - gone:
        assert edited[key] is message[key]


# --- laws over recorded sessions ------------------------------------------------------------------------------------


def test_there_are_recorded_sessions():
    require_corpus()


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_message_is_read_whole(path):
    form, messages = recorded(path)
    for message in messages:
        parts = form.read(message)
        texts = [part.text for part in parts]
        assert spoken_text(message) == [text for text in texts if text]
        assert len({part.place for part in parts}) == len(parts)


def spoken_text(message):
    """All text of a recorded message, found without the formats."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    texts = [text_of(block) for block in blocks]
    calls = [call["function"]["arguments"] for call in message.get("tool_calls", ())]
    return [text for text in [*texts, *calls] if text]


def text_of(block):
    match block["type"]:
        case "text":
            return block["text"]
        case "thinking":
            return block["thinking"]
        case "tool_use":
            return json.dumps(block["input"], ensure_ascii=False, separators=(",", ":"))
    inner = block["content"]
    return inner if isinstance(inner, str) else "\n".join(part["text"] for part in inner)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_message_obeys_the_law_of_edit(path):
    form, messages = recorded(path)
    for message in messages:
        parts = form.read(message)
        assert form.edit(message, {}) is message
        check_edit(form, message, {part.place: changed_text(part) for part in parts})
        check_edit(form, message, {part.place: changed_text(part) for part in parts[::2]})
        check_edit(form, message, {part.place: None for part in parts[1:]})
        check_edit(form, message, {part.place: None for part in parts})


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_message_is_normal_already(path):
    form, messages = recorded(path)
    for message in messages:
        assert form.normalise(message) is message


# --- laws over made messages ----------------------------------------------------------------------------------------


@given(messages_of_both, st.randoms(use_true_random=False))
def test_edit_leaves_the_other_parts_as_they_were(formatted, random):
    form, message = formatted
    parts = form.read(message)
    chosen = {part.place: random.choice([None, changed_text(part)]) for part in parts if random.random() < 0.5}
    check_edit(form, message, chosen)


@given(messages_of_both)
def test_edit_without_changes_is_the_payload_itself(formatted):
    form, message = formatted
    assert form.edit(message, {}) is message


@given(messages_of_both)
def test_every_block_is_in_exactly_one_part(formatted):
    form, message = formatted
    if form.role(message) is Role.TOOL and form is OPENAI:
        assert [part.place for part in form.read(message)] == [("content",)]
        return
    places = [part.place for part in form.read(message)]
    assert [place for place in places if len(place) > 1] == list(blocks_of(message))


@given(messages_of_both)
def test_normalise_loses_nothing_and_needs_no_second_time(formatted):
    form, message = formatted
    normal = form.normalise(message)
    assert sorted(part.text for part in form.read(normal)) == sorted(part.text for part in form.read(message))
    assert form.normalise(normal) is normal


@given(made.anthropic_sessions_strategy())
def test_join_makes_one_message_of_results_that_came_apart(messages):
    for first, second in itertools.pairwise(messages):
        joined = ANTHROPIC.join(first, second)
        if joined is None:
            continue
        kinds = [part.kind for part in ANTHROPIC.read(joined)]
        results = kinds.count(ItemKind.TOOL_RESULT)
        assert set(kinds[:results]) == {ItemKind.TOOL_RESULT}
        assert len(kinds) == len(ANTHROPIC.read(first)) + len(ANTHROPIC.read(second))


@given(messages_of_both)
def test_a_message_survives_json(formatted):
    form, message = formatted
    assert form.read(json.loads(json.dumps(message))) == form.read(message)


# --- reading --------------------------------------------------------------------------------------------------------


def test_openai_says_what_each_part_is():
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    message = {"role": "assistant", "content": "Let me see.", "tool_calls": [call], "reasoning_content": "Hm."}
    thinking, spoken, called = OPENAI.read(message)
    assert (thinking.kind, thinking.text) == (ItemKind.THINKING, "Hm.")
    assert (spoken.kind, spoken.text) == (ItemKind.ASSISTANT_TEXT, "Let me see.")
    assert (called.kind, called.text, called.name, called.call_id) == (
        ItemKind.TOOL_CALL,
        '{"path": "a"}',
        "read",
        "c1",
    )


@pytest.mark.parametrize("content", [None, "", []])
def test_openai_reads_nothing_of_a_message_that_says_nothing(content):
    assert OPENAI.read({"role": "assistant", "content": content}) == ()


@pytest.mark.parametrize("content", ["", []])
def test_anthropic_reads_nothing_of_a_message_that_says_nothing(content):
    assert ANTHROPIC.read({"role": "assistant", "content": content}) == ()


@pytest.mark.parametrize(
    ("content", "text", "images"),
    [
        ("plain", "plain", 0),
        ("", "", 0),
        ([], "", 0),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb", 0),
        ([{"type": "text", "text": "a"}, made.anthropic_attachments.elements[0]], "a", 1),
    ],
    ids=["text", "empty text", "no blocks", "two texts", "text and image"],
)
def test_a_result_is_one_part_whatever_its_content(content, text, images):
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": True}
    (part,) = ANTHROPIC.read({"role": "user", "content": [result]})
    assert (part.text, part.call_id, part.is_error, len(part.images)) == (text, "t1", True, images)
    (part,) = OPENAI.read({"role": "tool", "tool_call_id": "t1", "content": content})
    assert (part.text, part.call_id, len(part.images)) == (text, "t1", images)


def test_a_result_without_content_is_an_empty_part():
    (part,) = ANTHROPIC.read({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]})
    assert (part.kind, part.text) == (ItemKind.TOOL_RESULT, "")


def test_the_signature_of_thinking_is_sealed():
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "abcd"},
        {"type": "redacted_thinking", "data": "abcdefgh"},
    ]
    parts = ANTHROPIC.read({"role": "assistant", "content": blocks})
    assert [(part.kind, part.text, part.sealed_bytes) for part in parts] == [
        (ItemKind.THINKING, "Hm.", 4),
        (ItemKind.THINKING, "", 8),
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": made.PNG}},
        {"type": "document", "source": {"type": "content", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": made.PNG}},
        ]}},
        {"type": "hologram", "source": {"type": "base64", "media_type": "image/png", "data": made.PNG}},
    ],
    ids=lambda block: block["type"],
)  # fmt: skip
def test_an_image_is_known_by_its_size_wherever_it_stands(block):
    (part,) = ANTHROPIC.read({"role": "user", "content": [block]})
    assert part.images == (Image(width=640, height=480),)
    assert made.PNG not in part.text


def test_an_openai_image_keeps_its_detail():
    url = {"url": f"data:image/png;base64,{made.PNG}", "detail": "low"}
    (part,) = OPENAI.read({"role": "user", "content": [{"type": "image_url", "image_url": url}]})
    assert (part.kind, part.text, part.images) == (
        ItemKind.ATTACHMENT,
        "",
        (Image(width=640, height=480, detail="low"),),
    )


def test_an_image_given_by_url_has_no_size():
    block = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    (part,) = OPENAI.read({"role": "user", "content": [block]})
    assert part.images == (Image(),)


def test_a_document_of_text_is_counted_by_its_text_and_one_of_bytes_by_its_size():
    text = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "All of it."}}
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
    read, sealed = ANTHROPIC.read({"role": "user", "content": [text, pdf]})
    assert "All of it." in read.text
    assert "JVBERi0=" not in sealed.text
    assert (read.sealed_bytes, sealed.sealed_bytes) == (0, 8)


def test_what_is_not_understood_is_opaque_and_an_attachment_of_the_user_is_known():
    unknown = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    (part,) = ANTHROPIC.read({"role": "assistant", "content": [unknown]})
    assert (part.kind, part.text) == (
        ItemKind.OPAQUE,
        '{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}}',
    )
    (part,) = ANTHROPIC.read({"role": "user", "content": [{"type": "document", "source": {}}]})
    assert part.kind is ItemKind.ATTACHMENT


def test_a_compaction_block_is_opaque_and_its_seal_is_not_text():
    block = {"type": "compaction", "content": "So far.", "signature": "s" * 9, "encrypted_content": "e" * 5}
    (part,) = ANTHROPIC.read({"role": "user", "content": [block]})
    assert (part.kind, part.sealed_bytes) == (ItemKind.OPAQUE, 14)
    assert "So far." in part.text


def test_a_refusal_is_one_opaque_part():
    (part,) = OPENAI.read({"role": "assistant", "content": None, "refusal": "I will not."})
    assert (part.kind, part.text) == (ItemKind.OPAQUE, '{"refusal":"I will not."}')


@pytest.mark.parametrize(
    ("message", "role"),
    [
        ({"role": "developer", "content": "x"}, Role.SYSTEM),
        ({"role": "system", "content": "x"}, Role.SYSTEM),
        ({"role": "user", "content": "x"}, Role.USER),
        ({"role": "assistant", "content": "x"}, Role.ASSISTANT),
        ({"role": "tool", "tool_call_id": "c", "content": "x"}, Role.TOOL),
    ],
)
def test_openai_roles(message, role):
    assert OPENAI.role(message) is role


def test_a_message_of_results_alone_is_the_tools_and_a_mixed_one_the_users():
    result, text = {"type": "tool_result", "tool_use_id": "t1"}, {"type": "text", "text": "and"}
    assert ANTHROPIC.role({"role": "user", "content": [result, result]}) is Role.TOOL
    assert ANTHROPIC.role({"role": "user", "content": [result, text]}) is Role.USER
    assert ANTHROPIC.role({"role": "user", "content": "x"}) is Role.USER
    assert ANTHROPIC.role({"role": "system", "content": "x"}) is Role.SYSTEM


CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("form", "message", "field"),
    [
        ("openai", "hello", "message"),
        ("openai", {"content": "x"}, "role"),
        ("openai", {"role": "robot", "content": "x"}, "role"),
        ("openai", {"role": ["user"], "content": "x"}, "role"),
        ("openai", {"role": "function", "name": "f", "content": "x"}, "role"),
        ("openai", {"role": "user", "content": 5}, "content"),
        ("openai", {"role": "user"}, "content"),
        ("openai", {"role": "user", "content": None}, "content"),
        ("openai", {"role": "assistant", "content": 0}, "content"),
        ("openai", {"role": "user", "content": ["x"]}, "content[0]"),
        ("openai", {"role": "user", "content": [{"text": "x"}]}, "content[0].type"),
        ("openai", {"role": "user", "content": [{"type": "text"}]}, "content[0].text"),
        ("openai", {"role": "tool", "content": "x"}, "tool_call_id"),
        ("openai", {"role": "tool", "tool_call_id": "c", "content": 5}, "content"),
        ("openai", {"role": "assistant", "tool_calls": "x"}, "tool_calls"),
        ("openai", {"role": "assistant", "tool_calls": ["x"]}, "tool_calls[0]"),
        ("openai", {"role": "assistant", "tool_calls": [CALL, {**CALL, "id": None}]}, "tool_calls[1].id"),
        ("openai", {"role": "assistant", "tool_calls": [{"id": "c"}]}, "tool_calls[0].function"),
        ("openai", {"role": "assistant", "tool_calls": [{**CALL, "function": {}}]}, "tool_calls[0].function.name"),
        ("anthropic", [], "message"),
        ("anthropic", {"role": "tool", "content": "x"}, "role"),
        ("anthropic", {"role": "user"}, "content"),
        ("anthropic", {"role": "assistant", "content": None}, "content"),
        ("anthropic", {"role": "user", "content": [5]}, "content[0]"),
        ("anthropic", {"role": "user", "content": [{"type": 5}]}, "content[0].type"),
        ("anthropic", {"role": "user", "content": [{"type": "text", "text": 5}]}, "content[0].text"),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result"}]}, "content[0].tool_use_id"),
        (
            "anthropic",
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [5]}]},
            "content[0].content[0]",
        ),
        ("anthropic", {"role": "user", "content": [{"type": "tool_use"}]}, "content[0].type"),
        ("anthropic", {"role": "assistant", "content": [{"type": "tool_result"}]}, "content[0].type"),
        ("anthropic", {"role": "assistant", "content": [{"type": "tool_use", "input": {}}]}, "content[0].name"),
        (
            "anthropic",
            {"role": "assistant", "content": [{"type": "tool_use", "input": {}, "name": "n"}]},
            "content[0].id",
        ),
        (
            "anthropic",
            {"role": "assistant", "content": [{"type": "tool_use", "input": "{}", "name": "n", "id": "t"}]},
            "content[0].input",
        ),
    ],
)
def test_an_error_names_the_field(form, message, field):
    with pytest.raises(MessageError) as caught:
        FORMATS[form].read(message)
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")
    assert ", expected " in str(caught.value)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["user", "tool_use"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["role", "content", "type", "id", "name", "input", "tool_calls", "function", "text"]), inner
    ),
))  # fmt: skip
def test_rubbish_is_read_or_refused_and_nothing_else(value):
    for form in FORMATS.values():
        try:
            form.read(value)
            form.role(value)
        except MessageError:
            continue


def test_what_is_not_json_is_refused():
    block = {"type": "tool_use", "id": "t", "name": "n", "input": {"when": object()}}
    with pytest.raises(MessageError, match="not JSON"):
        ANTHROPIC.read({"role": "assistant", "content": [block]})


def test_a_block_nested_too_deeply_is_refused():
    deep = {"type": "hologram"}
    for _ in range(5000):
        deep = {"type": "hologram", "inner": deep}
    with pytest.raises(MessageError, match="deep"):
        ANTHROPIC.read({"role": "user", "content": [deep]})


# --- editing --------------------------------------------------------------------------------------------------------


def test_a_stubbed_result_keeps_its_other_fields():
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "is_error": True,
        "cache_control": {"type": "ephemeral"},
        "content": [{"type": "text", "text": "long"}],
    }
    edited = ANTHROPIC.edit({"role": "user", "content": [result]}, {("content", 0): "short"})
    assert edited == {"role": "user", "content": [{**result, "content": "short"}]}
    tool = {"role": "tool", "tool_call_id": "c1", "name": "read", "content": [{"type": "text", "text": "long"}]}
    assert OPENAI.edit(tool, {("content",): "short"}) == {**tool, "content": "short"}


def test_arguments_are_replaced_in_the_providers_own_shape():
    call = {"type": "tool_use", "id": "t1", "name": "write", "input": {"text": "long"}}
    edited = ANTHROPIC.edit({"role": "assistant", "content": [call]}, {("content", 0): '{"text": "…"}'})
    assert edited["content"] == [{**call, "input": {"text": "…"}}]
    edited = OPENAI.edit({"role": "assistant", "content": None, "tool_calls": [CALL]}, {("tool_calls", 0): '{"a": 1}'})
    assert edited["tool_calls"] == [{**CALL, "function": {"name": "read", "arguments": '{"a": 1}'}}]


@pytest.mark.parametrize("text", ["[1]", "no JSON", ""])
def test_anthropic_arguments_have_to_be_an_object(text):
    call = {"type": "tool_use", "id": "t1", "name": "write", "input": {}}
    with pytest.raises(MessageError, match=r"content\[0\]\.input"):
        ANTHROPIC.edit({"role": "assistant", "content": [call]}, {("content", 0): text})


def test_removing_every_call_removes_the_key():
    message = {"role": "assistant", "content": "Done.", "tool_calls": [CALL]}
    assert OPENAI.edit(message, {("tool_calls", 0): None}) == {"role": "assistant", "content": "Done."}


def test_nothing_left_is_none():
    assert OPENAI.edit({"role": "assistant", "content": None, "tool_calls": [CALL]}, {("tool_calls", 0): None}) is None
    assert OPENAI.edit({"role": "user", "content": "x"}, {("content",): None}) is None
    assert ANTHROPIC.edit({"role": "user", "content": "x"}, {("content",): None}) is None


def test_a_removed_content_is_null_where_calls_remain():
    message = {"role": "assistant", "content": [{"type": "text", "text": "x"}], "tool_calls": [CALL]}
    assert OPENAI.edit(message, {("content", 0): None}) == {**message, "content": None}


def test_an_attachment_becomes_a_text_block_and_keeps_the_callers_mark():
    mark = {"cache_control": {"type": "ephemeral"}}
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}, **mark}
    edited = ANTHROPIC.edit({"role": "user", "content": [image]}, {("content", 0): "[an image]"})
    assert edited["content"] == [{"type": "text", "text": "[an image]", **mark}]


def test_rewritten_thinking_is_refused_because_its_signature_does_not_match():
    block = {"type": "thinking", "thinking": "Hm.", "signature": "abcd"}
    edited = ANTHROPIC.edit({"role": "assistant", "content": [block]}, {("content", 0): "Short."})
    assert edited["content"] == [{"type": "text", "text": "Short."}]


def test_fields_that_nobody_knows_survive_an_edit():
    message = {
        "role": "assistant",
        "name": "ann",
        "content": [{"type": "text", "text": "a", "x": 1}, {"type": "text", "text": "b"}],
        "annotations": [{"type": "url_citation"}],
        "x_trace": {"id": 1},
    }
    edited = OPENAI.edit(message, {("content", 0): "new"})
    assert edited == {**message, "content": [{"type": "text", "text": "new", "x": 1}, {"type": "text", "text": "b"}]}


@pytest.mark.parametrize("form", FORMATS)
def test_a_place_without_a_part_is_refused(form):
    with pytest.raises(MessageError, match="no part at"):
        FORMATS[form].edit({"role": "user", "content": "x"}, {("content", 3): "y"})


def test_openai_arguments_that_came_as_an_object_become_a_string():
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": {"path": "a"}}}
    message = {"role": "assistant", "content": None, "tool_calls": [CALL, call]}
    assert OPENAI.read(message)[1].text == '{"path":"a"}'
    normal = OPENAI.normalise(message)
    assert normal["tool_calls"][1]["function"]["arguments"] == '{"path":"a"}'
    assert normal["tool_calls"][0] is CALL
    assert call["function"]["arguments"] == {"path": "a"}


def test_openai_arguments_that_are_not_json_stay():
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{oops"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert OPENAI.read(message)[0].text == "{oops"
    assert OPENAI.normalise(message) is message


def test_anthropic_puts_results_first():
    text, result = {"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "t1", "content": "y"}
    assert ANTHROPIC.normalise({"role": "user", "content": [text, result]})["content"] == [result, text]


def test_join_is_for_results_only():
    results = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "y"}]}
    text, reply = {"role": "user", "content": "x"}, {"role": "assistant", "content": "x"}
    assert ANTHROPIC.join(results, text) is None
    assert ANTHROPIC.join(text, text) is None
    assert ANTHROPIC.join(reply, results) is None
    joined = ANTHROPIC.join(text, results)
    assert joined == {"role": "user", "content": [*results["content"], {"type": "text", "text": "x"}]}
    assert OPENAI.join(OPENAI.results([("a", "1")])[0], OPENAI.results([("b", "2")])[0]) is None


# --- what the framework writes --------------------------------------------------------------------------------------


def test_results_answer_calls_in_the_providers_shape():
    answers = [("a", "1"), ("b", "2")]
    assert OPENAI.results(answers) == (
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
    )
    (message,) = ANTHROPIC.results(answers)
    assert message == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "tool_result", "tool_use_id": "b", "content": "2"},
        ],
    }
    assert ANTHROPIC.results([]) == ()
    assert OPENAI.results([]) == ()


@pytest.mark.parametrize("form", FORMATS)
def test_user_writes_a_user_message(form):
    (part,) = FORMATS[form].read(FORMATS[form].user("hello"))
    assert (part.kind, part.text) == (ItemKind.USER_TEXT, "hello")


def test_the_system_text_leads_in_openai_and_stands_apart_in_anthropic():
    user = {"role": "user", "content": "x"}
    request = OPENAI.request(system=["one", "", "two"], tools=[], messages=[user], tokens=7)
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert request.messages == ({"role": "system", "content": blocks}, user)
    request_of_one = OPENAI.request(system=["one"], tools=[], messages=[user], tokens=7)
    assert request_of_one.messages == ({"role": "system", "content": "one"}, user)
    assert (request.system, request.tokens, request.format) == ((), 7, "openai")
    request = ANTHROPIC.request(system=["one", "", "two"], tools=[{"name": "t"}], messages=[user], tokens=7)
    assert request.system == ({"type": "text", "text": "one"}, {"type": "text", "text": "two"})
    assert (request.messages, request.tools, request.format) == ((user,), ({"name": "t"},), "anthropic")
    assert OPENAI.request(system=[""], tools=[], messages=[user], tokens=7).messages == (user,)


def test_schema_names():
    assert OPENAI.schema_name({"type": "function", "function": {"name": "read"}}) == "read"
    assert OPENAI.schema_name({"type": "custom", "custom": {"name": "patch"}}) == "patch"
    assert ANTHROPIC.schema_name({"name": "read", "input_schema": {}}) == "read"
    assert ANTHROPIC.schema_name({"type": "browser_toolset_20260801"}) == "browser_toolset_20260801"
    assert ANTHROPIC.schema_name({"type": "mcp_toolset", "mcp_server_name": "files"}) == "files"


@pytest.mark.parametrize(
    ("form", "schema"), [("openai", {"name": "x"}), ("openai", {}), ("anthropic", {}), ("anthropic", 5)]
)
def test_a_schema_without_a_name_is_refused(form, schema):
    with pytest.raises(MessageError, match="tool"):
        FORMATS[form].schema_name(schema)


def test_only_anthropic_starts_with_a_user():
    assert (ANTHROPIC.needs_user_first, OPENAI.needs_user_first) == (True, False)


def test_formats_are_found_by_name():
    assert isinstance(format_named("openai"), OpenAIFormat)
    assert isinstance(format_named("anthropic"), AnthropicFormat)
    known = r"\['anthropic', 'gemini', 'openai', 'responses'\]"
    with pytest.raises(ConfigError, match=rf"unknown format 'cohere'; known: {known}"):
        format_named("cohere")


# --- replies --------------------------------------------------------------------------------------------------------

COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "logprobs": None,
            "message": {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "annotations": [],
                "audio": None,
                "function_call": None,
                "tool_calls": [CALL],
                "reasoning_content": "Hm.",
            },
        }
    ],
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
    },
}
SENT_BACK = {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "Hm."}


@pytest.mark.parametrize(
    "reply",
    [
        ChatCompletion.model_validate(COMPLETION),
        ChatCompletion.construct(**COMPLETION),
        ChatCompletion.model_validate(COMPLETION).choices[0].message,
        COMPLETION,
        COMPLETION["choices"][0]["message"],
        SENT_BACK,
    ],
    ids=["ChatCompletion", "constructed", "its message", "dict", "dict of the message", "message"],
)
def test_an_openai_reply_is_fit_to_be_sent_back(reply):
    assert OPENAI.reply(reply) == SENT_BACK


def test_a_spoken_openai_reply_is_only_its_text():
    message = (
        ChatCompletion.model_validate(COMPLETION)
        .choices[0]
        .message.model_copy(update={"content": "Done.", "tool_calls": None})
    )
    assert OPENAI.reply(message) == {"role": "assistant", "content": "Done.", "reasoning_content": "Hm."}


def test_an_audio_reply_is_sent_back_by_its_id():
    audio = {"id": "a1", "data": "AAAA", "expires_at": 1, "transcript": "Hello."}
    assert OPENAI.reply({"role": "assistant", "content": None, "audio": audio})["audio"] == {"id": "a1"}


ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "content": [
        {"type": "thinking", "thinking": "", "signature": "abcd"},
        {"type": "redacted_thinking", "data": "abcd"},
        {"type": "text", "text": "I see.", "citations": None},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a", "limit": None}, "caller": None},
    ],
    "usage": {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 70,
        "cache_creation_input_tokens": 20,
    },
}
ANSWERED = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "", "signature": "abcd"},
        {"type": "redacted_thinking", "data": "abcd"},
        {"type": "text", "text": "I see."},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a", "limit": None}},
    ],
}


@pytest.mark.parametrize(
    "reply",
    [
        AnthropicMessage.model_validate(ANSWER),
        AnthropicMessage.construct(**ANSWER),
        ANSWER,
        ANSWERED,
        {"role": "assistant", "content": AnthropicMessage.model_validate(ANSWER).content},
    ],
    ids=["Message", "constructed", "dict", "message", "message of SDK blocks"],
)
def test_an_anthropic_reply_is_fit_to_be_sent_back(reply):
    assert ANTHROPIC.reply(reply) == ANSWERED


def test_a_compaction_block_comes_back_verbatim():
    block = {"type": "compaction", "content": None, "signature": None}
    assert ANTHROPIC.reply({"content": [block]}) == {"role": "assistant", "content": [block]}


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        ("openai", {"choices": []}),
        ("openai", {"choices": [{}]}),
        ("openai", {"role": "user", "content": "x"}),
        ("openai", {}),
        ("openai", "text"),
        ("openai", None),
        ("anthropic", {"role": "user", "content": "x"}),
        ("anthropic", {"role": "assistant"}),
        ("anthropic", object()),
    ],
)
def test_something_that_is_not_a_reply_is_refused(form, reply):
    with pytest.raises(MessageError):
        FORMATS[form].reply(reply)


@given(messages_of_both)
def test_a_message_of_the_session_can_be_passed_as_a_reply(formatted):
    form, message = formatted
    if message["role"] == "assistant":
        assert [part.text for part in form.read(form.reply(message))] == [part.text for part in form.read(message)]


@pytest.mark.parametrize(
    "usage", [COMPLETION["usage"], ChatCompletion.model_validate(COMPLETION).usage], ids=["dict", "SDK"]
)
def test_openai_usage_includes_the_cache(usage):
    expected = Usage(input_tokens=100, output_tokens=20, cache_read_tokens=60, cache_write_tokens=10)
    assert OPENAI.usage(usage) == expected


@pytest.mark.parametrize(
    "usage", [ANSWER["usage"], AnthropicUsage.model_validate(ANSWER["usage"])], ids=["dict", "SDK"]
)
def test_anthropic_usage_is_made_to_include_the_cache(usage):
    expected = Usage(input_tokens=100, output_tokens=5, cache_read_tokens=70, cache_write_tokens=20)
    assert ANTHROPIC.usage(usage) == expected


def test_an_anthropic_delta_may_name_output_tokens_alone():
    expected = Usage(input_tokens=0, output_tokens=15, cache_reported=False)
    assert ANTHROPIC.usage({"output_tokens": 15}) == expected
    assert ANTHROPIC.usage({"input_tokens": None, "output_tokens": 15}) == expected


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "5"}, {"input_tokens": -1}, {"input_tokens": True}])
def test_a_usage_without_counts_is_refused(usage):
    for form in FORMATS.values():
        with pytest.raises(MessageError, match="usage"):
            form.usage(usage)


# --- refusals -------------------------------------------------------------------------------------------------------


def openai_error(message, code="context_length_exceeded", status=400, kind=openai.BadRequestError):
    body = {"message": message, "type": "invalid_request_error", "param": "messages", "code": code}
    response = httpx2.Response(status, request=httpx2.Request("POST", "https://api.example.org"))
    return kind(f"Error code: {status} - {{'error': {body}}}", response=response, body=body)


def anthropic_error(message, status=400, kind=anthropic.BadRequestError):
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    response = httpx2.Response(status, request=httpx2.Request("POST", "https://api.example.org"))
    return kind(f"Error code: {status} - {body}", response=response, body=body)


REFUSALS = {
    openai_error(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. "
        "Please reduce the length of the messages."
    ): (130_000, 128_000),
    openai_error(
        "Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 312,345 tokens."
    ): (312_345, 272_000),
    openai_error(
        "This model's maximum context length is 4097 tokens. However, you requested 4203 tokens (3703 in the messages, "
        "500 in the completion). Please reduce the length of the messages or completion."
    ): (3_703, 3_597),
    openai_error("Your input exceeds the context window of this model. Please adjust your input and try again."): (
        None,
        None,
    ),
    anthropic_error("prompt is too long: 210000 tokens > 200000 maximum"): (210_000, 200_000),
    anthropic_error(
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or "
        "`max_tokens` and try again"
    ): (190_000, 180_000),
    RuntimeError("This model's maximum prompt length is 131072 but the request contains 537812 tokens."): (
        537_812,
        131_072,
    ),
    ValueError("request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"): (
        5_000,
        4_096,
    ),
    RuntimeError("This model's maximum context length is 8192 tokens"): (None, 8_192),
    RuntimeError(
        '400 {"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to '
        'load the model with a larger context length, or provide a shorter input"}'
    ): (None, None),
    RuntimeError(
        "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context "
        "length of only 7866 tokens, which is not enough."
    ): (10_136, 7_866),
    RuntimeError(
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 3996 `inputs` tokens and "
        "512 `max_new_tokens`"
    ): (3_996, 3_585),
    RuntimeError("Input validation error: `inputs` must have less than 1024 tokens. Given: 2105"): (2_105, 1_024),
    RuntimeError(r"`inputs` tokens + `max_new_tokens` must be \u003c= 4097. Given: 5000 `inputs` tokens"): (
        5_000,
        4_097,
    ),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("error", "sizes"), REFUSALS.items(), ids=str)
def test_a_refused_size_is_found_in_the_error(form, error, sizes):
    assert FORMATS[form].refused_size(error) == sizes


@pytest.mark.parametrize(
    "error",
    [
        openai_error(
            "Request too large on tokens per min (TPM): Limit 30000, Requested 45000.",
            "rate_limit_exceeded",
            429,
            openai.RateLimitError,
        ),
        openai_error("Invalid value: 'robot'.", "invalid_value"),
        anthropic_error("messages: roles must alternate"),
        RuntimeError(
            '413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}'
        ),
        anthropic_error("Number of request tokens has exceeded your limit", 429, anthropic.RateLimitError),
        openai.APIConnectionError(request=httpx2.Request("POST", "https://api.example.org")),
        KeyError("tokens"),
    ],
    ids=str,
)
def test_another_error_is_not_a_refused_size(error):
    for form in FORMATS.values():
        assert form.refused_size(error) is None


# --- image sizes ----------------------------------------------------------------------------------------------------


def jpeg(width, height):
    exif = b"\xff\xe1" + struct.pack(">H", 2 + 70_000 % 60_000) + b"\x00" * (70_000 % 60_000)
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3)
    return b"\xff\xd8" + exif + b"\xff" + frame + b"\x00" * 9


def webp(chunk, rest):
    return b"RIFF\x00\x00\x00\x00WEBP" + chunk + b"\x00\x00\x00\x00" + rest


IMAGES = {
    "png": b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 800, 600),
    "gif": b"GIF89a" + struct.pack("<HH", 800, 600),
    "jpeg": jpeg(800, 600),
    "webp lossy": webp(b"VP8 ", b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", 800, 600)),
    "webp lossless": webp(b"VP8L", b"\x2f" + struct.pack("<I", 799 | 599 << 14)),
    "webp extended": webp(b"VP8X", b"\x00" * 4 + (799).to_bytes(3, "little") + (599).to_bytes(3, "little")),
}


@pytest.mark.parametrize("data", IMAGES.values(), ids=IMAGES)
def test_the_size_is_in_the_header(data):
    assert image_size(base64.b64encode(data).decode()) == (800, 600)
    assert image_size(base64.encodebytes(data).decode()) == (800, 600)
    assert image_size(base64.urlsafe_b64encode(data).decode()) == (800, 600)


@pytest.mark.parametrize("data", IMAGES.values(), ids=IMAGES)
@given(length=st.integers(0, 40))
def test_a_cut_image_has_no_size_and_no_error(data, length):
    assert image_size(base64.b64encode(data[:length]).decode()) in {(0, 0), (800, 600)}


@given(
    st.text(max_size=200) | st.binary(max_size=200).map(lambda data: base64.b64encode(b"\xff\xd8\xff" + data).decode())
)
def test_no_data_is_an_error(data):
    assert len(image_size(data)) == 2


@pytest.mark.parametrize("kind", ["tool_use", "tool_result"])
def test_blocks_of_the_other_vendor_are_refused_with_the_format_that_takes_them(kind):
    with pytest.raises(MessageError, match='use format="anthropic"'):
        format_named("openai").read({"role": "user", "content": [{"type": kind, "id": "c1"}]})
