"""Counters and histograms: collections and their removals, summaries, model calls, recalls, importance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opentelemetry.metrics import Meter

from gc_core.integrations.telemetry.genai import SECOND_BUCKETS, TOKEN_BUCKETS, TOKEN_TYPE, Attributes, Callee
from gc_core.values.items import Item
from gc_core.values.messages import Usage
from gc_core.values.removals import GCRemovalItem, action_of
from gc_core.values.results import GCResult, GCTriggerReason
from gc_core.window.view import WindowView

MOST_SCORED = 256
"""The items whose importance is reported after a collection, spread over the window."""

_TENTHS = tuple(tenth / 10 for tenth in range(1, 10))


class Meters:
    """The instruments. They carry no session id, which would create a series for each."""

    def __init__(self, meter: Meter) -> None:
        count, spread = meter.create_counter, meter.create_histogram
        self._collections = count("gc.collections", "{collection}", "Collections by reason and outcome")
        self._freed = count("gc.freed.tokens", "{token}", "Tokens freed, by strategy, phase and action")
        self._evictions = count("gc.evictions", "{item}", "Items that left or shrank, by action and kind")
        self._recalls = count("gc.recalls", "{recall}", "Times that something collected was asked for, or came back")
        self._attempts = count("gc.summary.attempts", "{attempt}", "Times that summarizers were asked")
        self._failures = count("gc.summary.failures", "{failure}", "What was wrong with answers, or how they failed")
        self._cache = count("gc.cache.tokens", "{token}", "Input tokens read from the cache, written to it, and others")
        self._seconds = spread("gc.collection.duration", "s", "Time that a collection took")
        self._importance = spread(
            "gc.importance",
            "1",
            "Importance of resident items after a collection",
            explicit_bucket_boundaries_advisory=_TENTHS,
        )
        self._usage = spread(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used",
            explicit_bucket_boundaries_advisory=TOKEN_BUCKETS,
        )
        self._call_seconds = spread(
            "gen_ai.client.operation.duration",
            "s",
            "Time from the request to the reply, as the session saw it",
            explicit_bucket_boundaries_advisory=SECOND_BUCKETS,
        )

    # -- collections ---------------------------------------------------------------------------------------------

    def collected(self, result: GCResult, kinds: Mapping[str, str]) -> None:
        """Record a collection; ``kinds`` are its items' kinds, by id."""
        self._tried(result.reason, "done")
        self._seconds.record(result.seconds, {"gc.reason": result.reason.value})
        for removal in result.removals:
            self._removed(removal, kinds)
        for outcome in result.summaries:
            by: Attributes = {"gc.summary.by": outcome.by}
            self._attempts.add(outcome.attempts, by)
            self._failures.add(len(outcome.complaints), by)

    def deferred(self, result: GCResult) -> None:
        """Record a collection that changed nothing."""
        self._tried(result.reason, "deferred")

    def failed(self, reason: GCTriggerReason) -> None:
        """Record a collection that raised an error."""
        self._tried(reason, "failed")

    def _tried(self, reason: GCTriggerReason, outcome: str) -> None:
        self._collections.add(1, {"gc.reason": reason.value, "gc.outcome": outcome})

    def _removed(self, removal: GCRemovalItem, kinds: Mapping[str, str]) -> None:
        action = action_of(removal)
        of: Attributes = {"gc.strategy": removal.strategy or "core", "gc.action": action}
        # A removal may cost more than it frees, for example with bound thinking; a counter only grows.
        self._freed.add(max(0, removal.tokens_freed), {**of, **({"gc.phase": removal.phase} if removal.phase else {})})
        for item in removal.items:
            self._evictions.add(1, {"gc.action": action, "gc.item.kind": kinds.get(item, "unknown")})

    def scored(self, view: WindowView) -> None:
        """Record the importance of resident items."""
        items = [item for unit in view.units for item in unit.items]
        for item in _spread(items):
            self._importance.record(view.importance(item), {"gc.item.kind": item.kind.value})

    # -- calls ---------------------------------------------------------------------------------------------------

    def recalled(self, how: str, times: int = 1) -> None:
        """Record that removed content was requested, or came back."""
        self._recalls.add(times, {"gc.recall.by": how})

    def read(self, usage: Usage) -> None:
        """Record where the input tokens of a call of the conversation came from."""
        kinds = {"read": usage.cache_read_tokens, "write": usage.cache_write_tokens, "fresh": usage.fresh_tokens}
        for kind, tokens in kinds.items():
            self._cache.add(tokens, {"gc.cache.kind": kind})

    def used(self, callee: Callee, input_tokens: int, output_tokens: int) -> None:
        """Record the usage of a call."""
        for kind, tokens in (("input", input_tokens), ("output", output_tokens)):
            self._usage.record(tokens, {**callee.attributes, TOKEN_TYPE: kind})

    def answered(self, callee: Callee, seconds: float, more: Attributes) -> None:
        """Record the end of a call."""
        self._call_seconds.record(seconds, {**callee.attributes, **more})


def _spread(items: list[Item]) -> Iterable[Item]:
    every = -(-len(items) // MOST_SCORED) or 1
    return items[::every]
