"""What ``ctxgc compare`` shows: tables for a terminal and in Markdown, and one JSON document."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence

import attrs
import cattrs
from rich.table import Table

from gc_core.comparison import BandTable, Comparison, SystemRow, WindowTable
from gc_core.presentation import cost_text, many, percent_text

_HEADER_CHARS = 10
"""Characters of a line of a table's header, so that all measures fit a terminal of 200 columns."""


@attrs.frozen(kw_only=True)
class Made:
    """
    When and with what figures were made.

    Attributes:
        date: The day, as YYYY-MM-DD.
        versions: Of gc-core, the plugins and what counts, as "name version".

    """

    date: str
    versions: tuple[str, ...]

    def __str__(self) -> str:
        """In one line."""
        return f"{self.date}, {', '.join(self.versions)}"


@attrs.frozen(kw_only=True)
class ComparisonDocument:
    """
    What ``ctxgc compare --json`` prints.

    Attributes:
        made: When and with what.
        comparison: All figures.

    """

    made: Made
    comparison: Comparison


def comparison_document(comparison: Comparison, made: Made) -> str:
    """The comparison as JSON, on one line."""
    return json.dumps(cattrs.unstructure(ComparisonDocument(made=made, comparison=comparison)), ensure_ascii=False)


def comparison_tables(compared: WindowTable, *, by_length: bool = False) -> Iterator[Table]:
    """A row for each system at one window; then, if wanted, the same for the sessions of each length."""
    yield _table(_title(compared), compared.rows)
    for band in compared.bands if by_length else ():
        yield _table(_band_title(compared, band), band.rows)


def comparison_markdown(comparison: Comparison, made: Made, *, by_length: bool = False) -> str:
    """All tables in Markdown, and of each window the far fit of every session."""
    parts = [f"Made {made}."]
    for table in comparison.tables:
        parts += [f"### {_title(table)}", _measured(table.rows)]
        for band in table.bands if by_length else ():
            parts += [f"#### {_band_title(table, band)}", _measured(band.rows)]
        parts += [
            "Far fit in % by session:",
            _markdown(("session", "far uses", *map(_system, table.rows)), _by_session(table)),
        ]
    return "\n\n".join([*parts, *(f"Left out: {failure}" for failure in comparison.failures)])


# -- inside ----------------------------------------------------------------------------------------------------------

_MEASURES = (
    "far fit %", "mean", "90 % range", "far lines %", "near %", "cost", "mean prompt", "user text %", "first request %",
    "recovered %", "first / three", "recall tokens", "calls over", "breaches", "breaks a 100", "p99 ms",
)  # fmt: skip


def _table(title: str, rows: Iterable[SystemRow]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    table.add_column("system", no_wrap=True)
    for name in _MEASURES:
        table.add_column("\n".join(textwrap.wrap(name, _HEADER_CHARS)), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(_system(row), *_measures(row))
    return table


def _title(table: WindowTable) -> str:
    return f"Window {table.window:,} ({_extent(table.sessions, table.rows)})"


def _band_title(table: WindowTable, band: BandTable) -> str:
    return f"Window {table.window:,}, sessions of {band.band} ({_extent(band.sessions, band.rows)})"


def _extent(sessions: Sequence[str], rows: Sequence[SystemRow]) -> str:
    calls = rows[0].summary.calls if rows else 0
    uses = rows[0].summary.far_uses if rows else 0
    return f"{many(len(sessions), 'session')}, {calls:,} calls, {uses:,} far uses"


def _system(row: SystemRow) -> str:
    return f"*{row.system}*" if row.baseline else row.system


def _measures(row: SystemRow) -> tuple[str, ...]:
    summary, far = row.summary, row.far
    return (
        percent_text(summary.far_fit),
        percent_text(far.mean if far else None),
        f"{far.low:.0f} - {far.high:.0f}" if far else "-",
        percent_text(summary.far_lines),
        percent_text(summary.near),
        cost_text(summary),
        f"{row.mean_prompt / 1000:.1f}k",
        f"{summary.user_text_kept:.0f}",
        f"{summary.first_request_kept:.0f}",
        percent_text(summary.recovered),
        f"{percent_text(summary.recovered_first)} / {percent_text(summary.recovered_few)}",
        "-" if summary.recall_tokens is None else f"{summary.recall_tokens:,.0f}",
        f"{summary.calls_over + summary.calls_over_locked:,}",
        f"{summary.rule_breaches:,}",
        f"{row.breaks_per_100:.1f}",
        f"{row.p99_ms:.0f}",
    )


def _measured(rows: Iterable[SystemRow]) -> str:
    return _markdown(("system", *_MEASURES), [(_system(row), *_measures(row)) for row in rows])


def _by_session(table: WindowTable) -> Iterator[tuple[str, ...]]:
    """A session that one system could not replay has no figure there."""
    found = [{one.session: one.summary for one in row.sessions} for row in table.rows]
    for name in table.sessions:
        uses = next((its[name].far_uses for its in found if name in its), 0)
        yield name, f"{uses:,}", *(percent_text(its[name].far_fit if name in its else None) for its in found)


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *("--:" for _ in header[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
