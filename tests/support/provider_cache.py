"""
The prompt cache of the loopback provider, by the vendors' documents; it shares no code with ``gc_core``.

Anthropic (guide of 22 August 2026): entries are written only at marks; a mark reads by walking back over at most 20
positions, itself the first, to one that an earlier request wrote; tools, system, messages; an entry lives from its last
use. OpenAI: every prefix from 1,024 tokens on is kept without being asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

JSON = dict[str, Any]

LOOK_BACK = 20
LIVES = {"5m": 300.0, "1h": 3_600.0}
IDLE = 300.0
"""Seconds that OpenAI keeps an unused prefix."""

MARKS = ("cache_control", "prompt_cache_breakpoint")

LEAST = {
    "claude-opus-5-5": 512,
    "claude-opus-5": 512,
    "claude-fable-5": 512,
    "claude-opus-4-7": 2_048,
    "claude-opus-4-6": 4_096,
    "claude-opus-4-5": 4_096,
    "claude-haiku": 4_096,
}
"""Tokens below which nothing is cached, by the starts of models' names; others: 1,024."""

BINDING = (
    *("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-1", "claude-fable-5-2"),
    *("claude-mythos-5-1", "claude-mythos-5-2"),
)
"""Models that bind thinking to the content before it."""


@attrs.frozen(kw_only=True)
class Position:
    """A tool, a system block or a block of a message: its content, its tokens, and the life that its mark asks for."""

    level: str
    bare: str
    tokens: int
    ttl: str | None = None


@attrs.frozen(kw_only=True)
class Read:
    """Tokens of one request: read from the cache, written to it for five minutes and for an hour."""

    read: int = 0
    written: int = 0
    written_1h: int = 0


@attrs.define
class _Entry:
    life: float
    until: float


class PrefixCache:
    """
    The prefixes that requests have written: by the digest of a prefix, with its life in seconds of a clock that tests
    set.
    """

    def __init__(self) -> None:
        self._entries: dict[bytes, _Entry] = {}

    def anthropic(self, model: str, extra: str, positions: Sequence[Position], now: float) -> Read:
        """One request of Anthropic's: what it reads and writes. Below the minimum it does neither, and says nothing."""
        chain = list(chained(model, extra, positions))
        sums = list(running([position.tokens for position in positions]))
        marks = [at for at, position in enumerate(positions) if position.ttl and sums[at] >= least_of(model)]
        hit = max((self._look_back(chain, mark, now) for mark in marks), default=-1)
        if hit >= 0:
            self._touch(chain[hit], now)
        for mark in marks:
            self._write(chain[mark], LIVES[positions[mark].ttl or "5m"], now)
        read = sums[hit] if hit >= 0 else 0
        end = max((sums[mark] for mark in marks), default=0)
        end_1h = max((sums[mark] for mark in marks if positions[mark].ttl == "1h"), default=0)
        written_1h = max(0, end_1h - read)
        return Read(read=read, written=max(0, end - read) - written_1h, written_1h=written_1h)

    def openai(self, model: str, extra: str, positions: Sequence[Position], now: float) -> Read:
        """One request of OpenAI's: the longest prefix that is there, in steps of 128 tokens; all of it is kept."""
        chain = list(chained(model, extra, positions))
        sums = list(running([position.tokens for position in positions]))
        hit = max((at for at, digest in enumerate(chain) if self._is_there(digest, now)), default=-1)
        read = sums[hit] // 128 * 128 if hit >= 0 and sums[hit] >= 1_024 else 0
        for digest in chain:
            self._write(digest, IDLE, now)
        return Read(read=read)

    def _look_back(self, chain: Sequence[bytes], mark: int, now: float) -> int:
        reach = range(mark, max(-1, mark - LOOK_BACK), -1)
        return next((at for at in reach if self._is_there(chain[at], now)), -1)

    def _is_there(self, digest: bytes, now: float) -> bool:
        entry = self._entries.get(digest)
        return entry is not None and now <= entry.until

    def _touch(self, digest: bytes, now: float) -> None:
        entry = self._entries[digest]
        entry.until = now + entry.life

    def _write(self, digest: bytes, life: float, now: float) -> None:
        old = self._entries.get(digest)
        if old is not None and now <= old.until:
            life = max(life, old.life)
        self._entries[digest] = _Entry(life, now + life)


