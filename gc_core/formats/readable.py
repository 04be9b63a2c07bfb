"""What a model reads of a JSON value: its text, its images, and how much sealed data rides along."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from gc_core.errors import MessageError
from gc_core.formats import fields
from gc_core.formats.images import IMAGE_TYPES, data_of_url, image_of, image_size
from gc_core.items import Image
from gc_core.messages import without_marks

_SEALED_KEYS = frozenset({"signature", "file_data"})
_AUDIO_FORMATS = frozenset({"aac", "flac", "mp3", "opus", "pcm16", "wav"})


@attrs.frozen(kw_only=True)
class Readable:
    """
    What is read of a block.

    Attributes:
        text: The text that is counted.
        images: The images, which are counted by their size.
        sealed_bytes: Characters left out of the text: signatures, encrypted content, base64 that is no image.

    """

    text: str = ""
    images: tuple[Image, ...] = ()
    sealed_bytes: int = 0


def json_text(value: object) -> str:
    """
    Compact JSON with the keys in their own order.

    Raises MessageError when the value is not JSON.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise MessageError(f"a payload holds what is not JSON: {error}") from error


def readable_block(block: Mapping[str, Any]) -> Readable:
    """What is read of a block that is not understood, or of an attachment: its JSON without binary data and marks."""
    if block.get("type") in IMAGE_TYPES:
        return Readable(images=(image_of(block),))
    sieve = _Sieve()
    try:
        text = json_text(sieve.sift(without_marks(block)))
    except RecursionError as error:
        raise MessageError("a block is nested too deeply to be read") from error
    return Readable(text=text, images=tuple(sieve.images), sealed_bytes=sieve.sealed)


def readable_result(content: object, field: str) -> Readable:
    """
    What is read of a tool result: a string, blocks, or nothing.

    Raises FieldError when the content is none of these.
    """
    if content is None or isinstance(content, str):
        return Readable(text=content or "")
    if not isinstance(content, Sequence):
        raise fields.FieldError(field, content, "a string or a list of blocks")
    return _joined([_readable_inner(block, f"{field}[{at}]") for at, block in fields.blocks(content, field)])


def _readable_inner(block: Mapping[str, Any], field: str) -> Readable:
    if block["type"] == "text":
        return Readable(text=fields.text(block, "text", field))
    return readable_block(block)


def _joined(parts: Iterable[Readable]) -> Readable:
    parts = tuple(parts)
    return Readable(
        text="\n".join(part.text for part in parts if part.text),
        images=tuple(image for part in parts for image in part.images),
        sealed_bytes=sum(part.sealed_bytes for part in parts),
    )


@attrs.define
class _Sieve:
    """Lets through what is text, and keeps what is not."""

    images: list[Image] = attrs.Factory(list)
    sealed: int = 0

    def sift(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self._sift_mapping(value)
        if isinstance(value, list | tuple):
            return [self.sift(inner) for inner in value]
        data = data_of_url(value)
        return value if data is None else self._take(data)

    def _sift_mapping(self, value: Mapping[str, Any]) -> Any:
        if value.get("type") in IMAGE_TYPES:
            self.images.append(image_of(value))
            return {"type": value["type"]}
        return {key: self._sift_field(value, key) for key in value}

    def _sift_field(self, owner: Mapping[str, Any], key: str) -> Any:
        value = owner[key]
        if isinstance(value, str) and _is_sealed(owner, key):
            return self._take(value)
        return self.sift(value)

    def _take(self, data: str) -> str:
        width, height = image_size(data)
        if width:
            self.images.append(Image(width=width, height=height))
        else:
            self.sealed += len(data)
        return ""


def _is_sealed(owner: Mapping[str, Any], key: str) -> bool:
    if key == "data":
        # A document may carry plain text under the same key: only what says that it is base64 or audio is left out.
        named = owner.get("type") in {"base64", "redacted_thinking"} or owner.get("format") in _AUDIO_FORMATS
        return named or "mimeType" in owner or "mime_type" in owner
    return key in _SEALED_KEYS or str(key).startswith("encrypted_")
