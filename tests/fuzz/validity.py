"""
What the providers would say of a request: a walk over its JSON, written from their documented rules alone.

The letters in the complaints (A, C, N, R, G) are those of the rules as gc-core's documents number them. Nothing of
gc-core is imported here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from tests.fuzz.plain import JSON, canonical, deep, parsed

Complaints = Iterator[str]

SEALED_THINKING = ("thinking", "redacted_thinking")
MOST_MARKS = 4


def complaints(provider: str, request: JSON) -> list[str]:
    """Everything that the provider would refuse, in words without indices, so that equal faults read alike."""
    found = list(can_be_sent(request))
    found += PROVIDERS[provider](request)
    return list(dict.fromkeys(found))


def can_be_sent(request: JSON) -> Complaints:
    """A client writes it as strict JSON in UTF-8."""
    text = canonical(request)
    if "NaN" in text or "Infinity" in text:
        try:
            parsed(text)
        except ValueError:
            yield "JSON: NaN or Infinity"
    if "\\ud8" in text or "\\udc" in text:
        try:
            canonical_utf8(request)
        except UnicodeEncodeError:
            yield "JSON: a lone surrogate cannot be written as UTF-8"


def canonical_utf8(request: JSON) -> bytes:
    with deep():
        return json.dumps(request, ensure_ascii=False, default=str).encode()


def is_object(text: Any) -> bool:
    """Whether a string tells a JSON object."""
    try:
        return isinstance(text, str) and isinstance(parsed(text), dict)
    except ValueError:
        return False


# -- Chat Completions


@attrs.define
class ChatReader:
    """Which calls of the last reply still wait."""

    waiting: list[str] = attrs.Factory(list)
    answered: list[str] = attrs.Factory(list)

    def read(self, request: JSON) -> Complaints:
        for message in request["messages"]:
            role = message.get("role")
            if role != "tool":
                yield from self.end_batch()
            reader = {"assistant": self.read_reply, "tool": self.read_result}.get(role, self.read_text)
            yield from reader(message)
        yield from self.end_batch()
        names = [tool["function"]["name"] for tool in request.get("tools") or []]
        if len(set(names)) < len(names):
            yield "tools: a name twice"

    def end_batch(self) -> Complaints:
        if self.waiting:
            yield "C1: a call without its result directly behind it"
        self.waiting, self.answered = [], []

    def read_text(self, message: JSON) -> Complaints:
        role = message.get("role")
        if role not in ("system", "developer", "user"):
            yield f"C: unknown role {role!r}"
        yield from needs_text(message.get("content"), f"A4: {role} message")

    def read_reply(self, message: JSON) -> Complaints:
        calls = message.get("tool_calls")
        if calls is not None and not calls:
            yield "C2: tool_calls is an empty list"
        if not calls and not message.get("refusal") and not message.get("audio"):
            yield from needs_text(message.get("content"), "C2: assistant message without calls")
        elif message.get("content") not in (None, ""):
            yield from needs_text(message["content"], "A4: assistant message with calls")
        for call in calls or []:
            yield from self.read_call(call)

    def read_call(self, call: JSON) -> Complaints:
        if not call.get("id"):
            yield "C1: a call without an id"
        if call.get("id") in self.waiting:
            yield "A1: the same call id twice in a reply"
        self.waiting.append(call.get("id"))
        inner = call.get(call.get("type", "function")) or {}
        if not inner.get("name"):
            yield "C3: a call without a name"
        if call.get("type", "function") == "function" and not is_object(inner.get("arguments")):
            yield "C3: arguments are no JSON object"

    def read_result(self, message: JSON) -> Complaints:
        name = message.get("tool_call_id")
        if name in self.waiting:
            self.waiting.remove(name)
            self.answered.append(name)
        elif name in self.answered:
            yield "A1: two results for one call"
        else:
            yield "C1: a result whose call is not the message before"
        content = message.get("content")
        if content is None or content == []:
            yield f"C: tool content is {content!r}"
        elif content != "":
            yield from needs_text(content, "A4: tool message")


def needs_text(content: Any, where: str) -> Complaints:
    """A string that is not empty, or parts that are not empty."""
    if content is None or content in ("", []):
        yield f"{where}: content is {content!r}"
    if not isinstance(content, list):
        return
    for part in content:
        kind = part.get("type")
        if kind in ("text", "input_text", "output_text") and not part.get("text"):
            yield f"{where}: an empty {kind} part"
        if kind == "refusal" and not part.get("refusal"):
            yield f"{where}: an empty refusal part"
        if kind == "image_url" and not (part.get("image_url") or {}).get("url"):
            yield f"{where}: an image without url"
        if kind in ("input_image", "input_file"):
            yield from needs_source(part, where)


def needs_source(part: JSON, where: str) -> Complaints:
    """R8."""
    sources = ("image_url", "file_id", "file_url", "file_data")
    if not any(part.get(source) for source in sources):
        yield f"R8: {where}: {part['type']} without url, id or data"


# -- Messages


def anthropic_complaints(request: JSON) -> Complaints:
    messages = request["messages"]
    if not messages:  # the host has said nothing
        return
    yield from anthropic_head(request)
    if messages[0]["role"] != "user" and not opens_compacted(messages[0]):
        yield "N2: the first message is not the user's"
    for place, message in enumerate(messages):
        yield from anthropic_message(message, is_last=place == len(messages) - 1)
        if message["role"] == "system":
            yield from system_place(messages, place)
    yield from pairs(joined([message for message in messages if message["role"] != "system"]))
    yield from compactions(messages)
    yield from marks(request)


def anthropic_head(request: JSON) -> Complaints:
    for block in as_blocks(request.get("system")):
        if not block["text"].strip():
            yield "A4: a blank system text"
    names = [tool["name"] for tool in request.get("tools") or []]
    if len(set(names)) < len(names):
        yield "tools: a name twice"


def as_blocks(content: Any) -> list[JSON]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or [])


def opens_compacted(message: JSON) -> bool:
    blocks = as_blocks(message["content"])
    return bool(blocks) and blocks[0]["type"] == "compaction"


def anthropic_message(message: JSON, *, is_last: bool) -> Complaints:
    role = message["role"]
    if role not in ("user", "assistant", "system"):
        yield f"N2: unknown role {role!r}"
    blocks = as_blocks(message["content"])
    if not blocks and not (role == "assistant" and is_last):
        yield f"A4: {role} message without content"
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    if "" in texts:
        yield f"A4: {role} message with an empty text block"
    elif texts and len(texts) == len(blocks) and not "".join(texts).strip():
        yield f"A4: {role} message of whitespace alone"
    for block in blocks:
        yield from anthropic_block(role, block)
    if role == "assistant" and blocks and blocks[-1]["type"] in SEALED_THINKING:
        yield "N3: a reply ends with thinking"


def anthropic_block(role: str, block: JSON) -> Complaints:
    kind = block["type"]
    if kind in (*SEALED_THINKING, "tool_use") and role != "assistant":
        yield f"N: {kind} in a {role} message"
    if kind == "tool_result" and role != "user":
        yield f"N1: tool_result in a {role} message"
    if kind == "thinking" and not block.get("signature"):
        yield "N3: thinking without a signature"
    if kind == "tool_use" and not isinstance(block.get("input"), dict):
        yield "A4: the input of a tool_use is no object"
    if kind == "tool_use" and not (block.get("id") and block.get("name")):
        yield "N1: a tool_use without id or name"
    if kind == "tool_result":
        inner = block.get("content")
        for part in inner if isinstance(inner, list) else []:
            if part["type"] == "text" and not part["text"]:
                yield "A4: an empty text block in a tool_result"
        if inner is None and "content" in block:
            yield "N1: the content of a tool_result is null"


def system_place(messages: list[JSON], place: int) -> Complaints:
    """Behind a user message, and last or before a reply."""
    behind = messages[place + 1]["role"] if place + 1 < len(messages) else "assistant"
    if place == 0 or messages[place - 1]["role"] != "user" or behind != "assistant":
        yield "N4: a system message that does not stand between a user message and a reply"


def joined(messages: list[JSON]) -> list[tuple[str, list[JSON]]]:
    """As the API reads them: neighbours of one role are one message."""
    read: list[tuple[str, list[JSON]]] = []
    for message in messages:
        if read and read[-1][0] == message["role"]:
            read[-1][1].extend(as_blocks(message["content"]))
        else:
            read.append((message["role"], as_blocks(message["content"])))
    return read


def pairs(messages: list[tuple[str, list[JSON]]]) -> Complaints:
    """N1: every call answered in the next user message, by results that stand first, one each."""
    seen: set[str] = set()
    waiting: list[str] = []
    for role, blocks in messages:
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        opening = 0
        while opening < len(blocks) and blocks[opening]["type"] == "tool_result":
            opening += 1
        if len(answers) > opening:
            yield "N1: a tool_result behind other content"
        if len(set(answers)) < len(answers):
            yield "A1: two results for one call"
        if set(answers) - set(waiting):
            yield "N1: a tool_result whose call is not in the reply before"
        if set(waiting) - set(answers):
            yield "N1: a call without its result in the next message"
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"] if role == "assistant" else []
        if len(set(waiting)) < len(waiting) or seen & set(waiting):
            yield "N1: the same tool_use id twice"
        seen.update(waiting)
    if waiting:
        yield "N1: a call without its result in the next message"


def compactions(messages: list[JSON]) -> Complaints:
    for place, message in enumerate(messages):
        for position, block in enumerate(as_blocks(message["content"])):
            if block["type"] != "compaction":
                continue
            if block.get("content") == "":
                yield "N6: a compaction with empty content"
            if block.get("content") is not None and (place or position):
                yield "N6: something stands before a compaction"


def marks(request: JSON) -> Complaints:
    """N5."""
    blocks = [*(request.get("tools") or []), *as_blocks(request.get("system"))]
    for message in request["messages"]:
        for block in as_blocks(message["content"]):
            blocks.append(block)
            if block["type"] == "tool_result" and isinstance(block.get("content"), list):
                blocks += block["content"]
    marked = [block for block in blocks if block.get("cache_control")]
    if len(marked) + bool(request.get("cache_control")) > MOST_MARKS:
        yield "N5: more than four cache marks"
    for block in marked:
        if block.get("type") in SEALED_THINKING or block.get("text") == "":
            yield "N5: a cache mark on thinking or on an empty text"


# -- Responses

CALLS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "computer_call": "computer_call_output",
}
OUTPUTS = {output: call for call, output in CALLS.items()}


def responses_complaints(request: JSON) -> Complaints:
    items = request["input"]
    for item in items:
        yield from responses_item(item)
    yield from call_outputs(items)
    yield from thoughts(items)
    ids = [item["id"] for item in items if item.get("id")]
    if len(set(ids)) < len(ids):
        yield "R: the same item id twice"
    compacted = [place for place, item in enumerate(items) if item.get("type") == "compaction"]
    if compacted and compacted[-1] > 0:
        yield "R4: something stands before a compaction"


def responses_item(item: JSON) -> Complaints:
    kind = item.get("type", "message")
    if kind == "message":
        if item.get("role") not in ("user", "assistant", "system", "developer"):
            yield f"R: unknown role {item.get('role')!r}"
        yield from needs_text(item.get("content"), f"A4: {item.get('role')} message")
    if kind in CALLS and not item.get("call_id"):
        yield f"R1: a {kind} without call_id"
    if kind == "function_call" and not is_object(item.get("arguments")):
        yield "A4: arguments are no JSON object"
    if kind in ("function_call", "custom_tool_call") and not item.get("name"):
        yield "R1: a call without a name"
    if kind in ("function_call_output", "custom_tool_call_output"):
        output = item.get("output")
        if not isinstance(output, str):
            yield from needs_text(output, f"R1: {kind}")


def call_outputs(items: list[JSON]) -> Complaints:
    """R1: each call has one output of its kind behind it, each output its call before it."""
    waiting: list[tuple[str, str]] = []
    answered: set[tuple[str, str]] = set()
    for item in items:
        kind, name = item.get("type", "message"), item.get("call_id", "")
        if kind in CALLS:
            if (kind, name) in waiting or (kind, name) in answered:
                yield "A1: the same call_id twice"
            waiting.append((kind, name))
        if kind in OUTPUTS:
            call = (OUTPUTS[kind], name)
            if call in waiting:
                waiting.remove(call)
                answered.add(call)
            else:
                yield "A1: two outputs for one call" if call in answered else "R1: an output without its call"
    if waiting:
        yield "R1: a call without its output"


def thoughts(items: list[JSON]) -> Complaints:
    """R2: reasoning stands directly before what it led to."""
    for place, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        rest = (behind for behind in items[place + 1 :] if behind.get("type") != "reasoning")
        following = next(rest, {"role": "nobody"})
        kind = following.get("type", "message")
        if not (kind.endswith("_call") or kind in MODELS_OWN or following.get("role") == "assistant"):
            yield "R2: reasoning without the item that follows it"


MODELS_OWN = ("mcp_approval_request", "mcp_list_tools", "image_generation_call", "compaction")


# -- Gemini


def gemini_complaints(request: JSON) -> Complaints:
    contents = request["contents"]
    if not contents:  # the host has said nothing
        return
    if contents[0].get("role") != "user":
        yield "G4: the first content is not the user's"
    for place, content in enumerate(contents):
        yield from gemini_content(content)
        before = contents[place - 1] if place else {"role": "user", "parts": []}
        behind = contents[place + 1] if place + 1 < len(contents) else {"role": "user", "parts": []}
        yield from gemini_calls(before, content, behind)


def field(part: JSON, name: str) -> Any:
    """A field of a part, in either spelling; None where it is not there."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return part.get(name, part.get(snake))


