"""
The ratio of originals to condensed output (L1) under ``gc_progressive``, in the last window of each sized session.

A line a window: condensed items, and the tokens of their originals per token of the stubs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from ctxgc.evaluation.transcripts import read_transcript
from gc_progressive import Progressive

from benchmarks.sized import Task, session_files, sized
from gc_core import Form, GCConfig, GCSession, Item
from gc_core.values.messages import Role

WINDOWS = (32_000, 64_000, 100_000)


def main() -> None:
    """Print the table."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)  # recorded sessions have messages that need mending
    print("| window | sessions | condensed items | ratio | least | most |\n|--:|--:|--:|--:|--:|--:|")
    for window in WINDOWS:
        ends = [list(condensed(task)) for path in session_files() for task in sized(path, (window,))]
        ratios = [ratio(items) for items in ends if items]
        everything = [item for items in ends for item in items]
        cells = f"{ratio(everything):.1f} | {min(ratios):.1f} | {max(ratios):.1f}"
        print(f"| {window:,} | {len(ends)} | {len(everything)} | {cells} |")


def condensed(task: Task) -> Iterator[Item]:
    """What stands shortened at the end of a session."""
    transcript = read_transcript(task.path)
    config = GCConfig(context_limit=task.window, output_reservation=0)
    with GCSession(config, strategy=Progressive(), format=transcript.format) as session:
        for message in transcript.messages:
            if message.get("role") == Role.ASSISTANT.value:
                session.pre_send()
                session.post_turn(dict(message))
            else:
                session.append(dict(message))
        yield from (item for item in session.items() if item.form is Form.STUB)


def ratio(items: list[Item]) -> float:
    """Tokens of the originals for each token that stands for them."""
    return sum(item.original_tokens for item in items) / sum(item.tokens for item in items)


if __name__ == "__main__":
    main()
