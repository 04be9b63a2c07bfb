"""The sizes of images, read from the first bytes of their base64 data: PNG, JPEG, GIF and WebP."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Mapping
from typing import Any

from gc_core.values.items import Image

IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})
"""Block types of an image, in any format."""

_Size = tuple[int, int]
_UNKNOWN: _Size = (0, 0)
# A JPEG names its size after its metadata; embedded previews and colour profiles rarely reach this far.
_HEADER_CHARACTERS = 1 << 20
# SOF markers of the JPEG standard (T.81, table B.1); C4, C8 and CC are tables, not frames.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD9)})


def image_of(block: Mapping[str, Any]) -> Image:
    """Return the image of an image block of any format; its size is 0 x 0 if it is not in the block. Never raises."""
    linked = block.get("image_url")
    shown = linked if isinstance(linked, Mapping) else {"url": linked}
    source = block.get("source")
    data = source.get("data") if isinstance(source, Mapping) else data_of_url(shown.get("url"))
    width, height = image_size(data) if isinstance(data, str) else _UNKNOWN
    detail = shown.get("detail") or block.get("detail")
    return Image(width=width, height=height, detail=detail if isinstance(detail, str) else "")


def data_of_url(url: object) -> str | None:
    """Return the base64 data of a ``data:`` URL, or None for anything else."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return None
    head, mark, data = url.partition(";base64,")
    return data if mark and "," not in head else None


def image_size(data: str) -> _Size:
    """Return width and height in pixels of a base64 image, (0, 0) if unknown. Never raises."""
    header = _decoded(data)
    for magic, size in _SIZES.items():
        if header.startswith(magic):
            try:
                return size(header)
            except (struct.error, IndexError):
                return _UNKNOWN
    return _UNKNOWN


def _decoded(data: str) -> bytes:
    head = "".join(data[:_HEADER_CHARACTERS].split()).rstrip("=")
    padded = head + "=" * (-len(head) % 4)
    try:
        return base64.b64decode(padded, altchars=b"-_" if _is_url_safe(head) else None)
    except (binascii.Error, ValueError):
        return b""


def _is_url_safe(data: str) -> bool:
    return "-" in data or "_" in data


def _png_size(header: bytes) -> _Size:
    width, height = struct.unpack_from(">II", header, 16)
    return width, height


def _gif_size(header: bytes) -> _Size:
    width, height = struct.unpack_from("<HH", header, 6)
    return width, height


def _jpeg_size(header: bytes) -> _Size:
    at = 2
    while header[at] == 0xFF:  # noqa: PLR2004  # every marker begins with this byte
        marker = header[at + 1]
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", header, at + 5)
            return width, height
        at += _jpeg_step(header, at, marker)
    return _UNKNOWN


def _jpeg_step(header: bytes, at: int, marker: int) -> int:
    if marker == 0xFF:  # noqa: PLR2004  # a fill byte
        return 1
    if marker in _JPEG_BARE_MARKERS:
        return 2
    (length,) = struct.unpack_from(">H", header, at + 2)
    return 2 + int(length)


def _webp_size(header: bytes) -> _Size:
    chunk = header[12:16]
    if chunk == b"VP8X":
        return _three_bytes(header, 24) + 1, _three_bytes(header, 27) + 1
    if chunk == b"VP8L":
        (bits,) = struct.unpack_from("<I", header, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 ":
        width, height = struct.unpack_from("<HH", header, 26)
        return width & 0x3FFF, height & 0x3FFF
    return _UNKNOWN


def _three_bytes(header: bytes, at: int) -> int:
    low, middle, high = struct.unpack_from("<BBB", header, at)
    return int(low | middle << 8 | high << 16)


_SIZES = {
    b"\x89PNG\r\n\x1a\n": _png_size,
    b"\xff\xd8": _jpeg_size,
    b"GIF8": _gif_size,
    b"RIFF": _webp_size,
}
