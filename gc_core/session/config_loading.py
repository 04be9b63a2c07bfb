"""Loads a configuration: Python beats ``GC_*`` environment variables, which beat a ``[gc]`` table in TOML."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

import attrs

from gc_core.errors import ConfigError
from gc_core.values.config import GCConfig

PREFIX = "GC_"
_TABLES = frozenset({"provider_edits", "tools", "strategies", "summarizers"})
_KEYS = tuple(field.name for field in attrs.fields(GCConfig))
_KINDS = {key: kind.__name__ if isinstance(kind, type) else str(kind) for key, kind in get_type_hints(GCConfig).items()}
_SIMILAR = 0.85
_MEANT = frozenset({"gc", "gc_core", "gccore", "ctxgc", "gc_config"})


def load_config(path: str | Path | None = None, *, environ: Mapping[str, str] | None = None, **values: Any) -> GCConfig:
    """
    Return the configuration of a TOML file (its ``[gc]`` table), the environment (``GC_THRESHOLD_PERCENT=75``) and
    these values; later sources win.

    Raises ConfigError naming key, value and what is allowed, for an unknown key or a bad value, and when the file
    cannot be read.
    """
    merged: dict[str, Any] = {}
    if path is not None:
        merged.update(_from_file(Path(path)))
    merged.update(_from_environment(os.environ if environ is None else environ))
    merged.update(values)
    unknown = sorted(set(merged) - set(_KEYS))
    if unknown:
        raise ConfigError(f"unknown key {unknown[0]!r} = {merged[unknown[0]]!r}; known: {sorted(_KEYS)}")
    return GCConfig(**merged)


def _from_file(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"configuration {path} cannot be read: {error}") from error
    if "gc" not in document and document:
        raise ConfigError(f"configuration {path} has no table [gc]{_instead(document)}")
    table = document.get("gc", {})
    if not isinstance(table, dict):
        raise ConfigError(f"configuration {path}: gc = {table!r}; expected a table [gc]")
    return table


def _instead(document: Mapping[str, Any]) -> str:
    """Return what the file has instead of the table."""
    tools = document.get("tool")
    names = [*document, *(f"tool.{name}" for name in tools if isinstance(tools, Mapping))] if tools else [*document]
    outside = sorted(set(document) & set(_KEYS))
    if outside:
        return f"; its keys are outside: {outside}"
    meant = [name for name in names if name.rpartition(".")[2].replace("-", "_") in _MEANT]
    if meant:
        return f"; [{meant[0]}] is not read: call it [gc]"
    return f"; it has {sorted(names)}"


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the variables that name a key. Similar names may belong to other programs, but a near miss is a typo."""
    import difflib

    names = {PREFIX + key.upper(): key for key in _KEYS if key not in _TABLES}
    found = {}
    for variable, text in environ.items():
        if variable in names:
            found[names[variable]] = _value(variable, names[variable], text)
        elif variable.startswith(PREFIX):
            near = difflib.get_close_matches(variable, names, n=1, cutoff=_SIMILAR)
            if near:
                raise ConfigError(f"unknown environment variable {variable} = {text!r}; did you mean {near[0]}?")
    return found


def _value(variable: str, key: str, text: str) -> Any:
    try:
        return _parsed(_KINDS[key], text.strip())
    except ValueError:
        raise ConfigError(f"{variable} = {text!r}: expected {_KINDS[key]}") from None


def _parsed(kind: str, text: str) -> Any:
    if kind.endswith("| None") and text.lower() in {"", "none"}:
        return None
    if kind.startswith("tuple["):
        parts = [part.strip() for part in text.split(",")]
        return [_ATOMS[kind[6:].rpartition(",")[0]](part) for part in parts if part]
    return _ATOMS[kind.partition(" ")[0]](text)


def _flag(text: str) -> bool:
    flags = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if text.lower() not in flags:
        raise ValueError(text)
    return flags[text.lower()]


_ATOMS: Mapping[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float, "bool": _flag}
"""How a value of this type is parsed."""
