"""
The scheduler's threshold against fixed ones, in windows from 16,000 to a million tokens.

At every window one session: the recorded ones of ``entire`` and ``pi``, one after another and again where they do not
suffice, with other names each time (``benchmarks.long_session``), up to a number of windows. ``gc_rolling`` goes down
to its target, and a collection begins a fixed distance above it: a share of what ``cheapest_distance`` says for a
session that grows by 900 tokens a call. *formula* is the product, which reckons with the session's own growth; *at the
limit* begins at 90 % whatever that costs. No option of the product sets a distance, so the benchmark patches
``gc_core.collector.scheduler.cheapest_distance`` while it replays. What the scheduler does around it stays: no distance
is below 5 % of the window, and none leads above 90 %. Settings that begin at the same share of the window are replayed
once.

Not done: other growths than the sessions' own, other prices than those of the replay, several sessions a window.
"""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from unittest import mock

import attrs
from ctxgc.evaluation.replay import replay
from ctxgc.evaluation.reuse import Uses, message_texts, uses_of
from ctxgc.evaluation.totals import Sums, sums_of
from ctxgc.evaluation.transcripts import Transcript
from gc_rolling import Rolling

from benchmarks.long_session import Message, recorded, session_files
from benchmarks.sized import WORKERS, made_with, quiet, row
from gc_core.cache.economics import economics_of
from gc_core.collector.scheduler import GROWTH, WORTH_PERCENT, cheapest_distance
from gc_core.providers import format_named
from gc_core.providers.token_counting import counter_for
from gc_core.values.config import GCConfig
from gc_core.values.results import GCTriggerReason
from gc_core.values.triggers import Major

MADE_BY = "python -m benchmarks.frontier --scheduler"
PACKAGES = ("gc-core", "gc-rolling", "tiktoken")

LENGTHS = {16_000: 6, 32_000: 6, 100_000: 6, 200_000: 6, 400_000: 4, 1_000_000: 3}
"""How many windows long the session of a window is: large windows take long to replay."""

FACTORS = (0.5, 0.75, 1.0, 1.5, 2.0, math.inf)
"""Distances, in multiples of the cheapest one; the last begins at the session's own limit."""

FORMULA, AT_LIMIT = "formula", "at the limit"

_FORMAT = "openai"
_SOURCES = ("entire--", "pi--")


@attrs.frozen(kw_only=True)
class Start:
    """
    Where collections begin in a window.

    Attributes:
        window: Tokens.
        names: What the table calls it; several names of settings that begin alike.
        distance: Tokens above the target; None: the formula's own.

    """

    window: int
    names: tuple[str, ...]
    distance: float | None

    @property
    def begins_percent(self) -> float:
        """Share of the window at which they begin; of the formula at the usual growth."""
        distance = usual_distance(self.window) if self.distance is None else self.distance
        above = max(WORTH_PERCENT, 100.0 * distance / self.window)
        return min(GCConfig().threshold_percent, kept_percent(self.window) + above)


@attrs.frozen(kw_only=True)
class Outcome:
    """What came of a start."""

    start: Start
    sums: Sums


def text() -> str:
    """The table in Markdown."""
    with ProcessPoolExecutor(WORKERS, initializer=quiet) as pool:
        starts = [start for window in reversed(LENGTHS) for start in starts_of(window)]  # the longest first
        outcomes = []
        for outcome in pool.map(_replayed, starts):
            outcomes.append(outcome)
            print(f"\r{len(outcomes)} of {len(starts)} replays", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return "\n".join(markdown(outcomes))


def starts_of(window: int) -> Iterator[Start]:
    """The formula, and the fixed distances; those that begin at the same share of the window together."""
    yield Start(window=window, names=(FORMULA,), distance=None)
    fixed = [
        Start(window=window, names=(_name(factor),), distance=factor * usual_distance(window)) for factor in FACTORS
    ]
    for _, alike in itertools.groupby(fixed, key=lambda start: round(start.begins_percent, 3)):
        its = list(alike)
        yield attrs.evolve(its[0], names=tuple(name for start in its for name in start.names))


def _name(factor: float) -> str:
    return AT_LIMIT if math.isinf(factor) else f"{factor:g}x"


def kept_percent(window: int) -> float:
    """Share of the window that ``gc_rolling`` goes down to."""
    return next(each for each in Rolling().triggers if isinstance(each, Major)).kept_percent(window)


def usual_distance(window: int) -> float:
    """What the formula says before anything is known of the session."""
    kept = window * kept_percent(window) / 100.0
    return cheapest_distance(economics_of(None, _FORMAT), kept=kept, growth=GROWTH)


# -- replaying -------------------------------------------------------------------------------------------------------


def _replayed(start: Start) -> Outcome:
    transcript, uses = _known(start.window)
    config = GCConfig(context_limit=start.window, output_reservation=0)
    run = functools.partial(replay, transcript, config=config, strategy=Rolling(), uses=uses)
    if start.distance is None:
        report = run()
    else:
        with mock.patch("gc_core.collector.scheduler.cheapest_distance", functools.partial(_always, start.distance)):
            report = run()
    return Outcome(start=start, sums=sums_of(report.calls, window=start.window))


def _always(distance: float, *_: object, **__: object) -> float:
    return distance


@functools.lru_cache(maxsize=1)
def _known(window: int) -> tuple[Transcript, Uses]:
    messages = tuple(_messages(LENGTHS[window] * window))
    transcript = Transcript(path=Path(f"joined-{window}.jsonl"), format=_FORMAT, messages=messages)
    return transcript, uses_of(transcript)


def _messages(tokens: int) -> Iterator[Message]:
    """Recorded messages of so many tokens of text."""
    form, count = format_named(_FORMAT), counter_for(None, _FORMAT).count
    for _, message in recorded(session_files(_SOURCES)):
        if tokens <= 0:
            return
        tokens -= sum(map(count, message_texts(message, form)))
        yield message


# -- what is shown ---------------------------------------------------------------------------------------------------


def markdown(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """A row a start, the smallest window first, each beside the formula."""
    yield f"Made {made_with(PACKAGES)}."
    yield ""
    yield row(
        "window", "distance", "begins at %", "collections", "cost with misses", "against the formula, %",
        "edits that miss %",
    )  # fmt: skip
    yield row("--:", "---", *["--:"] * 5)
    for window in LENGTHS:
        its = [outcome for outcome in outcomes if outcome.start.window == window]
        yield from (_row(outcome, its[0]) for outcome in its)


def _row(outcome: Outcome, formula: Outcome) -> str:
    start, sums = outcome.start, outcome.sums
    begins = f"{start.begins_percent:.1f}"
    return row(
        f"{start.window:,}" if outcome is formula else "",
        f"**{FORMULA}**" if outcome is formula else ", ".join(start.names),
        f"about {begins}" if outcome is formula else begins,
        _majors(sums.reasons),
        f"{_thousands(sums.price + sums.miss_price, sums):.2f}k",
        "" if outcome is formula else f"{_against(sums, formula.sums):+.1f}",
        f"{sums.missing.percent:.1f}",
    )


def _majors(reasons: Iterable[GCTriggerReason]) -> int:
    return sum(reason is not GCTriggerReason.YOUNG for reason in reasons)


def _thousands(price: float, sums: Sums) -> float:
    """Of a call, in thousands of uncached tokens."""
    return price / max(1, sums.sent) / 1_000


def _against(sums: Sums, formula: Sums) -> float:
    mine, its = (one.price + one.miss_price for one in (sums, formula))
    return 100.0 * (mine / its - 1.0)
