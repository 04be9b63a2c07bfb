"""The part of a session that knows when the provider keeps the history: then there is nothing here to collect (R5)."""

from __future__ import annotations

from gc_core.session.reread_watch import Guarding
from gc_core.session.timeline import synchronized
from gc_core.values.results import GCResult, Goal


class Elsewhere(Guarding):
    """Where the history lives, by the last reply that tells it, or by the host. Remembered by this object alone."""

    _kept_at = ""

    @synchronized
    def history_at_provider(self, where: str) -> None:
        """
        Tell that the provider keeps the history, in your own words ("conversation conv_1"); an empty text takes it
        back. A reply of Responses with ``previous_response_id`` or ``conversation`` tells it by itself.

        From then on the session collects nothing: what it took out of its own request would still be read there. It
        says so instead, in ``explain()`` and by a ``CollectionDeferred`` event whenever a collection would be due.
        """
        self._kept_at = where

    def _note_kept(self, reply: object) -> None:
        """What a reply tells of it; one that tells nothing changes nothing."""
        told = self._format.history_elsewhere(reply)
        self._kept_at = self._kept_at if told is None else told

    def _cannot_collect(self, goal: Goal) -> GCResult:
        """The result of the collection that is not even tried."""
        tokens = self._context.budget.total
        return GCResult(
            reason=goal.reason,
            tokens_before=tokens,
            tokens_after=tokens,
            target_tokens=goal.target_tokens,
            note=self._kept_text(),
        )

    def _kept_text(self) -> str:
        return f"the history is kept by the provider ({self._kept_at}): nothing can be collected here"

    def _kept_lines(self) -> list[str]:
        """What ``explain`` says of it."""
        return [self._kept_text()] if self._kept_at else []
