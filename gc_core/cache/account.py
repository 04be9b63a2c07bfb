"""
A session's use of the provider's prompt cache: tokens read, written and paid, and causes of misses.

It receives events in order and keeps sums: a session of a year takes as much memory here as one of a minute.
"""

from __future__ import annotations

import collections
import datetime as dt
import enum
from collections.abc import Iterator

import attrs

from gc_core.cache.rate import Minute
from gc_core.providers.cache_terms import CacheTerms, terms_of
from gc_core.providers.prices import Prices, missing_price, prices_of
from gc_core.relevance.needed_again import NeededAgain
from gc_core.values.messages import Usage

COMPACTION = "compaction"
"""The kind under which passes are recorded that the provider made by itself (``Usage.iterations``)."""

_UNCHANGED = "although the prefix was unchanged"
_KEPT = 20
"""The most misses and contradictions that a report lists; all are counted."""

_HOUR = 3600.0
# A count is an estimate, and small requests are mostly framing: only a larger difference contradicts it.
_OFF_BY = 2.0
_OFF_TOKENS = 2_000


class MissCause(enum.Enum):
    """Why the provider read less from its cache than it contained."""

    COLLECTION = "collection"
    EDIT = "edit"
    TOOLS = "tools"
    SYSTEM = "system"
    MODEL = "model"
    EXPIRED = "expired"
    PROVIDER = "provider"
    UNEXPLAINED = "unexplained"


@attrs.frozen(kw_only=True)
class Miss:
    """
    A prefix that was in the cache and was not read.

    Attributes:
        call: Number of the model call, from 1 on.
        tokens: Input tokens of the call that the cache contained before it and that were not read.
        cause: The main cause.
        text: Everything known about it, in words.

    """

    call: int
    tokens: int
    cause: MissCause
    text: str


@attrs.frozen(kw_only=True)
class Spend:
    """
    Sums over calls.

    Attributes:
        calls: The number of calls.
        input_tokens: All input tokens.
        read_tokens: Of those, tokens read from the cache.
        written_tokens: Of those, tokens written to it.
        fresh_tokens: Of those, tokens neither read nor written.
        output_tokens: Tokens of the replies.
        cost: USD of the calls with a known price.
        missing: The reason why the others have no price; "" if all are known.
        estimated: Some tokens are the session's own counts, because none were reported.
        silent: How many of the calls had a report that says nothing about the cache.

    """

    calls: int = 0
    input_tokens: int = 0
    read_tokens: int = 0
    written_tokens: int = 0
    fresh_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    missing: str = ""
    estimated: bool = False
    silent: int = 0

    @property
    def hit_percent(self) -> float:
        """Input tokens read from the cache, in percent of all, at most 100; 0 before the first call."""
        return min(100.0, 100.0 * self.read_tokens / self.input_tokens) if self.input_tokens else 0.0

    @property
    def usd(self) -> float | None:
        """The total cost; None if a price is missing."""
        return None if self.missing else self.cost

    def plus(self, usage: Usage, price: Prices | None, missing: str, *, estimated: bool = False) -> Spend:
        """Return the sums with one more call."""
        return Spend(
            calls=self.calls + 1,
            input_tokens=self.input_tokens + usage.input_tokens,
            read_tokens=self.read_tokens + usage.cache_read_tokens,
            written_tokens=self.written_tokens + usage.cache_write_tokens,
            fresh_tokens=self.fresh_tokens + usage.fresh_tokens,
            output_tokens=self.output_tokens + usage.output_tokens,
            cost=self.cost + (0.0 if price is None else price.cost(usage)),
            missing=self.missing or missing,
            estimated=self.estimated or estimated,
            silent=self.silent + (not usage.cache_reported),
        )


@attrs.frozen(kw_only=True)
class Apart:
    """
    Spending outside the conversation.

    Attributes:
        kind: ``"compaction"``, ``"summaries"``, ``"workers"``, or a name that a host gave.
        spend: The sums.

    """

    kind: str
    spend: Spend


