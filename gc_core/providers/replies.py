"""Converts replies of a provider's client to plain JSON values."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from gc_core.errors import MessageError
from gc_core.providers import fields
from gc_core.providers.registry import PROVIDERS
from gc_core.values.json_values import Path, rebuilt
from gc_core.values.messages import Usage


def plain(value: object) -> Any:
    """
    Return the JSON value of a client's object: an SDK model, a mapping of them, or JSON already.

    An SDK model yields what the provider sent, without the SDK's defaults. Raises MessageError for a model that is
    nested too deeply, or contains itself.
    """
    try:
        return _opened((), value) if hasattr(value, "model_dump") else rebuilt(value, _opened)
    except ValueError as error:  # pydantic's error for what it cannot serialise
        raise MessageError(f"the reply cannot be converted to JSON: {error}") from error


def _opened(_: Path, value: Any) -> Any:
    """Return the value of a client's object, which may contain others."""
    if hasattr(value, "model_dump"):
        # As the SDKs themselves do when a reply is passed back. Their models hold values that pydantic never validated,
        # so its warnings about them are meaningless.
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    return value.to_dict() if hasattr(value, "to_dict") else value


def usage_with_details(usage: object, sent: str, answered: str) -> Usage:
    """
    Return the usage in a report whose ``sent`` tokens include cached ones, detailed in the field ``<sent>_details``.

    Raises MessageError when the count of ``sent`` is missing.
    """
    report = fields.mapping(plain(usage), "usage")
    where = f"usage.{sent}_details"
    details = fields.mapping(report.get(f"{sent}_details") or {}, where)
    return Usage(
        input_tokens=fields.number(report, sent, "usage"),
        output_tokens=fields.number(report, answered, "usage", default=0),
        cache_read_tokens=fields.number(details, "cached_tokens", where, default=0),
        cache_write_tokens=fields.number(details, "cache_write_tokens", where, default=0),
        cache_reported=any(details.get(key) is not None for key in ("cached_tokens", "cache_write_tokens")),
    )


def miss_reason(reply: object) -> str:
    """
    Return why a reply's request missed the prompt cache, in the provider's own word, or "".

    Providers say so only when the request asked to compare it with an earlier one.
    """
    words = (functools.reduce(_under, each.miss_reason_at, reply) for each in PROVIDERS.values() if each.miss_reason_at)
    return next((word for word in words if isinstance(word, str) and word), "")


def _under(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
