"""What a replay measures: of every call, of a session, of several together."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from gc_core.results import GCTriggerReason

CACHE_READ = 0.1
"""Price of a token that is read from the provider's prompt cache, in prices of an uncached one (TARGETS.md)."""

CACHE_WRITE = 1.25
"""Price of a token that is not there yet and is written to the cache."""


@attrs.frozen(kw_only=True)
class Prompt:
    """
    The tokens of one prompt, and how many of them stood there in the prompt before.

    Attributes:
        tokens: All of them.
        cached: Those of the longest common prefix with the previous prompt, in whole messages.

    """

    tokens: int
    cached: int

    @property
    def cost(self) -> float:
        """Its price, in tokens: what is cached is cheap to read, what is not has to be written."""
        return CACHE_READ * self.cached + CACHE_WRITE * (self.tokens - self.cached)


@attrs.frozen(kw_only=True)
class Share:
    """
    How much of something is there.

    Attributes:
        kept: Tokens of it that stand in the prompt.
        whole: Tokens of all of it.

    """

    kept: int = 0
    whole: int = 0

    def plus(self, other: Share) -> Share:
        """Both together."""
        return Share(kept=self.kept + other.kept, whole=self.whole + other.whole)

    @property
    def percent(self) -> float:
        """Percent of it; 100 of nothing."""
        return 100.0 * self.kept / self.whole if self.whole else 100.0


@attrs.frozen(kw_only=True)
class Sent:
    """
    A request as it was rendered, judged by what the transcript says and by nothing that the session says.

    Attributes:
        prompt: Its tokens, counted again.
        unchanged: Messages at its head that are those of the previous request.
        broke: These are fewer than the previous request had, its last two left aside.
        whole: The previous request stands whole at its head.
        breaches: What the provider would refuse, in words.
        locked_missing: Bytes of LOCKED texts and schemas that are not in it.
        user_text: Of what the user typed so far; texts over 2,000 tokens left aside.
        first_request: Of the first run of user messages.

    """

    prompt: Prompt
    unchanged: int = 0
    broke: bool = False
    whole: bool = True
    breaches: tuple[str, ...] = ()
    locked_missing: int = 0
    user_text: Share = Share()
    first_request: Share = Share()


@attrs.frozen(kw_only=True)
class Owner:
    """Who holds tokens."""

    name: str
    tokens: int


@attrs.frozen(kw_only=True)
class Overflow:
    """
    A call that could not be sent: what may not be removed is larger than the window.

    Attributes:
        call: Its number, from 1 on.
        needed: Tokens of the request as it stood.
        limit: Tokens that it may have.
        locked: Tokens of LOCKED content, counted from the transcript.
        locked_alone: LOCKED content alone is larger than the window, so that no collector could have helped.
        owners: Who holds the tokens, largest first.

    """

    call: int
    needed: int
    limit: int
    locked: int
    locked_alone: bool
    owners: tuple[Owner, ...]


