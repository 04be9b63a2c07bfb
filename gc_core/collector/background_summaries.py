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
        """Return whether it is there, or failed."""

    def cancelled(self) -> bool:
        """Return whether no one writes it any more."""

    def cancel(self) -> object:
        """No one wants it any more; a thread cannot be stopped and goes on for nothing."""

    def exception(self) -> BaseException | None:
        """Return why there is none, of one that is done."""

    def result(self) -> Written:
        """Return the text, of one that is done."""


@attrs.define
class Ahead:
    """
    What was requested ahead of need.

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
        """Return what is there; no one waits for the rest. What failed is requested again when it is needed."""
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
