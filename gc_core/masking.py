"""Secrets are masked before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gc_core.messages import Payload

_STRUCTURE = frozenset(
    {
        *("role", "type", "id", "tool_call_id", "tool_use_id", "name", "signature", "media_type"),
        *("call_id", "approval_request_id", "encrypted_content"),
        *("thoughtSignature", "thought_signature", "mimeType", "mime_type"),
    }
)
"""Keys whose values are ids, names and sealed bytes: a changed one would break the message."""

_SEALED = frozenset({"base64", "redacted_thinking"})
"""Types beside which ``data`` is bytes."""

_MEDIA = frozenset({"mimeType", "mime_type"})
"""Keys beside which ``data`` is bytes too."""

_FREE = frozenset({"input", "args", "response", "properties", "parameters", "parametersJsonSchema", "input_schema"})
"""Keys below which nothing is structure: the arguments of a call, and what a schema says of them."""


def without_secrets(payload: Payload, mask: Callable[[str], str]) -> Payload:
    """A message or tool schema in which every text went through ``mask``; keys, ids and names are left alone."""
    bytes_beside = payload.get("type") in _SEALED or not _MEDIA.isdisjoint(payload)
    kept = _STRUCTURE | {"data"} if bytes_beside else _STRUCTURE
    return {key: value if key in kept else _masked(value, mask, inside=key in _FREE) for key, value in payload.items()}


def _masked(value: Any, mask: Callable[[str], str], *, inside: bool = False) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [_masked(each, mask, inside=inside) for each in value]
    if isinstance(value, Mapping):
        return (
            {key: _masked(each, mask, inside=True) for key, each in value.items()}
            if inside
            else (without_secrets(value, mask))
        )
    return value
