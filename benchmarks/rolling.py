"""
What the disciplines of ``gc_rolling`` do, alone and together, over the sized sessions of the corpus.

A sized session is that of ``ctxgc compare --sized``: longer than the window, at most four windows long, of at most 500
calls. Measures are those of ``ctxgc replay`` (``docs/strategies.md`` says what they are).
"""

from __future__ import annotations

import functools
import itertools
import logging
import platform
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path

import attrs
from gc_budget import Budget
from gc_rolling import Rolling

from benchmarks.counting import corpus
from gc_core import GCConfig, GCResult, GCTriggerReason, Plugins, hookimpl
from gc_core.comparison import MOST_CALLS, MOST_WINDOWS, Spread, spread
from gc_core.formats import format_named
from gc_core.measures import ReplayReport, pooled
from gc_core.messages import Role
from gc_core.one_call import Share
from gc_core.protocols import GCStrategy
from gc_core.replay import replay
from gc_core.sums import ReplaySummary
from gc_core.tokens import counter_for
from gc_core.transcripts import Transcript, read_transcript
from gc_core.uses import message_texts, uses_of

WINDOWS = (32_000, 100_000)
WORKERS = 2
PACKAGES = ("gc-core", "gc-rolling", "gc-budget", "tiktoken")

FLOORS = {32_000: "90 at .58", 100_000: "98.5 at .45"}
AIMS = {32_000: "95 at .50", 100_000: "99 at .40"}
"""The project's targets for far fit in percent at a cost."""

DEFAULTS = "all of it: the defaults"


@attrs.frozen(kw_only=True)
class Variant:
    """A strategy with options, and what it is called in a table."""

    name: str
    strategy: GCStrategy


def only(*, nursery: bool = False, steps: bool = False, fold: bool = False, compaction: bool = False) -> Rolling:
    """
    Snips in collections of the whole window, and the disciplines that are named; what is left to free is dropped.

    Without compaction a collection begins at the threshold alone, and only a request that would not fit is compacted.
    """
    default = Rolling()
    return Rolling(
        nursery_tokens=default.nursery_tokens if nursery else 0,
        shares=default.shares if steps else (),  # type: ignore[arg-type]  # mypy reads the converter's own variable
        fold=fold,
        conversation_percent=default.conversation_percent if compaction else 100.0,
        autocompact_percent=default.autocompact_percent if compaction else 100.0,
    )


DISCIPLINES = (
    Variant(name="snip", strategy=only()),
    Variant(name="snip, nursery", strategy=only(nursery=True)),
    Variant(name="snip, micro steps", strategy=only(steps=True)),
    Variant(name="snip, fold", strategy=only(fold=True)),
    Variant(name="snip, compaction", strategy=only(compaction=True)),
    Variant(name="snip, nursery, micro steps", strategy=only(nursery=True, steps=True)),
    Variant(name="snip, nursery, micro steps, fold", strategy=only(nursery=True, steps=True, fold=True)),
    Variant(name=DEFAULTS, strategy=Rolling()),
    Variant(name="`gc_budget`", strategy=Budget()),
)

OTHERS = (
    Variant(name="compaction above 83.5 % of the window alone", strategy=Rolling(conversation_percent=100.0)),
    Variant(name="nursery of 2,500", strategy=Rolling(nursery_tokens=2_500)),
    Variant(name="nursery of 8,000", strategy=Rolling(nursery_tokens=8_000)),
    Variant(name="down to 40 %", strategy=Rolling(target_percent=40.0)),
    Variant(name="down to 60 %", strategy=Rolling(target_percent=60.0)),
)
"""What was tried and is not the default."""


@attrs.frozen(kw_only=True)
class Phase:
    """What one phase of one collection freed, and in how many removals."""

    name: str
    removals: int
    tokens: int


@attrs.frozen(kw_only=True)
class Pass:
    """One collection: why, how large the request was, seconds, and its phases."""

    reason: GCTriggerReason
    tokens: int
    seconds: float
    phases: tuple[Phase, ...]


@attrs.frozen(kw_only=True)
class Task:
    """One session at one window, replayed with each variant."""

    path: Path
    window: int


@attrs.frozen(kw_only=True)
class Outcome:
    """What one variant did to one session."""

    variant: str
    report: ReplayReport
    passes: tuple[Pass, ...]


