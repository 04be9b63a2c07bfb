"""The access log: one line for each request, once its response has ended."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

import attrs
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gc_core.values.loggers import bound_fields, logger
from gc_gateway.lanes import Lane

_log = logger("gc_gateway")
_KEY: Final = "gc_gateway.line"
_LONGEST_PATH: Final = 200
_LEFT: Final = 499


@attrs.define(kw_only=True)
class RequestLine:
    """
    What is logged of a request. Query, headers and bodies are not: they hold credentials and content.

    Attributes:
        method: Its method.
        path: Its path without the token; "" for what is not logged, as health checks.
        dialect: The dialect of a request that goes to a provider.
        kind: What it was taken for: ``turn``, ``aside``, ``count``, ``pass``, ``collect``, ``mcp`` or ``page``.
        lane: The key of its lane.
        tokens_before: Tokens that the client's list would have had, by gc-core's count.
        tokens_after: Tokens that were sent.
        collection: Id of the collection that it caused, as in the events of gc-core.
        status: Of its response; 499 if the client left before there was one.
        began: When it came, in seconds of ``time.perf_counter``.

    """

    method: str = ""
    path: str = ""
    dialect: str = ""
    kind: str = "pass"
    lane: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    collection: str = ""
    status: int = _LEFT
    began: float = attrs.field(factory=time.perf_counter)

    def write(self) -> None:
        """Log it."""
        _log.info(
            "request",
            method=self.method,
            path=self.path[:_LONGEST_PATH],
            dialect=self.dialect,
            kind=self.kind,
            lane=self.lane,
            tokens_before=self.tokens_before,
            tokens_after=self.tokens_after,
            collection=self.collection,
            status=self.status,
            ms=round(1_000 * (time.perf_counter() - self.began), 1),
        )


class RequestLog:
    """Logs the requests to an application, which fills in their lines."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        line = scope[_KEY] = RequestLine(method=scope["method"])

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                line.status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            if line.path:
                line.write()


@contextlib.contextmanager
def noted(line: RequestLine, lane: Lane) -> Iterator[None]:
    """Note in a line what the lane makes of the request inside; the lane's key stands in all that is logged there."""
    line.lane, before = lane.key, lane.latest
    with bound_fields(lane=lane.key):
        yield
    line.tokens_before, line.tokens_after = lane.given_tokens, lane.tokens
    if lane.latest != before:
        line.collection = lane.latest[-1].id


def line_of(scope: Scope) -> RequestLine:
    """Return the line of a request."""
    line: RequestLine = scope[_KEY]
    return line
