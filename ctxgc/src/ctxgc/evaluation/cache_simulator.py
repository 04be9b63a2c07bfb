"""
Simulates a provider's prompt cache: its report for a request at a moment, by the rules in ``terms``.

Left out, because a request does not say it: thinking that the provider drops by itself, settings outside the request
(tool choice, effort), and caches that lose an entry early. Equal requests at the same moment are simulated, see
``reply_seconds``.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from gc_core.errors import RuleError
from gc_core.providers import format_named
from gc_core.providers.cache_terms import CacheTerms
from gc_core.providers.contract import Format, TokenCounter
from gc_core.providers.token_counting import framing_tokens, part_tokens, schema_tokens
from gc_core.values.messages import MARKED_LEVELS, MARKS, Payload, Request, Usage, digest_of, without_marks

_HOUR, _MINUTES = "1h", "5m"
_SPARE = 100
_BLOCKS = ("content", "parts", "output")
"""The fields in which messages of the formats have their blocks."""


@attrs.frozen
class _Segment:
    """A block, in the order in which the provider hashes: its kind, its tokens, and the mark on it ("" for none)."""

    digest: bytes
    tokens: int
    mark: str = ""


@attrs.define
class _Entry:
    """A written prefix: its life, its last use, and when it becomes readable; in seconds of the clock."""

    life: float
    used: float
    readable: float

    def holds(self, now: float) -> bool:
        return self.readable <= now <= self.used + self.life


@attrs.frozen(kw_only=True)
class _Prompt:
    """A request as the cache sees it: an id and the tokens of each prefix, block by block."""

    prefixes: Sequence[int]
    tokens: Sequence[int]
    marks: tuple[tuple[int, str], ...]

    @property
    def total(self) -> int:
        return self.tokens[-1] if self.tokens else 0


@attrs.define(kw_only=True)
class _Chain:
    """The previous request, payload by payload, so that the next one is read from where it differs."""

    of: tuple[str, bytes]
    root: int
    base: int
    payloads: list[Payload] = attrs.Factory(list)
    segments: list[tuple[_Segment, ...]] = attrs.Factory(list)
    ends: list[int] = attrs.Factory(list)
    prefixes: list[int] = attrs.Factory(list)
    tokens: list[int] = attrs.Factory(list)
    marks: list[tuple[int, str]] = attrs.Factory(list)

    @classmethod
    def empty(cls, format: str, key: bytes, root: int, base: int) -> _Chain:  # noqa: A002 - the request's own word
        return cls(of=(format, key), root=root, base=base)

    def shared(self, payloads: Sequence[Payload], read: Callable[[int, Payload], tuple[_Segment, ...]]) -> int:
        """Return the number of equal leading payloads; a mark is set on a copy."""
        for at, (old, new) in enumerate(zip(self.payloads, payloads, strict=False)):
            if old is not new:
                if read(at, new) != self.segments[at]:
                    return at
                self.payloads[at] = new
        return min(len(self.payloads), len(payloads))

    def cut(self, payloads: int) -> None:
        """Keep this many payloads."""
        segments = self.ends[payloads - 1] if payloads else 0
        del self.payloads[payloads:], self.segments[payloads:], self.ends[payloads:]
        del self.prefixes[segments:], self.tokens[segments:]
        while self.marks and self.marks[-1][0] >= segments:
            self.marks.pop()

    def add(self, payload: Payload, segments: tuple[_Segment, ...], id_of: Callable[[int, bytes], int]) -> None:
        """Add a payload at the end."""
        prefix = self.prefixes[-1] if self.prefixes else self.root
        total = self.tokens[-1] if self.tokens else self.base
        for segment in segments:
            if segment.mark:
                self.marks.append((len(self.prefixes), segment.mark))
            prefix, total = id_of(prefix, segment.digest), total + segment.tokens
            self.prefixes.append(prefix)
            self.tokens.append(total)
        self.payloads.append(payload)
        self.segments.append(segments)
        self.ends.append(len(self.prefixes))


class CacheSimulator:
    """
    The cache of one organisation and model: give the same one to all sessions that share it.

    Tools come first in a prefix, then system blocks, then the blocks of the messages; a string is one text block, and
    marks are not part of it. Tokens are those of ``counter``, so that read, written and fresh ones are the request's.

    Args:
        terms: The provider's rules.
        counter: Counts the tokens of blocks.

    """

    def __init__(self, terms: CacheTerms, counter: TokenCounter) -> None:
        self.terms = terms
        self._counter = counter
        self._ids: dict[tuple[int, bytes], int] = {}
        self._entries: dict[int, _Entry] = {}
        self._read: dict[int, tuple[Payload, tuple[_Segment, ...]]] = {}
        self._chain = _Chain.empty("", b"", 0, 0)
        self._now = 0.0
        self._at: float | None = None

    def call(self, request: Request, at: float = 0.0, *, output_tokens: int = 0, reply_seconds: float = 0.0) -> Usage:
        """
        Return what the provider would report for a request.

        Args:
            request: As it is sent, with its marks and options.
            at: When, in seconds of any clock. One that goes backwards counts as no time passed.
            output_tokens: Tokens of the reply.
            reply_seconds: Seconds until the reply begins. The prefix that this request writes cannot be read before.

        Raises:
            RuleError: More marks than the provider takes, or one of a longer life after one of a shorter.

        """
        self._pass(at)
        prompt = self._prompt(request)
        if self.terms.explicit_marks:
            read, written, written_1h = self._by_marks(prompt, self._now + max(0.0, reply_seconds))
        else:
            read, written = self._by_prefix(prompt, self._now + max(0.0, reply_seconds))
            written_1h = 0
        return Usage(
            input_tokens=prompt.total,
            output_tokens=output_tokens,
            cache_read_tokens=read,
            cache_write_tokens=written,
            cache_write_1h_tokens=written_1h,
        )

    def _pass(self, at: float) -> None:
        if self._at is not None:
            self._now += max(0.0, at - self._at)
        self._at = at

    # -- caches that are written at marks ------------------------------------------------------------------------------

    def _by_marks(self, prompt: _Prompt, readable: float) -> tuple[int, int, int]:
        """Return the tokens read, written, and written for an hour."""
        marks = self._allowed(prompt.marks)
        found = [at for at in (self._search(prompt, mark) for mark, _ in marks) if at is not None]
        read = prompt.tokens[max(found)] if found else 0
        for at in found:
            self._entries[prompt.prefixes[at]].used = self._now
        end, written, written_1h = read, 0, 0
        for at, ttl in marks:
            if prompt.tokens[at] < self.terms.least_tokens:
                continue
            self._write(prompt.prefixes[at], self.terms.seconds(ttl), readable)
            new = max(0, prompt.tokens[at] - end)
            end, written, written_1h = end + new, written + new, written_1h + new * (ttl == _HOUR)
        return read, written, written_1h

    def _allowed(self, marks: tuple[tuple[int, str], ...]) -> tuple[tuple[int, str], ...]:
        """Return the marks that count. Raises RuleError where the provider would refuse them."""
        most = self.terms.most_marks
        if not self.terms.writes_at_marks:
            return marks[-most:]  # OpenAI keeps the latest
        if len(marks) > most:
            raise RuleError(f"{len(marks)} cache marks, the provider takes {most}")
        lives = [self.terms.seconds(ttl) for _, ttl in marks]
        if any(later > earlier for earlier, later in itertools.pairwise(lives)):
            raise RuleError(f"a cache mark with a longer life follows a shorter one: {[ttl for _, ttl in marks]}")
        return marks

    def _search(self, prompt: _Prompt, mark: int) -> int | None:
        """Return the nearest block at or before a mark up to which an earlier request wrote."""
        back = self.terms.look_back or mark + 1
        for at in range(mark, max(-1, mark - back), -1):
            entry = self._entries.get(prompt.prefixes[at])
            if entry is not None and entry.holds(self._now):
                return at
        return None

    # -- caches of any prefix ------------------------------------------------------------------------------------------

    def _by_prefix(self, prompt: _Prompt, readable: float) -> tuple[int, int]:
        """Return the tokens read and written."""
        shared = bisect.bisect(prompt.prefixes, 0, key=lambda prefix: not self._is_held(prefix))
        read = self._cacheable(prompt.tokens[shared - 1]) if shared else 0
        for prefix in prompt.prefixes:
            self._write(prefix, self.terms.ttl_seconds, readable)
        # If writing costs nothing, it is not reported.
        written = max(0, self._cacheable(prompt.total) - read) if self.terms.write > 1.0 else 0
        return read, written

    def _is_held(self, prefix: int) -> bool:
        entry = self._entries.get(prefix)
        return entry is not None and entry.holds(self._now)

    def _cacheable(self, tokens: int) -> int:
        """Return how much of a prefix is cached: nothing below the minimum, otherwise whole steps."""
        return 0 if tokens < self.terms.least_tokens else tokens - tokens % self.terms.step_tokens

    def _write(self, prefix: int, life: float, readable: float) -> None:
        """Write an entry, or renew one that is valid or being written."""
        entry = self._entries.get(prefix)
        if entry is None or self._now > entry.used + entry.life:
            self._entries[prefix] = _Entry(life, self._now, readable)
        else:
            entry.used, entry.life = self._now, max(entry.life, life)
            entry.readable = min(entry.readable, readable)

    # -- reading a request ---------------------------------------------------------------------------------------------

    def _prompt(self, request: Request) -> _Prompt:
        """
        Read the request as a prompt: only what differs from the previous request is read, and only new content is
        digested and counted.
        """
        payloads = (*request.tools, *request.system, *request.messages)
        key = str(request.options.get("prompt_cache_key", "")).encode()
        if (request.format, key) != self._chain.of:
            self._chain = _Chain.empty(request.format, key, self._id(0, key), self._counter.per_request)
        chain = self._chain
        heads = len(request.tools), len(request.tools) + len(request.system)
        form = format_named(request.format)

        def read(at: int, payload: Payload) -> tuple[_Segment, ...]:
            known = self._read.get(id(payload))
            if known is None:
                level = (at >= heads[0]) + (at >= heads[1])
                known = payload, tuple((self._tool, self._system, self._message)[level](payload, form))
                self._read[id(payload)] = known  # which keeps the payload, and so its id, alive
            return known[1]

        shared = chain.shared(payloads, read)
        chain.cut(shared)
        for at, payload in enumerate(payloads[shared:], shared):
            chain.add(payload, read(at, payload), self._id)
        if len(self._read) > 2 * len(payloads) + _SPARE:
            self._read = {id(payload): self._read[id(payload)] for payload in payloads}
        marks = dict(chain.marks)
        automatic = self._automatic(request)
        if automatic and chain.prefixes:  # the last block, as an explicit mark would
            marks.setdefault(len(chain.prefixes) - 1, automatic)
        return _Prompt(prefixes=chain.prefixes, tokens=chain.tokens, marks=tuple(marks.items()))

    def _automatic(self, request: Request) -> str:
        """Return the life of the mark that the provider sets at the end by itself; "" if it sets none."""
        if self.terms.writes_at_marks:
            asked = _option(request, "cache_control")
            return str(asked.get("ttl", _MINUTES)) if asked else ""
        # OpenAI's, unless the request wants only its own marks.
        return "" if _option(request, "prompt_cache_options").get("mode") == "explicit" else _MINUTES

    def _id(self, before: int, digest: bytes) -> int:
        return self._ids.setdefault((before, digest), len(self._ids) + 1)

    def _tool(self, tool: Payload, _form: Format) -> Iterable[_Segment]:
        return (_Segment(b"tool" + digest_of(without_marks(tool)), schema_tokens(tool, self._counter), _mark(tool)),)

    def _system(self, block: Payload, _form: Format) -> Iterable[_Segment]:
        tokens = self._counter.count(str(block.get("text", "")))
        return (_Segment(b"system" + _digest(block), tokens, _mark(block)),)

    def _message(self, message: Payload, form: Format) -> Iterable[_Segment]:
        """Return one segment per block; the first one includes the message's other fields."""
        field = next((name for name in _BLOCKS if isinstance(message.get(name), str | list | tuple)), "")
        blocks = _blocks(message[field]) if field else []
        frame = digest_of({key: value for key, value in message.items() if key != field and key not in MARKS})
        tokens = [0] * max(1, len(blocks))
        tokens[0] = framing_tokens(message, form, self._counter)
        for part in form.read(message):
            inner = part.place[1] if len(part.place) > 1 and part.place[0] == field else 0
            tokens[inner if isinstance(inner, int) else 0] += part_tokens(part, self._counter)
        if not blocks:
            return (_Segment(frame, tokens[0], _mark(message)),)
        marks = [_mark(block) for block in blocks]
        marks[-1] = marks[-1] or (_own_mark(message) if field else "")
        digests = [_digest(block) for block in blocks]
        digests[0] = frame + digests[0]
        return map(_Segment, digests, tokens, marks)


