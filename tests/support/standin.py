"""
A provider on loopback for tests of the gateway: Messages, Chat Completions, Responses and Gemini, streamed or not.

It enforces what the real ones do: a limit of tokens (four characters each), the rules of valid requests, and the header
with the credential; it has a prompt cache. Its replies are scripted: so many tool calls, then a text. A request for an
answer in a schema gets one. It shares no code with ``gc_core``.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

from tests.support.checker import complaints
from tests.support.provider_cache import PrefixCache
from tests.support.standin_cache import Used, used

JSON = dict[str, Any]
DONE = "All files were read."
OF_AGENTS = 25
AGENT_HEADERS = ("x-claude-code-agent-id", "x-codex-parent-thread-id", "x-parent-session-id")


@attrs.define
class Seen:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    raw: bytes = attrs.field(repr=False)
    body: JSON = attrs.field(repr=False)
    status: int = 0
    tokens: int = 0
    used: Used | None = None


@attrs.frozen(kw_only=True)
class Answer:
    """
    What the model says: a call (its id, tool and arguments), or a text; ``id`` is its own: Claude Code joins replies of
    one id into one message, and OpenAI takes no two items of one id.
    """

    id: str
    call: tuple[str, str, JSON] | None = None
    text: str = DONE
    used: Used


class StandIn:
    """
    The provider; a context manager, stopped when the block ends.

    ``limit`` is its window in tokens, ``calls`` how many tool calls its replies make before the last one, ``command``
    what the n-th call runs, ``last`` a command that stands for the last text. The call with the number ``spawns``
    starts a sub-agent, which makes ``OF_AGENTS`` calls at most. With ``refuses_late`` it refuses what is too long
    in a stream. ``seen`` keeps every request, ``failures`` are statuses for the next requests.
    """

    def __init__(
        self, *, limit=30_000, calls=60, command="cat big_{n}.txt", tool="bash", key="key-1", encode=False,
        last="", spawns=0,
    ):  # fmt: skip
        self.limit, self.calls, self.command, self.tool, self.key = limit, calls, command, tool, key
        self.encode, self.last, self.spawns = encode, last, spawns
        self.seen: list[Seen] = []
        self.failures: list[int] = []
        self.agents: Counter[str] = Counter()
        self.pause = 0.0
        self.refuses_late = False
        self.lock = threading.Lock()
        self.cache = PrefixCache()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.standin = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), name="stand-in")

    @property
    def url(self):
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def replies(self):
        """How often the main agent was answered."""
        return self.agents[""]

    @property
    def generations(self):
        return [seen for seen in self.seen if kind_of(seen.path) and "count" not in seen.path]

    @property
    def refusals(self):
        return [seen for seen in self.generations if seen.status == 400]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def go_on(self, calls):
        """Make so many calls more, after the last text."""
        self.calls = self.replies + calls

    def next_step(self, agent):
        """The number of the next reply, of the main agent or of a sub-agent, and what it runs; "" for the text."""
        with self.lock:
            self.agents[agent] += 1
            number = self.agents[agent]
        calls = min(self.calls, OF_AGENTS) if agent else self.calls
        if number <= calls:
            return number, self.command.format(n=number)
        return number, self.last if number == calls + 1 and not agent else ""


def agent_of(headers):
    """The sub-agent that sent a request with these headers; "" for a main agent."""
    return next((headers[name] for name in AGENT_HEADERS if headers.get(name)), "")


def kind_of(path):
    bare = path.partition("?")[0]
    ends = {
        "/messages": "anthropic",
        "/chat/completions": "openai",
        "/responses": "responses",
        ":generateContent": "gemini",
        ":streamGenerateContent": "gemini",
    }
    return next((kind for end, kind in ends.items() if bare.endswith(end)), None)


def tokens_of(body):
    if not isinstance(body, dict):
        return 0
    parts = ("messages", "input", "contents", "system", "systemInstruction", "tools")
    sent = {key: body[key] for key in parts if key in body}
    return len(json.dumps(sent)) // 4


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    standin: StandIn

    def handle_error(self, *_):
        """A client that left is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait 40 ms for the acknowledgement of its headers

    def log_message(self, *_):
        """Nothing is logged."""

    def do_GET(self):
        self.seen(b"", {})
        self.answer(200, {"object": "list", "data": [{"id": "stand-in"}]})

    def do_HEAD(self):
        self.answer(200, {})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        plain = gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw
        try:
            body = json.loads(plain)
        except ValueError:
            body = {}
        seen, kind = self.seen(raw, body), kind_of(self.path)
        seen.tokens = tokens_of(body)
        refusal = self.refusal(seen, kind)
        if refusal is not None:
            self.refuse(seen, kind, *refusal)
        elif "count" in self.path:
            self.answer(200, {"input_tokens": seen.tokens, "totalTokens": seen.tokens})
        else:
            seen.status = 200
            seen.used = self.used(seen, kind)
            self.reply(kind, body, seen.used)

    def refusal(self, seen, kind):
        """Status and text of what the provider says against a request; None where it takes it."""
        standin = self.server.standin
        if not self.is_authorized():
            return 401, "invalid key"
        if standin.failures:
            return standin.failures.pop(0), "overloaded"
        if "count" in self.path:
            return None
        if kind is None:
            return 404, "not found"
        found = complaints(kind, as_client(kind, seen.body)) if is_request(seen.body) else ["not a request"]
        if found:
            return 400, f"invalid: {found[0]}"
        return (400, too_long(kind, seen.tokens, standin.limit)) if seen.tokens > standin.limit else None

    def used(self, seen, kind):
        standin = self.server.standin
        with standin.lock:
            call = {"model": seen.path, **seen.body}
            return used(standin.cache, kind, call, sent=seen.tokens, now=time.monotonic())

    def reply(self, kind, body, usage):
        schema, number = schema_in(body), str(len(self.server.standin.seen))
        if schema is not None:
            answer = Answer(id=number, text=json.dumps(instance_of(schema)), used=usage)
        else:
            answer = Answer(id=number, call=self.next_call(body.get("tools")), used=usage)
        if is_streamed(self.path, body):
            self.stream(EVENTS[kind](answer))
        else:
            self.answer(200, WHOLE[kind](answer))

    def next_call(self, tools):
        """The id, the tool and the arguments of the next call; None for a text."""
        if not tools:
            return None
        standin = self.server.standin
        agent = agent_of({name.lower(): value for name, value in self.headers.items()})
        number, command = standin.next_step(agent)
        call_id = f"call_{number}" if not agent else f"call_{number}_of_{agent[-12:]}"
        if number == standin.spawns and not agent:
            return call_id, *agent_call(tools)
        name = tool_named(tools, standin.tool)
        return (call_id, name, arguments_for(tools, name, command)) if command else None

    def seen(self, raw, body):
        headers = {name.lower(): value for name, value in self.headers.items()}
        found = Seen(self.path, headers, raw, body)
        self.server.standin.seen.append(found)
        return found

    def is_authorized(self):
        key = self.server.standin.key
        given = [self.headers.get(name, "") for name in ("x-api-key", "x-goog-api-key", "authorization")]
        return any(value in {key, f"Bearer {key}"} for value in given) or f"key={key}" in self.path

    def refuse(self, seen, kind, status, text):
        seen.status = status
        if kind == "anthropic":
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": text}}
        elif kind == "gemini":
            error = {"error": {"code": status, "message": text, "status": "INVALID_ARGUMENT"}}
        else:
            code = "context_length_exceeded" if "maximum context" in text else None
            error = {"error": {"message": text, "type": "invalid_request_error", "param": None, "code": code}}
        if status == 400 and self.server.standin.refuses_late and is_streamed(self.path, seen.body):
            self.stream(refused_events(kind, error))
        else:
            self.answer(status, error)

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("request-id", "req_1")
        if self.server.standin.encode and "gzip" in self.headers.get("accept-encoding", ""):
            data = gzip.compress(data)
            self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            for event in events:
                data = event.encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
                time.sleep(self.server.standin.pause)
            self.wfile.write(b"0\r\n\r\n")


