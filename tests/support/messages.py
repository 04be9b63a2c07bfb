"""
Hypothesis strategies for sessions of both formats, in every shape that real agents send.

A session is a list of payloads that its provider would take (but for the open calls at its end and dead ones before a
user message, where the strategy is asked for them): parallel calls, call ids that repeat within and across batches,
thinking, images, unknown blocks and fields.
"""

import base64
import json
import struct

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# Whole sessions take a while to make on a busy machine, which says nothing about the code under test.
settings.register_profile("sessions", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sessions")

CALL_IDS = ("call_1", "call_2", "call_3", "call_4")
TOOLS = ("read", "grep", "web_search", "édit")

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480)).decode()

texts = st.text(min_size=1, max_size=40).filter(str.strip)
json_objects = st.dictionaries(
    st.text(max_size=8),
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.lists(st.integers()),
    max_size=3,
)
argument_texts = json_objects.map(json.dumps)
# Fields that no reader knows have names that none will ever have.
unknown_fields = st.dictionaries(st.sampled_from(["x_trace", "x_meta"]), json_objects, max_size=1)
call_ids = st.sampled_from(CALL_IDS)


def _lists(blocks, max_size=3):
    return st.lists(blocks, min_size=1, max_size=max_size)


def _id_of(call):
    """Calls of one reply have different ids; calls that share one have separate tests."""
    return call["id"]


def _with_unknown(shapes):
    return st.builds(lambda shape, extra: {**extra, **shape}, shapes, unknown_fields)


unknown_blocks = _with_unknown(
    st.builds(
        lambda kind, value: {"type": kind, "payload": value},
        st.sampled_from(["hologram", "server_tool_use", "web_search_tool_result", "fallback"]),
        json_objects,
    )
)
text_blocks = _with_unknown(texts.map(lambda text: {"type": "text", "text": text}))
marked_text_blocks = text_blocks.map(lambda block: {**block, "cache_control": {"type": "ephemeral"}})

# --- OpenAI ---------------------------------------------------------------------------------------------------------

openai_images = st.sampled_from(
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "high"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]
)
openai_user_messages = _with_unknown(
    (texts | _lists(text_blocks | openai_images | unknown_blocks)).map(lambda c: {"role": "user", "content": c})
)
openai_system_messages = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["system", "developer"]),
    texts | _lists(text_blocks),
)
openai_result_contents = st.just("") | texts | st.lists(text_blocks | openai_images, min_size=1, max_size=2)
openai_calls = _with_unknown(
    st.builds(
        lambda call_id, name, arguments: {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        },
        call_ids,
        st.sampled_from(TOOLS),
        argument_texts,
    )
    | st.builds(
        lambda call_id, text: {"id": call_id, "type": "custom", "custom": {"name": "patch", "input": text}},
        call_ids,
        texts,
    )
)


@st.composite
def openai_replies(draw, calls=openai_calls, *, max_calls=3):
    """An assistant message: text, calls, thinking, and what goes with them."""
    batch = draw(st.lists(calls, max_size=max_calls, unique_by=_id_of))
    spoken = texts | _lists(text_blocks | unknown_blocks)
    content = draw(spoken | st.sampled_from([None, ""]) if batch else spoken)
    message = {**draw(unknown_fields), "role": "assistant", "content": content}
    if batch:
        message["tool_calls"] = batch
        if content is None and draw(st.booleans()):
            del message["content"]
    aside = {"reasoning_content": draw(texts), "refusal": draw(st.none() | texts), "audio": None, "annotations": []}
    return {**message, **{key: aside[key] for key in draw(st.sets(st.sampled_from(sorted(aside))))}}


def _openai_answers(draw, calls):
    return [
        {**draw(unknown_fields), "role": "tool", "tool_call_id": call["id"], "content": draw(openai_result_contents)}
        for call in calls
    ]


@st.composite
def openai_sessions_strategy(draw, *, max_turns=3, max_steps=3, pending=True, dead=True):
    """
    A session of Chat Completions messages.

    ``pending`` lets the last batch wait for some of its results; ``dead`` lets a batch inside lack some for good.
    """
    messages = draw(st.lists(openai_system_messages, max_size=1))
    for turn in range(draw(st.integers(1, max_turns))):
        messages += draw(_lists(openai_user_messages, 2))
        for step in range(draw(st.integers(0, max_steps))):
            reply = draw(openai_replies())
            answers = _openai_answers(draw, reply.get("tool_calls") or ())
            messages += [reply, *_some(draw, answers, lack=dead and step == max_steps - 1 and turn < max_turns - 1)]
    if pending and draw(st.booleans()):
        reply = draw(openai_replies())
        messages += [reply, *_some(draw, _openai_answers(draw, reply.get("tool_calls") or ()), lack=True)]
    return messages


