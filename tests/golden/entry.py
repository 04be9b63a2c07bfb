"""Every name of gc_core that the golden cases use. When modules move or names change, only this file is adapted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import attrs
from ctxgc.cli.app import app
from ctxgc.evaluation.baselines import Baseline
from ctxgc.evaluation.jobs import BASELINES_BY_NAME
from ctxgc.evaluation.replay import replay, replay_baseline
from ctxgc.evaluation.replay_report import ReplayReport
from ctxgc.evaluation.transcripts import Transcript, read_transcript
from typer.testing import CliRunner

from gc_core import (
    AsyncGCSession,
    GCConfig,
    GCPolicy,
    GCSession,
    Inconsistency,
    InstructionSource,
    ItemKind,
    Plugins,
    Refusal,
    SessionReader,
    compact,
    hookimpl,
)
from gc_core.integrations.agent_tools import AgentTools
from gc_core.integrations.tool_worker import ToolResultWorker
from gc_core.session.recall_suggestions import auto_expand, suggest_recall
from gc_core.storage.audit import verify
from gc_core.storage.facts import FactKind, FactStore, Promotion
from gc_core.testing import AsyncFakeSummarizer, FakeSummarizer
from tests.golden.frozen import timeless
from tests.golden.recording import as_json

__all__ = [
    "BASELINES",
    "AgentTools",
    "AsyncFakeSummarizer",
    "AsyncGCSession",
    "FactKind",
    "FactStore",
    "FakeSummarizer",
    "GCConfig",
    "GCPolicy",
    "GCSession",
    "Inconsistency",
    "InstructionSource",
    "ItemKind",
    "Plugins",
    "Promotion",
    "Refusal",
    "SessionReader",
    "ToolResultWorker",
    "as_data",
    "auto_expand",
    "baseline_report",
    "cache_data",
    "compact",
    "ctxgc",
    "hookimpl",
    "installed",
    "ledger_records",
    "log_records",
    "made_transcript",
    "read_transcript",
    "report_rows",
    "state_data",
    "strategy_report",
    "suggest_recall",
    "verify",
]

BASELINES: dict[str, Baseline] = dict(BASELINES_BY_NAME)


@cache
def installed() -> Plugins:
    """The installed plugins, discovered once."""
    return Plugins.discover()


# -- files


def log_records(directory: Path) -> Iterator[Any]:
    """The records of the master log, in order."""
    yield from records(directory / "master.jsonl")


def ledger_records(directory: Path) -> Iterator[Any]:
    """The records of the ledger, in order."""
    yield from records(directory / "ledger.jsonl")


def records(path: Path) -> Iterator[Any]:
    for line in path.read_bytes().splitlines():
        yield timeless(json.loads(line))


# -- replays


def made_transcript(name: str, provider: str, messages: list[Any]) -> Transcript:
    return Transcript(path=Path(name), format=provider, messages=tuple(messages))


def strategy_report(transcript: Transcript, strategy: str, window: int) -> ReplayReport:
    return replay(transcript, config=GCConfig(strategy=strategy, context_limit=window), plugins=installed())


def baseline_report(transcript: Transcript, baseline: str, window: int) -> ReplayReport:
    return replay_baseline(transcript, config=GCConfig(context_limit=window), baseline=BASELINES[baseline])


TIMINGS = frozenset({"seconds", "ingest_seconds", "collecting", "plain", "ingest"})


def report_rows(report: ReplayReport) -> Iterator[dict[str, Any]]:
    """A row for each call, and one for the whole session; without times."""
    for call in report.calls:
        yield untimed(call)
    yield untimed(report.summary())


def untimed(value: Any) -> dict[str, Any]:
    return attrs.asdict(value, filter=lambda field, _: field.name not in TIMINGS)


# -- values


def as_data(value: Any) -> Any:
    """An attrs value as JSON, without times."""
    return timeless(json.loads(as_json(value)))


def cache_data(session: GCSession) -> Any:
    """What was read from the provider's cache."""
    return as_data(session.cache)


def state_data(session: GCSession) -> Any:
    """The task's state."""
    return as_data(session.state)


# -- the command line


def ctxgc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr
