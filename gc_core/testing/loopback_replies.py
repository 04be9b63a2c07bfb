"""The replies of the loopback provider: Messages, Chat Completions, Responses and Gemini, whole and streamed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import attrs

from gc_core.values.messages import Usage

JSON: TypeAlias = dict[str, Any]

DONE: Final = "All files were read."
"""The text of the last reply."""


@attrs.frozen
class Reply:
    """
    A reply before it has a provider's shape.

    Attributes:
        usage: The usage that it reports.
        id: The id of its tool call; "" for a reply with the text ``DONE``.
        name: The tool.
        arguments: The tool's arguments.
        number: Its number in the conversation, which makes the ids of two texts differ.

    """

    usage: Usage
    id: str = ""
    name: str = ""
    arguments: Mapping[str, Any] = attrs.field(factory=dict)
    number: int = 0

    @property
    def json_arguments(self) -> str:
        """The arguments as JSON."""
        return json.dumps(self.arguments)

    def named(self, kind: str) -> str:
        """The reply's own id: some clients join replies of one id into one message."""
        return f"{kind}_{self.id or f'end_{self.number}'}"


def _messages(reply: Reply) -> JSON:
    block: JSON = {"type": "text", "text": DONE}
    if reply.id:
        block = {"type": "tool_use", "id": f"toolu_{reply.id}", "name": reply.name, "input": dict(reply.arguments)}
    return {
        "id": reply.named("msg"),
        "type": "message",
        "role": "assistant",
        "model": "stand-in",
        "content": [block],
        "stop_reason": "tool_use" if reply.id else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens},
    }


def _chat(reply: Reply) -> JSON:
    message: JSON = {"role": "assistant", "content": None if reply.id else DONE}
    if reply.id:
        message["tool_calls"] = [_chat_call(reply)]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.id else "stop"}
    return {**_chat_head(reply), "object": "chat.completion", "choices": [choice], "usage": _chat_usage(reply.usage)}


def _chat_head(reply: Reply) -> JSON:
    return {"id": reply.named("chat"), "created": 1, "model": "stand-in"}


def _chat_call(reply: Reply) -> JSON:
    return {"id": reply.id, "type": "function", "function": {"name": reply.name, "arguments": reply.json_arguments}}


def _chat_usage(usage: Usage) -> JSON:
    total = usage.input_tokens + usage.output_tokens
    return {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens, "total_tokens": total}


def _item(reply: Reply) -> JSON:
    if not reply.id:
        content = [{"type": "output_text", "text": DONE, "annotations": []}]
        return {
            "type": "message",
            "id": reply.named("msg"),
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    head = {"type": "function_call", "id": f"fc_{reply.id}", "call_id": reply.id, "name": reply.name}
    return {**head, "arguments": reply.json_arguments, "status": "completed"}


def _responses(reply: Reply) -> JSON:
    usage = reply.usage
    return {
        "id": reply.named("resp"),
        "object": "response",
        "created_at": 1,
        "model": "stand-in",
        "status": "completed",
        "output": [_item(reply)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _gemini(reply: Reply) -> JSON:
    part: JSON = {"text": DONE}
    if reply.id:
        part = {"functionCall": {"id": reply.id, "name": reply.name, "args": dict(reply.arguments)}}
    usage = reply.usage
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage.input_tokens,
            "candidatesTokenCount": usage.output_tokens,
            "totalTokenCount": usage.input_tokens + usage.output_tokens,
        },
        "modelVersion": "stand-in",
    }


WHOLE: Final[Mapping[str, Callable[[Reply], JSON]]] = {
    "anthropic": _messages,
    "openai": _chat,
    "responses": _responses,
    "gemini": _gemini,
}
"""By format, the body of a reply."""


# -- streams -----------------------------------------------------------------------------------------------------------


def _event(kind: str, value: JSON) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **value})}\n\n"


