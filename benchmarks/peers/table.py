"""The figures of a run as values, as Markdown and as JSON, and how far two runs are apart."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence

import attrs

from benchmarks.peers.replaying import PeerReplay, errors_by_kind
from gc_core.comparison import Spread, spread
from gc_core.measures import ReplayReport, pooled
from gc_core.one_call import Share
from gc_core.sums import ReplaySummary

COLUMNS = (
    "system",
    "far fit %",
    "90 % range",
    "far lines %",
    "near %",
    "cost",
    "mean prompt",
    "user text %",
    "first request %",
    "calls over",
    "rule breaches",
    "breaks/100",
    "p99 ms",
    "errors",
)


@attrs.frozen(kw_only=True)
class ErrorCount:
    """An error of a peer, and how often it came in one session."""

    session: str
    text: str
    count: int


@attrs.frozen(kw_only=True)
class SessionRow:
    """The figures of one session."""

    session: str
    summary: ReplaySummary


@attrs.frozen(kw_only=True)
class Row:
    """
    What one system does to all sessions of a window.

    Attributes:
        system: Its name.
        kind: ``"peer"``, ``"strategy"`` or ``"baseline"``.
        far: The far fit, and how far chance could move it.
        mean_prompt: Tokens of a request, mean of the calls that could be sent.
        breaks_per_100: Breaks of the prompt cache in 100 calls.
        p99_ms: Milliseconds within which 99 of 100 calls stay; of a peer its own code alone, without the pipe.
        summary: All figures, every call weighing the same.
        sessions: The figures of each session.
        errors: What it raised; such a call is among those over.

    """

    system: str
    kind: str
    far: Spread | None
    mean_prompt: float
    breaks_per_100: float
    p99_ms: float
    summary: ReplaySummary
    sessions: tuple[SessionRow, ...]
    errors: tuple[ErrorCount, ...] = ()


@attrs.frozen(kw_only=True)
class Table:
    """All systems at one window, best far fit first."""

    window: int
    sessions: tuple[str, ...]
    calls: int
    rows: tuple[Row, ...]


@attrs.frozen(kw_only=True)
class Run:
    """A whole run: when, with which versions, its tables, and what could not be replayed at all, a line each."""

    made: str
    versions: tuple[str, ...]
    tables: tuple[Table, ...]
    failures: tuple[str, ...] = ()


def row_of(system: str, kind: str, replays: Sequence[PeerReplay]) -> Row:
    """The figures of one system."""
    reports = [replay.report for replay in replays]
    whole = pooled(reports)
    calls = [call for report in reports for call in report.calls]
    sent = sum(call.sent is not None for call in calls)
    return Row(
        system=system,
        kind=kind,
        far=spread(_far(report) for report in reports),
        mean_prompt=whole.tokens_sent / sent if sent else 0.0,
        breaks_per_100=100.0 * whole.breaks / whole.calls if whole.calls else 0.0,
        p99_ms=_p99([1000.0 * call.seconds for call in calls]),
        summary=whole,
        sessions=tuple(SessionRow(session=report.session, summary=report.summary()) for report in reports),
        errors=tuple(_errors(replays)),
    )


def table_of(window: int, rows: Iterable[Row]) -> Table:
    """The rows in their order."""
    ranked = sorted(rows, key=lambda row: (-row.far.pooled if row.far else 0.0, row.system))
    names = dict.fromkeys(its.session for row in ranked for its in row.sessions)
    calls = max((row.summary.calls for row in ranked), default=0)
    return Table(window=window, sessions=tuple(names), calls=calls, rows=tuple(ranked))


def markdown(run: Run) -> Iterator[str]:
    """The tables, a line each."""
    yield run.made
    for table in run.tables:
        yield ""
        yield f"## Window {table.window:,} ({len(table.sessions)} sessions, {table.calls:,} calls)"
        yield ""
        yield "| " + " | ".join(COLUMNS) + " |"
        yield "|" + "---|" * len(COLUMNS)
        yield from ("| " + " | ".join(_cells(row)) + " |" for row in table.rows)
        for row in table.rows:
            yield from (f"- {row.system}, {one.session}: {one.count} x {one.text}" for one in row.errors)
    yield from run.failures


def as_json(run: Run) -> str:
    """Everything, the sessions' figures too."""
    return json.dumps(attrs.asdict(run, value_serializer=_plain), indent=1) + "\n"


