"""Loads the settings: flags beat ``GC_GATEWAY_*`` variables, which beat a file's ``[gateway]`` table."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from gc_core import GCConfig, load_config
from gc_core.errors import ConfigError
from gc_core.session.config_loading import OwnTable, check_tables
from gc_core.values.nearest import nearest
from gc_gateway.access import shown
from gc_gateway.dialects import DIALECTS
from gc_gateway.settings import Settings, upstreams_of, windows_of

PREFIX: Final = "GC_GATEWAY_"
_OTHERS: Final = frozenset({"GC_GATEWAY_URL"})
"""Variables with this prefix that agents read, and the gateway does not."""

_KEYS: Final = tuple(field.name for field in attrs.fields(Settings) if field.name != "config")
_TABLES: Final[Mapping[str, Callable[[object], Mapping[str, Any]]]] = {"upstreams": upstreams_of, "windows": windows_of}
_TABLE: Final = OwnTable(name="gateway", keys=_KEYS, meant=frozenset({"gc_gateway", "gcgateway"}))
_TEXTS: Final = {"directory", "host", "token"}
_SCALARS: Final = {PREFIX + key.upper(): key for key in _KEYS if key not in _TABLES}
_UPSTREAMS: Final = {f"{PREFIX}UPSTREAM_{name.upper()}": name for name in DIALECTS}
_SECRET: Final = "token"  # noqa: S105 - the name of a key


def load_settings(path: str | Path | None = None, **flags: Any) -> Settings:
    """
    Return the settings of a file, the environment and flags; a flag that is None is not given.

    The file's ``[gc]`` table says how lanes collect; its ``context_limit`` is the window of models that no pattern of
    ``windows`` fits. Raises ConfigError, naming key, value and what is allowed, for an
    unknown key or a bad value, for a part of these tables that stands elsewhere, and when the file cannot be read.
    """
    document = _document(Path(path)) if path is not None else {}
    table = _own_table(path, document)
    values = _merged(table, _from_environment(), {key: value for key, value in flags.items() if value is not None})
    for unknown in sorted(values.keys() - set(_KEYS)):
        raise ConfigError(f"[gateway] has no key {_given(unknown, values[unknown], _KEYS, _SECRET)}")
    if values.setdefault("directory", "") == "":
        values["directory"] = lanes_directory()
    config = _config(path, document)
    if _is_given("context_limit", document):
        windows = values.get("windows", {})
        values["windows"] = {**windows, "*": windows.get("*", config.context_limit)}
    return Settings(**values, config=config)


def lanes_directory() -> Path:
    """Return the directory of the lanes where neither a flag nor a file names one."""
    home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Path(os.environ.get(f"{PREFIX}DIRECTORY") or home / "gc-gateway" / "lanes")


# -- inside ------------------------------------------------------------------------------------------------------------


def _merged(*sources: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the values of all sources, later ones before earlier; those of tables (upstreams, windows) one by one, the
    later entries first: the first window whose pattern fits is taken.
    """
    merged: dict[str, Any] = {}
    for source in sources:
        for key, value in source.items():
            merged[key] = {**_TABLES[key](value), **_without(merged.get(key, {}), value)} if key in _TABLES else value
    return merged


def _without(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in earlier.items() if name not in later}


def _config(path: str | Path | None, document: Mapping[str, Any]) -> GCConfig:
    """Return how lanes collect: with ``gc_budget``, unless the file or the environment names a strategy."""
    config = load_config(path if "gc" in document else None)
    return config if _is_given("strategy", document) else attrs.evolve(config, strategy="gc_budget")


def _is_given(key: str, document: Mapping[str, Any]) -> bool:
    """Return whether the file or the environment names a value of the library's configuration."""
    return key in document.get("gc", {}) or f"GC_{key.upper()}" in os.environ


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error  # a system's error repeats the path
        raise ConfigError(f"configuration {path} cannot be read: {why}") from error


def _own_table(path: str | Path | None, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of the gateway. Raises ConfigError where a file has neither that nor one of the library's."""
    check_tables(document, path)
    check_tables(document, path, _TABLE)
    if document and not {"gateway", "gc"} & document.keys():
        raise ConfigError(
            f"configuration {path} has neither a table [gateway] nor a table [gc]; it has {sorted(document)}"
        )
    table = document.get("gateway", {})
    if not isinstance(table, dict):
        raise ConfigError(f"configuration {path}: gateway = {table!r}; expected a table [gateway]")
    return table


def _from_environment() -> dict[str, Any]:
    """Return the values of the variables. Raises ConfigError for one that nobody reads."""
    found, upstreams = dict[str, Any](), dict[str, str]()
    for variable, text in os.environ.items():
        if variable in _SCALARS:
            found[_SCALARS[variable]] = _value(variable, _SCALARS[variable], text)
        elif variable in _UPSTREAMS:
            upstreams[_UPSTREAMS[variable]] = text
        elif variable.startswith(PREFIX) and variable not in _OTHERS:
            raise ConfigError(_unknown(variable, text))
    given = {name: url for name, url in upstreams.items() if url}
    return {**found, **({"upstreams": given} if given else {})}


def _value(variable: str, key: str, text: str) -> Any:
    if key in _TEXTS:
        return text
    kind, expected = (float, "a number") if key == "idle_seconds" else (int, "a whole number")
    try:
        return kind(text)
    except ValueError:
        raise ConfigError(f"{variable} = {text!r}: expected {expected}") from None


def _unknown(variable: str, text: str) -> str:
    """Return the error about a variable of the gateway's that it does not have."""
    key = variable.removeprefix(PREFIX).lower()
    if key in _TABLES:
        return f"{variable} = {text!r}: a table has no variable; write [gateway.{key}] in a file"
    known = [*_SCALARS, *_UPSTREAMS]
    return f"unknown environment variable {_given(variable, text, known, PREFIX + _SECRET.upper(), similar=0.85)}"


def _given(name: str, value: object, known: Iterable[str], secret: str, *, similar: float = 0.6) -> str:
    """Return an unknown name with what was given, and the name that was meant, else all; no secret is repeated."""
    names = sorted(known)
    near = nearest(name, names, similar=similar)
    given = name if near == secret else f"{name} = {shown(value)}"
    return f"{given}; did you mean {near}?" if near else f"{given}; known: {names}"