def _some(draw, answers, *, lack):
    if not lack or not draw(st.booleans()):
        return answers
    return answers[: draw(st.integers(0, len(answers)))]


openai_tool_messages = _with_unknown(
    st.builds(
        lambda call_id, content: {"role": "tool", "tool_call_id": call_id, "content": content},
        call_ids,
        openai_result_contents,
    )
)
openai_messages = openai_system_messages | openai_user_messages | openai_replies() | openai_tool_messages

# --- Anthropic ------------------------------------------------------------------------------------------------------

anthropic_attachments = st.sampled_from(
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "A plain text."}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
    ]
)
anthropic_thinking = st.builds(
    lambda text, seal: {"type": "thinking", "thinking": text, "signature": seal}, st.text(max_size=20), texts
) | texts.map(lambda data: {"type": "redacted_thinking", "data": data})
anthropic_user_blocks = text_blocks | marked_text_blocks | anthropic_attachments | unknown_blocks
anthropic_user_messages = (texts | _lists(anthropic_user_blocks)).map(lambda c: {"role": "user", "content": c})
anthropic_calls = _with_unknown(
    st.builds(
        lambda call_id, name, arguments: {"type": "tool_use", "id": call_id, "name": name, "input": arguments},
        call_ids,
        st.sampled_from(TOOLS),
        json_objects,
    )
)
anthropic_result_contents = openai_result_contents.map(
    lambda content: content if isinstance(content, str) else [block for block in content if block["type"] == "text"]
) | _lists(text_blocks | anthropic_attachments, 2)


@st.composite
def anthropic_replies(draw, *, max_calls=3):
    """An assistant message: thinking, then text, unknown blocks and calls; sometimes a mere string."""
    if draw(st.integers(0, 9)) == 0:
        return {"role": "assistant", "content": draw(texts)}
    blocks = draw(st.lists(anthropic_thinking, max_size=2))
    blocks += draw(_lists(text_blocks | unknown_blocks, 2))
    calls = draw(st.lists(anthropic_calls, max_size=max_calls, unique_by=_id_of))
    return {"role": "assistant", "content": blocks + calls}


def calls_of(message):
    """The tool_use blocks of an Anthropic message."""
    content = message["content"]
    return [block for block in content if block["type"] == "tool_use"] if isinstance(content, list) else []


def _anthropic_answers(draw, calls):
    return [
        {
            **draw(unknown_fields),
            **draw(
                st.sampled_from([{}, {"is_error": True}, {"is_error": False}, {"cache_control": {"type": "ephemeral"}}])
            ),
            "type": "tool_result",
            "tool_use_id": call["id"],
            **draw(st.just({}) | anthropic_result_contents.map(lambda content: {"content": content})),
        }
        for call in calls
    ]


def _result_messages(draw, answers, *, split):
    """The results in one user message, or (split) in several, the last sometimes with text after them."""
    if not answers:
        return []
    cut = draw(st.integers(1, len(answers))) if split else len(answers)
    messages = [{"role": "user", "content": group} for group in (answers[:cut], answers[cut:]) if group]
    messages[-1]["content"] = messages[-1]["content"] + draw(st.lists(anthropic_user_blocks, max_size=1))
    return messages


@st.composite
def anthropic_sessions_strategy(draw, *, max_turns=3, max_steps=3, pending=True, dead=True, split=True):
    """
    A session of Anthropic messages.

    ``pending`` and ``dead`` as for OpenAI; ``split`` lets the results of a batch come in several user messages.
    """
    messages = []
    for turn in range(draw(st.integers(1, max_turns))):
        messages += draw(_lists(anthropic_user_messages, 2))
        for step in range(draw(st.integers(0, max_steps))):
            reply = draw(anthropic_replies())
            answers = _anthropic_answers(draw, calls_of(reply))
            lacking = _some(draw, answers, lack=dead and step == max_steps - 1 and turn < max_turns - 1)
            messages += [reply, *_result_messages(draw, lacking, split=split)]
    if pending and draw(st.booleans()):
        reply = draw(anthropic_replies())
        answers = _some(draw, _anthropic_answers(draw, calls_of(reply)), lack=True)
        messages += [reply, *_result_messages(draw, answers, split=split)]
    return messages


@st.composite
def anthropic_result_messages(draw):
    """A user message that holds results, in any order with other blocks."""
    answers = _anthropic_answers(draw, draw(_lists(anthropic_calls)))
    return {
        "role": "user",
        "content": draw(st.permutations(answers + draw(st.lists(anthropic_user_blocks, max_size=2)))),
    }


anthropic_messages = anthropic_user_messages | anthropic_replies() | anthropic_result_messages()
