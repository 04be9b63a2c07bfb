"""
A recorded coding session, driven through the gateway by the vendors' own clients, and in process beside that.

``python -m benchmarks.gateway_session [--messages 1600] [--window 64000]``. Each call sends the whole list, as agents
do. The provider answers with the usage that its cache would report, and both ways are judged by what it was sent: far
fit, and cost by list prices. docs/benchmarks.md says what far fit is.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anthropic
import attrs
import openai
from ctxgc.evaluation.cache_simulator import CacheSimulator
from ctxgc.evaluation.call_measures import Share
from ctxgc.evaluation.far_fit import FarFitJudge
from ctxgc.evaluation.reuse import message_texts, uses_of
from ctxgc.evaluation.transcripts import Transcript
from gc_gateway.dialects import DIALECTS
from gc_gateway.serving import running
from gc_gateway.settings import Settings
from google import genai

from benchmarks.counting import corpus
from gc_core import GCConfig, GCSession, Request, Usage
from gc_core.providers import format_named
from gc_core.providers.cache_terms import terms_of
from gc_core.providers.prices import prices_of
from gc_core.providers.token_counting import counter_for
from gc_core.values.messages import Role

JSON = dict[str, Any]

MODELS = {"openai": "gpt-5", "anthropic": "claude-opus-4-5", "gemini": "gemini-2.5-pro"}
MARK = {"cache_control": {"type": "ephemeral"}}
SYSTEM = "You are a coding agent."
CLOCK_SECONDS = 10.0
"""Between two calls, for the provider's cache."""


# -- the recording -----------------------------------------------------------------------------------------------------


def recorded(path: Path, most: int) -> list[JSON]:
    """Return the first messages of a recording in Chat Completions."""
    return [json.loads(line) for line in path.read_text().splitlines()[:most]]


def as_anthropic(messages: Sequence[JSON]) -> Iterator[JSON]:
    """Yield the messages of Anthropic's API; results of one reply come in one message."""
    results: list[JSON] = []
    for message in messages:
        if message["role"] == "tool":
            block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            results.append(block)
            continue
        if results:
            yield {"role": "user", "content": results}
            results = []
        text = [{"type": "text", "text": message["content"]}] if message.get("content") else []
        calls = [
            {
                "type": "tool_use",
                "id": call["id"],
                "name": call["function"]["name"],
                "input": json.loads(call["function"]["arguments"]),
            }
            for call in message.get("tool_calls") or ()
        ]
        yield {"role": message["role"], "content": [*text, *calls]}
    if results:
        yield {"role": "user", "content": results}


def as_gemini(messages: Sequence[JSON]) -> Iterator[JSON]:
    """Yield the contents of Gemini's API."""
    names = {call["id"]: call["function"]["name"] for each in messages for call in each.get("tool_calls") or ()}
    for message in as_anthropic(messages):
        parts = [_part(block, names) for block in message["content"]]
        yield {"role": "model" if message["role"] == "assistant" else "user", "parts": parts}


def _part(block: JSON, names: Mapping[str, str]) -> JSON:
    match block["type"]:
        case "text":
            return {"text": block["text"]}
        case "tool_use":
            return {"functionCall": {"id": block["id"], "name": block["name"], "args": block["input"]}}
    key = block["tool_use_id"]
    return {"functionResponse": {"id": key, "name": names[key], "response": {"output": block["content"]}}}


CONVERTED: Mapping[str, Callable[[Sequence[JSON]], Iterator[JSON]]] = {
    "openai": iter,
    "anthropic": as_anthropic,
    "gemini": as_gemini,
}


def tools_of(format_name: str, messages: Sequence[JSON]) -> list[JSON]:
    """Return a schema for each tool that is called."""
    names = sorted({call["function"]["name"] for each in messages for call in each.get("tool_calls") or ()})
    schema = {"type": "object", "properties": {}}
    match format_name:
        case "openai":
            return [{"type": "function", "function": {"name": name, "parameters": schema}} for name in names]
        case "anthropic":
            return [{"name": name, "input_schema": schema} for name in names]
    return [{"functionDeclarations": [{"name": name, "parametersJsonSchema": schema} for name in names]}]


