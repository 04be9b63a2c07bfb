"""What frameworks do by themselves, beside gc-core in their place, at one window: what an adapter's user gains."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.counting import corpus
from benchmarks.peers.catalog import FRAMEWORKS, PEERS
from benchmarks.peers.installing import main as install
from benchmarks.peers.running import compare, notes, tasks_of
from benchmarks.peers.table import Row, Run
from benchmarks.sized import sized
from benchmarks.stamps import basis, put

WINDOW = 32_000
STRATEGY = "gc_budget"
"""What an adapter collects with unless it is configured."""

MADE_BY = "make bench-frameworks"
_HEAD = ("system", "far fit %", "cost with misses", "breaks/100", "first request %", "user text %", "calls over")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown, progress on stderr."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.frameworks", description=__doc__)
    parser.add_argument("--page", type=Path, help="put it into this page, with a stamp")
    options = parser.parse_args(arguments)
    if not corpus().is_dir():
        print(f"no recorded sessions in {corpus()}: nothing to compare on; set GC_CORPUS")
        return
    peers = tuple(peer for peer in PEERS if peer.package in FRAMEWORKS)
    install(peer.venv for peer in peers)
    wanted = tasks_of(peers, (WINDOW,), (), sized)
    run = compare([task for task in wanted if task.peer or task.system == STRATEGY], peers, (WINDOW,))
    added = (peer for peer in peers if peer.package in FRAMEWORKS[3:])  # the others are in the page's first table
    text = "\n".join((*markdown(run), "", *notes(tuple(added))))
    print(text)
    if options.page:
        put(options.page, MADE_BY, text, basis())


def markdown(run: Run) -> Iterator[str]:
    """The table, a line each; the best far fit first."""
    (table,) = run.tables
    yield run.made
    yield ""
    yield f"{len(table.sessions)} sessions, {table.calls:,} calls; {', '.join(run.versions)}."
    yield ""
    yield f"| {' | '.join(_HEAD)} |"
    yield "|---|" + "--:|" * (len(_HEAD) - 1)
    for row in sorted(table.rows, key=lambda row: -(row.summary.far_fit or 0.0)):
        yield f"| {' | '.join(_cells(row))} |"
    yield from run.failures


def _cells(row: Row) -> Iterator[str]:
    whole = row.summary
    yield row.system if row.kind == "peer" else f"**`{row.system}`**"
    yield f"{whole.far_fit or 0.0:.1f}"
    yield f"{whole.cost_with_misses or 0.0:.2f}"
    yield f"{row.breaks_per_100:.1f}"
    yield f"{whole.first_request_kept:.1f}"
    yield f"{whole.user_text_kept:.1f}"
    yield str(whole.calls_over + whole.calls_over_locked)


if __name__ == "__main__":
    main()
