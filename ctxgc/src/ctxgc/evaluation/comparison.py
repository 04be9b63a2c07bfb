"""Strategies and baselines side by side: the same sessions, the same windows, the same measures."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from ctxgc.evaluation.call_measures import Share
from ctxgc.evaluation.executors import PROCESSES, Crew, crew_of
from ctxgc.evaluation.jobs import BASELINES_BY_NAME, Outcome, Recording, Size, Work, measured, size_of
from ctxgc.evaluation.totals import ReplaySummary, Sums, together, total
from gc_core.values.config import GCConfig

MOST_WINDOWS = 4
"""The most windows' worth of text in a sized session, without framing or schemas."""

MOST_CALLS = 500
"""The most model calls of a sized session."""

DRAWS = 2_000
"""How often the sessions are redrawn for a range."""

_SEED = 0
_LOW, _HIGH = 0.05, 0.95

OnDone = Callable[[int, int], None]
"""Called with the progress: finished replays, and replays in total."""


@attrs.frozen(kw_only=True)
class Band:
    """
    Sessions of about one length.

    Attributes:
        least: Model calls that a session has at least.
        below: It has fewer than this many; None: however many.

    """

    least: int
    below: int | None = None

    def holds(self, calls: int) -> bool:
        """Return whether a session with this many calls belongs to it."""
        return self.least <= calls and (self.below is None or calls < self.below)

    def __str__(self) -> str:
        """Return its name in tables."""
        return f"{self.least}+ calls" if self.below is None else f"{self.least}-{self.below} calls"


BANDS = (Band(least=10, below=50), Band(least=50, below=500), Band(least=500))
"""The bands of lengths in tables; for shorter sessions there is nothing to report."""


@attrs.frozen(kw_only=True)
class Spread:
    """
    A share over several sessions, and its sampling error.

    Attributes:
        pooled: Percent of all cases, each weighing the same.
        mean: Mean of the sessions' percents; sessions without a case are left out.
        low: The 5th percentile of redrawn samples: as many sessions, drawn with replacement, pooled.
        high: The 95th percentile.
        cases: The number of cases: identifiers that were used, or edits.

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
    The effect of one strategy or baseline on sessions at a window.

    Attributes:
        system: Its name.
        baseline: It is not a strategy: see ``ctxgc.evaluation.baselines`` and ``ctxgc.evaluation.vendor_modes``.
        misses: The edits that miss; None without edits.
        far: The far fit; None if nothing is used from afar.
        mean_prompt: Tokens of a request, mean of all calls that could be sent.
        breaks_per_100: Breaks of the prompt cache in 100 calls.
        p99_ms: Milliseconds within which 99 of 100 calls stay, collecting or not.
        summary: All figures, every call weighing the same.
        sessions: The figures of each session; empty in a band, since the window's row has them.

    """

    system: str
    baseline: bool
    misses: Spread | None
    far: Spread | None
    mean_prompt: float
    breaks_per_100: float
    p99_ms: float
    summary: ReplaySummary
    sessions: tuple[SessionFigures, ...] = ()


@attrs.frozen(kw_only=True)
class BandTable:
    """
    All systems on the sessions of about one length.

    Attributes:
        band: The length.
        sessions: Names of the sessions.
        rows: As in the table of the window, in its order.

    """

    band: Band
    sessions: tuple[str, ...]
    rows: tuple[SystemRow, ...]


@attrs.frozen(kw_only=True)
class WindowTable:
    """
    All systems at one window.

    Attributes:
        window: Tokens that a request may have.
        sessions: Names of the sessions: their files', with as many directories as distinguish them.
        rows: Strategies first, then the baselines; of both the one with the fewest edits that miss first.
        bands: The same by the length of the sessions; lengths that none has are left out.

    """

    window: int
    sessions: tuple[str, ...]
    rows: tuple[SystemRow, ...]
    bands: tuple[BandTable, ...] = ()


