"""
Real agents behind the gateway and without it: each reads sixty files, at a stand-in that accounts its prompt cache.

    python -m benchmarks.clients [--page PAGE] [CLIENT ...]

Behind the gateway the provider's window has 30,000 tokens; without it ten times as many, so that no client compacts.
``--page`` puts the table there, between ``<!-- clients -->`` and ``<!-- end -->``, and keeps transcripts below
``tests/clients``. The agents are those of ``make clients-installed``.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import attrs

from tests.support.real_client import CALLS, CLIENTS, LIMIT, NAMES, RESULT, ROOT, alone, versions

_TABLE = re.compile(r"(<!-- clients -->\n).*?(<!-- end -->)", re.DOTALL)
_TRANSCRIPTS = ROOT / "tests" / "clients" / "transcripts"
_COLLECTIONS = re.compile(r"ctxgc: ([\d,]+) calls, ([\d,]+) collections")


@attrs.frozen
class Run:
    """One run of an agent: the requests of its conversation that the provider took, and what was said at the end."""

    result: dict[str, Any] = attrs.field(repr=False)

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """Tokens of each request, and how many of them were read from the cache."""
        taken = [seen for seen in self.result["seen"] if seen["tokens"] and seen["status"] == 200]  # noqa: PLR2004 - HTTP
        return [(seen["tokens"], seen["read"]) for seen in taken]

    @property
    def cache_reads(self) -> float:
        """The share of all input that was read from the cache."""
        return sum(read for _, read in self.sizes) / sum(tokens for tokens, _ in self.sizes)

    @property
    def collections(self) -> str:
        """As ``ctxgc run`` tells it."""
        found = _COLLECTIONS.search(self.result["stderr"])
        return found[2] if found else "0"


def run(client: str, way: str) -> Run:
    """Drive one agent, in a network that has loopback alone."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.support.real_client", client, way, str(CALLS), folder]
        subprocess.run(alone(command), cwd=ROOT, check=True)  # noqa: S603 - our own
        return Run(json.loads((Path(folder) / RESULT).read_text()))


def row(client: str, behind: Run, without: Run) -> str:
    """One agent's line of the table."""
    largest = max(tokens for tokens, _ in behind.sizes)
    return (
        f"| {NAMES[client]} {versions()[client]} | {len(behind.sizes)} | {behind.collections} | {largest:,} | "
        f"{max(tokens for tokens, _ in without.sizes):,} | {behind.cache_reads:.0%} | {without.cache_reads:.0%} |"
    )


def transcript(client: str, behind: Run) -> str:
    """What an agent sent behind the gateway, and how it ended."""
    told = [line for line in behind.result["stderr"].splitlines() if line.startswith("ctxgc: ")][:2]
    sizes = "\n".join(f"{tokens:7,} sent {read:7,} read from the cache" for tokens, read in behind.sizes)
    return (
        f"{NAMES[client]} {versions()[client]}, exit status {behind.result['status']}\n{sizes}\n"
        + "\n".join(told)
        + "\n"
    )


def main() -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", nargs="*", default=[name for name, each in CLIENTS.items() if each.is_installed])
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    lines = [
        f"{dt.datetime.now(tz=dt.UTC).date()}, sixty tool calls, a window of {LIMIT:,} tokens behind the gateway:\n",
        "| agent | requests | collections | largest | largest without | cache reads | without |",
        "|---|---|---|---|---|---|---|",
    ]
    for client in options.clients:
        behind = run(client, "gateway")
        lines.append(row(client, behind, run(client, "unlimited")))
        sys.stdout.write(lines[-1] + "\n")
        if options.page:
            _TRANSCRIPTS.mkdir(exist_ok=True)
            (_TRANSCRIPTS / f"{client}.txt").write_text(transcript(client, behind))
    if options.page:
        table = "\n".join(lines)
        options.page.write_text(_TABLE.sub(lambda found: f"{found[1]}{table}\n{found[2]}", options.page.read_text()))


if __name__ == "__main__":
    main()
