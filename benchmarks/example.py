"""
The recorded session of ``make demo``, replayed under every strategy: figures for the READMEs, and the strategies'
behaviour.

``python -m benchmarks.example`` replays it once a strategy, in seconds and without the corpus, and writes a table into
the README of each strategy. ``tests/test_tables.py`` makes the same run and compares these tables, and the sentences
that speak of the session, with it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
from ctxgc.evaluation.replay import replay
from ctxgc.evaluation.totals import ReplaySummary
from ctxgc.evaluation.transcripts import read_transcript

import gc_core
from benchmarks.sized import row
from benchmarks.stamps import ROOT, put
from gc_core.plugins.manager import Plugins
from gc_core.values.config import GCConfig

SESSION = ROOT / "examples" / "session.jsonl"
WINDOW = 16_000
STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive")
MADE_BY = "python -m benchmarks.example"

_BYTES = re.compile(rb"master\.jsonl:\d+-\d+")
"""Where a line of the log is; the times in the lines before it may be longer or shorter."""


@attrs.frozen(kw_only=True)
class ExampleRun:
    """
    What came of it.

    Attributes:
        summaries: The figures, by strategy.
        texts: All messages of all requests as JSON, by strategy.

    """

    summaries: Mapping[str, ReplaySummary]
    texts: Mapping[str, bytes]

    @property
    def behaviour(self) -> str:
        """A digest of what all strategies sent, byte for byte."""
        return hashlib.blake2b(b"".join(self.texts[name] for name in STRATEGIES), digest_size=4).hexdigest()


class _Listener:
    """Keeps the messages of every request."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []

    @gc_core.hookimpl
    def gc_request_rendered(self, request: gc_core.Request) -> None:
        text = json.dumps(request.messages, ensure_ascii=False, sort_keys=True)
        self.messages.append(_BYTES.sub(b"", text.encode("utf-8", "surrogatepass")))


def run() -> ExampleRun:
    """Replay it under every strategy."""
    transcript, summaries, texts = read_transcript(SESSION), {}, {}
    for name in STRATEGIES:
        plugins, listener = Plugins.discover(), _Listener()
        plugins.register(listener)
        report = replay(transcript, config=GCConfig(context_limit=WINDOW), strategy=name, plugins=plugins)
        summaries[name], texts[name] = report.summary(), b"\n".join(listener.messages)
    return ExampleRun(summaries=summaries, texts=texts)


def tables(done: ExampleRun) -> Iterator[tuple[Path, str]]:
    """The README of each strategy, and the table that stands in it."""
    for name, summary in done.summaries.items():
        yield ROOT / "plugins" / name / "README.md", "\n".join(_table(summary))


def _table(summary: ReplaySummary) -> Iterator[str]:
    yield row(f"a coding session of {summary.calls} model calls in {WINDOW:,} tokens", "before", "after")
    yield row("---", "--:", "--:")
    yield row("tokens sent in all", f"{summary.tokens_without:,}", f"{summary.tokens_sent:,}")
    yield row("requests larger than the window", summary.calls_over_without, summary.calls_over)
    yield row("breaks of the prompt cache", 0, summary.breaks)
    yield row("cost, cached tokens at a tenth of the price", "1.00", f"{summary.cost or 0:.2f}")
    yield row("what the user typed, in every request", "100 %", f"{summary.user_text_kept:.0f} %")


def sentences(done: ExampleRun) -> Iterator[tuple[Path, str]]:
    """Pages that speak of the session, and what they have to say."""
    demo = done.summaries["gc_budget"]
    saved = 100 - 100 * demo.tokens_sent / demo.tokens_without
    cost = f"{demo.cost or 0:.2f}".lstrip("0")
    yield ROOT / "README.md", f"The window of the demo over {demo.calls} model calls:"
    yield ROOT / "README.md", f"{demo.calls} model calls in a window of {WINDOW:,} tokens."
    yield ROOT / "README.md", f"{demo.calls_over_without} of these requests would not have fitted."
    yield ROOT / "docs" / "how-to" / "look-at-a-session.md", f"the window at each of {demo.calls} calls"
    seeds = ROOT / "docs" / "seeds" / "master-context.md"
    yield seeds, f"the demo sends {saved:.0f} % fewer tokens at {cost} of the price"


def main() -> None:
    """Write the tables."""
    done = run()
    for page, table in tables(done):
        put(page, MADE_BY, table, {"behaviour": done.behaviour})
        print(f"{page.relative_to(ROOT)}\n\n{table}\n")


if __name__ == "__main__":
    main()
