"""The commands of ``ctxgc`` on one session's files: recall, undo, verify, purge, adopt."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import attrs
import typer

from ctxgc.cli.session_output import (
    Json,
    Readable,
    check_directory,
    errors_on_stderr,
    own_directory,
    plain,
    session_of,
    utc_time,
    write,
    write_json,
)
from gc_core.errors import LogError, SourceError
from gc_core.learning.proposals import Proposal
from gc_core.providers import PROVIDERS
from gc_core.session.reader import SessionReader
from gc_core.session.session import GCSession
from gc_core.storage.facts import FactStore
from gc_core.storage.history import HistoryEntry
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.search import Filters, Hit
from gc_core.storage.search.sessions import DEPTH, search_sessions
from gc_core.values.messages import Request

if TYPE_CHECKING:
    from ctxgc.evaluation.transcripts import Transcript

_SHOWN = 8
"""The most ids in a line."""

_NONE = "none"
"""The strategy of an adopted session: adopting and reading collect nothing, so no strategy has to be installed."""


Session = Annotated[
    Path,
    typer.Argument(metavar="DIR|LANE", help="A session's directory, or a lane of the gateway.", callback=session_of),
]


@attrs.frozen(kw_only=True)
class FoundDocument:
    """
    A hit in the output of ``ctxgc search --json``.

    Attributes:
        session: The session's directory, or the foreign log.
        hit: The hit.

    """

    session: str
    hit: Hit


def _not_blank(query: str) -> str:
    if not query.strip():
        raise typer.BadParameter("it is empty, expected words")
    return query


# -- looking back ----------------------------------------------------------------------------------------------------


def recall(
    session: Readable,
    reference: Annotated[
        list[str], typer.Argument(metavar="REF...", help="Ids (i42), ranges (i5-i20), byte ranges, or stubs' texts.")
    ],
) -> None:
    """Print the original text of items. All of it, however long; of a single item nothing else, for a pipe."""
    with errors_on_stderr(), opened_reader(session) as reader:
        found = reader.originals(tuple(reference))
        if len(found) == 1:
            write(found[0][1])
        else:
            write("\n\n".join(f"[{item}]\n{text}" for item, text in found) + "\n")


def search(
    session: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|LANE",
            help="A session's directory, a lane of the gateway, a directory of many, or a foreign log.",
            callback=session_of,
        ),
    ],
    query: Annotated[str, typer.Argument(metavar="QUERY", help='Words; "quotes" make a phrase.', callback=_not_blank)],
    *,
    tool: Annotated[str | None, typer.Option(help="Only calls and results of this tool.")] = None,
    role: Annotated[str | None, typer.Option(help="Only what this role said.")] = None,
    first_turn: Annotated[int | None, typer.Option(help="The first turn that is searched.")] = None,
    last_turn: Annotated[int | None, typer.Option(help="The last one.")] = None,
    entity: Annotated[str | None, typer.Option(help="Only items that hold this name letter by letter.")] = None,
    limit: Annotated[int, typer.Option(help="Hits at most.", min=1)] = 10,
    as_json: Json = False,
) -> None:
    """Search everything that was ever said. Best first, a line for each hit, in one session or in many."""
    import cattrs

    filters = Filters(tool=tool, role=role, first_turn=first_turn, last_turn=last_turn, entity=entity, limit=limit)
    with errors_on_stderr():
        found = _search(session, query, filters)
    if as_json:
        write_json(cattrs.unstructure([FoundDocument(session=str(where), hit=hit) for where, hit in found]))
        return
    for where, hit in found:
        write(_hit_line(hit, None if _is_one(session) else where) + "\n")
    if not found:
        typer.echo("nothing found", err=True)


def _known_format(name: str | None) -> str | None:
    if name is not None and name not in PROVIDERS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(PROVIDERS)}")
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
    """Print the current request. It is JSON: messages, and system and tools where there are some."""
    with errors_on_stderr(), opened_reader(session) as reader:
        request = reader.whole() if whole else reader.window()
        _check_format(request, format)
    write_json(request.kwargs())


# -- memory across sessions ------------------------------------------------------------------------------------------


def facts(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of facts, facts.jsonl.")],
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Words of which a fact has to have one.")] = "",
    *,
    subject: Annotated[str, typer.Option(help="Only what is about this.")] = "",
    relation: Annotated[str, typer.Option(help="Only facts with this relation, such as 'lives in'.")] = "",
    at: Annotated[dt.datetime | None, typer.Option(help="Only facts valid at this time, in UTC.")] = None,
    as_json: Json = False,
) -> None:
    """Show what sessions have stored for later ones. Facts with most of the words first, then the newest."""
    import cattrs

    moment = None if at is None else at.replace(tzinfo=dt.UTC).timestamp()
    with errors_on_stderr():
        _check_file(file)
        found = FactStore(file).find(words, subject=subject, relation=relation, at=moment)
    if as_json:
        write_json(cattrs.unstructure([*found]))
        return
    for fact in found:
        write(plain(f"{utc_time(fact.since)}  {fact.line.removeprefix('- ')}  {fact.session}") + "\n")
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
    with errors_on_stderr():
        check_directory(session)
        with SessionReader(session) as opened:
            store = FactStore(file)
            proposals = opened.propose(store)
            unknown = sorted(set(accept or ()) - set(range(1, len(proposals) + 1)))
            if unknown:
                raise SourceError(f"no proposal {unknown[0]}; there are {len(proposals)}")
            for number, each in enumerate(proposals, 1):
                write(plain(_proposal_line(number, each)) + "\n")
            done = opened.accept(store, [proposals[number - 1] for number in sorted(set(accept or ()))])
    for change in done:
        write(plain(f"{change.op.value}: {change.fact.line.removeprefix('- ')}") + "\n")
    if not proposals:
        typer.echo("no user of this session stated a fact", err=True)


# -- changing the window ---------------------------------------------------------------------------------------------


def undo(
    session: Session,
    *,
    times: Annotated[int, typer.Option(help="Collections to undo, the last one first.", min=1)] = 1,
) -> None:
    """Undo the last collections. What came back is listed, and stays until ctxgc release."""
    with errors_on_stderr():
        check_directory(session)
        with GCSession.open_idle(session) as opened:
            for done in range(times):
                try:
                    write(_undone(opened) + "\n")
                except SourceError as error:
                    raise SourceError(f"{error}; {done} of {times} undone") from error


def release(session: Session) -> None:
    """Unpin what undo brought back. It can be collected again then."""
    with errors_on_stderr():
        check_directory(session)
        with GCSession.open_idle(session) as opened:
            pinned = sum(item.pinned for item in opened.items())
            opened.release()
            released = pinned - sum(item.pinned for item in opened.items())
    write(f"{_many(released, 'item')} may be collected again\n")


# -- the files -------------------------------------------------------------------------------------------------------


def verify(session: Session) -> None:
    """Check that a session's files agree. Exits with 1 and a line for every disagreement."""
    from gc_core.storage.audit import verify as verified

    with errors_on_stderr():
        check_directory(session)
        findings = verified(session)
    if findings:
        for finding in findings:
            write(plain(str(finding)) + "\n")
        raise typer.Exit(code=1)
    write("log, index, ledger, digests agree\n")


