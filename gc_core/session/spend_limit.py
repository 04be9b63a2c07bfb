"""
Keeps a session within ``max_total_tokens``: tracks the spending, warns the agent, ends the session.

None of this runs in a session without a limit.
"""

from __future__ import annotations

from gc_core.collector.spend_pacing import UNPACED, Pace, notice
from gc_core.errors import MessageError, SpendLimitError
from gc_core.events import SpendNotice
from gc_core.providers.token_counting import part_tokens
from gc_core.session.masking import Masking
from gc_core.session.runtime import Runtime
from gc_core.session.window_meter import WindowMeter
from gc_core.storage.ledger import Booked
from gc_core.storage.usage_ledger import APART, REFUSED, UNREPORTED, LedgerAccount, checked
from gc_core.values.messages import Payload, Usage
from gc_core.values.sources import ENRICHMENT
from gc_core.values.validators import check_flag, check_kind

BLOCK = "gc: spend limit {}"
"""The enrichment that tells the agent to finish; it names the limit, so that each is announced once."""


class SpendLimit:
    """The spending of a session is in its ledger: a session that is opened again continues from there."""

    def __init__(self, runtime: Runtime, masking: Masking, meter: WindowMeter, account: LedgerAccount) -> None:
        self._runtime = runtime
        self._masking = masking
        self._meter = meter
        self._account = account

    def require_allowance(self) -> None:
        """
        Warn the agent, at the end of the request being rendered, that its tokens are running out.

        Raises SpendLimitError, with nothing changed, when they are spent; LogError when the ledger cannot be read.
        """
        self.look()
        pace = self._meter.pace
        if pace.allowed is None or not pace.ends_soon:
            return
        if pace.is_over:
            raise SpendLimitError(spent=pace.spent, allowed=pace.allowed)
        key = (ENRICHMENT.name, BLOCK.format(pace.allowed))
        blocks = self._runtime.state.blocks
        if key in blocks.newest or any((block.source, block.name) == key for block in blocks.waiting):
            return
        self._runtime.state.give(ENRICHMENT.name, {key[1]: notice(pace)})
        self._runtime.events.emit(SpendNotice(spent=pace.spent, allowed=pace.allowed))

    def look(self) -> None:
        """
        Update the pace from what has been spent. Read from the ledger, so what an earlier process spent counts, and
        what a rollback rewound, because it was paid; O(what is new). Raises LogError when the ledger cannot be read.
        """
        allowed = self._runtime.config.max_total_tokens
        if allowed is None:
            self._meter.pace = UNPACED
            return
        report = self._account.report()
        calls = [report.spend, *(each.spend for each in report.apart if each.kind in APART)]
        self._meter.pace = Pace(
            allowed=allowed,
            spent=report.total_tokens,
            calls=sum(spend.calls for spend in calls),
            output_tokens=sum(spend.output_tokens for spend in calls),
        )

    def follow(self) -> None:
        """Update the spending where an error must not escape; the next call reads it again."""
        with self._runtime.plugins.guarded("ledger", "accounts"):
            self.look()

    # -- calls without a usage report of the conversation -------------------------------------------------------------

    def book_unreported(self, reply_tokens: int) -> None:
        """Record a call without reported usage by the session's own estimate."""
        if self._meter.raw_sent:
            self._book_call(UNREPORTED, self._own_count(reply_tokens), estimated=True)

    def book_refused(self, reply: Payload, reported: Usage | None) -> None:
        """Record the cost of a reply that was not appended."""
        if reported is not None:
            self._book_call(REFUSED, reported, estimated=False)
        elif self._meter.raw_sent:
            tokens = sum(part_tokens(part, self._runtime.counter) for part in self._runtime.format.read(reply))
            self._book_call(REFUSED, self._own_count(tokens), estimated=True)

    def book(self, kind: str, usage: object, *, model: str | None, estimated: bool) -> None:
        """Record a call outside the conversation; see ``GCSession.book``."""
        if not isinstance(kind, str) or not kind:
            raise MessageError(f"kind = {kind!r:.200}: expected the name that reports use")
        counts = checked(usage if isinstance(usage, Usage) else self._runtime.format.usage(usage))
        check_kind("model", model, str | None, "the name of a model, or None", error=MessageError)
        check_flag("estimated", estimated, error=MessageError)
        model = model if model is None else self._masking.name(model)
        record = Booked(source=self._masking.name(kind), usage=counts, model=model, estimated=estimated)
        self._runtime.recorder.book(record)

    def _own_count(self, reply_tokens: int) -> Usage:
        return Usage(
            input_tokens=self._runtime.state.calibration.estimate(self._meter.raw_sent), output_tokens=reply_tokens
        )

    def _book_call(self, kind: str, usage: Usage, *, estimated: bool) -> None:
        if self._runtime.config.max_total_tokens is None:
            return
        with self._runtime.plugins.guarded("ledger", "booking"):  # the call was made, with or without a record
            self._runtime.recorder.book(
                Booked(source=kind, usage=usage, model=self._runtime.state.model, estimated=estimated)
            )
