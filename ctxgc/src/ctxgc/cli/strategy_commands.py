"""The commands ``ctxgc strategies`` and ``ctxgc new-strategy``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ctxgc.cli.console import stdout
from ctxgc.cli.scaffold import new_package
from ctxgc.cli.tables import failure_lines, strategies_table
from gc_core.errors import ConfigError
from gc_core.plugins.manager import Plugins


def list_strategies() -> None:
    """List the installed strategies with their options. Then the plugins that failed to load."""
    plugins = Plugins.discover()
    stdout().print(strategies_table(plugins.strategies()))
    for line in failure_lines(plugins.failures):
        typer.echo(line)


def new_strategy(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call the strategy: oldest-first, say.")],
    *,
    directory: Annotated[Path, typer.Option(help="Where the package's own directory gc_NAME is made.")] = Path(),
) -> None:
    """Write a package with a strategy to start from. It can be installed, and its tests pass as they are."""
    try:
        package = new_package(name, directory, Plugins.discover().strategies())
    except ConfigError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(code=2) from error
    lines = ("written:", *(f"  {path}" for path, _ in package.files()), "", "next:")
    typer.echo("\n".join((*lines, *(f"  {command}" for command in package.next_commands))))
