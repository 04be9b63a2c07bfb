"""Secrets are masked before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gc_core.messages import Payload
from gc_core.references import check_of

Mask = Callable[[str], str]
"""Gives a text back without secrets; the text itself where there are none."""

_STRUCTURE = frozenset(
    {
        *("role", "type", "id", "tool_call_id", "tool_use_id", "signature", "media_type"),
        *("call_id", "approval_request_id", "encrypted_content"),
        *("thoughtSignature", "thought_signature", "mimeType", "mime_type"),
    }
)
"""Keys whose values are the provider's ids, its words and sealed bytes: a changed one would break the message."""

_NAMES = frozenset({"name", "server_label"})
"""Keys whose values are names, of functions for instance."""

_SEALED = frozenset({"base64", "redacted_thinking"})
"""Types beside which ``data`` is bytes."""

_MEDIA = frozenset({"mimeType", "mime_type"})
"""Keys beside which ``data`` is bytes too."""

_FREE = frozenset({"input", "args", "response", "properties", "parameters", "parametersJsonSchema", "input_schema"})
"""Keys below which nothing is structure: the arguments of a call, and what a schema says of them."""


def without_secrets(payload: Payload, mask: Mask) -> Payload:
    """
    A message or tool schema in which every text went through ``mask``: names too, and in what a call is given the keys.
    Ids and sealed bytes are left alone.
    """
    bytes_beside = payload.get("type") in _SEALED or not _MEDIA.isdisjoint(payload)
    kept = _STRUCTURE | {"data"} if bytes_beside else _STRUCTURE
    return {key: value if key in kept else _part(key, value, mask) for key, value in payload.items()}


def without_secret_names(texts: Mapping[str, Any], mask: Mask) -> dict[str, Any]:
    """Named texts without secrets, in the names too; what is no text stays, for somebody else refuses it."""
    return _keyed(((name, mask(text) if isinstance(text, str) else text) for name, text in texts.items()), mask)


def masked_name(name: str, mask: Mask) -> str:
    """A name without a secret: another one, which every provider takes, and the same for the same name."""
    return name if mask(name) == name else f"redacted_{check_of(name)}"


def _part(key: str, value: Any, mask: Mask) -> Any:
    if key in _NAMES and isinstance(value, str):
        return masked_name(value, mask)
    return _masked(value, mask, inside=key in _FREE)


def _masked(value: Any, mask: Mask, *, inside: bool = False) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [_masked(each, mask, inside=inside) for each in value]
    if not isinstance(value, Mapping):
        return value
    if not inside:
        return without_secrets(value, mask)
    return _keyed(((key, _masked(each, mask, inside=True)) for key, each in value.items()), mask)


def _keyed(values: Iterable[tuple[str, Any]], mask: Mask) -> dict[str, Any]:
    return {masked_name(key, mask): value for key, value in values}
