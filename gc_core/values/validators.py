"""Checks of numbers, in one place. Only percentages have one wording; otherwise each caller words its own error."""

from __future__ import annotations

from typing import Any, TypeGuard

import attrs

from gc_core.errors import ConfigError

_HUNDRED = 100


def is_count(value: object, least: int = 0) -> TypeGuard[int]:
    """Return whether the value is a whole number of at least ``least``; a bool is not."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value: object) -> TypeGuard[float]:
    """Return whether the value is a finite number; a bool is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


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
