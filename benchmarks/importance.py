"""
How well importance predicts use, and its cost.

A recorded session is cut in half. The items of the first half are scored with what was known then, the first request as
objective. Those that show a name which the agent uses in the second half, in a text or a call, should score above the
others: the area under the curve (AUC) is the share of pairs in which they do; 0.5 is chance. Only items that name
something are compared. It is compared with two simple orders: the newest first, and the most names first.

The composite was chosen on the sessions with ten items and more on either side. The others, and several recorded
sessions in a row, say what it is worth elsewhere.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import logging
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs
from ctxgc.evaluation.transcripts import read_transcript

from benchmarks.counting import corpus
from gc_core import GCConfig, GCSession, Item, ItemKind, Unit
from gc_core.errors import TranscriptError
from gc_core.relevance.bm25 import bag_of
from gc_core.relevance.importance import CompositeScorer, ScoringWindow
from gc_core.relevance.text_cache import PerText

Message = dict[str, Any]
Score = Callable[[Item], float]

LEAST = 5
"""Items that have to be on either side for a session to say anything."""
CHOSEN_ON = 10
"""Items that were on either side of each session on which the composite was chosen."""
REQUEST = 2_000
"""Characters of the first request."""
RUNS = 7
WINDOW = 100_000
"""Tokens of the window whose scoring is timed."""
MOST_MS = 25.0
ORDERS: dict[str, Callable[[ScoringWindow, Item], float]] = {
    "composite": lambda window, item: CompositeScorer().score(item, window),
    "recency": lambda window, item: window.recency(item),
    "frequency": lambda window, item: window.reference_frequency(item),
    "relevance": lambda window, item: window.relevance(item) or 0.0,
    "with relevance": lambda window, item: CompositeScorer().score(item, window) * 2 + (window.relevance(item) or 0.0),
    "most names": lambda _, item: float(len(item.scan.names)),
}
"""The composite, what it is made of, what a window answers beside it, and the simplest order by names."""
_ACTIONS = frozenset({ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_CALL})


@attrs.frozen(kw_only=True)
class Half:
    """The first half of a session, and which of its items name what is used in the second."""

    name: str
    units: tuple[Unit, ...]
    request: str
    used: frozenset[str]
    unused: frozenset[str]

    @property
    def is_fitted(self) -> bool:
        """Whether the composite was chosen on it: single sessions with enough items on either side."""
        return "--" in self.name and min(len(self.used), len(self.unused)) >= CHOSEN_ON


def main() -> None:
    """Print the AUC of each session and of all, chosen on or not, then the milliseconds of scoring a window."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    logging.getLogger("gc_core").setLevel(logging.ERROR)  # recorded sessions have messages that need mending
    halves = list(halves_of_sessions())
    if not halves:
        print("no recorded sessions")
        return
    print("The composite was chosen on these:\n")
    print_table([half for half in halves if half.is_fitted])
    print("\nAnd not on these:\n")
    print_table([half for half in halves if not half.is_fitted])
    print_seconds()


def print_table(halves: Sequence[Half]) -> None:
    """A line a session, then the mean of the sessions and the share of all pairs."""
    print("| session | items | used | " + " | ".join(ORDERS) + " |")
    print("|---|---:|---:|" + "---:|" * len(ORDERS))
    pairs = [len(half.used) * len(half.unused) for half in halves]
    columns: list[list[float]] = []
    for half in halves:
        window = ScoringWindow(half.units, objective=half.request)
        columns.append([auc(half, functools.partial(order, window)) for order in ORDERS.values()])
        cells = [str(len(half.used) + len(half.unused)), str(len(half.used)), *(f"{each:.2f}" for each in columns[-1])]
        print(f"| {half.name} | " + " | ".join(cells) + " |")
    means = [statistics.mean(column) for column in zip(*columns, strict=True)]
    pooled = [
        sum(value * weight for value, weight in zip(column, pairs, strict=True)) / sum(pairs)
        for column in zip(*columns, strict=True)
    ]
    for name, values in (("mean of the sessions", means), ("all pairs within sessions", pooled)):
        print(f"| {name} | | | " + " | ".join(f"{each:.3f}" for each in values) + " |")


