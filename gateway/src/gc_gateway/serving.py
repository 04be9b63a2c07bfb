"""Runs a gateway: on a port until it is stopped, or in a thread of a program."""

from __future__ import annotations

import contextlib
import gc
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn

from gc_gateway.app import Gateway
from gc_gateway.errors import GatewayError
from gc_gateway.settings import Settings

_START_SECONDS = 20.0

KEPT_SECONDS = 75
"""An idle connection is kept longer than clients keep theirs (httpx five seconds): else one may end as it is used."""


class _Server(uvicorn.Server):
    """Ends the streams of open pages before it waits for all connections."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway) -> None:
        super().__init__(config)
        self._gateway = gateway

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        self._gateway.page.end()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """
        Stop as soon as open requests are answered; at a second signal, end them at once.

        uvicorn takes only a second SIGINT, and then leaves lanes and connections open, whose threads keep the process.
        """
        if not self.should_exit:
            super().handle_exit(sig, frame)
            return
        for task in tuple(self.server_state.tasks):
            task.cancel()


def bound(settings: Settings) -> socket.socket:
    """Return a listening socket. Raises GatewayError where the port is taken."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named, or asyncio does not see that it is TCP and lets small packets wait 40 ms for each other.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except (OSError, UnicodeError) as error:
        listening.close()
        why = error.strerror if isinstance(error, OSError) else error
        raise GatewayError(f"{settings.host}:{settings.port} cannot be listened on: {why}") from error
    return listening


def base_url(listening: socket.socket, settings: Settings) -> str:
    """Return the base URL for clients, with the token in its path if there is one."""
    host, port = listening.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}" + (f"/{settings.token}" if settings.token else "")


def server(gateway: Gateway) -> uvicorn.Server:
    """Return the server, without its own access log and without WebSockets."""
    config = uvicorn.Config(
        gateway.app(), log_config=None, access_log=False, ws="none", server_header=False, date_header=False,
        timeout_graceful_shutdown=10, lifespan="on", timeout_keep_alive=KEPT_SECONDS,
    )  # fmt: skip
    return _Server(config, gateway)


def serve(settings: Settings, started: Callable[[str], None]) -> None:
    """
    Serve until SIGTERM or SIGINT: open requests are answered first, for ten seconds at most, or until a second signal.

    ``started`` gets the base URL once connections are taken. Call it from the main thread. Raises GatewayError where
    it cannot listen, and ConfigError, before it does, where its lanes could not be opened as they are configured.
    """
    gateway, listening = Gateway(settings), bound(settings)
    serving = server(gateway)
    listening.listen()
    gateway.listens_at(base_url(listening, settings))
    # A signal before the server runs stops it as soon as it starts. Once stopped, it raises the signals it took again:
    # they have been obeyed by then.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, serving.handle_exit)
    # What was imported stays. If Python's garbage collector looks through it, every request waits for 40 ms.
    gc.collect()
    gc.freeze()
    with contextlib.closing(listening):
        started(base_url(listening, settings))
        serving.run(sockets=[listening])


@contextlib.contextmanager
def running(settings: Settings) -> Iterator[tuple[str, Gateway]]:
    """
    Serve in a thread while the block runs; yields the base URL and the gateway. Raises GatewayError if it does not
    start, and ConfigError where its lanes could not be opened as they are configured.
    """
    gateway, listening = Gateway(settings), bound(settings)
    serving = server(gateway)
    thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]}, name="gc-gateway", daemon=True)
    thread.start()
    try:
        waited = threading.Event()
        for _ in range(int(_START_SECONDS * 100)):
            if serving.started or not thread.is_alive():
                break
            waited.wait(0.01)
        if not serving.started:
            raise GatewayError("the gateway did not start")
        gateway.listens_at(base_url(listening, settings))
        yield base_url(listening, settings), gateway
    finally:
        serving.should_exit = True
        thread.join(15)
        listening.close()
