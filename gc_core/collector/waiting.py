"""Waits a limited time for foreign code: in a thread, or without blocking a host's event loop."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable

from gc_core.errors import PluginError
from gc_core.isolation import run_in_daemon_thread

Late = Callable[[float], Exception]
"""Creates the error of an answer that did not come in this many seconds."""


def in_time(call: Callable[[], object], seconds: float, late: Late) -> object:
    """
    Return the result of a call that runs in a separate thread. Its errors are raised here; after ``seconds``, the one
    of ``late``.
    """
    from concurrent.futures import wait

    coming = run_in_daemon_thread(call)
    wait({coming}, timeout=seconds)
    if not coming.done():
        raise late(seconds)
    return coming.result()


async def in_time_async(call: Callable[[], object], seconds: float, late: Late) -> object:
    """Return the result of a call that runs in a separate thread, while the event loop runs."""
    import asyncio

    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def notify(_: object) -> None:
        with contextlib.suppress(RuntimeError):  # an answer after the loop has ended is ignored
            loop.call_soon_threadsafe(done.set)

    coming = run_in_daemon_thread(call)
    coming.add_done_callback(notify)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(done.wait(), seconds)
    if not coming.done():
        raise late(seconds)
    return coming.result()


async def awaited_in_time(call: Callable[[], Awaitable[object]], seconds: float, late: Late) -> object:
    """Return a coroutine's result, run in a separate task: what it does to its task does not affect the host's."""
    import asyncio

    task = asyncio.ensure_future(_contained(call))
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise late(seconds)
        if task.cancelled():
            raise PluginError("it was cancelled from inside")
        return task.result()
    finally:
        task.cancel()


async def _contained(call: Callable[[], Awaitable[object]]) -> object:
    try:
        return await call()
    except (SystemExit, GeneratorExit) as error:
        raise PluginError(f"it raised {type(error).__name__}") from error
