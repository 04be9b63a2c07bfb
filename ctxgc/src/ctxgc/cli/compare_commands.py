"""The command ``ctxgc compare``: strategies, baselines and simulated vendors' modes side by side."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import logging
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ctxgc.cli.compare_tables import Made, comparison_document, comparison_markdown, comparison_tables, means_table
from ctxgc.cli.console import given, plain, progress_bar, stdout, strategy_names
from ctxgc.evaluation.comparison import Comparison
from ctxgc.evaluation.comparison import compare as compared
from ctxgc.evaluation.executors import PROCESSES, check_executor
from ctxgc.evaluation.find_sessions import OwnSession, chosen, own_sessions
from gc_core.errors import ConfigError, ExecutorError
from gc_core.plugins.hookspecs import PROJECT
from gc_core.plugins.manager import Plugins, named
from gc_core.session.config_loading import load_config
from gc_core.values.config import GCConfig

LEAST_WINDOW, MOST_WINDOW = 100, 100_000_000
"""The accepted sizes of a window, in tokens."""

_LISTED = 50
"""The most sessions that are offered, the newest."""


def compare(
    *,
    session: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Recorded sessions: files, or directories of them. Without any: asks which of your own to use.",
            show_default=False,
        ),
    ] = None,
    strategy: Annotated[str, typer.Option(help="Strategies by name, with commas between them.")] = "gc_truncate",
    window: Annotated[str, typer.Option(help="Tokens that a request may have: one or more windows.")] = "32000,100000",
    config: Annotated[Path | None, typer.Option(help="A TOML file with a [gc] table.")] = None,
    sized: Annotated[
        bool,
        typer.Option(
            "--sized", help="Only sessions longer than the window, at most four windows long, of at most 500 calls."
        ),
    ] = False,
    by_length: Annotated[
        bool, typer.Option("--by-length", help="Also by the length of the sessions: 10-50, 50-500, 500+ calls.")
    ] = False,
    workers: Annotated[int, typer.Option(help="Number of local processes.", min=1)] = 2,
    executor: Annotated[
        str, typer.Option(help="Who does the work: processes, or dask://HOST:PORT of a Dask cluster's scheduler.")
    ] = PROCESSES,
    wide: Annotated[bool, typer.Option("--wide", help="All columns: 200 characters, not 100.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print tables in Markdown.")] = False,
) -> None:
    """Compare strategies and baselines on recorded sessions. One table for each window."""
    try:
        names = tuple(dict.fromkeys(strategy_names([strategy]) or ()))
        settings = load_config(config, output_reservation=0, strategy=names)
        named(settings.strategy, Plugins.discover(), settings.strategies)
        windows = _windows(window)
        check_executor(executor)
        files = given(session or _asked())
    except ConfigError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(code=2) from error
    for _, text in files.failures:
        typer.echo(f"error: {text}", err=True)
    if not files.files:
        raise typer.Exit(code=2)
    try:
        comparison = _compared(files.files, settings, windows, sized=sized, workers=workers, executor=executor)
    except (ConfigError, ExecutorError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(code=2 if isinstance(error, ConfigError) else 1) from error
    nothing = not any(window.sessions for window in comparison.tables)
    if as_json or (as_markdown and not nothing):
        typer.echo(_document(comparison, as_json=as_json, by_length=by_length))
    elif not nothing:
        _show(comparison, by_length=by_length, wide=wide)
    _print_troubles(comparison, sized=sized)
    raise typer.Exit(code=1 if nothing or comparison.failures or files.failures else 0)


# -- arguments -----------------------------------------------------------------------------------------------


def _windows(text: str) -> tuple[int, ...]:
    try:
        windows = tuple(int(part) for part in text.split(","))
    except ValueError:
        windows = ()
    if not windows or min(windows) < LEAST_WINDOW or max(windows) > MOST_WINDOW:
        raise ConfigError(
            f"--window {text!r}: expected numbers of tokens from {LEAST_WINDOW} to {MOST_WINDOW:,}, as 32000, with"
            " commas between them"
        )
    return tuple(dict.fromkeys(windows))


def _asked() -> list[Path]:
    """Ask which of the user's own sessions to compare, on stderr. Raises ConfigError without a terminal."""
    if not sys.stdin.isatty():
        raise ConfigError(
            "no session named, and stdin is not a terminal to ask at: pass files or directories of sessions"
        )
    found = own_sessions(Path.home(), os.environ)
    offered = found[:_LISTED]
    Console(stderr=True).print(_offer(offered))
    if len(found) > len(offered):
        typer.echo(f"and {len(found) - len(offered):,} older ones: name their files to compare them", err=True)
    numbers = typer.prompt(
        "Which? Numbers, ranges as 2-5, or all", err=True, value_proc=lambda text: _numbers(text, len(offered))
    )
    return [offered[number - 1].path for number in numbers]


