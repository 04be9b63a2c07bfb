"""Reads the payloads of either format: blocks, calls, answers, thinking."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from gc_core.values.messages import Payload, Request

THINKING = frozenset({"thinking", "redacted_thinking"})


def blocks_of(message: Payload) -> Sequence[Payload]:
    """Return the content blocks of a message; a string is one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content or []


def is_empty_text(block: Payload) -> bool:
    """Return whether it is an empty text block."""
    return block.get("type") == "text" and not block.get("text")


def calls_of(message: Payload) -> list[Payload]:
    """Return the calls of an assistant message, whole."""
    return [*(message.get("tool_calls") or ()), *(b for b in blocks_of(message) if b.get("type") == "tool_use")]


def answers_in(messages: Sequence[Payload]) -> list[str]:
    """Return the ids that results in these messages answer, in order."""
    answers: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            answers.append(message.get("tool_call_id", ""))
        answers += [b.get("tool_use_id", "") for b in blocks_of(message) if b.get("type") == "tool_result"]
    return answers


def latest_reply(request: Request) -> int | None:
    """Return the index of the last assistant message, or None."""
    backwards = range(len(request.messages) - 1, -1, -1)
    return next((index for index in backwards if request.messages[index].get("role") == "assistant"), None)


def waiting_reply(request: Request) -> int | None:
    """Return the index of the last assistant message if some of its calls are unanswered, otherwise None."""
    index = latest_reply(request)
    if index is None:
        return None
    calls = Counter(call.get("id", "") for call in calls_of(request.messages[index]))
    return index if calls - Counter(answers_in(request.messages[index + 1 :])) else None


def said_in(message: Payload) -> tuple[list[object], list[object]]:
    """Return what distinguishes one reply from another, ignoring thinking and arguments."""
    texts: list[object] = [block.get("text") for block in blocks_of(message) if block.get("type") == "text"]
    return texts, [call.get("id") for call in calls_of(message)]


def thinking_runs(messages: Sequence[Payload]) -> Iterator[tuple[int, str]]:
    """Yield each run of thinking blocks as canonical JSON, with the index of its message."""
    for index, message in enumerate(messages):
        if not isinstance(message.get("content"), list):
            continue
        run: list[Payload] = []
        for block in (*blocks_of(message), {}):
            if block.get("type") in THINKING:
                run.append(block)
            elif run:
                yield index, json.dumps(run, sort_keys=True)
                run = []


def texts_of(message: Payload) -> list[str]:
    """Return the text of each block, for a result its whole text; "" for a block without text."""
    return [_text(block) for block in blocks_of(message)] or [""]


def _text(block: Payload) -> str:
    inner = block.get("content") if block.get("type") == "tool_result" else block.get("text")
    if isinstance(inner, list):
        return "".join(part.get("text", "") for part in inner)
    return inner if isinstance(inner, str) else ""
