"""JSON values, walked and written without regard to how deep they are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

JSON = dict[str, Any]

DEEPEST = 20_000


@contextmanager
def deep() -> Iterator[None]:
    """Let Python's own json go deeper than gc-core may: only the checks run inside."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(DEEPEST)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def canonical(value: Any) -> str:
    """One spelling of a JSON value."""
    with deep():
        return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def parsed(text: str) -> Any:
    """The value that a text of strict JSON tells; ValueError where it tells none."""
    with deep():
        return json.loads(text, parse_constant=refuse)


def refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def strings(value: Any) -> Iterator[str]:
    """Every string in it, keys left out, in order."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            yield here
        elif isinstance(here, dict):
            waiting.extend(reversed(here.values()))
        elif isinstance(here, list | tuple):
            waiting.extend(reversed(here))


def without(value: Any, keys: frozenset[str]) -> Any:
    """The same value without these keys, at any depth that a provider's own schema has."""
    if isinstance(value, dict):
        return {key: without(part, keys) for key, part in value.items() if key not in keys}
    if isinstance(value, list | tuple):
        return [without(part, keys) for part in value]
    return value
