"""
Where gc-core logs: to the host's structlog if the host has configured it, otherwise to the standard library's logging.

The destination is looked up for every event, so it does not matter when the host configures either. Each event carries
its session, turn and collection, by context variables: threads and tasks have their own. Where the host has configured
structlog they stand in its context variables too while a call runs, for the events of plugins and listeners.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar, Token
from types import MappingProxyType
from typing import Any, Final

import attrs

from gc_core.isolation import isolated, told

Value = str | int | float | bool | None

_DEBUG, _INFO, _WARNING = "debug", "info", "warning"
_LEVELS: Final = {_DEBUG: logging.DEBUG, _INFO: logging.INFO, _WARNING: logging.WARNING}
_FRAMES: Final = 4
"""Stack frames between the code that logs an event and the standard library's logger."""


@functools.cache
def _render() -> Callable[[Any, str, dict[str, Any]], Any]:
    """Render an event as a line. structlog is imported with the first one: it brings a hundred modules along."""
    import structlog

    return structlog.processors.LogfmtRenderer(key_order=["event"], bool_as_flag=False)


def _configured_structlog() -> Any:
    """Return structlog if the host has configured it; then it is already imported."""
    structlog = sys.modules.get("structlog")
    return structlog if structlog is not None and structlog.is_configured() else None


@attrs.frozen(kw_only=True)
class SpanIds:
    """
    The telemetry span in which something happens.

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
        """Both ids in the form of W3C's trace context, ``trace-span``."""
        return f"{self.trace}-{self.span}"


CURRENT: Final[ContextVar[SpanIds | None]] = ContextVar("gc_core_span", default=None)
"""The open span; None without telemetry."""


@attrs.frozen(kw_only=True)
class Scope:
    """
    The session that is running.

    Attributes:
        session: Its id.
        turn: Returns its running turn; called when an event is logged. Branches share an id, but not this.
        collection: Id of the running collection, or "".

    """

    session: str
    turn: Callable[[], int]
    collection: str = ""


SCOPE: Final[ContextVar[Scope | None]] = ContextVar("gc_core_scope", default=None)
"""The session that is running in this thread or task, or None."""

_FIELDS: Final[ContextVar[Mapping[str, Value]]] = ContextVar("gc_core_fields", default=MappingProxyType({}))
"""What else is bound to the events of this thread or task."""

_IS_SHARED: Final[ContextVar[bool]] = ContextVar("gc_core_shared", default=False)
"""Whether the running session stands in structlog's context variables."""

_NOTHING: Final = contextlib.nullcontext()


class _In:
    """Makes a scope the current one, also in the context variables of a configured structlog."""

    __slots__ = ("_scope", "_shared", "_token")
    _token: Token[Scope | None]

    def __init__(self, scope: Scope | None) -> None:
        self._scope = scope
        self._shared: Iterable[Token[Any]] = ()

    def __enter__(self) -> None:
        # Every call of a session comes here: without structlog it costs this look-up.
        if "structlog" in sys.modules and (structlog := _configured_structlog()) is not None:
            inside = _shared(structlog, _told(self._scope), _told(SCOPE.get()))
            self._shared = (_IS_SHARED.set(True), *inside)
        self._token = SCOPE.set(self._scope)

    def __exit__(self, *_: object) -> None:
        if self._shared:
            _reset(self._shared)
        with contextlib.suppress(ValueError):  # an abandoned task is cleaned up in another context
            SCOPE.reset(self._token)


def _shared(structlog: Any, fields: Mapping[str, Value], outer: Iterable[str] = ()) -> Iterable[Token[Any]]:
    """Bind fields in structlog's context, and hide those that only an outer scope has; return what resets both."""
    hidden = [key for key in outer if key not in fields]
    tokens: Mapping[str, Token[Any]] = structlog.contextvars.bind_contextvars(**dict.fromkeys(hidden), **fields)
    structlog.contextvars.unbind_contextvars(*hidden)
    return tokens.values()


def _reset(tokens: Iterable[Token[Any]]) -> None:
    """Leave context variables as they were, whatever has been bound since."""
    with contextlib.suppress(ValueError):  # as above
        for token in tokens:
            token.var.reset(token)


def note_turn() -> None:
    """Note in structlog's context that the running session may be in another turn."""
    scope = SCOPE.get()
    if scope is not None and _IS_SHARED.get():
        sys.modules["structlog"].contextvars.bind_contextvars(gc_turn=scope.turn())


