"""Recorded sessions, replayed with every strategy and baseline."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.histories import STRATEGIES
from tests.golden import entry
from tests.golden.recording import Case, Recording
from tests.support.corpus import corpus_dir

WINDOWS = (16_000, 32_000)
SESSIONS = (
    "entire--b9bdbf44-cc66-4b63-bf50-e2ace00d58e7.jsonl",
    "entire--70c88cff-cb35-404f-a974-2a08bab4e4bc.jsonl",
    "gemini-cli--trajectory.jsonl",
    "concat-toolbench-apis.jsonl",
    "moatless--django__django-13448.jsonl",
    "native/anthropic--entire-130d7b7e-5801-4345-9bd6-f32fd9b8429b.json",
    "native/claude-code--b9bdbf44-cc66-4b63-bf50-e2ace00d58e7.jsonl",
    "native/gemini--trajectory.json",
)
"""Small ones of each kind: code, chat, and the formats as they were recorded."""


def cases() -> Iterator[Case]:
    """A replay of each session in each window; none where there is no corpus."""
    corpus = corpus_dir().resolve()
    for name in SESSIONS if corpus.is_dir() else ():
        for window in WINDOWS:
            for strategy in STRATEGIES:
                made = functools.partial(replayed, corpus / name, strategy, window)
                yield Case(f"replay {name} {window} {strategy}", made)
        yield Case(f"replay {name} baselines", functools.partial(compared, corpus / name, WINDOWS[0]))


def replayed(path: Path, strategy: str, window: int, recording: Recording) -> None:
    note(recording, entry.strategy_report(entry.read_transcript(path), strategy, window))


def compared(path: Path, window: int, recording: Recording) -> None:
    transcript = entry.read_transcript(path)
    for name in entry.BASELINES:
        note(recording, entry.baseline_report(transcript, name, window))


def note(recording: Recording, report: entry.ReplayReport) -> None:
    for row in entry.report_rows(report):
        recording.add("row", row)
    recording.numbers["requests"] += len(report.calls)
    recording.numbers["tokens"] += sum(report.fill)
    recording.numbers["collections"] += sum(len(call.collections) for call in report.calls)
