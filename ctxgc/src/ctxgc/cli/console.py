"""Where the command line writes, and which files it was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from gc_core.values.references import LOG_NAME

WIDTH = 200
"""Columns of a table where stdout is no terminal, so that no figure is cut off."""


@attrs.frozen(kw_only=True)
class Given:
    """
    The files that a command was given.

    Attributes:
        files: Those named, and of directories: the log of a session's own, else those that hold messages one a line, or
            else the JSON documents.
        failures: Of each directory without any, that it has none; of each path that cannot be looked at, why.

    """

    files: tuple[Path, ...]
    failures: tuple[tuple[Path, str], ...]


def given(paths: Iterable[Path]) -> Given:
    """Return the files that are named, and those of the directories that are."""
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
    """Return the files of a directory that may be recorded sessions; of a session's own directory, its log alone."""
    log = directory / LOG_NAME
    found = [log] if log.is_file() else sorted(directory.glob("*.jsonl")) or sorted(directory.glob("*.json"))
    return [path for path in found if path.is_file()]


def strategy_names(options: Sequence[str] | None) -> tuple[str, ...] | None:
    """
    Return the strategies that ``--strategy`` names, with commas between them or given several
    times; None without any.
    """
    return tuple(name for option in options for name in option.split(",")) if options else None


def stdout() -> Console:
    """Return where tables go; as wide as the terminal, or wide enough."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def say(console: Console, lines: Sequence[str]) -> None:
    """Plain lines: what comes out of files is no markup, and is not wrapped."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def plain(text: str) -> str:
    """On one line, without what would steer a terminal: texts come out of files."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split()))


def progress_bar() -> Progress:
    """Return a bar on stderr, where that is a terminal."""
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
