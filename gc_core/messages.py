"""A provider's own messages, kept as they came in, and the request made of them."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

from gc_core.items import Item

_MARK = "cache_control"

Payload = Mapping[str, Any]
"""A provider's own message or tool schema: opaque outside ``gc_core.formats``, never changed in place."""


class Role(enum.Enum):
    """Who speaks, in the words that all formats share. A message of tool results alone is TOOL in every format."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@attrs.frozen(kw_only=True, eq=False)
class Message:
    """
    One message of the window.

    Attributes:
        id: ``m1``, ``m2``, ...: the session's own.
        role: Who speaks.
        payload: What is sent for it as it stands now.
        items: Its resident items, one a part of the payload, in the payload's order.
        overhead: Tokens that the message costs beyond its items.
        synthetic: Written by the framework.
        as_logged: Its payload is word for word what its line of the master log holds.

    """

    id: str
    role: Role
    payload: Payload
    items: tuple[Item, ...]
    overhead: int
    synthetic: bool = False
    as_logged: bool = False

    @cached_property
    def digest(self) -> bytes:
        """Of the payload in cacheable form, 16 bytes; made once, for most messages outlive many collections."""
        return digest_of(_unmarked(self.payload))


def _unmarked(payload: Payload) -> Payload:
    """Without cache marks, which come and go while what is sent stays the same."""
    content = payload.get("content")
    if isinstance(content, list) and any(isinstance(block, Mapping) and _MARK in block for block in content):
        blocks = [_unmarked(block) if isinstance(block, Mapping) else block for block in content]
        payload = {**payload, "content": blocks}
    return {key: value for key, value in payload.items() if key != _MARK} if _MARK in payload else payload


def digest_of(value: object) -> bytes:
    """BLAKE2b of a JSON value in canonical form: keys sorted, letters as they are; 16 bytes."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@attrs.frozen(kw_only=True)
class Usage:
    """
    What the provider reports of one call.

    Attributes:
        input_tokens: All input tokens, cache reads and writes included.
        output_tokens: Tokens of the reply.
        cache_read_tokens: Of the input, read from the cache.
        cache_write_tokens: Of the input, written to the cache.

    """

    input_tokens: int
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


@attrs.frozen(kw_only=True, eq=False)
class Request:
    """
    What is sent to the provider for one model call. Read-only: its payloads are the session's own.

    Attributes:
        format: Name of the format, ``"openai"`` or ``"anthropic"``.
        messages: The messages, in the provider's own shape.
        system: The system blocks where the provider takes them apart from the messages, else empty.
        tools: The tool schemas.
        tokens: Tokens as counted by the session, uncalibrated.

    """

    format: str
    messages: tuple[Payload, ...]
    system: tuple[Payload, ...] = ()
    tools: tuple[Payload, ...] = ()
    tokens: int = 0

    def kwargs(self) -> dict[str, Any]:
        """Keyword arguments for the provider's own client (model and reply length are the caller's)."""
        arguments: dict[str, Any] = {"messages": list(self.messages)}
        if self.system:
            arguments["system"] = list(self.system)
        if self.tools:
            arguments["tools"] = list(self.tools)
        return arguments
