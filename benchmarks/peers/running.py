"""Other systems and gc-core's strategies over the sized sessions, in one run, in two processes."""

from __future__ import annotations

import argparse
import functools
import logging
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import attrs
from ctxgc.evaluation.baselines import BASELINES
from ctxgc.evaluation.jobs import for_baselines
from ctxgc.evaluation.replay import replay, replay_baseline
from ctxgc.evaluation.reuse import Uses, uses_of
from ctxgc.evaluation.transcripts import Transcript, read_transcript

from benchmarks.counting import corpus
from benchmarks.peers.catalog import Peer, peers_named
from benchmarks.peers.process import PeerError
from benchmarks.peers.replaying import PeerReplay, replay_peer
from benchmarks.peers.table import (
    Row,
    Run,
    Table,
    apart,
    as_json,
    earlier_figures,
    markdown,
    means_markdown,
    row_of,
    rows_of,
    table_of,
)
from benchmarks.sized import Task as SizedTask
from benchmarks.sized import long, made_with, session_files, sized
from benchmarks.stamps import basis, put
from gc_core.plugins.manager import Plugins
from gc_core.values.config import GCConfig

WINDOWS = (16_000, 24_000, 32_000, 48_000, 64_000, 100_000)
STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive")
PACKAGES = ("gc-core", "tiktoken")
WORKERS = 2
KINDS = ("strategy", "baseline", "peer")
MADE_BY = "make bench-peers"
ALIKE = 0.1
"""How far a figure of a second run may be from that of the first; mean prompts in thousands of tokens."""


@attrs.frozen(kw_only=True)
class Task:
    """One session at one window with one system."""

    path: Path
    window: int
    system: str
    peer: Peer | None = None

    @property
    def kind(self) -> str:
        """One of ``KINDS``."""
        if self.peer is not None:
            return "peer"
        return "baseline" if any(one.name == self.system for one in BASELINES) else "strategy"


@attrs.frozen(kw_only=True)
class Outcome:
    """What came of it: a replay, or why there is none."""

    task: Task
    replay: PeerReplay | None = None
    failure: str = ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown, progress on stderr."""
    options = _options(arguments)
    if not corpus().is_dir():
        print(f"no recorded sessions in {corpus()}: nothing to compare on; set GC_CORPUS")
        return
    peers = peers_named(tuple(options.peers))
    kept = rows_of(options.keep.read_text(encoding="utf-8")) if options.keep else {}
    wanted = tasks_of(peers, options.windows, options.sessions, long if options.long else sized)
    tasks = [task for task in wanted if task.kind in options.kinds and (task.window, task.system) not in kept]
    run = compare(tasks, peers, options.windows, kept)
    noted = () if options.long else ("", "## The peers, one by one", "", *notes(peers))
    print("\n".join((*markdown(run), *noted)))
    _write(run, "\n".join((run.made, *means_markdown(run), *noted)), options)


def compare(
    tasks: Sequence[Task],
    peers: Sequence[Peer],
    windows: Sequence[int],
    kept: Mapping[tuple[int, str], Row] | None = None,
) -> Run:
    """Measure all tasks, in two processes, and add the rows of an earlier run."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn"), initializer=_quiet) as pool:
        done = []
        for outcome in pool.map(_measured, tasks):
            done.append(outcome)
            print(f"\r{len(done)} of {len(tasks)} replays", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return Run(
        made=f"Made {made_with(PACKAGES)}, {platform.machine()}.",
        versions=tuple(dict.fromkeys(f"{peer.package} {peer.version}" for peer in peers)),
        tables=tuple(_table(window, done, kept or {}) for window in windows),
        failures=tuple(dict.fromkeys(outcome.failure for outcome in done if outcome.failure)),
    )


def notes(peers: Sequence[Peer]) -> Iterator[str]:
    """What has to be known of each peer, as a table in Markdown."""
    yield "| peer | package | what has to be known |"
    yield "|---|---|---|"
    for peer in peers:
        yield f"| {peer.name} | {peer.package} {peer.version} | {'; '.join(peer.notes)} |"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--peers", nargs="*", default=[], help="how their names begin; default: all")
    parser.add_argument("--sessions", nargs="*", default=[], help="parts of the sessions' names; default: all")
    parser.add_argument("--windows", nargs="*", type=int, default=list(WINDOWS), help="tokens; default: all six")
    parser.add_argument("--long", action="store_true", help="the sessions that are longer than the sized ones instead")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS, help="default: all")
    parser.add_argument("--keep", type=Path, help="take what this JSON file of an earlier run has; measure the rest")
    parser.add_argument("--json", type=Path, help="write all figures here, each session's too")
    parser.add_argument("--page", type=Path, help="put means and notes into this page, with a stamp")
    parser.add_argument("--against", type=Path, help="tell what differs by more than 0.1 from this JSON file")
    return parser.parse_args(arguments)


def _write(run: Run, text: str, options: argparse.Namespace) -> None:
    if options.against:
        different = list(apart(run, earlier_figures(options.against.read_text(encoding="utf-8")), ALIKE))
        print("\n".join(different) or f"No figure but times differs by more than {ALIKE} from the earlier run.")
    if options.json:
        options.json.write_text(as_json(run), encoding="utf-8")
    if options.page:
        put(options.page, MADE_BY, text, basis())


def _quiet() -> None:
    """What is mended in a message is no news here."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)


def tasks_of(
    peers: Sequence[Peer],
    windows: Iterable[int],
    sessions: Sequence[str],
    suited: Callable[[Path, Iterable[int]], tuple[SizedTask, ...]],
) -> Iterator[Task]:
    """The tasks of one session stand side by side, the largest session first."""
    names = (*STRATEGIES, *(baseline.name for baseline in BASELINES))
    for path in session_files():
        if sessions and not any(part in path.name for part in sessions):
            continue
        for window in (one.window for one in suited(path, windows)):
            yield from (Task(path=path, window=window, system=peer.name, peer=peer) for peer in peers)
            yield from (Task(path=path, window=window, system=name) for name in names)


def _measured(task: Task) -> Outcome:
    transcript, uses = _known(task.path)
    config = GCConfig(context_limit=task.window, output_reservation=0)
    if task.peer is not None:
        try:
            fixed = for_baselines(config)
            return Outcome(task=task, replay=replay_peer(transcript, peer=task.peer, config=fixed, uses=uses))
        except PeerError as error:
            return Outcome(task=task, failure=str(error))
    baseline = next((one for one in BASELINES if one.name == task.system), None)
    if baseline is not None:
        report = replay_baseline(transcript, config=for_baselines(config), baseline=baseline, uses=uses)
    else:
        report = replay(transcript, config=config, strategy=task.system, plugins=Plugins.discover(), uses=uses)
    return Outcome(task=task, replay=PeerReplay(report=report, errors=()))


@functools.lru_cache(maxsize=2)
def _known(path: Path) -> tuple[Transcript, Uses]:
    transcript = read_transcript(path)
    return transcript, uses_of(transcript)


def _table(window: int, done: Sequence[Outcome], kept: Mapping[tuple[int, str], Row]) -> Table:
    systems: dict[str, list[Outcome]] = {}
    for outcome in done:
        if outcome.task.window == window and outcome.replay is not None:
            systems.setdefault(outcome.task.system, []).append(outcome)
    earlier = (row for (its, _), row in kept.items() if its == window)
    return table_of(window, (*earlier, *(_row(its) for its in systems.values())))


def _row(outcomes: Sequence[Outcome]) -> Row:
    task = outcomes[0].task
    return row_of(task.system, task.kind, [outcome.replay for outcome in outcomes if outcome.replay])