def auc(half: Half, score: Score) -> float:
    """The share of pairs of a used and an unused item in which the used one scores higher; a tie is half a pair."""
    items = [item for unit in half.units for item in unit.items]
    used = [score(item) for item in items if item.id in half.used]
    unused = [score(item) for item in items if item.id in half.unused]
    above = sum((mine > other) + 0.5 * (mine == other) for mine, other in itertools.product(used, unused))
    return above / (len(used) * len(unused))


def halves_of_sessions() -> Iterator[Half]:
    """Every recorded session that is long enough to say something."""
    for path in sorted(corpus().glob("*.jsonl")):
        try:
            messages = [dict(message) for message in read_transcript(path).messages]
        except TranscriptError:
            continue
        half = half_of(path.stem, messages)
        if len(half.used) >= LEAST and len(half.unused) >= LEAST:
            yield half


def half_of(name: str, messages: Sequence[Message]) -> Half:
    """A session cut in the middle of its units."""
    units = [unit for unit in filled(messages, None).view().units if unit.items[0].kind is not ItemKind.SYSTEM_TEXT]
    first, second = units[: len(units) // 2], units[len(units) // 2 :]
    later = (item.scan.names for unit in second for item in unit.items if item.kind in _ACTIONS)
    names = frozenset[str]().union(*later)
    naming = [item for unit in first for item in unit.items if item.scan.names]
    request = next((item.text for unit in first for item in unit.items if item.kind is ItemKind.USER_TEXT), "")
    used = frozenset(item.id for item in naming if not names.isdisjoint(item.scan.names))
    return Half(
        name=name,
        units=tuple(first),
        request=request[:REQUEST],
        used=used,
        unused=frozenset(item.id for item in naming) - used,
    )


def filled(messages: Iterable[Message], tokens: int | None) -> GCSession:
    """A session of recorded messages, all of them or about so many tokens."""
    session = GCSession(GCConfig(strategy="none", context_limit=10_000_000, output_reservation=0, auto_trigger=False))
    for message in messages:
        if tokens is not None and session.budget.total >= tokens:
            break
        session.append(message)
    return session


def print_seconds() -> None:
    """A first collection, which takes every word of the window apart, and the next one, which knows them."""
    messages = itertools.chain.from_iterable(
        read_transcript(path).messages for path in sorted(corpus().glob("entire--*.jsonl"))
    )
    session = filled(map(dict, messages), WINDOW)
    units = session.view().units
    items = [item for unit in units for item in unit.items]
    request = next(item.text for item in items if item.kind is ItemKind.USER_TEXT)[:REQUEST]
    scorer = CompositeScorer()
    first, next_one, distance = list[float](), list[float](), list[float]()
    for _ in range(RUNS):
        words = PerText(bag_of)
        for taken in (first, next_one):
            started = time.process_time()
            window = ScoringWindow(units, objective=request, words=words)
            for item in items:
                scorer.score(item, window)
            taken.append(time.process_time() - started)
        started = time.process_time()
        session.view().distance(items[-1])
        distance.append(time.process_time() - started)
    scale = 1e3 * WINDOW / session.budget.total
    print(f"\n{len(items):,} items, {session.budget.total:,} tokens; CPU ms for 100k tokens, medians of {RUNS} runs")
    for name, taken in (("first collection", first), ("next collection", next_one), ("distance", distance)):
        value = statistics.median(taken) * scale
        print(f"{name}: {value:.1f} ms (target: at most {MOST_MS:g}){'' if value <= MOST_MS else ', MISSED'}")


if __name__ == "__main__":
    main()
