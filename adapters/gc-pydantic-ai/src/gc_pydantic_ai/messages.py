"""Pydantic AI's messages in the shape of Anthropic's Messages, one for one: both keep what belongs together in one."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from gc_core.integrations.lanes import matched_blocks

Block = Mapping[str, Any]


class _Piece:
    """A part of a message, or one element of a user's prompt that has several."""

    def __init__(self, part: Any, element: Any = None) -> None:
        self.part, self.element = part, element


class PydanticMessages:
    """Reads and writes Pydantic AI's messages; see ``MessageCodec``."""

    def payload(self, message: ModelMessage) -> Mapping[str, Any] | None:
        """Return the message as Messages has it; None for an empty one."""
        blocks = [block for _, block in _blocks(message)]
        role = "assistant" if isinstance(message, ModelResponse) else "user"
        return {"role": role, "content": blocks} if blocks else None

    def edited(self, message: ModelMessage, payload: Mapping[str, Any]) -> ModelMessage:
        """Return a copy with the content of its payload."""
        content = payload["content"]
        after = [{"type": "text", "text": content}] if isinstance(content, str) else content
        pieces = list(matched_blocks(list(_blocks(message)), after, _changed))
        return dataclasses.replace(message, parts=list(_joined(pieces)))  # type: ignore[type-var]  # one of two kinds

    def written(self, payload: Mapping[str, Any]) -> ModelMessage:
        """Return a message for one of gc-core's own."""
        content = payload["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        return ModelRequest(parts=[_changed(None, block).part for block in blocks])


# -- reading -----------------------------------------------------------------------------------------------------------


def _blocks(message: ModelMessage) -> Iterator[tuple[_Piece, Block]]:
    for part in message.parts:
        if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
            for element in part.content:
                yield _Piece(part, element), _element(element)
        else:
            block = _block(part)
            if block.get("text") != "":
                yield _Piece(part), block


def _block(part: Any) -> Block:
    match part:
        case UserPromptPart() | SystemPromptPart() | TextPart():
            return {"type": "text", "text": part.content}
        case ThinkingPart():
            return {"type": "thinking", "thinking": part.content, "signature": part.signature or ""}
        case ToolCallPart():
            arguments = part.args_as_dict()
            return {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": arguments}
        case ToolReturnPart():
            return _result(part, part.model_response_str())
    if getattr(part, "tool_name", None) and hasattr(part, "model_response"):
        return _result(part, part.model_response())  # a retry prompt answers a call, too
    return {"type": str(getattr(part, "part_kind", "unknown")), "text": str(part)}


def _result(part: Any, text: str) -> Block:
    return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": text}


def _element(element: Any) -> Block:
    match element:
        case str():
            return {"type": "text", "text": element}
        case TextContent():
            return {"type": "text", "text": element.content}
        case ImageUrl():
            return {"type": "image", "source": {"type": "url", "url": element.url}}
        case BinaryContent() if element.is_image:
            data = base64.b64encode(element.data).decode()
            return {"type": "image", "source": {"type": "base64", "media_type": element.media_type, "data": data}}
    return {"type": str(getattr(element, "kind", "unknown")), "text": str(element)[:1_000]}


# -- writing -----------------------------------------------------------------------------------------------------------


def _changed(piece: _Piece | None, block: Block) -> _Piece:
    """Return the piece with the content of its block."""
    part = None if piece is None else piece.part
    match block["type"]:
        case "tool_use":
            return _Piece(dataclasses.replace(part, args=dict(block["input"])))  # type: ignore[type-var]  # a call
        case "tool_result" if part is not None and hasattr(part, "content"):
            return _Piece(dataclasses.replace(part, content=_text(block["content"])))
        case "tool_result":
            return _Piece(ToolReturnPart("unknown", _text(block["content"]), tool_call_id=block["tool_use_id"]))
    if piece is not None and piece.element is not None:
        return _Piece(part, block["text"])
    if isinstance(part, (TextPart, UserPromptPart, SystemPromptPart)):
        return _Piece(dataclasses.replace(part, content=block["text"]))
    return _Piece(
        UserPromptPart(block["text"]) if part is None or hasattr(part, "timestamp") else TextPart(block["text"])
    )


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def _joined(pieces: list[_Piece]) -> Iterator[Any]:
    """Yield the parts; the elements of one prompt are one part again."""
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        if piece.element is None:
            yield piece.part
            place += 1
            continue
        elements = []
        while place < len(pieces) and pieces[place].part is piece.part:
            elements.append(pieces[place].element)
            place += 1
        yield dataclasses.replace(piece.part, content=elements)
