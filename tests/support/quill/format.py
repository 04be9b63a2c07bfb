"""Quill's dialogs: Chat Completions in other words, with content that is always a list of blocks."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from gc_core.providers import fields
from gc_core.providers.client_arguments import joined
from gc_core.providers.message_format import MessageFormat
from gc_core.providers.openai.format import OpenAIFormat
from gc_core.values.items import Part, Place
from gc_core.values.messages import Payload, Request, Role, Usage

_ROLES = {"human": "user", "quill": "assistant", "tool": "tool", "system": "system"}
_KEYS = {"calls": "tool_calls", "answers": "tool_call_id"}
_THEIR_ROLES = {ours: theirs for theirs, ours in _ROLES.items()}
_THEIR_KEYS = {ours: theirs for theirs, ours in _KEYS.items()}
_CHAT = OpenAIFormat()
_MARK = "cache_control"


def as_chat(payload: Payload) -> dict[str, Any]:
    """A message in the words of Chat Completions; what is not known stays."""
    role = fields.mapping(payload, "message").get("role")
    return {_KEYS.get(key, key): value for key, value in payload.items()} | {"role": _ROLES.get(str(role), role)}


def as_quill(payload: Payload) -> dict[str, Any]:
    """The same backwards."""
    role = payload["role"]
    return {_THEIR_KEYS.get(key, key): value for key, value in payload.items()} | {"role": _THEIR_ROLES.get(role, role)}


class QuillFormat(MessageFormat):
    """Dialogs: as Chat Completions, except for the words and that the system text is apart."""

    name = "quill"
    most_marks = 2

    def role(self, payload: Payload) -> Role:
        return _CHAT.role(as_chat(payload))

    def read(self, payload: Payload) -> tuple[Part, ...]:
        return _CHAT.read(as_chat(payload))

    def places(self, payload: Payload) -> Sequence[Place]:
        return _CHAT.places(as_chat(payload))

    def edit(self, payload: Payload, texts: Mapping[Place, str | None]) -> Payload | None:
        edited = _CHAT.edit(as_chat(payload), texts) if texts else payload
        return edited if edited is None or not texts else as_quill(edited)

    def with_call_ids(self, payload: Payload, ids: Mapping[Place, str]) -> Payload:
        return as_quill(_CHAT.with_call_ids(as_chat(payload), ids)) if ids else payload

    def normalise(self, payload: Payload) -> Payload:
        chat = as_chat(payload)
        normal = _CHAT.normalise(chat)
        return payload if normal is chat else as_quill(normal)

    def marks(self, payload: Payload) -> int:
        return sum(_MARK in block for block in _blocks(payload))

    def unmarked(self, payload: Payload, keep: int) -> Payload:
        over, blocks = self.marks(payload) - keep, []
        if over <= 0:
            return payload
        for block in _blocks(payload):
            strip = _MARK in block and over > 0
            over -= strip
            blocks.append({key: value for key, value in block.items() if key != _MARK} if strip else block)
        return {**payload, "content": blocks}

    def user(self, text: str) -> Payload:
        return {"role": "human", "content": [{"type": "text", "text": text}]}

    def results(
        self,
        answers: Sequence[tuple[str, str]],
        failed: Container[int] = (),
    ) -> tuple[Payload, ...]:
        flags = ({"failed": True} if place in failed else {} for place in range(len(answers)))
        return tuple(
            {"role": "tool", "answers": key, "content": text, **flag}
            for (key, text), flag in zip(answers, flags, strict=True)
        )

    def reply(self, reply: object) -> Payload:
        message = fields.mapping(reply, "reply")
        _CHAT.reply(as_chat(message))
        return message

    def usage(self, usage: object) -> Usage:
        report = fields.mapping(usage, "usage")
        return Usage(input_tokens=fields.number(report, "read"), output_tokens=fields.number(report, "written"))

    def schema_name(self, schema: Payload) -> str:
        return fields.name(schema, "ability", "tool")

    def request(
        self, *, system: Sequence[str], tools: Sequence[Payload], messages: Sequence[Payload], tokens: int
    ) -> Request:
        return Request(
            format=self.name,
            messages=tuple(messages),
            system=tuple({"type": "text", "text": text} for text in system if text),
            tools=tuple(tools),
            tokens=tokens,
            arguments=_client_arguments,
        )

    def refused_size(self, error: BaseException) -> tuple[int | None, int | None] | None:
        return (None, None) if "dialog too long" in str(error) else None


def _client_arguments(request: Request, own: Mapping[str, Any]) -> dict[str, Any]:
    given = {"dialog": request.messages, "guidance": request.system, "abilities": request.tools}
    return {name: list(payloads) for name, payloads in given.items()} | joined(request.options, own)


def _blocks(payload: Payload) -> Sequence[Any]:
    content = payload.get("content")
    return content if isinstance(content, list) else ()
