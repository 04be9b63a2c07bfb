"""Reads fields of a provider's payload, with errors that name their path."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from gc_core.errors import MessageError
from gc_core.values.items import Place
from gc_core.values.json_values import read_json
from gc_core.values.messages import MOST_TOKENS, Payload, Role

MISSING: Final = object()


class FieldError(MessageError):
    """
    A field of a message is missing or of the wrong kind.

    Attributes:
        field: Its path, for example ``content[2].tool_use_id``.
        value: What it holds.
        expected: What was expected.

    """

    def __init__(self, field: str, value: object, expected: str) -> None:
        self.field = field
        self.value = value
        self.expected = expected
        found = "missing" if value is MISSING else reprlib.repr(value)
        super().__init__(f"{field}: {found}, expected {expected}")


def mapping(value: object, field: str) -> Mapping[str, Any]:
    """Return the value if it is an object; raises FieldError otherwise."""
    if isinstance(value, Mapping):
        return value
    raise FieldError(field, value, "an object")


def text(owner: Mapping[str, Any], key: str, field: str = "") -> str:
    """Return the string under a key of the object at ``field``; raises FieldError for anything else."""
    value = owner.get(key, MISSING)
    if isinstance(value, str):
        return value
    raise FieldError(below(field, key), value, "a string")


def name(owner: Mapping[str, Any], key: str, field: str = "") -> str:
    """Return the non-empty string under a key; raises FieldError for anything else."""
    value = owner.get(key, MISSING)
    if isinstance(value, str) and value:
        return value
    raise FieldError(below(field, key), value, "a non-empty string")


def object_in(text: str, field: str) -> Mapping[str, Any]:
    """Return the JSON object in a text; raises FieldError for anything else."""
    try:
        return mapping(read_json(text), field)
    except ValueError as error:
        raise FieldError(field, text, "a JSON object as text") from error


def number(owner: Mapping[str, Any], key: str, field: str = "", *, default: int | None = None) -> int:
    """Return the count under a key, or the default if it is absent or null; raises FieldError for anything else."""
    value = owner.get(key, MISSING)
    if default is not None and (value is MISSING or value is None):
        return default
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_TOKENS:
        return value
    raise FieldError(below(field, key), value, "a number of tokens")


def blocks(values: Iterable[object], field: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the content blocks with their positions; raises FieldError for one that is not an object with a type."""
    for position, value in enumerate(values):
        at = f"{field}[{position}]"
        name(mapping(value, at), "type", at)
        yield position, mapping(value, at)


def role(owner: Mapping[str, Any], roles: Mapping[str, Role], hints: Mapping[str, str], field: str = "") -> Role:
    """
    Return the role that an object has under the provider's name for it.

    Raises FieldError for any other name, with the hint for it if there is one.
    """
    value = owner.get("role", MISSING)
    if isinstance(value, str) and value in roles:
        return roles[value]
    raise FieldError(below(field, "role"), value, f"one of {sorted(roles)}{hints.get(str(value), '')}")


def sealed_length(owner: Mapping[str, Any], key: str) -> int:
    """Return the length of a signature or of encrypted content under a key; 0 if there is none."""
    value = owner.get(key)
    return len(value) if isinstance(value, str) else 0


def edited(
    block: Payload, texts: Mapping[Place, str | None], place: Place, rewrite: Callable[[Payload, str], Payload]
) -> Payload | None:
    """Return the block at a place, rewritten with its new text if it has one; None if the edit removes it."""
    if place not in texts:
        return block
    text = texts[place]
    return None if text is None else rewrite(block, text)


def below(field: str, key: str) -> str:
    """Return the path of a key of the object at a path."""
    return f"{field}.{key}" if field else key


def in_list(error: MessageError, place: int) -> MessageError:
    """Return an error about a message as one about the list that has the message at this place."""
    if not isinstance(error, FieldError):
        return MessageError(f"[{place}]: {error}")
    whole, _, rest = error.field.partition(".")
    inner = rest if whole == "message" else error.field
    return FieldError(below(f"[{place}]", inner) if inner else f"[{place}]", error.value, error.expected)


def check_places(named: Iterable[Place], known: Collection[Place]) -> None:
    """Raise MessageError for a place at which the message has no part."""
    for place in named:
        if place not in known:
            raise MessageError(f"no part at {place!r}; the message has parts at {sorted(known, key=str)}")
