"""Renders requests with their breakpoints and options, and learns from the reports on them."""

from __future__ import annotations

from typing import TypeAlias

import attrs

from gc_core.cache.breakpoints import Marks
from gc_core.collector.request_counts import CountQuestion
from gc_core.collector.summarizing import Steps
from gc_core.events import RateExceeded, ThresholdCrossed
from gc_core.providers import provider_named
from gc_core.session.provider_state import ProviderState
from gc_core.session.runtime import Runtime
from gc_core.session.window_meter import WindowMeter
from gc_core.storage.ledger import Observed
from gc_core.storage.state import Position
from gc_core.storage.usage_ledger import CallWatch
from gc_core.values.messages import Request, Usage
from gc_core.window.memory_blocks import Block

_Standing: TypeAlias = tuple[Position, int, tuple[Block, ...]]


class RequestRenderer:
    """
    Renders requests, and learns from the usage that providers report.

    Attributes:
        counted: Own and vendor's tokens of the request that was last counted from outside.
        marks: Whether requests get cache breakpoints and a cache key; a caller that passes its list sets its own.

    """

    def __init__(self, runtime: Runtime, meter: WindowMeter, provider: ProviderState, calls: CallWatch) -> None:
        self._runtime = runtime
        self._meter = meter
        self._provider = provider
        self._calls = calls
        self._settled: _Standing | None = None
        """
        The length of the files when the last request was rendered, the tokens leased then, and the blocks that the
        collection before it brought back: they are in the request after the next reply.
        """
        self.counted: tuple[int, int] | None = None
        self.marks = True
        self.forget_cache()

    @property
    def is_asked_again(self) -> bool:
        """
        True if nothing was said, set or decided since the last request, which the provider's cache still holds: the
        same request is returned, and nothing more is collected or brought back.
        """
        moment, scheduler = self._meter.moment(), self._meter.scheduler
        return self._standing == self._settled and scheduler.fits(moment) and not scheduler.is_cold(moment)

    def settle(self) -> None:
        """Note that the last request is current."""
        self._settled = self._standing

    def render(self) -> Request:
        """Render the request that is sent now."""
        runtime = self._runtime
        rendered = runtime.context.render()
        request = self._with_options(self._marks.placed(rendered) if self.marks else rendered)
        with runtime.plugins.guarded("ledger", "first request"):
            runtime.recorder.sent()
        self.settle()
        self._meter.raw_sent = request.tokens
        self._calls.sent(request)
        self._meter.call_goes_out()
        runtime.plugins.request_rendered(request)
        return request

    def forget_cache(self) -> None:
        """Forget earlier breakpoints: each model has its own cache."""
        runtime = self._runtime
        self._marks = Marks(
            runtime.config, format_name=runtime.format.name, model=runtime.state.model, key=runtime.store.session
        )

    def count(self) -> Steps[None]:
        """Have the current request counted externally; if that fails, the session's own counts stay."""
        runtime = self._runtime
        request = self._with_options(self._marks.optioned(runtime.context.render()))
        question = CountQuestion(request=request, model=runtime.state.model)
        answer = yield question
        if isinstance(answer.text, int) and runtime.state.model == question.model:
            raw = question.request.tokens
            with runtime.plugins.guarded("ledger", "count"):  # without the record the session's own counts stay, too
                runtime.recorder.observe(Observed(raw=raw, reported=answer.text, counted=True))
                self.counted = (raw, answer.text)

    def observe(self, reported: Usage, reply: object, *, compacted: bool) -> None:
        """Record the usage that was reported for the last request."""
        runtime = self._runtime
        with runtime.plugins.guarded("ledger", "usage"):  # the reply is appended even without the report
            # A provider that compacted read something other than the request that was sent, so its report teaches
            # nothing.
            raw = 0 if compacted else self._meter.raw_sent
            runtime.recorder.observe(self._calls.observed(raw, reported, reply))
            budget = runtime.config.tpm_budget
            tokens = self._calls.above(budget)
            if tokens and budget is not None:
                runtime.events.emit(RateExceeded(tokens=tokens, budget=budget))

    # -- inside --------------------------------------------------------------------------------------------------

    @property
    def _standing(self) -> _Standing:
        return self._runtime.recorder.position, self._meter.leased_tokens, self._runtime.state.blocks.waiting

    def _with_options(self, request: Request) -> Request:
        options = self._provider.options
        if not options:
            return request
        joined = provider_named(request.format).joined_options(options, request.options)
        return attrs.evolve(request, options=joined)


class StreamWatch:
    """
    Follows a reply while it streams.

    Attributes:
        crossed: Whether the reply has crossed the threshold.

    """

    def __init__(self, runtime: Runtime, meter: WindowMeter) -> None:
        self._runtime = runtime
        self._meter = meter
        self._tokens = 0
        self.crossed = False

    def follow(self, text: str, usage: object | None) -> bool:
        """Record what has streamed; see ``GCSession.on_stream``."""
        runtime, scheduler = self._runtime, self._meter.scheduler
        streamed = self._tokens if usage is None else runtime.format.usage(usage).output_tokens
        self._tokens = streamed + (runtime.counter.count(text) if text else 0)
        moment = attrs.evolve(self._meter.moment(), tokens=runtime.context.budget.total + self._tokens)
        if not self.crossed and scheduler.crossed(moment):
            self.crossed = True
            event = ThresholdCrossed(usage=scheduler.usage(moment), threshold=scheduler.threshold_percent)
            runtime.events.emit(event)
        return self.crossed

    def reset(self) -> None:
        """Start over for the next reply."""
        self._tokens, self.crossed = 0, False
