"""The cost of a lane's calls, and their cost with the client's own lists."""

from __future__ import annotations

import attrs

from gc_core.providers.prices import Prices
from gc_core.values.messages import Usage


@attrs.frozen
class CallCost:
    """USD of one call as it was made, and as it would have been made without the gateway."""

    spent: float
    without: float


@attrs.define
class CallCosts:
    """
    Prices the calls of one lane, in their order.

    Without the gateway, each call would have sent the client's whole list, which only grows: where the provider has a
    cache, the list of the call before would have been read from it. So the breaks of the cache that collections cause
    are on the gateway's own side of the account.
    """

    _given_before: int = 0
    _is_cached: bool = False

    def call(self, usage: Usage, share: float, prices: Prices) -> CallCost:
        """Return the cost of a call, of whose list this share was sent."""
        given = round(usage.input_tokens / share)
        self._is_cached = self._is_cached or usage.cache_read_tokens > 0
        read = min(self._given_before, given) if self._is_cached else 0
        self._given_before = given
        without = Usage(
            input_tokens=given,
            output_tokens=usage.output_tokens,
            cache_read_tokens=read,
            cache_write_tokens=given - read if usage.cache_write_tokens else 0,
        )
        return CallCost(spent=prices.cost(usage), without=prices.cost(without))
