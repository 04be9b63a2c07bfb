"""
The shapes that the vendors' SDKs allow in requests, with a text at each place that takes one.

Read from the SDKs' own types, so that a new kind of block is tried as soon as its SDK is installed. Shares no code with
``gc_core``.
"""

import enum
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typing_extensions
from pydantic import BaseModel

DEEPEST = 7
"""Levels of types that are followed; the schemas of tools inside of changes of tools go deeper."""

HOSTILE = (
    lambda text: {"mimeType": "text/plain", "data": text},
    lambda text: {"mime_type": "text/plain", "data": text},
    lambda text: {"type": "base64", "data": text},
    lambda text: {"type": "redacted_thinking", "data": text},
    lambda text: {"format": "wav", "data": text},
    lambda text: {"signature": text},
    lambda text: {"thoughtSignature": text},
    lambda text: {"file_data": text},
    lambda text: {"encrypted_content": text},
    lambda text: {"encrypted_": text},
    lambda text: {"inlineData": {"mimeType": "image/png", "data": text}},
    lambda text: {"type": "image", "caption": text},
    lambda text: {"type": "image_url", "image_url": {"url": text}},
    lambda text: {"type": "input_image", "image_url": text},
    lambda text: {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": text}},
    lambda text: {"rows": [{"type": "image", "alt": text}]},
    lambda text: {"said": f"data:text/plain;base64,{text}"},
    lambda text: {"cache_control": text},
    lambda text: {"prompt_cache_breakpoint": {"said": text}},
    lambda text: {text: 1},
)
"""JSON with a text under keys that mean something elsewhere: where a provider takes any JSON, it reads all of it."""


def shapes(kind: Any, text: str) -> Iterator[tuple[str, Any]]:
    """A value of a type for each place in it that takes a text: the dotted path of the place, and the value."""
    places = ((".".join(path), value) for path, value in _shapes(kind, text, ()))
    yield from dict(places).items()


def _shapes(kind: Any, text: str, above: tuple[Any, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    origin = get_origin(kind)
    if kind is str or kind is bytes:
        yield (), text
    elif kind is object or kind is Any or origin is dict:
        yield from ((("{}", str(number)), made(text)) for number, made in enumerate(HOSTILE))
    elif origin in {Union, types.UnionType}:
        for arm in get_args(kind):
            yield from _shapes(arm, text, above)
    elif origin in _WRAPPERS:
        yield from _shapes(get_args(kind)[0], text, above)
    elif _is_record(kind):
        if kind not in above and len(above) < DEEPEST:
            yield from _records(kind, text, (*above, kind))
    elif origin is not None and origin is not Literal and get_args(kind):
        yield from ((path, [value]) for path, value in _shapes(get_args(kind)[0], text, above))


def _records(kind: Any, text: str, above: tuple[Any, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    fields = _fields(kind)
    least = _least(kind)
    for name, inner in fields.items():
        for path, value in _shapes(inner, text, above):
            head = (str(least.get("type", kind.__name__)), name) if len(above) == 1 else (name,)
            yield (*head, *path), {**least, name: value}


def _least(kind: Any) -> Any:
    """The smallest value of a type."""
    origin = get_origin(kind)
    if origin is Literal:
        return get_args(kind)[0]
    if origin in {Union, types.UnionType} or origin in _WRAPPERS:
        return _least(get_args(kind)[0])
    if _is_record(kind):
        return {name: _least(inner) for name, inner in _fields(kind).items() if _is_required(kind, inner, name)}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind)).value
    simple = {str: "x", bytes: "eA==", int: 1, float: 1.0, bool: True, object: {}, Any: {}, type(None): None}
    return simple.get(kind, {} if origin is dict else [])


_WRAPPERS = {typing_extensions.Required, typing_extensions.NotRequired, Annotated}


def _is_record(kind: Any) -> bool:
    return typing_extensions.is_typeddict(kind) or (isinstance(kind, type) and issubclass(kind, BaseModel))


def _fields(kind: Any) -> dict[str, Any]:
    if typing_extensions.is_typeddict(kind):
        return typing_extensions.get_type_hints(kind, include_extras=True)
    return {name: field.annotation for name, field in kind.model_fields.items()}


def _is_required(kind: Any, field: Any, name: str) -> bool:
    if typing_extensions.is_typeddict(kind):
        wanted = typing_extensions.Required if not kind.__total__ else typing_extensions.NotRequired
        return (get_origin(field) is wanted) is not kind.__total__
    return kind.model_fields[name].is_required()
