"""The gateway as an ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import importlib.util
import sys
import time
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import anyio.to_thread
import attrs
import httpx2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from gc_core.integrations.lanes import REFUSALS
from gc_core.values.loggers import logger
from gc_gateway import collect
from gc_gateway.access import is_loopback, is_plain, path_of, refusal, without_credentials, without_token
from gc_gateway.bodies import dumped, parsed, read_body
from gc_gateway.collect import CollectService
from gc_gateway.collecting import Collecting, Turn
from gc_gateway.dialects import Action, Dialect, dialect_of
from gc_gateway.errors import RequestError
from gc_gateway.lane_ids import lane_of, scope_of
from gc_gateway.lanes import Lanes
from gc_gateway.metrics import Metrics
from gc_gateway.page import Page
from gc_gateway.request_log import RequestLine, RequestLog, line_of
from gc_gateway.settings import Settings
from gc_gateway.stream_openings import StreamOpening
from gc_gateway.upstream import Forwarded, Upstream, failure, joined, passed_on, raw, received
from gc_gateway.usage import UsageReader, decoded

if TYPE_CHECKING:
    from gc_gateway.mcp_mount import Mount

_log = logger("gc_gateway")
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_CLEAN_SECONDS = 30.0
_THREADS = 250
"""Threads at most: most of them wait for another request of their lane."""
_UPGRADE, _UNAUTHORIZED, _FORBIDDEN, _BAD_PATH, _TOO_LARGE, _BAD_GATEWAY = 426, 401, 403, 400, 413, 502
_NO_TOKEN = "(no token)"  # noqa: S105 - no password

MCP_PATH: Final = "/mcp"
"""Where the MCP server answers, if the extra ``mcp`` is installed."""


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
        self._mount = _mount(settings, self.lanes)

    def listens_at(self, url: str) -> None:
        """Tell servers that agents start where this gateway is."""
        if self._mount is not None:
            self._mount.listens_at(url)

    def app(self) -> Starlette:
        """Return the application. Its lifespan closes lanes and connections."""
        routes = [
            Route("/healthz", self._healthy),
            Route("/readyz", self._healthy),
            Route("/metrics", self._metrics),
            Route("/{path:path}", self._any, methods=_METHODS),
        ]
        return Starlette(routes=routes, lifespan=self._lifespan, middleware=[Middleware(RequestLog)])

    # -- requests ------------------------------------------------------------------------------------------------------

    async def _any(self, request: Request) -> Response:
        line = line_of(request.scope)
        line.path = without_token(path_of(request), request.headers, self.settings.token) or _NO_TOKEN
        shown = await self.page.answered(request)
        if shown is not None:
            line.kind = "page"
            return shown
        if request.method == "POST" and self._bare(request) == collect.PATH:
            line.kind = "collect"
            return await self._collected(request, line)
        if self._mount is not None and self._bare(request) == MCP_PATH:
            line.kind = "mcp"
            return await self._looked_back(request, self._mount)
        dialect = dialect_of(request.url.path, request.headers)
        try:
            incoming = await self._incoming(request)
            dialect = dialect_of(incoming.path, incoming.headers)
            line.dialect = dialect.format
            response = await self._answered(dialect, incoming, line)
        except RequestError as error:
            response = JSONResponse(dialect.error(error.status, str(error)), error.status, _closing(error))
        except ClientDisconnect:
            response = Response(status_code=499)
        except httpx2.HTTPError as error:
            host = without_credentials(self.settings.upstream(dialect.format))
            what = failure(error)
            _log.warning("upstream failed", dialect=dialect.format, error=what)
            answer = dialect.error(_BAD_GATEWAY, f"the upstream {host} {what}")
            response = JSONResponse(answer, _BAD_GATEWAY)
        self.metrics.request(dialect.format, response.status_code)
        return response

    async def _looked_back(self, request: Request, mount: Mount) -> Response:
        """Hand a request to the MCP server, unless it comes from a web page, or without the token."""
        if without_token(path_of(request), request.headers, self.settings.token) is None:
            return JSONResponse({"error": refusal(path_of(request), request.headers)}, _UNAUTHORIZED)
        is_page = bool(request.headers.get("origin"))
        if is_page or not (self.settings.token or is_loopback(request.headers.get("host", ""))):
            return JSONResponse({"error": "expected no web page, and the host 127.0.0.1 or localhost"}, _FORBIDDEN)
        return await mount.response()

    async def _collected(self, request: Request, line: RequestLine) -> Response:
        """Answer a request for a collection, in JSON whatever happens."""
        status, headers = 200, None
        try:
            incoming = await self._incoming(request)
            answer = await run_in_threadpool(self._collect.answer, incoming.body, incoming.headers, line)
        except RequestError as error:
            status, answer, headers = error.status, collect.refusal(error), _closing(error)
        except ClientDisconnect:
            return Response(status_code=499)
        self.metrics.request("collect", status)
        return Response(dumped(answer), status, headers, media_type="application/json")

    async def _incoming(self, request: Request) -> Incoming:
        """Read a request. Raises RequestError for what is refused."""
        if "websocket" in request.headers.get("upgrade", "").lower():
            raise RequestError(_UPGRADE, "this gateway speaks HTTP; WebSocket is not offered")
        if without_token(path_of(request), request.headers, self.settings.token) is None:
            what = refusal(path_of(request), request.headers)
            raise RequestError(_UNAUTHORIZED, f"{what}: send it as x-gc-token", "x-gc-token")
        path = self._bare(request)
        if not is_plain(path):
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

    async def _answered(self, dialect: Dialect, incoming: Incoming, line: RequestLine) -> Response:
        action, model = dialect.action(incoming.path)
        base = self.settings.upstream(dialect.format)
        query = f"?{incoming.query}" if incoming.query else ""
        outgoing = Forwarded(
            method=incoming.method,
            url=f"{joined(base, incoming.path)}{query}",
            headers=passed_on(list(incoming.pairs)),
            body=incoming.body,
        )
        if action is Action.PASS or incoming.method != "POST":
            return await self._forwarded(outgoing)
        if action is Action.COUNT:
            tokens = await run_in_threadpool(self._counted, dialect, incoming, model, line)
            return await self._forwarded(outgoing) if tokens is None else JSONResponse(dialect.count(tokens))
        turn, body = await run_in_threadpool(self._changed, dialect, incoming, model, line)
        self.metrics.added(dialect.format, time.perf_counter() - line.began)
        if turn is None:
            return await self._forwarded(outgoing)
        return await self._generated(outgoing if body is None else outgoing.with_body(body), turn)

    def _changed(
        self, dialect: Dialect, incoming: Incoming, model: str, line: RequestLine
    ) -> tuple[Turn | None, bytes | None]:
        """Return the turn in a request, and the body to send instead of its own; None for neither."""
        turn = self._turn(dialect, incoming, model, line)
        if turn is None:
            self.lanes.passed(counted=False)
            return None, None
        return turn, self._collecting.changed_body(turn)

    def _counted(self, dialect: Dialect, incoming: Incoming, model: str, line: RequestLine) -> int | None:
        turn = self._turn(dialect, incoming, model, line)
        return None if turn is None else self._collecting.counted(turn)

    def _turn(self, dialect: Dialect, incoming: Incoming, model: str, line: RequestLine) -> Turn | None:
        encoding = incoming.headers.get("content-encoding", "")
        with self.lanes.slots:
            body = parsed(incoming.body, encoding, self.settings.body_bytes)
        if body is None:
            self.metrics.passed("shape")
            _log.info("body not understood", dialect=dialect.format, error="it is no JSON object")
            return None
        base = self.settings.upstream(dialect.format)
        scope = scope_of(dialect.format, base, incoming.headers, _key_in(incoming.query))
        lane = lane_of(scope, incoming.headers, body)
        turn = self._collecting.understood(dialect, lane, incoming.headers, body, model)
        size = self.settings.body_bytes if encoding else len(incoming.body)
        return turn and attrs.evolve(turn, line=line, bytes=size)

    async def _generated(self, outgoing: Forwarded, turn: Turn) -> Response:
        """Send a turn; a refusal for its length is answered by a second try, before the client sees it."""
        outgoing = outgoing.readable()
        response = await self._upstream.send(outgoing)
        if response.is_success and _is_stream(response):
            stream = self._opened(response, outgoing, turn)
            return _with_headers(StreamingResponse(stream, response.status_code), passed_on(received(response)))
        if response.status_code in REFUSALS:
            answer = b"".join([chunk async for chunk in raw(response)])
            said = decoded(answer, _encoding(response))
            body = await run_in_threadpool(self._collecting.recovered_body, turn, response.status_code, said)
            if body is None:
                return _with_headers(Response(answer, response.status_code), passed_on(received(response)))
            response = await self._upstream.send(outgoing.with_body(body))
        return self._streamed(response, turn)

    async def _forwarded(self, outgoing: Forwarded) -> Response:
        return self._streamed(await self._upstream.send(outgoing), None)

    def _streamed(self, response: httpx2.Response, turn: Turn | None) -> Response:
        """Pass a response on as its bytes come; the usage of a turn is read beside them."""
        chunks: AsyncIterator[bytes] = raw(response)
        if turn is not None and response.is_success:
            chunks = self._watched(chunks, response, turn)
        return _with_headers(StreamingResponse(chunks, response.status_code), passed_on(received(response)))

    async def _opened(self, response: httpx2.Response, outgoing: Forwarded, turn: Turn) -> AsyncIterator[bytes]:
        """Pass a turn's stream on; one that begins with a refusal for length gives way to that of a second try."""
        opening, chunks = StreamOpening(_encoding(response)), raw(response)
        try:
            async for chunk in chunks:
                if not opening.holds(chunk):
                    break
        except httpx2.HTTPError:
            yield opening.held
            raise
        again = await self._sent_again(response, opening, outgoing, turn) if opening.error else None
        if again is not None:
            await chunks.aclose()
            response, opening, chunks = again, StreamOpening(""), raw(again)
        async for chunk in self._watched(_after(opening.held, chunks), response, turn):
            yield chunk

    async def _sent_again(
        self, response: httpx2.Response, opening: StreamOpening, outgoing: Forwarded, turn: Turn
    ) -> httpx2.Response | None:
        """
        Return the stream of a second try, where the first is a refusal for length. None for another error, and for a
        reply that does not go with the headers that the client has already.
        """
        said = opening.error.encode()
        body = await run_in_threadpool(self._collecting.recovered_body, turn, response.status_code, said)
        if body is None:
            return None
        try:
            again = await self._upstream.send(outgoing.with_body(body))
        except httpx2.HTTPError as error:
            _log.warning("upstream failed", dialect=turn.dialect.format, error=type(error).__name__)
            return None
        if again.is_success and _is_stream(again) and _encoding(again) == _encoding(response):
            return again
        await again.aclose()
        return None

    async def _watched(
        self, chunks: AsyncIterator[bytes], response: httpx2.Response, turn: Turn
    ) -> AsyncIterator[bytes]:
        """Pass chunks on, and report the usage in them."""
        reader = UsageReader(response.headers.get("content-type", ""), _encoding(response))
        try:
            async for chunk in chunks:
                reader.feed(chunk)
                yield chunk
        finally:
            reader.end()
            if reader.usage is not None:
                self._report(turn, reader.usage)

    def _report(self, turn: Turn, usage: dict[str, object]) -> None:
        """Take the usage in the background, or with the lane's next turn where that comes first."""
        self._collecting.queue_usage(turn, usage)
        task = asyncio.ensure_future(run_in_threadpool(self._collecting.take_usage, turn))
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
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
        cleaner = asyncio.ensure_future(self._clean())
        try:
            async with contextlib.nullcontext() if self._mount is None else self._mount.running():
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
            if await run_in_threadpool(self.lanes.close_idle):
                await run_in_threadpool(_give_back)


