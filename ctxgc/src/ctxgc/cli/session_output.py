"""What the commands about a session's files share: where they read, what they write, and how they fail."""

from __future__ import annotations

import datetime as dt
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

Readable = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="A session's directory; or a log of OpenAI, Anthropic, Claude Code or gptme, which is only read.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


@contextmanager
def told() -> Iterator[None]:
    """What goes wrong is one line on stderr, and exit code 1."""
    try:
        yield
    except (GCError, PermissionError) as error:
        typer.echo(f"error: {plain(str(error))}", err=True)
        raise typer.Exit(code=1) from error


def own_directory(path: Path) -> Path | None:
    """The directory of one of our own sessions, also where its log was named; None for a foreign log."""
    if path.is_file():
        return path.parent if path.name == LOG_NAME else None
    return path


def check_directory(path: Path) -> None:
    """Raise LogError for what is no directory."""
    if not path.exists():
        raise LogError(f"{path} does not exist; expected a session's directory")
    if not path.is_dir():
        raise LogError(f"{path} is a file, expected a session's directory; ctxgc adopt makes one of it")


def utc_time(seconds: float) -> str:
    """A time in seconds since 1970, in ISO 8601."""
    return dt.datetime.fromtimestamp(seconds, tz=dt.UTC).isoformat(timespec="seconds")


def plain(text: str) -> str:
    """On one line, without what would steer a terminal: texts come out of files."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split("\n")))


def write_json(value: Any) -> None:
    """Letters as they are, unless one has no UTF-8 form: escaped, it is still the same JSON."""
    text = json.dumps(value, ensure_ascii=False)
    write((json.dumps(value) if _LONE.search(text) else text) + "\n")


def write(text: str) -> None:
    """Bytes, so that no console changes them; a lone surrogate is written as it stands in the log."""
    typer.echo(text.encode("utf-8", "surrogatepass"), nl=False)
