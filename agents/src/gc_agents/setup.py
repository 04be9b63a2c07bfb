"""
What ``ctxgc setup`` writes into the configuration of an agent, and takes out again.

Only entries of gc-core's own are added, changed or removed; every other one stays, in its order. A file that cannot be
read as what it should be is refused, and nothing is written.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from gc_agents.commands import COMMANDS, OURS
from gc_core.errors import ConfigError

SERVER: Final = "gc"
"""The name of the MCP server; it is in the names of its tools."""

HOOK: Final = "command -v gc-hook >/dev/null 2>&1 && exec gc-hook || exit 0"
"""What a hook of Claude Code runs: nothing at all where gc-core is not installed any more."""

CODEX_HOOK: Final = HOOK.replace("exec gc-hook", "exec gc-hook codex")

EVENTS: Final = ("PostToolUse", "PreCompact", "SessionStart")

CODEX_EVENTS: Final = ("SessionStart",)
"""What Codex's other hooks may do is of no use here; agents/codex/README.md says why."""

_BEGIN, _END = "# >>> gc-core", "# <<< gc-core"
_BLOCK = re.compile(rf"^{_BEGIN}$.*?^{_END}$\n?", re.MULTILINE | re.DOTALL)
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_PROGRAM = ["ctxgc", "mcp"]
_WAS_SET = ("env", "GC_GATEWAY_URL")
"""Says that the base URL beside it is gc-core's, and may be removed with it."""


@attrs.frozen(kw_only=True)
class FileEdit:
    """
    A change of a configuration file.

    Attributes:
        path: The file.
        before: Its text; None if there is none.
        after: The text that it should have; None where the file was only gc-core's.

    """

    path: Path
    before: str | None = attrs.field(repr=False)
    after: str | None = attrs.field(repr=False)

    @property
    def changes(self) -> bool:
        """Whether anything is different."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def apply(self) -> Path | None:
        """
        Write the file whole or not at all; return the backup of the old one. Raises ConfigError where it was changed
        meanwhile, or cannot be written.
        """
        path = self.path.resolve()  # of a link its target
        try:
            if _text_of(path) != self.before:
                raise ConfigError(f"{path} was changed meanwhile; nothing was written")
            backup = _backup(path) if self.before is not None else None
            if self.after is None:
                path.unlink()
            else:
                _replace(path, self.after)
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror or error}; nothing was changed") from error
        return backup


def edits_for(
    agent: str, environ: Mapping[str, str], home: Path, *, gateway: str = "", remove: bool = False
) -> tuple[FileEdit, ...]:
    """
    Return the changes of an agent's files.

    Args:
        agent: One of ``AGENTS``.
        environ: The environment's variables: they may say where the files are.
        home: The user's home directory.
        gateway: The base URL of a gateway that the agent should use, or "".
        remove: Take out what was written, instead of writing it.

    Raises:
        ConfigError: An unknown agent, a URL that is none, or a file that cannot be read.

    """
    if agent not in AGENTS:
        raise ConfigError(f"{agent!r} cannot be set up; there are {sorted(AGENTS)}")
    if gateway and not gateway.startswith(("http://", "https://")):
        raise ConfigError(f"gateway = {gateway!r}: expected a base URL such as http://127.0.0.1:8787")
    return AGENTS[agent](environ, home, gateway.rstrip("/"), remove)


# -- the agents --------------------------------------------------------------------------------------------------------


def _claude_code(environ: Mapping[str, str], home: Path, gateway: str, remove: bool) -> tuple[FileEdit, ...]:
    """
    Hooks and the gateway are in the user's settings, commands beside them; servers are in the file where ``claude mcp
    add`` puts them.
    """
    own = environ.get("CLAUDE_CONFIG_DIR")
    settings = Path(own or home / ".claude") / "settings.json"
    state = Path(own) / ".claude.json" if own else home / ".claude.json"
    commands = settings.parent / "commands"

    def with_hooks(held: dict[str, Any]) -> None:
        _without_hooks(held)
        if not remove:
            _add_hooks(held, EVENTS, HOOK, settings)
        if not remove or _get(held, _WAS_SET) is not None:
            _set(held, ("env", "ANTHROPIC_BASE_URL"), gateway, settings, remove=remove)
            _set(held, _WAS_SET, gateway, settings, remove=remove)

    server = {"type": "stdio", "command": _PROGRAM[0], "args": _PROGRAM[1:]}
    return (
        _json_edit(settings, with_hooks),
        _json_edit(state, lambda held: _set(held, ("mcpServers", SERVER), server, state, remove=remove)),
        *(_command_edit(commands / name, "" if remove else text) for name, text in COMMANDS.items()),
    )


def _command_edit(path: Path, text: str) -> FileEdit:
    """Return the edit of a command's file; a command of the user's own with that name stays."""
    before = _text_of(path)
    is_free = before is None or OURS in before
    return FileEdit(path=path, before=before, after=(text or None) if is_free else before)


def _add_hooks(held: dict[str, Any], events: Iterable[str], command: str, path: Path) -> None:
    for event in events:
        hook = {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": 5}]}
        _child(held, "hooks", path).setdefault(event, []).append(hook)


def _without_hooks(held: dict[str, Any]) -> None:
    """Take out hooks that run gc-core's command, and what is empty without them."""
    hooks = held.get("hooks")
    if not isinstance(hooks, dict):
        return
    for event, entries in list(hooks.items()):
        if isinstance(entries, list):
            hooks[event] = [kept for entry in entries if (kept := _of_others(entry)) is not None]
            if not hooks[event] and entries:
                del hooks[event]
    if not hooks:
        del held["hooks"]


