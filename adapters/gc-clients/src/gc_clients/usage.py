"""The usage that a reply reports, read beside its bytes as they pass."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Final

import httpx2

_MOST_BYTES: Final = 8_000_000
"""Of a reply that is one JSON value, at most so much is kept to read its usage."""

Report = Mapping[str, Any]


class WatchedStream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """
    The bytes of a reply, passed on as they come; when they end, the usage in them is told.

    Args:
        stream: The reply's own stream.
        streams: The reply is a stream of events.
        told: Called with the usage, in the provider's shape, its parts merged; not called where there is none.

    """

    def __init__(self, stream: Any, *, streams: bool, told: Callable[[Report], None]) -> None:
        self._stream = stream
        self._streams = streams
        self._told = told
        self._rest = b""
        self._usage: dict[str, Any] = {}

    def __iter__(self) -> Iterator[bytes]:
        """Pass on the bytes."""
        for chunk in self._stream:
            self._feed(chunk)
            yield chunk
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Pass on the bytes."""
        async for chunk in self._stream:
            self._feed(chunk)
            yield chunk
        self._end()

    def close(self) -> None:
        """Close the stream; what was reported until then counts."""
        self._stream.close()
        self._end()

    async def aclose(self) -> None:
        """Close the stream; what was reported until then counts."""
        await self._stream.aclose()
        self._end()

    def _feed(self, chunk: bytes) -> None:
        if len(self._rest) > _MOST_BYTES:
            return
        self._rest += chunk
        if self._streams:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                if line.startswith(b"data:") and b"sage" in line:
                    self._take(line[5:])

    def _end(self) -> None:
        if self._rest and not self._streams:
            self._take(self._rest)
        self._rest = b""
        if self._usage:
            self._told(self._usage)
            self._usage = {}

    def _take(self, data: bytes) -> None:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return
        for found in _reports(value):
            self._usage |= {key: each for key, each in found.items() if each is not None}


def _reports(value: object) -> list[Report]:
    """Return the usage reports of an event or a reply: at its top, or in the message or response that it carries."""
    if not isinstance(value, Mapping):
        return []
    holders = (value, value.get("message"), value.get("response"))
    found = (holder.get(key) for holder in holders if isinstance(holder, Mapping) for key in ("usage", "usageMetadata"))
    return [each for each in found if isinstance(each, Mapping)]
