"""What passes for a number, in one place; each caller says in its own error what would be right."""

from __future__ import annotations

from typing import TypeGuard


def is_count(value: object, least: int = 0) -> TypeGuard[int]:
    """Return whether it is a whole number of at least this many; a bool is none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value: object) -> TypeGuard[float]:
    """Return whether it is a finite number; a bool is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
