"""Asks the gateways that run on this machine to change a window that they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import anyio

from gc_agents.announcements import RunningGateway, running
from gc_agents.changes import Change
from gc_agents.conversations import KEY_HEADER, NOT_HELD
from gc_core.errors import SourceError
from gc_core.isolation import isolated

_SECONDS: Final = 10.0


def ask_gateways(lanes: Path, key: str, change: Change) -> str | None:
    """
    Return what came of a change of the lane with a key; None if no gateway holds it. Raises SourceError where the
    gateway refuses.
    """
    for gateway in running(lanes):
        answered = _asked(gateway, key, change)
        if answered is not None:
            return answered
    return None


def _asked(gateway: RunningGateway, key: str, change: Change) -> str | None:
    """Return what a gateway answers; None if it holds no such lane, or does not answer at all."""
    text, refused = "", True
    with isolated() as attempt:  # whatever listens at a port that a killed gateway had
        text, refused = anyio.run(_within_time, gateway, key, change)
    if attempt.error is not None or (refused and NOT_HELD in text):
        return None
    if refused:
        raise SourceError(text.removeprefix(f"Error executing tool {change.tool}: "))
    return text


async def _within_time(gateway: RunningGateway, key: str, change: Change) -> tuple[str, bool]:
    with anyio.fail_after(_SECONDS):
        return await _call(gateway, key, change)


async def _call(gateway: RunningGateway, key: str, change: Change) -> tuple[str, bool]:
    """Return the text that a gateway answers, and whether it refuses."""
    import httpx2
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    arguments = {name: getattr(change, name) for name in ("item", "text", "mode") if getattr(change, name)}
    async with (
        httpx2.AsyncClient(headers={KEY_HEADER: key}, trust_env=False) as http,
        Client(streamable_http_client(f"{gateway.url}/mcp", http_client=http)) as client,
    ):
        result = await client.call_tool(change.tool, arguments)
    return "".join(getattr(block, "text", "") for block in result.content), bool(result.is_error)
