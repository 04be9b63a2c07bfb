"""``instrument``: turns what a session does into spans and metrics."""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from typing import Final, Self

import attrs
from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import SpanKind, Tracer, TracerProvider

from gc_core.errors import ConfigError
from gc_core.events import CollectionDeferred, CollectionFailed, CollectionFinished, CollectionStarted, Event
from gc_core.integrations.telemetry.gauges import Gauges, gauges_of
from gc_core.integrations.telemetry.genai import CONVERSATION, MAX_TOKENS, Attributes, Callee
from gc_core.integrations.telemetry.meters import Meters
from gc_core.integrations.telemetry.snapshot import Reading
from gc_core.integrations.telemetry.spans import (
    CALL,
    ModelCall,
    OpenCall,
    OpenCollection,
    OpenSpan,
    Spent,
    call_of,
    of_goal,
    of_result,
)
from gc_core.observer import UNWATCHED, Watch
from gc_core.session.facade import SessionFacade
from gc_core.storage.ledger import Booked, Collected, Observed
from gc_core.storage.usage_ledger import SUMMARIES
from gc_core.values.messages import Usage
from gc_core.values.results import GCResult, Goal
from gc_core.values.summary import SummaryRequest

NAME: Final = "gc_core"
"""The name of the tracer and the meter."""

_READS: Final = frozenset(
    {
        "cache",
        "debt",
        "explain",
        "history",
        "items",
        "on_stream",
        "plan",
        "profile",
        "recall",
        "search",
        "snapshot",
        "view",
    }
)
"""Calls that write nothing, and have no span."""

_RECALL: Final = "recall"
_SENDS: Final = frozenset({"pre_send", "recover"})

_LOCK_SECONDS: Final = 0.1
"""How long a reader of metrics waits for a busy session; after that it gets the last snapshot."""


def instrument(
    session: SessionFacade,
    *,
    meter_provider: MeterProvider | None = None,
    tracer_provider: TracerProvider | None = None,
) -> Instrumentation:
    """
    Report what a ``GCSession`` or ``AsyncGCSession`` does to OpenTelemetry, from now until ``stop`` or the session's
    end.

    Without providers those that the process has set are used. Errors of exporters and processors are kept in
    ``session.plugins.failures``, and the session continues. No text of the conversation is reported: only names, ids
    and numbers.

    Raises ConfigError when the session is already instrumented or is not a session, and SessionClosedError when it is
    closed.
    """
    if not isinstance(session, SessionFacade):
        raise ConfigError(f"session = {session!r:.200}: expected a GCSession or an AsyncGCSession")
    port = session.port
    with port.entered("instrument"):
        if port.observer is not UNWATCHED:
            raise ConfigError(f"session {port.id} is already instrumented; stop() that one first")
        meters = meter_provider or metrics.get_meter_provider()
        version = importlib.metadata.version("gc-core")
        meter = meters.get_meter(NAME, version)
        instrumentation = Instrumentation(
            session=session,
            tracer=trace.get_tracer(NAME, version, tracer_provider),
            meters=Meters(meter),
            gauges=gauges_of(meters, meter),
        )
        port.observe(instrumentation)
    return instrumentation


