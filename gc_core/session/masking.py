"""Converts what the host says to plain JSON values, without the secrets that plugins recognise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gc_core.errors import MessageError
from gc_core.plugins.middleware import processed
from gc_core.plugins.redaction import masked_name, without_secret_names, without_secrets
from gc_core.providers import provider_named
from gc_core.session.runtime import Runtime
from gc_core.values.json_values import DepthError, check_depth, read_json
from gc_core.values.messages import Payload


class Masking:
    """Prepares what arrives for the log."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def message(self, message: object) -> Payload:
        """Return a message as it is logged: after middleware, and without secrets."""
        return self.copied(_plain(message))

    def copied(self, plain: Payload) -> Payload:
        """Return a message as it is logged, from a copy in plain JSON values that nobody changes."""
        plugins = self._runtime.plugins
        if plugins.processes:
            return self.plain(processed(plain, plugins, self._runtime.format))
        return self._without_secrets(plain)

    def plain(self, message: object) -> Payload:
        """Return the message in plain JSON values, without secrets. Raises MessageError for anything else."""
        return self._without_secrets(_plain(message))

    def _without_secrets(self, plain: Payload) -> Payload:
        plugins = self._runtime.plugins
        keys = provider_named(self._runtime.format.name).keys
        return without_secrets(plain, plugins.redact, keys) if plugins.redacts else plain

    def unmasked(self, message: object) -> Payload:
        """Return the message in plain JSON values, unchanged. Raises MessageError if it is not a message."""
        return _plain(message)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        plugins = self._runtime.plugins
        return plugins.redact(text) if plugins.redacts else text

    def texts(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return named texts without secrets, also in their names."""
        plugins = self._runtime.plugins
        return without_secret_names(texts, plugins.redact) if plugins.redacts else dict(texts)

    def name(self, name: str) -> str:
        """Return a name without secrets."""
        plugins = self._runtime.plugins
        return masked_name(name, plugins.redact) if plugins.redacts else name


def _plain(message: object) -> Payload:
    """
    Return a copy in plain JSON values, so that it cannot be changed from outside; SDK objects are
    converted to dicts.
    """
    if not isinstance(message, Mapping) and not hasattr(message, "model_dump"):
        raise MessageError(f"expected a message as a dict or an SDK object, got {type(message).__name__}")
    try:
        check_depth(message)
        plain = read_json(json.dumps(message, default=_as_dict, ensure_ascii=False, allow_nan=False))
    except DepthError as error:
        raise MessageError(f"message is {error}") from error
    except (TypeError, ValueError) as error:
        raise MessageError(f"message is not JSON: {error}") from error
    return plain  # type: ignore[no-any-return]  # JSON of a mapping is a dict


def _as_dict(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        # The SDKs' models hold values that pydantic never validated; its warnings about them are meaningless.
        return value.model_dump(mode="json", exclude_none=True, warnings=False)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
