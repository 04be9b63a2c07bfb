"""
The ratio of originals to condensed output (L1) under ``gc_progressive``, in the last window of each sized session.

A line a window: condensed items, the tokens of their originals per token of the stubs, and the same without the items
that show a file in use, which shrink last and furthest.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import attrs
from ctxgc.evaluation.transcripts import read_transcript
from gc_progressive import Progressive

from benchmarks.sized import Task, print_row, session_files, shown, sized
from gc_core import Form, GCConfig, GCSession, Item
from gc_core.values.messages import Role

WINDOWS = (32_000, 64_000, 100_000)


def main() -> None:
    """Print the table."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)  # recorded sessions have messages that need mending
    print_row("window", "sessions", "condensed items", "ratio", "least", "most", "without files in use")
    print_row(*["--:"] * 7)
    for window in WINDOWS:
        ends = [condensed(task) for path in session_files() for task in sized(path, (window,))]
        ratios = [ratio(end.items) for end in ends if end.items]
        everything = [item for end in ends for item in end.items]
        others = [item for end in ends for item in end.others]
        figures = (ratio(everything), min(ratios), max(ratios), ratio(others))
        print_row(f"{window:,}", len(ends), len(everything), *map(shown, figures))


@attrs.frozen(kw_only=True)
class Condensed:
    """What stands shortened at the end of a session: all of it, and what shows no file in use."""

    items: tuple[Item, ...]
    others: tuple[Item, ...]


def condensed(task: Task) -> Condensed:
    """Run a session to its end."""
    transcript = read_transcript(task.path)
    config = GCConfig(context_limit=task.window, output_reservation=0)
    with GCSession(config, strategy=Progressive(), format=transcript.format) as session:
        for message in transcript.messages:
            if message.get("role") == Role.ASSISTANT.value:
                session.pre_send()
                session.post_turn(dict(message))
            else:
                session.append(dict(message))
        items = tuple(item for item in session.items() if item.form is Form.STUB)
        files = session.view().working_set
        return Condensed(items=items, others=tuple(item for item in items if not files.holds(item)))


def ratio(items: Sequence[Item]) -> float:
    """Tokens of the originals for each token that stands for them."""
    return sum(item.original_tokens for item in items) / sum(item.tokens for item in items)


if __name__ == "__main__":
    main()
