"""Summaries that are written ahead of need, in the background, and swapped in when ready and still valid."""

from __future__ import annotations

from typing import Protocol

import attrs

from gc_core.collector.collector import Prepared
from gc_core.collector.summarizing import Written
from gc_core.values.removals import GCRemovalItem


class Coming(Protocol):
    """A text that is being written: a future of a thread, or of an event loop."""

    def done(self) -> bool:
        """Whether it is there, or failed."""

    def cancelled(self) -> bool:
        """Whether nobody writes it any more."""

    def cancel(self) -> object:
        """Nobody wants it any more; a thread cannot be stopped and goes on for nothing."""

    def exception(self) -> BaseException | None:
        """Why there is none, of one that is done."""

    def result(self) -> Written:
        """The text, of one that is done."""


@attrs.define
class Ahead:
    """
    What was asked for ahead of need.

    A text counts only once a collection takes it in: until then nothing of it is in window or ledger, and it is of no
    use any more when what it stands for has left.
    """

    _coming: list[tuple[GCRemovalItem, Coming]] = attrs.field(factory=list)

    @property
    def busy(self) -> bool:
        """Whether something is being written, or waits to be taken in."""
        return bool(self._coming)

    def begin(self, removal: GCRemovalItem, coming: Coming) -> None:
        """A text is being written for this removal."""
        self._coming.append((removal, coming))

    def ready(self) -> tuple[Prepared, ...]:
        """What is there; nobody waits for the rest. What failed is asked for again when it is needed."""
        self._coming = [(removal, coming) for removal, coming in self._coming if not _failed(coming)]
        return tuple(
            Prepared(removal=removal, written=coming.result()) for removal, coming in self._coming if coming.done()
        )

    def forget(self) -> None:
        """The window was changed, or is gone: what was written for it, or is being written, is of no use."""
        for _, coming in self._coming:
            coming.cancel()
        self._coming = []


def _failed(coming: Coming) -> bool:
    return coming.done() and (coming.cancelled() or coming.exception() is not None)