def is_request(body):
    return isinstance(body, dict) and any(isinstance(body.get(key), list) for key in ("messages", "input", "contents"))


def is_streamed(path, body):
    return bool(body.get("stream")) or "stream" in path


def as_client(kind, body):
    """A REST body as the checkers read it: Gemini's client calls it otherwise."""
    return body if kind != "gemini" else {"contents": body["contents"], "config": {}}


def too_long(kind, sent, allowed):
    match kind:
        case "anthropic":
            return f"prompt is too long: {sent} tokens > {allowed} maximum"
        case "gemini":
            return f"The input token count ({sent}) exceeds the maximum number of tokens allowed ({allowed})."
    return f"This model's maximum context length is {allowed} tokens. However, your messages resulted in {sent} tokens."


def tool_named(tools, wanted):
    """A tool of the client's that can run a command: the wanted one, or the first."""
    names = names_of(tools)
    likely = (
        wanted, "Bash", "bash", "exec_command", "shell", "run_shell_command", "local_shell", "run_commands"
    )  # fmt: skip
    return next((name for name in likely if name in names), names[0])


def names_of(tools):
    declared = [each for tool in tools for each in tool.get("functionDeclarations", [tool])]
    return [each.get("name") or each.get("function", {}).get("name", "") for each in declared]


