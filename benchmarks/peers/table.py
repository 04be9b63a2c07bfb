"""The figures of a run as values, as Markdown and as JSON, and how far two runs are apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs
import cattrs
from ctxgc.evaluation.comparison import Means, Spread, means_of, spread
from ctxgc.evaluation.totals import ReplaySummary, Sums, sums_of, together

from benchmarks.peers.replaying import PeerReplay, errors_by_kind

COLUMNS = (
    "system",
    "edits that miss %",
    "90 % range",
    "cost with misses",
    "verbatim reuse %",
    "far fit %",
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

MEANS = (
    "system",
    "edits that miss %",
    "90 % range",
    "quoted far / near %",
    "cost with misses",
    "verbatim reuse %",
    "far fit %",
    "user text % (32k and more)",
    "calls over",
)


@attrs.frozen(kw_only=True)
class ErrorCount:
    """An error of a peer, and how often it came in one session."""

    session: str
    text: str
    count: int


@attrs.frozen(kw_only=True)
class SessionRow:
    """The figures of one session, and the sums that they come of."""

    session: str
    summary: ReplaySummary
    sums: Sums


@attrs.frozen(kw_only=True)
class Row:
    """
    What one system does to all sessions of a window.

    Attributes:
        system: Its name.
        kind: ``"peer"``, ``"strategy"`` or ``"baseline"``.
        misses: The edits that miss, and how far chance could move it.
        far: The far fit, likewise.
        mean_prompt: Tokens of a request, mean of the calls that could be sent.
        breaks_per_100: Breaks of the prompt cache in 100 calls.
        p99_ms: Milliseconds within which 99 of 100 calls stay; of a peer its own code alone, without the pipe.
        summary: All figures, every call weighing the same.
        sessions: The figures of each session.
        errors: What it raised; such a call is among those over.

    """

    system: str
    kind: str
    misses: Spread | None
    far: Spread | None
    mean_prompt: float
    breaks_per_100: float
    p99_ms: float
    summary: ReplaySummary
    sessions: tuple[SessionRow, ...]
    errors: tuple[ErrorCount, ...] = ()


@attrs.frozen(kw_only=True)
class Table:
    """All systems at one window, the one with the fewest edits that miss first."""

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
    sums = [sums_of(report.calls, window=report.window) for report in reports]
    whole = together(sums)
    return Row(
        system=system,
        kind=kind,
        misses=spread(one.missing for one in sums),
        far=spread(one.far for one in sums),
        mean_prompt=whole.mean_prompt,
        breaks_per_100=whole.breaks_per_100,
        p99_ms=whole.p99_ms,
        summary=whole.summary(),
        sessions=tuple(
            SessionRow(session=report.session, summary=one.summary(), sums=attrs.evolve(one, ingest=()))
            for report, one in zip(reports, sums, strict=True)
        ),
        errors=tuple(_errors(replays)),
    )


def table_of(window: int, rows: Iterable[Row]) -> Table:
    """The rows in their order."""
    ranked = sorted(rows, key=lambda row: (row.misses.pooled if row.misses else 100.0, row.system))
    names = dict.fromkeys(its.session for row in ranked for its in row.sessions)
    calls = max((row.summary.calls for row in ranked), default=0)
    return Table(window=window, sessions=tuple(names), calls=calls, rows=tuple(ranked))


def markdown(run: Run) -> Iterator[str]:
    """The tables, a line each."""
    yield run.made
    yield from means_markdown(run)
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


def means_markdown(run: Run) -> Iterator[str]:
    """The means of all windows, a line each."""
    kinds = {row.system: row.kind for table in run.tables for row in table.rows}
    sums: dict[str, dict[int, dict[Path, Sums]]] = {system: {} for system in kinds}
    for table in run.tables:
        for row in table.rows:
            sums[row.system][table.window] = {Path(one.session): one.sums for one in row.sessions}
    yield ""
    yield f"## Mean of {len(run.tables)} windows ({', '.join(f'{table.window:,}' for table in run.tables)})"
    yield ""
    yield "| " + " | ".join(MEANS) + " |"
    yield "|" + "---|" * len(MEANS)
    for mean in sorted(means_of(sums), key=lambda mean: mean.edits_that_miss or 0.0):
        yield "| " + " | ".join(_mean_cells(mean, kinds[mean.system])) + " |"


def as_json(run: Run) -> str:
    """Everything, the sessions' figures too."""
    return json.dumps(attrs.asdict(run, value_serializer=_plain), indent=1) + "\n"


def rows_of(text: str) -> dict[tuple[int, str], Row]:
    """The rows of a run that ``as_json`` wrote, by window and system."""
    run = cattrs.structure(json.loads(text), Run)
    return {(table.window, row.system): row for table in run.tables for row in table.rows}


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
    "edits_that_miss",
    "verbatim_reuse",
    "cost_with_misses",
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
    yield _name(row.system, row.kind)
    yield _number(whole.edits_that_miss)
    yield f"{row.misses.low:.0f}-{row.misses.high:.0f}" if row.misses else "-"
    yield "-" if whole.cost_with_misses is None else f"{whole.cost_with_misses:.2f}"
    yield _number(whole.verbatim_reuse)
    yield _number(whole.far_fit)
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


def _mean_cells(row: Means, kind: str) -> Iterator[str]:
    yield _name(row.system, kind)
    yield _number(row.edits_that_miss)
    yield "-" if row.low is None or row.high is None else f"{row.low:.0f}-{row.high:.0f}"
    yield f"{_number(row.far_quotes)} / {_number(row.near_quotes)}"
    yield "-" if row.cost_with_misses is None else f"{row.cost_with_misses:.3f}"
    yield _number(row.verbatim_reuse)
    yield _number(row.far_fit)
    yield _number(row.user_text_kept)
    yield f"{row.calls_over:,}"


def _name(system: str, kind: str) -> str:
    return {"strategy": f"**`{system}`**", "baseline": f"_{system}_"}.get(kind, system)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _errors(replays: Sequence[PeerReplay]) -> Iterator[ErrorCount]:
    for replay in replays:
        for text, count in errors_by_kind(replay.errors).items():
            yield ErrorCount(session=replay.report.session, text=text, count=count)


def _plain(_: object, __: object, value: object) -> object:
    return getattr(value, "value", value) if not isinstance(value, tuple) else value
