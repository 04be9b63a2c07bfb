"""``ctxgc history``, apart from the other commands: it reads a ledger, and loads no more than that takes."""

from __future__ import annotations

from pathlib import Path

import attrs
import typer

from ctxgc.cli.session_output import (
    Json,
    Readable,
    check_directory,
    errors_on_stderr,
    own_directory,
    plain,
    utc_time,
    write,
    write_json,
)
from gc_core.storage.history import HistoryEntry, read_history


@attrs.frozen(kw_only=True)
class HistoryDocument:
    """
    An entry as ``ctxgc history --json`` prints it.

    Attributes:
        time: When, in ISO 8601.
        what: ``collected``, ``restored``, ``undone``, ``redone`` or ``rewound``.
        text: The result, in words.
        in_force: Of a collection or restored item: it has not been undone.
        start: Where the ledger holds it: offset of its first byte.
        end: Offset after its last one.

    """

    time: str
    what: str
    text: str
    in_force: bool
    start: int
    end: int


def history(session: Readable, *, as_json: Json = False) -> None:
    """Show what was done to the window. Oldest first, with times; what was undone is marked so."""
    with errors_on_stderr():
        entries = _entries(session)
    if as_json:
        write_json([attrs.asdict(_document(entry)) for entry in entries])
        return
    for entry in entries:
        write(_history_line(entry) + "\n")
    if not entries:
        typer.echo("no changes recorded", err=True)


def _entries(path: Path) -> tuple[HistoryEntry, ...]:
    if not path.is_file():
        check_directory(path)
    directory = own_directory(path)
    if directory is not None:
        return read_history(directory)
    from ctxgc.cli.session_commands import opened_reader  # a foreign log becomes a session first

    with opened_reader(path) as reader:
        return reader.history()


def _history_line(entry: HistoryEntry) -> str:
    undone = entry.is_collection and not entry.in_force
    return plain(f"{utc_time(entry.time)}  {entry.what}  {entry.text}{'  (undone)' * undone}")


def _document(entry: HistoryEntry) -> HistoryDocument:
    return HistoryDocument(
        time=utc_time(entry.time),
        what=entry.what,
        text=entry.text,
        in_force=entry.in_force,
        start=entry.place.start,
        end=entry.place.end,
    )
