"""The command ``ctxgc report``: a session as one page."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import attrs
import typer

from ctxgc.cli.console import by_default, strategy_names
from ctxgc.cli.session_output import session_of
from ctxgc.evaluation.transcripts import read_transcript
from ctxgc.report.page import page
from ctxgc.report.reading import read
from ctxgc.report.recording import replay_into
from ctxgc.report.values import Report
from gc_core.errors import ConfigError, GCError, LogError
from gc_core.session.config_loading import load_config
from gc_core.storage.master_log import FILE_NAME
from gc_core.values.config import GCConfig

_PRIVATE = 0o600

_PAGE_BEGINS = b"<!doctype html"


def report(
    session: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|LANE",
            help="A session's directory, a lane of the gateway, or a recorded session to replay.",
            callback=session_of,
        ),
    ],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Of a recorded session: how to collect; several are asked in this order. {by_default('strategy')}"
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(
            help=f"Of a recorded session: tokens that a request may have. {by_default('context_limit')}", min=1
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="For a recorded session: the model whose tokens and prices are used.")
    ] = None,
) -> None:
    """Write a session as one HTML page. Its window over time, what was collected and why, what it cost."""
    try:
        _check_output(output)
        found = _reported(session, _Given(strategy=strategy_names(strategy) or (), window=window, model=model))
        written = page(found)
        _write(output, written)
    except ConfigError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(code=2) from error
    except (GCError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(code=1) from error
    summary = f"{len(found.calls):,} calls, {len(found.collections):,} collections, {len(written) / 1e6:.1f} MB"
    typer.echo(f"{output}: {summary}")


@attrs.frozen(kw_only=True)
class _Given:
    """How a recorded session is to be replayed."""

    strategy: tuple[str, ...] = ()
    window: int | None = None
    model: str | None = None

    def options(self) -> Iterator[str]:
        """Return the options that were given, as they were written."""
        values = {"--strategy": self.strategy, "--window": self.window, "--model": self.model}
        return (name for name, value in values.items() if value)

    def config(self) -> GCConfig:
        """Return the configuration. Raises ConfigError."""
        values: dict[str, Any] = {"strategy": self.strategy, "context_limit": self.window}
        return load_config(output_reservation=0, **{name: value for name, value in values.items() if value})


def _reported(path: Path, given: _Given) -> Report:
    directory = path.parent if path.name == FILE_NAME else path
    if (directory / FILE_NAME).is_file():
        named = ", ".join(given.options())
        if named:
            raise ConfigError(f"{named}: {directory} is a session that has collected already, nothing is replayed")
        return read(directory)
    if path.is_dir():
        raise LogError(_no_session(path))
    if not path.exists():
        raise LogError(f"{path} does not exist, expected a session's directory or a recorded session")
    with _replayed(path, given) as made:
        return read(made, name=path.name)


def _no_session(path: Path) -> str:
    recorded = next(iter(sorted(path.glob("*.jsonl")) or sorted(path.glob("*.json"))), None)
    text = f"{path} holds no session: there is no {FILE_NAME}"
    return text if recorded is None else f"{text}; to replay a recorded one name its file, as in {recorded}"


@contextlib.contextmanager
def _replayed(path: Path, given: _Given) -> Iterator[Path]:
    config = given.config()
    transcript = read_transcript(path)
    for warning in transcript.warnings:
        typer.echo(f"warning: {warning}", err=True)
    with tempfile.TemporaryDirectory(prefix="gc-core-") as made:
        over = replay_into(Path(made), transcript, config=config, model=given.model)
        if over:
            typer.echo(f"warning: {over:,} calls did not fit the window of {config.usable:,} tokens", err=True)
        yield Path(made)


def _write(path: Path, data: bytes) -> None:
    """Write all or nothing, readable for its owner only: it contains everything in the session's files."""
    path = Path(os.path.realpath(path))  # the page is written to a link's target
    partial = path.with_name(f"{path.name}.part")
    with contextlib.ExitStack() as undo:
        try:
            partial.unlink(missing_ok=True)  # left by a killed run; it may be readable for others
            with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "wb") as file:  # noqa: PTH123
                undo.callback(partial.unlink, missing_ok=True)
                file.write(data)
            partial.replace(path)
        except OSError as error:
            raise LogError(f"{path} cannot be written: {error}") from error


def _check_output(path: Path) -> None:
    """Refuse to overwrite anything but a report page: a typo could cost the session itself."""
    if not os.path.lexists(path):
        return
    if not path.is_file():
        raise ConfigError(f"--output {path}: it exists and is not a file; expected the name of a page")
    with path.open("rb") as file:
        begins = file.read(len(_PAGE_BEGINS)).lower()
    if begins not in {_PAGE_BEGINS, b""}:
        raise ConfigError(f"--output {path}: the file exists and is not a gc-core report; refusing to overwrite it")