def arguments_for(tools, name, command):
    """A command as the client's own tool takes it."""
    text = json.dumps([tool for tool in tools if name in json.dumps(tool)])
    if '"cmd"' in text:
        return {"cmd": command}
    if name == "shell":
        return {"command": ["bash", "-lc", command]}
    if name == "run_commands":
        return {"commands": [command]}
    more = {"description": "Reads a file."} if '"description"' in text and name != "bash" else {}
    return {"command": command, **more}


def agent_call(tools):
    """The tool with which a client starts a sub-agent, and its arguments. Codex has it without telling of it."""
    prompt, names = f"Read the files big_1.txt to big_{OF_AGENTS}.txt, each whole.", names_of(tools)
    if "Agent" in names:
        return "Agent", {"description": "Reads files", "prompt": prompt, "subagent_type": "claude"}
    if "task" in names:
        return "task", {"description": "Reads files", "prompt": prompt, "subagent_type": "general"}
    return "spawn_agent", {"message": prompt, "task_name": "reads_files"}


# -- answers in a schema -----------------------------------------------------------------------------------------------


def schema_in(body):
    """The JSON schema that a request asks its answer in, wherever its dialect has it; None for an answer in words."""
    places = (
        ("output_config", "format", "schema"),
        ("response_format", "json_schema", "schema"),
        ("text", "format", "schema"),
        ("generationConfig", "responseJsonSchema"),
        ("generationConfig", "responseSchema"),
    )
    return next((found for found in (inside(body, place) for place in places) if found), None)


def inside(value, names):
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def instance_of(schema):
    """A small value of a schema: what is required, and the first or least of what is allowed."""
    kind = schema.get("type", "object")
    name = (kind[0] if isinstance(kind, list) else kind).lower()
    fields = schema.get("properties", {})
    made = {
        "object": lambda: {field: instance_of(fields[field]) for field in schema.get("required", fields)},
        "array": lambda: [instance_of(schema["items"])] * schema.get("minItems", 0),
        "integer": lambda: schema.get("minimum", 1),
        "number": lambda: schema.get("minimum", 0),  # a share: Gemini CLI takes 1 for "it goes round in circles"
        "boolean": lambda: True,
        "string": lambda: DONE,
        "null": lambda: None,
    }
    return schema["enum"][0] if schema.get("enum") else made[name]()


# -- whole replies -----------------------------------------------------------------------------------------------------


def messages_reply(answer):
    block = {"type": "text", "text": answer.text} if answer.call is None else tool_use(answer.call)
    return {
        "id": f"msg_{answer.id}", "type": "message", "role": "assistant", "model": "stand-in", "content": [block],
        "stop_reason": "end_turn" if answer.call is None else "tool_use", "stop_sequence": None,
        "usage": answer.used.anthropic(),
    }  # fmt: skip


def tool_use(call):
    return {"type": "tool_use", "id": f"toolu_{call[0]}", "name": call[1], "input": call[2]}


def chat_reply(answer):
    call = answer.call
    message = {"role": "assistant", "content": answer.text if call is None else None}
    if call is not None:
        function = {"name": call[1], "arguments": json.dumps(call[2])}
        message["tool_calls"] = [{"id": call[0], "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop" if call is None else "tool_calls"}
    return {
        "id": f"chat_{answer.id}", "object": "chat.completion", "created": 1, "model": "stand-in",
        "choices": [choice], "usage": answer.used.openai(),
    }  # fmt: skip


def responses_item(answer):
    call = answer.call
    if call is None:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        return {
            "type": "message",
            "id": f"msg_{answer.id}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    return {
        "type": "function_call", "id": f"fc_{call[0]}", "call_id": call[0], "name": call[1],
        "arguments": json.dumps(call[2]), "status": "completed",
        **({"namespace": "multi_agent_v1"} if call[1] == "spawn_agent" else {}),
    }  # fmt: skip


def responses_reply(answer):
    return {
        "id": f"resp_{answer.id}", "object": "response", "created_at": 1, "model": "stand-in", "status": "completed",
        "output": [responses_item(answer)], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": answer.used.responses(),
    }  # fmt: skip


def gemini_reply(answer):
    call = answer.call
    part = {"text": answer.text}
    if call is not None:
        part = {"functionCall": {"id": call[0], "name": call[1], "args": call[2]}}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": answer.used.gemini(),
        "modelVersion": "stand-in",
    }


