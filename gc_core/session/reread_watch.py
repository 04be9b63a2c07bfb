"""Watches for an agent that goes in circles: see ``gc_core.relevance.reread_guard``."""

from __future__ import annotations

from gc_core.errors import RereadLoopError
from gc_core.events import RereadNoticed
from gc_core.relevance.needed_again import NeedWatch
from gc_core.relevance.reread_guard import RereadGuard, told
from gc_core.session.runtime import Runtime
from gc_core.storage.recorder import Taken
from gc_core.values.config import RAISE
from gc_core.values.sources import ENRICHMENT

BLOCK = "gc: circle"
"""The name of the enrichment that tells the agent."""

_RECALL = "recall"


class RereadWatch:
    """
    Sees what arrives, and says before the next model call what the guard noticed. What it saw is in no file: a session
    that is opened again begins again.

    Args:
        runtime: The session's.
        guard: Notices circles; None where no one asks for it.

    Attributes:
        needs: What was needed again after it was collected.

    """

    def __init__(self, runtime: Runtime, guard: RereadGuard | None) -> None:
        self._runtime = runtime
        self.guard = guard
        self.needs = NeedWatch()

    def see(self, taken: Taken) -> None:
        """See what arrived."""
        self.needs.arrived(taken.new, self._runtime.find)
        if self.guard is not None:
            self.guard.see(taken.new, collected=self._has_collected)

    def warn_or_stop(self) -> None:
        """
        Tell the agent, at the end of the request that is being made, what the guard noticed.

        Raises RereadLoopError where it was told and went on, and ``reread_guard`` is ``"raise"``.
        """
        if self.guard is None or not self._has_collected:
            return
        waiting = {f"{block.source} {block.name}": block.text for block in self._runtime.state.blocks.waiting}
        self.guard.see_prompts({item.id: item.text for item in self._runtime.context.system} | waiting)
        ends = self._runtime.config.reread_guard == RAISE
        notice = self.guard.look(self._stands_whole, ends=ends)
        if notice is None:
            return
        if ends and notice.goes_on:
            raise RereadLoopError(what=notice.what, times=notice.times, item=notice.item)
        self._runtime.events.emit(
            RereadNoticed(kind=notice.kind, what=notice.what, times=notice.times, item=notice.item)
        )
        recalls = any(schema.item.name == _RECALL for schema in self._runtime.context.schemas)
        text = told(notice, recalls=recalls, cites=self._runtime.context.cites, reference=self.newest_reference())
        self._runtime.state.give(ENRICHMENT.name, {BLOCK: text})

    # -- inside --------------------------------------------------------------------------------------------------

    def _stands_whole(self, key: str) -> bool:
        """Return whether an item is in the window as it came."""
        item = self._runtime.context.find(key)
        return item is not None and item.reference is None

    @property
    def _has_collected(self) -> bool:
        """Whether something left the window: else there is nothing to go in circles about."""
        first = self._runtime.context.first
        return bool(self._runtime.state.done) or (first is not None and self._runtime.format.replaces(first.payload))

    def newest_reference(self) -> str:
        """Return what left the window last, as the tool names it; looked for when an agent is told alone. O(window)."""
        left_out = [item.reference for item in self._runtime.context.items() if item.reference is not None]
        if not left_out:
            return ""
        newest = left_out[-1]
        return newest.first if newest.first == newest.last else f"{newest.first}-{newest.last}"
