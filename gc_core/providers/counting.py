"""The endpoints of vendors' clients that count the tokens of a whole request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from gc_core.values.messages import Request


def whole_request(client: Any, request: Request, model: str | None) -> dict[str, Any]:  # noqa: ARG001 - of any client
    """Return the arguments of a call to the model, which the endpoint accepts too."""
    return {"model": model, **request.kwargs()}


@attrs.frozen(kw_only=True)
class CountingEndpoint:
    """
    An endpoint that counts tokens.

    Attributes:
        name: The name that reports use.
        client: The client that has it, for error messages.
        path: The path to its method, from the client.
        async_path: The path to the async client, from the client; "" if the same client, or another one, is async.
        arguments: Returns its arguments, given the client, the request and the model.
        count: The attribute of its answer with the count.

    """

    name: str
    client: str
    path: str
    async_path: str = ""
    arguments: Callable[[Any, Request, str | None], dict[str, Any]] = whole_request
    count: str = "input_tokens"

    def is_at(self, client: object) -> bool:
        """Return whether this client has it."""
        return callable(_reached(client, self.path))

    def method(self, client: object, *, prefer_async: bool) -> Callable[..., Any]:
        """Return its method; in an event loop the async one, if the client has both."""
        owner = _reached(client, self.async_path) if prefer_async and self.async_path else client
        return _reached(owner, self.path)  # type: ignore[no-any-return]  # the vendor's own


def _reached(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = getattr(value, name, None)
    return value
