"""
How a session keeps to ``max_total_tokens``: what it may spend per call, and how far collections go down for that.

No one knows how long a session goes on. It is taken to go on for as many calls as it has made (the estimate of Lindy's
law): what may still be spent is shared out over those. While the window stays within that share nothing changes; then
it shrinks with it, so that the spending slows down before the limit instead of ending at it.
"""

from __future__ import annotations

import attrs

LEAST_CALLS = 10
"""Calls that a session is expected to go on for at least. Beyond that it is expected to last as long again as it has
lasted: no one knows more of it (the estimate of Lindy's law)."""

LEAST_SHARE = 0.25
"""The target is never tightened below this share of itself: LOCKED content and the newest steps need their room."""

NOTICE_PERCENT = 90.0
"""Share of ``max_total_tokens`` from which the agent is told that it has to finish."""


@attrs.frozen(kw_only=True)
class Pace:
    """
    What a session has spent, and what it may.

    Attributes:
        allowed: Input and output tokens that it may spend in all, or None.
        spent: Those that it has spent, tokens read from the cache and calls beside the conversation included.
        calls: Model calls of the conversation so far.
        output_tokens: Of the spent tokens, those of the replies to these calls.

    """

    allowed: int | None = None
    spent: int = 0
    calls: int = 0
    output_tokens: int = 0

    @property
    def expected_calls(self) -> int:
        """Calls that are still to come: as many as there were, and at least ``LEAST_CALLS``."""
        return max(LEAST_CALLS, self.calls)

    @property
    def input_per_call(self) -> float:
        """Input tokens that each of them may have, when its reply is as long as replies were; never negative."""
        if self.allowed is None:
            return float("inf")
        reply = self.output_tokens / self.calls if self.calls else 0.0
        return max(0.0, (self.allowed - self.spent) / self.expected_calls - reply)

    def share(self, tokens: float) -> float:
        """
        Return the share of a target of this many tokens that is affordable, from ``LEAST_SHARE`` to 1.

        It falls with every token that is spent and with every call that is made, and never rises by them.
        """
        if self.allowed is None or tokens <= 0:
            return 1.0
        return min(1.0, max(LEAST_SHARE, self.input_per_call / tokens))

    @property
    def percent(self) -> float:
        """Spent tokens in percent of the allowed ones; 0 where nothing limits them."""
        return 0.0 if self.allowed is None else 100.0 * self.spent / self.allowed

    @property
    def ends_soon(self) -> bool:
        """Whether the agent must be told to finish."""
        return self.percent >= NOTICE_PERCENT

    @property
    def is_over(self) -> bool:
        """Whether no further call may be made."""
        return self.allowed is not None and self.spent >= self.allowed

    def words(self) -> str:
        """Return the pace in a line; "" where nothing limits the session."""
        if self.allowed is None:
            return ""
        told = f"spend: {self.spent:,} of {self.allowed:,} tokens ({self.percent:.1f} %)"
        if self.is_over:
            return f"{told}; no further call, allow(max_total_tokens=...) raises the limit"
        each = f"{self.input_per_call:,.0f} input tokens"
        return f"{told}; {self.expected_calls} more calls are expected, which may have {each} each"


UNPACED = Pace()
"""Of a session that may spend what it likes."""


def notice(pace: Pace) -> str:
    """Return what the agent is told when its tokens come to an end."""
    return (
        f"Of the {pace.allowed or 0:,} tokens that this session may spend, {pace.spent:,} are spent. Bring the work to"
        " an end now: finish what is nearly done, leave everything else as it is, and say what is done and what is"
        " open. No call is possible beyond the limit."
    )
