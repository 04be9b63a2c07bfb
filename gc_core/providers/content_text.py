"""The readable content of a block: its text, its images, and the number of other bytes."""

from __future__ import annotations

import base64
import binascii
import functools
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from gc_core.errors import MessageError
from gc_core.providers import fields
from gc_core.providers.images import IMAGE_TYPES, image_of, image_size
from gc_core.values.items import Image, ItemKind, Part, Place
from gc_core.values.messages import without_marks

EACH: Final = "*"
"""A step of a path: all elements of a list."""

OTHERS: Final = ""
"""Blocks of all other types."""

_TEXT_TYPES = frozenset(
    {
        *("application/json", "application/xml", "application/javascript", "application/x-javascript"),
        *("application/x-python", "application/x-yaml", "application/yaml", "application/rtf", "application/sql"),
    }
)
"""Media types other than ``text/...`` that providers read as text."""


@attrs.frozen
class Binary:
    """
    The place in a provider's block of content that is not text: an image block, base64, or encrypted data.

    Attributes:
        path: Keys from the block on; ``EACH`` means all elements of a list.
        within: The required type of the object that contains it, "" for any: a document contains bytes or text.
        unsure: It may be a text instead, such as a URL: only base64 is removed.

    """

    path: tuple[str, ...]
    within: str = ""
    unsure: bool = False


Binaries = Mapping[str, Sequence[Binary]]
"""
The places of content that is not text in the blocks of a format, by type, and under ``OTHERS`` for unknown types.

Everything else is text, whatever its keys are.
"""


@attrs.frozen(kw_only=True)
class Readable:
    """
    The readable content of a block.

    Attributes:
        text: The text that is counted.
        images: The images, which are counted by their size.
        sealed_bytes: Characters left out of the text: signatures, encrypted content, base64 that is not an image.

    """

    text: str = ""
    images: tuple[Image, ...] = ()
    sealed_bytes: int = 0

    def part(self, kind: ItemKind, place: Place, **more: Any) -> Part:
        """Return a part with this content; ``more`` are its other fields."""
        return Part(kind=kind, place=place, text=self.text, images=self.images, sealed_bytes=self.sealed_bytes, **more)


