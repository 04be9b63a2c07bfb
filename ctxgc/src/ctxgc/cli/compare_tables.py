"""The output of ``ctxgc compare``: tables for a terminal and in Markdown, and one JSON document."""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs
import cattrs
from rich.table import Table

from ctxgc.cli.tables import cost_text, many, percent_text
from ctxgc.evaluation.comparison import BandTable, Comparison, Means, Spread, SystemRow, WindowTable
from ctxgc.evaluation.totals import ReplaySummary

_HEADER_CHARS = 9
"""Characters of a line of a table's header, so that all measures fit a terminal with 200 columns."""


@attrs.frozen(kw_only=True)
class Made:
    """
    The date and the versions of figures.

    Attributes:
        date: The day, as YYYY-MM-DD.
        versions: Versions of gc-core, the plugins and the counters, as "name version".

    """

    date: str
    versions: tuple[str, ...]

    def __str__(self) -> str:
        """Return it in one line."""
        return f"{self.date}, {', '.join(self.versions)}"


@attrs.frozen(kw_only=True)
class ComparisonDocument:
    """
    The output of ``ctxgc compare --json``.

    Attributes:
        made: Date and versions.
        comparison: All figures.

    """

    made: Made
    comparison: Comparison


def comparison_document(comparison: Comparison, made: Made) -> str:
    """Return the comparison as JSON, on one line."""
    return json.dumps(cattrs.unstructure(ComparisonDocument(made=made, comparison=comparison)), ensure_ascii=False)


def comparison_tables(compared: WindowTable, *, by_length: bool = False, wide: bool = False) -> Iterator[Table]:
    """
    Yield a row for each system at one window; then, if requested, the same for the sessions of each length.

    Five columns, which fit a terminal with 100 columns; `wide`: all.
    """
    yield _table(_title(compared), compared.rows, wide=wide)
    for band in compared.bands if by_length else ():
        yield _table(_band_title(compared, band), band.rows, wide=wide)


def means_table(comparison: Comparison, *, wide: bool = False) -> Table:
    """Return a row for each system: the means of all windows, in five columns or, `wide`, in all."""
    return _drawn(_means_title(comparison.tables), _MEANS, map(_mean_cells, comparison.means), wide=wide)


def comparison_markdown(comparison: Comparison, made: Made, *, by_length: bool = False) -> str:
    """
    Return all tables in Markdown: the means, and for each window the edits that miss and the far
    fit of every session.
    """
    parts = [f"Made {made}."]
    if len(comparison.tables) > 1:
        rows = map(_mean_cells, comparison.means)
        parts += [f"### {_means_title(comparison.tables)}", _markdown(("system", *_MEANS), rows)]
    for table in comparison.tables:
        parts += [f"### {_title(table)}", _measured(table.rows)]
        for band in table.bands if by_length else ():
            parts += [f"#### {_band_title(table, band)}", _measured(band.rows)]
        heads = tuple(map(_system, table.rows))
        parts += [
            "Edits that miss in % by session:",
            _markdown(("session", "edits", *heads), _by_session(table, _misses_of)),
            "Far fit in % by session:",
            _markdown(("session", "far uses", *heads), _by_session(table, _far_of)),
        ]
    return "\n\n".join([*parts, *(f"Left out: {failure}" for failure in comparison.failures)])


# -- inside ----------------------------------------------------------------------------------------------------------

_MEASURES = (
    "edits that miss %", "90 % range", "far quotes %", "cost with misses", "cost", "verbatim reuse %",
    "far fit %", "near %", "mean prompt", "user text %", "first request %",
    "recovered %", "calls over", "breaches", "breaks a 100", "p99 ms",
)  # fmt: skip


_FEW = frozenset({"system", "edits that miss %", "cost with misses", "far fit %", "calls over"})
"""The columns of a narrow table: what is lost, what that costs, and whether every request fitted."""

_MEANS = (
    "edits that miss %", "90 % range", "quoted far / near %", "cost with misses", "cost", "verbatim reuse %",
    "far fit %", "user text % (32k and more)", "calls over",
)  # fmt: skip


def _means_title(tables: Sequence[WindowTable]) -> str:
    return f"Mean of {len(tables)} windows ({', '.join(f'{table.window:,}' for table in tables)})"


