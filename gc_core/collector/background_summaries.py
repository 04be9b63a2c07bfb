"""Summaries written ahead of need, in the background, and used when ready and still valid."""

from __future__ import annotations

from typing import Protocol

import attrs

from gc_core.collector.collector import Prepared
from gc_core.collector.summarizing import Written
from gc_core.values.removals import GCRemovalItem


class Coming(Protocol):
    """A text that is being written: a future of a thread, or of an event loop."""

    def done(self) -> bool:
        """Return whether it is done or failed."""

    def cancelled(self) -> bool:
        """Return whether it was abandoned."""

    def cancel(self) -> object:
        """Abandon it; a thread cannot be stopped and finishes for nothing."""

    def exception(self) -> BaseException | None:
        """Return the error of a finished one, or None."""

    def result(self) -> Written:
        """Return the text of a finished one."""


@attrs.define
class Ahead:
    """
    Summaries requested ahead of need.

    A text counts only once a collection uses it: until then nothing of it is in window or ledger, and it becomes
    useless when its originals have left.
    """

    _coming: list[tuple[GCRemovalItem, Coming]] = attrs.field(factory=list)

    @property
    def busy(self) -> bool:
        """True if something is being written, or waits to be used."""
        return bool(self._coming)

    def begin(self, removal: GCRemovalItem, coming: Coming) -> None:
        """Note that a text is being written for this removal."""
        self._coming.append((removal, coming))

    def ready(self) -> tuple[Prepared, ...]:
        """Return the finished ones without waiting for the rest. Failed ones are requested again when needed."""
        self._coming = [(removal, coming) for removal, coming in self._coming if not _failed(coming)]
        return tuple(
            Prepared(removal=removal, written=coming.result()) for removal, coming in self._coming if coming.done()
        )

    def forget(self) -> None:
        """Abandon all: the window has changed or was closed."""
        for _, coming in self._coming:
            coming.cancel()
        self._coming = []


def _failed(coming: Coming) -> bool:
    return coming.done() and (coming.cancelled() or coming.exception() is not None)
