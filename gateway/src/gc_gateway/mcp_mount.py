"""
MCP in the gateway: its server is imported and begun with the first request for it, because that takes a second, and
most gateways are never asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gc_agents.announcements import RunningGateway, announce
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gc_core.errors import LogError
from gc_core.values.folders import private
from gc_core.values.loggers import logger
from gc_gateway.lanes import Lanes
from gc_gateway.settings import Settings

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_PATH: Final = "/mcp"
_log = logger("gc_gateway")


class Mount:
    """
    Serves MCP over streamable HTTP inside the gateway.

    Args:
        settings: Those of the gateway.
        lanes: Its lanes.

    """

    def __init__(self, settings: Settings, lanes: Lanes) -> None:
        self._settings = settings
        self._lanes = lanes
        self._file: Path | None = None
        self._manager: StreamableHTTPSessionManager | None = None
        self._serving: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._ended = asyncio.Event()

    def listens_at(self, url: str) -> None:
        """Let servers that agents start find this gateway; where that cannot be written, they only read."""
        try:
            self._file = announce(private(self._settings.directory), RunningGateway(url=url, process=os.getpid()))
        except (LogError, OSError) as error:
            _log.warning("gateway not announced", error=str(error)[:500])

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests while the block runs."""
        try:
            yield
        finally:
            self._ended.set()
            if self._file is not None:
                self._file.unlink(missing_ok=True)
            if self._serving is not None:
                await asyncio.wait({self._serving})  # which raises nothing: how it failed was said to its request

    async def response(self) -> Response:
        """Return what answers a request for the server. Raises what keeps the server from beginning."""
        async with self._starting:
            if self._manager is None:
                self._manager = await self._begun()
        return _Answer(self._manager)

    async def _begun(self) -> StreamableHTTPSessionManager:
        manager = await run_in_threadpool(self._made)
        ready = asyncio.Event()
        # Of a task of its own: what it begins has to end in the task that began it.
        self._serving = asyncio.ensure_future(self._serve(manager, ready))
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait({self._serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.is_set():
            waiting.cancel()
            await self._serving
        return manager

    def _made(self) -> StreamableHTTPSessionManager:
        from gc_gateway.lane_sessions import manager_of

        return manager_of(self._settings, self._lanes)

    async def _serve(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._ended.wait()


class _Answer(Response):
    """Hands a request to the MCP server, which writes the response itself."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        await self._manager.handle_request({**scope, "path": _PATH, "raw_path": _PATH.encode()}, receive, send)
