"""
What a gateway bears: requests a second, streams at once, and lanes in memory.

The gateway is a process of its own, as ``ctxgc gateway`` starts it; clients and the provider share another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import attrs
import httpx2

from benchmarks.gateway import body_of, percentile
from benchmarks.gateway_process import GatewayProcess

_HEADERS = {"x-api-key": "none", "anthropic-version": "2023-06-01", "content-type": "application/json"}
_REPLY = json.dumps({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Yes."}]}).encode()
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n"
_EVENTS, _EVENT_SECONDS = 12, 0.5
_LANES, _STREAMS, _BURST = 1_000, 200, 300
_SETTINGS = '[gateway]\nidle_seconds = 20\n[gateway.windows]\n"small" = 60000\n"*" = 1000000\n'


@attrs.frozen
class Row:
    """One line of the table: what was measured, the figure, and what is wanted."""

    what: str
    found: str
    wanted: str


# -- the provider ------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def provider() -> AsyncIterator[str]:
    """Serve a provider while the block runs; yields its base URL. A body that asks for a stream gets slow events."""
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, limit=2**20)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            body = await reader.readexactly(length)
            if b'"stream": true' in body:
                await _stream(writer)
            else:
                writer.write(_HEAD % b"application/json" + b"content-length: %d\r\n\r\n" % len(_REPLY) + _REPLY)
            await writer.drain()
    writer.close()


async def _stream(writer: asyncio.StreamWriter) -> None:
    writer.write(_HEAD % b"text/event-stream" + b"transfer-encoding: chunked\r\n\r\n")
    for number in range(_EVENTS):
        event = f"event: ping\ndata: {number} {time.perf_counter()}\n\n".encode()
        writer.write(b"%x\r\n" % len(event) + event + b"\r\n")
        await writer.drain()
        await asyncio.sleep(_EVENT_SECONDS)
    writer.write(b"0\r\n\r\n")


# -- requests ---------------------------------------------------------------------------------------------------------


async def _post(client: httpx2.AsyncClient, url: str, body: bytes, lane: str) -> None:
    answer = await client.post(f"{url}/v1/messages", content=body, headers={**_HEADERS, "x-gc-lane": lane})
    answer.raise_for_status()


# -- what is measured --------------------------------------------------------------------------------------------------


async def burst(client: httpx2.AsyncClient, gateway: GatewayProcess) -> Iterator[Row]:
    """Send requests of 100 kB of ten conversations, ten at a time."""
    bodies = [body_of(100_000, turn) for turn in range(_BURST // 10)]
    await asyncio.gather(*(_post(client, gateway.url, bodies[0], f"warm{lane}") for lane in range(10)))
    began, busy = time.perf_counter(), gateway.seconds

    async def conversation(lane: str) -> None:
        for body in bodies:
            await _post(client, gateway.url, body, lane)

    await asyncio.gather(*(conversation(f"burst{lane}") for lane in range(10)))
    rate, cost = _BURST / (time.perf_counter() - began), (gateway.seconds - busy) / _BURST
    return iter(
        (
            Row("requests of 100 kB a second, client and provider on the same cores", f"{rate:.0f}", "100"),
            Row("processor time of one of them in the gateway", f"{1_000 * cost:.1f} ms", "10 ms"),
        )
    )


async def streams(client: httpx2.AsyncClient, gateway: GatewayProcess) -> Iterator[Row]:
    """Read 200 streams at once, while other conversations are collected for."""
    late: list[float] = []
    first: list[float] = []

    async def read(lane: int) -> None:
        body = json.dumps({**json.loads(body_of(8_000, 0)), "stream": True}).encode()
        await asyncio.sleep(3 * lane / _STREAMS)
        headers, began = {**_HEADERS, "x-gc-lane": f"stream{lane}"}, time.perf_counter()
        async with client.stream("POST", f"{gateway.url}/v1/messages", content=body, headers=headers) as answer:
            first.append(time.perf_counter() - began)
            async for line in answer.aiter_lines():
                late.extend([time.perf_counter() - float(line.split()[2])] if line.startswith("data:") else ())

    async def collect() -> None:
        small = {**json.loads(body_of(400_000, 0)), "model": "small"}
        for lane in range(5):
            await asyncio.sleep(_EVENTS * _EVENT_SECONDS / 6)
            await _post(client, gateway.url, json.dumps(small).encode(), f"collected{lane}")

    busy = gateway.seconds
    await asyncio.gather(*(read(lane) for lane in range(_STREAMS)))
    quiet, cost = late.copy(), (gateway.seconds - busy) / _STREAMS
    late.clear()
    await asyncio.gather(collect(), *(read(lane) for lane in range(_STREAMS)))
    return iter(
        (
            Row(f"processor time of a stream of {_EVENTS} events in a new lane", f"{1_000 * cost:.1f} ms", ""),
            Row(f"{_STREAMS} streams at once: delay of an event, p50 and p99", _two(quiet), ""),
            Row("the same beside five collections", _two(late), ""),
            Row("the slowest begin of a stream", f"{1_000 * max(first):.0f} ms", ""),
        )
    )


def _two(seconds: list[float]) -> str:
    return f"{1_000 * percentile(seconds, 0.5):.0f} and {1_000 * percentile(seconds, 0.99):.0f} ms"


async def lanes(client: httpx2.AsyncClient, gateway: GatewayProcess) -> Iterator[Row]:
    """Open 1,000 lanes, and let them idle."""
    await asyncio.gather(*(_post(client, gateway.url, body_of(20_000, 0), f"before{lane}") for lane in range(20)))
    await asyncio.sleep(60)  # what was measured before is idle, and closed
    before = gateway.megabytes
    for tens in range(_LANES // 10):
        body = body_of(20_000, 0)
        await asyncio.gather(*(_post(client, gateway.url, body, f"idle{tens}-{lane}") for lane in range(10)))
    opened = gateway.megabytes
    await asyncio.sleep(60)
    return iter(
        (
            Row(f"{_LANES:,} lanes of 20 kB in memory", f"{opened - before:.0f} MB", ""),
            Row(f"{_LANES:,} idle lanes", f"{gateway.megabytes - before:.0f} MB", "20 MB"),
        )
    )


async def _measured() -> None:
    limits = httpx2.Limits(max_connections=None)
    async with provider() as upstream, httpx2.AsyncClient(trust_env=False, timeout=None, limits=limits) as client:
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.closing(GatewayProcess(upstream, Path(folder), _SETTINGS)) as gateway,
        ):
            for measure in (burst, streams, lanes):
                for row in await measure(client, gateway):
                    print(f"| {row.what} | {row.found} | {row.wanted or '-'} |", flush=True)


def main() -> None:
    """Print the table."""
    print("| what | found | wanted |")
    print("|---|--:|--:|")
    asyncio.run(_measured())


if __name__ == "__main__":
    main()
