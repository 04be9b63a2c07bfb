"""OpenAI's messages as LangChain's, and back, and the counter that both of its middlewares take."""

from __future__ import annotations

import json
from collections.abc import Iterable

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from wire import Call, Message, calls_of, message_tokens, said


def to_langchain(message: Message) -> BaseMessage:
    """LangChain's message."""
    content = message.get("content") or ""
    match message["role"]:
        case "assistant":
            calls = [
                {"id": call.id, "name": call.name, "args": call.arguments, "type": "tool_call"}
                for call in calls_of(message)
            ]
            return AIMessage(content=content, tool_calls=calls)
        case "tool":
            return ToolMessage(content=content, tool_call_id=message["tool_call_id"], name=message.get("name"))
        case "system":
            return SystemMessage(content=content)
        case _:
            return HumanMessage(content=content)


def from_langchain(message: BaseMessage) -> Message:
    """OpenAI's message."""
    if isinstance(message, AIMessage):
        calls = (Call(id=call["id"] or "", name=call["name"], arguments=call["args"]) for call in message.tool_calls)
        return said(message.text, calls)
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    return {"role": "system" if isinstance(message, SystemMessage) else "user", "content": message.text}


def tokens(messages: Iterable[BaseMessage]) -> int:
    """The benchmark's count of LangChain's messages."""
    return sum(
        message_tokens(
            message.text,
            ((call["name"], json.dumps(call["args"], ensure_ascii=False)) for call in _calls(message)),
            is_result=isinstance(message, ToolMessage),
        )
        for message in messages
    )


def _calls(message: BaseMessage) -> Iterable[dict[str, object]]:
    return message.tool_calls if isinstance(message, AIMessage) else ()
