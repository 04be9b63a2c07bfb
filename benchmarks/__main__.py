"""Run every benchmark."""

from __future__ import annotations

from benchmarks import (
    counting,
    evidence,
    importance,
    liveness,
    reporting,
    searching,
    starting,
    steady,
    storage,
    summaries,
    turns,
)

BENCHES = (
    starting,
    counting,
    turns,
    steady,
    liveness,
    importance,
    storage,
    searching,
    reporting,
    summaries,
    evidence,
)
"""Modules with ``main() -> None``, which prints a table and says so when what it needs is not there."""


def main() -> None:
    """Run them in their order."""
    for bench in BENCHES:
        print(f"== {bench.__name__}")
        bench.main()
        print()


if __name__ == "__main__":
    main()
