"""The gateway's configuration: flags beat ``GC_GATEWAY_*`` variables, which beat a file's ``[gateway]`` table."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs

from gc_core import GCConfig, load_config
from gc_core.session.config_loading import check_tables
from gc_core.values.nearest import did_you_mean
from gc_gateway.access import LOOPBACK, without_credentials
from gc_gateway.dialects import DIALECTS
from gc_gateway.errors import GatewayError

PREFIX = "GC_GATEWAY_"


@attrs.frozen(kw_only=True)
class Settings:
    """
    The configuration of one gateway.

    Attributes:
        directory: Where the lanes' files are.
        host: The address to listen on; anything but loopback needs a token.
        port: The port; 0 for a free one.
        token: What clients send as ``x-gc-token``, or as the first part of the path (``/TOKEN/v1/messages``); "" for
            none.
        upstreams: Base URLs by dialect; the vendor's own where none is given.
        windows: Tokens of a model's window, by a pattern of its name (``"gpt-5*"``); else the price list's.
        default_window: Tokens of the window of a model that is listed nowhere.
        body_bytes: The longest request body.
        idle_seconds: After so long without a request a lane leaves memory.
        open_lanes: Lanes in memory at most.
        config: How lanes collect; their window is set by model.

    """

    directory: Path
    host: str = "127.0.0.1"
    port: int = 0
    token: str = attrs.field(default="", repr=False)
    upstreams: Mapping[str, str] = attrs.field(factory=dict)
    windows: Mapping[str, int] = attrs.field(factory=dict)
    default_window: int = 200_000
    body_bytes: int = 64_000_000
    idle_seconds: float = 600.0
    open_lanes: int = 100
    config: GCConfig = attrs.field(factory=lambda: GCConfig(strategy="gc_budget"))

    def __attrs_post_init__(self) -> None:
        """Raise GatewayError for what cannot be."""
        unknown = sorted(self.upstreams.keys() - DIALECTS.keys())
        if unknown:
            raise GatewayError(f"upstream for {unknown[0]!r}: dialects are {sorted(DIALECTS)}")
        for name, url in self.upstreams.items():
            parts = urlsplit(url)
            if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
                raise GatewayError(
                    f"upstream for {name} = {without_credentials(url)!r}: expected a base URL such as https://host/path"
                )
        if self.host not in LOOPBACK and not self.token:
            raise GatewayError(f"host = {self.host!r} is reachable by others: set a token, or listen on 127.0.0.1")

    def upstream(self, dialect: str) -> str:
        """Return the base URL of a dialect, without a slash at its end."""
        return self.upstreams.get(dialect, DIALECTS[dialect].upstream).rstrip("/")

    def window(self, model: str) -> int:
        """Return the tokens of a model's window."""
        for pattern, tokens in self.windows.items():
            if fnmatchcase(model, pattern):
                return tokens
        return _listed_window(model) or self.default_window


def load_settings(path: str | Path | None = None, **flags: Any) -> Settings:
    """
    Return the settings of a file, the environment and flags; a flag that is None is not given.

    The file's ``[gc]`` table says how lanes collect. Raises GatewayError and ConfigError, naming the key.
    """
    document = _document(Path(path)) if path is not None else {}
    check_tables(document, path or "")
    table = _gateway(path, document)
    values = _merged(table, _from_environment(), {key: value for key, value in flags.items() if value is not None})
    known = {field.name for field in attrs.fields(Settings)} - {"config"}
    for unknown in sorted(values.keys() - known):
        raise GatewayError(f"[gateway] has no key {unknown!r}; it has {sorted(known)}{did_you_mean(unknown, known)}")
    values["directory"] = Path(values.get("directory") or lanes_directory())
    return Settings(**values, config=_config(path if "gc" in document else None))


def _merged(*sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all sources, later ones before earlier; those of tables (upstreams, windows) one by one."""
    merged: dict[str, Any] = {}
    for source in sources:
        for key, value in source.items():
            held = merged.get(key)
            merged[key] = _joined(held, value) if isinstance(value, Mapping) else value
    return merged


def _joined(held: object, later: Mapping[str, Any]) -> dict[str, Any]:
    """Return both; the later entries come first, because the first window whose pattern fits is taken."""
    earlier = held if isinstance(held, Mapping) else {}
    return {**later, **{name: value for name, value in earlier.items() if name not in later}}


def _config(path: str | Path | None) -> GCConfig:
    config = load_config(path)
    return config if config.strategy != GCConfig().strategy else attrs.evolve(config, strategy="gc_budget")


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise GatewayError(f"{path} cannot be read: {error}") from error


def _gateway(path: str | Path | None, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of the gateway. Raises GatewayError where a file has neither that nor one of the library's."""
    if document and not {"gateway", "gc"} & document.keys():
        raise GatewayError(f"{path} has neither a table [gateway] nor a table [gc]; it has {sorted(document)}")
    table = document.get("gateway", {})
    if not isinstance(table, dict):
        raise GatewayError(f"{path}: gateway = {table!r}: expected a table")
    return table


def _from_environment() -> dict[str, Any]:
    names = {"directory": str, "host": str, "port": int, "token": str, "default_window": int, "body_bytes": int}
    found: dict[str, Any] = {}
    for name, kind in names.items():
        text = os.environ.get(PREFIX + name.upper())
        if text is not None:
            try:
                found[name] = kind(text)
            except ValueError:
                raise GatewayError(f"{PREFIX}{name.upper()} = {text!r}: expected {kind.__name__}") from None
    upstreams = {name: os.environ.get(f"{PREFIX}UPSTREAM_{name.upper()}") for name in DIALECTS}
    given = {name: url for name, url in upstreams.items() if url}
    return {**found, **({"upstreams": given} if given else {})}


def lanes_directory() -> Path:
    """Return the directory of the lanes where neither a flag nor a file names one."""
    home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Path(os.environ.get(f"{PREFIX}DIRECTORY") or home / "gc-gateway" / "lanes")


def _listed_window(model: str) -> int:
    from gc_core.providers.prices import window_of

    return window_of(model)
