"""
Finds the sessions that Claude Code and Codex have recorded on this machine.

Where they lie (November 2026): Claude Code writes ``projects/PROJECT/SESSION.jsonl`` in ``~/.claude`` or
``$CLAUDE_CONFIG_DIR``, those of its subagents next to them as ``agent-*.jsonl``; Codex writes
``sessions/YYYY/MM/DD/rollout-*.jsonl`` in ``~/.codex`` or ``$CODEX_HOME``.
"""

from __future__ import annotations

import datetime as dt
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs

from gc_core.errors import ConfigError
from gc_core.values.json_values import read_object

CLAUDE_CODE, CODEX = "Claude Code", "Codex"

_HEAD_LINES = 20
"""The lines at the head of a file that are searched for the project."""

_CHOICE = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")


@attrs.frozen(kw_only=True)
class OwnSession:
    """
    A session recorded by an agent.

    Attributes:
        path: Its file.
        agent: The agent.
        project: The directory that the agent worked in; if the file does not say, that of the file.
        written: When the file was last written, in the local time zone.
        bytes: Its size.

    """

    path: Path
    agent: str
    project: str
    written: dt.datetime
    bytes: int


def own_sessions(home: Path, environment: Mapping[str, str]) -> list[OwnSession]:
    """
    Return the sessions of this user, newest first; without those of subagents, which are parts of others, and without
    what cannot be read.

    Raises ConfigError if there are none, naming the places that were searched.
    """
    claude = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    codex = Path(environment.get("CODEX_HOME") or home / ".codex") / "sessions"
    files = [
        *((path, CLAUDE_CODE) for path in claude.glob("*/*.jsonl") if not path.name.startswith("agent-")),
        *((path, CODEX) for path in codex.glob("[0-9]*/[0-9]*/[0-9]*/rollout-*.jsonl")),
    ]
    found = [_session(path, agent) for path, agent in files if path.is_file() and os.access(path, os.R_OK)]
    if not found:
        raise ConfigError(f"no session of Claude Code in {claude} and none of Codex in {codex}; name files to compare")
    return sorted(found, key=lambda session: (session.written, session.path), reverse=True)


def chosen(text: str, count: int) -> list[int]:
    """
    Return the numbers that a text names, from 1 to ``count``: ``3``, ``1,4-6``, ``all``; each once, in ascending order.

    Raises ConfigError for anything else.
    """
    if text.strip().lower() == "all":
        return list(range(1, count + 1))
    numbers: set[int] = set()
    for part in filter(None, re.split(r"[,\s]+", re.sub(r"\s{0,9}-\s{0,9}", "-", text))):
        found = _CHOICE.fullmatch(part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= count:
            raise ConfigError(f"{part!r}: expected numbers from 1 to {count}, ranges as 1-{count}, or 'all'")
        numbers.update(range(first, last + 1))
    if not numbers:
        raise ConfigError(f"nothing chosen: expected numbers from 1 to {count}, ranges as 1-{count}, or 'all'")
    return sorted(numbers)


def _session(path: Path, agent: str) -> OwnSession:
    status = path.stat()
    return OwnSession(
        path=path,
        agent=agent,
        project=next(_directories(path), path.parent.name),
        written=dt.datetime.fromtimestamp(status.st_mtime, tz=dt.UTC).astimezone(),
        bytes=status.st_size,
    )


def _directories(path: Path) -> Iterator[str]:
    """Yield the working directories that the head of a file names."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for value in _objects(itertools.islice(file, _HEAD_LINES)):
            payload = value.get("payload")
            for place in (value, payload if isinstance(payload, Mapping) else {}):
                directory = place.get("cwd")
                if isinstance(directory, str):
                    yield directory


def _objects(lines: Iterable[str]) -> Iterator[Mapping[str, object]]:
    for line in lines:
        value = read_object(line)
        if value is not None:
            yield value
