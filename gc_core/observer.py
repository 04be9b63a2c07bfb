"""Watch what a session does: its calls, events and records. ``gc_core.integrations.telemetry`` uses it."""

from __future__ import annotations

import contextlib
from typing import Final

from gc_core.events import Event
from gc_core.values.summary import SummaryRequest

_NOTHING: Final = contextlib.nullcontext()


class Watch:
    """
    Sees what a session does, and changes nothing of it; this one looks away.

    What a subclass is told of has happened already, so none of its methods may raise.
    """

    def call(self, _name: str) -> contextlib.AbstractContextManager[None]:
        """Inside, a public call of the session runs."""
        return _NOTHING

    def asking(
        self, _by: str, _model: str | None, request: SummaryRequest
    ) -> contextlib.AbstractContextManager[SummaryRequest]:
        """Inside, the summarizer of that name is asked, once; with what it gives. ``_model`` is the one after it."""
        return contextlib.nullcontext(request)

    def told(self, event: Event) -> None:
        """Something happened."""

    def noted(self, record: object) -> None:
        """A record stands in the ledger."""


UNWATCHED: Final = Watch()
