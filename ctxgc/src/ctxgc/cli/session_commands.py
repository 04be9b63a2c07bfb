"""The commands of ``ctxgc`` about one session's files: looking back, undoing, verifying, purging, adopting."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer

from gc_core.errors import GCError, LogError, SourceError
from gc_core.learning.proposals import Proposal
from gc_core.providers import PROVIDERS
from gc_core.session.history import HistoryEntry
from gc_core.session.reader import SessionReader
from gc_core.session.session import GCSession
from gc_core.storage.facts import FactStore
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.search import Filters, Hit
from gc_core.storage.search.sessions import DEPTH, search_sessions
from gc_core.values.messages import Request

if TYPE_CHECKING:
    from ctxgc.evaluation.transcripts import Transcript

_SHOWN = 8
"""Ids that a line names."""

_LONE = re.compile(r"[\ud800-\udfff]")

Readable = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="A session's directory; or a log of OpenAI, Anthropic, Claude Code or gptme, which is only read.",
    ),
]
Session = Annotated[Path, typer.Argument(metavar="DIR", help="A session's directory.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


@attrs.frozen(kw_only=True)
class FoundDocument:
    """
    What ``ctxgc search --json`` prints of each hit.

    Attributes:
        session: The session's directory, or the foreign log.
        hit: What was found.

    """

    session: str
    hit: Hit


@attrs.frozen(kw_only=True)
class HistoryDocument:
    """
    What ``ctxgc history --json`` prints of each entry.

    Attributes:
        time: When, in ISO 8601.
        what: ``collected``, ``restored``, ``undone``, ``redone`` or ``rewound``.
        text: What came of it, in words.
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


# -- looking back ----------------------------------------------------------------------------------------------------


def recall(
    session: Readable,
    reference: Annotated[
        list[str], typer.Argument(metavar="REF...", help="Ids (i42), ranges (i5-i20), byte ranges, or stubs' texts.")
    ],
) -> None:
    """Print the original text of items. Of a single one exactly the text, so that it can be piped."""
    with _told(), _reader(session) as reader:
        found = reader.originals(tuple(reference))
        if len(found) == 1:
            _write(found[0][1])
        else:
            _write("\n\n".join(f"[{item}]\n{text}" for item, text in found) + "\n")


def search(
    session: Annotated[
        Path, typer.Argument(metavar="DIR", help="A session's directory, a directory of many, or a foreign log.")
    ],
    query: Annotated[str, typer.Argument(metavar="QUERY", help='Words; what stands in "quotes" is a phrase.')],
    *,
    tool: Annotated[str | None, typer.Option(help="Calls and results of this tool alone.")] = None,
    role: Annotated[str | None, typer.Option(help="What this role said alone.")] = None,
    first_turn: Annotated[int | None, typer.Option(help="The first turn that is searched.")] = None,
    last_turn: Annotated[int | None, typer.Option(help="The last one.")] = None,
    entity: Annotated[str | None, typer.Option(help="Only items that hold this name letter by letter.")] = None,
    limit: Annotated[int, typer.Option(help="Hits at most.", min=1)] = 10,
    as_json: Json = False,
) -> None:
    """Search all that was ever said. Best first, a line for each hit, in one session or in many."""
    import cattrs

    filters = Filters(tool=tool, role=role, first_turn=first_turn, last_turn=last_turn, entity=entity, limit=limit)
    with _told():
        found = _search(session, query, filters)
    if as_json:
        _write_json(cattrs.unstructure([FoundDocument(session=str(where), hit=hit) for where, hit in found]))
        return
    for where, hit in found:
        _write(_hit_line(hit, None if _is_one(session) else where) + "\n")
    if not found:
        typer.echo("nothing found", err=True)