def _blocks(content: Any) -> Sequence[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def _digest(block: Any) -> bytes:
    """Return the digest of a block in cacheable form; a text is the same whatever the format calls it."""
    if not isinstance(block, Mapping):
        return digest_of(block)
    bare = without_marks(block)
    if bare.keys() <= {"type", "text"} and isinstance(bare.get("text"), str):
        bare = {"text": bare["text"]}
    return digest_of(bare)


def _mark(block: Any, levels: int = MARKED_LEVELS) -> str:
    """Return the life that a mark on a block, or inside it, requests; "" if there is none."""
    if not isinstance(block, Mapping) or not levels:
        return ""
    inner = (_mark(each, levels - 1) for name in _BLOCKS for each in _listed(block.get(name)))
    return _own_mark(block) or next(filter(None, inner), "")


def _own_mark(block: Payload) -> str:
    marks = (block[field] for field in MARKS if block.get(field))
    return next((str(mark.get("ttl", _MINUTES)) if isinstance(mark, Mapping) else _MINUTES for mark in marks), "")


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else ()


def _option(request: Request, name: str) -> Mapping[str, Any]:
    """Return an option of the request, whether the provider's client knows it or not."""
    extra = request.options.get("extra_body")
    found = request.options.get(name) or (extra.get(name) if isinstance(extra, Mapping) else None)
    return found if isinstance(found, Mapping) else {}
