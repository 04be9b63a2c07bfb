"""Observe a session: its calls, events and records. ``gc_core.integrations.telemetry`` uses it."""

from __future__ import annotations

import contextlib
from typing import Final

from gc_core.events import Event
from gc_core.values.summary import SummaryRequest

_NOTHING: Final = contextlib.nullcontext()


class Watch:
    """
    Observes a session without changing it; this base class ignores everything.

    Its methods are called after the fact, so none of them may raise.
    """

    def call(self, _name: str) -> contextlib.AbstractContextManager[None]:
        """Enclose a public call of the session."""
        return _NOTHING

    def asking(
        self, _by: str, _model: str | None, request: SummaryRequest
    ) -> contextlib.AbstractContextManager[SummaryRequest]:
        """
        Enclose one request to the summarizer of that name and its answer. ``_model`` is the
        model that the name stands for.
        """
        return contextlib.nullcontext(request)

    def on_event(self, event: Event) -> None:
        """Called with each event."""

    def on_record(self, record: object) -> None:
        """Called with each record that was written to the ledger."""


UNWATCHED: Final = Watch()
