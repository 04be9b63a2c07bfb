"""Checks replies with plugins, and restores the window when one is inconsistent."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable

from gc_core.errors import InconsistentReplyError, LogError, SourceError
from gc_core.session.collection_runner import CollectionRunner
from gc_core.session.inbox import Inbox
from gc_core.session.runtime import CallGate, Runtime
from gc_core.session.spend_limit import SpendLimit
from gc_core.session.timeline import Timeline
from gc_core.session.window_meter import WindowMeter
from gc_core.storage.state import digest_of_messages
from gc_core.values.config import RAISE, UNDO
from gc_core.values.loggers import logger
from gc_core.values.messages import Payload, Usage
from gc_core.values.results import Inconsistency
from gc_core.values.sources import CONVERSATION
from gc_core.values.validators import check_flag, listed

_log = logger("gc_core.session")

_MOST_RECOVERIES = 2
"""The most restorations of the window in a row for inconsistent replies."""


class ReplyCheck:
    """Asks plugins whether a reply is consistent before it is appended."""

    def __init__(
        self,
        runtime: Runtime,
        gate: CallGate,
        *,
        meter: WindowMeter,
        inbox: Inbox,
        spend: SpendLimit,
        collections: CollectionRunner,
        timeline: Timeline,
        recall: Callable[[str], str],
    ) -> None:
        self._runtime = runtime
        self._gate = gate
        self._meter = meter
        self._inbox = inbox
        self._spend = spend
        self._collections = collections
        self._timeline = timeline
        self._recall = recall
        self._recoveries = 0

    def check(self, reply: Payload, reported: Usage | None) -> None:
        """
        Raise InconsistentReplyError if a plugin rejects the reply, after applying
        ``recovery_strategy`` to the window.
        """
        found = self._found(reply)
        if not found:
            if self._recoveries:
                self._timeline.release()
            self._recoveries, self._meter.restored = 0, False
            return
        self._spend.book_refused(reply, reported)
        reason = "; ".join(each.reason for each in found)
        how, digest = self._runtime.config.recovery_strategy, digest_of_messages(self._runtime.context.messages)
        _log.warning("reply inconsistent", findings=len(found), recovery=how, in_a_row=self._recoveries + 1)
        if how == RAISE:
            raise InconsistentReplyError(reason, recovered=False, text="nothing has changed")
        if self._recoveries == _MOST_RECOVERIES:
            known = self._runtime.store.newest_checkpoint()
            then = "none" if known is None else known.digest
            text = f"it was after {_MOST_RECOVERIES} recoveries; window {digest}, checkpoint {then}"
            raise InconsistentReplyError(reason, recovered=False, text=text)
        try:
            self.rollback_and_repack([item for each in found for item in each.items], undo_only=how == UNDO)
        except LogError as error:
            raise InconsistentReplyError(reason, recovered=False, text=f"nothing has changed: {error}") from error
        self._recoveries += 1
        raise InconsistentReplyError(reason, recovered=True, text=f"the window was restored ({how}); send it again")

    def _found(self, reply: Payload) -> tuple[Inconsistency, ...]:
        """Return what plugins find, and gc-core's own check if it is on."""
        plugins, view = self._runtime.plugins, self._collections.view()
        found = list(plugins.validate(reply, view, self._recall))
        if self._runtime.config.check_replies:
            from gc_core.plugins.contradictions import ContradictionCheck  # loaded where it is on

            with plugins.guarded("check_replies", "gc_validate_reply"):
                found += filter(None, [ContradictionCheck().gc_validate_reply(reply, view, self._recall)])
        return tuple(found)

    def rollback_and_repack(self, items: Iterable[str] = (), *, undo_only: bool = False) -> None:
        """Restore the window; see ``GCSession.rollback_and_repack``."""
        check_flag("undo_only", undo_only)
        wanted = tuple(dict.fromkeys(listed("items", items, "items' ids", kinds=str)))
        if undo_only:
            self._undo_for(wanted)
        else:
            self._take_again()
            self._bring_back(wanted)
        self._meter.restored = True

    def _undo_for(self, wanted: tuple[str, ...]) -> None:
        """
        Undo the last collection; where that does not fit, bring only these items back; where there are none, leave it
        to the next request to take as little of it again as makes it fit.
        """
        if not self._timeline.undo():
            raise LogError(f"{self._runtime.directory} holds no collection that could be undone")
        if self._fits:
            self._bring_back(wanted)
            return
        tokens = self._meter.moment().taken
        self._timeline.redo()
        if self._bring_back(wanted):
            return
        if not self._runtime.config.auto_trigger:
            raise LogError(
                f"undone, the request would have {tokens:,} tokens; usable are {self._runtime.config.usable:,}"
            )
        self._timeline.undo()
        self._timeline.release()

    def _bring_back(self, wanted: tuple[str, ...]) -> bool:
        """Bring the items back that fit; return whether one is in the window again."""
        before = self._runtime.context
        for item in wanted:
            with contextlib.suppress(SourceError):
                with self._gate.call("restore"):  # counted as the host's own call is
                    self._timeline.restore(item)
                if not self._fits:
                    self._timeline.undo()
        return self._runtime.context.digest != before.digest

    @property
    def _fits(self) -> bool:
        return self._meter.scheduler.fits(self._meter.moment())

    def _take_again(self) -> None:
        """Go back to the checkpoint, append the messages of the conversation since, and write a new checkpoint."""
        target = self._timeline.newest_checkpoint()
        since = [
            record for _, record in self._runtime.store.log.records(target.at.log) if record.source == CONVERSATION.name
        ]
        self._timeline.rollback(target)
        for record in since:
            self._inbox.take(record.payload, record.policy)
        with contextlib.suppress(LogError):
            self._timeline.checkpoint()