@attrs.frozen(kw_only=True)
class Means:
    """
    The effect of one strategy or baseline at several windows: the mean of the windows' figures, each weighing the same.

    The figures of a single window depend on one or two sessions.

    Attributes:
        system: Its name.
        baseline: It is not a strategy.
        edits_that_miss: Percent; None if there is no edit.
        low: A twentieth of the redrawn samples lies below: as many sessions, drawn with replacement, at every window.
        high: A twentieth lies above.
        far_quotes: Percent of quoted lines from afar that are in the prompt.
        near_quotes: Percent of the other ones.
        cost_with_misses: Relative to no collection.
        cost: Without the calls that misses need.
        far_fit: Percent.
        verbatim_reuse: Percent.
        user_text_kept: Percent, of the windows of 32,000 tokens and more.
        calls_over: Of all windows together.

    """

    system: str
    baseline: bool
    edits_that_miss: float | None
    low: float | None
    high: float | None
    far_quotes: float | None
    near_quotes: float | None
    cost_with_misses: float | None
    cost: float | None
    far_fit: float | None
    verbatim_reuse: float | None
    user_text_kept: float | None
    calls_over: int


@attrs.frozen(kw_only=True)
class Comparison:
    """
    A comparison.

    Attributes:
        tables: One a window.
        means: Of all windows, fewest edits that miss first; of systems that were measured at each of them.
        failures: Sessions that could not be replayed, a line each.
        warnings: Omissions and repairs, of each file the first.

    """

    tables: tuple[WindowTable, ...]
    means: tuple[Means, ...] = ()
    failures: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def compare(
    paths: Sequence[Path],
    *,
    config: GCConfig,
    strategies: Sequence[str],
    windows: Sequence[int],
    sized: bool = False,
    workers: int = 1,
    executor: str = PROCESSES,
    on_done: OnDone | None = None,
) -> Comparison:
    """
    Replay every session with every strategy and baseline at every window. Everything except times is reproducible.

    Args:
        paths: The recorded sessions; a file that is named twice counts once.
        config: How to collect; strategy and window are those asked for.
        strategies: Names of installed strategies.
        windows: Tokens that a request may have.
        sized: Of the sessions, only those longer than the window, at most four windows long, with at most 500 calls.
        workers: Local processes; with one all is done in this process.
        executor: The executor: ``processes``, or ``dask://HOST:PORT``.
        on_done: Called with the progress.

    Raises:
        ConfigError: The executor is unknown, or what it needs is not installed.
        ExecutorError: The cluster cannot be reached, or a worker was lost.

    """
    names = session_names(paths)
    systems = (*strategies, *BASELINES_BY_NAME)
    with crew_of(executor, workers=workers) as crew:
        sizes = _sizes(crew, list(names))
        work = _Plan(sizes=sizes, config=config, systems=systems, windows=windows, sized=sized)
        done = []
        for outcome in crew.results(measured, work.pieces(remote=crew.remote)):
            done.append(outcome)
            if on_done is not None:
                on_done(len(done), len(work))
    return Comparison(
        tables=tuple(_table(window, work.of(window), done, systems, names) for window in windows),
        means=means_of(_by_system(done, systems)),
        failures=tuple(dict.fromkeys(_failures(sizes, done))),
        warnings=tuple(_warnings(sizes)),
    )


def session_names(paths: Iterable[Path]) -> Mapping[Path, str]:
    """Return the name of each file in tables: its own, with as many of its directories as distinguish it."""
    files: dict[Path, Path] = {}
    for path in paths:
        files.setdefault(Path(os.path.realpath(path)), path)  # a link to itself is reported when it is read
    depth = dict.fromkeys(files, 1)
    names = _ends(depth)
    while len(set(names.values())) < len(names):
        counts = Counter(names.values())
        depth = {file: depth[file] + (counts[name] > 1) for file, name in names.items()}
        names = _ends(depth)
    return {path: names[file] for file, path in files.items()}


def means_of(sums: Mapping[str, Mapping[int, Mapping[Path, Sums]]]) -> tuple[Means, ...]:
    """
    Return the means over the windows of each system, from its sums by window and session; fewest edits that miss first.

    Windows at which no session was measured are left out.
    """
    rows = [_means(system, {window: its for window, its in windows.items() if its}) for system, windows in sums.items()]
    return tuple(sorted(rows, key=_mean_rank))