def _give_back() -> None:
    """Return freed memory to the system, where the C library can: it keeps it for later otherwise."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _mount(settings: Settings, lanes: Lanes) -> Mount | None:
    """Return the MCP server, if what it needs is installed."""
    if importlib.util.find_spec("gc_agents") is None or importlib.util.find_spec("mcp") is None:
        return None
    from gc_gateway.mcp_mount import Mount

    return Mount(settings, lanes)


async def _after(first: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what was held back, and then what is still to come."""
    if first:
        yield first
    async for chunk in chunks:
        yield chunk


def _is_stream(response: httpx2.Response) -> bool:
    return str(response.headers.get("content-type", "")).startswith("text/event-stream")


def _encoding(response: httpx2.Response) -> str:
    return str(response.headers.get("content-encoding", ""))


def _with_headers(response: Response, headers: Iterable[tuple[str, str]]) -> Response:
    """Return the response with these headers and no other ones, but those of its body's framing."""
    raw_headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    length = [pair for pair in response.raw_headers if pair[0] == b"content-length"]
    response.raw_headers = [*raw_headers, *length]
    return response


def _closing(error: RequestError) -> dict[str, str] | None:
    """Return a header that ends the connection where the rest of a body would come, which nobody reads."""
    return {"connection": "close"} if error.status == _TOO_LARGE else None


def _key_in(query: str) -> str:
    """Return the credential in a query (Gemini's ``key=``), or ""."""
    parts = urlsplit(f"?{query}").query.split("&")
    return next((part for part in parts if part.startswith("key=")), "")
