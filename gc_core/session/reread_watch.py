"""The part of a session that guards it against circles: see ``gc_core.relevance.reread_guard``."""

from __future__ import annotations

from gc_core.errors import RereadLoopError
from gc_core.events import RereadNoticed
from gc_core.relevance.needed_again import NeedWatch
from gc_core.relevance.reread_guard import RereadGuard, told
from gc_core.session.server_edits import ConsumedContent
from gc_core.storage.recorder import Taken
from gc_core.values.config import RAISE
from gc_core.values.sources import ENRICHMENT

BLOCK = "gc: circle"
"""The name of the enrichment that tells the agent."""

_RECALL = "recall"


class Guarding(ConsumedContent):
    """
    What arrives is seen by the guard, and what it noticed is told before the next model call. What it saw is in no
    file: a session that is opened again begins anew.
    """

    _guard: RereadGuard | None
    _needs: NeedWatch

    def _told(self, taken: Taken) -> Taken:
        self._needs.arrived(taken.new, self._context.find)
        if self._guard is not None:
            self._guard.see(taken.new, collected=self._has_collected)
        return super()._told(taken)

    def _look_for_circles(self) -> None:
        """
        Tell the agent, at the end of the request that is being made, what the guard noticed.

        Raises RereadLoopError where it was told and went on, and ``reread_guard`` is ``"raise"``.
        """
        if self._guard is None or not self._has_collected:
            return
        waiting = {f"{block.source} {block.name}": block.text for block in self._state.blocks.waiting}
        self._guard.see_prompts({item.id: item.text for item in self._context.system} | waiting)
        ends = self._config.reread_guard == RAISE
        notice = self._guard.look(self._stands_whole, ends=ends)
        if notice is None:
            return
        if ends and notice.goes_on:
            raise RereadLoopError(what=notice.what, times=notice.times, item=notice.item)
        self._tell(RereadNoticed(kind=notice.kind, what=notice.what, times=notice.times, item=notice.item))
        recalls = any(schema.item.name == _RECALL for schema in self._context.schemas)
        text = told(notice, recalls=recalls, cites=self._context.cites, reference=self._newest_reference())
        self._state.give(ENRICHMENT.name, {BLOCK: text})

    def _stands_whole(self, key: str) -> bool:
        """Whether an item is in the window as it came."""
        item = self._context.find(key)
        return item is not None and item.reference is None

    @property
    def _has_collected(self) -> bool:
        """Whether something left the window: else there is nothing to go in circles about."""
        first = self._context.first
        return bool(self._state.done) or (first is not None and self._format.replaces(first.payload))

    def _newest_reference(self) -> str:
        """What left the window last, as the tool names it; looked for when an agent is told alone. O(window)."""
        left_out = [item.reference for item in self._context.items() if item.reference is not None]
        if not left_out:
            return ""
        newest = left_out[-1]
        return newest.first if newest.first == newest.last else f"{newest.first}-{newest.last}"