def json_text(value: object) -> str:
    """
    Return compact JSON with the keys in their own order.

    Raises MessageError when the value is not JSON.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except RecursionError as error:
        raise MessageError("a payload is nested too deeply to be read") from error
    except (TypeError, ValueError) as error:
        raise MessageError(f"a payload contains values that are not JSON: {error}") from error


def readable_block(block: Mapping[str, Any], binaries: Binaries) -> Readable:
    """Return the readable content of an unknown block or an attachment: its JSON, without binary data and marks."""
    kind = block.get("type")
    if kind in IMAGE_TYPES:
        return Readable(images=(image_of(block),))
    bare: Any = without_marks(block)
    found = _Found()
    known = kind if isinstance(kind, str) and kind in binaries else OTHERS
    for binary in binaries.get(known, ()):
        bare = _replaced(bare, binary.path, functools.partial(found.take, binary))
    texts = (json_text(bare), *found.texts)
    return Readable(text="\n".join(texts), images=tuple(found.images), sealed_bytes=found.sealed)


def readable_bytes(data: str, media_type: str) -> Readable:
    """
    Return the readable content of base64: an image by its size, a text file by its text, anything
    else by its length.
    """
    if media_type.startswith("text/") or media_type in _TEXT_TYPES:
        text = _decoded(data)
        return Readable(sealed_bytes=len(data)) if text is None else Readable(text=text)
    width, height = image_size(data)
    return Readable(images=(Image(width=width, height=height),)) if width else Readable(sealed_bytes=len(data))


def readable_result(content: object, field: str, binaries: Binaries) -> Readable:
    """
    Return the readable content of a tool result: a string, blocks, or nothing.

    Raises FieldError for any other content.
    """
    if content is None or isinstance(content, str):
        return Readable(text=content or "")
    if not isinstance(content, Sequence):
        raise fields.FieldError(field, content, "a string or a list of blocks")
    return joined([_readable_inner(block, f"{field}[{at}]", binaries) for at, block in fields.blocks(content, field)])


def sendable_result(content: object, texts: Collection[str] = ("text",)) -> object:
    """
    Return the content of a tool result unchanged, or, if a provider would refuse it, a copy without its empty texts, ""
    if nothing is left; ``texts`` are the types of text blocks.
    """
    if content is None:
        return ""
    if not isinstance(content, list | tuple):
        return content
    kept = [block for block in content if not _is_empty_text(block, texts)]
    return content if kept and len(kept) == len(content) else kept or ""


def _is_empty_text(block: object, texts: Collection[str]) -> bool:
    return isinstance(block, Mapping) and block.get("type") in texts and block.get("text") == ""


def joined(parts: Iterable[Readable]) -> Readable:
    """Return several as one."""
    parts = tuple(parts)
    return Readable(
        text="\n".join(part.text for part in parts if part.text),
        images=tuple(image for part in parts for image in part.images),
        sealed_bytes=sum(part.sealed_bytes for part in parts),
    )


def _readable_inner(block: Mapping[str, Any], field: str, binaries: Binaries) -> Readable:
    if block["type"] == "text":
        return Readable(text=fields.text(block, "text", field))
    return readable_block(block, binaries)


@attrs.define
class _Found:
    """Removes content that is not text from a block, and collects it."""

    texts: list[str] = attrs.Factory(list)
    images: list[Image] = attrs.Factory(list)
    sealed: int = 0

    def take(self, binary: Binary, owner: Any, key: Any) -> Any:
        """Return the replacement in the block's JSON."""
        value = owner[key]
        if isinstance(value, Mapping) and value.get("type") in IMAGE_TYPES:
            self.images.append(image_of(value))
            return {"type": value["type"]}
        if not isinstance(value, str) or (binary.within and owner.get("type") != binary.within):
            return value
        media_type, data = _data_of(value, owner)
        if binary.unsure and not _BASE64.fullmatch(data):
            return value
        read = readable_bytes(data, media_type)
        self.texts.extend(filter(None, (read.text,)))
        self.images.extend(read.images)
        self.sealed += read.sealed_bytes
        return ""


def _data_of(value: str, owner: Any) -> tuple[str, str]:
    """Return the media type and the base64 of a ``data:`` URL, or of base64 with its type next to it."""
    head, mark, data = value.partition(";base64,") if value.startswith("data:") else ("", "", value)
    if mark and "," not in head:
        return head.removeprefix("data:").partition(";")[0].strip().lower(), data
    stated = owner.get("media_type") if isinstance(owner, Mapping) else None
    return (stated.lower() if isinstance(stated, str) else ""), value


def _decoded(data: str) -> str | None:
    """Return the text of a file in UTF-8; None for other files."""
    try:
        return base64.b64decode(data.translate(_URL_SAFE), validate=True).decode()
    except (binascii.Error, ValueError):
        return None


_BASE64 = re.compile(r"[A-Za-z0-9+/_\-\r\n]*={0,2}")
_URL_SAFE = str.maketrans("-_", "+/", "\r\n ")


def _replaced(value: Any, path: Sequence[str], take: Callable[[Any, Any], Any]) -> Any:
    """Return a copy with the value at a path replaced; as deep as the path is long, whatever the content is."""
    key, *rest = path
    if key == EACH:
        if not isinstance(value, list | tuple):
            return value
        return [_replaced(each, rest, take) if rest else take(value, at) for at, each in enumerate(value)]
    if not isinstance(value, Mapping) or key not in value:
        return value
    return {**value, key: _replaced(value[key], rest, take) if rest else take(value, key)}
