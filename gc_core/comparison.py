"""Strategies and baselines side by side: the same sessions, the same windows, the same measures."""

from __future__ import annotations

import functools
import logging
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import attrs

from gc_core.baselines import BASELINES
from gc_core.config import GCConfig
from gc_core.errors import GCError
from gc_core.formats import format_named
from gc_core.measures import ReplayReport, ReplaySummary, Share, pooled
from gc_core.messages import Role
from gc_core.plugins import Plugins
from gc_core.replay import replay, replay_baseline
from gc_core.tokens import counter_for
from gc_core.transcripts import Transcript, read_transcript
from gc_core.uses import Uses, message_texts, uses_of

MOST_WINDOWS = 4
"""A sized session is at most this many windows long (TARGETS.md), its text alone: no framing, no schemas."""

MOST_CALLS = 500
"""Model calls that a sized session has at most."""

DRAWS = 2_000
"""How often the sessions are drawn again for a range."""

_SEED = 0
_LOW, _HIGH = 0.05, 0.95

T = TypeVar("T")
R = TypeVar("R")

OnDone = Callable[[int, int], None]
"""Told of the progress: replays done, and replays that there are in all."""


@attrs.frozen(kw_only=True)
class Spread:
    """
    A share over several sessions, and how far chance could move it.

    Attributes:
        pooled: Percent of all cases, each weighing the same.
        mean: Mean of the sessions' percents; sessions without a case are left out.
        low: A twentieth of the redrawn samples lies below: as many sessions, drawn with replacement, pooled.
        high: A twentieth lies above.
        cases: Identifiers that were used.

    """

    pooled: float
    mean: float
    low: float
    high: float
    cases: int


@attrs.frozen(kw_only=True)
class SessionFigures:
    """The figures of one session."""

    session: str
    summary: ReplaySummary


@attrs.frozen(kw_only=True)
class SystemRow:
    """
    What one strategy or baseline does to all sessions of a window.

    Attributes:
        system: Its name.
        baseline: It is no strategy: see ``gc_core.baselines``.
        far: The far fit; None where nothing is used from afar.
        mean_prompt: Tokens of a request, mean of all calls that could be sent.
        breaks_per_100: Breaks of the prompt cache in 100 calls.
        p99_ms: Milliseconds within which 99 of 100 calls stay, collecting or not.
        summary: All figures, every call weighing the same.
        sessions: The figures of each session.

    """

    system: str
    baseline: bool
    far: Spread | None
    mean_prompt: float
    breaks_per_100: float
    p99_ms: float
    summary: ReplaySummary
    sessions: tuple[SessionFigures, ...]


@attrs.frozen(kw_only=True)
class WindowTable:
    """
    All systems at one window.

    Attributes:
        window: Tokens that a request may have.
        sessions: Names of the sessions.
        rows: Strategies first, best far fit first, then the baselines.

    """

    window: int
    sessions: tuple[str, ...]
    rows: tuple[SystemRow, ...]


@attrs.frozen(kw_only=True)
class Comparison:
    """
    What was compared.

    Attributes:
        tables: One a window.
        failures: What could not be replayed, a line each.

    """

    tables: tuple[WindowTable, ...]
    failures: tuple[str, ...] = ()


def compare(
    paths: Sequence[Path],
    *,
    config: GCConfig,
    strategies: Sequence[str],
    windows: Sequence[int],
    sized: bool = False,
    workers: int = 1,
    on_done: OnDone | None = None,
) -> Comparison:
    """
    Replay every session with every strategy and baseline at every window.

    Args:
        paths: The recorded sessions.
        config: How to collect; strategy and window are those asked for.
        strategies: Names of installed strategies.
        windows: Tokens that a request may have.
        sized: Of the sessions, only those longer than the window, at most four windows long, with at most 500 calls.
        workers: Processes.
        on_done: Told of the progress.

    """
    with _processes(workers) as pool:
        sizes = list(_map(pool, _size, paths))
        systems = (*strategies, *(baseline.name for baseline in BASELINES))
        tasks = [
            _Task(
                path=size.path, config=attrs.evolve(config, context_limit=window, output_reservation=0), system=system
            )
            for size in sizes
            for window in windows
            if not size.failure and (size.suits(window) or not sized)
            for system in systems
        ]
        done = []
        for outcome in _map(pool, _measured, tasks):
            done.append(outcome)
            if on_done is not None:
                on_done(len(done), len(tasks))
    failures = [size.failure for size in sizes if size.failure] + [one.failure for one in done if one.failure]
    return Comparison(tables=tuple(_tables(done, windows)), failures=tuple(dict.fromkeys(failures)))


