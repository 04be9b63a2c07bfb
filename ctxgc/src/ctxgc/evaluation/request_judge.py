"""
Judges rendered requests by the transcript: tokens, prefixes, rules, and content that must not be missing.

It counts requests independently: nothing here asks a session or its budget.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from ctxgc.evaluation.call_measures import Prompt, Sent, Share
from ctxgc.evaluation.transcripts import Transcript
from gc_core.providers import format_named, provider_named
from gc_core.providers.contract import Format, TokenCounter
from gc_core.providers.model_families import family
from gc_core.providers.rules import check_request
from gc_core.providers.rules.prefix import first_change
from gc_core.providers.token_counting import counter_for, framing_tokens, part_tokens, schema_tokens
from gc_core.values.items import ItemKind
from gc_core.values.json_values import strings
from gc_core.values.messages import Payload, Request, Role, without_marks

_UNBROKEN = 2
"""Messages at the end of a request that may change without a break."""


@attrs.frozen(kw_only=True, eq=False)
class _Seen:
    """A message, read once; it keeps the payload alive, so that its identity stays its own."""

    payload: Payload
    tokens: int
    thinking: int
    texts: tuple[str, ...]
    said: tuple[str, ...]


@attrs.frozen(kw_only=True, eq=False)
class _Rendered:
    """A request, the tokens before its messages, and its messages, each with its tokens there."""

    request: Request
    head_tokens: int
    messages: tuple[_Seen, ...]
    weights: tuple[int, ...]

    @property
    def tokens(self) -> int:
        return self.head_tokens + sum(self.weights)

    def tokens_of(self, messages: int | None) -> int:
        """Return the tokens up to this many messages; None is nothing at all."""
        return 0 if messages is None else self.head_tokens + sum(self.weights[:messages])


@attrs.define
class _UserTexts:
    """The user's texts, and the share of them that a request still contains. Repeated texts must occur as often."""

    counted: dict[str, int] = attrs.Factory(dict)
    times: Counter[str] = attrs.Factory(Counter)

    def add(self, text: str, tokens: int) -> None:
        self.counted[text] = tokens
        self.times[text] += 1

    def share(self, there: Counter[str]) -> Share:
        return Share(
            kept=sum(self.counted[text] * min(times, there[text]) for text, times in self.times.items()),
            whole=sum(self.counted[text] * times for text, times in self.times.items()),
        )


@attrs.define
class _Exchanges:
    """
    The messages of the history, by what they say, and where its exchanges begin: at each user message that follows
    none.
    """

    keys: list[int] = attrs.Factory(list)
    tokens: list[int] = attrs.Factory(list)
    starts: list[int] = attrs.Factory(list)
    known: set[int] = attrs.Factory(set)
    said_last: bool = False

    def add(self, seen: _Seen, *, said: bool) -> None:
        if said and not self.said_last:
            self.starts.append(len(self.keys))
        self.said_last = said
        self.keys.append(hash(seen.texts))
        self.tokens.append(seen.tokens)
        self.known.add(self.keys[-1])

    def continuity(self, messages: Sequence[_Seen], room: int) -> Share:
        """
        Return the newest whole exchanges that are there in one unbroken run at the end, of those that this many tokens
        could hold beside the first message and the open exchange; what a collector wrote between them breaks nothing.
        """
        could = self._could_hold(room)
        unchanged, run = self._same(messages), 0
        for start, end in itertools.pairwise(reversed(self.starts)):
            if end < unchanged or not could:
                break
            run += sum(self.tokens[end:start])
        return Share(kept=min(run, could), whole=could)

    def _same(self, messages: Sequence[_Seen]) -> int:
        """Return from where on every message of the history is in the request."""
        place = len(self.keys)
        for seen in reversed(messages):
            key = hash(seen.texts)
            if key not in self.known:
                continue
            if not place or self.keys[place - 1] != key:
                break
            place -= 1
        return place

    def _could_hold(self, room: int) -> int:
        if len(self.starts) <= 1:
            return 0
        opened = sum(self.tokens[self.starts[-1] :])
        held, best = opened + self.tokens[self.starts[0]], 0
        for start, end in itertools.pairwise(reversed(self.starts)):
            held += sum(self.tokens[end:start])
            if held > room:
                break
            best = held - opened - self.tokens[self.starts[0]]
        return best


