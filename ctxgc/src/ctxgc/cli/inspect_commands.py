"""The commands ``ctxgc inspect`` and ``ctxgc doctor``: a session's budget panel, and the state of the installation."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from pathlib import Path
from typing import Annotated

import attrs
import cattrs
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ctxgc.cli.console import plain
from ctxgc.cli.session_output import session_of
from ctxgc.doctor import diagnose
from ctxgc.doctor.checks import Diagnosis, Level
from ctxgc.inspector.follower import Follower
from ctxgc.inspector.panel import Panel
from ctxgc.inspector.printing import print_panel
from gc_core.errors import GCError, LogError

_WIDTH = 100
"""Columns if stdout is not a terminal."""

_STYLES = {Level.OK: "green", Level.NOTE: "cyan", Level.WARNING: "yellow", Level.ERROR: "bold red"}


@attrs.frozen(kw_only=True)
class DoctorDocument:
    """
    The output of ``ctxgc doctor --json``.

    Attributes:
        version: The version of gc-core.
        healthy: No finding is an error.
        findings: All findings.

    """

    version: str
    healthy: bool
    findings: tuple[Diagnosis, ...]


def inspect(
    session: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|LANE", help="A session's directory, or a lane of the gateway.", callback=session_of
        ),
    ],
    *,
    once: Annotated[bool, typer.Option("--once", help="Print the panel once, as text, as into a pipe.")] = False,
) -> None:
    """Show a session's budget panel, live. What occupies the window, and what was collected."""
    follower = Follower(session)
    try:
        panel = follower.poll()
    except (GCError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(code=1) from error
    finally:
        follower.close()
    if once or not sys.stdout.isatty():
        _print(panel)
        return
    if importlib.util.find_spec("textual") is None:
        typer.echo('ctxgc inspect needs textual: pip install "ctxgc[inspect]"; --once does without', err=True)
        raise typer.Exit(code=2)
    from ctxgc.inspector.app import InspectorApp

    InspectorApp(session).run()


def doctor(
    session: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="A session's directory, to look at its files too.")
    ] = None,
    *,
    config: Annotated[Path | None, typer.Option(help="A TOML file with a [gc] table.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Check the installation, configuration and a session. Says what to do. Exits with 1 after an error."""
    findings = diagnose(session, config=config)
    healthy = not any(each.level is Level.ERROR for each in findings)
    if as_json:
        version = importlib.metadata.version("gc-core")
        document = DoctorDocument(version=version, healthy=healthy, findings=findings)
        typer.echo(json.dumps(cattrs.unstructure(document)))
    else:
        _console().print(_findings_table(findings))
    raise typer.Exit(code=0 if healthy else 1)


def _findings_table(findings: tuple[Diagnosis, ...]) -> Table:
    """Return a line for each finding, with its remedy below it if there is one."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for each in findings:
        said = plain(each.text)
        text = Text(said) if not each.remedy else Text.assemble(said, "\n", ("-> " + plain(each.remedy), "italic"))
        table.add_row(Text(each.level.value, style=_STYLES[each.level]), each.subject, text)
    return table


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)


def _print(panel: Panel | None) -> None:
    if panel is None:
        raise LogError("the session could not be read")
    print_panel(panel, _console())
