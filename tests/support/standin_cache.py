"""What a request of the stand-in reads from the prompt cache, in any dialect, and how its usage report says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import attrs

from tests.support.provider_cache import MARKS, Position, PrefixCache, bare

JSON = dict[str, Any]


@attrs.frozen(kw_only=True)
class Used:
    """Tokens of one call: all of the input, what of it was read from the cache and written to it, and the output."""

    sent: int
    read: int = 0
    written: int = 0
    output: int = 20

    def anthropic(self):
        return {
            "input_tokens": self.sent - self.read - self.written,
            "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.written,
            "output_tokens": self.output,
        }

    def openai(self):
        return {
            "prompt_tokens": self.sent,
            "completion_tokens": self.output,
            "total_tokens": self.sent + self.output,
            "prompt_tokens_details": {"cached_tokens": self.read},
        }

    def responses(self):
        return {
            "input_tokens": self.sent,
            "output_tokens": self.output,
            "total_tokens": self.sent + self.output,
            "input_tokens_details": {"cached_tokens": self.read},
            "output_tokens_details": {"reasoning_tokens": 0},
        }

    def gemini(self):
        return {
            "promptTokenCount": self.sent,
            "candidatesTokenCount": self.output,
            "totalTokenCount": self.sent + self.output,
            "cachedContentTokenCount": self.read,
        }


def used(cache: PrefixCache, kind: str, body: JSON, *, sent: int, now: float) -> Used:
    """The usage of a request with so many tokens, which are shared out over its positions by their letters."""
    there = list(positions(body))
    extra = json.dumps([body.get(field) for field in ("tool_choice", "thinking")], sort_keys=True)
    found = (cache.anthropic if kind == "anthropic" else cache.openai)(str(body["model"]), extra, there, now)
    read = min(found.read, sent)
    return Used(sent=sent, read=read, written=min(found.written + found.written_1h, sent - read))


def positions(body: JSON) -> Iterator[Position]:
    """What a prefix is made of: tools, system blocks, and the blocks of each message."""
    for tool in body.get("tools") or ():
        yield _position("tools", "", tool)
    system = body.get("system") or body.get("systemInstruction") or body.get("instructions") or ()
    for block in [system] if isinstance(system, str | dict) else system:
        yield _position("system", "", block)
    for message in next((body[name] for name in ("messages", "input", "contents") if name in body), ()):
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        frame = bare({**message, "content": None})
        for block in blocks:
            yield _position("messages", frame, block)
            frame = ""


def _position(level: str, frame: str, block: Any) -> Position:
    text = frame + bare(block)
    return Position(level=level, bare=text, tokens=len(text) // 4, ttl=_life(block))


def _life(block: Any) -> str | None:
    """How long a mark asks its prefix to be kept; None without a mark."""
    mark = next((block[name] for name in MARKS if block.get(name)), None) if isinstance(block, dict) else None
    return None if mark is None else mark.get("ttl", "5m")
