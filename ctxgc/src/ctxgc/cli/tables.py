"""The output of the command line: a sentence, tables, and one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import attrs
import cattrs
from rich.table import Table
from rich.text import Text

from ctxgc.cli.chart import ASCII, BLOCKS, Level, fill_chart
from ctxgc.cli.console import plain
from ctxgc.evaluation.call_measures import Overflow
from ctxgc.evaluation.priced_replay import PricedReplay
from ctxgc.evaluation.replay_report import ReplayReport, pooled
from ctxgc.evaluation.totals import ReplaySummary, Timing
from gc_core.isolation import PluginFailure
from gc_core.plugins.registry import StrategyInfo
from gc_core.values.config import GCConfig

_SHOWN = 5
"""The most violations and overflows that are shown; the document has them all."""


@attrs.frozen(kw_only=True)
class FileFailure:
    """A file that could not be replayed, and why."""

    file: str
    error: str


@attrs.frozen(kw_only=True)
class SessionDocument:
    """
    One session in the document.

    Attributes:
        session: Its name.
        format: Name of its format.
        summary: Its figures.
        fill: Tokens sent, by call; 0 for a call that could not be sent.
        overflows: The calls that could not be sent.
        breaches: Requests that the provider would have refused.

    """

    session: str
    format: str
    summary: ReplaySummary
    fill: tuple[int, ...]
    overflows: tuple[Overflow, ...]
    breaches: tuple[str, ...]


@attrs.frozen(kw_only=True)
class ReplayDocument:
    """
    The output of ``ctxgc replay --json``.

    Attributes:
        version: The version of gc-core.
        config: Its configuration.
        sessions: Each session.
        pooled: The figures of all calls together.
        failures: The files that could not be replayed.
        prices: The cost of each session, with ``--model``.

    """

    version: str
    config: GCConfig
    sessions: tuple[SessionDocument, ...]
    pooled: ReplaySummary
    failures: tuple[FileFailure, ...]
    prices: tuple[PricedReplay, ...] = ()


def document_text(
    reports: Sequence[ReplayReport],
    failures: Iterable[FileFailure],
    *,
    config: GCConfig,
    version: str,
    prices: Iterable[PricedReplay] = (),
) -> str:
    """Return the document as JSON, on one line."""
    document = ReplayDocument(
        version=version,
        config=attrs.evolve(config, output_reservation=0),
        sessions=tuple(_session(report) for report in reports),
        pooled=pooled(reports),
        failures=tuple(failures),
        prices=tuple(prices),
    )
    return json.dumps(cattrs.unstructure(document), ensure_ascii=False)


def headline(summary: ReplaySummary, window: int) -> str:
    """Return the outcome in a sentence."""
    said = f"{many(summary.calls, 'call')}, {many(summary.collected, 'collection')}: "
    if summary.calls_over:
        said += f"{many(summary.calls_over, 'request')} did not fit {window:,} tokens"
    else:
        said += f"every request {'that could be sent ' * bool(summary.calls_over_locked)}fitted {window:,} tokens"
    said += f"; {summary.calls_over_without:,} would not have fitted without collection."
    if summary.calls_over_locked:
        said += f" {many(summary.calls_over_locked, 'call')} had more LOCKED content than the window holds."
    return said


def summary_table(summary: ReplaySummary) -> Table:
    """Return the figures of one session, each with its meaning."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    for row in _figures(summary):
        table.add_row(*row)
    return table


def sessions_table(reports: Sequence[ReplayReport]) -> Table:
    """Return a row for each session and one for all calls together."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("session", overflow="fold")
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for report in reports:
        table.add_row(Text(plain(report.session)), *_cells(report.summary()))
    if len(reports) > 1:
        table.add_section()
        table.add_row("all", *_cells(pooled(reports)), style="bold")
    return table


def troubles(report: ReplayReport) -> list[str]:
    """Return the first violations, and the first calls that could not be sent with the owners of their tokens."""
    lines = [f"{report.session}: rule breach at {text}" for text in report.breaches[:_SHOWN]]
    for overflow in report.overflows[:_SHOWN]:
        why = "LOCKED content alone is larger" if overflow.only_locked else "what may not be removed is larger"
        owners = ", ".join(f"{owner.name} {owner.tokens:,}" for owner in overflow.owners[:_SHOWN])
        lines.append(
            f"{report.session}: call {overflow.call} needs {overflow.needed:,} of {overflow.limit:,} tokens: {why}"
            f" ({owners})"
        )
    more = len(report.breaches[_SHOWN:]) + len(report.overflows[_SHOWN:])
    return [*lines, f"{report.session}: and {more:,} more"] if more else lines


def chart(report: ReplayReport, config: GCConfig, *, encoding: str) -> str:
    """Return the chart of the window's fill by call, in characters of the encoding."""
    levels = [Level(name="window", tokens=report.window), _level("target", config.target_percent, report.window)]
    if not config.continuous:
        levels.append(_level("threshold", config.threshold_percent, report.window))
    return fill_chart(report.fill, levels, ink=BLOCKS if _writes(encoding, BLOCKS.bars + BLOCKS.side) else ASCII)