@attrs.frozen(kw_only=True)
class CacheReport:
    """
    The use of the cache at one moment.

    Attributes:
        model: The model in use, or None.
        spend: Sums over the model calls of the conversation whose usage was reported.
        apart: Sums over calls outside it, by kind.
        misses: Missed reads by cause: how many, and their tokens.
        newest_misses: The newest of them, oldest first.
        contradictions: The newest reports that contradict the session's own count, in words.
        minute_tokens: Tokens of the last minute that count for a rate limit, as of the last call.
        tpm_budget: Tokens per minute that the provider allows, or None.
        needed_again: Content that the agent needed after it had been collected, since the session was created or
            opened.

    """

    model: str | None
    spend: Spend
    apart: tuple[Apart, ...] = ()
    misses: tuple[tuple[MissCause, int, int], ...] = ()
    newest_misses: tuple[Miss, ...] = ()
    contradictions: tuple[str, ...] = ()
    minute_tokens: int = 0
    tpm_budget: int | None = None
    needed_again: NeededAgain = attrs.field(factory=NeededAgain)

    @property
    def hit_percent(self) -> float:
        """Input tokens of the conversation that were read from the cache, in percent."""
        return self.spend.hit_percent

    @property
    def total_tokens(self) -> int:
        """Input and output tokens in total, including cache reads and calls outside the conversation."""
        sums = (self.spend, *(each.spend for each in self.apart))
        return sum(spend.input_tokens + spend.output_tokens for spend in sums)

    @property
    def cost(self) -> float | None:
        """USD in total, including calls outside the conversation; None if a price is missing."""
        parts = [self.spend.usd, *(each.spend.usd for each in self.apart)]
        return None if None in parts else sum(filter(None, parts))

    @property
    def missing(self) -> str:
        """The missing part of the price; "" if everything is known."""
        return next(filter(None, (self.spend.missing, *(each.spend.missing for each in self.apart))), "")

    def words(self) -> Iterator[str]:
        """Yield the report in sentences, a line each; nothing about the cache before a provider's first report."""
        if self.needed_again:
            yield str(self.needed_again)
        if not self.spend.calls and not self.apart:
            return
        yield f"cache: {spend_words(self.spend)}"
        for each in self.apart:
            yield f"{each.kind}, counted separately: {spend_words(each.spend)}"
        if self.missing:
            yield self.missing
        for cause, count, tokens in self.misses:
            yield f"cache misses, {cause.value}: {count}, {tokens:,} tokens"
        if self.newest_misses:
            yield f"the last miss: call {self.newest_misses[-1].call}, {self.newest_misses[-1].text}"
        yield from self.contradictions[-1:]
        if self.tpm_budget is not None:
            over = "above" if self.minute_tokens > self.tpm_budget else "of"
            yield f"{self.minute_tokens:,} tokens in the last minute, {over} {self.tpm_budget:,} allowed"


def spend_words(spend: Spend) -> str:
    """Describe sums: calls, tokens, percent, USD."""
    calls = f"{spend.calls:,} call{'s'[: spend.calls != 1]}"
    about = "about " if spend.estimated else ""
    tokens = f"{about}{spend.input_tokens:,} input tokens, {_cache_words(spend)}"
    cost = "cost unknown" if spend.usd is None else f"{about}${spend.usd:,.4f}"
    return f"{calls}, {tokens}, {spend.output_tokens:,} output tokens, {cost}"


def _cache_words(spend: Spend) -> str:
    if spend.silent == spend.calls:
        return "cache reads not reported"
    split = f"{spend.read_tokens:,} read, {spend.written_tokens:,} written, {spend.fresh_tokens:,} fresh"
    silent = f"; not reported for {spend.silent:,}" if spend.silent else ""
    return f"{spend.hit_percent:.1f} % read from the cache ({split}{silent})"


