"""Recognises recorded conversations in Gemini's contents format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def wrote(document: Mapping[str, Any], messages: Sequence[object]) -> bool:  # noqa: ARG001 - the messages show it
    """Return whether one of the messages is a Gemini content."""
    return any(map(_is_content, messages))


def _is_content(value: object) -> bool:
    """Return whether it has Gemini's parts; other formats' parts have a type."""
    if not isinstance(value, Mapping) or value.get("role") not in ("user", "model"):
        return False
    parts = value.get("parts")
    return isinstance(parts, list) and not any(isinstance(part, Mapping) and "type" in part for part in parts)
