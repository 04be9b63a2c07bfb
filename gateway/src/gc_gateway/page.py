"""
The live page of a gateway: its lanes as they fill, each with its report.

What clients send is never part of the page's markup: its script is given JSON, and sets texts. The report of a lane
needs the extra ``report``.
"""

from __future__ import annotations

import asyncio
import html
import json
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

import attrs
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from gc_core.errors import ConfigError, LogError
from gc_gateway.access import is_loopback, is_token, path_of, without_token
from gc_gateway.bodies import read_body
from gc_gateway.errors import GatewayError
from gc_gateway.lane_ids import is_key
from gc_gateway.lanes import Lanes
from gc_gateway.settings import Settings

LOOK_SECONDS: Final = 0.25
"""Between two looks at the lanes, while a page is open."""

ALIVE_SECONDS: Final = 15.0
"""Without news a page is sent a comment after so long: a closed connection is noticed then."""

_HERE = Path(__file__).parent
_FORM_BYTES = 10_000
_POLICY = "default-src 'none'; img-src data:; base-uri 'none'; frame-ancestors 'none'; "
_REPORT = _POLICY + "form-action 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
"""The report's page lets no scripts run but those whose hashes it names: a browser obeys both policies."""

_HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",  # the path has the token
    "x-content-type-options": "nosniff",
}
_NOTICE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>gc-gateway</title>
<h1>gc-gateway</h1>
{}
</html>
"""
_SIGN_IN = """<form method="post" action="/">
<p><label>The token of this gateway: <input type="password" name="token" autocomplete="current-password" autofocus>
</label> <button>Open</button></p>
</form>"""


class Page:
    """
    Answers the requests of a browser for the page.

    Args:
        settings: Those of the gateway.
        lanes: The lanes to show.

    """

    def __init__(self, settings: Settings, lanes: Lanes) -> None:
        self._settings = settings
        self._lanes = lanes
        self._ended = asyncio.Event()

    def end(self) -> None:
        """End the streams of open pages, which would keep the server from stopping. Call it in the server's loop."""
        self._ended.set()

    async def answered(self, request: Request) -> Response | None:
        """Return the response to a request for the page; None for every other request."""
        whole = path_of(request)
        path = without_token(whole, request.headers, self._settings.token)
        if not _is_asked(request, whole if path is None else path):
            return None
        if not self._settings.token and not is_loopback(request.headers.get("host", "")):
            return _notice(403, "<p>This page is only shown to http://127.0.0.1 and http://localhost.</p>")
        if path is None:
            return await self._sign_in(request)
        return await self._shown(whole, path) if request.method == "GET" else None

    # -- inside --------------------------------------------------------------------------------------------------------

    async def _shown(self, whole: str, path: str) -> Response:
        if path == "/":
            return _page() if whole.endswith("/") else RedirectResponse(f"{whole}/", headers=_HEADERS)
        if path == "/events":
            return StreamingResponse(self._events(), headers=_HEADERS, media_type="text/event-stream")
        return await run_in_threadpool(self._report, path.removeprefix("/lanes/"))

    async def _sign_in(self, request: Request) -> Response | None:
        """Ask for the token, and lead one who has it to the path with it."""
        if path_of(request) != "/":
            return None  # refused like any request without the token
        if request.method == "GET":
            return _notice(401, _SIGN_IN)
        form = await read_body(request.stream(), _FORM_BYTES, request.headers.get("content-length", ""))
        given = parse_qs(form.decode("utf-8", "replace")).get("token", [""])[0]
        if not is_token(given, self._settings.token):
            return _notice(401, f"<p>This is not the token.</p>{_SIGN_IN}")
        return RedirectResponse(f"/{self._settings.token}/", 303, headers=_HEADERS)

    async def _events(self) -> AsyncIterator[str]:
        """Yield the overview whenever it has changed."""
        shown, silent = "", 0.0
        while not self._ended.is_set():
            news = await run_in_threadpool(self._news)
            if news != shown:
                shown, silent = news, 0.0
                yield news
            elif silent >= ALIVE_SECONDS:
                silent = 0.0
                yield ":\n\n"
            silent += LOOK_SECONDS
            await self._pause()

    def _news(self) -> str:
        """Return the overview as an event; the JSON of 200 lanes would hold the server's loop for 15 milliseconds."""
        return f"data: {json.dumps(attrs.asdict(self._lanes.overview()), separators=(',', ':'))}\n\n"

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._ended.wait(), LOOK_SECONDS)
        except TimeoutError:
            return

    def _report(self, key: str) -> Response:
        directory = self._settings.directory / key
        if not is_key(key) or not (directory / "master.jsonl").is_file():
            return _notice(404, "<p>There is no such lane.</p>")
        try:
            body = report_of(directory, self._name(key))
        except ConfigError as error:
            return _notice(501, f"<p>{html.escape(str(error))}</p>")
        except (GatewayError, LogError) as error:
            return _notice(500, f"<p>{html.escape(str(error))}</p>")
        return HTMLResponse(body, headers={**_HEADERS, "content-security-policy": _REPORT})

    def _name(self, key: str) -> str:
        names = (lane.name for lane in self._lanes.overview().lanes if lane.key == key)
        return next(names, "") or key


def report_of(directory: Path, name: str) -> bytes:
    """
    Return the page of a lane's report.

    Raises ConfigError, saying what to install, without the extra ``report``, and LogError where the files cannot be
    read.
    """
    try:
        from ctxgc.report.page import page
        from ctxgc.report.reading import read
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "ctxgc":
            raise
        raise ConfigError('the report of a lane needs ctxgc: pip install "gc-gateway[report]"') from error
    return page(read(directory, name=name))


def _is_asked(request: Request, path: str) -> bool:
    accepts = request.headers.get("accept", "")
    if request.method == "POST":
        return path == "/" and request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    if request.method != "GET":
        return False
    if path == "/events":
        return "text/event-stream" in accepts
    return "text/html" in accepts and (path == "/" or path.startswith("/lanes/"))


def _page() -> Response:
    nonce = secrets.token_urlsafe()
    policy = f"{_POLICY}form-action 'none'; connect-src 'self'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'"
    text = (_HERE / "page.html").read_text(encoding="utf-8").replace("%NONCE%", nonce)
    return HTMLResponse(text, headers={**_HEADERS, "content-security-policy": policy})


def _notice(status: int, markup: str) -> Response:
    policy = f"{_POLICY}form-action 'self'"
    return HTMLResponse(_NOTICE.format(markup), status, headers={**_HEADERS, "content-security-policy": policy})
