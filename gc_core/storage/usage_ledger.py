"""
Usage of a session recorded in its ledger: reports, calls outside the conversation, breaks of the prefix.

The sums are computed from the ledger on request, and continued from there: a session that is opened again continues
counting, and one that is not asked pays nothing. Rewound calls were paid all the same.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Iterator

import attrs

from gc_core.cache.account import CacheAccount, CacheReport, CallAccount
from gc_core.cache.rate import Minute
from gc_core.cache.sent_prefix import SentPrefix
from gc_core.errors import MessageError
from gc_core.providers.cache_terms import CacheTerms
from gc_core.providers.replies import miss_reason
from gc_core.storage.ledger import Booked, Collected, Configured, Entry, Ledger, Observed, Opened, Rewound, Undone
from gc_core.values.messages import MOST_TOKENS, Request, Usage
from gc_core.values.results import GCResult
from gc_core.values.validators import check_flag

SUMMARIES = "summaries"
"""The kind under which a summarizer's calls are recorded."""

UNREPORTED, REFUSED = APART = ("calls without a report", "replies not taken")
"""
The kind under which calls of the conversation are recorded if ``max_total_tokens`` limits the session: those without
reported usage, and those whose reply a plugin found inconsistent.
"""


def checked(usage: Usage) -> Usage:
    """Return the usage unchanged. Raises MessageError, naming the field, for anything but a number of tokens."""
    for field in attrs.fields(Usage):
        value = getattr(usage, field.name)
        if field.name == "iterations":
            for each in value:
                checked(each)
        elif field.name == "cache_reported":
            check_flag("usage.cache_reported", value, error=MessageError)
        elif type(value) is not int or not 0 <= value < MOST_TOKENS:
            raise MessageError(f"usage.{field.name} = {value!r:.100}: expected a number of tokens")
    return usage


class LedgerAccount:
    """The account of a recorded session, read from its ledger, each entry once."""

    def __init__(self, ledger: Ledger, format: str, tpm_budget: int | None = None) -> None:  # noqa: A002
        self._ledger = ledger
        self._account = CacheAccount(None, format, tpm_budget)
        self._reached = 0

    def calls(self) -> Iterator[CallAccount]:
        """Yield the model calls since the last call, oldest first. Raises LogError at an invalid line."""
        for place, entry in self._ledger.entries(self._reached):
            self._reached = place.end
            call = followed(self._account, entry)
            if call is not None:
                yield call

    def report(self) -> CacheReport:
        """Return the account from the ledger. Raises LogError at an invalid line."""
        collections.deque(self.calls(), maxlen=0)
        return self._account.report()


def followed(account: CacheAccount, entry: Entry) -> CallAccount | None:
    """Pass one entry of a ledger to an account; return the model call that it reports, if any."""
    match entry.record:
        case Observed(usage=Usage() as usage) as report:
            return account.called(
                usage,
                time=entry.time,
                sent=report.sent or None,
                counted=report.raw,
                changed=report.changed,
                reason=report.reason,
            )
        case Booked() as booked:
            account.booked(booked.source, booked.usage, booked.model, time=entry.time, estimated=booked.estimated)
        case Opened(model=model) | Configured(model=model):
            account.switched(model)
        case Collected(reason=None):
            account.edited("an item was brought back")
        case Collected() as record:
            account.collected(_described(record))
        case Undone(redone=redone):
            account.edited(f"a collection was {'done again' if redone else 'undone'}")
        case Rewound(why=why):
            account.edited(f"the session went back: {why}")
        case _:
            pass
    return None


def _described(record: Collected) -> str:
    """Describe a collection in words: reason, strategy, tokens before and after."""
    reason = "" if record.reason is None else record.reason.value
    by = ", ".join(dict.fromkeys(removal.strategy for removal in record.removals if removal.strategy))
    head = ", and what waited at the head took effect" if record.changed_head else ""
    who = f" by {by}" if by else ""
    return f"collection ({reason}){who}, {record.tokens_before:,} to {record.tokens_after:,} tokens{head}"


class CallWatch:
    """A running session's own record of its calls, in addition to the provider's report, for its ledger."""

    def __init__(self, terms: CacheTerms) -> None:
        self._minute = Minute(terms)
        self._prefix = SentPrefix()
        self._began = 0.0
        self._minute_before = 0
        self._reports: collections.deque[Usage] = collections.deque()
        self._reported = False

    def sent(self, request: Request) -> None:
        """Note that a request is sent now."""
        self._prefix.follow(request)
        self._began = time.time()

    def observed(self, raw: int, usage: Usage, reply: object) -> Observed:
        """Return the entry of a call: ``raw`` is the request's own count."""
        self._minute_before = self._minute.tokens
        self._minute.add(time.time(), usage)
        return Observed(
            raw=raw,
            reported=usage.input_tokens,
            usage=usage,
            sent=round(self._began, 3),
            changed=self._prefix.changed(),
            reason=miss_reason(reply),
        )

    def above(self, tpm_budget: int | None) -> int:
        """Return the tokens of the last minute if the last call brought them above the budget, otherwise 0."""
        if tpm_budget is None or self._minute_before > tpm_budget:
            return 0
        return self._minute.tokens if self._minute.tokens > tpm_budget else 0

    def summarized(self, input_tokens: int, output_tokens: int) -> None:
        """Record the usage of a summarizer's call; any thread. Raises MessageError for invalid numbers."""
        self._reports.append(checked(Usage(input_tokens=input_tokens, output_tokens=output_tokens)))

    def summaries(self, result: GCResult | None, model: str | None) -> Iterator[Booked]:
        """
        Yield the entries of summarizers' usage since the last call.

        If the summarizer of a collection reports no usage, its calls are estimated by the tokens of originals and
        summaries.
        """
        self._reported = self._reported or bool(self._reports)
        while self._reports:
            yield Booked(source=SUMMARIES, usage=self._reports.popleft(), model=model)
        if result is None or self._reported:
            return
        for outcome in result.summaries:
            if outcome.attempts:
                tokens = outcome.tokens_before * outcome.attempts, outcome.tokens_after * outcome.attempts
                usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1])
                yield Booked(source=SUMMARIES, usage=usage, model=model, estimated=True)