WHOLE = {"anthropic": messages_reply, "openai": chat_reply, "responses": responses_reply, "gemini": gemini_reply}


# -- streams -----------------------------------------------------------------------------------------------------------


def sse(kind, value):
    return f"event: {kind}\ndata: {json.dumps(value)}\n\n"


def messages_events(answer):
    whole, call = messages_reply(answer), answer.call
    block = whole["content"][0]
    yield sse("message_start", {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}})
    empty = {"type": "text", "text": ""} if call is None else {**block, "input": {}}
    yield sse("content_block_start", {"type": "content_block_start", "index": 0, "content_block": empty})
    delta = {"type": "text_delta", "text": answer.text}
    if call is not None:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[2])}
    yield sse("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta})
    yield sse("content_block_stop", {"type": "content_block_stop", "index": 0})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield sse("message_delta", {"type": "message_delta", "delta": end, "usage": {"output_tokens": answer.used.output}})
    yield sse("message_stop", {"type": "message_stop"})


def chat_events(answer):
    call = answer.call
    base = {"id": f"chat_{answer.id}", "object": "chat.completion.chunk", "created": 1, "model": "stand-in"}
    delta = {"role": "assistant", "content": answer.text}
    if call is not None:
        function = {"name": call[1], "arguments": json.dumps(call[2])}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": call[0], "type": "function", "function": function}],
        }
    yield f"data: {json.dumps({**base, 'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]})}\n\n"
    reason = "stop" if call is None else "tool_calls"
    yield f"data: {json.dumps({**base, 'choices': [{'index': 0, 'delta': {}, 'finish_reason': reason}]})}\n\n"
    yield f"data: {json.dumps({**base, 'choices': [], 'usage': answer.used.openai()})}\n\n"
    yield "data: [DONE]\n\n"


def responses_events(answer):
    whole, item, call = responses_reply(answer), responses_item(answer), answer.call
    started = {**whole, "status": "in_progress", "output": [], "usage": None}
    number = iter(range(20))

    def event(kind, **more):
        return sse(kind, {"type": kind, "sequence_number": next(number), **more})

    yield event("response.created", response=started)
    begun = {**item, "status": "in_progress", **({"content": []} if call is None else {"arguments": ""})}
    yield event("response.output_item.added", output_index=0, item=begun)
    if call is None:
        part = {"type": "output_text", "text": "", "annotations": []}
        yield event("response.content_part.added", item_id=item["id"], output_index=0, content_index=0, part=part)
        of = {"item_id": item["id"], "output_index": 0, "content_index": 0, "logprobs": []}
        yield event("response.output_text.delta", **of, delta=answer.text)
        yield event("response.output_text.done", **of, text=answer.text)
        yield event(
            "response.content_part.done", item_id=item["id"], output_index=0, content_index=0, part=item["content"][0]
        )
    else:
        arguments = item["arguments"]
        yield event("response.function_call_arguments.delta", item_id=item["id"], output_index=0, delta=arguments)
        yield event(
            "response.function_call_arguments.done", item_id=item["id"], output_index=0, arguments=arguments,
            name=call[1],
        )  # fmt: skip
    yield event("response.output_item.done", output_index=0, item=item)
    yield event("response.completed", response=whole)


def refused_events(kind, error):
    """A refusal as events: that of Responses repeats in the first ones what the request said."""
    if kind != "responses":
        yield sse("error", error)
        return
    response = {"id": "resp_0", "object": "response", "instructions": "Read. " * 5_000, "output": []}
    for status in ("created", "in_progress"):
        event = {"type": f"response.{status}", "response": {**response, "status": "in_progress", "error": None}}
        yield sse(event["type"], event)
    failed = {**response, "status": "failed", "error": error["error"]}
    yield sse("response.failed", {"type": "response.failed", "response": failed})


def gemini_events(answer):
    yield f"data: {json.dumps(gemini_reply(answer))}\r\n\r\n"


EVENTS = {"anthropic": messages_events, "openai": chat_events, "responses": responses_events, "gemini": gemini_events}