def lists_of(format_name: str, messages: Sequence[JSON]) -> Iterator[tuple[int, list[JSON]]]:
    """Yield the place of each reply, and the list that asks for it: with one mark at its end, where there are marks."""
    form = format_named(format_name)
    for place in range(1, len(messages)):
        if form.role(messages[place]) is Role.ASSISTANT and form.role(messages[place - 1]) is not Role.ASSISTANT:
            held = list(messages[:place])
            if format_name == "anthropic":
                *rest, last = held[-1]["content"]
                held[-1] = {**held[-1], "content": [*rest, {**last, **MARK}]}
            yield place, held


# -- the provider ------------------------------------------------------------------------------------------------------


class Provider:
    """
    Reads requests as a provider would: its cache says what each costs.

    Attributes:
        spent: USD for all of them.
        cached: Tokens that they read from the cache.
        sent: Tokens of all of them.
        last: The last one.

    """

    def __init__(self, format_name: str) -> None:
        self.format, self.model = format_name, MODELS[format_name]
        self._cache = CacheSimulator(terms_of(self.model, format_name), counter_for(self.model, format_name))
        self._prices = prices_of(self.model, format_name)
        self._clock = 0.0
        self._seen: dict[str, JSON] = {}
        self.spent, self.cached, self.sent = 0.0, 0, 0
        self.last: tuple[Request, int] | None = None

    def take(self, request: Request) -> Usage:
        """Return the usage of a request."""
        self._clock += CLOCK_SECONDS
        usage = self._cache.call(request, self._clock, output_tokens=200)
        self.spent += 0.0 if self._prices is None else self._prices.cost(usage)
        self.cached += usage.cache_read_tokens
        self.sent += usage.input_tokens
        self.last = request, usage.input_tokens
        return usage

    def _known(self, message: JSON) -> JSON:
        """Return the equal message of an earlier request: what is known of an object is not computed again."""
        return self._seen.setdefault(json.dumps(message), message)

    def reported(self, usage: Usage) -> JSON:
        """Return the usage as this provider's API spells it."""
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        match self.format:
            case "openai":
                details = {"prompt_tokens_details": {"cached_tokens": read}}
                total = usage.input_tokens + usage.output_tokens
                return {
                    "prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens,
                    "total_tokens": total, **details,
                }  # fmt: skip
            case "anthropic":
                return {
                    "input_tokens": usage.input_tokens - read - written, "output_tokens": usage.output_tokens,
                    "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
                }  # fmt: skip
        return {
            "promptTokenCount": usage.input_tokens, "candidatesTokenCount": usage.output_tokens,
            "cachedContentTokenCount": read, "totalTokenCount": usage.input_tokens + usage.output_tokens,
        }  # fmt: skip

    def answer(self, body: JSON) -> JSON:
        """Return the reply to a request's body."""
        content = DIALECTS[self.format].read(body, self.model)
        request = Request(
            format=self.format,
            messages=tuple(map(self._known, content.messages)),
            system=tuple(content.system or ()),
            tools=tuple(content.tools or ()),
        )
        usage = self.reported(self.take(request))
        match self.format:
            case "openai":
                choice = {"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
                return {
                    "id": "1", "object": "chat.completion", "created": 1, "model": self.model, "choices": [choice],
                    "usage": usage,
                }  # fmt: skip
            case "anthropic":
                return {
                    "id": "1", "type": "message", "role": "assistant", "model": self.model, "stop_reason": "end_turn",
                    "content": [{"type": "text", "text": "Yes."}], "stop_sequence": None, "usage": usage,
                }  # fmt: skip
        candidate = {"content": {"role": "model", "parts": [{"text": "Yes."}]}, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": self.model}

    @contextlib.contextmanager
    def served(self) -> Iterator[str]:
        """Serve it on loopback while the block runs; yields its base URL."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Nothing is logged."""

            def do_POST(self) -> None:
                """Answer."""
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                data = json.dumps(provider.answer(body)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


# -- both ways ---------------------------------------------------------------------------------------------------------

Call = Callable[[list[JSON], list[JSON]], None]
"""Sends a list and tools."""


@attrs.frozen(kw_only=True)
class Run:
    """What one way came to."""

    calls: int
    far: Share
    spent: float
    cached_percent: float
    sent: int
    collections: int


def called(format_name: str, url: str) -> Call:
    """Return what sends a list with the vendor's own client."""
    model = MODELS[format_name]
    match format_name:
        case "openai":
            chat = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
            system: Any = [{"role": "system", "content": SYSTEM}]

            def send(held: list[Any], tools: list[Any]) -> None:
                chat.chat.completions.create(model=model, messages=system + held, tools=tools)
        case "anthropic":
            claude = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
            block: Any = [{"type": "text", "text": SYSTEM, **MARK}]

            def send(held: list[Any], tools: list[Any]) -> None:
                claude.messages.create(model=model, max_tokens=1_000, messages=held, tools=tools, system=block)
        case _:
            google = genai.Client(api_key="none", http_options={"base_url": url})

            def send(held: list[Any], tools: list[Any]) -> None:
                settings: Any = {"tools": tools, "system_instruction": SYSTEM, "max_output_tokens": 1_000}
                google.models.generate_content(model=model, contents=held, config=settings)

    return send


def through_the_gateway(format_name: str, messages: Sequence[JSON], window: int) -> Run:
    """Drive the session through the gateway by the vendor's own client."""
    provider = Provider(format_name)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        upstream = stack.enter_context(provider.served())
        settings = Settings(
            directory=Path(folder) / "lanes",
            upstreams={format_name: upstream},
            windows={"*": window},
            config=GCConfig(strategy="gc_budget", output_reservation=1_000),
        )
        url, gateway = stack.enter_context(running(settings))
        send = called(format_name, url)
        return driven(format_name, messages, provider, send, lambda: gateway.lanes.totals().collections)


def straight(format_name: str, messages: Sequence[JSON]) -> Run:
    """Drive the session by the vendor's own client, with nothing before the provider."""
    provider = Provider(format_name)
    with provider.served() as upstream:
        return driven(format_name, messages, provider, called(format_name, upstream), lambda: 0)


def in_process(format_name: str, messages: Sequence[JSON], window: int) -> Run:
    """Drive the session through ``GCSession.sync``."""
    provider = Provider(format_name)
    config = GCConfig(strategy="gc_budget", context_limit=window - 1_000, output_reservation=0)
    with GCSession(config, format=format_name, model=MODELS[format_name]) as session:

        def send(held: list[JSON], tools: list[JSON]) -> None:
            mark = MARK if format_name == "anthropic" else {}
            system = [{"type": "text", "text": SYSTEM, **mark}] if format_name != "gemini" else [{"text": SYSTEM}]
            if format_name == "openai":
                request = session.sync([{"role": "system", "content": SYSTEM}, *held], tools=tools)
            else:
                request = session.sync(held, system=system, tools=tools)
            session.report_usage(provider.reported(provider.take(request)))

        return driven(format_name, messages, provider, send, lambda: len(session.history()))


def driven(
    format_name: str, messages: Sequence[JSON], provider: Provider, send: Call, collections: Callable[[], int]
) -> Run:
    """Send each list of the session, and judge what came to the provider."""
    listed = list(CONVERTED[format_name](messages))
    form, counter = format_named(format_name), counter_for(provider.model, format_name)
    transcript = Transcript(path=Path("session"), format=format_name, messages=tuple(listed))
    judge = FarFitJudge(uses_of(transcript), format=format_name, window=10**9, recall=None, counter=counter)
    lengths = [sum(map(counter.count, message_texts(message, form))) for message in listed]
    tools, far, calls = tools_of(format_name, messages), Share(), 0
    for place, held in lists_of(format_name, listed):
        send(held, tools)
        request, tokens = provider.last or (None, 0)
        # The judge measures far uses where the history is long; here the whole session is to count.
        far = far.plus(judge.fit(place, request, tokens=tokens, without=10**9 + sum(lengths[:place])).far)
        calls += 1
    return Run(
        calls=calls,
        far=far,
        spent=provider.spent,
        cached_percent=100 * provider.cached / provider.sent,
        sent=provider.sent,
        collections=collections(),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_620)
    parser.add_argument("--window", type=int, default=64_000)
    parser.add_argument("--format", choices=list(MODELS), action="append")
    options = parser.parse_args()
    messages = recorded(corpus() / "concat-entire-336605.jsonl", options.messages)
    print("| client | way | calls | collections | far fit % | cost USD | cache read % | margin: far fit, cost |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for name in options.format or MODELS:
        inside = in_process(name, messages, options.window)
        outside = through_the_gateway(name, messages, options.window)
        cost = 100 * (outside.spent / inside.spent - 1)
        margin = f"{outside.far.percent - inside.far.percent:+.2f} points, {cost:+.2f} %"
        for way, run, last in (("in process", inside, ""), ("gateway", outside, margin)):
            print(
                f"| {name} | {way} | {run.calls} | {run.collections} | {run.far.percent:.1f} | {run.spent:.2f} "
                f"| {run.cached_percent:.1f} | {last} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
