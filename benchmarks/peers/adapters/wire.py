"""
Code shared by all adapters: the wire, the counter, and the stub in the place of a model that summarises.

An adapter runs in its peer's virtual environment, as a process that reads and writes one JSON object a line. The first
line it gets is an ``Opening``; then each line brings the messages since the last model call, in OpenAI's shape, and is
answered by what the peer would send now: the number of a message of the history where the peer left it as it came, the
message itself where it wrote another, and the seconds that the peer's own code took. An exception of the peer is an
answer too.

Standard library and tiktoken alone, whose ranks the benchmark lays ready (``TIKTOKEN_CACHE_DIR``).
"""

from __future__ import annotations

import asyncio
import bisect
import functools
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import tiktoken

SUMMARY_TOKENS = 2_000
"""Tokens of a summary that the stub writes, at most."""

LINE_CHARS = 240
"""Characters of a line that the stub copies, at most."""

PER_MESSAGE, PER_CALL, PER_RESULT = 3, 8, 7
"""Tokens of framing, as gc-core's own counter has them."""

_FILE_NAME = re.compile(r"[\w~.-]*/[\w./~-]*\w|\b[\w-]+\.(?:[a-z][a-z0-9]{0,4})\b")
_RAW = "_raw"

Message = dict[str, Any]
"""A message in OpenAI's shape."""


@dataclass(frozen=True)
class Opening:
    """
    The first message to a peer; tokens that are left for messages, behind system text and tool schemas.

    Attributes:
        window: Tokens of messages that fit.
        trigger: Tokens at which to begin, where the peer has such a knob.
        target: Tokens to come down to, where the peer has such a knob.

    """

    window: int
    trigger: int
    target: int


class Adapter(Protocol):
    """A peer at work in one session."""

    def hear(self, messages: Sequence[Message]) -> None:
        """Take in what was said since the last call."""

    def collect(self) -> None:
        """Do what the peer does before a model call; this alone is timed."""

    def messages(self) -> Iterable[Message]:
        """What would be sent now."""


@dataclass(frozen=True)
class Call:
    """A tool call; arguments that are no JSON object are kept as they came."""

    id: str
    name: str
    arguments: dict[str, Any]


def serve(make: Callable[[Opening], Adapter]) -> None:
    """Speak with the benchmark until it closes the pipe."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a peer prints is no answer
    lines = (json.loads(line) for line in sys.stdin)
    count("")  # loads the ranks: the time of no call
    adapter = make(Opening(**next(lines)))
    places: dict[str, list[int]] = {}
    received = 0
    _write(out, {"ready": True})
    for line in lines:
        for message in line["new"]:
            places.setdefault(_normal(message), []).append(received)
            received += 1
            tokens_of(message)  # remembered: what is new is counted before the peer is timed, as a session's ingest is
        _write(out, _answer(adapter, line["new"], places))


def tokens_of(message: Message) -> int:
    """Tokens of a message, counted as the benchmark counts them."""
    return message_tokens(
        message.get("content") or "",
        ((call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls") or ()),
        is_result=message["role"] == "tool",
    )


def message_tokens(content: str, calls: Iterable[tuple[str, str]], *, is_result: bool) -> int:
    """Tokens of a message with this text and these calls (name and arguments)."""
    called = sum(PER_CALL + count(name) + count(arguments) for name, arguments in calls)
    return PER_MESSAGE + count(content) + called + PER_RESULT * is_result


@functools.lru_cache(maxsize=65_536)
def count(text: str) -> int:
    """Tokens of a text by o200k_base."""
    return len(_encoding().encode_ordinary(text))


def summary_of(texts: Iterable[str], tokens: int = SUMMARY_TOKENS) -> str:
    """
    The summary of the stub: the lines that name a file, each once, in their order; the newest where all are too many.

    It stands in the place of a model: the same for the same texts, free, and better at keeping names than at meaning.
    """
    lines = [line.strip()[:LINE_CHARS] for text in texts for line in text.splitlines() if _FILE_NAME.search(line)]
    kept: dict[str, None] = {}
    room = tokens
    for line in reversed(lines):
        cost = count(line) + 1
        if line in kept:
            continue
        if cost > room:
            break
        kept[line] = None
        room -= cost
    return "\n".join(reversed(kept)) or "No file was named."


def calls_of(message: Message) -> Iterator[Call]:
    """The tool calls of a message."""
    for call in message.get("tool_calls") or ():
        yield Call(
            id=call["id"], name=call["function"]["name"], arguments=_arguments(call["function"]["arguments"] or "")
        )


def said(content: str, calls: Iterable[Call]) -> Message:
    """An assistant message."""
    blocks = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}
        for call in calls
    ]
    return {"role": "assistant", "content": content or None, **({"tool_calls": blocks} if blocks else {})}


def arguments_text(call: Call) -> str:
    """The arguments as a provider takes them."""
    raw = call.arguments.get(_RAW) if len(call.arguments) == 1 else None
    return raw if isinstance(raw, str) else json.dumps(call.arguments, ensure_ascii=False)


class Loop:
    """One event loop for a peer whose code is asynchronous."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, work: Any) -> Any:
        """The result of a coroutine."""
        return self._loop.run_until_complete(work)


# -- inside ----------------------------------------------------------------------------------------------------------


def _answer(adapter: Adapter, new: Sequence[Message], places: dict[str, list[int]]) -> dict[str, Any]:
    try:
        adapter.hear(new)
        started = time.perf_counter()
        adapter.collect()
        seconds = time.perf_counter() - started
        messages = list(_numbered(adapter.messages(), places))
    except Exception as error:  # noqa: BLE001 - a peer may raise anything; the benchmark counts it
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    return {"messages": messages, "seconds": seconds}


def _numbered(messages: Iterable[Message], places: dict[str, list[int]]) -> Iterator[int | Message]:
    """Numbers of the unchanged messages, in their order, by which equal ones are distinguished."""
    following = 0
    for message in messages:
        known = places.get(_normal(message), [])
        if not known:
            yield message
            continue
        at = bisect.bisect_left(known, following)
        number = known[min(at, len(known) - 1)]
        following = number + 1
        yield number


def _normal(message: Message) -> str:
    """A message without what providers write in ways of their own."""
    calls = [(call.id, call.name, call.arguments) for call in calls_of(message)]
    parts = [message["role"], message.get("content") or "", message.get("tool_call_id") or "", calls]
    return json.dumps(parts, sort_keys=True)


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {_RAW: text}
    return value if isinstance(value, dict) else {_RAW: text}


@functools.cache
def _encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding("o200k_base")


def _write(out: Any, value: dict[str, Any]) -> None:
    out.write(json.dumps(value) + "\n")
    out.flush()
