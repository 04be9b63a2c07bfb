"""Requests as the APIs have them: where each has its messages, and what else takes room in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from gc_core.integrations.lanes.lane import ModelCall

_LISTS: Final = {"anthropic": "messages", "openai": "messages", "responses": "input", "gemini": "contents"}
_SYSTEM: Final = {"anthropic": "system", "responses": "instructions", "gemini": "systemInstruction"}
_ELSEWHERE: Final = ("previous_response_id", "conversation", "thread", "cachedContent")
"""Names of what the provider itself keeps: nothing can be collected here then."""
_SCHEMAS: Final = {
    "anthropic": ("output_config", "format"),
    "openai": ("response_format",),
    "responses": ("text", "format"),
    "gemini": ("generationConfig", "responseSchema"),
}
"""The path to the schema of a structured answer."""


@attrs.frozen(kw_only=True)
class Turn:
    """
    A request for a reply.

    Attributes:
        format: The format of its messages.
        body: Its body.
        call: What of it is collected and counted.

    """

    format: str
    body: Mapping[str, Any] = attrs.field(repr=False)
    call: ModelCall[Mapping[str, Any]]

    @property
    def key(self) -> str:
        """What its conversation is known by where nobody names it: the system text and the first message."""
        begins = json.dumps([self.format, self.call.system, *self.call.messages[:1]], sort_keys=True)
        return hashlib.blake2b(begins.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def with_messages(self, messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return the body with other messages; the body itself if they are its own."""
        own = self.call.messages
        if len(messages) == len(own) and all(one is other for one, other in zip(messages, own, strict=True)):
            return self.body
        return {**self.body, _LISTS[self.format]: list(messages)}


def turn_in(format: str, body: object, model: str = "") -> Turn | None:  # noqa: A002 - the session's own word
    """
    Return the turn in a request body of an API; None for one of another shape, and for a history that the provider
    keeps. ``model`` is its name where the body has none.
    """
    if not isinstance(body, Mapping) or any(body.get(name) for name in _ELSEWHERE):
        return None
    messages = body.get(_LISTS[format])
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
        return None
    system = "\n\n".join(_texts(body.get(_SYSTEM.get(format, ""))))
    tools = [*(body.get("tools") or ()), *_answer_schema(format, body)]
    call = ModelCall(messages=messages, system=system or None, tools=tools, model=str(body.get("model") or model))
    return Turn(format=format, body=body, call=call)


def _texts(system: object) -> Iterator[str]:
    """Yield the texts of a system text: one text, a list of blocks, or Gemini's content."""
    waiting = [system]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            waiting.append(each.get("parts") or each.get("text"))
        elif isinstance(each, list):
            waiting.extend(reversed(each))


def _answer_schema(name: str, body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schema of a structured answer in the shape of a tool, because it takes as much room as one."""
    found: Any = body
    for key in _SCHEMAS[name]:
        found = found.get(key) if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping):
        return
    head = {"name": "structured_answer", "description": ""}
    match name:
        case "anthropic":
            yield {**head, "input_schema": dict(found)}
        case "openai":
            yield {"type": "function", "function": {**head, "parameters": dict(found)}}
        case "responses":
            yield {"type": "function", **head, "parameters": dict(found)}
        case _:
            yield {"functionDeclarations": [{**head, "parameters": dict(found)}]}
