"""
A provider on loopback for tests of adapters: Messages, Chat Completions, Responses and Gemini, streamed or not.

It enforces what the real ones do: a limit of tokens, the rules of valid requests, and the header with the credential.
Its replies are scripted: so many tool calls, then a text.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import attrs

from gc_core.providers.rules import check_request
from gc_core.testing.loopback_replies import JSON, STREAMED, WHOLE, Reply, refusal_events
from gc_core.values.json_values import read_json
from gc_core.values.messages import Request, Usage

_ENDS = {
    "/messages": "anthropic",
    "/chat/completions": "openai",
    "/responses": "responses",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}
_LISTS = {"anthropic": "messages", "openai": "messages", "responses": "input", "gemini": "contents"}
_BESIDE = ("system", "systemInstruction", "instructions", "tools", "response_format", "text")
_KEYS = ("x-api-key", "x-goog-api-key", "authorization")
_SHELLS = ("Bash", "bash", "exec_command", "shell", "run_shell_command", "local_shell")
_CALL_ID = re.compile(r"call_(\d+)\b")
_REPLY_TOKENS = 20


@attrs.define
class Seen:
    """
    A request as it arrived.

    Attributes:
        path: Its path with its query.
        headers: Its headers, with lower-case names.
        raw: Its body.
        body: Its body as JSON; empty if it is none.
        status: What was answered; 0 where nothing was checked.
        tokens: Its size, as the provider counts.

    """

    path: str
    headers: dict[str, str]
    raw: bytes = attrs.field(repr=False)
    body: JSON = attrs.field(repr=False)
    status: int = 0
    tokens: int = 0

    @property
    def kind(self) -> str:
        """The format of a request for a reply; "" for any other."""
        return kind_of(self.path)

    @property
    def messages(self) -> Sequence[JSON]:
        """Its messages, in its own format."""
        messages: Sequence[JSON] = self.body.get(_LISTS.get(self.kind, ""), [])
        return messages


class LoopbackProvider:
    """
    The provider; a context manager, stopped when the block ends.

    Args:
        limit: Its window in tokens.
        calls: How many tool calls its replies make before the last one, which is a text.
        command: What the n-th call runs: the argument ``command`` of the tool.
        tool: The tool that it calls; or the first one of a request that has no such tool.
        key: The credential that it wants.
        encode: Compress replies where a client accepts that.
        letters_per_token: How it counts.

    Attributes:
        seen: Every request as it arrived.
        failures: Statuses of the answers to the next requests, instead of replies.
        pause: Seconds between two events of a stream, and before a reply.
        refuses_with: The status of its refusals.
        refuses_late: It refuses inside of the reply where that is a stream, whose status is 200 then.

    """

    def __init__(
        self,
        *,
        limit: int = 30_000,
        calls: int = 60,
        command: str = "cat big_{n}.txt",
        tool: str = "bash",
        key: str = "key-1",
        encode: bool = False,
        letters_per_token: float = 4.0,
    ) -> None:
        self.limit, self.calls, self.command, self.tool, self.key = limit, calls, command, tool, key
        self.encode = encode
        self.letters_per_token = letters_per_token
        self.seen: list[Seen] = []
        self.failures: list[int] = []
        self.pause = 0.0
        self.refuses_with: int = HTTPStatus.BAD_REQUEST
        self.refuses_late = False
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.provider = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), name="loopback")

    @property
    def url(self) -> str:
        """Its base URL, without a path."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def generations(self) -> list[Seen]:
        """The requests for a reply."""
        return [seen for seen in self.seen if seen.kind]

    @property
    def refusals(self) -> list[Seen]:
        """The requests that were too long, or not valid."""
        return [seen for seen in self.generations if seen.status == self.refuses_with]

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next_number(self, seen: Seen) -> int:
        """Return the number of the next tool call of a conversation: one more than the highest that its request has."""
        return 1 + max(map(int, _CALL_ID.findall(seen.raw.decode("utf-8", "replace"))), default=0)

    def complaints(self, kind: str, body: JSON) -> Sequence[str]:
        """Return what is wrong with a request by the provider's rules; nothing of one whose history is elsewhere."""
        if body.get("previous_response_id"):
            return ()
        messages = tuple(body[_LISTS[kind]])
        instructions = body.get("system")
        blocks = instructions if isinstance(instructions, list) else ()
        request = Request(format=kind, messages=messages, system=tuple(blocks), tools=tuple(body.get("tools", ())))
        return [str(breach) for breach in check_request(request)]

    def fault_in(self, seen: Seen) -> str:
        """Return why a request for a reply is refused; "" if it is in order."""
        if not isinstance(seen.body, dict) or not isinstance(seen.messages, list):
            return "invalid: not a request"
        found = self.complaints(seen.kind, seen.body)
        if found:
            return f"invalid: {found[0]}"
        return _too_long(seen, self.limit) if seen.tokens > self.limit else ""

    def tokens_of(self, body: Mapping[str, Any]) -> int:
        """Return the size of a request."""
        sent = {key: body[key] for key in (*_LISTS.values(), *_BESIDE) if key in body}
        return int(len(json.dumps(sent)) / self.letters_per_token)

    def reply_to(self, seen: Seen) -> Reply:
        """Return the reply to a request that is in order."""
        usage = Usage(input_tokens=seen.tokens, output_tokens=_REPLY_TOKENS)
        tools = seen.body.get("tools")
        number = self.next_number(seen) if tools else 0
        if not tools or number > self.calls:
            return Reply(usage, number=number)
        name = _tool_named(tools, self.tool)
        return Reply(usage, f"call_{number}", name, _arguments(tools, name, self.command.format(n=number)))