class Meter:
    """
    Measures the requests of one replayed session.

    Pass it every message of the transcript with ``hear``, and judge each request with ``measure`` before the next
    message is heard.

    Args:
        window: Tokens that a request may have; 0 where chats are not measured.
        transcript: The transcript to replay; its LOCKED content is: system texts, tool schemas, and every text of the
            first run of user messages.
        model: The model whose counts are meant, by default the format's usual one.

    """

    def __init__(self, transcript: Transcript, *, model: str | None = None, window: int = 0) -> None:
        self._window = window
        self._exchanges = _Exchanges()
        self._format: Format = format_named(transcript.format)
        self._counter: TokenCounter = counter_for(model, transcript.format)
        self._keeps_thinking = family(model, transcript.format).keeps_thinking
        self._tools = transcript.tools
        self._locked = [text for text in transcript.system if text.strip()]
        self._holders: dict[str, Payload] = {}
        self._typed = _UserTexts()
        self._request = _UserTexts()
        self._request_open = True
        self._users: set[str] = set()
        self._previous: _Rendered | None = None
        self._known: dict[int, _Seen] = {}
        self._counter.count("")  # loads the vocabulary, once a process: the time of no call
        self._history = self._opening(transcript)
        self._thinking = 0
        self._history_sent = 0
        self.locked_tokens = self._history

    # -- the transcript --------------------------------------------------------------------------------

    def hear(self, payload: Payload) -> None:
        """Note a message of the transcript."""
        seen = self._read(payload)
        role = self._format.role(payload)
        self._exchanges.add(seen, said=role is Role.USER and bool(seen.said))
        self._history += seen.tokens
        self._thinking += seen.thinking
        if role is Role.USER and seen.said:
            self._hear_user(seen)
        elif role is Role.SYSTEM:
            self._lock(seen)
        elif role is Role.ASSISTANT and self._request.times:
            self._request_open = False

    @property
    def tokens_without(self) -> int:
        """Tokens of the whole history, that is of the next request without any collection."""
        return self._history + self._thinking

    # -- requests ---------------------------------------------------------------------------------------

    def measure(self, request: Request) -> Sent:
        """Judge a request that is about to be sent; the next one is compared with it."""
        now, before = self._rendered(request), self._previous
        unchanged = None if before is None else _unchanged(before.request, now.request)
        there = Counter(text for seen in now.messages for text in seen.said)
        self._previous, self._history_sent = now, self.tokens_without
        sent = 0 if before is None else len(before.messages)
        return Sent(
            prompt=Prompt(tokens=now.tokens, cached=now.tokens_of(unchanged)),
            unchanged=unchanged or 0,
            broke=before is not None and (unchanged is None or unchanged < sent - _UNBROKEN),
            whole=before is None or unchanged == sent,
            breaches=tuple(str(breach) for breach in check_request(request)),
            locked_missing=self._missing(now),
            user_text=self._typed.share(there),
            first_request=self._request.share(there),
            continuity=self._continuity(now),
            notices=Share(kept=sum(map(_notice_tokens, now.messages)), whole=self._window),
        )

    def without(self) -> Prompt:
        """Return the next prompt without any collection: everything up to the previous request is in the cache."""
        return Prompt(tokens=self.tokens_without, cached=min(self._history_sent, self.tokens_without))

    # -- inside --------------------------------------------------------------------------------------------------

    def _continuity(self, now: _Rendered) -> Share:
        """Measure continuity if not everything fits."""
        if self.tokens_without <= self._window or not self._window:
            return Share()
        return self._exchanges.continuity(now.messages, self._window - now.head_tokens)

    def _opening(self, transcript: Transcript) -> int:
        """Return the tokens before the first message."""
        system = sum(self._counter.count(text) for text in transcript.system)
        leads = bool(system) and provider_named(transcript.format).system_is_message
        tools = sum(schema_tokens(schema, self._counter) for schema in transcript.tools)
        return self._counter.per_request + system + tools + leads * self._counter.per_message

    def _hear_user(self, seen: _Seen) -> None:
        """Note a user message: the thinking of earlier turns no longer counts if the provider drops it."""
        self._thinking = self._thinking if self._keeps_thinking else 0
        self._users.update(seen.said)
        for text in seen.said:
            tokens = self._counter.count(text)
            self._typed.add(text, tokens)
            if self._request_open:
                self._request.add(text, tokens)
        if self._request_open:
            self._lock(seen)

    def _lock(self, seen: _Seen) -> None:
        self._locked.extend(seen.said)
        self.locked_tokens += seen.tokens

    def _read(self, payload: Payload) -> _Seen:
        parts = self._format.read(payload)
        thinking = sum(part_tokens(part, self._counter) for part in parts if part.kind is ItemKind.THINKING)
        others = sum(part_tokens(part, self._counter) for part in parts if part.kind is not ItemKind.THINKING)
        said = _said(payload) if self._format.role(payload) in {Role.USER, Role.SYSTEM} else ()
        return _Seen(
            payload=payload,
            tokens=others + framing_tokens(payload, self._format, self._counter),
            thinking=thinking,
            texts=tuple(text for _, text in strings(payload)),
            said=tuple(said),
        )

    def _rendered(self, request: Request) -> _Rendered:
        messages = tuple(self._seen(payload) for payload in request.messages)
        self._known = {id(seen.payload): seen for seen in messages}
        return _Rendered(
            request=request,
            head_tokens=self._head_tokens(request),
            messages=messages,
            weights=tuple(self._weights(messages)),
        )

    def _seen(self, payload: Payload) -> _Seen:
        known = self._known.get(id(payload))
        return self._read(payload) if known is None else known

    def _head_tokens(self, request: Request) -> int:
        system = sum(self._counter.count(text) for block in request.system for text in _said({"content": [block]}))
        return self._counter.per_request + system + sum(schema_tokens(tool, self._counter) for tool in request.tools)

    def _weights(self, messages: Sequence[_Seen]) -> Iterator[int]:
        """
        Yield tokens of each message; where the provider drops the thinking of earlier turns, only
        the last turn's.
        """
        since = 0 if self._keeps_thinking else self._last_turn(messages)
        for place, seen in enumerate(messages):
            yield seen.tokens + (seen.thinking if place >= since else 0)

    def _last_turn(self, messages: Sequence[_Seen]) -> int:
        """Return the place of the last message with user text; the framework writes as a user too."""
        backwards = range(len(messages) - 1, -1, -1)
        return next((place for place in backwards if not self._users.isdisjoint(messages[place].said)), 0)

    def _missing(self, now: _Rendered) -> int:
        """Return the bytes of LOCKED texts and tool schemas that are missing from the request."""
        there = [without_marks(schema) for schema in now.request.tools]
        schemas = [schema for schema in self._tools if without_marks(schema) not in there]
        texts = [text for text in self._locked if not self._holds(now, text)]
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in [*texts, *map(json.dumps, schemas)])

    def _holds(self, now: _Rendered, text: str) -> bool:
        """Return whether a text occurs, searching first where it was the last time."""
        holder = self._holders.get(text)
        if holder is not None and id(holder) in self._known:
            return True
        if any(text in string for block in now.request.system for _, string in strings(block)):
            return True
        found = next((seen for seen in now.messages if any(text in string for string in seen.texts)), None)
        if found is not None:
            self._holders[text] = found.payload
        return found is not None


def _notice_tokens(seen: _Seen) -> int:
    """Return the tokens of a message that only names removed content."""
    is_notice = len(seen.said) == 1 and seen.said[0].startswith("[gc: ") and "\n" not in seen.said[0]
    return seen.tokens if is_notice else 0


def _unchanged(before: Request, now: Request) -> int | None:
    """Return the number of leading messages equal in cacheable form; None if the content before them differs."""
    change = first_change(before, now)
    if change is None:
        return len(now.messages)
    return None if change < 0 else change


def _said(payload: Payload) -> Iterator[str]:
    """Yield the non-blank texts of a message: no provider accepts blank ones."""
    content = payload.get("content", payload.get("parts"))
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        text = block.get("text") if block.get("type", "text") == "text" else None  # Gemini's parts have no type
        if isinstance(text, str) and text.strip():
            yield text