@attrs.frozen(kw_only=True)
class CallAccount:
    """
    One model call with its cost.

    Attributes:
        number: From 1 on.
        time: When it was reported, in seconds since 1970.
        idle_seconds: From the start of the previous request to the start of this one.
        usage: As reported.
        cost: USD, including the provider's own passes; None if the price is missing.
        miss: The prefix that was not read, or None.

    """

    number: int
    time: float
    idle_seconds: float
    usage: Usage
    cost: float | None
    miss: Miss | None


class CacheAccount:
    """
    Adds up what a session's provider reports, call by call, and explains cache misses.

    Args:
        model: The model in use.
        format: Name of the session's format.
        tpm_budget: Tokens per minute that the provider allows, or None.

    """

    def __init__(self, model: str | None, format: str, tpm_budget: int | None = None) -> None:  # noqa: A002
        self.model = model
        self.minute = Minute(terms_of(model, format))
        self._format = format
        self._tpm_budget = tpm_budget
        self._spend = Spend()
        self._apart: dict[str, Spend] = {}
        self._causes: dict[MissCause, tuple[int, int]] = {}
        self._misses: collections.deque[Miss] = collections.deque(maxlen=_KEPT)
        self._contradictions: collections.deque[str] = collections.deque(maxlen=_KEPT)
        self._collections: list[str] = []
        self._edits: list[str] = []
        self._held = 0
        self._hours = False
        self._sent: float | None = None
        self._switched = False

    @property
    def terms(self) -> CacheTerms:
        """The cache terms of the model in use."""
        return terms_of(self.model, self._format)

    # -- what happened -------------------------------------------------------------------------------------------------

    def switched(self, model: str | None) -> None:
        """Note that another model is in use: models do not share caches."""
        if model != self.model:
            self.model, self._switched = model, True

    def collected(self, text: str) -> None:
        """Note that a collection changed the window; ``text`` identifies it."""
        self._collections.append(text)

    def edited(self, text: str) -> None:
        """Note another change of what had been sent: undo, restore, rollback."""
        self._edits.append(text)

    def booked(self, kind: str, usage: Usage, model: str | None, *, time: float, estimated: bool = False) -> None:
        """Record a call outside the conversation, of a summarizer or a worker, with its own passes."""
        price, missing = self._price(model, time)
        self._apart[kind] = self._apart.get(kind, Spend()).plus(usage, price, missing, estimated=estimated)

    def called(
        self,
        usage: Usage,
        *,
        time: float,
        sent: float | None = None,
        counted: int = 0,
        changed: str = "",
        reason: str = "",
    ) -> CallAccount:
        """
        Record a call of the conversation that the provider reported; return it with its cost.

        Args:
            usage: What it reported.
            time: When it did, in seconds since 1970.
            sent: When the request began; by default ``time``.
            counted: The session's count of the request's tokens; 0 if unknown.
            changed: Where it differs from the previous request: ``"tools"``, ``"system"``, ``"messages"`` or "".
            reason: The provider's own word for why it missed the cache, or "".

        """
        began = time if sent is None else sent
        idle = 0.0 if self._sent is None else max(0.0, began - self._sent)
        price, missing = self._price(self.model, time)
        self._spend = self._spend.plus(attrs.evolve(usage, iterations=()), price, missing)
        for iteration in usage.iterations:
            self.booked(COMPACTION, iteration, self.model, time=time)
        self.minute.add(time, usage)
        self._contradict(usage, counted)
        miss = self._miss(usage, idle, changed, reason)
        self._settle(usage, began)
        cost = None if price is None else price.cost(usage)
        return CallAccount(number=self._spend.calls, time=time, idle_seconds=idle, usage=usage, cost=cost, miss=miss)

    def report(self) -> CacheReport:
        """Return the current report."""
        return CacheReport(
            model=self.model,
            spend=self._spend,
            apart=tuple(Apart(kind=kind, spend=spend) for kind, spend in self._apart.items()),
            misses=tuple((cause, count, tokens) for cause, (count, tokens) in self._causes.items()),
            newest_misses=tuple(self._misses),
            contradictions=tuple(self._contradictions),
            minute_tokens=self.minute.tokens,
            tpm_budget=self._tpm_budget,
        )

    # -- inside --------------------------------------------------------------------------------------------------------

    def _price(self, model: str | None, time: float) -> tuple[Prices | None, str]:
        day = dt.datetime.fromtimestamp(time, dt.UTC).date()
        return prices_of(model, self._format, day), missing_price(model, self._format, day)

    def _contradict(self, usage: Usage, counted: int) -> None:
        """Note a report that is impossible, or far from the session's own count; it is recorded all the same."""
        call, reported = self._spend.calls, usage.input_tokens
        cached = usage.cache_read_tokens + usage.cache_write_tokens
        if cached > reported:
            text = f"call {call}: {cached:,} tokens of the cache reported, but {reported:,} input tokens in all"
            self._contradictions.append(text)
        small, large = sorted((counted, reported))
        if counted and large > small * _OFF_BY and large - small > _OFF_TOKENS:
            text = f"call {call}: {reported:,} input tokens reported, {counted:,} counted"
            self._contradictions.append(f"{text}: something is sent that the session does not know, or is not sent")

    def _miss(self, usage: Usage, idle: float, changed: str, reason: str) -> Miss | None:
        slack = 0 if self.terms.writes_at_marks else self.terms.step_tokens
        missed = min(self._held, usage.input_tokens) - usage.cache_read_tokens
        if missed <= slack or not usage.cache_reported:
            return None
        found = list(self._causes_of(idle, changed, reason))
        cause = found[0][0]
        between = ", " if found[0][1] == _UNCHANGED else ": "
        miss = Miss(
            call=self._spend.calls,
            tokens=missed,
            cause=cause,
            text=f"{missed:,} tokens missed{between}{'; '.join(text for _, text in found)}",
        )
        count, tokens = self._causes.get(cause, (0, 0))
        self._causes[cause] = (count + 1, tokens + missed)
        self._misses.append(miss)
        return miss

    def _causes_of(self, idle: float, changed: str, reason: str) -> Iterator[tuple[MissCause, str]]:
        """
        Yield the causes, the main one first: loss of the whole cache, then changes of its head, then changes of the
        rest.
        """
        life = _HOUR if self._hours else self.terms.ttl_seconds
        explained = False
        if self._switched:
            explained = True
            yield MissCause.MODEL, f"the model was switched to {self.model}"
        if idle > life:
            explained = True
            yield MissCause.EXPIRED, f"idle for {idle:,.0f} seconds, the cache lives {life:,.0f}"
        if changed == MissCause.TOOLS.value:
            explained = True
            yield MissCause.TOOLS, "the tool schemas changed"
        if changed == MissCause.SYSTEM.value:
            explained = True
            yield MissCause.SYSTEM, "the system text changed"
        if changed:  # a collection at the end of a turn may have changed nothing that was sent
            explained = explained or bool(self._collections or self._edits)
            yield from ((MissCause.COLLECTION, text) for text in self._collections)
            yield from ((MissCause.EDIT, text) for text in self._edits)
        if reason:
            explained = True
            yield MissCause.PROVIDER, f"the provider says {reason}"
        if not explained:
            yield (
                MissCause.UNEXPLAINED,
                "messages changed that were sent" if changed else _UNCHANGED,
            )

    def _settle(self, usage: Usage, began: float) -> None:
        """Update what the cache contains after this call, as far as the report says."""
        terms = self.terms
        if terms.writes_at_marks or usage.cache_write_tokens:
            self._held = usage.cache_read_tokens + usage.cache_write_tokens
        else:
            whole = usage.input_tokens - usage.input_tokens % terms.step_tokens
            self._held = whole if usage.input_tokens >= terms.least_tokens else 0
        self._hours = self._hours or usage.cache_write_1h_tokens > 0
        self._sent, self._switched = began, False
        self._collections, self._edits = [], []
