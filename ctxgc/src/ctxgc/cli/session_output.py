"""Shared code of the commands about a session's files: input, output and failures."""

from __future__ import annotations

import datetime as dt
import importlib.util
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from gc_core.errors import GCError, LogError
from gc_core.values.references import LOG_NAME

_LONE = re.compile(r"[\ud800-\udfff]")


def session_of(path: Path) -> Path:
    """
    Return the path that a command is given; what is no path may be a lane of the gateway, by its id or the client's.

    Raises BadParameter, naming lanes, where several are meant, or one may be.
    """
    if _is_there(path) or importlib.util.find_spec("gc_gateway") is None:
        return path
    from gc_gateway.lane_files import lane_named
    from gc_gateway.settings_loading import lanes_directory

    try:
        return lane_named(path.parent if path.name != str(path) else lanes_directory(), path.name) or path
    except GCError as error:
        raise typer.BadParameter(plain(str(error))) from error


Readable = Annotated[
    Path,
    typer.Argument(
        metavar="DIR|LANE",
        help="A session's directory, or a lane of the gateway; or a log of OpenAI, Anthropic, Claude Code or gptme.",
        callback=session_of,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def _is_there(path: Path) -> bool:
    """Return whether a path exists. What no path can be, such as one of 300 letters, its reader reports."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return True


@contextmanager
def errors_on_stderr() -> Iterator[None]:
    """Turn an error into one line on stderr and exit code 1."""
    try:
        yield
    except (GCError, PermissionError) as error:
        typer.echo(f"error: {plain(str(error))}", err=True)
        raise typer.Exit(code=1) from error


def own_directory(path: Path) -> Path | None:
    """Return the directory of one of our own sessions, also if its log is named; None for a foreign log."""
    if path.is_file():
        return path.parent if path.name == LOG_NAME else None
    return path


def check_directory(path: Path) -> None:
    """Raise LogError for a path that is not a directory."""
    if not path.exists():
        raise LogError(f"{path} does not exist; expected a session's directory")
    if not path.is_dir():
        raise LogError(f"{path} is a file, expected a session's directory; ctxgc adopt makes one of it")


def utc_time(seconds: float) -> str:
    """Return a time in seconds since 1970 in ISO 8601."""
    return dt.datetime.fromtimestamp(seconds, tz=dt.UTC).isoformat(timespec="seconds")


def plain(text: str) -> str:
    """On one line, without what would steer a terminal: texts come out of files."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split("\n")))


def write_json(value: Any) -> None:
    """Letters as they are, unless one has no UTF-8 form: escaped, it is still the same JSON."""
    text = json.dumps(value, ensure_ascii=False)
    write((json.dumps(value) if _LONE.search(text) else text) + "\n")


def write(text: str) -> None:
    """Bytes, so that no console changes them; a lone surrogate is written as it is in the log."""
    typer.echo(text.encode("utf-8", "surrogatepass"), nl=False)