def spread(shares: Iterable[Share], *, draws: int = DRAWS, seed: int = _SEED) -> Spread | None:
    """The spread of the sessions' shares; the same for the same shares. None where there is no case at all."""
    shares = list(shares)
    cases = [share for share in shares if share.whole]
    if not cases:
        return None
    lot = random.Random(seed)  # noqa: S311 - no secret hangs on it
    samples = (_sum(lot.choices(shares, k=len(shares))) for _ in range(draws))
    ranked = sorted(share.percent for share in samples if share.whole)
    whole = _sum(cases)
    return Spread(
        pooled=whole.percent,
        mean=sum(share.percent for share in cases) / len(cases),
        low=_quantile(ranked, _LOW),
        high=_quantile(ranked, _HIGH),
        cases=whole.whole,
    )


# -- inside: replaying -----------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _Size:
    """How long a session is; a failure where it cannot be read."""

    path: Path
    tokens: int = 0
    calls: int = 0
    failure: str = ""

    def suits(self, window: int) -> bool:
        return window < self.tokens <= MOST_WINDOWS * window and self.calls <= MOST_CALLS


@attrs.frozen(kw_only=True)
class _Task:
    """One session, one window, one strategy or baseline."""

    path: Path
    config: GCConfig
    system: str


@attrs.frozen(kw_only=True)
class _Outcome:
    task: _Task
    report: ReplayReport | None = None
    failure: str = ""


@contextmanager
def _processes(count: int) -> Iterator[ProcessPoolExecutor | None]:
    """A pool, or None when this process is enough. Not forked: a progress bar has a thread of its own."""
    if count <= 1:
        yield None
        return
    with ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_silence) as pool:
        yield pool


def _silence() -> None:
    """What a session mends is told by ``ctxgc replay``; here it would be told for every strategy."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)


def _map(pool: ProcessPoolExecutor | None, function: Callable[[T], R], given: Iterable[T]) -> Iterator[R]:
    return map(function, given) if pool is None else pool.map(function, given)


def _size(path: Path) -> _Size:
    try:
        transcript = read_transcript(path)
    except GCError as error:
        return _Size(path=path, failure=_named(path, error))
    form = format_named(transcript.format)
    count = counter_for(None, transcript.format).count
    texts = (text for message in transcript.messages for text in message_texts(message, form))
    return _Size(
        path=path,
        tokens=sum(map(count, transcript.system)) + sum(map(count, texts)),
        calls=sum(form.role(message) is Role.ASSISTANT for message in transcript.messages),
    )


def _measured(task: _Task) -> _Outcome:
    try:
        return _Outcome(task=task, report=_replayed(task))
    except GCError as error:
        return _Outcome(task=task, failure=_named(task.path, error))


def _replayed(task: _Task) -> ReplayReport:
    transcript, uses = _known(task.path)
    baseline = next((baseline for baseline in BASELINES if baseline.name == task.system), None)
    if baseline is not None:
        return replay_baseline(transcript, config=task.config, baseline=baseline, uses=uses)
    return replay(transcript, config=task.config, strategy=task.system, plugins=Plugins.discover(), uses=uses)


@functools.lru_cache(maxsize=2)
def _known(path: Path) -> tuple[Transcript, Uses]:
    """Read once for all systems: tasks of one session stand side by side."""
    transcript = read_transcript(path)
    return transcript, uses_of(transcript)


def _named(path: Path, error: GCError) -> str:
    return str(error) if str(path) in str(error) else f"{path}: {error}"


# -- inside: figures -------------------------------------------------------------------------------------------------


def _tables(done: Sequence[_Outcome], windows: Sequence[int]) -> Iterator[WindowTable]:
    for window in windows:
        reports: dict[str, list[ReplayReport]] = {}
        for one in done:
            if one.report is not None and one.report.window == window:
                reports.setdefault(one.task.system, []).append(one.report)
        rows = [_row(system, its) for system, its in reports.items()]
        names = dict.fromkeys(report.session for its in reports.values() for report in its)
        yield WindowTable(window=window, sessions=tuple(names), rows=tuple(sorted(rows, key=_rank)))


def _rank(row: SystemRow) -> tuple[bool, float]:
    return row.baseline, -row.far.pooled if row.far else 0.0


def _row(system: str, reports: Sequence[ReplayReport]) -> SystemRow:
    whole = pooled(reports)
    calls = [call for report in reports for call in report.calls]
    sent = sum(call.sent is not None for call in calls)
    return SystemRow(
        system=system,
        baseline=any(baseline.name == system for baseline in BASELINES),
        far=spread(_sum(call.fit.far for call in report.calls) for report in reports),
        mean_prompt=whole.tokens_sent / sent if sent else 0.0,
        breaks_per_100=100.0 * whole.breaks / whole.calls if whole.calls else 0.0,
        p99_ms=1000.0 * _quantile(sorted(call.seconds for call in calls), 0.99) if calls else 0.0,
        summary=whole,
        sessions=tuple(SessionFigures(session=report.session, summary=report.summary()) for report in reports),
    )


def _sum(shares: Iterable[Share]) -> Share:
    return functools.reduce(Share.plus, shares, Share())


def _quantile(ranked: Sequence[float], share: float) -> float:
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]