def history(session: Readable, *, as_json: Json = False) -> None:
    """Tell what was done to the window. Oldest first, with times; what was undone is marked so."""
    import cattrs

    with _told(), _reader(session) as reader:
        entries = reader.history()
    if as_json:
        _write_json(cattrs.unstructure([*map(_document, entries)]))
        return
    for entry in entries:
        _write(_history_line(entry) + "\n")
    if not entries:
        typer.echo("no changes recorded", err=True)


def _known_format(name: str | None) -> str | None:
    if name is not None and name not in PROVIDERS:
        raise typer.BadParameter(f"{name!r} is none of {', '.join(PROVIDERS)}")
    return name


def export(
    session: Readable,
    *,
    format: Annotated[  # noqa: A002 - the option's name
        str | None,
        typer.Option(help=f"Refuse a session of another format: {', '.join(PROVIDERS)}.", callback=_known_format),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Every message of the log as it arrived, instead of the window.")
    ] = False,
) -> None:
    """Print the request as it is. It is JSON: messages, and system and tools where there are some."""
    with _told(), _reader(session) as reader:
        request = reader.whole() if whole else reader.window()
        _check_format(request, format)
    _write_json(request.kwargs())


# -- memory across sessions ------------------------------------------------------------------------------------------


def facts(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of facts, facts.jsonl.")],
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Words of which a fact has to have one.")] = "",
    *,
    subject: Annotated[str, typer.Option(help="Only what is about this.")] = "",
    relation: Annotated[str, typer.Option(help="Only what has this relation, for instance 'lives in'.")] = "",
    at: Annotated[dt.datetime | None, typer.Option(help="What held at this time, in UTC.")] = None,
    as_json: Json = False,
) -> None:
    """Show what sessions have kept for later ones. What has most of the words first, then the newest."""
    import cattrs

    moment = None if at is None else at.replace(tzinfo=dt.UTC).timestamp()
    with _told():
        _check_file(file)
        found = FactStore(file).find(words, subject=subject, relation=relation, at=moment)
    if as_json:
        _write_json(cattrs.unstructure([*found]))
        return
    for fact in found:
        _write(_plain(f"{_time(fact.since)}  {fact.line.removeprefix('- ')}  {fact.session}") + "\n")
    if not found:
        typer.echo("no such fact", err=True)


def propose(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of facts; made with the first accepted one.")],
    *,
    accept: Annotated[
        list[int] | None, typer.Option(help="Number of a proposal to carry out; may be repeated.")
    ] = None,
) -> None:
    """Propose facts that users stated in a session. Nothing is written but what --accept names."""
    with _told():
        _check_directory(session)
        with GCSession.open_idle(session) as opened:
            store = FactStore(file)
            proposals = opened.propose(store)
            unknown = sorted(set(accept or ()) - set(range(1, len(proposals) + 1)))
            if unknown:
                raise SourceError(f"no proposal {unknown[0]}; there are {len(proposals)}")
            for number, each in enumerate(proposals, 1):
                _write(_plain(_proposal_line(number, each)) + "\n")
            done = opened.accept(store, [proposals[number - 1] for number in sorted(set(accept or ()))])
    for change in done:
        _write(_plain(f"{change.op.value}: {change.fact.line.removeprefix('- ')}") + "\n")
    if not proposals:
        typer.echo("no user of this session stated a fact", err=True)


# -- changing the window ---------------------------------------------------------------------------------------------


def undo(
    session: Session,
    *,
    times: Annotated[int, typer.Option(help="Collections to undo, the last one first.", min=1)] = 1,
) -> None:
    """Undo the last collections. What came back is told, and stays until a session releases it."""
    with _told():
        _check_directory(session)
        with GCSession.open_idle(session) as opened:
            for done in range(times):
                line = _undone(opened)
                if line is None:
                    raise SourceError(f"nothing{' more' * bool(done)} to undo: {done} of {times} undone")
                _write(line + "\n")


