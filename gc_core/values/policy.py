"""The policies: how strongly content is protected."""

from __future__ import annotations

import enum


class GCPolicy(enum.Enum):
    """
    How strongly an item is protected, from the strongest to the weakest.

    ``PARTIAL`` marks a container of mixed children, and an item that leaves only together with its unit.
    """

    LOCKED = "locked"
    PRESERVABLE = "preservable"
    PARTIAL = "partial"
    EPHEMERAL = "ephemeral"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is Python code, and sums look policies up

    @property
    def indicator(self) -> str:
        """One character for a panel or a terminal."""
        return _INDICATORS[self]

    @property
    def strength(self) -> int:
        """3 for LOCKED down to 0 for EPHEMERAL; if several policies apply, the largest wins."""
        return _STRENGTHS[self]


_INDICATORS = {
    GCPolicy.LOCKED: "🔒",
    GCPolicy.PRESERVABLE: "◑",
    GCPolicy.PARTIAL: "◐",
    GCPolicy.EPHEMERAL: "○",
}
_STRENGTHS = {policy: 3 - place for place, policy in enumerate(GCPolicy)}
