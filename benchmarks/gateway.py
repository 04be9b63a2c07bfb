"""
What the gateway adds to a request until its whole answer is there, beside a plain pass-through of the same libraries.

``python -m benchmarks.gateway`` (``make bench-gateway``). The gateway is a process of its own; client, pass-through and
provider are threads of another, on loopback; the provider answers at once. Wall-clock time of five conversations;
requests alternate between both proxies. The first request of a conversation, all of whose content is new, is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from benchmarks.gateway_process import GatewayProcess

_ANSWER = json.dumps({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Yes."}]}).encode()
_LANES = 5
_SETTINGS = '[gateway.windows]\n"*" = 1000000\n'
_HEADERS = {"x-api-key": "none", "anthropic-version": "2023-06-01", "content-type": "application/json"}


class _Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a second small packet would wait 40 ms for the first one's acknowledgement

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""

    def do_POST(self) -> None:
        """Read the body, and answer at once."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(_ANSWER)))
        self.end_headers()
        self.wfile.write(_ANSWER)


def body_of(size: int, turn: int) -> bytes:
    """Return an agent's request of about so many bytes: a conversation that has grown by one call since the last."""
    steps = max(1, size // 4_000) + turn
    messages: list[dict[str, object]] = [{"role": "user", "content": "Read the files."}]
    for number in range(steps):
        use = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"path": f"f{number}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"{number} " + "word " * 770}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 1_000, "messages": messages}).encode()


@contextlib.contextmanager
def provider() -> Iterator[str]:
    """Serve the provider while the block runs; yields its base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def plain(upstream: str) -> Iterator[str]:
    """Serve a pass-through that reads nothing while the block runs; yields its base URL."""
    client = httpx2.AsyncClient(timeout=None, trust_env=False)

    async def forward(request: Request) -> Response:
        headers = {name: value for name, value in request.headers.items() if name not in {"host", "content-length"}}
        built = client.build_request("POST", upstream + request.url.path, headers=headers, content=await request.body())
        answer = await client.send(built, stream=True)
        return StreamingResponse(answer.aiter_raw(), answer.status_code, dict(answer.headers))

    app = Starlette(routes=[Route("/{path:path}", forward, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, ws="none", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def answered(client: httpx2.Client, url: str, body: bytes, lane: str) -> float:
    """Return milliseconds until the whole answer is there."""
    headers, began = {**_HEADERS, "x-gc-lane": lane}, time.perf_counter()
    client.post(f"{url}/v1/messages", content=body, headers=headers)
    return 1_000 * (time.perf_counter() - began)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measured(url: str, other: str, size: int, requests: int, lane: str) -> tuple[list[float], list[float]]:
    """Return the milliseconds of alternating requests to both, one conversation that grows."""
    ours, theirs = [], []
    with httpx2.Client(timeout=None, trust_env=False) as client:
        for turn in range(requests):
            body = body_of(size, turn)
            theirs.append(answered(client, other, body, lane))
            ours.append(answered(client, url, body, lane))
    return ours[1:], theirs[1:]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=60)
    options = parser.parse_args()
    print("| request | pass-through p50 ms | gateway p50 ms | added p50 ms | added p99 ms |")
    print("|---|--:|--:|--:|--:|")
    with contextlib.ExitStack() as stack:
        folder, upstream = stack.enter_context(tempfile.TemporaryDirectory()), stack.enter_context(provider())
        other = stack.enter_context(plain(upstream))
        gateway = stack.enter_context(contextlib.closing(GatewayProcess(upstream, Path(folder), _SETTINGS)))
        for size in (20_000, 100_000, 400_000):
            print_row(size, gateway.url, other, options.requests)


def print_row(size: int, url: str, other: str, requests: int) -> None:
    """Print what requests of a size take, through the gateway and through the pass-through."""
    runs = [measured(url, other, size, requests, f"{size}-{lane}") for lane in range(_LANES)]
    pairs = [pair for ours, theirs in runs for pair in zip(ours, theirs, strict=True)]
    added = [mine - plain_one for mine, plain_one in pairs]
    medians = statistics.median(each for _, each in pairs), statistics.median(each for each, _ in pairs)
    row = (*medians, statistics.median(added), percentile(added, 0.99))
    print(f"| {size // 1000} kB | " + " | ".join(f"{each:.1f}" for each in row) + " |")


if __name__ == "__main__":
    main()
