"""The interface for code around a session: tools for the model, a worker, telemetry, the contract kit."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence

import attrs

from gc_core.collector.collector import Collector
from gc_core.collector.scoring import Scoring
from gc_core.collector.summarizing import Answering
from gc_core.observer import Watch
from gc_core.providers.contract import TokenCounter
from gc_core.session.core import SessionCore
from gc_core.session.history import History
from gc_core.session.recall_suggestions import RecallSuggestions
from gc_core.values.items import Item
from gc_core.values.loggers import bound
from gc_core.values.messages import Payload
from gc_core.values.results import ColdText
from gc_core.window.callers_list import Departure, departure
from gc_core.window.context import Context
from gc_core.window.cursor import OpenCall
from gc_core.window.memory_blocks import Blocks
from gc_core.window.view import Protection


@attrs.frozen
class WindowPort:
    """
    Access to a session from outside its calls: to read the window, to count as the session does,
    and to observe it.
    """

    _core: SessionCore = attrs.field(repr=False)

    # -- the window ------------------------------------------------------------------------------------------------

    @property
    def context(self) -> Context:
        """The window; read-only."""
        return self._core.runtime.context

    @property
    def counter(self) -> TokenCounter:
        """The token counter."""
        return self._core.runtime.counter

    @property
    def open_calls(self) -> Sequence[OpenCall]:
        """The calls that wait for their results."""
        return self._core.runtime.context.open_calls

    @property
    def next_item(self) -> int:
        """The number of the next item that arrives."""
        return self._core.runtime.context.cursor.items + 1

    @property
    def most_tokens(self) -> int:
        """The most tokens that a request may have besides leases, as the budget counts."""
        meter = self._core.meter
        return meter.scheduler.fit(meter.moment())

    @property
    def blocks(self) -> Blocks:
        """Enrichment and memory blocks: those waiting for the next request, and the newest in the window."""
        return self._core.runtime.state.blocks

    def find(self, item: str) -> Item | None:
        """Return a resident item by its id, or None."""
        return self._core.runtime.context.find(item)

    def estimate(self, tokens: int) -> int:
        """Convert this many tokens of the budget to the provider's count, as calibrated by its reports."""
        return self._core.runtime.state.calibration.estimate(tokens)

    def estimate_undone(self) -> int | None:
        """
        Return the provider's count of the window as ``undo`` would leave it, with nothing changed; None if there is
        nothing to undo.
        """
        with self.entered("estimate_undone"):
            context = self._core.runtime.recorder.if_undone()
            return None if context is None else self.estimate(context.budget.total)

    def place_waiting(self) -> None:
        """Place the waiting blocks at the end now, without a request. Raises LogError if they cannot be written."""
        with self.entered("place_waiting"):
            self._core.inbox.place_waiting()

    def digests(self, messages: Sequence[Payload]) -> tuple[str, ...]:
        """
        Return the digests by which ``sync`` knows messages; those of its last list are not hashed again. It does not
        wait for a running call.
        """
        return self._core.lists.digests(messages)

    def departure(self, digests: Sequence[str]) -> Departure:
        """Return where a list with these ``digests`` departs from the last one. It does not wait for a running call."""
        state = self._core.runtime.state
        return departure(state.given, state.context.messages, digests)

    @property
    def listed(self) -> History:
        """Recall and search for what came with the messages of the caller's last list, and for nothing else."""
        return self._core.history.listed

    # -- collecting ------------------------------------------------------------------------------------------------

    @property
    def suggestions(self) -> RecallSuggestions:
        """Suggests what to recall."""
        return self._core.suggestions

    @property
    def answering(self) -> Answering:
        """The summarizer with its checks."""
        return self._core.collections.answering

    @property
    def collector(self) -> Collector:
        """Carries out collections."""
        return self._core.collections.collector

    @property
    def scoring(self) -> Scoring:
        """Scores importance."""
        return self._core.collections.scoring

    def search_cold(self, query: str, limit: int) -> tuple[ColdText, ...]:
        """Search what left the window, as a strategy does."""
        return self._core.archive.search_cold(query, limit)

    @property
    def protection(self) -> Protection:
        """The items that no strategy may remove."""
        return self._core.meter.protection

    # -- observing -------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The session's id."""
        return self._core.runtime.store.session

    @property
    def model(self) -> str | None:
        """The model's name."""
        return self._core.runtime.state.model

    @property
    def tokens_sent(self) -> int:
        """Tokens of the last request, uncalibrated; 0 before the first."""
        return self._core.meter.raw_sent

    @property
    def lock(self) -> threading.RLock:
        """The lock that a running call holds."""
        return self._core.gate.lock

    @property
    def is_closed(self) -> bool:
        """Whether the session was closed."""
        return self._core.gate.closed

    @property
    def is_inherited(self) -> bool:
        """True if this process is a forked child of the one that opened the session."""
        return self._core.runtime.store.is_inherited

    @property
    def observer(self) -> Watch:
        """Observes the session's calls, events, records and summaries."""
        return self._core.runtime.events.observer

    def observe(self, observer: Watch) -> None:
        """Set the observer."""
        self._core.observe(observer)

    def entered(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Keep other threads out of the session. Raises SessionClosedError."""
        return self._core.gate.entered(name)

    def logged(self) -> contextlib.AbstractContextManager[object]:
        """Make log records name the session."""
        return bound(self._core.gate.scope)