def kind_of(path: str) -> str:
    """Return the format that a path speaks; "" if it is no request for a reply."""
    bare = path.partition("?")[0]
    return next((kind for end, kind in _ENDS.items() if bare.endswith(end)), "")


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    provider: LoopbackProvider

    def handle_error(self, *_: object) -> None:
        """A client that left is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait 40 ms for the acknowledgement of its headers
    server: _Http

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""

    def do_GET(self) -> None:
        self._arrived(b"", {})
        self._answer(HTTPStatus.OK, {"object": "list", "data": [{"id": "stand-in"}]})

    def do_HEAD(self) -> None:
        self._answer(HTTPStatus.OK, {})

    def do_POST(self) -> None:
        provider = self.server.provider
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        plain = gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw
        try:
            body = read_json(plain)
        except ValueError:
            body = {}
        seen = self._arrived(raw, body)
        seen.tokens = provider.tokens_of(body) if isinstance(body, dict) else 0
        refusal = self._refusal(seen)
        if refusal is not None:
            self._refuse(seen, *refusal)
        elif "count" in self.path:
            self._answer(HTTPStatus.OK, {"input_tokens": seen.tokens, "totalTokens": seen.tokens})
        else:
            seen.status = HTTPStatus.OK
            self._reply(seen)

    def _refusal(self, seen: Seen) -> tuple[int, str] | None:
        """Return status and text of what the provider says against a request; None where it takes it."""
        provider = self.server.provider
        if not self._is_authorized():
            return HTTPStatus.UNAUTHORIZED, "invalid key"
        if provider.failures:
            return provider.failures.pop(0), "overloaded"
        if "count" in self.path:
            return None
        if not seen.kind:
            return HTTPStatus.NOT_FOUND, "not found"
        wrong = provider.fault_in(seen)
        return (provider.refuses_with, wrong) if wrong else None

    def _reply(self, seen: Seen) -> None:
        provider = self.server.provider
        reply = provider.reply_to(seen)
        if self._streams(seen):
            self._stream(STREAMED[seen.kind](reply))
        else:
            time.sleep(provider.pause)
            self._answer(HTTPStatus.OK, WHOLE[seen.kind](reply))

    def _arrived(self, raw: bytes, body: JSON) -> Seen:
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.path, headers, raw, body)
        self.server.provider.seen.append(seen)
        return seen

    def _is_authorized(self) -> bool:
        key = self.server.provider.key
        given = [self.headers.get(name, "") for name in _KEYS]
        return any(value in {key, f"Bearer {key}"} for value in given) or f"key={key}" in self.path

    def _refuse(self, seen: Seen, status: int, text: str) -> None:
        seen.status = status
        error: JSON
        if seen.kind == "anthropic":
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": text}}
        elif seen.kind == "gemini":
            error = {"error": {"code": status, "message": text, "status": "INVALID_ARGUMENT"}}
        else:
            code = "context_length_exceeded" if "maximum context" in text else None
            error = {"error": {"message": text, "type": "invalid_request_error", "param": None, "code": code}}
        provider = self.server.provider
        if status == provider.refuses_with and provider.refuses_late and self._streams(seen):
            self._stream(refusal_events(seen.kind, error))
        else:
            self._answer(status, error)

    def _streams(self, seen: Seen) -> bool:
        return bool(seen.body.get("stream")) or "stream" in self.path

    def _answer(self, status: int, value: JSON) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("request-id", "req_1")
        if self.server.provider.encode and "gzip" in self.headers.get("accept-encoding", ""):
            data = gzip.compress(data)
            self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            with contextlib.suppress(ConnectionError):
                self.wfile.write(data)

    def _stream(self, events: Any) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            for event in events:
                data = event.encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
                time.sleep(self.server.provider.pause)
            self.wfile.write(b"0\r\n\r\n")


def _too_long(seen: Seen, allowed: int) -> str:
    sent = seen.tokens
    match seen.kind:
        case "anthropic":
            return f"prompt is too long: {sent} tokens > {allowed} maximum"
        case "gemini":
            return f"The input token count ({sent}) exceeds the maximum number of tokens allowed ({allowed})."
    return f"This model's maximum context length is {allowed} tokens. However, your messages resulted in {sent} tokens."


def _tool_named(tools: Sequence[JSON], wanted: str) -> str:
    """Return a tool of the client's that can run a command: the wanted one, or the first."""
    declared = [each for tool in tools for each in tool.get("functionDeclarations", [tool])]
    names = [str(each.get("name") or each.get("function", {}).get("name", "")) for each in declared]
    return next((name for name in (wanted, *_SHELLS) if name in names), names[0])


def _arguments(tools: Sequence[JSON], name: str, command: str) -> JSON:
    """Return the arguments under the name that the client's own tool has for a command."""
    text = json.dumps([tool for tool in tools if name in json.dumps(tool)])
    if '"cmd"' in text:
        return {"cmd": command}
    if name == "shell":
        return {"command": ["bash", "-lc", command]}
    arguments = {"command": command}
    return {**arguments, "description": "Reads a file."} if '"description"' in text and name != "bash" else arguments
