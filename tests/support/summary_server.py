"""
A loopback server that plays Chat Completions for one question at a time: it refuses what OpenAI refuses and follows a
script.

Every step of the script answers one request, the last one all further requests too. Nothing leaves the machine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.support.provider import count_message

JSON = dict[str, Any]
Step = Callable[["SummaryServer", JSON], tuple[int, JSON]]

ROLES = {"system", "developer", "user", "assistant", "tool"}
THINKING_MODELS = ("gpt-5", "o3", "o4")


def says(text: str | None, *, finish: str = "stop") -> Step:
    """A reply with this content; ``finish="length"`` is one that was cut off."""
    return lambda _, body: (200, completion(body, {"role": "assistant", "content": text}, finish))


def calls_a_tool(name: str) -> Step:
    """A tool call instead of a text."""
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return lambda _, body: (200, completion(body, message, "tool_calls"))


def fails(status: int, message: str = "no") -> Step:
    """An HTTP error."""
    return lambda _server, _body: (status, error(message))


def hangs(seconds: float = 30) -> Step:
    """No answer for so long, or until the server stops."""

    def wait(server: SummaryServer, _: JSON) -> tuple[int, JSON]:
        server.stopping.wait(seconds)
        return 500, error("too late")

    return wait


class SummaryServer:
    """
    Chat Completions on 127.0.0.1; a context manager, stopped when the block ends, whatever hangs.

    ``limit`` is the model's context window, ``key`` the only key that it takes. ``requests`` keeps every request body,
    ``refusals`` the message of every refusal that is not in the script.
    """

    def __init__(self, *script: Step, limit: int = 128_000, key: str | None = None) -> None:
        self.limit = limit
        self.key = key
        self.requests: list[JSON] = []
        self.refusals: list[str] = []
        self.stopping = threading.Event()
        self._script = script
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), name="summary server")

    @property
    def url(self) -> str:
        """The base URL, as ``api_base``."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, path: str, key: str | None, body: JSON) -> tuple[int, JSON]:
        """Status and body for one request."""
        with self._lock:
            self.requests.append(body)
            refused = self._refused(path, key, body)
            if refused is not None:
                self.refusals.append(refused[1]["error"]["message"])
                return refused
            step = self._script[min(len(self.requests), len(self._script)) - 1]
        return step(self, body)

    def _refused(self, path: str, key: str | None, body: JSON) -> tuple[int, JSON] | None:
        if path != "/v1/chat/completions":
            return 404, error(f"no such path: {path}")
        if self.key is not None and key != f"Bearer {self.key}":
            return 401, error("Incorrect API key provided", code="invalid_api_key")
        fault = malformed(body)
        if fault is not None:
            return 400, error(fault)
        tokens = sum(map(count_message, body["messages"])) + output_limit(body)
        return (400, too_long(tokens, self.limit)) if tokens > self.limit else None


def malformed(body: JSON) -> str | None:
    """What OpenAI would refuse in a request body, or None."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        return "you must provide a model parameter"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: expected an array with minimum length 1"
    for message in messages:
        if message.get("role") not in ROLES or not isinstance(message.get("content"), str) or not message["content"]:
            return f"messages: bad message {message!r:.80}"
    if model.startswith(THINKING_MODELS):
        if "max_tokens" in body:
            return "Unsupported parameter: 'max_tokens' is not supported with this model"
        if body.get("temperature", 1) != 1:
            return "Unsupported value: 'temperature' does not support 0 with this model"
    return None if output_limit(body) > 0 else "max_tokens: expected a value of at least 1"


def output_limit(body: JSON) -> int:
    """Tokens that the reply may have, under either name."""
    limit = body.get("max_completion_tokens", body.get("max_tokens", 1))
    return limit if isinstance(limit, int) else 0


def completion(body: JSON, message: JSON, finish: str) -> JSON:
    read = sum(map(count_message, body["messages"]))
    wrote = count_message(message)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
    }


def error(message: str, *, code: str | None = None) -> JSON:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def too_long(tokens: int, limit: int) -> JSON:
    message = (
        f"This model's maximum context length is {limit} tokens. However, you requested {tokens} tokens. "
        "Please reduce the length of the messages or completion."
    )
    return error(message, code="context_length_exceeded")


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close() waits for them
    owner: SummaryServer


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    timeout = 10

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, answer = self.server.owner.answer(self.path, self.headers["authorization"], body)
        content = json.dumps(answer).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            # A caller that ran out of patience has hung up.
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Be quiet."""
