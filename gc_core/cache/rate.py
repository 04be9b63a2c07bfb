"""The tokens of the last minute, as a provider's rate limit counts them."""

from __future__ import annotations

import collections

from gc_core.providers.cache_terms import CacheTerms
from gc_core.values.messages import Usage

_MINUTE = 60.0
"""Seconds."""


class Minute:
    """
    The tokens of the last minute that count for a provider's limit: all of a call, except what Anthropic reads from its
    cache (its guide to rate limits, 2026). A clock that goes backwards counts as no time passed.
    """

    def __init__(self, terms: CacheTerms) -> None:
        self.tokens = 0
        self._terms = terms
        self._calls: collections.deque[tuple[float, int]] = collections.deque()
        self._now = 0.0
        self._at: float | None = None

    def add(self, time: float, usage: Usage) -> int:
        """Add a call at this second; return the tokens of the minute that ends with it."""
        # Steps of the clock, not its time: after a step back it would otherwise stop until the old time is reached
        # again.
        self._now += 0.0 if self._at is None else max(0.0, time - self._at)
        self._at = time
        free = usage.cache_read_tokens if self._terms.writes_at_marks else 0
        tokens = max(0, usage.input_tokens - free) + usage.output_tokens
        tokens += sum(each.input_tokens + each.output_tokens for each in usage.iterations)
        self._calls.append((self._now, tokens))
        self.tokens += tokens
        while self._calls[0][0] <= self._now - _MINUTE:
            self.tokens -= self._calls.popleft()[1]
        return self.tokens
