"""The strategy that collects nothing: a baseline, and the starting point for a new strategy."""

from __future__ import annotations

import attrs

from gc_core.values.protocols import ContextView
from gc_core.values.removals import GCRemovalItem
from gc_core.values.results import Goal


@attrs.frozen
class NoGC:
    """Proposes nothing; a request that would not fit is left to the last resort."""

    def collect(self, context: ContextView, goal: Goal) -> tuple[GCRemovalItem, ...]:  # noqa: ARG002 - the contract
        """Propose nothing."""
        return ()
