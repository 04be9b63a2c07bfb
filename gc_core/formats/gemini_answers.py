"""What a Gemini functionResponse answers: its text and its media."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from gc_core.formats import fields
from gc_core.formats.images import image_size
from gc_core.formats.readable import Readable, json_text, readable_block
from gc_core.gemini_parts import data_of
from gc_core.items import Image

# Where the text of a result stands: google-genai's types.FunctionResponse (2026) names the first two, Google's guide to
# function calling writes the third.
_OUTPUTS = ("output", "error", "result")


@attrs.frozen(kw_only=True)
class Answer:
    """What is read of a result: see ``Readable``; and whether the tool said that it failed."""

    text: str
    images: tuple[Image, ...] = ()
    sealed_bytes: int = 0
    is_error: bool = False


def answer_of(result: Mapping[str, Any], field: str) -> Answer:
    """What is read of a functionResponse: its one text, or else the whole response as JSON; and its media."""
    response = result.get("response")
    response = fields.mapping({} if response is None else response, f"{field}.response")
    text, sealed, images = _spoken(response)
    media = [read_media(part, data_of(part)[0]) for part in _media(result)]
    return Answer(
        text="\n".join(filter(None, (text, *(each.text for each in media)))),
        images=(*images, *(image for each in media for image in each.images)),
        sealed_bytes=sealed + sum(each.sealed_bytes for each in media),
        is_error="error" in response and "output" not in response,
    )


def with_answer(result: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The functionResponse with this text alone, under the key that it had; its media are gone."""
    response = result.get("response") or {}
    key = _text_key(response) or ("error" if "error" in response and "output" not in response else _OUTPUTS[0])
    return {**{name: value for name, value in result.items() if name != "parts"}, "response": {key: text}}


def read_media(part: Mapping[str, Any], key: str) -> Readable:
    """An image by its size, other bytes by their number, a file by what is said of it."""
    media = part.get(key)
    if not isinstance(media, Mapping):
        return readable_block(part)
    kind = str(media.get("mimeType") or media.get("mime_type") or "")
    data = media.get("data")
    told = {name: value for name, value in media.items() if name != "data"}
    if kind.startswith("image/"):
        width, height = image_size(data) if isinstance(data, str) else (0, 0)
        return Readable(images=(Image(width=width, height=height),))
    return Readable(text=json_text(told), sealed_bytes=len(data) if isinstance(data, str) else 0)


def _spoken(response: Mapping[str, Any]) -> tuple[str, int, tuple[Image, ...]]:
    key = _text_key(response)
    if key:
        return response[key], 0, ()
    if not response:
        return "", 0, ()
    read = readable_block(response)
    return read.text, read.sealed_bytes, read.images


def _text_key(response: Mapping[str, Any]) -> str:
    """The key of the response's text when it holds a text and nothing else, or ""."""
    (key, *others) = response or ("",)
    return key if key in _OUTPUTS and not others and isinstance(response[key], str) else ""


def _media(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Media parts that a result of Gemini 3 may hold beside its response."""
    parts = result.get("parts")
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
