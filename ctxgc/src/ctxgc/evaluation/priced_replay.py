"""
Prices a recorded session: the cost of its calls with and without collection, by the provider's cache rules.

No provider is asked: its cache is simulated, and replies with their lengths are known from the recording.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Iterator

import attrs

from ctxgc.evaluation.cache_simulator import CacheSimulator
from ctxgc.evaluation.transcripts import Transcript
from gc_core.cache.account import CacheAccount, Miss, MissCause, Spend
from gc_core.cache.sent_prefix import SentPrefix
from gc_core.errors import ContextOverflowError
from gc_core.events import CollectionFinished, Event
from gc_core.plugins.manager import Plugins
from gc_core.providers import format_named
from gc_core.providers.cache_terms import CacheTerms, terms_of
from gc_core.providers.contract import TokenCounter
from gc_core.providers.prices import PriceSource, prices_of
from gc_core.providers.token_counting import counter_for, part_tokens
from gc_core.session.session import GCSession
from gc_core.values.config import GCConfig
from gc_core.values.messages import Request, Role
from gc_core.values.protocols import GCStrategy

_UNLIMITED = 1_000_000_000
"""Tokens of the window of a session that never has to collect."""


@attrs.frozen(kw_only=True)
class PricedRun:
    """
    A session's calls, simulated once.

    Attributes:
        collected: With collection; else in an unlimited window.
        gaps: With the time that passed between the calls of the recording; else without any.
        spend: Sums over the calls.
        misses: Each break of the prefix in the cache, with its cause.
        collections: The number of collections that changed the window.
        unsent: Calls that could not be sent, because nothing that could go was left.

    """

    collected: bool
    gaps: bool
    spend: Spend
    misses: tuple[Miss, ...] = attrs.field(repr=False)
    collections: int = 0
    unsent: int = 0

    @property
    def breaks(self) -> int:
        """Breaks caused by a change of sent content: mostly by a collection."""
        return sum(miss.cause is not MissCause.EXPIRED for miss in self.misses)


@attrs.frozen(kw_only=True)
class PricedReplay:
    """
    The cost that a session would have had.

    Attributes:
        session: Name of its file.
        model: The model that it is priced for.
        terms: The provider's rules that were simulated.
        source: Where the prices come from; None where one is missing.
        runs: Without gaps with collection, and without; then with gaps, where the recording has times.

    """

    session: str
    model: str
    terms: CacheTerms
    source: PriceSource | None
    runs: tuple[PricedRun, ...]

    def run(self, *, collected: bool, gaps: bool = False) -> PricedRun | None:
        """Return one of the runs; None for gaps in a recording without times."""
        return next((run for run in self.runs if (run.collected, run.gaps) == (collected, gaps)), None)


def price(
    transcript: Transcript,
    *,
    model: str,
    config: GCConfig,
    strategy: GCStrategy | str | Iterable[GCStrategy | str] | None = None,
    plugins: Plugins | None = None,
) -> PricedReplay:
    """
    Replay a session twice, with collection and without, and simulate the provider's cache under it.

    Every assistant message is one model call, with everything before it as its prompt. A call that cannot be sent is
    counted, and costs nothing. Where a price is unknown the tokens are shown without one.

    Args:
        transcript: The transcript to replay.
        model: Whose rules, tokens and prices these are.
        config: How to collect; its ``output_reservation`` is taken for 0.
        strategy: Strategy names or objects instead of ``config.strategy``.
        plugins: By default those that are installed.

    Raises:
        ConfigError: The strategy or one of its options is unknown or wrong.
        MessageError: A message cannot be read in the transcript's format.

    """
    # What a recording repeats it continues from.
    collecting = attrs.evolve(config, output_reservation=0, tpm_budget=None, reread_guard="off", max_total_tokens=None)
    whole = attrs.evolve(collecting, context_limit=_UNLIMITED, auto_trigger=False)
    counter = counter_for(model, transcript.format)
    runs: list[PricedRun] = []
    for collected, chosen in ((True, collecting), (False, whole)):
        watches = [_Watch(transcript, model, counter, gaps=gaps) for gaps in ({False, bool(transcript.times)})]
        session = GCSession(
            chosen,
            format=transcript.format,
            model=model,
            strategy=strategy,
            plugins=plugins,
            on_event=functools.partial(_hear, watches),
        )
        with session:
            _run(session, transcript, watches, counter)
        runs += [watch.run(collected=collected) for watch in watches]
    prices = prices_of(model, transcript.format)
    return PricedReplay(
        session=transcript.path.name,
        model=model,
        terms=terms_of(model, transcript.format),
        source=None if prices is None else prices.source,
        runs=tuple(sorted(runs, key=lambda run: run.gaps)),
    )


def _hear(watches: Iterable[_Watch], event: Event) -> None:
    for watch in watches:
        watch.hear(event)


def _run(session: GCSession, transcript: Transcript, watches: list[_Watch], counter: TokenCounter) -> None:
    form = format_named(transcript.format)
    if transcript.system:
        parts = {f"part_{number}": text for number, text in enumerate(transcript.system, 1)}
        session.system(**parts)  # type: ignore[arg-type]  # no part is named as one of its keywords
    if transcript.tools:
        session.tools(transcript.tools)
    for message, at in zip(transcript.messages, _moments(transcript), strict=True):
        if form.role(message) is not Role.ASSISTANT:
            session.append(message)
            continue
        request = _request(session)
        output = sum(part_tokens(part, counter) for part in form.read(message))
        for watch in watches:
            watch.call(request, at, output)
        session.post_turn(message)


def _request(session: GCSession) -> Request | None:
    try:
        return session.pre_send()
    except ContextOverflowError:
        return None


def _moments(transcript: Transcript) -> Iterator[float]:
    """Yield the time up to which what came before each message had been said: a model call begins there."""
    at = next((known for known in transcript.times if known is not None), 0.0)
    for known in transcript.times or (None,) * len(transcript.messages):
        yield at
        at = at if known is None else known


class _Watch:
    """One simulated cache, and the accounts of who reads it."""

    def __init__(self, transcript: Transcript, model: str, counter: TokenCounter, *, gaps: bool) -> None:
        self._gaps = gaps
        self._simulator = CacheSimulator(terms_of(model, transcript.format), counter)
        self._account = CacheAccount(model, transcript.format)
        self._prefix = SentPrefix()
        self._now = time.time()  # prices are those of today; only the gaps are the recording's
        self._at: float | None = None
        self._misses: list[Miss] = []
        self._collections = 0
        self._unsent = 0

    def hear(self, event: Event) -> None:
        """Receive an event of the session."""
        if isinstance(event, CollectionFinished):
            self._collections += 1
            self._account.collected(f"collection ({event.result.reason.value})")

    def call(self, request: Request | None, at: float, output_tokens: int) -> None:
        """Record a model call at this moment of the recording, or one that could not be sent."""
        if request is None:
            self._unsent += 1
            return
        if self._gaps and self._at is not None:
            self._now += max(0.0, at - self._at)
        self._at = at
        self._prefix.follow(request)
        usage = self._simulator.call(request, self._now, output_tokens=output_tokens)
        call = self._account.called(usage, time=self._now, changed=self._prefix.changed())
        if call.miss is not None:
            self._misses.append(call.miss)

    def run(self, *, collected: bool) -> PricedRun:
        """Return the result."""
        return PricedRun(
            collected=collected,
            gaps=self._gaps,
            spend=self._account.report().spend,
            misses=tuple(self._misses),
            collections=self._collections,
            unsent=self._unsent,
        )


# -- in words --------------------------------------------------------------------------------------------------------


def priced_lines(priced: PricedReplay) -> Iterator[str]:
    """Yield what a session would have cost, a line per run."""
    rules = f"rules of {priced.terms.name} ({priced.terms.dated})"
    if priced.source is None:
        yield f"{priced.session}, simulated by the {rules}:"
    else:
        origin = f"{priced.source.package} {priced.source.version} for {priced.source.date}"
        yield f"{priced.session}, simulated by the {rules}, prices of {origin}:"
    for run in priced.runs:
        yield f"  {_name(run)}: {_figures(run)}"
    missing = next(filter(None, (run.spend.missing for run in priced.runs)), "")
    if missing:
        yield f"  {missing}"
    for gaps in (False, True):
        yield from _compared(priced, gaps=gaps)


def _name(run: PricedRun) -> str:
    kept = "with collection" if run.collected else "without, in an unlimited window"
    return f"{kept}, {'gaps as recorded' if run.gaps else 'gaps left out'}"


def _figures(run: PricedRun) -> str:
    spend = run.spend
    cost = "" if spend.usd is None else f"${spend.usd:,.4f}, "
    expired = sum(miss.cause is MissCause.EXPIRED for miss in run.misses)
    cold = f", {expired} times cold" if expired else ""
    unsent = f", {run.unsent} calls not sent" if run.unsent else ""
    breaks = f"{run.breaks} break{'s'[: run.breaks != 1]} by {run.collections} collections{cold}{unsent}"
    return f"{cost}{spend.input_tokens:,} input tokens, {spend.hit_percent:.1f} % read from the cache, {breaks}"


def _compared(priced: PricedReplay, *, gaps: bool) -> Iterator[str]:
    kept, whole = priced.run(collected=True, gaps=gaps), priced.run(collected=False, gaps=gaps)
    if kept is None or whole is None or kept.spend.usd is None or not whole.spend.usd:
        return
    share = 100.0 * kept.spend.usd / whole.spend.usd
    yield f"  collection costs {share:.1f} % of none{', gaps as recorded' if gaps else ''}"