def _numbers(text: str, count: int) -> list[int]:
    """Return the numbers in an answer; an unclear one is explained, and asked for again."""
    try:
        return chosen(text, count)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from error


def _offer(sessions: Sequence[OwnSession]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", justify="right")
    for name in ("last written", "agent", "project"):
        table.add_column(name, overflow="fold")
    table.add_column("size", justify="right")
    for number, session in enumerate(sessions, 1):
        written = session.written.strftime("%Y-%m-%d %H:%M")
        table.add_row(
            str(number), written, session.agent, Text(plain(session.project)), f"{session.bytes / 1000:,.0f} kB"
        )
    return table


# -- execution -------------------------------------------------------------------------------------


def _compared(
    files: Sequence[Path], settings: GCConfig, windows: Sequence[int], *, sized: bool, workers: int, executor: str
) -> Comparison:
    """
    Return the comparison; repairs in sessions are reported by ``ctxgc replay``, here they would be
    for every strategy.
    """
    logging.getLogger("gc_core").setLevel(logging.ERROR)
    with progress_bar() as progress:
        bar = progress.add_task("replays", total=None)
        return compared(
            files,
            config=settings,
            strategies=settings.strategy,
            windows=windows,
            sized=sized,
            workers=workers,
            executor=executor,
            on_done=lambda done, all_: progress.update(bar, completed=done, total=all_),
        )


def _document(comparison: Comparison, *, as_json: bool, by_length: bool) -> str:
    made = Made(date=dt.datetime.now(tz=dt.UTC).date().isoformat(), versions=tuple(_versions()))
    if as_json:
        return comparison_document(comparison, made)
    return comparison_markdown(comparison, made, by_length=by_length)


def _show(comparison: Comparison, *, by_length: bool, wide: bool) -> None:
    console = stdout()
    if len(comparison.tables) > 1:
        console.print(means_table(comparison, wide=wide), "")
    for window in filter(attrgetter("sessions"), comparison.tables):
        for table in comparison_tables(window, by_length=by_length, wide=wide):
            console.print(table, "")


def _print_troubles(comparison: Comparison, *, sized: bool) -> None:
    for warning in comparison.warnings:
        typer.echo(f"warning: {warning}", err=True)
    for failure in comparison.failures:
        typer.echo(f"error: {failure}", err=True)
    for window in comparison.tables:
        if not window.sessions:
            typer.echo(f"error: no session was measured at {window.window:,} tokens{_sized(sized)}", err=True)


def _sized(sized: bool) -> str:
    return ": none is longer than that, at most four times as long, of at most 500 calls" if sized else ""


def _versions() -> Iterator[str]:
    """Yield the versions of everything that the figures depend on."""
    plugins = {entry.dist.name for entry in importlib.metadata.entry_points(group=PROJECT) if entry.dist is not None}
    for name in ("gc-core", *sorted(plugins), "tiktoken"):
        yield f"{name} {importlib.metadata.version(name)}"
    yield f"Python {platform.python_version()}"
