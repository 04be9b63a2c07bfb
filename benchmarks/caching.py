"""
The cost of sessions at Anthropic's cache rules and prices, with and without collection, and the missed targets.

The provider's cache is simulated (``ctxgc.evaluation.priced_replay``). The sized sessions of ``benchmarks.sized`` are
replayed with the gaps left out; those that Claude Code recorded have times, and are replayed with them too.
``docs/measurements.md`` says how to read it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import attrs
from ctxgc.evaluation.comparison import MOST_CALLS, MOST_WINDOWS
from ctxgc.evaluation.priced_replay import PricedReplay, PricedRun, price
from ctxgc.evaluation.transcripts import read_transcript

from benchmarks.counting import corpus
from benchmarks.sized import WORKERS, calls_of, made_with, print_row, quiet, session_files, shown, text_tokens
from gc_core import GCConfig, GCResult, GCTriggerReason, Plugins, hookimpl
from gc_core.cache.account import Spend
from gc_core.providers.cache_terms import terms_of
from gc_core.providers.prices import prices_of

MODELS = ("claude-sonnet-4-5", "claude-opus-5-5")
STRATEGIES = ("gc_rolling", "gc_progressive", "gc_budget")
WINDOWS = (32_000, 100_000, 200_000)
PACKAGES = ("gc-core", "gc-rolling", "gc-budget", "genai-prices", "tiktoken")

LEAST_READ = 90.0
"""Percent of the input tokens that the cache should give, gaps left out."""
SAME = 100.0
"""Percent of the cost without a collection that no session should pass."""
MAJORS = 2
"""A session with so many collections of the whole window should be cheaper than without any."""
NO_CHEAPER = f"{MAJORS} majors and no cheaper"


@attrs.frozen(kw_only=True)
class Task:
    """One session at one window and model, with each strategy."""

    path: Path
    window: int
    model: str


@attrs.frozen(kw_only=True)
class Priced:
    """What one strategy made of one session."""

    task: Task
    strategy: str
    replay: PricedReplay
    majors: int

    def pair(self, *, gaps: bool = False) -> tuple[PricedRun, PricedRun] | None:
        """With collection and without; None for gaps where the recording tells no times."""
        collected, whole = (self.replay.run(collected=each, gaps=gaps) for each in (True, False))
        return None if collected is None or whole is None else (collected, whole)

    @property
    def name(self) -> str:
        """The session, shortened: its first dozen letters tell it from all others."""
        source, _, rest = self.task.path.stem.rpartition("--")
        return f"{source}--{rest[:12]}" if source else rest

    def missed(self) -> Iterator[str]:
        """The targets that it misses, in words; gaps left out."""
        pair = self.pair()
        if pair is None:
            return
        collected, whole = pair
        relative = cost_percent([pair])
        if collected.spend.hit_percent < LEAST_READ:
            yield f"{collected.spend.hit_percent:.1f} % read"
        if relative is not None and relative > SAME:
            yield f"costs {relative:.1f} %"
        if relative is not None and relative >= SAME and self.majors >= MAJORS:
            yield NO_CHEAPER
        if collected.breaks > collected.collections:
            yield f"{collected.breaks} breaks by {collected.collections} collections"
        if whole.spend.hit_percent < LEAST_READ:
            yield f"(without a collection {whole.spend.hit_percent:.1f} % read)"


def main() -> None:
    """Print the tables in Markdown."""
    if not corpus().is_dir():
        print(f"no recorded sessions in {corpus()}: nothing to price; set GC_CORPUS")
        return
    print(f"Made {made_with(PACKAGES)}; prices of {time.strftime('%Y-%m-%d')}.")
    timed = sorted((corpus() / "native").glob("claude-code--*.jsonl"), key=lambda path: -path.stat().st_size)
    with ProcessPoolExecutor(WORKERS, initializer=quiet) as pool:
        tasks = [task for found in pool.map(tasks_of, [*timed, *session_files()]) for task in found]
        done = list(itertools.chain.from_iterable(pool.map(priced, tasks)))
    for model in MODELS:
        its = [one for one in done if one.task.model == model]
        print_model(model, [one for one in its if one.task.path not in timed])
        print_timed([one for one in its if one.task.path in timed])


def tasks_of(path: Path) -> tuple[Task, ...]:
    """The windows that a session suits, for each model."""
    transcript = read_transcript(path)
    if calls_of(transcript) > MOST_CALLS:
        return ()
    tokens = text_tokens(transcript)
    windows = [window for window in WINDOWS if window < tokens <= MOST_WINDOWS * window]
    return tuple(Task(path=path, window=window, model=model) for window in windows for model in MODELS)


# -- replaying -------------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class _Majors:
    """A plugin that counts collections of the whole window."""

    count: int = 0

    @hookimpl
    def gc_collection_finished(self, result: GCResult) -> None:
        self.count += result.reason is not GCTriggerReason.YOUNG


def priced(task: Task) -> list[Priced]:
    """Every strategy over one session, which is read once."""
    transcript = read_transcript(task.path)
    found = []
    for strategy in STRATEGIES:
        reported, plugins = _Majors(), Plugins.discover()
        plugins.register(reported)
        config = GCConfig(context_limit=task.window, strategy=strategy)
        replay = price(transcript, model=task.model, config=config, plugins=plugins)
        found.append(Priced(task=task, strategy=strategy, replay=replay, majors=reported.count))
    return found


# -- figures ---------------------------------------------------------------------------------------------------------

Pair = tuple[PricedRun, PricedRun]


def cost_percent(pairs: Iterable[Pair]) -> float | None:
    """Cost with collection in percent of that without, replies included; None where a price is missing."""
    collected = without = 0.0
    for one, whole in pairs:
        if one.spend.usd is None or whole.spend.usd is None:
            return None
        collected, without = collected + one.spend.usd, without + whole.spend.usd
    return 100.0 * collected / without if without else None


def read_percent(runs: Iterable[PricedRun]) -> float:
    """Input tokens read from the cache, in percent of those of all runs."""
    spends: list[Spend] = [run.spend for run in runs]
    return 100.0 * sum(each.read_tokens for each in spends) / max(1, sum(each.input_tokens for each in spends))


def best_percent(pairs: Iterable[Pair]) -> float:
    """What the cache could give at most, if no break cost anything: all but what is new to the conversation."""
    new = total = 0
    for one, whole in pairs:
        new += whole.spend.input_tokens - whole.spend.read_tokens
        total += one.spend.input_tokens
    return 100.0 * (1.0 - new / max(1, total))


# -- tables ----------------------------------------------------------------------------------------------------------


def print_model(model: str, done: Sequence[Priced]) -> None:
    """The sums of each window and strategy, then every session that misses a target."""
    terms, prices = terms_of(model, "openai"), prices_of(model, "openai")
    multiples = "" if prices is None else f", reading at {prices.read_share:g} and writing at {prices.write_share:g}"
    print(f"\n### {model} (rules of {terms.name}, {terms.dated}{multiples} of the input price)\n")
    heads = ("sessions", "read %", "at most %", "without: read %", "below 90 %", "cost %", "dearest %", "dearer")
    print_row("window", "strategy", *heads, "2 majors, not cheaper", "breaks / collections", "not sent")
    print_row("--:", "---", *["--:"] * 11)
    for window, strategy in itertools.product(WINDOWS, STRATEGIES):
        its = [one for one in done if (one.task.window, one.strategy) == (window, strategy)]
        if its:
            print_row(f"{window:,}", f"`{strategy}`", *_sums(its))
    missing = [(one, "; ".join(one.missed())) for one in done]
    print("\nSessions that miss a target:\n")
    print_row("window", "strategy", "session", "calls", "young / major", "read %", "at most %", "cost %", "misses")
    print_row("--:", "---", "---", *["--:"] * 5, "---")
    for one, what in sorted(missing, key=lambda found: (found[0].task.window, found[0].strategy, found[0].name)):
        pair = one.pair()
        if what and pair is not None:
            print_row(f"{one.task.window:,}", f"`{one.strategy}`", one.name, *_figures(one, pair), what)


def _sums(its: Sequence[Priced]) -> Iterator[object]:
    pairs = [pair for one in its if (pair := one.pair()) is not None]
    relative = [percent for pair in pairs if (percent := cost_percent([pair])) is not None]
    yield len(pairs)
    yield shown(read_percent(one for one, _ in pairs))
    yield shown(best_percent(pairs))
    yield shown(read_percent(whole for _, whole in pairs))
    yield sum(one.spend.hit_percent < LEAST_READ for one, _ in pairs)
    yield shown(cost_percent(pairs))
    yield shown(max(relative, default=None))
    yield sum(percent > SAME for percent in relative)
    yield sum(NO_CHEAPER in one.missed() for one in its)
    yield f"{sum(one.breaks for one, _ in pairs)} / {sum(one.collections for one, _ in pairs)}"
    yield sum(one.unsent for one, _ in pairs)


def _figures(one: Priced, pair: Pair) -> Iterator[object]:
    collected, _ = pair
    yield collected.spend.calls
    yield f"{collected.collections - one.majors} / {one.majors}"
    yield shown(collected.spend.hit_percent)
    yield shown(best_percent([pair]))
    yield shown(cost_percent([pair]))


def print_timed(done: Sequence[Priced]) -> None:
    """Sessions whose recording tells times, with the gaps as recorded and without."""
    print("\nWith the gaps as recorded (sessions of Claude Code, with their thinking):\n")
    heads = ("no gaps: read %", "at most %", "cost %", "gaps: read %", "without: read %", "cost %", "times cold")
    print_row("window", "strategy", "session", "calls", "young / major", *heads)
    print_row("--:", "---", "---", *["--:"] * 9)
    for one in sorted(done, key=lambda each: (each.task.window, each.strategy, each.name)):
        still, moving = one.pair(), one.pair(gaps=True)
        if still is None or moving is None:
            continue
        cold = sum(miss.cause.value == "expired" for miss in moving[0].misses)
        print_row(
            f"{one.task.window:,}",
            f"`{one.strategy}`",
            one.name,
            *_figures(one, still),
            shown(moving[0].spend.hit_percent),
            shown(moving[1].spend.hit_percent),
            shown(cost_percent([moving])),
            cold,
        )


if __name__ == "__main__":
    main()
