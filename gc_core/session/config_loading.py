"""Loads a configuration: Python beats ``GC_*`` environment variables, which beat a ``[gc]`` table in TOML."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, get_type_hints

import attrs

from gc_core.errors import ConfigError
from gc_core.values.config import HOW_TO_MAKE_ONE, GCConfig
from gc_core.values.nearest import did_you_mean, nearest
from gc_core.values.validators import check_kind, check_text

PREFIX = "GC_"
_PERCENT = "_PERCENT"
_TABLES = frozenset({"provider_edits", "tools", "strategies", "summarizers"})
_KEYS = tuple(field.name for field in attrs.fields(GCConfig))
_VARIABLES = {PREFIX + key.upper(): key for key in _KEYS if key not in _TABLES}
_KINDS = {key: kind.__name__ if isinstance(kind, type) else str(kind) for key, kind in get_type_hints(GCConfig).items()}
_ABOUT = re.compile(r"unknown key '([^']+)' =|(\w+)(?:\.[\w.]+)? =")
_SIMILAR_VARIABLE = 0.85
_SIMILAR_TABLE = 0.9
"""The least similarity of a name that is ours and misspelt: less of it, and another program may own it (``[tool]``)."""


@attrs.frozen(kw_only=True)
class OwnTable:
    """
    A table of a TOML file.

    Attributes:
        name: Its name.
        keys: The keys that it may have.
        meant: Other names of it that people write, in small letters and with ``_``.
        strategies: Its table of strategies, whose tables people write beside it; "" if it has none.

    """

    name: str
    keys: tuple[str, ...]
    meant: frozenset[str]
    strategies: str = ""

    def place_of(self, name: str) -> str:
        """Return what a table of this name is called if a strategy of ours is configured in it; "" if not."""
        plain = _plain(name)
        is_ours = bool(self.strategies) and plain.startswith("gc_") and "gateway" not in plain
        return f"{self.strategies}.{plain}" if is_ours else ""

    def is_meant(self, name: str) -> bool:
        """Return whether a table of this name is meant to be this one."""
        plain = _plain(name)
        return plain in self.meant or bool(nearest(plain, (self.name,), similar=_SIMILAR_TABLE))


_GC = OwnTable(
    name="gc",
    keys=_KEYS,
    meant=frozenset({"gc_core", "gccore", "ctxgc", "gc_config", "gcconfig"}),
    strategies="gc.strategies",
)


def load_config(path: str | Path | None = None, *, environ: Mapping[str, str] | None = None, **values: Any) -> GCConfig:
    """
    Return the configuration of a TOML file (its ``[gc]`` table), the environment (``GC_THRESHOLD_PERCENT=75``) and
    these values; later sources win.

    Raises ConfigError naming key, value and what is allowed, for an unknown key or a bad value, for a table of this
    configuration that is not in ``[gc]``, and when the file cannot be read.
    """
    table = {} if path is None else _from_file(path)
    check_kind("environ", environ, (Mapping, NoneType), "the variables of the environment", error=ConfigError)
    later = {**_from_environment(os.environ if environ is None else environ), **values}
    merged = {**table, **later}
    try:
        _check_known(merged)
        return GCConfig(**merged)
    except ConfigError as error:
        key = _key_of(error)
        if key not in table or key in later:
            raise
        raise ConfigError(f"configuration {path}: {error}") from error


def check_tables(document: Mapping[str, Any], path: object, table: OwnTable = _GC) -> None:
    """Raise ConfigError for a key or part of our table in a file that stands elsewhere: nobody reads it."""
    for name, place in _misplaced(document, table):
        raise ConfigError(f"configuration {path}: {name} is not read: {place}")


def _check_known(values: Mapping[str, Any]) -> None:
    for unknown in sorted(set(values) - set(_KEYS)):
        place = isinstance(values[unknown], Mapping) and _GC.place_of(unknown)
        meant = f"; call it [{place}]" if place else did_you_mean(unknown, _KEYS) or f"; known: {sorted(_KEYS)}"
        raise ConfigError(f"unknown key {unknown!r} = {values[unknown]!r}{meant}")


def _key_of(error: ConfigError) -> str:
    """Return the key of the configuration that an error is about; "" if it begins with none."""
    about = _ABOUT.match(str(error))
    return "" if about is None else about[1] or about[2]


def _from_file(path: object) -> dict[str, Any]:
    import tomllib

    if not isinstance(path, str | os.PathLike):
        raise ConfigError(f"path = {path!r:.200}: expected the path of a TOML file; {HOW_TO_MAKE_ONE}")
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error  # a system's error repeats the path
        raise ConfigError(f"configuration {path!s:.200} cannot be read: {why}") from error
    check_tables(document, path)
    if _GC.name not in document and document:
        near = nearest(_GC.name, document)
        meant = f"; is [{near}] meant to be it?" if near else ""
        raise ConfigError(f"configuration {path} has no table [gc]; it has {sorted(document)}{meant}")
    table = document.get(_GC.name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"configuration {path}: gc = {table!r}; expected a table [gc]")
    return table


def _misplaced(document: Mapping[str, Any], own: OwnTable) -> Iterator[tuple[str, str]]:
    """Yield what is ours and stands elsewhere, with where it belongs. A name of another program's is left alone."""
    tools = document.get("tool")
    for name in tools if isinstance(tools, Mapping) else ():
        if place := own.name if own.is_meant(name) else own.place_of(name):
            yield f"[tool.{name}]", f"call it [{place}]"
    for name, value in document.items():
        key = nearest(_plain(name).removeprefix("gc_"), own.keys, similar=_SIMILAR_TABLE)
        if name != own.name and own.is_meant(name):
            yield f"[{name}]", f"call it [{own.name}]"
        elif key:
            table = isinstance(value, Mapping)
            place = f"call it [{own.name}.{key}]" if table else f"write {key} in the table [{own.name}]"
            yield f"[{name}]" if table else name, place
        elif isinstance(value, Mapping) and (place := own.place_of(name)):
            yield f"[{name}]", f"call it [{place}]"


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the variables that name a key. Similar names may belong to other programs, but a near miss is a typo."""
    found = {}
    for variable, text in environ.items():
        check_text("the name of a variable", variable, error=ConfigError)
        check_text(variable, text, error=ConfigError)
        if variable in _VARIABLES:
            found[_VARIABLES[variable]] = _value(variable, _VARIABLES[variable], text)
        elif variable.startswith(PREFIX):
            _check_other(variable, text)
    return found


def _check_other(variable: str, text: str) -> None:
    """Raise ConfigError for a variable that was meant for a key."""
    key = variable.removeprefix(PREFIX).lower()
    if key in _TABLES:
        raise ConfigError(f"{variable} = {text!r}: a table has no variable; write [gc.{key}] in a file")
    meant = nearest(variable, _VARIABLES, similar=_SIMILAR_VARIABLE)
    if not meant and _is_number(text) and f"{variable}{_PERCENT}" in _VARIABLES:
        meant = f"{variable}{_PERCENT}"
    if meant:
        raise ConfigError(f"unknown environment variable {variable} = {text!r}; did you mean {meant}?")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.strip().removesuffix("%")))
    except ValueError:
        return False


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
