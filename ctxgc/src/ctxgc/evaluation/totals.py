"""Sums over the model calls of one or several sessions, and the figures computed from them."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from ctxgc.evaluation.call_measures import CallMeasures, Recovery, Share
from gc_core.values.results import GCTriggerReason

NO_SHARE, NO_RECOVERY = Share(), Recovery()


@attrs.frozen(kw_only=True)
class ReasonCount:
    """The number of collections for a reason."""

    reason: GCTriggerReason
    count: int


@attrs.frozen(kw_only=True)
class Timing:
    """Milliseconds per call: the median and the 99th percentile; 0 if there are none."""

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
        calls_over_locked: Refused because LOCKED content by itself is larger than the window; not among ``calls_over``.
        calls_over_without: Calls that would not have fitted without collection.
        rule_breaches: In how many places requests broke the provider's rules.
        locked_bytes_missing: Bytes of LOCKED texts and schemas that were missing in requests.
        breaks: Calls whose common prefix is shorter than the previous request less its last two messages.
        drifts: Calls in which something sent had changed although nothing was collected; to be 0.
        cost: Price of the prompts relative to no collection; None when nothing was sent.
        user_text_kept: Percent of what the user typed, over all calls.
        first_request_kept: Percent of the first run of user messages, over all calls.
        answer_continuity: Percent of the newest exchanges that the window could hold which are there whole and in one
            run; None where everything fits.
        notice_share: Percent of the window that notices of removed content take.
        targets_reached: Percent of the collections of the whole window that reached their target; None where there was
            none.
        far_fit: Percent of what next messages use from afar that was visible; None where nothing is used so.
        far_lines: Percent of it that was on a whole original line.
        far_uses: How many such uses there were.
        near: Percent of all that was used again in the calls below 80 % of the window; None where nothing was.
        near_uses: How many such uses there were.
        edits_that_miss: Percent of the edits with a quoted line that is not in the prompt whole; None where
            there is no edit.
        edits: How many edits quote lines of the history.
        far_quotes: Percent of the quoted lines from more than 20 messages back that are in the prompt; None where there
            is none.
        near_quotes: Percent of the other ones.
        verbatim_reuse: Percent of the lines of other arguments from more than 20 messages back that are in the prompt.
        cost_with_misses: ``cost``, with one more call for each edit that misses.
        recovered: Percent of what was used from afar and not visible that references in the prompt bring back; None
            where nothing was missed.
        recovered_first: Percent that comes with the first recall, the newest item first.
        recovered_few: Percent that comes within three recalls.
        recall_tokens: Mean tokens of the item that brings one back; None where none is.
        few_recall_tokens: Mean tokens of all recalls up to the one that hits, where it comes within three.
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
    answer_continuity: float | None
    notice_share: float
    targets_reached: float | None
    far_fit: float | None
    far_lines: float | None
    far_uses: int
    near: float | None
    near_uses: int
    edits_that_miss: float | None
    edits: int
    far_quotes: float | None
    near_quotes: float | None
    verbatim_reuse: float | None
    cost_with_misses: float | None
    recovered: float | None
    recovered_first: float | None
    recovered_few: float | None
    recall_tokens: float | None
    few_recall_tokens: float | None
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
class Sums:
    """
    The sums over calls. It is small, and the sums of several sessions add up to those of all their calls.

    Attributes:
        calls: Model calls.
        sent: Those that could be sent.
        reasons: Why collections ran that changed something, in the order of the calls.
        deferred: As in ``ReplaySummary``, like all that follow.
        tokens_sent: With collection.
        tokens_without: Of the same calls without it.
        over: Calls larger than the window or refused, but for LOCKED content.
        over_locked: Refused because of LOCKED content.
        over_without: Calls that would not have fitted without collection.
        breaches: Breaches of the provider's rules.
        locked_missing: Bytes.
        breaks: Of the prompt cache.
        drifts: Changes without a collection.
        price: Of the prompts that were sent, in tokens.
        price_without: Of the same calls without collection.
        user_text: The user's own text.
        first_request: The first run of user messages.
        continuity: The newest exchanges that the window could hold.
        notices: Lines on removed content.
        reached: Collections of the whole window that reached their target.
        far: Far uses.
        far_lines: Those on a whole original line.
        near: All uses of the calls below 80 % of the window.
        edits: Edits that quote lines, and those that find them all.
        far_quotes: Their lines from afar.
        near_quotes: Their other lines.
        reuse: Lines of other arguments from afar.
        miss_price: Of the calls that edits which miss would need, in tokens.
        recovery: Content that could be brought back.
        repeats: Second collections that were tried.
        repeats_not_empty: Those that found something.
        collecting: Seconds of each call in which a collection was tried.
        plain: Seconds of each other call.
        ingest: Seconds to append messages before each call.

    """

    calls: int = 0
    sent: int = 0
    reasons: tuple[GCTriggerReason, ...] = ()
    deferred: int = 0
    tokens_sent: int = 0
    tokens_without: int = 0
    over: int = 0
    over_locked: int = 0
    over_without: int = 0
    breaches: int = 0
    locked_missing: int = 0
    breaks: int = 0
    drifts: int = 0
    price: float = 0.0
    price_without: float = 0.0
    user_text: Share = NO_SHARE
    first_request: Share = NO_SHARE
    continuity: Share = NO_SHARE
    notices: Share = NO_SHARE
    reached: Share = NO_SHARE
    far: Share = NO_SHARE
    far_lines: Share = NO_SHARE
    near: Share = NO_SHARE
    edits: Share = NO_SHARE
    far_quotes: Share = NO_SHARE
    near_quotes: Share = NO_SHARE
    reuse: Share = NO_SHARE
    miss_price: float = 0.0
    recovery: Recovery = NO_RECOVERY
    repeats: int = 0
    repeats_not_empty: int = 0
    collecting: tuple[float, ...] = ()
    plain: tuple[float, ...] = ()
    ingest: tuple[float, ...] = ()

    @property
    def missing(self) -> Share:
        """The edits that miss a line."""
        return Share(kept=self.edits.whole - self.edits.kept, whole=self.edits.whole)

    @property
    def cost(self) -> float | None:
        """Price of the prompts relative to no collection; None when nothing was sent."""
        return self.price / self.price_without if self.price_without else None

    @property
    def cost_with_misses(self) -> float | None:
        """The same, with one more call for each edit that misses."""
        return (self.price + self.miss_price) / self.price_without if self.price_without else None

    @property
    def mean_prompt(self) -> float:
        """Tokens of a request, mean of those that could be sent."""
        return self.tokens_sent / self.sent if self.sent else 0.0

    @property
    def breaks_per_100(self) -> float:
        """Breaks of the prompt cache in 100 calls."""
        return 100.0 * self.breaks / self.calls if self.calls else 0.0

    @property
    def p99_ms(self) -> float:
        """Milliseconds within which 99 of 100 calls stay, collecting or not."""
        return _timing((*self.collecting, *self.plain)).p99_ms

    def summary(self) -> ReplaySummary:
        """Return the figures."""
        back = self.recovery
        return ReplaySummary(
            calls=self.calls,
            collections=tuple(
                ReasonCount(reason=reason, count=count) for reason, count in Counter(self.reasons).most_common()
            ),
            deferred=self.deferred,
            tokens_sent=self.tokens_sent,
            tokens_without=self.tokens_without,
            calls_over=self.over,
            calls_over_locked=self.over_locked,
            calls_over_without=self.over_without,
            rule_breaches=self.breaches,
            locked_bytes_missing=self.locked_missing,
            breaks=self.breaks,
            drifts=self.drifts,
            cost=self.cost,
            user_text_kept=self.user_text.percent,
            first_request_kept=self.first_request.percent,
            answer_continuity=_percent(self.continuity),
            notice_share=self.notices.percent if self.notices.whole else 0.0,
            targets_reached=_percent(self.reached),
            far_fit=_percent(self.far),
            far_lines=_percent(self.far_lines),
            far_uses=self.far.whole,
            near=_percent(self.near),
            near_uses=self.near.whole,
            edits_that_miss=None if self.missing.whole == 0 else self.missing.percent,
            edits=self.edits.whole,
            far_quotes=_percent(self.far_quotes),
            near_quotes=_percent(self.near_quotes),
            verbatim_reuse=_percent(self.reuse),
            cost_with_misses=self.cost_with_misses,
            recovered=back.percent(back.recovered),
            recovered_first=back.percent(back.first),
            recovered_few=back.percent(back.few),
            recall_tokens=back.tokens / back.recovered if back.recovered else None,
            few_recall_tokens=back.few_tokens / back.few if back.few else None,
            repeats=self.repeats,
            repeats_not_empty=self.repeats_not_empty,
            collecting=_timing(self.collecting),
            plain=_timing(self.plain),
            ingest=_timing(self.ingest),
        )


def sums_of(calls: Sequence[CallMeasures], *, window: int) -> Sums:
    """Return the sums of these calls in a window of this many tokens."""
    fits = [call.fit for call in calls]
    pairs = [(call, call.sent) for call in calls if call.sent is not None]
    sent = [request for _, request in pairs]
    locked_over = sum(call.overflow is not None and call.overflow.only_locked for call in calls)
    return Sums(
        calls=len(calls),
        sent=len(sent),
        reasons=tuple(reason for call in calls for reason in call.collections),
        deferred=sum(call.deferred for call in calls),
        tokens_sent=sum(request.prompt.tokens for request in sent),
        tokens_without=sum(call.without.tokens for call, _ in pairs),
        over=sum(call.sent is None or call.tokens > window for call in calls) - locked_over,
        over_locked=locked_over,
        over_without=sum(call.without.tokens > window for call in calls),
        breaches=sum(len(request.breaches) for request in sent),
        locked_missing=sum(request.locked_missing for request in sent),
        breaks=sum(request.broke for request in sent),
        drifts=sum(call.drifted for call in calls),
        price=sum(request.prompt.cost for request in sent),
        price_without=sum(call.without.cost for call, _ in pairs),
        user_text=total(request.user_text for request in sent),
        first_request=total(request.first_request for request in sent),
        continuity=total(request.continuity for request in sent),
        notices=total(request.notices for request in sent),
        reached=total(call.reached for call in calls),
        far=total(fit.far for fit in fits),
        far_lines=total(fit.far_lines for fit in fits),
        near=total(fit.near for fit in fits),
        edits=total(fit.edits for fit in fits),
        far_quotes=total(fit.far_quotes for fit in fits),
        near_quotes=total(fit.near_quotes for fit in fits),
        reuse=total(fit.reuse for fit in fits),
        miss_price=sum(fit.miss_price for fit in fits),
        recovery=functools.reduce(Recovery.plus, (fit.recovery for fit in fits), Recovery()),
        repeats=sum(call.repeats for call in calls),
        repeats_not_empty=sum(call.repeats_not_empty for call in calls),
        collecting=tuple(call.seconds for call in calls if call.tried),
        plain=tuple(call.seconds for call in calls if not call.tried),
        ingest=tuple(call.ingest_seconds for call in calls),
    )


def together(sums: Iterable[Sums]) -> Sums:
    """Return the sums of all their calls; every call weighs the same."""
    every = list(sums)
    if not every:
        return Sums()
    return Sums(**{field.name: _added([getattr(one, field.name) for one in every]) for field in attrs.fields(Sums)})


def total(shares: Iterable[Share]) -> Share:
    """Return all of them as one."""
    return functools.reduce(Share.plus, shares, Share())


def _added(values: Sequence[Any]) -> Any:
    """
    Return the sum: shares and recoveries add up by themselves, seconds are concatenated, everything
    else is a number.
    """
    first = values[0]
    if isinstance(first, Share | Recovery):
        return functools.reduce(type(first).plus, values)
    return tuple(itertools.chain.from_iterable(values)) if isinstance(first, tuple) else sum(values)


def _percent(share: Share) -> float | None:
    return share.percent if share.whole else None


def _timing(seconds: Sequence[float]) -> Timing:
    if not seconds:
        return Timing(calls=0, median_ms=0.0, p99_ms=0.0)
    ranked = sorted(seconds)
    p99 = ranked[math.ceil(0.99 * len(ranked)) - 1]
    return Timing(calls=len(ranked), median_ms=1000 * statistics.median(ranked), p99_ms=1000 * p99)
