"""Checks of numbers, in one place; each caller words its own error."""

from __future__ import annotations

from typing import TypeGuard


def is_count(value: object, least: int = 0) -> TypeGuard[int]:
    """Return whether the value is a whole number of at least ``least``; a bool is not."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value: object) -> TypeGuard[float]:
    """Return whether the value is a finite number; a bool is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
