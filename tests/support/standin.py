"""
A provider on loopback for tests of the gateway: Messages, Chat Completions, Responses and Gemini, streamed or not.

It enforces what the real ones do: a limit of tokens (four characters each), the rules of valid requests, and the header
with the credential. Its replies are scripted: so many tool calls, then a text. It shares no code with ``gc_core``.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

from tests.support.checker import complaints

JSON = dict[str, Any]
DONE = "All files were read."


@attrs.define
class Seen:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    raw: bytes = attrs.field(repr=False)
    body: JSON = attrs.field(repr=False)
    status: int = 0
    tokens: int = 0


class StandIn:
    """
    The provider; a context manager, stopped when the block ends.

    ``limit`` is its window in tokens, ``calls`` how many tool calls its replies make before the last one, ``command``
    what the n-th call runs. ``seen`` keeps every request, ``failures`` are statuses for the next requests.
    """

    def __init__(self, *, limit=30_000, calls=60, command="cat big_{n}.txt", tool="bash", key="key-1", encode=False):
        self.limit, self.calls, self.command, self.tool, self.key = limit, calls, command, tool, key
        self.encode = encode
        self.seen: list[Seen] = []
        self.failures: list[int] = []
        self.replies = 0
        self.pause = 0.0
        self.lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.standin = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), name="stand-in")

    @property
    def url(self):
        return f"http://127.0.0.1:{self._http.server_port}"

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

    def next_call(self):
        """The arguments of the next tool call; None when it is time for the text."""
        with self.lock:
            self.replies += 1
            number = self.replies
        return None if number > self.calls else (f"call_{number}", {"command": self.command.format(n=number)})


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
            self.reply(kind, body, (seen.tokens, 20))

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

    def reply(self, kind, body, usage):
        call = self.server.standin.next_call() if body.get("tools") else None
        if call is not None:
            name = tool_named(body["tools"], self.server.standin.tool)
            call = (call[0], name, arguments_for(body["tools"], name, call[1]))
        if body.get("stream") or "stream" in self.path:
            self.stream(EVENTS[kind](call, usage))
        else:
            self.answer(200, WHOLE[kind](call, usage))

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
    declared = [each for tool in tools for each in tool.get("functionDeclarations", [tool])]
    names = [each.get("name") or each.get("function", {}).get("name", "") for each in declared]
    likely = (wanted, "Bash", "bash", "exec_command", "shell", "run_shell_command", "local_shell")
    return next((name for name in likely if name in names), names[0])


def arguments_for(tools, name, arguments):
    """The arguments under the name that the client's own tool has for a command."""
    text = json.dumps([tool for tool in tools if name in json.dumps(tool)])
    if '"cmd"' in text:
        return {"cmd": arguments["command"]}
    if name == "shell":
        return {"command": ["bash", "-lc", arguments["command"]]}
    return {**arguments, "description": "Reads a file."} if '"description"' in text and name != "bash" else arguments


# -- whole replies -----------------------------------------------------------------------------------------------------


def reply_id(kind, call):
    """An id of its own: Claude Code joins replies of one id into one message."""
    return f"{kind}_{'end' if call is None else call[0]}"


def messages_reply(call, usage):
    block = {"type": "text", "text": DONE} if call is None else tool_use(call)
    return {
        "id": reply_id("msg", call), "type": "message", "role": "assistant", "model": "stand-in", "content": [block],
        "stop_reason": "end_turn" if call is None else "tool_use", "stop_sequence": None,
        "usage": {"input_tokens": usage[0], "output_tokens": usage[1]},
    }  # fmt: skip


def tool_use(call):
    return {"type": "tool_use", "id": f"toolu_{call[0]}", "name": call[1], "input": call[2]}


def chat_reply(call, usage):
    message = {"role": "assistant", "content": DONE if call is None else None}
    if call is not None:
        function = {"name": call[1], "arguments": json.dumps(call[2])}
        message["tool_calls"] = [{"id": call[0], "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop" if call is None else "tool_calls"}
    return {
        "id": reply_id("chat", call), "object": "chat.completion", "created": 1, "model": "stand-in",
        "choices": [choice], "usage": chat_usage(usage),
    }  # fmt: skip


def chat_usage(usage):
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}


