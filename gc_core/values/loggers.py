"""
Where gc-core logs: to the host's structlog once the host has configured it, else to the standard library's logging.

Who listens is looked up again for every event, so that it does not matter when the host configures either of them. Each
event carries the session, turn and collection that it belongs to, by context variables: threads and tasks have their
own.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, Final

import attrs

from gc_core.isolation import isolated

Value = str | int | float | bool | None

_DEBUG, _INFO, _WARNING = "debug", "info", "warning"
_LEVELS: Final = {_DEBUG: logging.DEBUG, _INFO: logging.INFO, _WARNING: logging.WARNING}
_FRAMES: Final = 4
"""Frames between the code that logs an event and the standard library's logger."""


@functools.cache
def _render() -> Callable[[Any, str, dict[str, Any]], Any]:
    """Writes an event as a line. structlog is loaded with the first one: it brings a hundred modules along."""
    import structlog

    return structlog.processors.LogfmtRenderer(key_order=["event"], bool_as_flag=False)


def _configured_structlog() -> Any:
    """Structlog if the host has configured it; a host that has, has imported it."""
    structlog = sys.modules.get("structlog")
    return structlog if structlog is not None and structlog.is_configured() else None


@attrs.frozen(kw_only=True)
class SpanIds:
    """
    In which span of which session something happens, as telemetry knows it.

    Attributes:
        session: The session's id.
        trace: Id of the trace, 32 hex digits.
        span: Id of the span, 16 hex digits.

    """

    session: str
    trace: str
    span: str

    @property
    def pair(self) -> str:
        """Both ids as W3C's trace context writes them, ``trace-span``."""
        return f"{self.trace}-{self.span}"


CURRENT: Final[ContextVar[SpanIds | None]] = ContextVar("gc_core_span", default=None)
"""The span that is open; None where no one watches."""


@attrs.frozen(kw_only=True)
class Scope:
    """
    The session that is at work.

    Attributes:
        session: Its id.
        turn: Its running turn, asked when an event is logged. Branches share an id; no two sessions share this.
        collection: Id of the collection that goes on, or "".

    """

    session: str
    turn: Callable[[], int]
    collection: str = ""


SCOPE: Final[ContextVar[Scope | None]] = ContextVar("gc_core_scope", default=None)
"""The session that is at work in this thread or task; None where none is."""

_NOTHING: Final = contextlib.nullcontext()


class _In:
    """Inside, this scope is the current one."""

    __slots__ = ("_scope", "_token")
    _token: Token[Scope | None]

    def __init__(self, scope: Scope | None) -> None:
        self._scope = scope

    def __enter__(self) -> None:
        self._token = SCOPE.set(self._scope)

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ValueError):  # a task that was given up is cleared away in another context
            SCOPE.reset(self._token)


def bound(scope: Scope | None) -> contextlib.AbstractContextManager[None]:
    """Inside, events belong to this session; a call inside one of the same session stays in its collection."""
    current = SCOPE.get()
    return _NOTHING if current is not None and scope is not None and current.turn is scope.turn else _In(scope)


def bound_collection() -> contextlib.AbstractContextManager[None]:
    """Inside, events belong to a new collection of the session that is at work."""
    import uuid

    scope = SCOPE.get()
    return _NOTHING if scope is None else _In(attrs.evolve(scope, collection=uuid.uuid4().hex[:8]))


@attrs.frozen
class Log:
    """
    Logs events under one name. A key is a plain word with its unit, a value a number, a name or a short text; an empty
    one is left out.

    Nothing that a host's processors raise reaches the session: the standard library's logging is told of it.
    """

    name: str
    _logging: logging.Logger = attrs.field(init=False, repr=False, eq=False)

    @_logging.default
    def _by_name(self) -> logging.Logger:
        return logging.getLogger(self.name)

    @property
    def hears_debug(self) -> bool:
        """Whether anybody may listen to events at DEBUG: where not, nothing need be computed for them."""
        structlog = _configured_structlog()
        if structlog is None:
            return self._logging.isEnabledFor(logging.DEBUG)
        passes = getattr(structlog.get_config()["wrapper_class"], "is_enabled_for", None)
        if passes is None:
            return True
        # A class of make_filtering_bound_logger knows its level without an instance (structlog 25.1); others may not.
        with isolated() as attempt:
            return bool(passes(None, logging.DEBUG))
        return attempt.error is not None

    def debug(self, event: str, **fields: Value) -> None:
        """What is of use while one looks for a reason."""
        self._tell(_DEBUG, event, fields)

    def info(self, event: str, **fields: Value) -> None:
        """What was decided and done."""
        self._tell(_INFO, event, fields)

    def warning(self, event: str, **fields: Value) -> None:
        """What failed, was refused, or needs somebody's attention."""
        self._tell(_WARNING, event, fields)

    def _tell(self, level: str, event: str, fields: dict[str, Value]) -> None:
        if level == _DEBUG and not self.hears_debug:
            return
        fields = {key: value for key, value in fields.items() if value != ""}
        structlog = _configured_structlog()
        if structlog is None:
            self._by_logging(level, event, fields)
            return
        with isolated() as attempt:
            self._by_structlog(structlog, level, event, fields)
        if attempt.error is not None:
            self._by_logging(_WARNING, "event not logged", {"lost": event, "error": repr(attempt.error)})

    def _by_structlog(self, structlog: Any, level: str, event: str, fields: dict[str, Value]) -> None:
        log: Any = structlog.get_logger(self.name).bind(logger=self.name)
        if isinstance(log, structlog.stdlib.AsyncBoundLogger):
            log = log.sync_bl  # no one here could await it
        getattr(log, level)(event, **{**fields, **_context()})

    def _by_logging(self, level: str, event: str, fields: dict[str, Value]) -> None:
        number = _LEVELS[level]
        if not self._logging.isEnabledFor(number):
            return
        told = {"event": event, **fields, **_context()}
        # Under a prefix: logging refuses what a record, or a host's own record factory, has already.
        extra = {key if key.startswith("gc_") else f"gc_{key}": value for key, value in told.items()}
        text = _render()(self._logging, level, dict(told))
        self._logging.log(number, text, extra=extra, stacklevel=_FRAMES)


def _context() -> dict[str, Value]:
    """To what an event belongs."""
    scope, ids, context = SCOPE.get(), CURRENT.get(), dict[str, Value]()
    if scope is not None:
        context.update(gc_session=scope.session, gc_turn=scope.turn())
        if scope.collection:
            context["gc_collection"] = scope.collection
    if ids is not None:
        context.update(trace_id=ids.trace, span_id=ids.span)
    return context


def logger(name: str) -> Log:
    """Return a logger by name, below ``gc_core``."""
    return Log(name)