def figures(run: Run) -> dict[tuple[int, str, str], float]:
    """All figures but times, by window, system and column: what a second run has to find again."""
    return {
        (table.window, row.system, name): value
        for table in run.tables
        for row in table.rows
        for name, value in _repeatable(row)
    }


def apart(run: Run, earlier: dict[tuple[int, str, str], float], most: float) -> Iterator[str]:
    """The figures of both runs that differ by more than ``most``, a line each."""
    for key, value in figures(run).items():
        before = earlier.get(key)
        if before is not None and abs(value - before) > most:
            yield f"{key[0]} {key[1]}: {key[2]} {before:g}, now {value:g}"


def earlier_figures(text: str) -> dict[tuple[int, str, str], float]:
    """The figures of a run that ``as_json`` wrote."""
    found: dict[tuple[int, str, str], float] = {}
    for table in json.loads(text)["tables"]:
        for row in table["rows"]:
            far = row["far"] or {}
            values = {"far": far.get("pooled"), **{name: row["summary"][name] for name in _SUMMED}}
            values |= {"mean_prompt": row["mean_prompt"] / 1000, "breaks_per_100": row["breaks_per_100"]}
            key = table["window"], row["system"]
            found |= {(*key, name): value for name, value in values.items() if value is not None}
    return found


# -- inside ----------------------------------------------------------------------------------------------------------

_SUMMED = (
    "far_lines",
    "near",
    "cost",
    "user_text_kept",
    "first_request_kept",
    "calls_over",
    "rule_breaches",
)


def _repeatable(row: Row) -> Iterator[tuple[str, float]]:
    yield "mean_prompt", row.mean_prompt / 1000
    yield "breaks_per_100", row.breaks_per_100
    if row.far is not None:
        yield "far", row.far.pooled
    for name in _SUMMED:
        value = getattr(row.summary, name)
        if value is not None:
            yield name, float(value)


def _cells(row: Row) -> Iterator[str]:
    whole = row.summary
    name = {"strategy": f"**`{row.system}`**", "baseline": f"_{row.system}_"}.get(row.kind, row.system)
    yield name
    yield f"{row.far.pooled:.1f}" if row.far else "-"
    yield f"{row.far.low:.0f}-{row.far.high:.0f}" if row.far else "-"
    yield _number(whole.far_lines)
    yield _number(whole.near)
    yield "-" if whole.cost is None else f"{whole.cost:.2f}"
    yield f"{row.mean_prompt / 1000:.1f}k"
    yield f"{whole.user_text_kept:.1f}"
    yield f"{whole.first_request_kept:.1f}"
    yield str(whole.calls_over + whole.calls_over_locked)
    yield str(whole.rule_breaches)
    yield f"{row.breaks_per_100:.1f}"
    yield f"{row.p99_ms:.0f}"
    yield str(sum(one.count for one in row.errors))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _far(report: ReplayReport) -> Share:
    total = Share()
    for call in report.calls:
        total = total.plus(call.fit.far)
    return total


def _p99(milliseconds: Iterable[float]) -> float:
    ranked = sorted(milliseconds)
    return ranked[math.ceil(0.99 * len(ranked)) - 1] if ranked else 0.0


def _errors(replays: Sequence[PeerReplay]) -> Iterator[ErrorCount]:
    for replay in replays:
        for text, count in errors_by_kind(replay.errors).items():
            yield ErrorCount(session=replay.report.session, text=text, count=count)


def _plain(_: object, __: object, value: object) -> object:
    return getattr(value, "value", value) if not isinstance(value, tuple) else value
