"""Runs sessions by seed, and tells which promises did not hold: ``python -m tests.fuzz --help``."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator

import attrs

from tests.fuzz.histories import make_script
from tests.fuzz.looking import Seen, look, quiet
from tests.fuzz.running import run
from tests.fuzz.shrinking import Shrinker
from tests.fuzz.telling import as_code

PRINT_SECONDS = 30
BATCH = 20


@attrs.define
class Table:
    """What all seeds showed together."""

    started: float = attrs.Factory(time.monotonic)
    printed_at: float = attrs.Factory(time.monotonic)
    sessions: int = 0
    requests: int = 0
    overflows: int = 0
    counts: Counter[str] = attrs.Factory(Counter)
    first: dict[str, tuple[int, str]] = attrs.Factory(dict)

    def add(self, seen: Seen) -> None:
        self.sessions += 1
        self.requests += seen.requests
        self.overflows += seen.overflows
        for kind, text in seen.breaches:
            self.counts[kind] += 1
            self.first[kind] = min(self.first.get(kind, (seen.seed, text)), (seen.seed, text))
        if time.monotonic() - self.printed_at > PRINT_SECONDS:
            self.printed_at = time.monotonic()
            self.print_table()

    def print_table(self) -> None:
        seconds = time.monotonic() - self.started
        print(
            f"{self.sessions:,} sessions, {self.requests:,} requests, {self.overflows:,} overflows, "
            f"{sum(self.counts.values()):,} breaches of {len(self.counts)} kinds, {seconds:,.0f} s",
            flush=True,
        )

    def end(self) -> int:
        self.print_table()
        for kind, count in self.counts.most_common():
            seed, text = self.first[kind]
            print(f"{count:6,}  {kind}\n        {text[:200]!r}\n        python -m tests.fuzz --replay {seed}")
        return 1 if self.counts else 0


def results(seeds: range, processes: int) -> Iterator[Seen]:
    """What the seeds show, in the order in which they are done."""
    if processes == 1:
        yield from map(look, seeds)
        return
    pool = multiprocessing.get_context("spawn").Pool(processes, initializer=quiet)
    yield from pool.imap_unordered(look, seeds, chunksize=BATCH)
    pool.close()
    pool.join()


def replay(seed: int, kind: str | None, *, shrink: bool) -> int:
    """Tell one seed as code, with what it shows; shrunk to the first breach, or to the one that is named."""
    script = make_script(seed)
    breaches = run(script).breaches
    wanted = next((breach.kind for breach in breaches if kind is None or kind in breach.kind), None)
    if shrink and wanted is not None:
        script = Shrinker(wanted).shrink(script)
        breaches = run(script).breaches
    print(as_code(script))
    for breach in breaches:
        print(f"\n# {breach.kind}\n#   {breach.text[:1_000]!r}")
    return 1 if breaches else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--sessions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1, help="the first one; the others follow it")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--replay", type=int, metavar="SEED", help="one session, told as code")
    parser.add_argument("--shrink", action="store_true", help="with --replay: as short as still shows the breach")
    parser.add_argument("--kind", help="with --replay: the breach to shrink to, by a part of its words")
    given = parser.parse_args(arguments)
    quiet()
    if given.replay is not None:
        return replay(given.replay, given.kind, shrink=given.shrink)
    table = Table()
    for seen in results(range(given.seed, given.seed + given.sessions), given.processes):
        table.add(seen)
    return table.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
