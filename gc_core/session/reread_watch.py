"""Watches for an agent that repeats itself: see ``gc_core.relevance.reread_guard``."""

from __future__ import annotations

from gc_core.errors import RereadLoopError
from gc_core.events import RereadNoticed
from gc_core.relevance.circles import notice_text
from gc_core.relevance.needed_again import NeedWatch
from gc_core.relevance.reread_guard import RereadGuard
from gc_core.session.runtime import Runtime
from gc_core.storage.recorder import Taken
from gc_core.values.config import RAISE
from gc_core.values.messages import Role
from gc_core.values.sources import ENRICHMENT

BLOCK = "gc: circle"
"""The enrichment that warns the agent."""

_RECALL = "recall"


class RereadWatch:
    """
    Sees what arrives, and warns before the next model call of what the guard noticed. Nothing of it is stored: a
    session that is opened again starts over.

    Args:
        runtime: The session's.
        guard: Notices repetitions; None if the guard is off.

    Attributes:
        needs: Content that was needed again after it was collected.

    """

    def __init__(self, runtime: Runtime, guard: RereadGuard | None) -> None:
        self._runtime = runtime
        self.guard = guard
        self.needs = NeedWatch()

    def see(self, taken: Taken) -> None:
        """Pass what arrived to the guard."""
        self.needs.arrived(taken.new, self._runtime.find)
        if self.guard is not None:
            self.guard.see(taken.new, collected=self._has_collected)

    def reply_came(self) -> None:
        """Tell the guard that the model has answered: what passes from here is its tools' time and the host's."""
        if self.guard is not None:
            self.guard.reply_came()

    def list_came(self) -> None:
        """Tell the guard that the caller passes its list."""
        if self.guard is not None:
            self.guard.list_came()

    def warn_or_stop(self) -> None:
        """
        Warn the agent, at the end of the request being rendered, of what the guard noticed.

        Raises RereadLoopError if the agent was warned and continued, and ``reread_guard`` is ``"raise"``.
        """
        if self.guard is None:
            return
        self.guard.went_on()
        if not self._has_collected:
            return
        waiting = {f"{block.source} {block.name}": block.text for block in self._runtime.state.blocks.waiting}
        self.guard.see_prompts({item.id: item.text for item in self._runtime.context.system} | waiting)
        ends = self._runtime.config.reread_guard == RAISE
        notice = self.guard.look(self._is_verbatim, ends=ends)
        if notice is None:
            return
        if ends and notice.goes_on:
            raise RereadLoopError(what=notice.what, times=notice.times, item=notice.item)
        self._runtime.events.emit(
            RereadNoticed(kind=notice.kind, what=notice.what, times=notice.times, item=notice.item)
        )
        recalls = any(schema.item.name == _RECALL for schema in self._runtime.context.schemas)
        text = notice_text(
            notice, recalls=recalls, cites=self._runtime.context.cites, reference=self.newest_reference()
        )
        self._runtime.state.give(ENRICHMENT.name, {BLOCK: text})

    # -- inside --------------------------------------------------------------------------------------------------

    def _is_verbatim(self, key: str) -> bool:
        """Return whether an item is in the window verbatim."""
        item = self._runtime.context.find(key)
        return item is not None and item.reference is None

    @property
    def _has_collected(self) -> bool:
        """True if something left the window: otherwise there is nothing to ask for again."""
        first = next((each for each in self._runtime.context.messages if each.role is not Role.USER), None)
        return bool(self._runtime.state.done) or (first is not None and self._runtime.format.replaces(first.payload))

    def newest_reference(self) -> str:
        """Return the reference to the newest removed content, as the tool names it; only for warnings. O(window)."""
        left_out = [item.reference for item in self._runtime.context.items() if item.reference is not None]
        if not left_out:
            return ""
        newest = left_out[-1]
        return newest.first if newest.first == newest.last else f"{newest.first}-{newest.last}"
