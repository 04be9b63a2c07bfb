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