@attrs.frozen(kw_only=True)
class CallMeasures:
    """
    One model call.

    Attributes:
        number: From 1 on.
        sent: The request, or None when there was none.
        overflow: Why there was none.
        without: The prompt that it would have been without any collection.
        collections: Why collections ran that changed something, before the call and after it.
        deferred: Collections that were tried and not worth it.
        tried: A collection was tried, whatever came of it.
        collected: Something was collected since the previous request was rendered.
        repeats: Dry runs with the goal of a collection right after it.
        repeats_not_empty: Those of them that found more to remove.
        seconds: Wall time of ``pre_send`` and ``post_turn``, which takes the reply in.
        ingest_seconds: Wall time of appending what came since the previous call.

    """

    number: int
    sent: Sent | None
    overflow: Overflow | None = None
    without: Prompt
    collections: tuple[GCTriggerReason, ...] = ()
    deferred: int = 0
    tried: bool = False
    collected: bool = False
    repeats: int = 0
    repeats_not_empty: int = 0
    seconds: float = 0.0
    ingest_seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens that were sent; 0 when nothing was."""
        return 0 if self.sent is None else self.sent.prompt.tokens

    @property
    def drifted(self) -> bool:
        """What had been sent changed although nothing was collected."""
        return self.sent is not None and not self.sent.whole and not self.collected


@attrs.frozen(kw_only=True)
class ReasonCount:
    """How many collections ran for a reason."""

    reason: GCTriggerReason
    count: int


@attrs.frozen(kw_only=True)
class Timing:
    """Milliseconds a call: the median, and what 99 of 100 calls stay within; 0 when there is none."""

    calls: int
    median_ms: float
    p99_ms: float


@attrs.frozen(kw_only=True)
class ReplaySummary:
    """
    The figures of a session, or of several.

    Tokens, cost and shares are of the calls that could be sent, so that both sides of a comparison are of the same.

    Attributes:
        calls: Model calls.
        collections: Collections that changed something, by reason.
        deferred: Collections that were tried and not worth it.
        tokens_sent: With collection, counted again.
        tokens_without: Of the same calls without any collection.
        calls_over: Calls larger than the window, or refused with ContextOverflowError.
        calls_over_locked: Refused because LOCKED content alone is larger than the window; not among ``calls_over``.
        calls_over_without: Calls that would not have fitted without collection.
        rule_breaches: In how many places requests broke the provider's rules.
        locked_bytes_missing: Bytes of LOCKED texts and schemas that requests lacked.
        breaks: Calls whose common prefix is shorter than the previous request less its last two messages.
        drifts: Calls in which something sent had changed although nothing was collected; to be 0.
        cost: Price of the prompts relative to no collection; None when nothing was sent.
        user_text_kept: Percent of what the user typed, over all calls.
        first_request_kept: Percent of the first run of user messages, over all calls.
        repeats: Collections after which a second one with the same goal was tried.
        repeats_not_empty: Those in which the second one found something; to be 0.
        collecting: Time of the calls in which a collection was tried.
        plain: Time of the other calls.
        ingest: Time of appending what came before a call.

    """

    calls: int
    collections: tuple[ReasonCount, ...]
    deferred: int
    tokens_sent: int
    tokens_without: int
    calls_over: int
    calls_over_locked: int
    calls_over_without: int
    rule_breaches: int
    locked_bytes_missing: int
    breaks: int
    drifts: int
    cost: float | None
    user_text_kept: float
    first_request_kept: float
    repeats: int
    repeats_not_empty: int
    collecting: Timing
    plain: Timing
    ingest: Timing

    @property
    def collected(self) -> int:
        """Collections of all reasons."""
        return sum(entry.count for entry in self.collections)


@attrs.frozen(kw_only=True)
class ReplayReport:
    """
    A session, call by call.

    Attributes:
        session: Its name.
        format: Name of the format of its messages.
        window: Tokens that a request may have.
        threshold_percent: Usage at which a collection begins.
        target_percent: Usage that a collection goes down to.
        calls: In order.

    """

    session: str
    format: str
    window: int
    threshold_percent: float
    target_percent: float
    calls: tuple[CallMeasures, ...]

    @property
    def fill(self) -> tuple[int, ...]:
        """Tokens sent, by call; 0 where nothing could be sent."""
        return tuple(call.tokens for call in self.calls)

    @property
    def overflows(self) -> tuple[Overflow, ...]:
        """The calls that could not be sent."""
        return tuple(call.overflow for call in self.calls if call.overflow is not None)

    @property
    def breaches(self) -> tuple[str, ...]:
        """Every breach of the provider's rules, with its call."""
        return tuple(
            f"call {call.number}: {text}" for call in self.calls if call.sent is not None for text in call.sent.breaches
        )

    def summary(self) -> ReplaySummary:
        """The figures of the session."""
        return summary_of(self.calls, window=self.window)


def pooled(reports: Sequence[ReplayReport]) -> ReplaySummary:
    """The figures of all calls of several sessions, every call weighing the same."""
    calls = [call for report in reports for call in report.calls]
    return summary_of(calls, window=max((report.window for report in reports), default=0))


def summary_of(calls: Sequence[CallMeasures], *, window: int) -> ReplaySummary:
    """The figures of these calls in a window of so many tokens."""
    pairs = [(call, call.sent) for call in calls if call.sent is not None]
    sent = [request for _, request in pairs]
    reasons = Counter(reason for call in calls for reason in call.collections)
    locked_over = sum(call.overflow is not None and call.overflow.locked_alone for call in calls)
    return ReplaySummary(
        calls=len(calls),
        collections=tuple(ReasonCount(reason=reason, count=count) for reason, count in reasons.most_common()),
        deferred=sum(call.deferred for call in calls),
        tokens_sent=sum(request.prompt.tokens for request in sent),
        tokens_without=sum(call.without.tokens for call, _ in pairs),
        calls_over=sum(call.sent is None or call.tokens > window for call in calls) - locked_over,
        calls_over_locked=locked_over,
        calls_over_without=sum(call.without.tokens > window for call in calls),
        rule_breaches=sum(len(request.breaches) for request in sent),
        locked_bytes_missing=sum(request.locked_missing for request in sent),
        breaks=sum(request.broke for request in sent),
        drifts=sum(call.drifted for call in calls),
        cost=_relative_cost([call for call, _ in pairs]),
        user_text_kept=_share(request.user_text for request in sent).percent,
        first_request_kept=_share(request.first_request for request in sent).percent,
        repeats=sum(call.repeats for call in calls),
        repeats_not_empty=sum(call.repeats_not_empty for call in calls),
        collecting=_timing([call.seconds for call in calls if call.tried]),
        plain=_timing([call.seconds for call in calls if not call.tried]),
        ingest=_timing([call.ingest_seconds for call in calls]),
    )


def _relative_cost(calls: Iterable[CallMeasures]) -> float | None:
    with_collection = without = 0.0
    for call in calls:
        with_collection += call.sent.prompt.cost if call.sent is not None else 0.0
        without += call.without.cost
    return with_collection / without if without else None


def _share(shares: Iterable[Share]) -> Share:
    total = Share()
    for share in shares:
        total = total.plus(share)
    return total


def _timing(seconds: Sequence[float]) -> Timing:
    if not seconds:
        return Timing(calls=0, median_ms=0.0, p99_ms=0.0)
    ranked = sorted(seconds)
    p99 = ranked[math.ceil(0.99 * len(ranked)) - 1]
    return Timing(calls=len(ranked), median_ms=1000 * statistics.median(ranked), p99_ms=1000 * p99)
