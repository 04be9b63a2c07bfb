"""
The command line ``ctxgc``. Results go to stdout, everything else to stderr.

A command's module is imported when the command is called: listing the commands imports none of them.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
from typing import Annotated, Any, Final

import attrs
import typer
from typer.core import TyperCommand, TyperGroup

_PLAIN: Final[dict[str, Any]] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
"""Without markup: ``[gc]`` in a help text is a table, not a style."""


@attrs.frozen
class _Command:
    """
    A command that is imported when it is called.

    Attributes:
        module: The module of its function.
        function: The function's name.
        summary: The first sentence of its docstring, for the list of commands.
        is_wrapper: Its arguments are another command, whose options are not its own.

    """

    module: str
    function: str
    summary: str
    is_wrapper: bool = False

    def loaded(self, name: str) -> Any:
        """Return the command itself."""
        app = typer.Typer(**_PLAIN)
        settings = {"allow_interspersed_args": not self.is_wrapper}
        function = getattr(importlib.import_module(f"ctxgc.cli.{self.module}"), self.function)
        app.command(name, context_settings=settings)(function)
        return typer.main.get_command(app)


COMMANDS: Final = {
    "strategies": _Command(
        "strategy_commands",
        "list_strategies",
        "List the installed strategies with their options.",
    ),
    "new-strategy": _Command(
        "strategy_commands",
        "new_strategy",
        "Write a package with a strategy to start from.",
    ),
    "replay": _Command(
        "replay_commands",
        "replay_sessions",
        "Replay recorded sessions and measure a strategy.",
    ),
    "recall": _Command(
        "session_commands",
        "recall",
        "Print the original text of items.",
    ),
    "search": _Command(
        "session_commands",
        "search",
        "Search everything that was ever said.",
    ),
    "history": _Command(
        "history_commands",
        "history",
        "Show what was done to the window.",
    ),
    "export": _Command(
        "session_commands",
        "export",
        "Print the current request.",
    ),
    "facts": _Command(
        "session_commands",
        "facts",
        "Show what sessions have stored for later ones.",
    ),
    "propose": _Command(
        "session_commands",
        "propose",
        "Propose facts that users stated in a session.",
    ),
    "undo": _Command(
        "session_commands",
        "undo",
        "Undo the last collections.",
    ),
    "release": _Command("session_commands", "release", "Unpin what undo brought back."),
    "verify": _Command(
        "session_commands",
        "verify",
        "Check that a session's files agree.",
    ),
    "purge": _Command("session_commands", "purge", "Overwrite a secret in a session's files."),
    "adopt": _Command(
        "session_commands",
        "adopt",
        "Make a session from another program's log.",
    ),
    "cache": _Command(
        "cache_commands",
        "cache",
        "List a session's model calls with their cache reads.",
    ),
    "compare": _Command(
        "compare_commands",
        "compare",
        "Compare strategies and baselines on recorded sessions.",
    ),
    "inspect": _Command(
        "inspect_commands",
        "inspect",
        "Show a session's budget panel, live.",
    ),
    "doctor": _Command(
        "inspect_commands",
        "doctor",
        "Check the installation, configuration and a session.",
    ),
    "report": _Command(
        "report_commands",
        "report",
        "Write a session as one HTML page.",
    ),
    "run": _Command(
        "gateway_commands",
        "run",
        "Run an agent behind its own gateway.",
        is_wrapper=True,
    ),
    "gateway": _Command(
        "gateway_commands",
        "gateway",
        "Serve a base URL that keeps requests within windows.",
    ),
    "mcp": _Command(
        "agent_commands",
        "mcp",
        "Serve a session's tools to an agent over MCP.",
    ),
    "setup": _Command(
        "agent_commands",
        "setup",
        "Write gc-core into an agent's configuration.",
    ),
}
"""The commands by name, in the order of ``ctxgc --help``."""


class _Commands(TyperGroup):
    """Loads a command when it is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update(dict[str, Any](COMMANDS))  # Typer suggests one of these names for a misspelt one

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - Typer's signature
        """Return the names, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - Typer's signature
        """Return the command with a name, imported now; None if there is none."""
        command = COMMANDS.get(cmd_name)
        return None if command is None else command.loaded(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - Typer's signature
        """Write the list of commands as Typer does, but from the table, so that none is imported."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        rows = [
            (name, TyperCommand(name, help=command.summary).get_short_help_str(room))
            for name, command in COMMANDS.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    name="ctxgc",
    cls=_Commands,
    help="Garbage collection for the context window of LLM agents.",
    no_args_is_help=True,
    **_PLAIN,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gc-core {importlib.metadata.version('gc-core')}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[  # noqa: ARG001 - its callback has done the work
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Report on stderr what the session does.")] = False,
) -> None:
    logging.getLogger("gc_core").setLevel(logging.INFO if verbose else logging.WARNING)
