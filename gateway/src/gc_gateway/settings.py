"""The gateway's configuration: one value, validated when it is created."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from gc_core import GCConfig
from gc_core.errors import ConfigError
from gc_core.values.nearest import did_you_mean
from gc_core.values.validators import is_count, is_number
from gc_gateway.access import LOOPBACK, shown
from gc_gateway.dialects import DIALECTS

_LAST_PORT: Final = 65_535
_CLIENTS_DECIDE: Final = "expected none: clients ask their provider for its edits, and their requests stay as they are"

Validator = Callable[[object, "attrs.Attribute[Any]", Any], None]


def _whole(least: int, most: int | None = None) -> Validator:
    def check(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if not is_count(value, least) or (most is not None and value > most):
            to = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise ConfigError(f"{attribute.name} = {value!r}: expected a whole number {to}")

    return check


def _seconds(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not is_number(value) or value < 0:
        raise ConfigError(f"{attribute.name} = {value!r}: expected a number of seconds, 0 or more")


def _name(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{attribute.name} = {value!r}: expected an address, such as '127.0.0.1'")


def _secret(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, str):
        raise ConfigError(f"{attribute.name} is of type {type(value).__name__}: expected a text in quotation marks")


def _directory(value: Any) -> Path:
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ConfigError(f"directory = {value!r}: expected the path of a directory")
    return Path(value)


def upstreams_of(value: object) -> Mapping[str, str]:
    """Return the base URLs by dialect. Raises ConfigError for anything else."""
    if not isinstance(value, Mapping):
        raise ConfigError(
            f'upstreams = {shown(value)}: expected a table of dialect = URL, such as openai = "https://host"'
        )
    for name, url in value.items():
        if name not in DIALECTS:
            expected = f"expected one of the dialects {sorted(DIALECTS)}{did_you_mean(name, DIALECTS)}"
            raise ConfigError(f"upstreams.{name} = {shown(url)}: {expected}")
        if not _is_base_url(url):
            raise ConfigError(f"upstreams.{name} = {shown(url)}: expected a base URL, such as 'https://host/path'")
    return dict(value)


def windows_of(value: object) -> Mapping[str, int]:
    """Return the tokens of windows by a pattern of the model's name. Raises ConfigError for anything else."""
    if not isinstance(value, Mapping):
        raise ConfigError(f'windows = {value!r}: expected a table of model = tokens, such as "gpt-5*" = 200000')
    for pattern, tokens in value.items():
        if not is_count(tokens, 1):
            raise ConfigError(f'windows."{pattern}" = {tokens!r}: expected a whole number of tokens of at least 1')
    return dict(value)


def _is_base_url(url: object) -> bool:
    if not isinstance(url, str):
        return False
    try:
        parts = urlsplit(url)
        _ = parts.port  # it is only read here, and may be none
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and not parts.fragment


def _own_edits_alone(_: object, _attribute: attrs.Attribute[Any], config: GCConfig) -> None:
    if config.provider_edits:
        raise ConfigError(f"provider_edits = {config.provider_edits!r}: {_CLIENTS_DECIDE}")


@attrs.frozen(kw_only=True)
class Settings:
    """
    The configuration of one gateway.

    Raises ConfigError, naming key, value and what is allowed, for a bad value.

    Attributes:
        directory: Where the lanes' files are.
        host: The address to listen on; anything but loopback needs a token.
        port: The port; 0 for a free one.
        token: What clients send as ``x-gc-token``, or as the first part of the path (``/TOKEN/v1/messages``); "" for
            none.
        upstreams: Base URLs by dialect, with or without the API's version (``/v1``); the vendor's own where none is
            given.
        windows: Tokens of a model's window, by a pattern of its name (``"gpt-5*"``); else the price list's.
        default_window: Tokens of the window of a model that is listed nowhere.
        body_bytes: The longest request body.
        idle_seconds: After so long without a request a lane leaves memory.
        open_lanes: Lanes in memory at most.
        config: How lanes collect; their window is set by model.

    """

    directory: Path = attrs.field(converter=_directory)
    host: str = attrs.field(default="127.0.0.1", validator=_name)
    port: int = attrs.field(default=0, validator=_whole(0, _LAST_PORT))
    token: str = attrs.field(default="", repr=False, validator=_secret)
    upstreams: Mapping[str, str] = attrs.field(factory=dict, converter=upstreams_of)
    windows: Mapping[str, int] = attrs.field(factory=dict, converter=windows_of)
    default_window: int = attrs.field(default=200_000, validator=_whole(1))
    body_bytes: int = attrs.field(default=64_000_000, validator=_whole(1))
    idle_seconds: float = attrs.field(default=600.0, validator=_seconds)
    open_lanes: int = attrs.field(default=100, validator=_whole(1))
    config: GCConfig = attrs.field(factory=lambda: GCConfig(strategy="gc_budget"), validator=_own_edits_alone)

    def __attrs_post_init__(self) -> None:
        """Raise ConfigError for an address of others without a token."""
        if self.host not in LOOPBACK and not self.token:
            raise ConfigError(f"host = {self.host!r} is reachable by others: set a token, or listen on 127.0.0.1")

    def upstream(self, dialect: str) -> str:
        """Return the base URL of a dialect, without a slash at its end."""
        return self.upstreams.get(dialect, DIALECTS[dialect].upstream).rstrip("/")

    def window(self, model: str) -> int:
        """Return the tokens of a model's window."""
        for pattern, tokens in self.windows.items():
            if fnmatchcase(model, pattern):
                return tokens
        return _listed_window(model) or self.default_window


def _listed_window(model: str) -> int:
    from gc_core.providers.prices import window_of

    return window_of(model)
