"""Where gc-core keeps what belongs to agents, and what is long. Imports the standard library alone, for hooks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

CLAUDE_CODE: Final = "claude-code"
CODEX: Final = "codex"

LONGEST: Final = 16_000
"""Characters up to which a result stays as it is when it arrives."""


def state_home(environ: Mapping[str, str]) -> Path:
    """Return the directory of the user's state (XDG Base Directory Specification)."""
    return Path(environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")


def lanes_of(environ: Mapping[str, str]) -> Path:
    """Return the directory of a gateway's lanes, as the gateway itself finds it without options."""
    return Path(environ.get("GC_GATEWAY_DIRECTORY") or state_home(environ) / "gc-gateway" / "lanes")


def followed_of(environ: Mapping[str, str]) -> Path:
    """Return the directory of the sessions that are made of agents' own logs."""
    return Path(environ.get("GC_AGENTS_DIRECTORY") or state_home(environ) / "gc-agents")


def codex_of(environ: Mapping[str, str]) -> Path:
    """Return Codex's own directory."""
    return Path(environ.get("CODEX_HOME") or Path.home() / ".codex")
