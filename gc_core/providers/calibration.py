"""Predicts the provider's count from the session's own counts and the last report."""

from __future__ import annotations

import math

import attrs
from attrs.validators import ge, le

MARGIN = 1.05
"""Before the first report, an estimated count is assumed to be 5 % too small."""

LEAST_RATIO, MOST_RATIO = 0.5, 2.0
"""The most provider tokens for one of ours. No two vocabularies in use differ more on a whole request."""

LEAST_SHARE = 0.1
"""A report below this share of the session's own count is ignored: often it does not include cache reads."""

MOST_HIDDEN = 200_000
"""
The most tokens that a provider adds by itself. A report that is larger still, beyond the largest ratio, is ignored; it
would close the window permanently.
"""

LEARNING = 0.4
"""The weight of a large difference's ratio in the learned ratio."""

LARGE = 5_000
"""Tokens of difference between two reports from which its ratio counts fully; framing distorts smaller ones."""

DOUBT = 0.3
"""
By how much an unreported estimate may be too small: 1.43 tokens for the 1.10 assumed for one of an unknown model
(``gc_core.providers.model_families``).
"""


@attrs.frozen(kw_only=True)
class Calibration:
    """
    A line through the last report: the reported count, plus own counts of new content times a learned ratio.

    Hidden overhead (the provider's own system text, schemas as it writes them) is part of the anchor. Before the first
    report the own counts are used as they are. All figures are tokens; both directions are monotone and never negative.

    Attributes:
        exact: The counter is the model's own tokenizer: no margin, and the ratio stays 1.
        ratio: Provider tokens for one own token of new content.
        anchor_raw: Own count of the last reported request; 0 before the first report.
        anchor_reported: What the provider reported for it.

    """

    exact: bool = False
    ratio: float = attrs.field(default=1.0, validator=[ge(LEAST_RATIO), le(MOST_RATIO)])
    anchor_raw: int = attrs.field(default=0, validator=ge(0))
    anchor_reported: int = attrs.field(default=0, validator=ge(0))

    @property
    def anchored(self) -> bool:
        """True if a report has been recorded."""
        return self.anchor_raw > 0 and self.anchor_reported > 0

    def estimate(self, raw: int) -> int:
        """
        Return the provider's count for a request of ``raw`` own tokens; above 0 for every raw above 0.

        Far below the anchor the line could pass 0; there the estimate shrinks in proportion instead.
        """
        if raw <= 0:
            return 0
        if not self.anchored:
            return math.ceil(raw * self._margin)
        line = self.anchor_reported + self.ratio * (raw - self.anchor_raw)
        return math.ceil(max(line, raw * self.anchor_reported / self.anchor_raw) if raw < self.anchor_raw else line)

    def to_raw(self, estimated: int) -> int:
        """Return the most own tokens for which the estimate does not exceed ``estimated``, or 0."""
        raw = max(0, math.floor(self._solve(estimated)) + 1)
        while raw > 0 and self.estimate(raw) > estimated:
            raw -= 1  # the float solution is at most a token or two beyond the rounded one
        return raw

    def doubt(self, raw: int) -> int:
        """
        Return the tokens by which the estimate may be too small: a share of the content added or removed since the last
        report.

        It is 0 for an exact count.
        """
        return 0 if self.exact else math.ceil(DOUBT * abs(raw - self.anchor_raw))

    def observed(self, raw_sent: int, reported: int, *, counted: bool = False) -> Calibration:
        """
        Return the calibration after the provider reported its input tokens, cache reads and writes included.

        A report of 0, or far below or above the own count, is ignored: the same calibration is returned. With
        ``counted`` an endpoint counted just this request: it hides no overhead, so the first one of some length
        contains the ratio.
        """
        believed = max(1, LEAST_SHARE * raw_sent) <= reported <= MOST_RATIO * raw_sent + MOST_HIDDEN
        if raw_sent <= 0 or not believed:
            return self
        ratio = self._learned(raw_sent, reported, counted=counted)
        return attrs.evolve(self, ratio=ratio, anchor_raw=raw_sent, anchor_reported=reported)

    @property
    def _margin(self) -> float:
        return 1.0 if self.exact else MARGIN

    def _solve(self, estimated: int) -> float:
        if not self.anchored:
            return estimated / self._margin
        line = self.anchor_raw + (estimated - self.anchor_reported) / self.ratio
        return (
            line if estimated >= self.anchor_reported else min(line, estimated * self.anchor_raw / self.anchor_reported)
        )

    def _learned(self, raw_sent: int, reported: int, *, counted: bool) -> float:
        """Return the ratio, moved towards that of the difference since the last report."""
        if counted and not (self.exact or self.anchored) and raw_sent >= LARGE:
            return min(MOST_RATIO, max(LEAST_RATIO, reported / raw_sent))
        grown, answered = raw_sent - self.anchor_raw, reported - self.anchor_reported
        if self.exact or not self.anchored or grown * answered <= 0:
            return self.ratio
        seen = min(MOST_RATIO, max(LEAST_RATIO, answered / grown))
        return self.ratio + LEARNING * min(1.0, abs(grown) / LARGE) * (seen - self.ratio)
