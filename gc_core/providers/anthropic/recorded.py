"""Recognises recorded conversations in Anthropic's Messages format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"})


def wrote(document: Mapping[str, Any], messages: Sequence[object]) -> bool:
    """
    Return whether the system text is separate, a tool has an input schema, or a message has blocks
    of this format.
    """
    tools = document.get("tools")
    listed = tools if isinstance(tools, list) else [tools]
    described = any(isinstance(tool, Mapping) and "input_schema" in tool for tool in listed)
    return "system" in document or described or any(map(_has_blocks, messages))


def _has_blocks(value: object) -> bool:
    content = value.get("content") if isinstance(value, Mapping) else None
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, Mapping) and block.get("type") in _BLOCKS for block in blocks)
