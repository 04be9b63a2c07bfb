"""Transports and clients for whatever takes an ``httpx2`` client: anthropic, openai, google-genai."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import httpx2

from gc_clients.bodies import turn_of
from gc_clients.refusals import second_body, second_body_async
from gc_clients.turns import LANE, Turns
from gc_clients.usage import Report, WatchedStream
from gc_core import GCConfig
from gc_core.integrations.lanes import Turn

_TIMEOUT: Final = httpx2.Timeout(600.0, connect=5.0)
"""As long as the vendors' clients wait."""


class GCTransport(httpx2.BaseTransport):
    """
    Sends what fits of each request for a reply; every other request passes as it is.

    Args:
        config: How it collects. Without one: ``gc_budget``, in the window of the model that is asked first.
        directory: The directory of the sessions' files; with one a conversation goes on in another process.
        inner: Sends the requests; a transport of httpx2's own by default.
        options: More keyword arguments for each ``GCSession``, such as ``summarizer`` and ``on_event``.

    """

    def __init__(
        self,
        config: GCConfig | None = None,
        *,
        directory: str | Path | None = None,
        inner: httpx2.BaseTransport | None = None,
        **options: Any,
    ) -> None:
        self._turns = Turns(config, directory, options)
        self._inner = inner or httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. A refusal for its length is answered once, by a collection and a second request."""
        lane, turn = _lane(request), _turn(request)
        if turn is None:
            return self._inner.handle_request(request)
        response = self._inner.handle_request(_with_body(request, turn, self._turns.fitted(turn, lane)))
        body = second_body(response, functools.partial(self._turns.recovered, turn, lane))
        if body is not None:
            response = self._inner.handle_request(_with_body(request, turn, body))
        return watched(response, lambda usage: self._turns.report(turn, lane, usage))

    def close(self) -> None:
        """Close the sessions and the connections."""
        self._turns.close()
        self._inner.close()


class AsyncGCTransport(httpx2.AsyncBaseTransport):
    """``GCTransport`` for an event loop; collections run in a thread."""

    def __init__(
        self,
        config: GCConfig | None = None,
        *,
        directory: str | Path | None = None,
        inner: httpx2.AsyncBaseTransport | None = None,
        **options: Any,
    ) -> None:
        self._turns = Turns(config, directory, options)
        self._inner = inner or httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; see ``GCTransport.handle_request``."""
        lane, turn = _lane(request), _turn(request)
        if turn is None:
            return await self._inner.handle_async_request(request)
        body = await asyncio.to_thread(self._turns.fitted, turn, lane)
        response = await self._inner.handle_async_request(_with_body(request, turn, body))
        again = await second_body_async(response, functools.partial(self._turns.recovered, turn, lane))
        if again is not None:
            response = await self._inner.handle_async_request(_with_body(request, turn, again))
        return watched(response, lambda usage: self._turns.report(turn, lane, usage))

    async def aclose(self) -> None:
        """Close the sessions and the connections."""
        self._turns.close()
        await self._inner.aclose()


def gc_client(config: GCConfig | None = None, *, directory: str | Path | None = None, **options: Any) -> httpx2.Client:
    """Return a client with a ``GCTransport``, which takes the same arguments."""
    transport = GCTransport(config, directory=directory, **options)
    return httpx2.Client(transport=transport, timeout=_TIMEOUT, follow_redirects=True)


def async_gc_client(
    config: GCConfig | None = None, *, directory: str | Path | None = None, **options: Any
) -> httpx2.AsyncClient:
    """Return a client with an ``AsyncGCTransport``, which takes the same arguments."""
    transport = AsyncGCTransport(config, directory=directory, **options)
    return httpx2.AsyncClient(transport=transport, timeout=_TIMEOUT, follow_redirects=True)


def _lane(request: httpx2.Request) -> str:
    """Take the name of the conversation out of the headers."""
    lane = request.headers.get(LANE, "")
    if lane:
        del request.headers[LANE]
    return lane


def _turn(request: httpx2.Request) -> Turn | None:
    if request.method != "POST" or "application/json" not in request.headers.get("content-type", ""):
        return None
    try:
        body = json.loads(request.content)
    except (ValueError, httpx2.RequestNotRead):
        return None
    return turn_of(request.url.path, body)


def _with_body(request: httpx2.Request, turn: Turn, body: Mapping[str, Any]) -> httpx2.Request:
    """Return the request with a body; its own bytes where nothing was changed."""
    request.headers["accept-encoding"] = "identity"  # the usage is read beside the bytes
    if body is turn.body:
        return request
    headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
    content = json.dumps(body, separators=(",", ":")).encode()
    return httpx2.Request(request.method, request.url, headers=headers, content=content, extensions=request.extensions)


def watched(response: httpx2.Response, told: Callable[[Report], None]) -> httpx2.Response:
    """Return the response; the usage in its bytes is told when they have come."""
    if not response.is_success:
        return response
    streams = response.headers.get("content-type", "").startswith("text/event-stream")
    if response.is_closed:
        list(WatchedStream([response.content], streams=streams, told=told))
    else:
        response.stream = WatchedStream(response.stream, streams=streams, told=told)
    return response