def purge(
    session: Session,
    *,
    match: Annotated[str, typer.Option(help="The text to overwrite, letter by letter.")],
    by: Annotated[str | None, typer.Option(help="Who wants it, for the ledger; by default your login name.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Overwrite a secret in a session's files. This cannot be undone."""
    from gc_core.storage.purge import purge as purged
    from gc_core.storage.purge.secret import Secret

    with errors_on_stderr():
        check_directory(session)
        who = by or _login()
        Secret.of(match, who)  # what cannot be purged is refused before it is asked
    if not yes:
        typer.confirm(f"Overwrite this text for ever in every file of {session}?", abort=True, err=True)
    with errors_on_stderr():
        record = purged(session, match, by=who)
    times = "once" if record.occurrences == 1 else f"{record.occurrences:,} times"
    write(
        f"overwritten {times} in log and ledger of {session}, for {record.by}; checkpoints and index were removed\n"
        if record.occurrences
        else f"not found in {session}; checkpoints and index were removed\n"
    )


def adopt(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A log of OpenAI, Anthropic, Claude Code, Codex, Gemini CLI, pi or gptme, or opencode's database.",
        ),
    ],
    session: Annotated[
        Path, typer.Argument(metavar="DIR", help="The directory of the new session: empty, or one that follows FILE.")
    ],
    *,
    model: Annotated[str | None, typer.Option(help="The model whose tokens are counted.")] = None,
    of: Annotated[str, typer.Option(help="Which session of a database; the one changed last by default.")] = "",
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on while the log is written, until SIGTERM or SIGINT.")
    ] = False,
) -> None:
    """
    Make a session from another program's log. All messages in order; original timestamps are not kept. It has no
    strategy: name one when you open it.
    """
    from ctxgc.adoption import adopt_transcript

    if follow:
        with errors_on_stderr():
            _follow(file, session, model, of)
        return
    with errors_on_stderr():
        transcript = _transcript(file, of)
        with adopt_transcript(transcript, session, model=model, strategy=_NONE) as opened:
            tokens = opened.budget.total
    adopted = f"{_many(len(transcript.messages), 'message')} ({transcript.format}, {tokens:,} tokens)"
    write(f"adopted {adopted} into {session}; original timestamps are not kept\n")


