"""A provider's own messages, kept as they arrived, and the request made from them."""

from __future__ import annotations

import enum
import hashlib
import itertools
import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from gc_core.values.items import Item, ItemKind
from gc_core.values.json_values import value_in_utf8

MARKS = frozenset({"cache_control", "prompt_cache_breakpoint"})
"""The fields with which providers mark a cache breakpoint: they come and go while the content stays the same."""

NESTED = ("content", "output")
"""The fields in which a payload has a list of blocks."""

MARKED_LEVELS = 4
"""The most levels of blocks below a message that may carry a mark: a text of a search result in a tool result."""

Payload = Mapping[str, Any]
"""A provider's own message or tool schema: opaque outside ``gc_core.providers``, never changed in place."""


class Role(enum.Enum):
    """Who speaks, in the terms that all formats share. A message with only tool results is TOOL in every format."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is Python code


@attrs.frozen(kw_only=True, eq=False)
class Message:
    """
    One message of the window.

    id: ``m1``, ``m2``, ...: the session's own.
        id: ``m1``, ``m2``, ...: the session's own.
        role: Who speaks.
        payload: Its current content in the provider's shape; ``sent`` is the same for a client.
        items: Its resident items, one for each part of the payload, in order.
        overhead: Tokens of the message beyond its items.
        synthetic: Written by the framework.
        as_logged: Its payload is verbatim what its line of the master log contains.

    """

    id: str
    role: Role
    payload: Payload
    items: tuple[Item, ...]
    overhead: int
    synthetic: bool = False
    as_logged: bool = False

    @property
    def is_own(self) -> bool:
        """
        True if gc-core wrote it on no one's behalf: a trace, a summary, a block, a line between replies. Tool output in
        a text, such as a late result, is the tool's.
        """
        said = self.role is Role.USER and self.synthetic
        return said and all(item.kind is not ItemKind.TOOL_RESULT for item in self.items)

    @cached_property
    def sent(self) -> Payload:
        """
        The payload as a client can send it: itself, or a copy with U+FFFD for lone surrogates.

        Files keep the surrogates, so that earlier logs open as they were written.
        """
        payload: Payload = value_in_utf8(self.payload)
        return payload

    @cached_property
    def digest(self) -> bytes:
        """
        BLAKE2b of the payload in cacheable form, 16 bytes; computed once, because most messages outlive many
        collections.
        """
        return digest_of(without_marks(self.payload))


def without_marks(payload: Payload, levels: int = MARKED_LEVELS) -> Payload:
    """Return a message, block or schema without its cache marks; the payload itself if it has none."""
    for field in NESTED if levels else ():
        blocks = payload.get(field)
        if isinstance(blocks, list):
            bare = [without_marks(block, levels - 1) if isinstance(block, Mapping) else block for block in blocks]
            if any(map(operator.is_not, bare, blocks)):
                payload = {**payload, field: bare}
    if MARKS.isdisjoint(payload):
        return payload
    return {key: value for key, value in payload.items() if key not in MARKS}


def digest_of(value: object) -> bytes:
    """Return the BLAKE2b of a JSON value in canonical form: keys sorted, characters unescaped; 16 bytes."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class SentPayloads:
    """
    The payloads sent for the messages of a window. It mostly grows at its end, so only new messages are rendered.

    Attributes:
        payloads: Of each message, in their order.
        own: The identity of each payload that contains only gc-core's own text, by its place.

    """

    def __init__(self) -> None:
        self.payloads: list[Payload] = []
        self.own: dict[int, int] = {}
        self._of: list[Message] = []

    def follow(self, messages: Sequence[Message]) -> None:
        """Set the messages to these."""
        known = min(len(self._of), len(messages))
        others = itertools.compress(itertools.count(), map(operator.is_not, self._of, messages))
        start = next(others, known)
        del self._of[start:], self.payloads[start:]
        self.own = {place: payload for place, payload in self.own.items() if place < start}
        for place, message in enumerate(messages[start:], start=start):
            self._of.append(message)
            self.payloads.append(message.sent)
            if message.synthetic and message.is_own:
                self.own[place] = id(message.sent)


