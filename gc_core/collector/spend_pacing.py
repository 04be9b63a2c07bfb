"""
Keeps a session within ``max_total_tokens``: the share per call, and how much deeper collections go for it.

The length of a session is unknown. It is expected to last for as many calls as it has made (the estimate of Lindy's
law): what may still be spent is distributed over those. While the window stays within that share nothing changes; then
it shrinks with it, so that the spending slows down before the limit instead of hitting it.
"""

from __future__ import annotations

import attrs

LEAST_CALLS = 10
"""
The least calls that a session is expected to last for. Beyond that it is expected to last as long again as it has
lasted (the estimate of Lindy's law).
"""

LEAST_SHARE = 0.25
"""The target is never tightened below this share of itself: LOCKED content and the newest steps need room."""

NOTICE_PERCENT = 90.0
"""The share of ``max_total_tokens`` from which the agent is asked to finish."""


@attrs.frozen(kw_only=True)
class Pace:
    """
    The spending of a session, and its limit.

    Attributes:
        allowed: Input and output tokens that it may spend in total, or None.
        spent: Tokens that it has spent, including cache reads and calls outside the conversation.
        calls: Model calls of the conversation so far.
        output_tokens: Tokens of the replies to these calls, among the spent ones.

    """

    allowed: int | None = None
    spent: int = 0
    calls: int = 0
    output_tokens: int = 0

    @property
    def expected_calls(self) -> int:
        """The calls still to come: as many as there were, and at least ``LEAST_CALLS``."""
        return max(LEAST_CALLS, self.calls)

    @property
    def input_per_call(self) -> float:
        """The input tokens that each of them may have if its reply is as long as earlier ones; never negative."""
        if self.allowed is None:
            return float("inf")
        reply = self.output_tokens / self.calls if self.calls else 0.0
        return max(0.0, (self.allowed - self.spent) / self.expected_calls - reply)

    def share(self, tokens: float) -> float:
        """
        Return the share of a target of this many tokens that is affordable, from ``LEAST_SHARE`` to 1.

        It falls with every token that is spent and every call that is made, and never rises because of them.
        """
        if self.allowed is None or tokens <= 0:
            return 1.0
        return min(1.0, max(LEAST_SHARE, self.input_per_call / tokens))

    @property
    def percent(self) -> float:
        """Spent tokens in percent of the allowed ones; 0 without a limit."""
        return 0.0 if self.allowed is None else 100.0 * self.spent / self.allowed

    @property
    def ends_soon(self) -> bool:
        """True if the agent must be asked to finish."""
        return self.percent >= NOTICE_PERCENT

    @property
    def is_over(self) -> bool:
        """True if no further call may be made."""
        return self.allowed is not None and self.spent >= self.allowed

    def words(self) -> str:
        """Return the pace in a line; "" without a limit."""
        if self.allowed is None:
            return ""
        text = f"spend: {self.spent:,} of {self.allowed:,} tokens ({self.percent:.1f} %)"
        if self.is_over:
            return f"{text}; no further call, allow(max_total_tokens=...) raises the limit"
        each = f"{self.input_per_call:,.0f} input tokens"
        return f"{text}; {self.expected_calls} more calls are expected, which may have {each} each"


UNPACED = Pace()
"""The pace of a session without a limit."""


def notice(pace: Pace) -> str:
    """Return the notice that asks the agent to finish."""
    return (
        f"Of the {pace.allowed or 0:,} tokens that this session may spend, {pace.spent:,} are spent. Bring the work to"
        " an end now: finish what is nearly done, leave everything else as it is, and say what is done and what is"
        " open. No call is possible beyond the limit."
    )