PART_DATA = (
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
)


def gemini_content(content: JSON) -> Complaints:
    if content.get("role") not in ("user", "model"):
        yield f"G5: unknown role {content.get('role')!r}"
    if not content.get("parts"):
        yield "G5: a content without parts"
    for part in content.get("parts") or []:
        filled = [name for name in PART_DATA if field(part, name) is not None]
        if not filled and not part.get("text") and not field(part, "thoughtSignature"):
            yield "G5: an empty part"
        if len(filled) + bool(part.get("text")) > 1:
            yield "G5: a part with two kinds of data"
        yield from gemini_function(part)


def gemini_function(part: JSON) -> Complaints:
    call, result = field(part, "functionCall"), field(part, "functionResponse")
    if call is not None and not call.get("name"):
        yield "G1: a functionCall without a name"
    if call is not None and not isinstance(call.get("args") or {}, dict):
        yield "A4: args are no object"
    if result is not None and not result.get("name"):
        yield "G2: a functionResponse without a name"
    if result is not None and not isinstance(result.get("response"), dict):
        yield "G2: the response of a functionResponse is no object"


def gemini_calls(before: JSON, content: JSON, behind: JSON) -> Complaints:
    called = parts_with(content, "functionCall")
    answers = parts_with(content, "functionResponse")
    if called and content.get("role") != "model":
        yield "G1: a functionCall that is not the model's"
    if called and before.get("role") != "user":
        yield "G1: calls that do not come directly behind the user or a result"
    if called and names_of(called) != names_of(parts_with(behind, "functionResponse")):
        yield "G2: calls whose results are not the next content, one each"
    if answers and content.get("role") != "user":
        yield "G2: a functionResponse that is not the user's"
    if answers and len(parts_with(before, "functionCall")) != len(answers):
        yield "G2: results whose calls are not the content before"


def parts_with(content: JSON, name: str) -> list[JSON]:
    return [field(part, name) for part in content.get("parts") or [] if field(part, name) is not None]


def names_of(functions: list[JSON]) -> list[str]:
    return sorted(function["name"] for function in functions)


PROVIDERS: dict[str, Callable[[JSON], Complaints]] = {
    "openai": lambda request: ChatReader().read(request),
    "anthropic": anthropic_complaints,
    "responses": responses_complaints,
    "gemini": gemini_complaints,
}