def main() -> None:
    """Print the tables in Markdown."""
    if not corpus().is_dir():
        print(f"no recorded sessions in {corpus()}: nothing to keep or to lose; set GC_CORPUS")
        return
    print(f"Made {made_with(PACKAGES)}.")
    with ProcessPoolExecutor(WORKERS, initializer=quiet) as pool:
        tasks = [task for found in pool.map(sized, session_files()) for task in found]
        done = dict(zip(tasks, pool.map(measured, tasks), strict=True))
    for window in WINDOWS:
        outcomes = [outcome for task, its in done.items() if task.window == window for outcome in its]
        print_window(window, outcomes)


def made_with(packages: Sequence[str]) -> str:
    """Date, versions of these packages, and of Python."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{time.strftime('%Y-%m-%d')}, {versions}, Python {platform.python_version()}"


def quiet() -> None:
    """What is mended in a message is no news here."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)


def session_files() -> list[Path]:
    """The sessions of the corpus, the largest first, so that nobody waits for the last one alone."""
    return sorted(corpus().glob("*.jsonl"), key=lambda path: -path.stat().st_size)


def sized(path: Path, windows: Iterable[int] = WINDOWS) -> tuple[Task, ...]:
    """The windows that a session suits."""
    transcript = read_transcript(path)
    if calls_of(transcript) > MOST_CALLS:
        return ()
    tokens = text_tokens(transcript)
    return tuple(Task(path=path, window=each) for each in windows if each < tokens <= MOST_WINDOWS * each)


def calls_of(transcript: Transcript) -> int:
    """Model calls of a session."""
    form = format_named(transcript.format)
    return sum(form.role(message) is Role.ASSISTANT for message in transcript.messages)


def text_tokens(transcript: Transcript) -> int:
    """Tokens of a session's text alone: no framing, no schemas."""
    form = format_named(transcript.format)
    count = counter_for(None, transcript.format).count
    texts = (text for message in transcript.messages for text in message_texts(message, form))
    return sum(map(count, transcript.system)) + sum(map(count, texts))


# -- replaying -------------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class _Listener:
    """A plugin that hears of every collection."""

    passes: list[Pass] = attrs.Factory(list)

    @hookimpl
    def gc_collection_finished(self, result: GCResult) -> None:
        groups: dict[str, list[int]] = {}
        for removal in result.removals:
            groups.setdefault(removal.phase, []).append(removal.tokens_freed)
        phases = (Phase(name=name, removals=len(freed), tokens=sum(freed)) for name, freed in groups.items())
        self.passes.append(
            Pass(reason=result.reason, tokens=result.tokens_before, seconds=result.seconds, phases=tuple(phases))
        )


def measured(task: Task) -> list[Outcome]:
    """Every variant over one session; it is read once."""
    transcript = read_transcript(task.path)
    uses = uses_of(transcript)
    config = GCConfig(context_limit=task.window, output_reservation=0)
    outcomes = []
    for variant in (*DISCIPLINES, *OTHERS):
        heard, plugins = _Listener(), Plugins()
        plugins.register(heard)
        report = replay(transcript, config=config, strategy=variant.strategy, plugins=plugins, uses=uses)
        outcomes.append(Outcome(variant=variant.name, report=report, passes=tuple(heard.passes)))
    return outcomes


# -- tables ----------------------------------------------------------------------------------------------------------


def print_window(window: int, outcomes: Sequence[Outcome]) -> None:
    """All tables of a window."""
    by_name = {name: list(its) for name, its in _by_variant(outcomes)}
    defaults = by_name[DEFAULTS]
    whole = pooled([outcome.report for outcome in defaults])
    print(f"\n### Window {window:,} ({len(defaults)} sessions, {whole.calls:,} calls, {whole.far_uses:,} far uses)\n")
    print_against_targets(window, defaults, whole)
    print("\nThe disciplines alone and together:\n")
    print_variants([(each.name, by_name[each.name]) for each in DISCIPLINES])
    print("\nWhat is not the default:\n")
    print_variants([(each.name, by_name[each.name]) for each in OTHERS])
    print("\nWhat each phase freed, at the defaults:\n")
    print_phases([one for outcome in defaults for one in outcome.passes])
    print("\nCollections, at the defaults:\n")
    print_passes([one for outcome in defaults for one in outcome.passes])
    print("\nBy session:\n")
    print_sessions(by_name)


def _by_variant(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, Iterator[Outcome]]]:
    """Sorting is stable: sessions stay in their order."""
    order = {variant.name: at for at, variant in enumerate((*DISCIPLINES, *OTHERS))}
    ranked = sorted(outcomes, key=lambda outcome: order[outcome.variant])
    return itertools.groupby(ranked, key=lambda outcome: outcome.variant)


