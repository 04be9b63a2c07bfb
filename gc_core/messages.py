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
        format: Name of the format: ``"openai"``, ``"anthropic"``, ``"responses"`` or ``"gemini"``.
        messages: The messages, in the provider's own shape.
        system: The system blocks where the provider takes them apart from the messages, else empty.
        tools: The tool schemas.
        tokens: Tokens as counted by the session, uncalibrated.
        options: Further keyword arguments for the provider's client: a cache key, headers that name betas.

    """

    format: str
    messages: tuple[Payload, ...]
    system: tuple[Payload, ...] = ()
    tools: tuple[Payload, ...] = ()
    tokens: int = 0
    options: Mapping[str, Any] = attrs.field(factory=dict)

    def kwargs(self) -> dict[str, Any]:
        """Keyword arguments for the provider's own client (model and reply length are the caller's)."""
        match self.format:
            case "responses":
                arguments = _responses(self)
            case "gemini":
                arguments = _gemini(self)
            case _:
                arguments = _messages(self)
        return arguments | dict(self.options)


def _messages(request: Request) -> dict[str, Any]:
    """Anthropic's Messages and OpenAI's Chat Completions."""
    arguments = {"messages": request.messages, "system": request.system, "tools": request.tools}
    return {name: list(payloads) for name, payloads in arguments.items() if payloads or name == "messages"}


def _responses(request: Request) -> dict[str, Any]:
    """OpenAI's Responses: the system text is one string."""
    arguments: dict[str, Any] = {"input": list(request.messages)}
    if request.system:
        arguments["instructions"] = "\n\n".join(block["text"] for block in request.system)
    if request.tools:
        arguments["tools"] = list(request.tools)
    return arguments


def _gemini(request: Request) -> dict[str, Any]:
    """Gemini: what stands before the conversation is part of the configuration."""
    config: dict[str, Any] = {}
    if request.system:
        config["system_instruction"] = {"parts": list(request.system)}
    if request.tools:
        config["tools"] = [{"function_declarations": list(request.tools)}]
    return {"contents": list(request.messages), "config": config}
