"""
The part of a session that keeps to ``max_total_tokens``: what was spent, when the agent is told, when it ends.

Nothing of it runs in a session without that limit.
"""

from __future__ import annotations

from gc_core.collector.spend_pacing import UNPACED, Pace, notice
from gc_core.errors import SpendLimitError
from gc_core.events import SpendNotice
from gc_core.providers.token_counting import part_tokens
from gc_core.session.window_meter import Scheduling
from gc_core.storage.ledger import Booked
from gc_core.storage.usage_ledger import APART, REFUSED, UNREPORTED, LedgerAccount
from gc_core.values.messages import Payload, Usage
from gc_core.values.sources import ENRICHMENT

BLOCK = "gc: spend limit {}"
"""The name of the enrichment that tells the agent to finish; the limit is in it, so that each is told once."""


class Spending(Scheduling):
    """What a session has spent is in its ledger: a session that is opened again goes on from there."""

    _account: LedgerAccount

    def _keep_to_limit(self) -> None:
        """
        Tell the agent, at the end of the request that is being made, that its tokens come to an end.

        Raises SpendLimitError, with nothing changed, when they have; LogError when the ledger cannot say.
        """
        self._look_at_spend()
        pace = self._pace
        if pace.allowed is None or not pace.ends_soon:
            return
        if pace.is_over:
            raise SpendLimitError(spent=pace.spent, allowed=pace.allowed)
        key = (ENRICHMENT.name, BLOCK.format(pace.allowed))
        blocks = self._state.blocks
        if key in blocks.newest or any((block.source, block.name) == key for block in blocks.waiting):
            return
        self._state.give(ENRICHMENT.name, {key[1]: notice(pace)})
        self._tell(SpendNotice(spent=pace.spent, allowed=pace.allowed))

    def _look_at_spend(self) -> None:
        """
        Know what has been spent. Read from the ledger, so what an earlier process spent counts, and what a rollback
        took back, for it was paid; O(what is new). Raises LogError when the ledger cannot be read.
        """
        allowed = self._config.max_total_tokens
        if allowed is None:
            self._pace = UNPACED
            return
        report = self._account.report()
        calls = [report.spend, *(each.spend for each in report.apart if each.kind in APART)]
        self._pace = Pace(
            allowed=allowed,
            spent=report.total_tokens,
            calls=sum(spend.calls for spend in calls),
            output_tokens=sum(spend.output_tokens for spend in calls),
        )

    def _follow_spend(self) -> None:
        """The same where nothing may fail any more: the next call looks again."""
        with self.plugins.guarded("ledger", "accounts"):
            self._look_at_spend()

    def _goes_on(self, last_used: float) -> None:
        super()._goes_on(last_used)
        self._follow_spend()

    # -- calls that no report of the conversation tells of -------------------------------------------------------------

    def _book_unreported(self, reply_tokens: int) -> None:
        """A call whose usage nobody reported counts by the session's own estimate."""
        if self._raw_sent:
            self._book_call(UNREPORTED, self._own_count(reply_tokens), estimated=True)

    def _book_refused(self, reply: Payload, reported: Usage | None) -> None:
        """A reply that is not taken was paid all the same."""
        if reported is not None:
            self._book_call(REFUSED, reported, estimated=False)
        elif self._raw_sent:
            tokens = sum(part_tokens(part, self._counter) for part in self._format.read(reply))
            self._book_call(REFUSED, self._own_count(tokens), estimated=True)

    def _own_count(self, reply_tokens: int) -> Usage:
        return Usage(input_tokens=self._state.calibration.estimate(self._raw_sent), output_tokens=reply_tokens)

    def _book_call(self, kind: str, usage: Usage, *, estimated: bool) -> None:
        if self._config.max_total_tokens is None:
            return
        with self.plugins.guarded("ledger", "booking"):  # the call was made; without the booking it goes on
            self._recorder.book(Booked(source=kind, usage=usage, model=self._state.model, estimated=estimated))