def _messages_events(reply: Reply) -> Iterator[str]:
    whole = _messages(reply)
    block = whole["content"][0]
    yield _event("message_start", {"message": {**whole, "content": [], "stop_reason": None}})
    empty = {**block, "input": {}} if reply.id else {"type": "text", "text": ""}
    yield _event("content_block_start", {"index": 0, "content_block": empty})
    delta = {"type": "text_delta", "text": DONE}
    if reply.id:
        delta = {"type": "input_json_delta", "partial_json": reply.json_arguments}
    yield _event("content_block_delta", {"index": 0, "delta": delta})
    yield _event("content_block_stop", {"index": 0})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", {"delta": end, "usage": whole["usage"]})
    yield _event("message_stop", {})


def _chat_events(reply: Reply) -> Iterator[str]:
    base = {**_chat_head(reply), "object": "chat.completion.chunk"}
    delta: JSON = {"role": "assistant", "content": DONE}
    if reply.id:
        delta = {"role": "assistant", "tool_calls": [{"index": 0, **_chat_call(reply)}]}
    yield f"data: {json.dumps({**base, 'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]})}\n\n"
    reason = "tool_calls" if reply.id else "stop"
    yield f"data: {json.dumps({**base, 'choices': [{'index': 0, 'delta': {}, 'finish_reason': reason}]})}\n\n"
    yield f"data: {json.dumps({**base, 'choices': [], 'usage': _chat_usage(reply.usage)})}\n\n"
    yield "data: [DONE]\n\n"


def _responses_events(reply: Reply) -> Iterator[str]:
    whole, item = _responses(reply), _item(reply)
    number = iter(range(20))

    def event(kind: str, **more: Any) -> str:
        return _event(kind, {"sequence_number": next(number), **more})

    place = {"item_id": item["id"], "output_index": 0}
    yield event("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    nothing: JSON = {"arguments": ""} if reply.id else {"content": []}
    begun = {**item, "status": "in_progress", **nothing}
    yield event("response.output_item.added", output_index=0, item=begun)
    if reply.id:
        told = item["arguments"]
        yield event("response.function_call_arguments.delta", **place, delta=told)
        yield event("response.function_call_arguments.done", **place, arguments=told, name=reply.name)
    else:
        place["content_index"] = 0
        empty = {"type": "output_text", "text": "", "annotations": []}
        yield event("response.content_part.added", **place, part=empty)
        yield event("response.output_text.delta", **place, delta=DONE, logprobs=[])
        yield event("response.output_text.done", **place, text=DONE, logprobs=[])
        yield event("response.content_part.done", **place, part=item["content"][0])
    yield event("response.output_item.done", output_index=0, item=item)
    yield event("response.completed", response=whole)


def _gemini_events(reply: Reply) -> Iterator[str]:
    yield f"data: {json.dumps(_gemini(reply))}\r\n\r\n"


STREAMED: Final[Mapping[str, Callable[[Reply], Iterator[str]]]] = {
    "anthropic": _messages_events,
    "openai": _chat_events,
    "responses": _responses_events,
    "gemini": _gemini_events,
}
"""By format, the events of a streamed reply."""


def refusal_events(kind: str, error: JSON) -> Iterator[str]:
    """Yield a refusal as events: in Responses it comes after those that repeat what the request said."""
    if kind != "responses":
        name = "event: error\n" if kind == "anthropic" else ""
        yield f"{name}data: {json.dumps(error)}\n\n"
        return
    nothing: JSON = {"output": [], "usage": None, "error": None}
    reply = Reply(Usage(input_tokens=0, output_tokens=0))
    begun: JSON = {**_responses(reply), "instructions": "Read. " * 5_000, **nothing}
    for status in ("created", "in_progress"):
        yield _event(f"response.{status}", {"response": {**begun, "status": "in_progress"}})
    yield _event("response.failed", {"response": {**begun, "status": "failed", **error}})
