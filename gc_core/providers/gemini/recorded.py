"""How a recorded conversation shows that it is of Gemini's contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def wrote(document: Mapping[str, Any], messages: Sequence[object]) -> bool:  # noqa: ARG001 - the messages show it
    """Return whether one of the messages is one of Gemini's contents."""
    return any(map(_is_content, messages))


def _is_content(value: object) -> bool:
    """Others call parts what has a type, as Gemini's parts have not."""
    if not isinstance(value, Mapping) or value.get("role") not in ("user", "model"):
        return False
    parts = value.get("parts")
    return isinstance(parts, list) and not any(isinstance(part, Mapping) and "type" in part for part in parts)
