"""The doctor's check of the coding agents that gc-core was set up in."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from ctxgc.doctor.checks import Diagnosis, Level, Patient
from gc_core.errors import ConfigError

_NAMES = {"claude-code": "Claude Code", "codex": "Codex", "opencode": "opencode"}
_COMMANDS = {"claude-code": ("gc-hook", "ctxgc"), "codex": ("gc-hook", "ctxgc"), "opencode": ()}
_LATEST = 3


def check_agents(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether agents that were set up find gc-core's commands, and what their hooks met; nothing for others."""
    if importlib.util.find_spec("gc_agents") is None:
        return
    home = Path(patient.environ.get("HOME") or Path.home())
    for agent, name in _NAMES.items():
        if _is_set_up(agent, patient.environ, home):
            yield _of_commands(name, _COMMANDS[agent], patient.environ)
    yield from _of_failures(patient.environ)


def _is_set_up(agent: str, environ: Mapping[str, str], home: Path) -> bool:
    from gc_agents.setup import edits_for

    try:
        return any(edit.changes for edit in edits_for(agent, environ, home, remove=True))
    except ConfigError:
        return False  # the agent itself says what is wrong with its file


def _of_commands(name: str, commands: tuple[str, ...], environ: Mapping[str, str]) -> Diagnosis:
    path = environ.get("PATH", "")
    missing = [command for command in commands if shutil.which(command, path=path) is None]
    if missing:
        text = f"{name} was set up, but finds no {' and no '.join(missing)} in its path: it goes on as if without"
        remedy = 'pip install "gc-agents[mcp]" where the agent finds it, or ctxgc setup with --remove'
        return Diagnosis(level=Level.ERROR, subject="agents", text=text, remedy=remedy)
    what = "gc-core's hooks and server" if "gc-hook" in commands else "gc-core's server"
    return Diagnosis(level=Level.OK, subject="agents", text=f"{name} has {what}")


def _of_failures(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    from gc_agents.failure_log import FAILURES
    from gc_agents.places import followed_of

    log = followed_of(environ) / FAILURES
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    if lines:
        text = f"inside agents gc-core did nothing {len(lines)} times, the last ones: {'; '.join(lines[-_LATEST:])}"
        remedy = f"mend what the text names, and delete {log}"
        yield Diagnosis(level=Level.WARNING, subject="agents", text=text, remedy=remedy)
