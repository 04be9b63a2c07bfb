"""What a replay measures: of every call, of a session, of several together."""

from __future__ import annotations

import functools
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
        kept: Tokens of it, or identifiers, that stand in the prompt.
        whole: All of them.

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
class Recovery:
    """
    What the references in a prompt bring back of the identifiers that it does not show.

    A reference names the ids of what left; every id can be recalled. Nothing tells an agent yet which of them holds
    what it misses, so the order of recalls is the newest item first.

    Attributes:
        missed: Identifiers that the next message uses from afar and the prompt does not show; names of tools are none
            of them, since every schema tells its tool's name.
        recovered: Those that the original of some item has which a reference in the prompt names.
        first: Those that come with the first recall.
        few: Those that come within three recalls.
        tokens: Tokens of the items that have the recovered ones, the newest such item for each.
        few_tokens: Tokens of all recalls up to the one that hits, for those that come within three.

    """

    missed: int = 0
    recovered: int = 0
    first: int = 0
    few: int = 0
    tokens: int = 0
    few_tokens: int = 0

    def plus(self, other: Recovery) -> Recovery:
        """Both together."""
        return Recovery(
            missed=self.missed + other.missed,
            recovered=self.recovered + other.recovered,
            first=self.first + other.first,
            few=self.few + other.few,
            tokens=self.tokens + other.tokens,
            few_tokens=self.few_tokens + other.few_tokens,
        )

    def percent(self, count: int) -> float | None:
        """So many of the missed ones, in percent; None when nothing was missed."""
        return 100.0 * count / self.missed if self.missed else None


@attrs.frozen(kw_only=True)
class Fit:
    """
    How far a prompt holds what the real next message uses, by name (TARGETS.md). A prompt that is larger than the
    window, or that could not be sent, shows nothing.

    Attributes:
        far: Of the identifiers whose last earlier occurrence is more than 20 messages back, those that are visible;
            measured where the whole history is above 80 % of the window.
        far_lines: Those of them that stand on a whole original line.
        near: Of all identifiers that stood in an earlier message; measured in the other calls.
        recovery: What could be brought back of the far ones that are not visible.
        missed: The far ones that are not visible.

    """

    far: Share = Share()
    far_lines: Share = Share()
    near: Share = Share()
    recovery: Recovery = Recovery()
    missed: tuple[str, ...] = ()


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
        user_text: Of what the user typed so far: every text block of a message in the user's role that the transcript
            has, in which no tool answers, up to 2,000 tokens long (a larger one was pasted). A block is kept when it
            stands whole and unchanged in the prompt, as often as it was said; what a recorder or a harness wrote in the
            user's role cannot be told apart and counts.
        first_request: Of the first run of user messages, pastes included.

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
        fit: How far it held what its reply uses.
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
    fit: Fit = Fit()
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
        far_fit: Percent of what next messages use from afar that was visible; None where nothing is used so.
        far_lines: Percent of it that stood on a whole original line.
        far_uses: How many such uses there were.
        near: Percent of all that was used again in the calls below 80 % of the window; None where nothing was.
        near_uses: How many such uses there were.
        recovered: Percent of what was used from afar and not visible that references in the prompt bring back; None
            where nothing was missed.
        recovered_first: Percent that comes with the first recall, the newest item first.
        recovered_few: Percent that comes within three recalls.
        recall_tokens: Mean tokens of the item that brings one back.
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
    far_fit: float | None
    far_lines: float | None
    far_uses: int
    near: float | None
    near_uses: int
    recovered: float | None
    recovered_first: float | None
    recovered_few: float | None
    recall_tokens: float | None
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
    fits = [call.fit for call in calls]
    far, near = _share(fit.far for fit in fits), _share(fit.near for fit in fits)
    back = functools.reduce(Recovery.plus, (fit.recovery for fit in fits), Recovery())
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
        far_fit=_percent(far),
        far_lines=_percent(_share(fit.far_lines for fit in fits)),
        far_uses=far.whole,
        near=_percent(near),
        near_uses=near.whole,
        recovered=back.percent(back.recovered),
        recovered_first=back.percent(back.first),
        recovered_few=back.percent(back.few),
        recall_tokens=back.tokens / back.recovered if back.recovered else None,
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


def _percent(share: Share) -> float | None:
    return share.percent if share.whole else None


def _timing(seconds: Sequence[float]) -> Timing:
    if not seconds:
        return Timing(calls=0, median_ms=0.0, p99_ms=0.0)
    ranked = sorted(seconds)
    p99 = ranked[math.ceil(0.99 * len(ranked)) - 1]
    return Timing(calls=len(ranked), median_ms=1000 * statistics.median(ranked), p99_ms=1000 * p99)
