"""Recognises recorded conversations in the items of Responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gc_core.providers.responses.item_types import MESSAGE, is_call, is_reasoning, is_result


def wrote(document: Mapping[str, Any], messages: Sequence[object]) -> bool:
    """Return whether the document has an input, or one of the messages is such an item."""
    return "input" in document or any(map(_is_item, messages))


def _is_item(value: object) -> bool:
    """Return whether it is an item of the model, a result, or a message with content parts of this format."""
    if not isinstance(value, Mapping):
        return False
    if value.get("type", MESSAGE) != MESSAGE:
        return is_reasoning(value) or is_call(value) or is_result(value)
    content = value.get("content")
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, Mapping) and block.get("type") in {"input_text", "output_text"} for block in blocks)
