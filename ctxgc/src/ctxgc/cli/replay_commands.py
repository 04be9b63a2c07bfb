"""The command ``ctxgc replay``."""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import attrs
import typer
from rich.progress import Progress

from ctxgc.cli.cache_commands import show_prices
from ctxgc.cli.console import by_default, given, progress_bar, say, stdout, strategy_names
from ctxgc.cli.tables import (
    FileFailure,
    chart,
    document_text,
    headline,
    sessions_table,
    summary_table,
    troubles,
)
from ctxgc.evaluation.priced_replay import PricedReplay, price
from ctxgc.evaluation.replay import replay as replayed
from ctxgc.evaluation.replay_report import ReplayReport, pooled
from ctxgc.evaluation.transcripts import Transcript, read_transcript
from gc_core.errors import ConfigError, GCError, TranscriptError
from gc_core.plugins.manager import Plugins, named
from gc_core.providers import PROVIDERS, format_named
from gc_core.providers.model_families import family
from gc_core.session.config_loading import load_config
from gc_core.values.config import GCConfig
from gc_core.values.json_values import read_json

_LOGGER = logging.getLogger("gc_core")


def replay_sessions(
    *,
    session: Annotated[list[Path], typer.Argument(help="Recorded sessions: files, or directories of them.")],
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="How to collect, by name; several, with commas between them, are asked in this order. "
            + by_default("strategy")
        ),
    ] = None,
    window: Annotated[
        int | None, typer.Option(help=f"Tokens that a request may have. {by_default('context_limit')}", min=1)
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help=f"Usage in percent at which a collection begins. {by_default('threshold_percent')}"),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(help=f"Usage in percent that a collection goes down to. {by_default('target_percent')}"),
    ] = None,
    pressure: Annotated[
        float | None,
        typer.Option(
            help="Usage in percent at which content that is kept as long as possible (PRESERVABLE) may go too; 0:"
            f" collect at every call. {by_default('pressure_percent')}"
        ),
    ] = None,
    option: Annotated[list[str] | None, typer.Option(help="An option of the strategy, as NAME=VALUE.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file with a [gc] table.")] = None,
    format: Annotated[  # noqa: A002 - the option's name
        str | None,
        typer.Option(help=f"Read the messages in this format, whatever they look like: {', '.join(PROVIDERS)}."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="The model whose tokens are counted, and whose cache and prices are simulated.")
    ] = None,
    repeat: Annotated[
        bool, typer.Option(help="Try a second collection after each one; it should find nothing.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
    show_chart: Annotated[
        bool | None, typer.Option("--chart/--no-chart", help="Draw the window's fill; by default of a single session.")
    ] = None,
) -> None:
    """Replay recorded sessions and measure a strategy. Every assistant message is a model call."""
    values = {"context_limit": window, "threshold_percent": threshold, "target_percent": target,
              "pressure_percent": pressure, "strategy": strategy_names(strategy)}  # fmt: skip
    plugins = Plugins.discover()
    try:
        chosen = _config(config, values, option or [])
        named(chosen.strategy, plugins, chosen.strategies)
        if format is not None:
            format_named(format)
    except ConfigError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(code=2) from error
    replayer = _Replayer(config=chosen, plugins=plugins, format=format, model=model, repeat=repeat)
    reports = replayer.all(session)
    if as_json:
        failures, prices = replayer.failures, replayer.prices
        typer.echo(
            document_text(
                reports, failures, config=chosen, version=importlib.metadata.version("gc-core"), prices=prices
            )
        )
    elif reports:
        _show(reports, chosen, charted=len(reports) == 1 if show_chart is None else show_chart)
        show_prices(replayer.prices)
    raise typer.Exit(code=1 if replayer.failures else 0)


# -- replaying files -------------------------------------------------------------------------------------------------


@attrs.define(kw_only=True)
class _Replayer:
    """Replays files in turn, with a progress bar on stderr; one that fails does not stop the others."""

    config: GCConfig
    plugins: Plugins
    format: str | None
    model: str | None
    repeat: bool
    failures: list[FileFailure] = attrs.Factory(list)
    prices: list[PricedReplay] = attrs.Factory(list)
    is_warned: bool = False

    def all(self, paths: Sequence[Path]) -> list[ReplayReport]:
        """Return the reports of the files that could be replayed, in order."""
        reports = []
        with progress_bar() as progress:
            files = given(paths)
            for directory, text in files.failures:
                self._fail(directory, TranscriptError(text))
            for path in files.files:
                try:
                    reports.append(self._one(path, progress))
                except GCError as error:
                    self._fail(path, error)
        return reports

    def _one(self, path: Path, progress: Progress) -> ReplayReport:
        transcript = self._read(path)
        self._warn_of_model(transcript.format)
        bar = progress.add_task(path.name, total=None)
        try:
            with _logged(path.name):
                report = replayed(
                    transcript,
                    config=self.config,
                    model=self.model,
                    plugins=self.plugins,
                    check_repeat=self.repeat,
                    on_call=lambda done, calls: progress.update(bar, completed=done, total=calls),
                )
                if self.model is not None:
                    priced = price(transcript, model=self.model, config=self.config, plugins=self.plugins)
                    self.prices.append(priced)
                return report
        finally:
            progress.remove_task(bar)

    def _read(self, path: Path) -> Transcript:
        transcript = read_transcript(path)
        for warning in transcript.warnings:
            typer.echo(f"warning: {warning}", err=True)
        return transcript if self.format is None else attrs.evolve(transcript, format=self.format)

    def _warn_of_model(self, format: str) -> None:  # noqa: A002 - the word users know it by
        """Say once that the model's tokens are only estimated, because nothing is known of it."""
        known = family(self.model, format)
        if self.model is not None and known.name == "unknown" and not self.is_warned:
            self.is_warned = True
            estimate = f"its tokens are estimated at {known.factor:g} for one of {known.encoding}"
            typer.echo(f"warning: model {self.model!r} is not listed: {estimate}", err=True)

    def _fail(self, path: Path, error: GCError) -> None:
        text = str(error) if str(path) in str(error) else f"{path}: {error}"
        self.failures.append(FileFailure(file=str(path), error=text))
        typer.echo(f"error: {text}", err=True)


# -- arguments -----------------------------------------------------------------------------------------------


def _config(path: Path | None, values: dict[str, Any], options: Sequence[str]) -> GCConfig:
    """Return the configuration; nothing is reserved for replies, so that a small window is possible."""
    given = {name: value for name, value in values.items() if value is not None}
    config = load_config(path, output_reservation=0, **given)
    if not options:
        return config
    if len(config.strategy) > 1:
        raise ConfigError(f"--option {options[0]}: there are several strategies; set their options in a --config file")
    (name,) = config.strategy
    merged = {**config.strategies.get(name, {}), **dict(map(_option, options))}
    return attrs.evolve(config, strategies={**config.strategies, name: merged})


def _option(text: str) -> tuple[str, Any]:
    """Return a strategy's option; its value is parsed as JSON if possible, otherwise it is text."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ConfigError(f"--option {text!r}: expected NAME=VALUE")
    try:
        return name, read_json(value)
    except ValueError:
        return name, value


# -- output ---------------------------------------------------------------------------------------------------


def _show(reports: Sequence[ReplayReport], config: GCConfig, *, charted: bool) -> None:
    console = stdout()
    whole = pooled(reports)
    say(console, [headline(whole, config.usable), ""])
    console.print(summary_table(whole) if len(reports) == 1 else sessions_table(reports))
    for report in reports:
        if charted:
            drawn = chart(report, config, encoding=console.encoding)
            say(console, ["", f"Tokens sent in {report.session}, by call:", drawn])
        say(console, troubles(report))


class _Stderr(logging.Handler):
    """Writes to the current stderr, which a progress bar replaces while it is drawn."""

    def __init__(self, session: str) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(f"{{levelname}}: {session}: {{message}}", style="{"))

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(self.format(record), err=True)


@contextmanager
def _logged(session: str) -> Iterator[None]:
    """Send what gc-core logs meanwhile to stderr, with the name of the session."""
    handler = _Stderr(session)
    _LOGGER.addHandler(handler)
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