def _follow(file: Path, directory: Path, model: str | None, of: str) -> None:
    """Follow a log until a signal ends it; what it held by then has been taken in."""
    import signal
    import threading

    from ctxgc.following import Follower

    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with Follower(file, directory, session=of, model=model) as follower:
        typer.echo(f"following {file} into {directory}", err=True)
        follower.follow(stopped.wait, lambda count: typer.echo(f"{_many(count, 'message')}", err=True))


# -- opening ---------------------------------------------------------------------------------------------------------


@contextmanager
def opened_reader(path: Path) -> Iterator[SessionReader]:
    """Open the session in a directory, or a temporary one made of a foreign log."""
    import tempfile

    from ctxgc.adoption import adopt_transcript

    if not path.is_file():
        check_directory(path)
    directory = own_directory(path)
    if directory is not None:
        with SessionReader(directory) as reader:
            yield reader
        return
    transcript = _transcript(path)
    with tempfile.TemporaryDirectory(prefix="gc-core-") as made:
        adopt_transcript(transcript, made, strategy=_NONE).close()
        with SessionReader(Path(made)) as reader:
            yield reader


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise LogError(f"{path} is not a file; expected one that GCSession.promote or ctxgc propose has written")


def _transcript(path: Path, session: str = "") -> Transcript:
    from ctxgc.evaluation.transcripts import read_transcript

    transcript = read_transcript(path, session=session)
    for warning in transcript.warnings:
        typer.echo(f"warning: {plain(str(warning))}", err=True)
    return transcript


def _check_format(request: Request, wanted: str | None) -> None:
    if wanted is not None and wanted != request.format:
        raise LogError(f"the session is in the format {request.format}, not {wanted}, and formats are not converted")


def _is_one(path: Path) -> bool:
    return path.is_file() or (path / FILE_NAME).is_file()


def _search(path: Path, query: str, filters: Filters) -> tuple[tuple[Path, Hit], ...]:
    if _is_one(path):
        with opened_reader(path) as reader:
            return tuple((path, hit) for hit in reader.search(query, **filters))
    check_directory(path)
    if not any(next(path.glob("*/" * depth + FILE_NAME), None) for depth in range(DEPTH + 1)):
        raise LogError(f"{path} holds no session: there is no {FILE_NAME}, neither here nor {DEPTH} levels below")
    return search_sessions(path, query, **filters)


def _undone(session: GCSession) -> str:
    """
    Undo one collection and return what is printed of it. Raises SourceError, with nothing changed, if there is none or
    a request would not fit then.
    """
    entry = next((entry for entry in reversed(session.history()) if entry.in_force), None)
    tokens, before = session.port.estimate_undone(), session.port.estimate(session.budget.total)
    if entry is None or tokens is None:
        raise SourceError("nothing to undo")
    usable = session.config.usable
    if tokens > max(before, usable):
        raise SourceError(_too_large(entry, tokens, session))
    forms = {item.id: item.form for item in session.items()}
    session.undo()
    came = [item.id for item in session.items() if forms.get(item.id) is not item.form]
    named = ", ".join(came[:_SHOWN]) + ", …" * bool(came[_SHOWN:])
    back = f"{_many(len(came), 'item')} came back ({named})" if came else "nothing came back"
    return f"undone: {_named(entry)}; {back}: {tokens:,} of {usable:,} tokens now, {before:,} before"


def _too_large(entry: HistoryEntry, tokens: int, session: GCSession) -> str:
    """Return why a collection is not undone, and what to do instead."""
    usable = session.config.usable
    removals = () if entry.record is None else entry.record.removals
    items = [item for removal in removals for item in removal.items][:_SHOWN]
    return (
        f"undoing what was {_named(entry)} does not fit: a request would have {tokens:,} tokens, {tokens - usable:,}"
        f" more than the {usable:,} it may have; read items instead: ctxgc recall {session.directory} {' '.join(items)}"
    )


def _named(entry: HistoryEntry) -> str:
    """Return what was done and when, without its sizes: the ledger has them in gc-core's own count."""
    why = "" if entry.record is None or entry.record.reason is None else f" ({entry.record.reason.value})"
    return f"{entry.what} {utc_time(entry.time)}{why}"


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError) as error:
        raise SourceError("your login name is not known; say who requests it with --by") from error


# -- output -------------------------------------------------------------------------------------------------


def _hit_line(hit: Hit, where: Path | None) -> str:
    what = f"{hit.tool} {hit.kind}" if hit.tool else hit.kind
    cells = [] if where is None else [str(where)]
    return plain("  ".join([*cells, hit.item, f"turn {hit.turn}", what, hit.preview]))


def _proposal_line(number: int, proposal: Proposal) -> str:
    old = "" if proposal.fact is None else f" ({proposal.fact.id}: {proposal.fact.text})"
    return f"{number}. {proposal.op.value}: {proposal.stated.text} [{proposal.stated.item}]; {proposal.reason}{old}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