def strategies_table(infos: Iterable[StrategyInfo]) -> Table:
    """Return the installed strategies: name, options with type and default, plugin, and description."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("strategy", "plugin", "options", "what it does"):
        table.add_column(name, overflow="fold")
    for info in infos:
        options = [
            f"{option.name}: {option.type}" + f" = {option.default}" * bool(option.default) for option in info.options
        ]
        table.add_row(info.name, info.plugin, "\n".join(options) or "none", info.summary)
    return table


def failure_lines(failures: Iterable[PluginFailure]) -> list[str]:
    """Return the errors of plugins, a line each."""
    return [f"plugin {failure}" for failure in failures]


# -- inside ----------------------------------------------------------------------------------------------------------

_COLUMNS = (
    "calls", "collections", "tokens sent", "without gc", "calls over", "over without gc", "LOCKED over", "breaches",
    "LOCKED missing", "breaks", "cost", "edits miss", "far fit", "ms p50 / p99", "collecting",
)  # fmt: skip


def _cells(summary: ReplaySummary) -> tuple[str, ...]:
    figures = (
        summary.calls, summary.collected, summary.tokens_sent, summary.tokens_without, summary.calls_over,
        summary.calls_over_without, summary.calls_over_locked, summary.rule_breaches, summary.locked_bytes_missing,
        summary.breaks,
    )  # fmt: skip
    return (
        *(f"{figure:,}" for figure in figures),
        cost_text(summary.cost),
        percent_text(summary.edits_that_miss),
        percent_text(summary.far_fit),
        _ms(summary.plain),
        _ms(summary.collecting),
    )


def _figures(summary: ReplaySummary) -> list[tuple[str, str, str]]:
    locked = (
        f"and {summary.calls_over_locked:,} more whose LOCKED content alone is larger than the window"
        if summary.calls_over_locked
        else "requests larger than the window"
    )
    return [
        ("collections", f"{summary.collected:,}", _reasons(summary)),
        ("tokens sent", f"{summary.tokens_sent:,}", _saved(summary)),
        ("cost", cost_text(summary.cost), "times the price without collection; a cached token is 0.1, any other 1.25"),
        ("calls over", f"{summary.calls_over:,}", locked),
        ("rule breaches", f"{summary.rule_breaches:,}", "errors for which the provider would refuse a request"),
        (
            "LOCKED missing",
            f"{summary.locked_bytes_missing:,}",
            "bytes of system text, tools and first request, not sent",
        ),
        (
            "user text kept",
            f"{summary.user_text_kept:.0f} %",
            f"of what the user typed; of the first request {summary.first_request_kept:.0f} %",
        ),
        (
            "edits that miss",
            percent_text(summary.edits_that_miss),
            f"% of {many(summary.edits, 'edit')} quote a line that is not in the prompt; {_with_misses(summary)}",
        ),
        (
            "verbatim reuse",
            percent_text(summary.verbatim_reuse),
            "% of the old lines that other calls repeat are in the prompt",
        ),
        (
            "far fit",
            percent_text(summary.far_fit),
            f"% of {summary.far_uses:,} names used again after long are in the prompt, {_found_again(summary)}",
        ),
        ("cache breaks", f"{summary.breaks:,}", f"{summary.drifts:,} of them without a collection"),
        (
            "tried again",
            f"{summary.repeats:,}",
            f"second collections tried, of which {summary.repeats_not_empty:,} removed anything (expected 0)",
        ),
        ("ms a call", _ms(summary.plain), "median / 99th percentile of pre_send and post_turn together"),
        (
            "ms collecting",
            _ms(summary.collecting),
            f"the same for the {many(summary.collecting.calls, 'call')} that collected",
        ),
        ("ms appending", _ms(summary.ingest), "the same for taking in what came between two calls"),
    ]


def _with_misses(summary: ReplaySummary) -> str:
    return f"if each takes one more call, the cost is {cost_text(summary.cost_with_misses)}"


def _found_again(summary: ReplaySummary) -> str:
    whole, recalled = percent_text(summary.far_lines), percent_text(summary.recovered)
    return f"{whole} % on a whole line; of the rest {recalled} % can be recalled"


def _reasons(summary: ReplaySummary) -> str:
    reasons = ", ".join(f"{entry.reason.value} {entry.count:,}" for entry in summary.collections)
    put_off = f"; {summary.deferred:,} put off, which would have freed too little" if summary.deferred else ""
    return f"{reasons or 'none was needed'}{put_off}"


def _saved(summary: ReplaySummary) -> str:
    saved = 100.0 - 100.0 * summary.tokens_sent / summary.tokens_without if summary.tokens_without else 0.0
    return f"{saved:.0f} % fewer than {summary.tokens_without:,} without collection"


def percent_text(value: float | None) -> str:
    """Return a percentage as in tables."""
    return "-" if value is None else f"{value:.1f}"


def _session(report: ReplayReport) -> SessionDocument:
    return SessionDocument(
        session=report.session,
        format=report.format,
        summary=report.summary(),
        fill=report.fill,
        overflows=report.overflows,
        breaches=report.breaches,
    )


def _level(name: str, percent: float, window: int) -> Level:
    return Level(name=name, tokens=int(window * percent / 100.0))


def _writes(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def cost_text(cost: float | None, digits: int = 2) -> str:
    """Return a relative cost as in tables."""
    return "-" if cost is None else f"{cost:.{digits}f}"


def _ms(timing: Timing) -> str:
    return f"{timing.median_ms:.1f} / {timing.p99_ms:.1f}" if timing.calls else "-"


def many(count: int, noun: str) -> str:
    """Return the number with its noun."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