def _of_others(entry: Any) -> Any:
    """Return an entry without gc-core's command, and None for one that has no other: users add theirs beside it."""
    if "gc-hook" not in json.dumps(entry):
        return entry
    held = entry.get("hooks") if isinstance(entry, dict) else None
    others = [hook for hook in held if "gc-hook" not in json.dumps(hook)] if isinstance(held, list) else []
    return {**entry, "hooks": others} if others else None


def _codex(environ: Mapping[str, str], home: Path, gateway: str, remove: bool) -> tuple[FileEdit, ...]:
    """
    The server is in ``config.toml``, the gateway in the file of a profile. The hook is apart, because Codex itself
    writes into ``config.toml`` which hooks the user trusts.
    """
    folder = Path(environ.get("CODEX_HOME") or home / ".codex")
    hooks = folder / "hooks.json"

    def with_hooks(held: dict[str, Any]) -> None:
        _without_hooks(held)
        if not remove:
            _add_hooks(held, CODEX_EVENTS, CODEX_HOOK, hooks)

    server = [f"[mcp_servers.{SERVER}]", f'command = "{_PROGRAM[0]}"', f'args = ["{_PROGRAM[1]}"]']
    profile = [
        f'model_provider = "{SERVER}"', f"[model_providers.{SERVER}]", 'name = "gc-gateway"',
        f"base_url = {json.dumps(f'{gateway}/v1')}", 'wire_api = "responses"', "requires_openai_auth = true",
    ]  # fmt: skip
    return (
        _toml_edit(folder / "config.toml", [] if remove else server),
        _toml_edit(folder / f"{SERVER}.config.toml", profile if gateway and not remove else []),
        _json_edit(hooks, with_hooks),
    )


def _opencode(environ: Mapping[str, str], home: Path, gateway: str, remove: bool) -> tuple[FileEdit, ...]:
    """Its calls do not say which session they belong to: the gateway's own server knows the lane."""
    path = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "opencode" / "opencode.json"
    if not gateway and not remove:
        raise ConfigError("opencode is set up with a gateway: --gateway URL, as ctxgc gateway prints it")
    server = {"type": "remote", "url": f"{gateway}/mcp", "enabled": True}
    bases = {"anthropic": f"{gateway}/v1", "openai": f"{gateway}/v1", "google": f"{gateway}/v1beta"}

    def with_server(held: dict[str, Any]) -> None:
        was = held.get("mcp", {}).get(SERVER, {}).get("url", "") if isinstance(held.get("mcp"), dict) else ""
        old = was.removesuffix("/mcp")
        _set(held, ("mcp", SERVER), server, path, remove=remove)
        for provider, base in bases.items():
            place = ("provider", provider, "options", "baseURL")
            if not remove:
                _set(held, place, base, path, remove=False)
            elif old and str(_get(held, place)).startswith(f"{old}/"):
                _set(held, place, "", path, remove=True)

    return (_json_edit(path, with_server),)