def _mean_cells(row: Means) -> tuple[str, ...]:
    ranged = "-" if row.low is None or row.high is None else f"{row.low:.0f} - {row.high:.0f}"
    return (
        f"*{row.system}*" if row.baseline else row.system,
        percent_text(row.edits_that_miss),
        ranged,
        f"{percent_text(row.far_quotes)} / {percent_text(row.near_quotes)}",
        cost_text(row.cost_with_misses, 3),
        cost_text(row.cost, 3),
        percent_text(row.verbatim_reuse),
        percent_text(row.far_fit),
        percent_text(row.user_text_kept),
        f"{row.calls_over:,}",
    )


def _table(title: str, rows: Iterable[SystemRow], *, wide: bool) -> Table:
    return _drawn(title, _MEASURES, ((_system(row), *_measures(row)) for row in rows), wide=wide)


def _drawn(title: str, measures: Sequence[str], rows: Iterable[Sequence[str]], *, wide: bool) -> Table:
    """Return a table of systems; a row begins with the system's name."""
    shown = [wide or name in _FEW for name in ("system", *measures)]
    table = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    table.add_column("system", no_wrap=True)
    for name in itertools.compress(measures, shown[1:]):
        table.add_column("\n".join(textwrap.wrap(name, _HEADER_CHARS)), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*itertools.compress(row, shown))
    return table


def _title(table: WindowTable) -> str:
    return f"Window {table.window:,} ({_extent(table.sessions, table.rows)})"


def _band_title(table: WindowTable, band: BandTable) -> str:
    return f"Window {table.window:,}, sessions of {band.band} ({_extent(band.sessions, band.rows)})"


def _extent(sessions: Sequence[str], rows: Sequence[SystemRow]) -> str:
    calls = rows[0].summary.calls if rows else 0
    edits = rows[0].summary.edits if rows else 0
    uses = rows[0].summary.far_uses if rows else 0
    return f"{many(len(sessions), 'session')}, {calls:,} calls, {edits:,} edits, {uses:,} far uses"


def _system(row: SystemRow) -> str:
    return f"*{row.system}*" if row.baseline else row.system


def _measures(row: SystemRow) -> tuple[str, ...]:
    summary = row.summary
    return (
        percent_text(summary.edits_that_miss),
        _range(row.misses),
        percent_text(summary.far_quotes),
        cost_text(summary.cost_with_misses),
        cost_text(summary.cost),
        percent_text(summary.verbatim_reuse),
        percent_text(summary.far_fit),
        percent_text(summary.near),
        f"{row.mean_prompt / 1000:.1f}k",
        f"{summary.user_text_kept:.0f}",
        f"{summary.first_request_kept:.0f}",
        percent_text(summary.recovered),
        f"{summary.calls_over + summary.calls_over_locked:,}",
        f"{summary.rule_breaches:,}",
        f"{row.breaks_per_100:.1f}",
        f"{row.p99_ms:.0f}",
    )


def _range(spread: Spread | None) -> str:
    return f"{spread.low:.0f} - {spread.high:.0f}" if spread else "-"


def _measured(rows: Iterable[SystemRow]) -> str:
    return _markdown(("system", *_MEASURES), [(_system(row), *_measures(row)) for row in rows])


_Figure = Callable[[ReplaySummary], tuple[int, float | None]]
"""The number of cases, and a percentage of them."""


def _misses_of(summary: ReplaySummary) -> tuple[int, float | None]:
    return summary.edits, summary.edits_that_miss


def _far_of(summary: ReplaySummary) -> tuple[int, float | None]:
    return summary.far_uses, summary.far_fit


def _by_session(table: WindowTable, figure: _Figure) -> Iterator[tuple[str, ...]]:
    """Yield rows by session; a session that a system could not replay has no figure there."""
    found = [{one.session: figure(one.summary) for one in row.sessions} for row in table.rows]
    for name in table.sessions:
        cases = next((its[name][0] for its in found if name in its), 0)
        yield name, f"{cases:,}", *(percent_text(its[name][1] if name in its else None) for its in found)


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *("--:" for _ in header[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