class Instrumentation(Watch):
    """
    Observes one session; created by ``instrument``. As a context manager it stops at the end.

    Its errors are kept in the session's ``plugins.failures``.
    """

    def __init__(self, *, session: SessionFacade, tracer: Tracer, meters: Meters, gauges: Gauges) -> None:
        self._session = session
        self._port = session.port
        self._tracer = tracer
        self._meters = meters
        self._gauges = gauges
        self._model_call: ModelCall | None = None
        self._last: Reading | None = None
        gauges.watch(self)

    def stop(self) -> None:
        """Stop observing; a running model call ends here. May be called again."""
        if self._port.is_inherited:  # its lock may be held forever here
            return
        with self._port.lock:
            if self._port.observer is self:
                self._port.observe(UNWATCHED)
            self._gauges.forget(self)
            self._model_call_ends()

    def __enter__(self) -> Self:
        """Return the instrumentation itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop observing."""
        self.stop()

    def reading(self) -> Reading | None:
        """Return the current snapshot, or the last one if the session is busy; None before and at its end."""
        if not self._port.lock.acquire(timeout=_LOCK_SECONDS):
            return self._last
        try:
            if self._port.is_closed:
                return None
            with self._safely("a reading"):
                self._last = Reading.of(self._session)
        finally:
            self._port.lock.release()
        return self._last

    # -- calls ---------------------------------------------------------------------------------------------------

    def call(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Open a span around a call that writes; a nested call of the same name is the same call."""
        outer = call_of(self)
        again = outer is not None and outer.name == name
        if again or (name in _READS and name != _RECALL):
            return super().call(name)
        return self._counted() if name == _RECALL else self._spanned(name)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        outer = CALL.get()
        CALL.set(OpenCall(of=self, name=_RECALL, current=None, outer=outer))
        try:
            yield
        finally:
            CALL.set(outer)
        with self._safely(_RECALL):
            self._meters.recalled(_RECALL)

    @contextlib.contextmanager
    def _spanned(self, name: str) -> Iterator[None]:
        error, entered = None, self._call_begins(name)
        try:
            yield
        except BaseException as caught:  # including an interrupt, which is raised again
            error = caught
            raise
        finally:
            self._call_ends(name, entered, error)

    def _call_begins(self, name: str) -> OpenCall | None:
        if name in _SENDS:
            self._model_call_ends("context_length_exceeded" if name == "recover" else "")
        elif name == "post_turn" and self._model_call is not None:
            self._model_call.came_back()
        entered = None
        with self._safely(name):
            entered = OpenCall(of=self, name=name, current=self._opened(f"gc.{name.strip('_')}"), outer=CALL.get())
            CALL.set(entered)
        return entered

    def _call_ends(self, name: str, entered: OpenCall | None, error: BaseException | None) -> None:
        if entered is not None:
            CALL.set(entered.outer)
            self._collection_ends(entered)
        if entered is not None and entered.current is not None:
            with self._safely(name):
                entered.current.leave(error)
        if name == "post_turn":
            self._model_call_ends()
        elif name == "close" and self._port.is_closed:
            self.stop()
        elif error is None and name in _SENDS:
            self._model_call_begins()
        elif error is None and name == "restore":
            with self._safely(name):
                self._meters.recalled(name)

    def _opened(self, name: str, attributes: Attributes | None = None, *, calls_model: bool = False) -> OpenSpan:
        of: Attributes = {CONVERSATION: self._port.id}
        kind = SpanKind.CLIENT if calls_model else SpanKind.INTERNAL
        span = self._tracer.start_span(name, kind=kind, attributes={**of, **(attributes or {})})
        return OpenSpan(span, self._port.id)

    # -- calls of the model --------------------------------------------------------------------------------------

    @property
    def _callee(self) -> Callee:
        return Callee(format=self._session.format, model=self._port.model)

    def _model_call_begins(self) -> None:
        with self._safely("a call of the model"):
            port = self._port
            self._model_call = ModelCall.begin(self._tracer, self._meters, self._callee, port.id, port.tokens_sent)

    def _model_call_ends(self, error: str = "") -> None:
        call, self._model_call = self._model_call, None
        if call is not None:
            with self._safely("a call of the model"):
                call.end(error)

    @contextlib.contextmanager
    def asking(self, by: str, model: str | None, request: SummaryRequest) -> Iterator[SummaryRequest]:
        """Open a span around one question to a summarizer."""
        asked, error = None, None
        with self._safely("a summary"):
            asked, request = self._asked(by, model, request)
        try:
            yield request
        except BaseException as caught:  # including an interrupt, which is raised again
            error = caught
            raise
        finally:
            if asked is not None:
                with self._safely("a summary"):
                    asked.leave(error)

    def _asked(self, by: str, model: str | None, request: SummaryRequest) -> tuple[OpenSpan, SummaryRequest]:
        callee = Callee(format=self._session.format, model=model)
        attributes: Attributes = {
            "gc.summary.by": by,
            "gc.summary.form": request.form.value,
            "gc.summary.items": len(request.items),
            "gc.summary.tokens.before": sum(item.original_tokens for item in request.items),
            "gc.summary.attempt": 2 if request.complaints else 1,
            MAX_TOKENS: request.max_tokens,
        }
        if model is None:
            asked = self._opened("gc.summary", attributes)
        else:
            asked = self._opened(callee.span_name, {**attributes, **callee.attributes}, calls_model=True)
        spent = Spent(asked.span, callee, self._meters)

        def spend(input_tokens: int, output_tokens: int) -> None:
            with self._safely("a summary"):
                spent.add_usage(input_tokens, output_tokens)

        return asked, attrs.evolve(request, spent=spend)

    # -- events -------------------------------------------------------------------------------------------

    def on_event(self, event: Event) -> None:
        """Report collections from their events."""
        entered = call_of(self)
        match event:
            case CollectionStarted(goal=goal) if entered is not None:
                self._collection_begins(entered, goal)
            case CollectionFinished(result=result):
                kinds = self._collection_ends(entered, "done", result)
                with self._safely("a collection"):
                    self._meters.collected(result, kinds)
                    self._meters.scored(self._session.view())
            case CollectionDeferred(result=result):
                self._collection_ends(entered, "deferred", result)
                with self._safely("a collection"):
                    self._meters.deferred(result)
            case CollectionFailed(goal=goal, error=error):
                self._collection_ends(entered, "failed", error=error)
                with self._safely("a collection"):
                    self._meters.failed(goal.reason)
            case _:
                pass

    def _collection_begins(self, entered: OpenCall, goal: Goal) -> None:
        self._collection_ends(entered)
        with self._safely("a collection"):
            kinds = {item.id: item.kind.value for item in self._session.items()}
            entered.collection = OpenCollection(current=self._opened("gc.collect", of_goal(goal)), kinds=kinds)

    def _collection_ends(
        self,
        entered: OpenCall | None,
        outcome: str = "given_up",
        result: GCResult | None = None,
        error: BaseException | None = None,
    ) -> Mapping[str, str]:
        """End the span of the running collection; return the kinds of the items before it."""
        if entered is None or entered.collection is None:
            return {}
        collection, entered.collection = entered.collection, None
        with self._safely("a collection"):
            attributes = {} if result is None else of_result(result)
            collection.current.span.set_attributes({"gc.outcome": outcome, **attributes})
            collection.current.leave(error)
        return collection.kinds

    def on_record(self, record: object) -> None:
        """Report calls and restored items from the ledger's records."""
        match record:
            case Observed(usage=Usage() as usage):
                with self._safely("usage"):
                    self._observed(usage)
            case Booked(source=source, estimated=False) if (
                source != SUMMARIES
            ):  # those were reported when they were asked
                with self._safely("usage"):
                    callee = Callee(format=self._session.format, model=record.model)
                    self._meters.used(callee, record.usage.input_tokens, record.usage.output_tokens)
            case Collected(recalled=recalled) if recalled:
                with self._safely("recalls"):
                    self._meters.recalled("promotion", len(recalled))
            case _:
                pass

    def _observed(self, usage: Usage) -> None:
        self._meters.read(usage)
        if self._model_call is not None:
            self._model_call.used(usage)
        else:
            self._meters.used(self._callee, usage.input_tokens, usage.output_tokens)

    def _safely(self, doing: str) -> contextlib.AbstractContextManager[object]:
        """Isolate exporters and processors: their errors are recorded, and go no further."""
        return self._session.plugins.guarded("telemetry", doing)
