"""OpenAI's messages as Pydantic AI's, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from wire import Call, Message, calls_of, said


def to_pydantic(messages: Sequence[Message]) -> Iterator[ModelMessage]:
    """Pydantic AI's messages: a response for a reply, one request for what stands between two."""
    for replied, group in groupby(messages, key=lambda message: message["role"] == "assistant"):
        if replied:
            yield from map(_response, group)
        else:
            yield ModelRequest(parts=[_part(message) for message in group])


def from_pydantic(messages: Iterable[ModelMessage]) -> Iterator[Message]:
    """OpenAI's messages, one for each part of a request."""
    for message in messages:
        if isinstance(message, ModelResponse):
            text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
            calls = (part for part in message.parts if isinstance(part, ToolCallPart))
            called = [Call(id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_dict()) for part in calls]
            yield said(text, called)
        else:
            yield from map(_message, message.parts)


def _response(message: Message) -> ModelResponse:
    text = [TextPart(content=message["content"])] if message.get("content") else []
    calls = [ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=call.id) for call in calls_of(message)]
    return ModelResponse(parts=[*text, *calls])


def _part(message: Message) -> UserPromptPart | ToolReturnPart | SystemPromptPart:
    content = message.get("content") or ""
    match message["role"]:
        case "tool":
            name, call = message.get("name") or "tool", message["tool_call_id"]
            return ToolReturnPart(tool_name=name, content=content, tool_call_id=call)
        case "system":
            return SystemPromptPart(content=content)
        case _:
            return UserPromptPart(content=content)


def _message(part: object) -> Message:
    if isinstance(part, ToolReturnPart):
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()}
    content = getattr(part, "content", "")
    if not isinstance(content, str):
        content = "\n".join(str(getattr(item, "content", item)) for item in content or ())
    return {"role": "system" if isinstance(part, SystemPromptPart) else "user", "content": content}