@contextlib.contextmanager
def bound_fields(**fields: Value) -> Iterator[None]:
    """Bind fields to every event inside, and in the context variables of a configured structlog."""
    structlog = _configured_structlog()
    tokens: list[Token[Any]] = [_FIELDS.set({**_FIELDS.get(), **fields})]
    tokens += () if structlog is None else _shared(structlog, fields)
    try:
        yield
    finally:
        _reset(tokens)


def bound(scope: Scope | None) -> contextlib.AbstractContextManager[None]:
    """Make events belong to this session; nested calls of the same session stay in its collection."""
    current = SCOPE.get()
    return _NOTHING if current is not None and scope is not None and current.turn is scope.turn else _In(scope)


def bound_collection() -> contextlib.AbstractContextManager[None]:
    """Make events belong to a new collection of the running session."""
    import uuid

    scope = SCOPE.get()
    return _NOTHING if scope is None else _In(attrs.evolve(scope, collection=uuid.uuid4().hex[:8]))


def running_collection() -> str:
    """Return the id of the running collection, or ""."""
    scope = SCOPE.get()
    return "" if scope is None else scope.collection


@attrs.frozen
class Log:
    """
    Logs events under one name. A key is a plain word with its unit, a value a number, a name or a short text; empty
    ones are left out.

    Errors of a host's processors never reach the session: they are reported to the standard library's logging.
    """

    name: str
    _logging: logging.Logger = attrs.field(init=False, repr=False, eq=False)

    @_logging.default
    def _by_name(self) -> logging.Logger:
        return logging.getLogger(self.name)

    @property
    def hears_debug(self) -> bool:
        """True if DEBUG events may have a listener: otherwise nothing need be computed for them."""
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
        """Log details that help to find a cause."""
        self._emit(_DEBUG, event, fields)

    def info(self, event: str, **fields: Value) -> None:
        """Log a decision or an action."""
        self._emit(_INFO, event, fields)

    def warning(self, event: str, *, exc_info: BaseException | None = None, **fields: Value) -> None:
        """Log a failure, a refusal, or a state that needs attention, with the traceback of an error."""
        self._emit(_WARNING, event, fields, exc_info)

    def _emit(self, level: str, event: str, fields: dict[str, Value], error: BaseException | None = None) -> None:
        if level == _DEBUG and not self.hears_debug:
            return
        fields = {key: value for key, value in fields.items() if value != ""}
        structlog = _configured_structlog()
        if structlog is None:
            self._by_logging(level, event, fields, error)
            return
        with isolated() as attempt:
            self._by_structlog(structlog, level, event, fields, error)
        if attempt.error is not None:
            self._by_logging(_WARNING, "event not logged", {"lost": event, "error": told(attempt.error)})

    def _by_structlog(
        self, structlog: Any, level: str, event: str, fields: dict[str, Value], error: BaseException | None
    ) -> None:
        log: Any = structlog.get_logger(self.name).bind(logger=self.name)
        if isinstance(log, structlog.stdlib.AsyncBoundLogger):
            log = log.sync_bl  # it cannot be awaited here
        traceback = {} if error is None else {"exc_info": error}
        getattr(log, level)(event, **{**fields, **_context(), **traceback})

    def _by_logging(self, level: str, event: str, fields: dict[str, Value], error: BaseException | None = None) -> None:
        number = _LEVELS[level]
        if not self._logging.isEnabledFor(number):
            return
        record = {"event": event, **fields, **_context()}
        # Under a prefix: logging refuses names that a record, or a host's record factory, already has.
        extra = {key if key.startswith("gc_") else f"gc_{key}": value for key, value in record.items()}
        text = _render()(self._logging, level, dict(record))
        self._logging.log(number, text, exc_info=error, extra=extra, stacklevel=_FRAMES)


def _context() -> dict[str, Value]:
    """Return what is bound to an event: its session, turn and collection, its span, and what else the host says."""
    ids, context = CURRENT.get(), {**_FIELDS.get(), **_told(SCOPE.get())}
    if ids is not None:
        context.update(trace_id=ids.trace, span_id=ids.span)
    return context


def _told(scope: Scope | None) -> dict[str, Value]:
    if scope is None:
        return {}
    told: dict[str, Value] = {"gc_session": scope.session, "gc_turn": scope.turn()}
    return {**told, "gc_collection": scope.collection} if scope.collection else told


def logger(name: str) -> Log:
    """Return a logger by name, below ``gc_core``."""
    return Log(name)