def spread(shares: Iterable[Share], *, draws: int = DRAWS, seed: int = _SEED) -> Spread | None:
    """Return the spread of the sessions' shares; deterministic. None if there are no cases."""
    shares = list(shares)
    cases = [share for share in shares if share.whole]
    if not cases:
        return None
    lot = random.Random(seed)  # noqa: S311 - no secret hangs on it
    samples = (total(lot.choices(shares, k=len(shares))) for _ in range(draws))
    ranked = sorted(share.percent for share in samples if share.whole)
    whole = total(cases)
    return Spread(
        pooled=whole.percent,
        mean=sum(share.percent for share in cases) / len(cases),
        low=_quantile(ranked, _LOW),
        high=_quantile(ranked, _HIGH),
        cases=whole.whole,
    )


# -- inside: the work ------------------------------------------------------------------------------------------------


def _ends(depth: Mapping[Path, int]) -> dict[Path, str]:
    return {file: "/".join(file.parts[-parts:]) for file, parts in depth.items()}


def _sizes(crew: Crew, paths: Sequence[Path]) -> list[Size]:
    """Return the sizes of all sessions, in the order of the paths; the largest files are read first."""
    largest = sorted(paths, key=_bytes, reverse=True)
    sizes = {size.path: size for size in crew.results(size_of, _recordings(largest, remote=crew.remote))}
    return [sizes.get(path) or size_of(Recording(path=path)) for path in paths]


