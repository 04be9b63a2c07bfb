"""Spans: the current one, and the model call that starts in one call of the session and ends in another."""

from __future__ import annotations

import time
from contextvars import ContextVar

import attrs
from opentelemetry import context, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from gc_core.integrations.telemetry.genai import CONVERSATION, ERROR, Attributes, Callee, of_usage
from gc_core.integrations.telemetry.meters import Meters
from gc_core.values.loggers import CURRENT, SpanIds
from gc_core.values.messages import Usage
from gc_core.values.removals import action_of
from gc_core.values.results import GCResult, Goal

_NANOSECONDS = 1_000_000_000


class OpenSpan:
    """A session's span, current for OpenTelemetry, ledger and log until it is left where it was entered."""

    def __init__(self, span: Span, session: str) -> None:
        self.span = span
        ids = span.get_span_context()
        known = SpanIds(
            session=session, trace=trace.format_trace_id(ids.trace_id), span=trace.format_span_id(ids.span_id)
        )
        self._attached = context.attach(trace.set_span_in_context(span))
        self._token = CURRENT.set(known if ids.is_valid else None)

    def leave(self, error: BaseException | None = None) -> None:
        """End it; only the type of an error is reported, because its text may contain anything."""
        try:
            context.detach(self._attached)
            CURRENT.reset(self._token)  # raises if an abandoned task is cleaned up in another context
        finally:
            if error is not None:
                failed(self.span, type(error).__name__)
            self.span.end()


@attrs.define(kw_only=True, eq=False)
class OpenCollection:
    """
    A running collection.

    Attributes:
        current: Its span.
        kinds: The kinds of the resident items, by id: those that leave cannot be asked later.

    """

    current: OpenSpan
    kinds: dict[str, str]


@attrs.define(kw_only=True, eq=False)
class OpenCall:
    """
    A running public call of the session.

    Attributes:
        of: The session.
        name: The name of the call.
        current: Its span; None for a call that writes nothing.
        outer: The call that it was made in.
        collection: The collection that runs in it.

    """

    of: object
    name: str
    current: OpenSpan | None
    outer: OpenCall | None
    collection: OpenCollection | None = None


CALL: ContextVar[OpenCall | None] = ContextVar("gc_core_call", default=None)
"""The innermost running call: tasks and threads have their own."""


def call_of(owner: object) -> OpenCall | None:
    """Return the innermost running call of a session, or None."""
    found = CALL.get()
    while found is not None and found.of is not owner:
        found = found.outer
    return found


@attrs.define(kw_only=True, eq=False)
class ModelCall:
    """
    The call of the model, from handing out its request until the host returns.

    Attributes:
        span: Its span.
        callee: The model that is called.
        meters: The instruments.

    """

    span: Span
    callee: Callee
    meters: Meters
    _began: int = attrs.field(factory=time.time_ns)
    _ended: int = 0

    @classmethod
    def begin(cls, tracer: Tracer, meters: Meters, callee: Callee, session: str, tokens: int) -> ModelCall:
        """
        Start the span of a request with this many tokens, by the session's own count; the host's
        span is its parent.
        """
        attributes: Attributes = {**callee.attributes, CONVERSATION: session, "gc.request.tokens": tokens}
        span = tracer.start_span(callee.span_name, kind=SpanKind.CLIENT, attributes=attributes)
        return cls(span=span, callee=callee, meters=meters)

    def came_back(self) -> None:
        """Note that the host has returned; the usage is reported later."""
        self._ended = self._ended or time.time_ns()

    def used(self, usage: Usage) -> None:
        """Note the usage that the provider reported."""
        self.span.set_attributes(of_usage(usage))
        self.meters.used(self.callee, usage.input_tokens, usage.output_tokens)

    def end(self, error: str = "") -> None:
        """End the span; ``error`` is the type of the error that ended the call."""
        self.came_back()
        more: Attributes = {ERROR: error} if error else {}
        self.meters.answered(self.callee, max(0, self._ended - self._began) / _NANOSECONDS, more)
        if error:
            failed(self.span, error)
        self.span.end(end_time=self._ended)


@attrs.define(eq=False)
class Spent:
    """Receives the usage of a summarizer's calls for its span; any thread."""

    span: Span
    callee: Callee
    meters: Meters
    _input: int = 0
    _output: int = 0

    def add_usage(self, input_tokens: int, output_tokens: int) -> None:
        """Add the usage of one call."""
        self._input += input_tokens
        self._output += output_tokens
        self.span.set_attributes(of_usage(Usage(input_tokens=self._input, output_tokens=self._output)))
        self.meters.used(self.callee, input_tokens, output_tokens)


def failed(span: Span, error: str) -> None:
    """Note that it ended with an error of that name."""
    span.set_attribute(ERROR, error)
    span.set_status(Status(StatusCode.ERROR))


def of_goal(goal: Goal) -> Attributes:
    """Return the attributes of a collection's span at its start."""
    return {"gc.reason": goal.reason.value, "gc.tokens.target": goal.target_tokens, "gc.pressure": goal.pressure}


def of_result(result: GCResult) -> Attributes:
    """Return the attributes for its result."""
    phases: dict[str, int] = {}
    for removal in result.removals:
        phase = f"gc.removals.{removal.phase or action_of(removal)}"
        phases[phase] = phases.get(phase, 0) + 1
    return {
        "gc.tokens.before": result.tokens_before,
        "gc.tokens.after": result.tokens_after,
        "gc.tokens.freed": result.tokens_freed,
        "gc.tokens.shortfall": result.shortfall,
        "gc.strategies": tuple(dict.fromkeys(removal.strategy for removal in result.removals if removal.strategy)),
        "gc.removals": len(result.removals),
        "gc.refusals": len(result.refusals),
        "gc.summaries": len(result.summaries),
        "gc.seconds": result.seconds,
        **phases,
    }
