"""The usage that a provider reports in a reply, read from the bytes as they pass."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import zstandard

READABLE: Final = frozenset({"gzip", "x-gzip", "deflate", "zstd", "identity"})
"""Encodings of a reply in which its usage, and a refusal for length, are read."""

MOST_BYTES: Final = 8_000_000
"""Of a reply that is one JSON value, at most so much is kept to read its usage."""


class UsageReader:
    """
    Reads usage reports from a reply, chunk by chunk. It skips what it cannot read.

    Attributes:
        usage: The provider's own report, its parts merged; None before there is one.

    """

    def __init__(self, content_type: str, content_encoding: str) -> None:
        self.usage: dict[str, Any] | None = None
        self._decode = decoder(content_encoding)
        self._streams = content_type.startswith("text/event-stream")
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the reply."""
        if self._decode is None:
            return
        try:
            self._rest += self._decode(chunk)
        except (zlib.error, zstandard.ZstdError):
            self._decode = None
            return
        if self._streams:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                if line.startswith(b"data:") and b"sage" in line:
                    self._take(line[5:])
        elif len(self._rest) > MOST_BYTES:
            self._decode = None

    def end(self) -> None:
        """Take the end of the reply."""
        if self._rest and not self._streams and self._decode is not None:
            self._take(self._rest)
        self._rest = b""

    def _take(self, data: bytes) -> None:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return
        for found in _reports(value):
            self.usage = {**(self.usage or {}), **{key: each for key, each in found.items() if each is not None}}


def _reports(value: object) -> list[Mapping[str, Any]]:
    """Return the usage reports of an event or a reply: at its top, or in the message or response that it carries."""
    if isinstance(value, list):  # Gemini without ``alt=sse``
        return [found for each in value for found in _reports(each)]
    if not isinstance(value, Mapping):
        return []
    holders = (value, value.get("message"), value.get("response"))
    found = (holder.get(key) for holder in holders if isinstance(holder, Mapping) for key in ("usage", "usageMetadata"))
    return [each for each in found if isinstance(each, Mapping)]


def decoded(data: bytes, content_encoding: str) -> bytes:
    """Return a whole reply without its encoding; as it is where that cannot be read."""
    decode = decoder(content_encoding)
    try:
        return data if decode is None else decode(data)
    except (zlib.error, zstandard.ZstdError):
        return data


def decoder(content_encoding: str) -> Callable[[bytes], bytes] | None:
    """Return what takes an encoding off a reply, piece by piece; None for one that cannot be read."""
    match content_encoding.strip().lower():
        case "" | "identity":
            return bytes
        case "gzip" | "x-gzip":
            return zlib.decompressobj(wbits=31).decompress
        case "deflate":
            return zlib.decompressobj().decompress
        case "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress
    return None