def _bytes(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _recordings(paths: Iterable[Path], *, remote: bool) -> Iterator[Recording]:
    for path in paths:
        recording = Recording(path=path)
        if not remote:
            yield recording
        elif path.is_file():
            yield recording.taken_along()


@attrs.frozen(kw_only=True)
class _Plan:
    """The sessions to replay."""

    sizes: Sequence[Size]
    config: GCConfig
    systems: Sequence[str]
    windows: Sequence[int]
    sized: bool

    def __len__(self) -> int:
        return sum(len(self.of(window)) for window in self.windows) * len(self.systems)

    def of(self, window: int) -> list[Size]:
        """Return the sessions at this window, in order."""
        return [size for size in self.sizes if not size.failure and (_suits(size, window) or not self.sized)]

    def pieces(self, *, remote: bool) -> Iterator[Work]:
        """Yield every replay; the longest sessions first, so that at the end no worker waits for another one."""
        paths = {window: {size.path for size in self.of(window)} for window in self.windows}
        wanted = set().union(*paths.values())
        longest = sorted(self.sizes, key=lambda size: size.calls * size.tokens, reverse=True)
        for recording in _recordings([size.path for size in longest if size.path in wanted], remote=remote):
            for window in self.windows:
                config = attrs.evolve(self.config, context_limit=window, output_reservation=0)
                for system in self.systems if recording.path in paths[window] else ():
                    yield Work(recording=recording, config=config, system=system)


def _suits(size: Size, window: int) -> bool:
    return window < size.tokens <= MOST_WINDOWS * window and size.calls <= MOST_CALLS


def _failures(sizes: Iterable[Size], done: Iterable[Outcome]) -> Iterator[str]:
    yield from (size.failure for size in sizes if size.failure)
    yield from sorted({outcome.failure for outcome in done if outcome.failure})


def _warnings(sizes: Iterable[Size]) -> Iterator[str]:
    for size in sizes:
        if size.warnings:
            first, more = size.warnings[0], len(size.warnings) - 1
            yield f"{first} (and {more:,} more)" if more else first


# -- inside: means of windows ----------------------------------------------------------------------------------------

USER_TEXT_FROM = 32_000
"""Window in tokens from which user text counts: the newest turns by themselves may exceed smaller ones."""


def _by_system(done: Iterable[Outcome], systems: Iterable[str]) -> dict[str, dict[int, dict[Path, Sums]]]:
    found: dict[str, dict[int, dict[Path, Sums]]] = {system: {} for system in systems}
    for one in sorted(done, key=lambda one: (one.window, one.path)):
        if one.sums is not None:
            found[one.system].setdefault(one.window, {})[one.path] = one.sums
    return found


def _means(system: str, windows: Mapping[int, Mapping[Path, Sums]]) -> Means:
    every = {window: together(its.values()) for window, its in windows.items()}
    wide = [sums.user_text.percent for window, sums in every.items() if window >= USER_TEXT_FROM]
    low, high = _range_of_means(windows)
    return Means(
        system=system,
        baseline=system in BASELINES_BY_NAME,
        edits_that_miss=_mean_percent(sums.missing for sums in every.values()),
        low=low,
        high=high,
        far_quotes=_mean_percent(sums.far_quotes for sums in every.values()),
        near_quotes=_mean_percent(sums.near_quotes for sums in every.values()),
        cost_with_misses=_mean(sums.cost_with_misses for sums in every.values()),
        cost=_mean(sums.cost for sums in every.values()),
        far_fit=_mean_percent(sums.far for sums in every.values()),
        verbatim_reuse=_mean_percent(sums.reuse for sums in every.values()),
        user_text_kept=_mean(wide),
        calls_over=sum(sums.over + sums.over_locked for sums in every.values()),
    )


def _range_of_means(windows: Mapping[int, Mapping[Path, Sums]]) -> tuple[float | None, float | None]:
    """Return the range of the means; a drawn session is drawn at every window."""
    paths = sorted({path for its in windows.values() for path in its})
    lot = random.Random(_SEED)  # noqa: S311 - no secret hangs on it
    found = []
    for _ in range(DRAWS if paths else 0):
        drawn = lot.choices(paths, k=len(paths))
        mean = _mean_percent(total(its[path].missing for path in drawn if path in its) for its in windows.values())
        if mean is not None:
            found.append(mean)
    ranked = sorted(found)
    return (_quantile(ranked, _LOW), _quantile(ranked, _HIGH)) if ranked else (None, None)


def _mean_percent(shares: Iterable[Share]) -> float | None:
    return _mean(share.percent for share in shares if share.whole)


def _mean(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None


def _mean_rank(row: Means) -> tuple[bool, float]:
    return row.baseline, 100.0 if row.edits_that_miss is None else row.edits_that_miss


# -- inside: figures -------------------------------------------------------------------------------------------------


def _table(
    window: int, sizes: Sequence[Size], done: Iterable[Outcome], systems: Iterable[str], names: Mapping[Path, str]
) -> WindowTable:
    """Return the table in the order of the request, whatever was finished first."""
    sums = {(one.system, one.path): one.sums for one in done if one.window == window and one.sums is not None}
    found = {
        system: {size.path: sums[system, size.path] for size in sizes if (system, size.path) in sums}
        for system in systems
    }
    rows = [_row(system, its, names) for system, its in found.items() if its]
    ranked = sorted(rows, key=_rank)
    order = [row.system for row in ranked]
    return WindowTable(
        window=window,
        sessions=tuple(names[size.path] for size in sizes),
        rows=tuple(ranked),
        bands=tuple(_bands(sizes, {system: found[system] for system in order}, names)),
    )


def _bands(
    sizes: Sequence[Size], found: Mapping[str, Mapping[Path, Sums]], names: Mapping[Path, str]
) -> Iterator[BandTable]:
    for band in BANDS:
        paths = [size.path for size in sizes if band.holds(size.calls)]
        its = {system: {path: sums[path] for path in paths if path in sums} for system, sums in found.items()}
        if paths:
            rows = (attrs.evolve(_row(system, sums, names), sessions=()) for system, sums in its.items() if sums)
            yield BandTable(band=band, sessions=tuple(names[path] for path in paths), rows=tuple(rows))


def _rank(row: SystemRow) -> tuple[bool, float, float]:
    """Return the sort key: fewest edits that miss first; without edits, best far fit first."""
    return row.baseline, row.misses.pooled if row.misses else 100.0, -row.far.pooled if row.far else 0.0


def _row(system: str, sums: Mapping[Path, Sums], names: Mapping[Path, str]) -> SystemRow:
    whole = together(sums.values())
    return SystemRow(
        system=system,
        baseline=system in BASELINES_BY_NAME,
        misses=spread(one.missing for one in sums.values()),
        far=spread(one.far for one in sums.values()),
        mean_prompt=whole.mean_prompt,
        breaks_per_100=whole.breaks_per_100,
        p99_ms=whole.p99_ms,
        summary=whole.summary(),
        sessions=tuple(SessionFigures(session=names[path], summary=one.summary()) for path, one in sums.items()),
    )


def _quantile(ranked: Sequence[float], share: float) -> float:
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]
