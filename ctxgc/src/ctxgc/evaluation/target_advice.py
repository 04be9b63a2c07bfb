"""
How full a window should be, from how models lose quality in long contexts. Advice: nothing uses it.

Quality falls with the share x of the window that is filled: ``exp(-alpha * x)``. The information in the window rises
with it, but ever more slowly: the most useful content comes first, and each further token repeats more of what is there
already. That is a concave curve; here ``1 - exp(-k * x)``, with k such that a full window has all but a hundredth.
The best share is where the product of both is largest.
"""

from __future__ import annotations

import math
import re

import attrs

SATURATION = math.log(100)
"""k: a full window has 99 % of the information that could be useful for the step."""

SOURCE = "approximate, from research on context rot (Chroma, 2025), as collected for gc-core"
DATE = "2026-02"
"""Year and month of the values below."""

_ALPHAS = (
    (re.compile(r"claude-opus-4(-0)?(-\d{8})?"), 0.3),
    (re.compile(r"gpt-4-1(-\d{4}-\d{2}-\d{2})?"), 0.4),
    (re.compile(r"gemini-2-5-pro(-preview.*|-exp.*|-\d+)?"), 0.25),
)
"""Whole names of models, dots as hyphens, and how fast each loses quality. Their relatives are other models."""


@attrs.frozen(kw_only=True)
class Recommendation:
    """
    How full a model's window should be.

    Attributes:
        percent: Of the window, in whole percent: a suggestion for ``target_percent``.
        alpha: How fast the model's quality falls with the share of its window that is filled.
        source: Where alpha comes from; for a model that was not measured, what replaces it.
        date: Year and month of the values.

    """

    percent: int
    alpha: float
    source: str
    date: str


def recommended_target(model: str | None) -> Recommendation:
    """
    Return how full a model's window is best, by dated and approximate values. Advice: no session uses it by itself.

    A model without a measured value, and None, have the mean of the known ones; ``source`` says so.
    """
    bare = (model or "").lower().rpartition("/")[2].replace(".", "-")
    for pattern, alpha in _ALPHAS:
        if pattern.fullmatch(bare):
            return _recommended(alpha, SOURCE)
    mean = sum(alpha for _, alpha in _ALPHAS) / len(_ALPHAS)
    return _recommended(mean, f"nothing is known of {model!r}: the mean of {len(_ALPHAS)} models; {SOURCE}")


def worth(share: float, alpha: float) -> float:
    """Return what a window is worth of which this share (0 to 1) is filled: quality times information."""
    return math.exp(-alpha * share) * (1.0 - math.exp(-SATURATION * share))


def best_share(alpha: float) -> float:
    """Return the share at which ``worth`` is largest, at most 1: where its derivative is 0. Alpha is above 0."""
    return min(1.0, math.log(1.0 + SATURATION / alpha) / SATURATION)


def _recommended(alpha: float, source: str) -> Recommendation:
    return Recommendation(percent=round(100 * best_share(alpha)), alpha=round(alpha, 4), source=source, date=DATE)
