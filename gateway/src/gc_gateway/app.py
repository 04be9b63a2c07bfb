"""The gateway as an ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable
from urllib.parse import urlsplit

import attrs
import httpx2
import structlog
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from gc_gateway import collect
from gc_gateway.access import path_of, without_token
from gc_gateway.bodies import dumped, parsed, read_body
from gc_gateway.collect import CollectService
from gc_gateway.collecting import Collecting, Turn
from gc_gateway.dialects import Action, Dialect, dialect_of
from gc_gateway.errors import RequestError
from gc_gateway.lane_ids import lane_of, scope_of
from gc_gateway.lanes import Lanes
from gc_gateway.metrics import Metrics
from gc_gateway.page import Page
from gc_gateway.settings import Settings
from gc_gateway.upstream import Forwarded, Upstream, passed_on, raw
from gc_gateway.usage import UsageReader

_log = structlog.get_logger("gc_gateway")
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_CLEAN_SECONDS = 30.0
_UPGRADE, _UNAUTHORIZED, _BAD_PATH, _BAD_GATEWAY = 426, 401, 400, 502
_LENGTH = frozenset({400, 413, 422})


@attrs.frozen(kw_only=True)
class Incoming:
    """
    A request as it came.

    Attributes:
        method: Its method.
        path: Its path, without the token.
        query: Its query, as it came.
        headers: Its headers, names in lower case.
        pairs: The same, in their order.
        body: Its body, as it came.

    """

    method: str
    path: str
    query: str
    headers: dict[str, str] = attrs.field(repr=False)
    pairs: tuple[tuple[str, str], ...] = attrs.field(repr=False)
    body: bytes = attrs.field(repr=False)


class Gateway:
    """
    Takes requests, and forwards them.

    Args:
        settings: How it is configured.

    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.lanes = Lanes(settings)
        self.metrics = Metrics(lambda: len(self.lanes.open))
        self.page = Page(settings, self.lanes)
        self._upstream = Upstream()
        self._collect = CollectService(settings, self.lanes)
        self._collecting = Collecting(settings, self.lanes, self.metrics)
        self._reports: set[asyncio.Task[None]] = set()

    def app(self) -> Starlette:
        """Return the application. Its lifespan closes lanes and connections."""
        routes = [
            Route("/healthz", self._healthy),
            Route("/readyz", self._healthy),
            Route("/metrics", self._metrics),
            Route("/{path:path}", self._any, methods=_METHODS),
        ]
        return Starlette(routes=routes, lifespan=self._lifespan)

    # -- requests ------------------------------------------------------------------------------------------------------

    async def _any(self, request: Request) -> Response:
        began = time.perf_counter()
        shown = await self.page.answered(request)
        if shown is not None:
            return shown
        if request.method == "POST" and self._bare(request) == collect.PATH:
            return await self._collected(request)
        dialect = dialect_of(request.url.path, request.headers)
        try:
            incoming = await self._incoming(request)
            dialect = dialect_of(incoming.path, incoming.headers)
            response = await self._answered(dialect, incoming, began)
        except RequestError as error:
            response = JSONResponse(dialect.error(error.status, str(error)), error.status)
        except ClientDisconnect:
            response = Response(status_code=499)
        except httpx2.HTTPError as error:
            text = f"the upstream {self.settings.upstream(dialect.format)} cannot be reached: {type(error).__name__}"
            _log.warning("upstream failed", dialect=dialect.format, error=type(error).__name__)
            response = JSONResponse(dialect.error(_BAD_GATEWAY, text), _BAD_GATEWAY)
        self.metrics.request(dialect.format, response.status_code)
        return response

    async def _collected(self, request: Request) -> Response:
        """Answer a request for a collection, in JSON whatever happens."""
        status = 200
        try:
            incoming = await self._incoming(request)
            answer = await run_in_threadpool(self._collect.answer, incoming.body, incoming.headers)
        except RequestError as error:
            status, answer = error.status, collect.refusal(error)
        except ClientDisconnect:
            return Response(status_code=499)
        self.metrics.request("collect", status)
        return Response(dumped(answer), status, media_type="application/json")

    async def _incoming(self, request: Request) -> Incoming:
        """Read a request. Raises RequestError for what is refused."""
        if "websocket" in request.headers.get("upgrade", "").lower():
            raise RequestError(_UPGRADE, "this gateway speaks HTTP; WebSocket is not offered")
        if without_token(path_of(request), request.headers, self.settings.token) is None:
            raise RequestError(
                _UNAUTHORIZED, "the token of this gateway is missing: send it as x-gc-token", "x-gc-token"
            )
        path = self._bare(request)
        if not path.startswith("/") or path.startswith("//") or ".." in path.split("/") or "\\" in path:
            raise RequestError(_BAD_PATH, "the path has to begin with one slash, and to have no '..'")
        headers = dict(request.headers.items())
        pairs = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
        body = await read_body(request.stream(), self.settings.body_bytes, headers.get("content-length", ""))
        return Incoming(
            method=request.method, path=path, query=request.url.query, headers=headers, pairs=pairs, body=body
        )

    def _bare(self, request: Request) -> str:
        """Return the path without the token; as it is where that is missing."""
        path = path_of(request)
        return without_token(path, request.headers, self.settings.token) or path

    async def _answered(self, dialect: Dialect, incoming: Incoming, began: float) -> Response:
        action, model = dialect.action(incoming.path)
        base = self.settings.upstream(dialect.format)
        query = f"?{incoming.query}" if incoming.query else ""
        outgoing = Forwarded(
            method=incoming.method,
            url=f"{base}{incoming.path}{query}",
            headers=passed_on(list(incoming.pairs)),
            body=incoming.body,
        )
        turn = None
        if action is not Action.PASS and incoming.method == "POST":
            turn = await run_in_threadpool(self._turn, dialect, incoming, model, base)
        if turn is None:
            return await self._forwarded(outgoing, None)
        if action is Action.COUNT:
            tokens = await run_in_threadpool(self._collecting.counted, turn)
            if tokens is not None:
                return JSONResponse(dialect.count(tokens))
            return await self._forwarded(outgoing, None)
        body = await run_in_threadpool(self._collecting.changed_body, turn)
        self.metrics.added(dialect.format, time.perf_counter() - began)
        return await self._generated(outgoing if body is None else outgoing.with_body(body), turn)

    def _turn(self, dialect: Dialect, incoming: Incoming, model: str, base: str) -> Turn | None:
        encoding = incoming.headers.get("content-encoding", "")
        body = parsed(incoming.body, encoding, self.settings.body_bytes)
        if body is None:
            self.metrics.passed("shape")
            return None
        scope = scope_of(dialect.format, base, incoming.headers, _key_in(incoming.query))
        lane = lane_of(scope, incoming.headers, body)
        return self._collecting.understood(dialect, lane, incoming.headers, body, model)

    async def _generated(self, outgoing: Forwarded, turn: Turn) -> Response:
        """Send a turn; a refusal for its length is answered by a second try, before the client sees it."""
        response = await self._upstream.send(outgoing)
        if response.status_code in _LENGTH:
            answer = await response.aread()
            body = await run_in_threadpool(self._collecting.recovered_body, turn, response.status_code, answer)
            if body is None:
                headers = [pair for pair in passed_on(list(response.headers.multi_items())) if _is_kept(pair[0])]
                return _with_headers(Response(answer, response.status_code), headers)
            await response.aclose()
            response = await self._upstream.send(outgoing.with_body(body))
        return self._streamed(response, turn)

    async def _forwarded(self, outgoing: Forwarded, turn: Turn | None) -> Response:
        return self._streamed(await self._upstream.send(outgoing), turn)

    def _streamed(self, response: httpx2.Response, turn: Turn | None) -> Response:
        """Pass a response on as its bytes come; the usage of a turn is read beside them."""
        headers = passed_on(list(response.headers.multi_items()))
        reader = None
        if turn is not None and response.is_success:
            kind, encoding = response.headers.get("content-type", ""), response.headers.get("content-encoding", "")
            reader = UsageReader(kind, encoding)
        stream = raw(response) if reader is None or turn is None else self._watched(response, turn, reader)
        return _with_headers(StreamingResponse(stream, response.status_code), headers)

    async def _watched(self, response: httpx2.Response, turn: Turn, reader: UsageReader) -> AsyncIterator[bytes]:
        try:
            async for chunk in raw(response):
                reader.feed(chunk)
                yield chunk
        finally:
            reader.end()
            if reader.usage is not None:
                self._report(turn, reader.usage)

    def _report(self, turn: Turn, usage: dict[str, object]) -> None:
        """Take the usage in the background: the client has its reply."""
        task = asyncio.ensure_future(run_in_threadpool(self._collecting.report, turn, usage))
        self._reports.add(task)
        task.add_done_callback(self._reports.discard)

    # -- the gateway itself --------------------------------------------------------------------------------------------

    async def _healthy(self, _request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def _metrics(self, _request: Request) -> Response:
        body, kind = self.metrics.page()
        return Response(body, media_type=kind)

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        cleaner = asyncio.ensure_future(self._clean())
        try:
            yield
        finally:
            cleaner.cancel()
            await asyncio.gather(*self._reports, return_exceptions=True)
            await self._upstream.close()
            await run_in_threadpool(self.lanes.close)
            self.metrics.close()

    async def _clean(self) -> None:
        while True:
            await asyncio.sleep(_CLEAN_SECONDS)
            await run_in_threadpool(self.lanes.close_idle)


def _with_headers(response: Response, headers: Iterable[tuple[str, str]]) -> Response:
    """Return the response with these headers and no other ones, but those of its body's framing."""
    raw_headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    length = [pair for pair in response.raw_headers if pair[0] == b"content-length"]
    response.raw_headers = [*raw_headers, *length]
    return response


def _is_kept(name: str) -> bool:
    """True for headers that still describe a body that was read: it is no longer compressed."""
    return name.lower() != "content-encoding"


def _key_in(query: str) -> str:
    """Return the credential in a query (Gemini's ``key=``), or ""."""
    parts = urlsplit(f"?{query}").query.split("&")
    return next((part for part in parts if part.startswith("key=")), "")
