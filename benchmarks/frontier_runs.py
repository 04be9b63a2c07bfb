"""The replays of ``benchmarks.frontier``: the settings, and the results of each over the sized sessions."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import attrs
from ctxgc.evaluation.comparison import Means, means_of
from ctxgc.evaluation.jobs import BASELINES_BY_NAME
from ctxgc.evaluation.replay import replay, replay_baseline
from ctxgc.evaluation.reuse import Uses, uses_of
from ctxgc.evaluation.totals import Sums, sums_of, together
from ctxgc.evaluation.transcripts import Transcript, read_transcript
from gc_rolling import Rolling

from benchmarks.sized import WORKERS, Task, made_with, quiet, session_files, sized
from gc_core.plugins.manager import Plugins
from gc_core.values.config import GCConfig
from gc_core.values.triggers import Major

WINDOWS = (16_000, 24_000, 32_000, 48_000, 64_000, 100_000)
TARGETS = (35.0, 40.0, 45.0, 47.0, 50.0, 55.0, 60.0)
THRESHOLDS = (70.0, 80.0, 90.0)
STRATEGIES = ("gc_budget", "gc_summarize", "gc_hybrid", "gc_truncate", "gc_progressive")
BASELINES = ("keep last", "mask then drop")
PACKAGES = ("gc-core", "gc-rolling", "tiktoken")
DEFAULT_THRESHOLD = GCConfig().threshold_percent
NO_LIMIT = 1_000_000
"""Tokens of ``base_tokens`` that no window here reaches."""


@attrs.frozen(kw_only=True)
class Setting:
    """
    How the sessions are collected.

    Attributes:
        system: Name of a strategy or baseline.
        target: Percent of the window that ``gc_rolling`` goes down to; None for the others.
        threshold: Percent at which a collection begins at the latest.
        base: Its ``base_tokens``.

    """

    system: str
    target: float | None = None
    threshold: float = DEFAULT_THRESHOLD
    base: int = Rolling().base_tokens

    @property
    def name(self) -> str:
        """Its identity."""
        if self.target is None:
            return self.system
        limit = "" if self.base == Rolling().base_tokens else ", no limit"
        return f"{self.system}, {self.target:g} % from {self.threshold:g} %{limit}"

    @property
    def is_default(self) -> bool:
        """Whether it is ``gc_rolling`` as it comes."""
        return self == Setting(system="gc_rolling", target=Rolling().target_percent)

    def at(self, window: int) -> Setting:
        """The same for all settings that collect alike in this window: what counts is the share that is kept."""
        if self.target is None:
            return self
        major = Major(target_percent=self.target, base_tokens=self.base)
        return attrs.evolve(self, target=major.kept_percent(window), base=NO_LIMIT)


@attrs.frozen(kw_only=True)
class AtWindow:
    """The results of a setting at one window."""

    window: int
    edits_that_miss: float
    cost_with_misses: float
    far_fit: float


@attrs.frozen(kw_only=True)
class Point:
    """A setting and the means of its windows; of the edits that miss also the range of 90 %."""

    setting: Setting
    edits_that_miss: float
    low: float
    high: float
    cost_with_misses: float
    far_fit: float
    verbatim_reuse: float
    calls_over: int
    windows: tuple[AtWindow, ...]


@attrs.frozen(kw_only=True)
class Run:
    """All that was measured."""

    made: str
    points: tuple[Point, ...]


@attrs.frozen(kw_only=True)
class Piece:
    """One session at one window with one setting."""

    task: Task
    setting: Setting


def settings() -> Iterator[Setting]:
    """What is measured, in the order of the table."""
    for threshold in THRESHOLDS:
        yield from (Setting(system="gc_rolling", target=target, threshold=threshold) for target in TARGETS)
    yield from (Setting(system="gc_rolling", target=target, base=NO_LIMIT) for target in TARGETS)
    yield from (Setting(system=name) for name in (*STRATEGIES, *BASELINES))


# -- replaying -------------------------------------------------------------------------------------------------------


def measured() -> Run:
    """Replay everything; settings that collect alike in a window are replayed once."""
    with ProcessPoolExecutor(WORKERS, initializer=quiet) as pool:
        sizes = pool.map(functools.partial(sized, windows=WINDOWS), session_files())
        tasks = [task for found in sizes for task in found]
        pieces = dict.fromkeys(_pieces(tasks))
        sums = dict[Piece, Sums]()
        for piece, found in zip(pieces, pool.map(_replayed, pieces), strict=True):
            sums[piece] = found
            print(f"\r{len(sums)} of {len(pieces)} replays", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return Run(made=f"Made {made_with(PACKAGES)}.", points=tuple(_points(tasks, sums)))


def _pieces(tasks: Iterable[Task]) -> Iterator[Piece]:
    """The pieces of one session stand side by side, for it is read once."""
    for task in tasks:
        yield from (Piece(task=task, setting=setting.at(task.window)) for setting in settings())


def _replayed(piece: Piece) -> Sums:
    setting, window = piece.setting, piece.task.window
    transcript, uses = known(piece.task.path)
    config = GCConfig(context_limit=window, output_reservation=0, threshold_percent=setting.threshold)
    if setting.system in BASELINES_BY_NAME:
        baseline = BASELINES_BY_NAME[setting.system]
        report = replay_baseline(transcript, config=config, baseline=baseline, uses=uses)
    else:
        rolling = None if setting.target is None else Rolling(target_percent=setting.target, base_tokens=setting.base)
        plugins = Plugins.discover()
        report = replay(transcript, config=config, strategy=rolling or setting.system, plugins=plugins, uses=uses)
    return attrs.evolve(sums_of(report.calls, window=window), collecting=(), plain=(), ingest=())


@functools.lru_cache(maxsize=2)
def known(path: Path) -> tuple[Transcript, Uses]:
    """A session and what it uses again, read once for all the settings that follow one another."""
    transcript = read_transcript(path)
    return transcript, uses_of(transcript)


def _points(tasks: Sequence[Task], sums: Mapping[Piece, Sums]) -> Iterator[Point]:
    by_name: dict[str, dict[int, dict[Path, Sums]]] = {}
    for setting in settings():
        windows = by_name.setdefault(setting.name, {})
        for task in tasks:
            its = sums[Piece(task=task, setting=setting.at(task.window))]
            windows.setdefault(task.window, {})[task.path] = its
    means = {one.system: one for one in means_of(by_name)}
    for setting in settings():
        yield _point(setting, means[setting.name], by_name[setting.name])


def _point(setting: Setting, means: Means, windows: Mapping[int, Mapping[Path, Sums]]) -> Point:
    return Point(
        setting=setting,
        edits_that_miss=_figure(means.edits_that_miss),
        low=_figure(means.low),
        high=_figure(means.high),
        cost_with_misses=_figure(means.cost_with_misses),
        far_fit=_figure(means.far_fit),
        verbatim_reuse=_figure(means.verbatim_reuse),
        calls_over=means.calls_over,
        windows=tuple(_at(window, together(windows[window].values())) for window in WINDOWS),
    )


def _at(window: int, sums: Sums) -> AtWindow:
    return AtWindow(
        window=window,
        edits_that_miss=sums.missing.percent,
        cost_with_misses=_figure(sums.cost_with_misses),
        far_fit=sums.far.percent,
    )


def _figure(figure: float | None) -> float:
    """Every window has sessions that edit and use things from afar."""
    if figure is None:
        raise ValueError("a window without any edit or far use: expected the sized sessions of the corpus")
    return figure
