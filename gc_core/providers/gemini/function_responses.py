"""The text and media in a Gemini functionResponse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from gc_core.providers import fields
from gc_core.providers.content_text import Readable, joined, json_text, readable_bytes
from gc_core.providers.gemini.parts import data_fields, data_of
from gc_core.providers.images import image_size
from gc_core.values.items import Image

# The keys of a result's text: google-genai's types.FunctionResponse (2026) has the first two, Google's guide to
# function calling the third.
_OUTPUTS = ("output", "error", "result")

_IMAGE_FIELDS = frozenset({"mimeType", "mime_type", "fileUri", "file_uri"})
"""Fields on an image that are not for the model to read."""


@attrs.frozen(kw_only=True)
class FunctionResponse:
    """The readable content of a result, and whether the tool reported a failure."""

    read: Readable
    is_error: bool = False


def answer_of(result: Mapping[str, Any], field: str) -> FunctionResponse:
    """
    Return the content of a functionResponse: its only text, or the whole response as JSON; and its media.

    Media are in ``parts`` only: the model reads all of ``response`` as text, including base64.
    """
    response = result.get("response")
    response = fields.mapping({} if response is None else response, f"{field}.response")
    media = [read_media(part, data_of(part)[0]) for part in _media(result)]
    read = joined((Readable(text=_spoken(response)), *media))
    return FunctionResponse(
        read=read,
        is_error="error" in response and "output" not in response,
    )


def with_answer(result: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the functionResponse with only this text, under its existing key, and without media."""
    response = result.get("response") or {}
    key = _text_key(response) or ("error" if "error" in response and "output" not in response else _OUTPUTS[0])
    return {**{name: value for name, value in result.items() if name != "parts"}, "response": {key: text}}


def read_media(part: Mapping[str, Any], key: str) -> Readable:
    """Return an image by its size, a text file by its text, other bytes by their number, then the other fields."""
    media = part.get(key)
    if not isinstance(media, Mapping):
        return Readable(text=json_text(part))
    kind = str(media.get("mimeType") or media.get("mime_type") or "").lower()
    data = media.get("data")
    is_image = kind.startswith("image/")
    left_out = {"data"} if isinstance(data, str) else set()
    left_out |= _IMAGE_FIELDS if is_image else set()
    stated = {name: value for name, value in media.items() if name not in left_out}
    return joined((Readable(text=json_text(stated) if stated else ""), _bytes(data, kind), _other_fields(part, key)))


def _bytes(data: object, kind: str) -> Readable:
    if kind.startswith("image/"):
        width, height = image_size(data) if isinstance(data, str) else (0, 0)
        return Readable(images=(Image(width=width, height=height),))
    return readable_bytes(data, kind) if isinstance(data, str) else Readable()


def _other_fields(part: Mapping[str, Any], key: str) -> Readable:
    """Return the text next to a part's media, such as the transcription of a recording."""
    others = {name: value for name, value in data_fields(part).items() if name != key}
    return Readable(text=json_text(others) if others else "")


def _spoken(response: Mapping[str, Any]) -> str:
    key = _text_key(response)
    if key:
        return str(response[key])
    return json_text(response) if response else ""


def _text_key(response: Mapping[str, Any]) -> str:
    """Return the key of the response's text if it is the only value, or ""."""
    (key, *others) = response or ("",)
    return key if key in _OUTPUTS and not others and isinstance(response[key], str) else ""


def _media(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the media parts that a result of Gemini 3 may have next to its response."""
    parts = result.get("parts")
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
