"""Agent Framework's messages in the shape of Anthropic's Messages, one for one: both keep parallel results in one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

from agent_framework import Content, Message

from gc_core.integrations.lanes import matched_blocks

Block = Mapping[str, Any]


class FrameworkMessages:
    """Reads and writes Agent Framework's messages; see ``MessageCodec``."""

    def payload(self, message: Message) -> Mapping[str, Any] | None:
        """Return the message as Messages has it; None for an empty one and for a system text."""
        blocks = [] if message.role == "system" else [block for _, block in _blocks(message)]
        role = "assistant" if message.role == "assistant" else "user"
        return {"role": role, "content": blocks} if blocks else None

    def edited(self, message: Message, payload: Mapping[str, Any]) -> Message:
        """Return a copy with the contents of its payload."""
        made = copy.copy(message)
        made.contents = list(matched_blocks(_blocks(message), _listed(payload["content"]), _changed))
        made.raw_representation = None
        return made

    def written(self, payload: Mapping[str, Any]) -> Message:
        """Return a message for one of gc-core's own."""
        blocks = _listed(payload["content"])
        role = "tool" if any(block["type"] == "tool_result" for block in blocks) else payload["role"]
        return Message(role, [_changed(None, block) for block in blocks])


def _blocks(message: Message) -> Iterator[tuple[Content, Block]]:
    for content in message.contents:
        if content.type != "text" or content.text:
            yield content, _block(content)


def _block(content: Content) -> Block:
    match content.type:
        case "text":
            return {"type": "text", "text": content.text}
        case "text_reasoning":
            return {"type": "thinking", "thinking": content.text or "", "signature": content.protected_data or ""}
        case "function_call":
            arguments = content.arguments
            told = arguments if isinstance(arguments, Mapping) else _read(arguments or "")
            return {"type": "tool_use", "id": content.call_id, "name": content.name, "input": dict(told)}
        case "function_result":
            items = [_block(item) for item in content.items or ()]
            only_text = all(item["type"] == "text" for item in items)
            told = content.result or "" if only_text else items
            return {"type": "tool_result", "tool_use_id": content.call_id, "content": told}
        case "data" if str(content.media_type).startswith("image/"):
            data = str(content.uri).partition("base64,")[2]
            source = {"type": "base64", "media_type": content.media_type, "data": data}
            return {"type": "image", "source": source}
    return {"type": content.type, "text": json.dumps(content.to_dict(), default=str)[:1_000]}


def _read(arguments: str) -> Mapping[str, Any]:
    """Return arguments as a mapping; a model may have written them with faults."""
    try:
        read = json.loads(arguments or "{}")
    except ValueError:
        return {"arguments": arguments}
    return read if isinstance(read, Mapping) else {"arguments": arguments}


def _changed(content: Content | None, block: Block) -> Content:
    """Return a content with that of its block."""
    match block["type"]:
        case "tool_use":
            made = Content.from_function_call(block["id"], block["name"]) if content is None else copy.copy(content)
            made.arguments = dict(block["input"])
            made.raw_representation = None
            return made
        case "tool_result":
            before = () if content is None else ((item, _block(item)) for item in content.items or ())
            items = list(matched_blocks(before, _listed(block["content"]), _changed))
            result = Content.from_function_result(block["tool_use_id"], result=items)
            made = result if content is None else copy.copy(content)
            made.items, made.result, made.raw_representation = result.items, result.result, None
            return made
    return Content.from_text(block["text"])


def _listed(content: Any) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
