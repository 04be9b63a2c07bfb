"""
Checks of what a host or a plugin gives: numbers, fields of values, arguments of calls, methods. An error names the
field or the argument, and says what would be right.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, TypeGuard, TypeVar

import attrs

from gc_core.errors import ConfigError, GCError, SourceError
from gc_core.isolation import isolated

T = TypeVar("T")
Kinds = type | UnionType | tuple[type, ...]

_HUNDRED = 100


def is_count(value: object, least: int = 0) -> TypeGuard[int]:
    """Return whether the value is a whole number of at least ``least``; a bool is not."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value: object) -> TypeGuard[float]:
    """Return whether the value is a finite number; a bool is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def is_kind(value: object, kinds: Kinds) -> bool:
    """Return whether the value is of one of these kinds; True and False are not numbers."""
    return isinstance(value, kinds) and not (kinds is int and isinstance(value, bool))


def check_percent(name: str, value: object) -> None:
    """
    Raise ConfigError for anything but a number from 0 to 100, and for one between 0 and 1: that is a share, written by
    mistake.
    """
    if not is_number(value) or not 0 <= value <= _HUNDRED:
        raise ConfigError(f"{name} = {value!r}: expected a number of percent from 0 to 100")
    if 0 < value < 1:
        raise ConfigError(f"{name} = {value!r}: expected percent, not a share; did you mean {value * 100:g}?")


def percent(instance: object, field: attrs.Attribute[Any], value: object) -> None:  # noqa: ARG001 - attrs' signature
    """
    Validate an attrs field that is a percentage, such as an option of a strategy: ``attrs.field(validator=percent)``.

    Raises ConfigError, naming the field, for anything but a number from 0 to 100. A number between 0 and 1 is refused
    too, because it is a share that was written by mistake.
    """
    check_percent(field.name, value)


def allowing(fits: Callable[[Any], object], expected: str, *, error: type[GCError] = ConfigError) -> Any:
    """Validate an attrs field with a test of its value. Raises this error, naming the field and what is expected."""

    def check(instance: object, field: attrs.Attribute[Any], value: object) -> None:  # noqa: ARG001 - attrs' signature
        if not fits(value):
            raise error(f"{field.name} = {value!r:.200}: expected {expected}")

    return check


def whole(least: int, *, error: type[GCError] = ConfigError) -> Any:
    """Validate an attrs field that is a whole number of at least ``least``."""
    return allowing(lambda value: is_count(value, least), f"a whole number of at least {least}", error=error)


def above(least: float, *, error: type[GCError] = ConfigError) -> Any:
    """Validate an attrs field that is a number above this one. Infinity is one: a strategy may mean "never"."""
    return allowing(lambda value: _is_ordered(value) and value > least, f"a number above {least:g}", error=error)


def at_least(least: float, *, error: type[GCError] = ConfigError) -> Any:
    """Validate an attrs field that is a number of at least this one."""
    return allowing(lambda value: _is_ordered(value) and value >= least, f"a number of at least {least:g}", error=error)


def _is_ordered(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def of_kind(kind: Kinds, expected: str, *, error: type[GCError] = ConfigError) -> Any:
    """Validate an attrs field whose value is of this kind."""
    return allowing(lambda value: is_kind(value, kind), expected, error=error)


def optional(check: Any) -> Any:
    """Validate an attrs field that may be None, and otherwise as ``check`` does."""
    return attrs.validators.optional(check)


# -- arguments of calls ------------------------------------------------------------------------------------------------


def check_kind(name: str, value: object, kinds: Kinds, expected: str, *, error: type[GCError] = SourceError) -> None:
    """Raise this error unless the value is of one of these kinds."""
    if not is_kind(value, kinds):
        raise error(f"{name} = {value!r:.200}: expected {expected}")


def check_text(name: str, value: object, *, error: type[GCError] = SourceError) -> None:
    """Raise this error for anything but text."""
    check_kind(name, value, str, "a text", error=error)


def check_flag(name: str, value: object, *, error: type[GCError] = SourceError) -> None:
    """Raise this error for anything but True and False."""
    check_kind(name, value, bool, "True or False", error=error)


def check_call(name: str, value: object) -> None:
    """Raise ConfigError for anything that cannot be called."""
    if not callable(value):
        raise ConfigError(f"{name} = {value!r:.200}: expected a function")


def check_named(call: str, unnamed: tuple[object, ...], example: str) -> None:
    """Raise SourceError for texts without a name, saying how to write the call."""
    if unnamed:
        raise SourceError(f"{call}() takes named texts: write {example}")


def listed(
    name: str,
    values: Iterable[T],
    expected: str,
    *,
    kinds: Kinds = object,
    error: type[GCError] = SourceError,
) -> tuple[T, ...]:
    """Return the values of a list or another iterable. Raises this error for a single value, and for other kinds."""
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping | type):
        raise error(f"{name} = {values!r:.200}: expected a list of {expected}")
    found = tuple(values)
    for place, value in enumerate(found):
        check_kind(f"{name}[{place}]", value, kinds, f"a list of {expected}", error=error)
    return found


def path_of(name: str, value: object) -> Path:
    """Return a path. Raises ConfigError for what no file system takes."""
    try:
        path = os.fsencode(value) if isinstance(value, str | Path) else b""
    except ValueError:  # half a letter
        path = b""
    if not path or b"\0" in path:
        raise ConfigError(f"{name} = {value!r:.200}: expected a path, as text or a pathlib.Path")
    return Path(os.fsdecode(path))


# -- methods of objects ------------------------------------------------------------------------------------------------


def call_misfit(owner: object, method: str, arguments: tuple[str, ...]) -> str:
    """
    Return what is wrong with a method that will be called with these arguments, by position, and not awaited. Return ""
    if nothing is, and if its signature cannot be read, like that of many functions in C.
    """
    with isolated() as attempt:  # both may be code of the owner's
        call = getattr(owner, method)
        signature = inspect.signature(call, follow_wrapped=False)  # of what runs: a decorator may take other arguments
    if attempt.error is not None:
        return ""
    expected = f"expected a method {method}({', '.join(arguments)})"
    if inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call):
        return f"{expected}; it is asynchronous, and is not awaited"
    try:
        signature.bind(*arguments)
    except TypeError as error:
        return f"{expected}; it has {method}{signature!s:.200}: {error}"
    return ""
