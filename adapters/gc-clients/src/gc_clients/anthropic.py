"""The middleware of Anthropic's own client: ``Anthropic(middleware=[GCMiddleware()])``."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gc_clients.bodies import turn_of
from gc_clients.refusals import second_body, second_body_async
from gc_clients.transport import watched
from gc_clients.turns import LANE, Turns
from gc_core import GCConfig
from gc_core.integrations.lanes import Turn, needs

with needs("anthropic>=2.12", distribution="gc-clients"):
    from anthropic import APIRequest, APIResponse, AsyncAPIResponse, Middleware


class GCMiddleware(Middleware):
    """
    Sends what fits of each request for a message; every other request passes as it is.

    It runs once for each attempt of the client, whose retries get the same request. Works for ``Anthropic`` and
    ``AsyncAnthropic``, streamed or not.

    Args:
        config: How it collects. Without one: ``gc_budget``, in the window of the model that is asked first.
        directory: The directory of the sessions' files; with one a conversation goes on in another process.
        options: More keyword arguments for each ``GCSession``, such as ``summarizer`` and ``on_event``.

    """

    def __init__(self, config: GCConfig | None = None, *, directory: str | Path | None = None, **options: Any) -> None:
        self._turns = Turns(config, directory, options)

    def handle(self, request: APIRequest, call_next: Any) -> APIResponse[Any]:
        """Send a request. A refusal for its length is answered once, by a collection and a second request."""
        turn, lane = _turn(request), _lane(request)
        if turn is None:
            return call_next(request)  # type: ignore[no-any-return]  # the client's own answer
        response = call_next(_with_body(request, self._turns.fitted(turn, lane)))
        again = second_body(response.http_response, functools.partial(self._turns.recovered, turn, lane))
        if again is not None:
            response = call_next(_with_body(request, again))
        watched(response.http_response, functools.partial(self._turns.report, turn, lane))
        return response  # type: ignore[no-any-return]  # the client's own answer

    async def handle_async(self, request: APIRequest, call_next: Any) -> AsyncAPIResponse[Any]:
        """Send a request; collections run in a thread."""
        turn, lane = _turn(request), _lane(request)
        if turn is None:
            return await call_next(request)  # type: ignore[no-any-return]  # the client's own answer
        body = await asyncio.to_thread(self._turns.fitted, turn, lane)
        response = await call_next(_with_body(request, body))
        again = await second_body_async(response.http_response, functools.partial(self._turns.recovered, turn, lane))
        if again is not None:
            response = await call_next(_with_body(request, again))
        watched(response.http_response, functools.partial(self._turns.report, turn, lane))
        return response  # type: ignore[no-any-return]  # the client's own answer

    def close(self) -> None:
        """Close the sessions; a conversation that goes on opens its own again."""
        self._turns.close()


def _turn(request: APIRequest) -> Turn | None:
    return turn_of(request.url.partition("?")[0], request.json) if request.method.upper() == "POST" else None


def _lane(request: APIRequest) -> str:
    return next((str(value) for name, value in request.headers.items() if name.lower() == LANE), "")


def _with_body(request: APIRequest, body: Mapping[str, Any]) -> APIRequest:
    """Return the request with a body; the name of its lane stays here, and the usage is read beside plain bytes."""
    headers = {name: value for name, value in request.headers.items() if name.lower() != LANE}
    return request.copy(headers={**headers, "accept-encoding": "identity"}, body=body)
