"""Loggers: structlog in front, the standard library's logging behind, so that the application decides what is shown."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any, Final, cast

import attrs
import structlog


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
"""The span that is open; None where nobody watches."""


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger that is silent below WARNING unless the application configures ``logging`` otherwise."""
    wrapped = structlog.wrap_logger(
        logging.getLogger(name),
        processors=[
            structlog.stdlib.filter_by_level,
            _with_ids,
            structlog.processors.LogfmtRenderer(key_order=["event"]),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return cast("structlog.stdlib.BoundLogger", wrapped)


def _with_ids(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    ids = CURRENT.get()
    if ids is not None:
        event.update(session_id=ids.session, trace_id=ids.trace, span_id=ids.span)
    return event
