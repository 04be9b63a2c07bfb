"""The command ``ctxgc cache``, and ``ctxgc replay --model``: the use of the provider's prompt cache."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import attrs
import cattrs
import typer

from ctxgc.evaluation.priced_replay import PricedReplay, PricedRun, priced_lines
from gc_core.cache.account import CacheReport, CallAccount
from gc_core.errors import GCError
from gc_core.session.reader import SessionReader
from gc_core.values.messages import Usage


@attrs.frozen(kw_only=True)
class CacheDocument:
    """
    The output of ``ctxgc cache --json``.

    Attributes:
        session: The session's directory.
        report: The sums.
        hit_percent: Input tokens read from the cache, in percent.
        cost: USD in total; null if a price is missing.
        calls: Each model call whose usage was reported.

    """

    session: str
    report: CacheReport
    hit_percent: float
    cost: float | None
    calls: tuple[CallAccount, ...]


def cache(
    session: Annotated[Path, typer.Argument(metavar="DIR", help="A session's directory.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """List a session's model calls with their cache reads. Each break is shown with its cause."""
    try:
        with SessionReader(session) as reader:
            account = reader.account()
            calls = tuple(account.calls())
            report = account.report()
    except (GCError, PermissionError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(code=1) from error
    if as_json:
        document = CacheDocument(
            session=str(session), report=report, hit_percent=report.hit_percent, cost=report.cost, calls=calls
        )
        typer.echo(json.dumps(cattrs.unstructure(document)))
        return
    for line in (*map(_call_line, calls), *(_report_lines(report) if calls else ("no provider has reported a call",))):
        typer.echo(line)


def _call_line(call: CallAccount) -> str:
    usage = call.usage
    when = dt.datetime.fromtimestamp(call.time, dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
    cost = "" if call.cost is None else f", ${call.cost:.4f}"
    miss = "" if call.miss is None else f"\n    {call.miss.text}"
    return f"{call.number:>5}  {when}  {usage.input_tokens:>9,} input tokens, {_cache_words(usage)}{cost}{miss}"


def _cache_words(usage: Usage) -> str:
    if not usage.cache_reported:
        return "cache reads not reported"
    share = 100.0 * usage.cache_read_tokens / usage.input_tokens if usage.input_tokens else 0.0
    split = f"{usage.cache_read_tokens:,} read, {usage.cache_write_tokens:,} written, {usage.fresh_tokens:,} fresh"
    return f"{share:5.1f} % ({split})"


def _report_lines(report: CacheReport) -> Iterator[str]:
    yield ""
    yield from report.words()
    yield "" if report.cost is None else f"all together ${report.cost:,.4f}"


# -- replays ---------------------------------------------------------------------------------------------------------


def show_prices(prices: Iterable[PricedReplay]) -> None:
    """Print what sessions would have cost, and each break of the prefix with its cause."""
    for each in prices:
        typer.echo("")
        for line in priced_lines(each):
            typer.echo(line)
        for run in each.runs:
            if run.collected:
                _show_breaks(run)


def _show_breaks(run: PricedRun) -> None:
    for miss in run.misses:
        when = "gaps as recorded" if run.gaps else "gaps left out"
        typer.echo(f"    {when}, call {miss.call}: {miss.text}")
