"""What a provider says against a request: with a status, or as a stream opens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Self, TypeAlias

import httpx2

from gc_core.integrations.lanes import REFUSALS, Opening

Body: TypeAlias = Mapping[str, Any]


def second_body(response: httpx2.Response, recovered: Callable[[str], Body | None]) -> Body | None:
    """
    Return the body for a second try, and close the response; None where the response is the caller's. A stream is read
    up to its first content.

    Args:
        response: What the provider answered.
        recovered: Returns the body after a refusal for length, whose words it is given; None for other words.

    """
    with contextlib.ExitStack() as closing:
        closing.callback(response.close)
        said = _refusal_in(response)
        body = recovered(said) if said else None
        if body is None:
            closing.pop_all()
        return body


async def second_body_async(response: httpx2.Response, recovered: Callable[[str], Body | None]) -> Body | None:
    """Do the same in an event loop; a collection runs in a thread."""
    async with contextlib.AsyncExitStack() as closing:
        closing.push_async_callback(response.aclose)
        said = await _refusal_in_async(response)
        body = await asyncio.to_thread(recovered, said) if said else None
        if body is None:
            closing.pop_all()
        return body


def _refusal_in(response: httpx2.Response) -> str:
    """Return what is said against the request; "" for nothing."""
    if response.status_code in REFUSALS:
        return _said(response, response.read())
    if not _is_open_stream(response):
        return ""
    response.stream = stream = OpenedStream(response.stream).opened()
    return _said(response, stream.error)


async def _refusal_in_async(response: httpx2.Response) -> str:
    if response.status_code in REFUSALS:
        return _said(response, await response.aread())
    if not _is_open_stream(response):
        return ""
    response.stream = stream = await OpenedStream(response.stream).opened_async()
    return _said(response, stream.error)


class OpenedStream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """
    A stream of events that has begun: its first bytes have been read, and come again.

    Args:
        stream: The reply's own stream.

    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._chunks: Any = None
        self._held: list[bytes] = []
        self._opening = Opening()

    @property
    def error(self) -> bytes:
        """The error that the stream begins with, as JSON; b"" for none."""
        return self._opening.error.encode()

    def opened(self) -> Self:
        """Read the first bytes."""
        self._chunks = iter(self._stream)
        for chunk in self._chunks:
            if not self._holds(chunk):
                break
        return self

    async def opened_async(self) -> Self:
        """Read the first bytes."""
        self._chunks = aiter(self._stream)
        async for chunk in self._chunks:
            if not self._holds(chunk):
                break
        return self

    def __iter__(self) -> Iterator[bytes]:
        """Pass on the bytes."""
        yield from self._held
        yield from self._chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Pass on the bytes."""
        for chunk in self._held:
            yield chunk
        async for chunk in self._chunks:
            yield chunk

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def _holds(self, chunk: bytes) -> bool:
        self._held.append(chunk)
        return self._opening.waits(chunk)


def _is_open_stream(response: httpx2.Response) -> bool:
    """Return whether the response is a stream of events; one in an encoding, which was not asked for, is not read."""
    headers = response.headers
    is_plain = headers.get("content-encoding", "identity") == "identity"
    is_stream = headers.get("content-type", "").startswith("text/event-stream")
    return response.is_success and not response.is_closed and is_plain and is_stream


def _said(response: httpx2.Response, content: bytes) -> str:
    text = content[:20_000].decode("utf-8", "replace")
    return text and f"{response.status_code} {text}"
