"""
Exact counts of whole requests: the vendors' counting endpoints, or a host's function.

Items are counted offline (``gc_core.providers.token_counting``); an endpoint can count a request as a whole. A session
asks when the answer may decide something, and corrects its own counts with it: see ``request_counter`` of
``GCSession``. No vendor's package is imported: a client is recognised by its counting method.
"""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

import attrs

from gc_core.errors import ConfigError, PluginError
from gc_core.providers import PROVIDERS
from gc_core.providers.counting import CountingEndpoint
from gc_core.values.messages import MOST_TOKENS, Request, digest_of, without_marks

REMEMBERED: Final = 256
"""The most counts that a counter caches, the latest used."""

SECONDS: Final = 5.0
"""
Seconds that a session waits for one count. Endpoints answer in a fraction of one; without an answer the next call uses
the session's own counts.
"""


class CountsRequests(Protocol):
    """A host's own function: tokens of a request for a model (None: the session has none); sync or async."""

    def __call__(self, request: Request, model: str | None) -> int | Awaitable[int]:
        """Return all its input tokens."""


@attrs.frozen(kw_only=True)
class CountQuestion:
    """
    A request to count.

    Attributes:
        request: The request as it would be sent, without cache marks.
        model: The model, or None.

    """

    request: Request
    model: str | None

    @property
    def digest(self) -> bytes:
        """The cache key: equal for requests that count the same; cache keys and marks count nothing."""
        request = self.request
        payloads = [[*map(without_marks, each)] for each in (request.system, request.tools, request.messages)]
        options = {key: value for key, value in request.options.items() if key.startswith("extra_")}
        return digest_of([self.model, request.format, payloads, options])


class _Endpoint(Protocol):
    """The counting method of one vendor's client."""

    @property
    def name(self) -> str:
        """The name that reports use."""

    @property
    def format(self) -> str:
        """The format of its requests; "" for any."""

    def method(self, *, prefer_async: bool) -> Callable[..., Any]:
        """Return the method; in an event loop the awaitable one, if the client has both."""

    def arguments(self, question: CountQuestion) -> dict[str, Any]:
        """Return its arguments."""

    def tokens(self, answer: Any) -> object:
        """Return the count in its answer."""


@attrs.frozen
class _Vendor:
    client: Any
    endpoint: CountingEndpoint
    format: str

    @property
    def name(self) -> str:
        return self.endpoint.name

    def method(self, *, prefer_async: bool) -> Callable[..., Any]:
        return self.endpoint.method(self.client, prefer_async=prefer_async)

    def arguments(self, question: CountQuestion) -> dict[str, Any]:
        return self.endpoint.arguments(self.client, question.request, question.model)

    def tokens(self, answer: Any) -> object:
        return getattr(answer, self.endpoint.count)


@attrs.frozen
class _Function:
    function: Any
    format = ""

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def method(self, *, prefer_async: bool) -> Callable[..., Any]:  # noqa: ARG002 - it is of one kind
        return self.function  # type: ignore[no-any-return]  # the host's own

    def arguments(self, question: CountQuestion) -> dict[str, Any]:
        return {"request": question.request, "model": question.model}

    def tokens(self, answer: Any) -> object:
        return answer


class RequestCounter:
    """
    Counts whole requests with a vendor's endpoint, and caches the counts.

    ``GCSession(request_counter=...)`` wraps a client in one; create it yourself to share it, with its cache, between
    sessions. Any number of threads may use it.

    Args:
        source: A vendor's client that counts requests of the session's format (``Provider.counting``), sync or async;
            or a function ``(request, model) -> int`` for any format, sync or async.

    Raises:
        ConfigError: It is not one of these.

    """

    def __init__(self, source: object) -> None:
        self._endpoint = _endpoint_of(source)
        self._known: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name that reports use."""
        return self._endpoint.name

    @property
    def is_async(self) -> bool:
        """True if it can only be awaited."""
        return _is_async(self._endpoint.method(prefer_async=False))

    def check(self, format: str, model: str | None) -> None:  # noqa: A002 - the session's own word
        """Raise ConfigError when it cannot count requests of this format for this model."""
        wanted = self._endpoint.format
        if wanted and wanted != format:
            raise ConfigError(
                f"request_counter: {self.name} counts requests of the format {wanted!r}, and the session's is"
                f" {format!r}; expected a function of request and model"
            )
        if wanted and model is None:
            raise ConfigError(f"request_counter: {self.name} needs the model; pass model= to the session")

    def known(self, question: CountQuestion) -> int | None:
        """Return a cached count, or None."""
        key = question.digest
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def count(self, question: CountQuestion) -> int:
        """
        Ask the endpoint. Raises the client's errors, and PluginError for an answer that is not a
        number of tokens.
        """
        return self._counted(question, self._endpoint.method(prefer_async=False)(**self._endpoint.arguments(question)))

    def awaitable(self) -> bool:
        """Return whether it can be awaited in an event loop."""
        return _is_async(self._endpoint.method(prefer_async=True))

    async def count_async(self, question: CountQuestion) -> int:
        """Return the same, awaited."""
        return self._counted(
            question, await self._endpoint.method(prefer_async=True)(**self._endpoint.arguments(question))
        )

    def _counted(self, question: CountQuestion, answer: object) -> int:
        tokens = self._endpoint.tokens(answer)
        if type(tokens) is not int or not 0 < tokens < MOST_TOKENS:
            raise PluginError(f"{self.name} answered {tokens!r:.100}; expected a number of tokens above 0")
        key = question.digest
        with self._lock:
            self._known[key] = tokens
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return tokens


def request_counter_of(given: object) -> RequestCounter | None:
    """
    Return the counter that a host gave, or one for the client that it gave; None for nothing. Raises ConfigError for
    anything that cannot count.
    """
    return given if given is None or isinstance(given, RequestCounter) else RequestCounter(given)


def _endpoint_of(source: object) -> _Endpoint:
    endpoints = [(name, each.counting) for name, each in PROVIDERS.items() if each.counting is not None]
    for name, endpoint in endpoints:
        if endpoint.is_at(source):
            return _Vendor(source, endpoint, name)
    if callable(source) and not isinstance(source, type):
        return _Function(source)
    clients = ", ".join(endpoint.client for _, endpoint in endpoints)
    raise ConfigError(
        f"request_counter = {source!r:.200}: expected a client of {clients}, or a function of request and model"
    )


def _is_async(method: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(method) or inspect.iscoroutinefunction(getattr(method, "__call__", None))  # noqa: B004 - of an object