class Seals:
    """The thinking that the provider returned, and the content before it then."""

    def __init__(self) -> None:
        self._prefixes: dict[str, bytes] = {}

    def sealed(self, message: JSON, prefix: bytes) -> JSON:
        """The reply with signatures of our own, as long as those of the script."""
        if not isinstance(message.get("content"), list):
            return message
        return {**message, "content": [self._sealed_block(block, prefix) for block in message["content"]]}

    def _sealed_block(self, block: JSON, prefix: bytes) -> JSON:
        field = {"thinking": "signature", "redacted_thinking": "data"}.get(block["type"])
        if field is None:
            return block
        fresh = hashlib.blake2b(f"{len(self._prefixes)}".encode() + prefix, digest_size=12).hexdigest()
        seal = fresh + block[field][len(fresh) :]
        self._prefixes[seal] = prefix
        return {**block, field: seal}

    def complaints(self, messages: Sequence[JSON], before: Sequence[bytes]) -> Iterator[str]:
        """The faults of a request's thinking; ``before`` has a digest of the content before each message."""
        for index, message in enumerate(messages):
            blocks = message["content"] if isinstance(message["content"], list) else []
            for at, block in enumerate(blocks):
                field = {"thinking": "signature", "redacted_thinking": "data"}.get(block["type"])
                if field is None:
                    continue
                bound = self._prefixes.get(block[field])
                if bound is None:
                    yield f"messages.{index}.content.{at}: Invalid `{field}` in `{block['type']}` block"
                elif bound != before[index]:
                    yield (
                        f"messages.{index}.content.{at}: Invalid signature in thinking block. The block is bound to a "
                        "different conversation"
                    )


def chained(model: str, extra: str, positions: Sequence[Position]) -> Iterator[bytes]:
    """The digest of the prefix that ends at each position; ``extra`` is what only messages depend on."""
    digest = model.encode()
    opened = False
    for position in positions:
        if position.level == "messages" and not opened:
            opened = True
            digest += extra.encode()
        digest = hashlib.blake2b(digest + position.bare.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        yield digest


def running(numbers: Sequence[int]) -> Iterator[int]:
    """The sums up to and including each number."""
    total = 0
    for number in numbers:
        total += number
        yield total


def least_of(model: str) -> int:
    """Tokens below which this model caches nothing."""
    known = [start for start in LEAST if model.startswith(start)]
    return LEAST[max(known, key=len)] if known else 1_024


def binds(model: str) -> bool:
    """Whether this model binds thinking."""
    return model.startswith(BINDING)


def order_complaint(positions: Sequence[Position]) -> str | None:
    """A longer life has to precede a shorter one."""
    lives = [position.ttl for position in positions if position.ttl]
    for place, ttl in enumerate(lives):
        if ttl == "1h" and "5m" in lives[:place]:
            return (
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks "
                "are processed in the following order: `tools`, `system`, `messages`."
            )
    return None


def breakpoint_complaint(body: JSON) -> str | None:
    """OpenAI's marks are on parts of messages, in models from GPT-5.6 on, and have one shape."""
    known = not str(body.get("model")).startswith(("gpt-4", "gpt-5")) or str(body.get("model")).startswith("gpt-5.6")
    for path, block in _openai_blocks(body):
        mark = block.get("prompt_cache_breakpoint")
        if mark is None:
            continue
        if not known or ".content[" not in path:
            return f"Unknown parameter: '{path}.prompt_cache_breakpoint'."
        if mark.get("mode") != "explicit":
            return f"Invalid value: '{path}.prompt_cache_breakpoint.mode'."
        if block["type"] == "text" and not block["text"]:
            return f"Invalid '{path}.text': a breakpoint on an empty text."
    return None


def _openai_blocks(body: JSON) -> Iterator[tuple[str, JSON]]:
    for index, tool in enumerate(body.get("tools") or []):
        yield f"tools[{index}]", tool
    items = body.get("messages") or body.get("input") or []
    for index, message in enumerate(items if isinstance(items, list) else []):
        yield f"messages[{index}]", message
        content = message.get("content")
        for at, block in enumerate(content if isinstance(content, list) else []):
            yield f"messages[{index}].content[{at}]", block


def bare(value: Any) -> str:
    """Canonical JSON without marks; a string as content is one text block."""
    return json.dumps(_without_marks(value), sort_keys=True, ensure_ascii=False)


def _without_marks(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_marks(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    plain = {key: _without_marks(inner) for key, inner in value.items() if key not in MARKS}
    if isinstance(plain.get("content"), str):
        plain["content"] = [{"type": "text", "text": plain["content"]}] if plain["content"] else []
    return plain
