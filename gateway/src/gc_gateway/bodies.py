"""Request bodies: read within a limit, decompressed to be understood."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from typing import Any, Final

import zstandard

from gc_gateway.errors import RequestError

_TOO_LARGE: Final = 413
_BAD: Final = 400


async def read_body(stream: AsyncIterator[bytes], limit: int, declared: str) -> bytes:
    """Return the body. Raises RequestError (413) when it is longer than the limit."""
    if declared.isdigit() and int(declared) > limit:
        raise RequestError(_TOO_LARGE, f"the body has {int(declared):,} bytes; this gateway takes {limit:,}")
    chunks, size = [], 0
    async for chunk in stream:
        size += len(chunk)
        if size > limit:
            raise RequestError(_TOO_LARGE, f"the body has more than {limit:,} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def parsed(body: bytes, encoding: str, limit: int) -> dict[str, Any] | None:
    """
    Return the JSON object in a body; None if it is no JSON object, or compressed in a way that is not understood.

    Raises RequestError (413) for one that is longer than the limit once it is decompressed.
    """
    plain = _decompressed(body, encoding.strip().lower(), limit)
    if plain is None:
        return None
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def dumped(body: dict[str, Any]) -> bytes:
    """Return a JSON object as it is sent. Lone surrogates are escaped."""
    return json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _decompressed(body: bytes, encoding: str, limit: int) -> bytes | None:
    if encoding in {"", "identity"}:
        return body
    if encoding == "zstd":
        return _from_zstd(body, limit)
    bits = {"gzip": 31, "x-gzip": 31, "deflate": 15}.get(encoding)
    if bits is None:
        return None
    unpack = zlib.decompressobj(wbits=bits)
    try:
        plain = unpack.decompress(body, limit + 1)
    except zlib.error as error:
        raise RequestError(_BAD, f"the body is not {encoding}: {error}") from error
    if len(plain) > limit:
        raise RequestError(_TOO_LARGE, f"the body has more than {limit:,} bytes once decompressed")
    return plain


def _from_zstd(body: bytes, limit: int) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(body) as reader:
        try:
            plain = reader.read(limit + 1)
        except zstandard.ZstdError as error:
            raise RequestError(_BAD, f"the body is not zstd: {error}") from error
    if len(plain) > limit:
        raise RequestError(_TOO_LARGE, f"the body has more than {limit:,} bytes once decompressed")
    return plain
