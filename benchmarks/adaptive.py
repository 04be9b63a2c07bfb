"""
Ideas that learn while a collector runs, and their gain: measured over the sized sessions of the corpus.

Four ideas compared with ``gc_progressive`` and ``gc_rolling`` at their defaults: settings that follow the session's own
misses (``adaptive``), recall ahead of the step (``prefetch``), shares by what was used again in other sessions
(``priors``), settings by the provider's prices (``packing``). ``python -m benchmarks.adaptive prefetch`` measures one
of them alone. None is in the product: ``docs/measurements.md`` says why. One process, half a minute of processor time a
row.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import attrs
from ctxgc.evaluation.call_measures import Prompt
from ctxgc.evaluation.replay_report import ReplayReport, pooled
from ctxgc.evaluation.reuse import Uses, uses_of
from ctxgc.evaluation.transcripts import Transcript, read_transcript
from gc_progressive import Progressive
from gc_rolling import Rolling

from benchmarks.adaptive_ideas import (
    PROGRESSIVE_LADDER,
    ROLLING_LADDER,
    Adaptive,
    Ladder,
    Prefetch,
    Suggested,
    WeighedProgressive,
    WeighedRolling,
    foreseen,
    newest_input,
    reuse_of,
    weights_of,
)
from benchmarks.adaptive_session import Hand, replayed
from benchmarks.counting import corpus
from benchmarks.sized import Task, made_with, print_row, quiet, session_files, shown, sized
from gc_core.cache.economics import Economics
from gc_core.values.protocols import GCStrategy

PACKAGES = ("gc-core", "gc-progressive", "gc-rolling", "tiktoken")
WINDOWS = (32_000, 100_000)


@attrs.frozen(kw_only=True)
class Rates:
    """What a provider takes for reading and writing its cache, in units of the input price."""

    name: str
    read: float
    write: float

    def price(self, prompt: Prompt) -> float:
        """What a prompt costs, in tokens."""
        return self.read * prompt.cached + self.write * (prompt.tokens - prompt.cached)

    @property
    def economics(self) -> Economics:
        """What a session reckons with."""
        return Economics(read=self.read, write=self.write, ttl_seconds=300.0)


RATES = (
    Rates(name="Claude 4.5", read=0.1, write=1.25),
    Rates(name="GPT-5, Gemini", read=0.1, write=1.0),
    Rates(name="GPT-4.1", read=0.25, write=1.0),
    Rates(name="GPT-4o", read=0.5, write=1.0),
)
"""``gc_core.providers.cache_terms`` has their dates. What Google takes for keeping an explicit cache is left aside."""


@attrs.frozen(kw_only=True)
class Known:
    """A session, and what its messages use."""

    transcript: Transcript
    uses: Uses


@attrs.frozen(kw_only=True)
class Setup:
    """How one session is collected."""

    strategy: GCStrategy
    hand: Hand | None = None
    economics: Economics | None = None


@attrs.frozen(kw_only=True)
class Variant:
    """A row of a table: how it collects a session, which it may know."""

    name: str
    of: Callable[[Known], Setup]


# -- what is compared --------------------------------------------------------------------------------------------------


def fixed(name: str, strategy: GCStrategy) -> Variant:
    """A strategy with options that stay."""
    return Variant(name=name, of=lambda _: Setup(strategy=strategy))


PROGRESSIVE = fixed("`gc_progressive`", Progressive())
ROLLING = fixed("`gc_rolling`", Rolling())

SETTINGS = (
    ROLLING,
    fixed("`gc_rolling`, down to 40 %", Rolling(target_percent=40.0)),
    fixed("`gc_rolling`, down to 60 %", Rolling(target_percent=60.0)),
    fixed("`gc_rolling`, no nursery", Rolling(nursery_tokens=0)),
    fixed("`gc_rolling`, nursery of 8,000", Rolling(nursery_tokens=8_000)),
    PROGRESSIVE,
    fixed("`gc_progressive`, down to 60 %", Progressive(target_percent=60.0)),
)
"""Settings that stay: what an idea has to pass, for any of them moves fit and cost together."""


def following(name: str, ladder: Ladder) -> Variant:
    """Settings that follow the misses."""
    middle = ladder[len(ladder) // 2]
    return Variant(name=name, of=lambda _: Setup(strategy=middle, hand=Adaptive(ladder=ladder)))


ADAPTIVE = (
    following("`gc_rolling`, follows the misses", ROLLING_LADDER),
    following("`gc_progressive`, follows the misses", PROGRESSIVE_LADDER),
)


def fetching(name: str, strategy: GCStrategy, hand: Callable[[Known], Hand]) -> Variant:
    """Recall before every call."""
    return Variant(name=name, of=lambda known: Setup(strategy=strategy, hand=hand(known)))


def _by_input(name: str, strategy: GCStrategy) -> Variant:
    return fetching(f"{name}, by the newest input", strategy, lambda _: Prefetch(wanted=newest_input))


def _foreseen(name: str, strategy: GCStrategy) -> Variant:
    return fetching(
        f"{name}, foreseen", strategy, lambda known: Prefetch(wanted=foreseen(known.uses), direct=True, cap=500)
    )


PREFETCH = (
    fetching("`gc_rolling`, `auto_expand`", Rolling(), lambda _: Suggested()),
    _by_input("`gc_rolling`", Rolling()),
    _foreseen("`gc_rolling`", Rolling()),
    _by_input("`gc_progressive`", Progressive()),
    _foreseen("`gc_progressive`", Progressive()),
)


def _weighed_rolling(session: Known) -> Setup:
    return Setup(strategy=WeighedRolling(weights=priors_without(session.transcript.path)))


def _weighed_progressive(session: Known) -> Setup:
    return Setup(strategy=WeighedProgressive(weights=priors_without(session.transcript.path)))


PRIORS = (
    Variant(name="`gc_rolling`, shares by suffix", of=_weighed_rolling),
    Variant(name="`gc_progressive`, shares by suffix", of=_weighed_progressive),
)

PACKING = (
    Variant(
        name=f"`gc_rolling`, told {RATES[-1].name}'s prices",
        of=lambda _: Setup(strategy=Rolling(), economics=RATES[-1].economics),
    ),
)

BASES = (ROLLING, PROGRESSIVE)
IDEAS: Mapping[str, Sequence[Variant]] = {
    "adaptive": (*BASES, *ADAPTIVE),
    "prefetch": (*BASES, *PREFETCH),
    "priors": (*BASES, *PRIORS),
    "packing": (*SETTINGS, *PACKING),
}


# -- replaying ---------------------------------------------------------------------------------------------------------


@functools.cache
def tasks() -> tuple[Task, ...]:
    """The sized sessions, each with its window."""
    return tuple(task for path in session_files() for task in sized(path, WINDOWS))


@functools.cache
def known(path: Path) -> Known:
    """A session of the corpus, read once."""
    transcript = read_transcript(path)
    return Known(transcript=transcript, uses=uses_of(transcript))


@functools.cache
def priors_without(path: Path) -> Mapping[str, float]:
    """What the other sized sessions teach."""
    others = sorted({task.path for task in tasks()} - {path})
    sessions = map(known, others)
    return weights_of(one for session in sessions for one in reuse_of(session.transcript, session.uses))


@functools.cache
def measured(variant: Variant, task: Task) -> ReplayReport:
    """A variant over a session; nothing is measured twice."""
    return run(variant, known(task.path), task.window)


def run(variant: Variant, session: Known, window: int) -> ReplayReport:
    """A variant over any session."""
    setup = variant.of(session)
    return replayed(
        session.transcript,
        session.uses,
        window=window,
        strategy=setup.strategy,
        hand=setup.hand,
        economics=setup.economics,
    )


def cost_at(rates: Rates, reports: Iterable[ReplayReport]) -> float | None:
    """Price of the prompts at these rates, relative to no collection; None when nothing was sent."""
    pairs = [(call.sent.prompt, call.without) for report in reports for call in report.calls if call.sent is not None]
    collected = sum(rates.price(prompt) for prompt, _ in pairs)
    without = sum(rates.price(prompt) for _, prompt in pairs)
    return collected / without if without else None


# -- tables ------------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ideas", nargs="*", help=f"some of {', '.join(IDEAS)}; all of them by default")
    ideas = parser.parse_args(arguments).ideas or list(IDEAS)
    unknown = sorted(set(ideas) - set(IDEAS))
    if unknown:
        parser.error(f"no idea {', '.join(unknown)}: expected some of {', '.join(IDEAS)}")
    if not corpus().is_dir():
        print(f"no recorded sessions in {corpus()}: nothing to keep or to lose; set GC_CORPUS")
        return
    quiet()
    print(f"Made {made_with(PACKAGES)}.")
    for idea in ideas:
        print(f"\n### {idea}\n", flush=True)
        (print_packing if idea == "packing" else print_variants)(IDEAS[idea])


def print_variants(variants: Sequence[Variant]) -> None:
    """A row a variant: fit, cost and prompt in each window."""
    heads = [f"{window // 1000}k: {what}" for window in WINDOWS for what in ("far fit %", "cost", "mean prompt")]
    print_row("", *heads)
    print_row("---", *["--:"] * len(heads))
    for variant in variants:
        cells: list[str] = []
        for window in WINDOWS:
            whole = pooled(reports_of(variant, window))
            mean = whole.tokens_sent / max(1, whole.calls)
            cells += [shown(whole.far_fit), shown(whole.cost, 3), f"{mean / 1000:.1f}k{_broken(variant, window)}"]
        print_row(variant.name, *cells)
        sys.stdout.flush()


def print_packing(variants: Sequence[Variant]) -> None:
    """A row a variant: fit, and cost at each provider's prices, in each window."""
    heads = [f"{window // 1000}k: {what}" for window in WINDOWS for what in ("far fit %", *(r.name for r in RATES))]
    print_row("", *heads)
    print_row("---", *["--:"] * len(heads))
    for variant in variants:
        cells: list[str] = []
        for window in WINDOWS:
            reports = reports_of(variant, window)
            far = pooled(reports).far_fit
            cells += [shown(far), *(shown(cost_at(rates, reports), 3) for rates in RATES)]
            cells[-1] += _broken(variant, window)
        print_row(variant.name, *cells)
        sys.stdout.flush()


def reports_of(variant: Variant, window: int) -> list[ReplayReport]:
    """The sized sessions of a window, collected by a variant."""
    return [measured(variant, task) for task in tasks() if task.window == window]


def _broken(variant: Variant, window: int) -> str:
    """What should never be: calls over the window, broken rules, LOCKED bytes lost."""
    whole = pooled(reports_of(variant, window))
    faults = (whole.calls_over, whole.rule_breaches, whole.locked_bytes_missing)
    return f" ({whole.calls_over} over, {whole.rule_breaches} breaches)" if any(faults) else ""


if __name__ == "__main__":
    main()
