"""
JSON from outside: read, and walked without recursion, to a depth that everything that handles it can take.

All JSON text is read here, and all walks over JSON values use these functions: a recursive walk ends in a
RecursionError that depends on how deep the host's own stack is.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from gc_core.values.patterns import regex

DEEPEST: Final = 100
"""
The most levels of objects and lists in a message, a schema or a text that is read as JSON.

Protocol Buffers, in which Gemini takes its requests, read as many (google.protobuf, default limit of recursion); the
deepest message of the corpus has 6.
"""

DEEPEST_RECORD: Final = 2 * DEEPEST
"""The most levels in a line of gc-core's own files, which contain messages."""

Path = tuple[str | int, ...]
"""Keys and positions from the value to a value inside it."""

_CONTAINERS: Final = (dict, list, tuple, Mapping)
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""The most frequent types: asking an abstract class about each would take most of the time."""

_MANY: Final = 5_000
"""Number of brackets from which a text's depth is checked before it is read, whatever the host's stack."""

_STRING: Final = regex(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKET: Final = regex(r"[\[\]{}]")


class DepthError(ValueError):
    """A JSON value is nested too deeply."""

    def __init__(self, deepest: int) -> None:
        super().__init__(f"nested deeper than {deepest} levels of objects and lists")


# -- reading -----------------------------------------------------------------------------------------------------------


def read_json(text: str | bytes, deepest: int = DEEPEST) -> Any:
    """
    Return the value of a JSON text; bytes are UTF-8, including lone surrogates.

    Raises ValueError for anything that is not JSON, including NaN, Infinity and numbers that large, which Python's own
    reader accepts, and for more levels than ``deepest``.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogatepass")
    brackets = text.count("[") + text.count("{")
    if brackets > _MANY:
        _check_text(text, deepest)
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise DepthError(deepest) from error
    if brackets > deepest:
        check_depth(value, deepest)
    return value


def read_json_at(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at a place of a text, and where it ends. Raises ValueError as ``read_json`` does."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError as error:
        raise DepthError(DEEPEST) from error
    check_depth(value)
    return value, end


def read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text contains, as the arguments of a call must be; None for any other text."""
    value = value_or_none(text)
    return value if isinstance(value, dict) else None


def holds_object(text: object) -> bool:
    """Return whether the value is a text that is one JSON object."""
    return isinstance(text, str) and read_object(text) is not None


def value_or_none(text: str) -> Any:
    """Return the value of a text that may be JSON; None when it is not."""
    try:
        return read_json(text)
    except ValueError:
        return None


def check_depth(value: Any, deepest: int = DEEPEST) -> None:
    """Raise DepthError for a value with more levels, or one that contains itself."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(deepest):
        if not level:
            return
        inside = [
            inner
            for outer in level
            for inner in (outer if isinstance(outer, list | tuple) else outer.values())
            if type(inner) not in _PLAIN and isinstance(inner, _CONTAINERS)
        ]
        # Each object once: a value that contains itself twice would double with every level.
        level = [*{id(inner): inner for inner in inside}.values()] if len(inside) > 1 else inside
    if level:
        raise DepthError(deepest)


def _check_text(text: str, deepest: int) -> None:
    """Raise DepthError for a text with more levels, without reading it: each level takes the reader some stack."""
    opened = (1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(_STRING.sub("", text)))
    if any(level > deepest for level in itertools.accumulate(opened)):
        raise DepthError(deepest)


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"no float can represent the number {digits[:20]}")
    return number


_DECODER: Final = json.JSONDecoder(parse_constant=_refused, parse_float=_finite)


# -- walking -----------------------------------------------------------------------------------------------------------


def strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value, in order, with the nearest key above it."""
    left = [(key, value)]
    while left:
        key, value = left.pop()
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, Mapping):
            left.extend(reversed([*value.items()]))
        elif isinstance(value, list | tuple):
            left.extend((key, inner) for inner in reversed(value))


def key_of(path: Path) -> str:
    """Return the nearest key above the value at a path, "" if there are only lists."""
    return next((key for key in reversed(path) if isinstance(key, str)), "")


def leaves(value: Any) -> Iterator[tuple[Path, Any]]:
    """
    Yield every value without children, in order, each with its path; an empty object or list is one too.

    Raises DepthError for a value that is too deep.
    """
    left: list[tuple[Path, Any]] = [((), value)]
    while left:
        path, value = left.pop()
        inside = _inside(value)
        if len(path) > DEEPEST_RECORD:
            raise DepthError(DEEPEST_RECORD)
        if inside:
            left.extend([((*path, key), inner) for key, inner in reversed(inside)])
        else:
            yield path, value


def keys_and_values(value: Any) -> Iterator[Any]:
    """Yield every key and every leaf, in the order of the JSON text."""
    left = [value]
    while left:
        value = left.pop()
        if type(value) in _PLAIN:  # most are: to ask whether something is a Mapping takes long
            yield value
        elif isinstance(value, Mapping):
            left.extend(inner for pair in reversed([*value.items()]) for inner in reversed(pair))
        elif isinstance(value, list | tuple):
            left.extend(reversed(value))
        else:
            yield value


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a JSON value, each before those inside it."""
    left = [value]
    while left:
        value = left.pop()
        if type(value) in _PLAIN:
            continue
        if isinstance(value, Mapping):
            yield value
        left.extend([inner for _, inner in reversed(_inside(value))])


def rebuilt(
    value: Any,
    change: Callable[[Path, Any], Any],
    *,
    enters: Callable[[Path, Any], bool] | None = None,
    leaves_as: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """
    Return a copy in which each leaf is replaced by ``change(path, leaf)``; an object that it returns is walked too.

    Values that ``enters`` rejects stay the same object. ``leaves_as`` replaces an object or list after its contents,
    given the old and the new value. Raises DepthError for a value that is too deep or contains itself.
    """
    root = [value]
    left: list[_Step] = [(root, 0, (), None)]
    while left:
        owner, key, path, was = left.pop()
        value = owner[key]
        if was is not None:
            owner[key] = value if leaves_as is None else leaves_as(was, value)
            continue
        if not isinstance(value, _CONTAINERS):
            value = owner[key] = change(path, value)
        if not isinstance(value, _CONTAINERS) or (enters is not None and not enters(path, value)):
            continue
        if len(path) >= DEEPEST_RECORD:
            raise DepthError(DEEPEST_RECORD)
        owner[key] = copy = dict(value) if isinstance(value, Mapping) else list(value)
        left.append((owner, key, path, value))
        left.extend([(copy, inner, (*path, inner), None) for inner, _ in reversed(_inside(copy))])
    return root[0]


_Step = tuple[Any, Any, Path, Any]
"""A value's place, its path, and, after its contents, the original value."""


# -- writing -----------------------------------------------------------------------------------------------------------


def has_utf8(text: str) -> bool:
    """Return whether the text can be encoded as UTF-8; surrogates cannot."""
    if text.isascii():  # O(1), and true for most texts
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_in_utf8(text: str) -> str:
    """
    Return the text itself, or a copy with U+FFFD for every lone surrogate; surrogate pairs become
    their character.
    """
    return text if has_utf8(text) else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def all_have_utf8(value: Any) -> bool:
    """Return whether every text and key in a JSON value can be encoded as UTF-8."""
    return all(has_utf8(each) for each in keys_and_values(value) if isinstance(each, str))


def value_in_utf8(value: Any) -> Any:
    """Return the value itself, or a copy with every text and key converted by ``text_in_utf8``."""
    return value if all_have_utf8(value) else rebuilt(value, _leaf_in_utf8, leaves_as=_keys_in_utf8)


def _leaf_in_utf8(_: Path, leaf: Any) -> Any:
    return text_in_utf8(leaf) if isinstance(leaf, str) else leaf


def _keys_in_utf8(_: Any, made: Any) -> Any:
    if not isinstance(made, Mapping):
        return made
    return {text_in_utf8(key) if isinstance(key, str) else key: value for key, value in made.items()}


def _inside(value: Any) -> Sequence[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return [*value.items()]
    return [*enumerate(value)] if isinstance(value, list | tuple) else ()