def print_against_targets(window: int, defaults: Sequence[Outcome], whole: ReplaySummary) -> None:
    """Far fit at cost beside floor and aim, and what is promised of everything else."""
    far = far_spread([outcome.report for outcome in defaults])
    ranged = "-" if far is None else f"{far.mean:.1f} | {far.low:.0f} - {far.high:.0f}"
    now = f"{shown(whole.far_fit)} at {shown(whole.cost, 3)}"
    print_row("floor", "aim", "`gc_rolling`", "mean of sessions", "90 % range", "near %", "user text %")
    print_row(*["--:"] * 7)
    print_row(FLOORS[window], AIMS[window], now, ranged, shown(whole.near), shown(whole.user_text_kept))
    print()
    print_row(
        "first request %", "LOCKED bytes missing", "calls over", "rule breaches", "changed unasked", "recovered %"
    )
    print_row(*["--:"] * 6)
    print_row(
        shown(whole.first_request_kept, 0),
        whole.locked_bytes_missing,
        whole.calls_over,
        whole.rule_breaches,
        whole.drifts,
        shown(whole.recovered),
    )


def far_spread(reports: Sequence[ReplayReport]) -> Spread | None:
    """The far fit of several sessions, and how far chance could move it."""
    return spread(functools.reduce(Share.plus, (call.fit.far for call in report.calls), Share()) for report in reports)


def print_variants(rows: Iterable[tuple[str, Sequence[Outcome]]]) -> None:
    """A row a variant."""
    print_row("", "far fit %", "far lines %", "cost", "mean prompt", "breaks a 100", "tokens saved %", "young", "major")
    print_row("---", *["--:"] * 8)
    for name, its in rows:
        whole = pooled([outcome.report for outcome in its])
        young = sum(one.reason is GCTriggerReason.YOUNG for outcome in its for one in outcome.passes)
        print_row(
            name,
            shown(whole.far_fit),
            shown(whole.far_lines),
            shown(whole.cost, 3),
            f"{whole.tokens_sent / max(1, whole.calls) / 1000:.1f}k",
            f"{100.0 * whole.breaks / whole.calls:.1f}",
            f"{100.0 * (1 - whole.tokens_sent / whole.tokens_without):.1f}",
            young,
            sum(len(outcome.passes) for outcome in its) - young,
        )


def print_phases(passes: Sequence[Pass]) -> None:
    """A row a phase, in the order in which a collection goes through them."""
    found = [phase for one in passes for phase in one.phases]
    every = max(1, sum(phase.tokens for phase in found))
    print_row("phase", "removals", "tokens freed", "share %", "tokens a removal")
    print_row("---", *["--:"] * 4)
    for name in dict.fromkeys(phase.name for phase in found):
        its = [phase for phase in found if phase.name == name]
        tokens, count = sum(phase.tokens for phase in its), sum(phase.removals for phase in its)
        share = f"{100.0 * tokens / every:.1f}"
        print_row(name or "last resort", f"{count:,}", f"{tokens:,}", share, f"{tokens / max(1, count):,.0f}")


def print_passes(passes: Sequence[Pass]) -> None:
    """A row a reason: how many, and how long they took."""
    print_row("reason", "collections", "median ms", "largest ms", "median ms per 100k tokens")
    print_row("---", *["--:"] * 4)
    for reason in dict.fromkeys(one.reason for one in passes):
        its = [one for one in passes if one.reason is reason]
        took = [1000.0 * one.seconds for one in its]
        scaled = statistics.median(1e8 * one.seconds / max(1, one.tokens) for one in its)
        print_row(reason.value, len(its), f"{statistics.median(took):.0f}", f"{max(took):.0f}", f"{scaled:.0f}")


def print_sessions(by_name: dict[str, list[Outcome]]) -> None:
    """Far fit and cost of each session at the defaults, beside snips alone and ``gc_budget``."""
    names = (DEFAULTS, "snip", "`gc_budget`")
    heads = (f"{name}: {measure}" for name in ("defaults", *names[1:]) for measure in ("far fit %", "cost"))
    print_row("session", "calls", "far uses", *heads)
    print_row("---", *["--:"] * (2 + 2 * len(names)))
    for its in zip(*(by_name[name] for name in names), strict=True):
        all_of = [outcome.report.summary() for outcome in its]
        cells = (cell for one in all_of for cell in (shown(one.far_fit), shown(one.cost, 3)))
        print_row(its[0].report.session.removesuffix(".jsonl"), all_of[0].calls, all_of[0].far_uses, *cells)


def shown(figure: float | None, digits: int = 1) -> str:
    """A figure, or a dash where there is none."""
    return "-" if figure is None else f"{figure:.{digits}f}"


def print_row(*cells: object) -> None:
    """One line of a table in Markdown."""
    print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
