"""Requests to the provider: forwarded with the client's own headers, answered as they stream."""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import AsyncGenerator, Mapping
from typing import Final

import attrs
import httpx2

from gc_gateway.usage import READABLE

_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"}
    | {"transfer-encoding", "upgrade", "host", "content-length"}
)
"""Headers that belong to one connection (RFC 9110, section 7.6.1), and those that are set again."""

_VERSION_AT_END: Final = re.compile(r"(?<!/)/v\d\w*$")
_VERSION_FIRST: Final = re.compile(r"/v\d\w*(?=/|$)")

_LEFT: Final = "without sending"
"""What the client's errors say where a connection was closed before the end of an answer."""

_OWN = frozenset({"x-gc-lane", "x-gc-token"})

TIMEOUT = httpx2.Timeout(connect=30.0, read=600.0, write=60.0, pool=30.0)
"""A reply may think for minutes before its first byte; Claude Code waits ten."""


@attrs.frozen(kw_only=True)
class Forwarded:
    """
    A request as it goes to the provider.

    Attributes:
        method: Its method.
        url: Where it goes, with its query.
        headers: Its headers, in their order.
        body: Its body.

    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = attrs.field(repr=False)
    body: bytes = attrs.field(repr=False)

    def with_body(self, body: bytes) -> Forwarded:
        """Return it with another body, which is not compressed."""
        headers = tuple((name, value) for name, value in self.headers if name.lower() != "content-encoding")
        return attrs.evolve(self, body=body, headers=headers)

    def readable(self) -> Forwarded:
        """Return it without encodings of a reply that nobody here can read."""
        headers = (
            (name, _readable(value) if name.lower() == "accept-encoding" else value) for name, value in self.headers
        )
        return attrs.evolve(self, headers=tuple(headers))


def _readable(codings: str) -> str:
    kept = (each for each in codings.split(",") if each.partition(";")[0].strip().lower() in READABLE)
    return ",".join(kept).strip() or "identity"


def passed_on(headers: Mapping[str, str] | list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the headers without those of a connection, those that ``Connection`` names, and the gateway's own."""
    pairs = list(headers.items()) if isinstance(headers, Mapping) else headers
    named = {each.strip().lower() for name, value in pairs if name.lower() == "connection" for each in value.split(",")}
    return tuple((name, value) for name, value in pairs if name.lower() not in _HOP | _OWN | named)


class Upstream:
    """The connections to the providers."""

    def __init__(self) -> None:
        # No proxy, no certificates, no credentials from the environment: what the client sent is all there is.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
        self._client = httpx2.AsyncClient(timeout=TIMEOUT, limits=limits, trust_env=False, follow_redirects=False)

    async def send(self, request: Forwarded) -> httpx2.Response:
        """Send it; the response has its headers, and its body is still to be read. Raises httpx2.HTTPError."""
        built = self._client.build_request(
            request.method, request.url, headers=[_as_sent(*pair) for pair in request.headers], content=request.body
        )
        if not any(name.lower() == "accept-encoding" for name, _ in request.headers):
            built.headers.pop("accept-encoding", None)
        return await self._client.send(built, stream=True)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def failure(error: httpx2.HTTPError) -> str:
    """Return what an upstream did instead of answering, in words without the request's content."""
    if isinstance(error, httpx2.ConnectTimeout):
        return f"cannot be reached: no connection in {TIMEOUT.connect:.0f} seconds"
    if isinstance(error, httpx2.ConnectError):
        return f"cannot be reached: {_reason(error)}"
    if isinstance(error, httpx2.ReadTimeout):
        return f"did not answer in {TIMEOUT.read:.0f} seconds"
    if isinstance(error, httpx2.NetworkError) or (
        _LEFT in str(error) and isinstance(error, httpx2.RemoteProtocolError)
    ):
        return "closed the connection before it answered"
    return f"sent an answer that is not valid HTTP: {type(error).__name__}"


def _reason(error: BaseException) -> str:
    """Return why there is no connection, from the error of the system beneath."""
    cause = _first_cause(error)
    if isinstance(cause, socket.gaierror):
        return "unknown host"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is refused: {cause.verify_message}"
    if isinstance(cause, ssl.SSLError):
        return f"no TLS: {cause.reason}"
    if isinstance(cause, OSError) and cause.errno:
        return os.strerror(cause.errno).lower()
    return str(error) or type(error).__name__


def _first_cause(error: BaseException) -> BaseException:
    if isinstance(error, BaseExceptionGroup):  # an address each
        return _first_cause(error.exceptions[0])
    beneath = error.__cause__ or error.__context__
    return error if beneath is None else _first_cause(beneath)


def joined(base: str, path: str) -> str:
    """Return where a request's path is below a base URL; one that ends with the API's version replaces the path's."""
    version = _VERSION_FIRST.match(path) if _VERSION_AT_END.search(base) else None
    return base + (path if version is None else path[version.end() :])


def received(response: httpx2.Response) -> list[tuple[str, str]]:
    """Return the headers of a response, byte for byte a letter each."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]


def _as_sent(name: str, value: str) -> tuple[bytes, bytes]:
    return name.encode("latin-1"), value.encode("latin-1")


async def raw(response: httpx2.Response) -> AsyncGenerator[bytes]:
    """Yield the bytes of a response as they come, and close it."""
    try:
        async for chunk in response.aiter_raw():
            yield chunk
    finally:
        await response.aclose()
