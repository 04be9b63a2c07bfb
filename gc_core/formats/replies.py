"""Replies of a provider's client as plain JSON values, whatever object carries them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain(value: object) -> Any:
    """
    The JSON value behind a client's object: an SDK model, a mapping of them, or JSON already.

    An SDK model gives what the provider sent, without the defaults that only the SDK knows.
    """
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if hasattr(value, "model_dump"):
        # As the SDKs themselves do when a reply is passed back. Their models hold values that pydantic never
        # validated, so its warnings about them say nothing.
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    return value


def miss_reason(reply: object) -> str:
    """
    Why a reply's request missed the prompt cache, in the provider's own word, or "".

    Anthropic tells it in ``diagnostics.cache_miss_reason``, OpenAI in ``prompt_cache_diagnostics``, both only when the
    request asked to compare it with an earlier one.
    """
    anthropic = _under(_under(reply, "diagnostics"), "cache_miss_reason")
    word = _under(anthropic, "type") or _under(_under(reply, "prompt_cache_diagnostics"), "reason")
    return word if isinstance(word, str) else ""


def _under(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