def responses_item(call):
    if call is None:
        content = [{"type": "output_text", "text": DONE, "annotations": []}]
        return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    return {
        "type": "function_call", "id": f"fc_{call[0]}", "call_id": call[0], "name": call[1],
        "arguments": json.dumps(call[2]), "status": "completed",
    }  # fmt: skip


def responses_reply(call, usage):
    return {
        "id": reply_id("resp", call), "object": "response", "created_at": 1, "model": "stand-in", "status": "completed",
        "output": [responses_item(call)], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": usage[0], "output_tokens": usage[1], "total_tokens": sum(usage),
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        },
    }  # fmt: skip


def gemini_reply(call, usage):
    part = {"text": DONE} if call is None else {"functionCall": {"id": call[0], "name": call[1], "args": call[2]}}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage[0],
            "candidatesTokenCount": usage[1],
            "totalTokenCount": sum(usage),
        },
        "modelVersion": "stand-in",
    }


WHOLE = {"anthropic": messages_reply, "openai": chat_reply, "responses": responses_reply, "gemini": gemini_reply}


# -- streams -----------------------------------------------------------------------------------------------------------


def sse(kind, value):
    return f"event: {kind}\ndata: {json.dumps(value)}\n\n"


def messages_events(call, usage):
    whole = messages_reply(call, usage)
    block = whole["content"][0]
    yield sse("message_start", {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}})
    empty = {"type": "text", "text": ""} if call is None else {**block, "input": {}}
    yield sse("content_block_start", {"type": "content_block_start", "index": 0, "content_block": empty})
    delta = {"type": "text_delta", "text": DONE}
    if call is not None:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[2])}
    yield sse("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta})
    yield sse("content_block_stop", {"type": "content_block_stop", "index": 0})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield sse("message_delta", {"type": "message_delta", "delta": end, "usage": {"output_tokens": usage[1]}})
    yield sse("message_stop", {"type": "message_stop"})


def chat_events(call, usage):
    base = {"id": reply_id("chat", call), "object": "chat.completion.chunk", "created": 1, "model": "stand-in"}
    delta = {"role": "assistant", "content": DONE}
    if call is not None:
        function = {"name": call[1], "arguments": json.dumps(call[2])}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": call[0], "type": "function", "function": function}],
        }
    yield f"data: {json.dumps({**base, 'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]})}\n\n"
    reason = "stop" if call is None else "tool_calls"
    yield f"data: {json.dumps({**base, 'choices': [{'index': 0, 'delta': {}, 'finish_reason': reason}]})}\n\n"
    yield f"data: {json.dumps({**base, 'choices': [], 'usage': chat_usage(usage)})}\n\n"
    yield "data: [DONE]\n\n"


def responses_events(call, usage):
    whole, item = responses_reply(call, usage), responses_item(call)
    started = {**whole, "status": "in_progress", "output": [], "usage": None}
    number = iter(range(20))

    def event(kind, **more):
        return sse(kind, {"type": kind, "sequence_number": next(number), **more})

    yield event("response.created", response=started)
    begun = {**item, "status": "in_progress", **({"content": []} if call is None else {"arguments": ""})}
    yield event("response.output_item.added", output_index=0, item=begun)
    if call is None:
        part = {"type": "output_text", "text": "", "annotations": []}
        yield event("response.content_part.added", item_id="msg_1", output_index=0, content_index=0, part=part)
        yield event(
            "response.output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=DONE, logprobs=[]
        )
        yield event(
            "response.output_text.done", item_id="msg_1", output_index=0, content_index=0, text=DONE, logprobs=[]
        )
        yield event(
            "response.content_part.done", item_id="msg_1", output_index=0, content_index=0, part=item["content"][0]
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


def gemini_events(call, usage):
    yield f"data: {json.dumps(gemini_reply(call, usage))}\r\n\r\n"


EVENTS = {"anthropic": messages_events, "openai": chat_events, "responses": responses_events, "gemini": gemini_events}