def release(session: Session) -> None:
    """Let what undo brought back be collected again: it stays pinned until then."""
    with _told():
        _check_directory(session)
        with GCSession.open_idle(session) as opened:
            pinned = sum(item.pinned for item in opened.items())
            opened.release()
            released = pinned - sum(item.pinned for item in opened.items())
    _write(f"{_many(released, 'item')} may be collected again\n")


# -- the files -------------------------------------------------------------------------------------------------------


def verify(session: Session) -> None:
    """Check that a session's files agree. Exits with 1 and a line for everything that does not."""
    from gc_core.storage.audit import verify as verified

    with _told():
        _check_directory(session)
        findings = verified(session)
    if findings:
        for finding in findings:
            _write(_plain(str(finding)) + "\n")
        raise typer.Exit(code=1)
    _write("log, index, ledger, digests agree\n")


def purge(
    session: Session,
    *,
    match: Annotated[str, typer.Option(help="The text to overwrite, letter by letter.")],
    by: Annotated[str | None, typer.Option(help="Who wants it, for the ledger; by default your login name.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Overwrite a secret in a session's files. This cannot be undone."""
    from gc_core.storage.purge import purge as purged

    with _told():
        _check_directory(session)
    if not yes:
        typer.confirm(f"Overwrite this text for ever in every file of {session}?", abort=True, err=True)
    with _told():
        record = purged(session, match, by=by or _login())
    times = "once" if record.occurrences == 1 else f"{record.occurrences:,} times"
    _write(
        f"overwritten {times} in log and ledger of {session}, for {record.by}; checkpoints and index were removed\n"
        if record.occurrences
        else f"not found in {session}; checkpoints and index were removed\n"
    )


def adopt(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A log of OpenAI, Anthropic, Claude Code or gptme.")],
    session: Annotated[Path, typer.Argument(metavar="DIR", help="Where the new session is to lie; must be empty.")],
    *,
    model: Annotated[str | None, typer.Option(help="The model whose tokens are counted.")] = None,
) -> None:
    """Make a session of another program's log. All messages in order; their times are lost."""
    from ctxgc.adoption import adopt_transcript

    with _told():
        transcript = _transcript(file)
        with adopt_transcript(transcript, session, model=model) as opened:
            tokens = opened.budget.total
    adopted = f"{_many(len(transcript.messages), 'message')} ({transcript.format}, {tokens:,} tokens)"
    _write(f"adopted {adopted} into {session}; their times are lost\n")


# -- opening ---------------------------------------------------------------------------------------------------------


@contextmanager
def _told() -> Iterator[None]:
    """What goes wrong is one line on stderr, and exit code 1."""
    try:
        yield
    except (GCError, PermissionError) as error:
        typer.echo(f"error: {_plain(str(error))}", err=True)
        raise typer.Exit(code=1) from error


@contextmanager
def _reader(path: Path) -> Iterator[SessionReader]:
    """The session in a directory, or a temporary one made of a foreign log."""
    import tempfile

    from ctxgc.adoption import adopt_transcript

    if not path.is_file():
        _check_directory(path)
    directory = _own_directory(path)
    if directory is not None:
        with SessionReader(directory) as reader:
            yield reader
        return
    transcript = _transcript(path)
    with tempfile.TemporaryDirectory(prefix="gc-core-") as made:
        adopt_transcript(transcript, made).close()
        with SessionReader(Path(made)) as reader:
            yield reader


def _own_directory(path: Path) -> Path | None:
    """Return the directory of one of our own sessions, also where its log was named; None for a foreign log."""
    if path.is_file():
        return path.parent if path.name == FILE_NAME else None
    return path


def _check_directory(path: Path) -> None:
    if not path.exists():
        raise LogError(f"{path} does not exist; expected a session's directory")
    if not path.is_dir():
        raise LogError(f"{path} is a file, expected a session's directory; ctxgc adopt makes one of it")


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise LogError(f"{path} is no file; expected one that GCSession.promote or ctxgc propose has written")


def _transcript(path: Path) -> Transcript:
    from ctxgc.evaluation.transcripts import read_transcript

    transcript = read_transcript(path)
    for warning in transcript.warnings:
        typer.echo(f"warning: {_plain(str(warning))}", err=True)
    return transcript


def _check_format(request: Request, wanted: str | None) -> None:
    if wanted is not None and wanted != request.format:
        raise LogError(f"the session is in the format {request.format}, not {wanted}, and nothing converts it")


def _is_one(path: Path) -> bool:
    return path.is_file() or (path / FILE_NAME).is_file()


def _search(path: Path, query: str, filters: Filters) -> tuple[tuple[Path, Hit], ...]:
    if _is_one(path):
        with _reader(path) as reader:
            return tuple((path, hit) for hit in reader.search(query, **filters))
    _check_directory(path)
    if not any(next(path.glob("*/" * depth + FILE_NAME), None) for depth in range(DEPTH + 1)):
        raise LogError(f"{path} holds no session: there is no {FILE_NAME}, also not {DEPTH} levels below")
    return search_sessions(path, query, **filters)


def _undone(session: GCSession) -> str | None:
    """Undo one collection and tell of it; None when there is none."""
    entry = next((entry for entry in reversed(session.history()) if entry.in_force), None)
    if entry is None:
        return None
    before = {item.id: item.form for item in session.items()}
    session.undo()
    came = [item.id for item in session.items() if before.get(item.id) is not item.form]
    named = ", ".join(came[:_SHOWN]) + ", …" * bool(came[_SHOWN:])
    back = f"{_many(len(came), 'item')} came back ({named})" if came else "nothing came back"
    total, usable = session.budget.total, session.config.usable
    over = (
        f", {total - usable:,} more than a request may have: ctxgc release lets it be collected"
        if total > usable
        else ""
    )
    return f"undone: {entry.what} {_time(entry.time)}  {entry.text}; {back}; {total:,} tokens now{over}"


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError) as error:
        raise SourceError("your login name is not known; tell who wants it with --by") from error


# -- what is printed -------------------------------------------------------------------------------------------------


def _hit_line(hit: Hit, where: Path | None) -> str:
    what = f"{hit.tool} {hit.kind}" if hit.tool else hit.kind
    cells = [] if where is None else [str(where)]
    return _plain("  ".join([*cells, hit.item, f"turn {hit.turn}", what, hit.preview]))


def _history_line(entry: HistoryEntry) -> str:
    undone = entry.record is not None and not entry.in_force
    return _plain(f"{_time(entry.time)}  {entry.what}  {entry.text}{'  (undone)' * undone}")


def _proposal_line(number: int, proposal: Proposal) -> str:
    old = "" if proposal.fact is None else f" ({proposal.fact.id}: {proposal.fact.text})"
    return f"{number}. {proposal.op.value}: {proposal.stated.text} [{proposal.stated.item}]; {proposal.reason}{old}"


def _document(entry: HistoryEntry) -> HistoryDocument:
    return HistoryDocument(
        time=_time(entry.time),
        what=entry.what,
        text=entry.text,
        in_force=entry.in_force,
        start=entry.place.start,
        end=entry.place.end,
    )


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _time(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, tz=dt.UTC).isoformat(timespec="seconds")


def _plain(text: str) -> str:
    """On one line, without what would steer a terminal: texts come out of files."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split("\n")))


def _write_json(value: Any) -> None:
    """Letters as they are, unless one has no UTF-8 form: escaped, it is still the same JSON."""
    text = json.dumps(value, ensure_ascii=False)
    _write((json.dumps(value) if _LONE.search(text) else text) + "\n")


def _write(text: str) -> None:
    """Bytes, so that no console changes them; a lone surrogate is written as it is in the log."""
    typer.echo(text.encode("utf-8", "surrogatepass"), nl=False)
