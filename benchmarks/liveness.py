"""Speed of scanning and of gc_budget's collections, compared with counting; CPU time, medians of seven runs."""

from __future__ import annotations

import functools
import itertools
import logging
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.turns import made, transcripts
from gc_core import GCConfig, GCSession
from gc_core.providers import format_named
from gc_core.providers.token_counting import TiktokenCounter
from gc_core.relevance.name_scan import scan

RUNS = 7
LEAST_SCAN = 5.0
"""MB/s"""
MOST_MAJOR = 50.0
"""ms for 100k tokens"""
MOST_YOUNG = 10.0
"""ms"""
YOUNG = 4_000
"""Tokens that a young collection frees."""

Message = dict[str, Any]


def main() -> None:
    """Print scanning and counting in MB/s, and a young and a major collection in ms, with their targets."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)  # recorded sessions have messages that need mending
    messages = list(itertools.chain.from_iterable(transcripts("openai"))) or list(made("openai"))
    print_speeds(texts_of(messages))
    for window in (100_000, 200_000):
        print_collections(messages, window)


def print_speeds(texts: list[str]) -> None:
    """Scanning against counting, each text for the first time."""
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6
    scanned = seconds(lambda: [scan(text) for text in texts])
    runs = itertools.count()
    counted = seconds(lambda: count(texts, next(runs)))
    print_figure("scanning, MB/s", size / scanned, f"at least {LEAST_SCAN:g}", met=size / scanned >= LEAST_SCAN)
    print_figure("counting, MB/s", size / counted, "scanning may take as long", met=scanned <= counted)


def print_collections(messages: Iterable[Message], window: int) -> None:
    """A dry run of each: everything but the swap of the window."""
    session = filled(messages, window)
    nearly = 100 * (session.budget.total - YOUNG) / session.budget.usable
    major = 1e3 * seconds(session.plan) * 100_000 / session.budget.total
    young = 1e3 * seconds(functools.partial(session.plan, target_percent=nearly))
    print_figure(
        f"major, {window:,} window, ms per 100k tokens", major, f"at most {MOST_MAJOR:g}", met=major <= MOST_MAJOR
    )
    print_figure(
        f"young ({YOUNG:,} tokens), {window:,} window, ms", young, f"at most {MOST_YOUNG:g}", met=young <= MOST_YOUNG
    )


def filled(messages: Iterable[Message], window: int) -> GCSession:
    """A session of recorded messages at 80 % of its window."""
    session = GCSession(GCConfig(strategy="gc_budget", context_limit=window, output_reservation=0, auto_trigger=False))
    for message in messages:
        if session.budget.total >= 0.8 * window:
            break
        session.append(message)
    return session


def texts_of(messages: Iterable[Message]) -> list[str]:
    """Everything that is counted of the messages."""
    reader = format_named("openai")
    return [part.text for message in messages for part in reader.read(message)]


def count(texts: Iterable[str], run: int) -> int:
    """Count every text; the run's number makes each a new one, for the counter remembers."""
    counter = TiktokenCounter()
    return sum(counter.count(f"{text}{run}") for text in texts)


def seconds(work: Callable[[], object]) -> float:
    """The median of several runs."""

    def once() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return statistics.median(once() for _ in range(RUNS))


def print_figure(what: str, figure: float, target: str, *, met: bool) -> None:
    """One line: what, figure, target, and whether it is met."""
    print(f"{what:<44}{figure:>8.1f}  {target:<28}{'met' if met else 'MISSED'}")


if __name__ == "__main__":
    main()