class RunningDigest:
    """
    The digest of a list of messages that grows at its end: O(new messages).

    Of the earlier messages only the last may be changed or removed; when all are removed, a new digest begins.
    """

    def __init__(self) -> None:
        self._whole = hashlib.blake2b(digest_size=16)
        self._count = 0

    def of(self, messages: Sequence[Message], head: bytes) -> str:
        """Return the digest of these messages, in hex, continuing the digest of those before them."""
        whole = max(0, len(messages) - 1)
        if whole < self._count:
            self._whole, self._count = hashlib.blake2b(digest_size=16), 0
        for message in messages[self._count : whole]:
            self._whole.update(message.digest)
        self._count = whole
        digest = self._whole.copy()
        digest.update(b"".join([message.digest for message in messages[whole:]]))
        digest.update(head)
        return digest.hexdigest()


MOST_TOKENS = 2**53
"""No real report has as many tokens: some readers of the files could not represent sums of such numbers."""


@attrs.frozen(kw_only=True)
class Usage:
    """
    The usage that the provider reports for one call.

    Attributes:
        input_tokens: All input tokens, cache reads and writes included.
        output_tokens: Tokens of the reply.
        cache_read_tokens: Of the input, read from the cache.
        cache_write_tokens: Of the input, written to the cache.
        cache_write_1h_tokens: Of those written, for an hour.
        cache_reported: False where the report has no field for the cache at all, which says nothing about it.
        iterations: Passes that the provider billed separately, not counted above: its own compaction.

    """

    input_tokens: int
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    cache_reported: bool = True
    iterations: tuple[Usage, ...] = ()

    @property
    def fresh_tokens(self) -> int:
        """Input tokens that were neither read from the cache nor written to it; never below 0."""
        return max(0, self.input_tokens - self.cache_read_tokens - self.cache_write_tokens)


def plain_arguments(request: Request, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return messages, system text and tools under these names, with the options; the host's own arguments win."""
    return {**payloads_by_name(request), **request.options, **own}


def payloads_by_name(request: Request) -> dict[str, Any]:
    """Return the messages, and if there are any the system text and the tools, each as a list under its name."""
    arguments = {"messages": request.messages, "system": request.system, "tools": request.tools}
    return {name: list(payloads) for name, payloads in arguments.items() if payloads or name == "messages"}


@attrs.frozen(kw_only=True, eq=False)
class Request:
    """
    The request to the provider for one model call. Read-only: its payloads belong to the session.

    Attributes:
        format: Name of the format.
        messages: The messages, in the provider's own shape.
        system: The system blocks if the provider takes them apart from the messages, otherwise empty.
        tools: The tool schemas.
        tokens: Tokens as counted by the session, uncalibrated.
        stable: Number of leading system texts in layers that many sessions share.
        options: More keyword arguments for the provider's client: a cache key, headers that name betas.
        whole: If a reply is sent as several items, the session's own messages, each with all its items; empty if
            unknown.
        own: The identities (``id``) of messages that gc-core wrote itself: their wording does not identify them.
        origins: After ``sync``, for each message its place in the caller's list, also if its text was changed; -1 for
            one that stands for several, or for none. Empty without a list, and where a reply is several items.
        arguments: Builds the client's arguments, joining the host's own arguments to the options.

    """

    format: str
    messages: tuple[Payload, ...]
    system: tuple[Payload, ...] = ()
    tools: tuple[Payload, ...] = ()
    tokens: int = 0
    stable: int = 0
    options: Mapping[str, Any] = attrs.field(factory=dict)
    whole: tuple[Payload, ...] = attrs.field(default=(), repr=False)
    own: frozenset[int] = attrs.field(default=frozenset(), repr=False)
    origins: tuple[int, ...] = attrs.field(default=(), repr=False)
    arguments: Callable[[Request, Mapping[str, Any]], dict[str, Any]] = attrs.field(default=plain_arguments, repr=False)

    def is_own(self, message: Payload) -> bool:
        """Return whether gc-core wrote this message."""
        return id(message) in self.own

    def recast(self, messages: Iterable[tuple[Payload, Payload]]) -> Request:
        """Return the request with other messages, each given with the original it replaces, whose author it keeps."""
        pairs = tuple(messages)
        own = frozenset(id(new) for old, new in pairs if self.is_own(old))
        return attrs.evolve(self, messages=tuple(new for _, new in pairs), own=own)

    def kwargs(self, **own: Any) -> dict[str, Any]:
        """
        Return keyword arguments for the provider's client, without model and reply length.

        ``own`` are more arguments of yours. If the session sends the same argument, both are joined and yours win:
        ``betas``, ``extra_headers``, ``extra_body`` and the entries of ``context_management``. What Anthropic's client
        is given beside ``**kwargs()`` is not joined: the session's ``extra_headers`` and ``extra_body`` override it.
        """
        return self.arguments(self, own)
