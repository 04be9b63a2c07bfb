"""
What two parts of ``gc_progressive`` change: the order by importance, and bringing removed items back.

``python -m benchmarks.parts`` replays the sized sessions at six windows with the strategy as it is, with all items
equally important (so that the oldest leave first), and with nothing brought back. Requests are compared one by one.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import attrs
from ctxgc.evaluation.comparison import Means, means_of
from ctxgc.evaluation.replay import replay
from ctxgc.evaluation.totals import Sums, sums_of
from gc_progressive import Progressive

from benchmarks.frontier_runs import WINDOWS, known
from benchmarks.sized import WORKERS, Task, made_with, print_row, quiet, session_files, shown, sized
from gc_core import GCConfig, Item, Plugins, Request, hookimpl
from gc_core.relevance.contract import RegisterScorer
from gc_core.relevance.importance import ScoringWindow

PACKAGES = ("gc-core", "gc-progressive", "tiktoken")
EQUAL = "equal"
AS_IT_IS = "as it is"


@attrs.frozen(kw_only=True)
class Variant:
    """The strategy, and the name of the scorer that it asks."""

    strategy: Progressive = attrs.Factory(Progressive)
    scorer: str = "composite"


VARIANTS: Mapping[str, Variant] = {
    AS_IT_IS: Variant(),
    "oldest first": Variant(scorer=EQUAL),
}


@attrs.frozen(kw_only=True)
class Replayed:
    """What came of one session in one window: its sums, and a digest of each request."""

    sums: Sums
    requests: tuple[str, ...]


@attrs.frozen
class Equal:
    """A scorer to which all items matter the same."""

    def score(self, item: Item, window: ScoringWindow) -> float:  # noqa: ARG002 - the contract
        """Return one half."""
        return 0.5


@attrs.frozen
class Watch:
    """A plugin that offers this scorer, and keeps a digest of each request."""

    requests: list[str] = attrs.Factory(list)

    @hookimpl
    def gc_register_scorers(self, register: RegisterScorer) -> None:
        """Offer the scorer."""
        register(EQUAL, Equal)

    @hookimpl
    def gc_request_rendered(self, request: Request) -> None:
        """Keep the digest of a request."""
        text = json.dumps([dict(message) for message in request.messages], default=str)
        self.requests.append(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest())


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(prog="python -m benchmarks.parts", description=__doc__).parse_args()
    print(f"Made {made_with(PACKAGES)}; mean of {len(WINDOWS)} windows.\n")
    with ProcessPoolExecutor(WORKERS, initializer=quiet) as pool:
        tasks = [task for path in session_files() for task in sized(path, WINDOWS)]
        pieces = [(task, name) for task in tasks for name in VARIANTS]
        found = dict(zip(pieces, pool.map(replayed, *zip(*pieces, strict=True)), strict=True))
    print_table(tasks, {name: {task: found[task, name] for task in tasks} for name in VARIANTS})


def replayed(task: Task, name: str) -> Replayed:
    """One session in one window."""
    variant, watch, plugins = VARIANTS[name], Watch(), Plugins.discover()
    plugins.register(watch)
    transcript, uses = known(task.path)
    config = GCConfig(context_limit=task.window, output_reservation=0, importance_scorer=variant.scorer)
    report = replay(transcript, config=config, strategy=variant.strategy, plugins=plugins, uses=uses)
    sums = attrs.evolve(sums_of(report.calls, window=task.window), collecting=(), plain=(), ingest=())
    return Replayed(sums=sums, requests=tuple(watch.requests))


def differing(requests: Sequence[str], others: Sequence[str]) -> int:
    """How many requests of a session differ, place by place."""
    return sum(one != other for one, other in itertools.zip_longest(requests, others))


# -- what is printed -------------------------------------------------------------------------------------------------


def print_table(tasks: Sequence[Task], found: Mapping[str, Mapping[Task, Replayed]]) -> None:
    """A line a variant."""
    print_row("`gc_progressive`", "edits that miss %", "far fit %", "cost with misses", "requests that differ")
    print_row("---", *["--:"] * 4)
    plain = found[AS_IT_IS]
    total = sum(len(plain[task].requests) for task in tasks)
    for name, means in _means(tasks, found).items():
        others = sum(differing(plain[task].requests, found[name][task].requests) for task in tasks)
        figures = (shown(means.edits_that_miss), shown(means.far_fit), shown(means.cost_with_misses, 3))
        print_row(name, *figures, f"{others:,} of {total:,}")


def _means(tasks: Iterable[Task], found: Mapping[str, Mapping[Task, Replayed]]) -> dict[str, Means]:
    by_name: dict[str, dict[int, dict[Path, Sums]]] = {name: {} for name in found}
    for task, (name, its) in itertools.product(tasks, found.items()):
        by_name[name].setdefault(task.window, {})[task.path] = its[task].sums
    return {means.system: means for means in means_of(by_name)}


if __name__ == "__main__":
    main()
