"""
Hypothesis strategies for sessions of Responses items, and a converter that makes such sessions of recorded ones.

A session is a list of payloads: replies as wholes, or (``pieces``) item by item, as a host appends ``response.output``.
"""

import base64
import hashlib
import json

from hypothesis import strategies as st

from tests.support.messages import (
    PNG,
    TOOLS,
    _lists,
    _some,
    _with_unknown,
    argument_texts,
    call_ids,
    json_objects,
    texts,
    unknown_fields,
)

MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}

input_texts = _with_unknown(texts.map(lambda text: {"type": "input_text", "text": text}))
marked_texts = input_texts.map(lambda block: {**block, **MARK})
attachments = st.sampled_from(
    [
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"},
        {"type": "input_image", "file_id": "file-1", "detail": "auto"},
        {"type": "input_file", "file_id": "file-2"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
    ]
)
unknown_blocks = _with_unknown(json_objects.map(lambda value: {"type": "hologram", "payload": value}))
user_messages = st.builds(
    lambda content, extra: {**extra, "role": "user", "content": content},
    texts | _lists(input_texts | marked_texts | attachments | unknown_blocks),
    unknown_fields | st.just({"type": "message"}),
)
system_messages = st.builds(
    lambda role, content: {"type": "message", "role": role, "content": content},
    st.sampled_from(["system", "developer"]),
    texts | _lists(input_texts),
)


def item_ids(prefix):
    """Ids that never repeat, as the provider's never do."""
    return st.uuids().map(lambda id_: f"{prefix}_{id_.hex[:12]}")


seals = st.binary(min_size=1, max_size=60).map(lambda data: base64.b64encode(data).decode())
reasoning_items = st.builds(
    lambda id_, said, seal, extra: {
        **extra,
        "type": "reasoning",
        "id": id_,
        "summary": [{"type": "summary_text", "text": text} for text in said],
        **({"encrypted_content": seal} if seal else {}),
    },
    item_ids("rs"),
    st.lists(texts, max_size=2),
    st.none() | seals,
    unknown_fields,
)
spoken_blocks = _with_unknown(
    texts.map(lambda text: {"type": "output_text", "text": text, "annotations": []})
    | texts.map(lambda text: {"type": "refusal", "refusal": text})
)
spoken_items = st.builds(
    lambda id_, content, phase: {"type": "message", "role": "assistant", "content": content, **id_, **phase},
    st.just({}) | item_ids("msg").map(lambda id_: {"id": id_}),
    _lists(spoken_blocks, 2),
    st.sampled_from([{}, {"phase": "commentary"}]),
)
# What the provider runs itself, and what nobody knows.
server_items = _with_unknown(
    st.builds(
        lambda kind, id_, value: {"type": kind, "id": id_, "status": "completed", "payload": value},
        st.sampled_from(["web_search_call", "code_interpreter_call", "mcp_list_tools", "hologram"]),
        item_ids("ws"),
        json_objects,
    )
)
_OTHER_CALLS = {
    "local_shell_call": {"action": {"type": "exec", "command": ["ls", "-l"], "env": {}}, "status": "completed"},
    "shell_call": {"action": {"commands": ["make test"]}},
    "apply_patch_call": {
        "operation": {"type": "update_file", "path": "a.py", "diff": "+1"},
        "status": "completed",
    },
    "computer_call": {"action": {"type": "screenshot"}, "pending_safety_checks": [], "status": "completed"},
    "hologram_call": {"arguments": {"deep": True}},
}
call_items = st.builds(
    lambda shape, call_id, id_: {**shape, "call_id": call_id, **id_},
    _with_unknown(
        st.builds(
            lambda name, arguments: {"type": "function_call", "name": name, "arguments": arguments},
            st.sampled_from(TOOLS),
            argument_texts,
        )
        | texts.map(lambda text: {"type": "custom_tool_call", "name": "patch", "input": text})
        | st.sampled_from(sorted(_OTHER_CALLS)).map(lambda kind: {"type": kind, **_OTHER_CALLS[kind]})
    ),
    call_ids,
    item_ids("fc").map(lambda id_: {"id": id_}),
) | item_ids("mcpr").map(
    lambda id_: {
        "type": "mcp_approval_request",
        "id": id_,
        "arguments": "{}",
        "name": "delete",
        "server_label": "files",
    }
)
results_contents = st.just("") | texts | _lists(input_texts | marked_texts | attachments, 2)


@st.composite
def outputs_of(draw, call):
    """What a host answers to a call."""
    extra = draw(unknown_fields)
    kind, text = call["type"], draw(texts)
    if kind == "mcp_approval_request":
        answer = {"type": "mcp_approval_response", "approval_request_id": call["id"], "approve": True, "reason": text}
        return {**extra, **answer}
    answer = {**extra, "type": f"{kind}_output", "call_id": call["call_id"]}
    if kind == "shell_call":
        chunk = {"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
        return {**answer, "output": [chunk]}
    if kind == "apply_patch_call":
        return {**answer, "status": draw(st.sampled_from(["completed", "failed"])), "output": text}
    if kind == "computer_call":
        shown = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
        return {**answer, "output": shown}
    if kind == "local_shell_call" and draw(st.booleans()):
        del answer["call_id"]
        answer["id"] = call["call_id"]
    return {**answer, "output": text if kind == "local_shell_call" else draw(results_contents)}


@st.composite
def replies(draw, *, max_groups=2, max_calls=3, settled=True):
    """All output items of one model call; what reasoning led to has an id, as the API gives it."""
    output = []
    for _ in range(draw(st.integers(1, max_groups))):
        said = draw(st.lists(reasoning_items, max_size=2))
        followers = draw(_lists(spoken_items | server_items, 2) | _lists(call_items, max_calls))
        output += said + followers
    if settled and draw(st.integers(0, 9)) == 0:
        call = {"type": "shell_call", "id": "sh_1", "call_id": "call_server", **_OTHER_CALLS["shell_call"]}
        output += [call, draw(outputs_of(call))]
    return {"role": "assistant", "output": output}


def calls_in(reply):
    """The calls of a reply that wait for the host."""
    answered = {item.get("call_id") for item in reply["output"] if item["type"].endswith("_output")}
    return [
        item
        for item in reply["output"]
        if (item["type"].endswith("_call") and "call_id" in item and item["call_id"] not in answered)
        or item["type"] == "mcp_approval_request"
    ]


@st.composite
def responses_sessions_strategy(draw, *, max_turns=3, max_steps=3, pending=True, dead=True, pieces=True, settled=False):
    """
    A session of Responses payloads.

    ``pending`` and ``dead`` as for Chat Completions; ``pieces`` lets replies come item by item; ``settled`` lets the
    provider run a shell of its own.
    """
    payloads = draw(st.lists(system_messages, max_size=1))
    for turn in range(draw(st.integers(1, max_turns))):
        payloads += draw(_lists(user_messages, 2))
        for step in range(draw(st.integers(0, max_steps))):
            payloads += _step(draw, lack=dead and step == max_steps - 1 and turn < max_turns - 1, pieces=pieces,
                              settled=settled)  # fmt: skip
    if pending and draw(st.booleans()):
        payloads += _step(draw, lack=True, pieces=pieces, settled=settled)
    return payloads


def _step(draw, *, lack, pieces, settled):
    reply = draw(replies(settled=settled))
    answers = [draw(outputs_of(call)) for call in calls_in(reply)]
    said = reply["output"] if pieces and draw(st.booleans()) else [reply]
    return [*said, *_some(draw, answers, lack=lack)]


made_payloads = (
    user_messages
    | system_messages
    | replies()
    | reasoning_items
    | spoken_items
    | server_items
    | call_items
    | call_items.flatmap(outputs_of)
    | seals.map(lambda seal: {"type": "compaction", "id": "cmp_1", "encrypted_content": seal})
)

# --- recorded sessions ------------------------------------------------------------------------------------------------


def as_responses(messages, *, seal_bytes=400):
    """
    Recorded Chat Completions messages as Responses payloads: before each reply that calls, reasoning is made up.

    What is made up is a function of its place, so that two conversions are equal.
    """
    payloads = []
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            payloads.append({"role": "assistant", "output": list(_output(message, place, seal_bytes))})
        elif message["role"] == "tool":
            call_id, content = message["tool_call_id"], _input_blocks(message["content"])
            payloads.append({"type": "function_call_output", "call_id": call_id, "output": content})
        else:
            payloads.append({"role": message["role"], "content": _input_blocks(message["content"])})
    return [payload for payload in payloads if payload.get("output", True)]


def _output(message, place, seal_bytes):
    calls = message.get("tool_calls") or []
    thought = f"I look at step {place}."
    if calls:
        yield {
            "type": "reasoning",
            "id": f"rs_{place}",
            "summary": [{"type": "summary_text", "text": thought}],
            "encrypted_content": _seal(place, seal_bytes),
        }
    content = message.get("content") or ""
    said = content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)
    if said.strip():
        block = {"type": "output_text", "text": said, "annotations": []}
        yield {"type": "message", "id": f"msg_{place}", "role": "assistant", "content": [block]}
    for at, call in enumerate(calls):
        yield {"type": "function_call", "id": f"fc_{place}_{at}", "call_id": call["id"], **call["function"]}


def _seal(place, size):
    data = b"".join(hashlib.blake2b(f"{place} {part}".encode()).digest() for part in range(size // 64 + 1))
    return base64.b64encode(data[:size]).decode()


def _input_blocks(content):
    if not isinstance(content, list):
        return content or ""
    return [{"type": "input_text", "text": block.get("text") or json.dumps(block)} for block in content]


def function_schema(name):
    """A tool schema."""
    parameters = {"type": "object", "properties": {"where": {"type": "string"}}}
    return {"type": "function", "name": name, "description": f"To {name}.", "parameters": parameters}


def required_reasoning(payloads):
    """
    Which reasoning the provider put before each item that it gave an id, by item id: what it asks for again.

    A reply that is whole has its own reasoning alone.
    """
    required, run, in_run = {}, (), False
    for item, opens in _opened(payloads):
        run = () if opens else run
        if item.get("type") == "reasoning":
            run, in_run = (*(run if in_run else ()), item["id"]), True
            continue
        in_run = False
        if run and "id" in item and item["type"] != "mcp_approval_request":
            required[item["id"]] = run
    return required


def _opened(payloads):
    """Every item, with whether it has nothing to do with those before it."""
    after_reply = False
    for payload in payloads:
        whole = "output" in payload and "type" not in payload
        kind = str(payload.get("type"))
        others = payload.get("role") in {"user", "system", "developer"} or kind.endswith(("_output", "_response"))
        for place, item in enumerate(payload["output"] if whole else [payload]):
            yield item, (whole and place == 0) or others or after_reply
            after_reply = False
        after_reply = whole
