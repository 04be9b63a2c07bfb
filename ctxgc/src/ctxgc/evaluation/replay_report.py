"""The measures of a replay: of every call, of a session, of several together."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ctxgc.evaluation.call_measures import CallMeasures, Overflow
from ctxgc.evaluation.totals import ReplaySummary, sums_of, together


@attrs.frozen(kw_only=True)
class ReplayReport:
    """
    A session, call by call.

    Attributes:
        session: Its name.
        format: Name of the format of its messages.
        window: Tokens that a request may have.
        threshold_percent: Usage at which a collection begins.
        target_percent: Usage that a collection goes down to.
        calls: In order.

    """

    session: str
    format: str
    window: int
    threshold_percent: float
    target_percent: float
    calls: tuple[CallMeasures, ...]

    @property
    def fill(self) -> tuple[int, ...]:
        """Tokens sent, by call; 0 where nothing could be sent."""
        return tuple(call.tokens for call in self.calls)

    @property
    def overflows(self) -> tuple[Overflow, ...]:
        """The calls that could not be sent."""
        return tuple(call.overflow for call in self.calls if call.overflow is not None)

    @property
    def breaches(self) -> tuple[str, ...]:
        """Every breach of the provider's rules, with its call."""
        return tuple(
            f"call {call.number}: {text}" for call in self.calls if call.sent is not None for text in call.sent.breaches
        )

    def summary(self) -> ReplaySummary:
        """Return the figures of the session."""
        return summary_of(self.calls, window=self.window)


def pooled(reports: Sequence[ReplayReport]) -> ReplaySummary:
    """Return the figures of all calls of several sessions, every call weighing the same."""
    return together(sums_of(report.calls, window=report.window) for report in reports).summary()


def summary_of(calls: Sequence[CallMeasures], *, window: int) -> ReplaySummary:
    """Return the figures of these calls in a window of this many tokens."""
    return sums_of(calls, window=window).summary()
