"""Strands' messages, which are Bedrock's, in the shape of Anthropic's Messages, one for one."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from gc_core.integrations.lanes import matched_blocks

Block = Mapping[str, Any]


class StrandsMessages:
    """Reads and writes Strands' messages; see ``MessageCodec``."""

    def payload(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the message as Messages has it; None for an empty one."""
        blocks = [payload for _, payload in _blocks(message)]
        return {"role": message["role"], "content": blocks} if blocks else None

    def edited(self, message: Mapping[str, Any], payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a copy with the content of its payload."""
        return {**message, "content": list(matched_blocks(_blocks(message), _listed(payload["content"]), _changed))}

    def written(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a message for one of gc-core's own."""
        return {"role": payload["role"], "content": [_changed(None, block) for block in _listed(payload["content"])]}


# -- reading -----------------------------------------------------------------------------------------------------------


def _blocks(message: Mapping[str, Any]) -> Iterator[tuple[Block, Block]]:
    """Yield each block with its payload. Cache points have none: they move from call to call."""
    for block in message["content"]:
        if block.get("text") != "" and "cachePoint" not in block:
            yield block, _payload(block)


def _payload(block: Block) -> Block:
    match block:
        case {"text": text}:
            return {"type": "text", "text": text}
        case {"toolUse": call}:
            return {"type": "tool_use", "id": call["toolUseId"], "name": call["name"], "input": call["input"]}
        case {"toolResult": result}:
            content = [_payload(each) for each in result["content"]]
            told = content[0]["text"] if [each["type"] for each in content] == ["text"] else content
            return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": told}
        case {"reasoningContent": thought}:
            return _thinking(thought)
    return _data(block)


def _thinking(thought: Block) -> Block:
    if "redactedContent" in thought:
        return {"type": "redacted_thinking", "data": base64.b64encode(thought["redactedContent"]).decode()}
    text = thought["reasoningText"]
    return {"type": "thinking", "thinking": text["text"], "signature": text.get("signature") or ""}


def _data(block: Block) -> Block:
    match block:
        case {"json": value}:
            return {"type": "text", "text": json.dumps(value, ensure_ascii=False, default=str)}
        case {"image": {"format": kind, "source": {"bytes": bytes(data)}}}:
            source = {"type": "base64", "media_type": f"image/{kind}", "data": base64.b64encode(data).decode()}
            return {"type": "image", "source": source}
    return {"type": next(iter(block), "unknown"), "text": str(block)[:1_000]}


# -- writing -----------------------------------------------------------------------------------------------------------


def _changed(block: Block | None, payload: Block) -> Block:
    """Return a block with the content of its payload."""
    match payload["type"]:
        case "tool_use":
            call = {} if block is None else block["toolUse"]
            changed = {"toolUseId": payload["id"], "name": payload["name"], "input": dict(payload["input"])}
            return {"toolUse": {**call, **changed}}
        case "tool_result":
            result = {"status": "error", "content": []} if block is None else block["toolResult"]
            before = ((each, _payload(each)) for each in result["content"])
            content = list(matched_blocks(before, _listed(payload["content"]), _changed))
            return {"toolResult": {**result, "toolUseId": payload["tool_use_id"], "content": content}}
    return {"text": payload["text"]}


def _listed(content: Any) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
