"""The commands ``ctxgc mcp`` and ``ctxgc setup``, of the distribution gc-agents."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from pathlib import Path
from typing import Annotated

import typer

from ctxgc.cli.session_output import check_directory, errors_on_stderr, write
from gc_core.errors import ConfigError


def mcp(
    *,
    session: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The only session that is shown; by default the agent's own.")
    ] = None,
    lanes: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The directory of the gateway that the agent is behind.")
    ] = None,
    http: Annotated[
        int | None, typer.Option(metavar="PORT", help="Serve at this port of 127.0.0.1 instead of stdio.", min=1)
    ] = None,
) -> None:
    """Serve a session's tools to an agent over MCP. It recalls what left its window, searches, pins and undoes."""
    with errors_on_stderr():
        if importlib.util.find_spec("gc_agents") is None or importlib.util.find_spec("mcp") is None:
            raise ConfigError('the MCP server is a distribution of its own: pip install "gc-agents[mcp]"')
        _check_places(session, lanes)
        from gc_agents.agent_sessions import AgentSessions, Places
        from gc_agents.desk import Desk
        from gc_agents.places import codex_of, followed_of, lanes_of
        from gc_agents.server import server_of

        environ = os.environ
        places = Places(
            session=session, lanes=lanes or lanes_of(environ), followed=followed_of(environ), codex=codex_of(environ)
        )
        with contextlib.closing(AgentSessions(places, environ)) as sessions:
            server = server_of(Desk(sessions))
            sessions.follow()
            if http is None:
                server.run()
            else:
                server.run("streamable-http", port=http)


def _check_places(session: Path | None, lanes: Path | None) -> None:
    """Raise for directories that cannot be meant: an agent's client would not show why its tools find nothing."""
    if session is not None and lanes is not None:
        raise ConfigError("--session and --lanes: expected one of them; a session is shown alone, or found by its lane")
    if session is not None:
        check_directory(session)
    if lanes is not None and not lanes.is_dir():
        raise ConfigError(f"--lanes {lanes}: expected the directory of a gateway")


def setup(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="claude-code, codex or opencode.")],
    *,
    gateway: Annotated[
        str, typer.Option(metavar="URL", help="The gateway to use, as ctxgc gateway prints its base URL.")
    ] = "",
    show: Annotated[bool, typer.Option("--show", help="Print what would be changed, and write nothing.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take out what was written.")] = False,
) -> None:
    """Write gc-core into an agent's configuration. Its hooks and the MCP server, with a backup and a diff."""
    with errors_on_stderr():
        if importlib.util.find_spec("gc_agents") is None:
            raise ConfigError('setting up agents is a distribution of its own: pip install "gc-agents[mcp]"')
        from gc_agents.setup import edits_for

        edits = edits_for(agent, os.environ, Path.home(), gateway=gateway, remove=remove)
        changing = [edit for edit in edits if edit.changes]
        for edit in changing:
            write(edit.diff())
            if not show:
                backup = edit.apply()
                typer.echo(f"wrote {edit.path}" + (f"; backup: {backup}" if backup else ""), err=True)
    if not changing:
        typer.echo("nothing to change", err=True)