AGENTS: Final[Mapping[str, Callable[[Mapping[str, str], Path, str, bool], tuple[FileEdit, ...]]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "opencode": _opencode,
}


# -- TOML --------------------------------------------------------------------------------------------------------------


def _toml_edit(path: Path, lines: Iterable[str]) -> FileEdit:
    """
    Return the edit of a TOML file: a block between two comments at its end, so that the file's own comments and order
    stay; no block for no lines. Raises ConfigError where the file cannot be read, or has such tables already.
    """
    before = _text_of(path)
    bare = _BLOCK.sub("", before or "")
    block = "\n".join([_BEGIN, *lines, _END, ""]) if lines else ""
    after = f"{bare}{'' if not bare or bare.endswith(chr(10)) else chr(10)}{block}" if block else bare
    for text, what in ((before or "", "cannot be read"), (after, "has gc-core's tables already, written by hand")):
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{path} {what}: {error}; nothing was changed") from error
    is_ours = before is None or (not after and bool(before))
    return FileEdit(path=path, before=before, after=None if is_ours and not after else after)


# -- JSON --------------------------------------------------------------------------------------------------------------


def _json_edit(path: Path, change: Callable[[dict[str, Any]], None]) -> FileEdit:
    """Return the edit of a JSON file. Raises ConfigError where it holds no JSON object, or comments."""
    before = _text_of(path)
    try:
        held = json.loads(before or "{}")
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON without comments: {error}; nothing was changed") from error
    if not isinstance(held, dict):
        raise ConfigError(f"{path} is not a JSON object; nothing was changed")
    change(held)
    if held == json.loads(before or "{}"):
        return FileEdit(path=path, before=before, after=before)
    indent = _INDENT.search(before or "")
    text = json.dumps(held, ensure_ascii=False, indent=indent.group(1) if indent else 2)
    ends = "\n" if before is None or before.endswith("\n") else ""
    return FileEdit(path=path, before=before, after=None if not held and before is None else f"{text}{ends}")


def _child(held: dict[str, Any], name: str, path: Path) -> dict[str, Any]:
    child = held.setdefault(name, {})
    if not isinstance(child, dict):
        raise ConfigError(f"{path}: {name} is not an object; nothing was changed")
    return child


def _get(held: object, keys: tuple[str, ...]) -> object:
    for key in keys:
        held = held.get(key) if isinstance(held, dict) else None
    return held


def _set(held: dict[str, Any], keys: tuple[str, ...], value: object, path: Path, *, remove: bool) -> None:
    """Set a value, or remove it with what is empty without it; an empty value changes nothing."""
    *outer, last = keys
    if remove:
        if _get(held, keys) is None:
            return
        parents = [held]
        for name in outer:
            parents.append(parents[-1][name])
        del parents[-1][last]
        for parent, name in zip(reversed(parents[:-1]), reversed(outer), strict=True):
            if not parent[name]:
                del parent[name]
        return
    if value:
        for name in outer:
            held = _child(held, name, path)
        held[last] = value


# -- files -------------------------------------------------------------------------------------------------------------


def _text_of(path: Path) -> str | None:
    """Return the text of a file; None if there is none. Raises ConfigError for one that cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _backup(path: Path) -> Path:
    """Copy a file beside itself, under a name of its own. Raises OSError."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number, backup = 0, path.with_name(f"{path.name}.before-gc.{stamp}")
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.before-gc.{stamp}.{number}")
    mode = path.stat().st_mode & 0o777
    with open(os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:  # noqa: PTH123 - the mode
        file.write(path.read_bytes())
    return backup


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:  # noqa: PTH123 - the mode
            file.write(text)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
