"""The output of the command line, and its input files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from gc_core.values.config import GCConfig
from gc_core.values.references import LOG_NAME

_DEFAULTS = GCConfig()

WIDTH = 200
"""Columns of a table if stdout is not a terminal, so that no figure is cut off."""


@attrs.frozen(kw_only=True)
class Given:
    """
    The input files of a command.

    Attributes:
        files: The named files, and for directories: the log of a session's own, otherwise files with a message per
            line, or the JSON documents.
        failures: Directories without any, and paths that cannot be read, with the reason.

    """

    files: tuple[Path, ...]
    failures: tuple[tuple[Path, str], ...]


def given(paths: Iterable[Path]) -> Given:
    """Return the named files, and those of named directories."""
    files: list[Path] = []
    failures: list[tuple[Path, str]] = []
    for path in paths:
        try:
            found = _recorded(path) if path.is_dir() else [path]
        except OSError as error:
            failures.append((path, f"{path}: {error.strerror or error}, expected recorded sessions"))
            continue
        files += found
        if not found:
            failures.append((path, f"{path}: no *.jsonl and no *.json in it, expected recorded sessions"))
    return Given(files=tuple(files), failures=tuple(failures))


def _recorded(directory: Path) -> list[Path]:
    """Return the files of a directory that may be recorded sessions; for a session's own directory, only its log."""
    log = directory / LOG_NAME
    found = [log] if log.is_file() else sorted(directory.glob("*.jsonl")) or sorted(directory.glob("*.json"))
    return [path for path in found if path.is_file()]


def strategy_names(options: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the strategies that ``--strategy`` names, separated by commas or given several times; None without any."""
    return tuple(name for option in options for name in option.split(",")) if options else None


def by_default(key: str) -> str:
    """Return the end of an option's help: the value of the configuration that holds without it."""
    value = getattr(_DEFAULTS, key)
    return f"Default: {', '.join(value) if isinstance(value, tuple) else format(value, ',g')}."


def stdout() -> Console:
    """Return the console for tables; as wide as the terminal, or wide enough."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def say(console: Console, lines: Sequence[str]) -> None:
    """Print plain lines: texts from files contain no markup, and are not wrapped."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def plain(text: str) -> str:
    """Return the text on one line, without terminal control characters: texts come from files."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split()))


def progress_bar() -> Progress:
    """Return a progress bar on stderr, if that is a terminal."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
