"""Overwrites a secret everywhere in a session's directory, keeping every place in its files valid."""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import attrs

from gc_core.errors import LogError
from gc_core.plugins.checkpoint_backends import DATABASE, FOLDER
from gc_core.plugins.manager import Plugins
from gc_core.providers import format_named
from gc_core.providers.contract import Format, TokenCounter
from gc_core.storage import facts
from gc_core.storage import master_log as logs
from gc_core.storage import task_state_file as task_file
from gc_core.storage.checkpoints import Checkpoints
from gc_core.storage.ledger import Collected, Digests, Purged, Rewound, Sent
from gc_core.storage.purge.allowed_edits import check_fact, check_ledger_line, check_log_line
from gc_core.storage.purge.secret import Secret, bytes_of
from gc_core.storage.rebuild import apply_log_records, enter, standing
from gc_core.storage.search import index_file
from gc_core.storage.state import Position, SessionState, Settings, digest_of_messages
from gc_core.storage.store import Store
from gc_core.values.config import FILES, MEMORY, SQLITE
from gc_core.values.json_values import DEEPEST_RECORD, read_json, strings
from gc_core.values.loggers import logger
from gc_core.values.posix import write_at
from gc_core.values.references import ByteRange, check_of
from gc_core.values.sources import TASK_STATE
from gc_core.window.memory_blocks import CLOSING

_Check = Callable[[bytes, bytes], None]
"""Raises LogError when a line must not be changed like this."""

_STATE_FRAME: Final = f'<context source="{TASK_STATE.name}"'
_CHECK_DIGITS: Final = 6

_log = logger("gc_core.purge")


def purge(
    directory: str | Path,
    match: str,
    *,
    by: str,
    counter: TokenCounter | None = None,
    plugins: Plugins | None = None,
) -> Purged:
    """
    Overwrite a text in all files of a closed session; return what the ledger records of it: by whom, and how often.

    It is found as plain text and in every JSON notation, also in JSON inside JSON, and overwritten with ``*`` (or
    another character that it does not contain) in as many bytes: sizes, places, ids and references stay as they are,
    and so do the token counts, which were true when they were counted. Log, ledger, ``*.torn-*`` files and a facts file
    in the directory are overwritten; checkpoints, search index and the file of the task state are deleted, because they
    are rebuilt from log and ledger. The digests of the requests and of the collections in effect are renewed too: undo
    still works, and ``verify`` compares what happens from now on. Earlier damage can be found by ``verify`` only before
    the purge.
    ``verify`` only until then.

    A process that is killed in the middle leaves a session that still contains some of it; purging again completes it.
    Not found are: other spellings, the part of it that a stub's cut left over, and copies elsewhere: forks, facts in
    another directory, the disk's free blocks. Masked thinking that is still in the window no longer matches its
    signature.

    Args:
        directory: The session's.
        match: The text to overwrite, matched exactly.
        by: Who requests it; recorded in the ledger.
        counter: The host's own counter, if it had one.
        plugins: Where a plugin's memory backend is looked up; by default among the installed ones.

    Raises:
        ConfigError: The text is shorter than four characters, is in ``by``, or contains every mask character; or the
            session's checkpoints are in an unknown memory backend.
        LogError: Nothing was changed: there is no session, another process has it open, or the text is where a mask
            would break something, in an id, a number, a name, a key, sealed bytes.

    """
    secret, directory = Secret.of(match, by), Path(directory)
    if not (directory / logs.FILE_NAME).is_file():
        raise LogError(f"{directory} holds no session: there is no {logs.FILE_NAME}")
    with contextlib.ExitStack() as opened:
        store = opened.enter_context(contextlib.closing(Store(directory)))
        store.mend()
        settings = Settings.of(store.settings(), None, counter)
        kept = _kept_elsewhere(settings, directory, plugins)
        opened.enter_context(_held(directory / facts.FILE_NAME))
        plans = list(_planned(store, secret, format_named(settings.format)))
        _forget(directory)
        if kept is not None:
            kept.forget_all()
        for plan in plans:
            plan.carry_out()
        _renew_digests(store, settings.fresh(store.payload))
        record = Purged(by=by, occurrences=sum(plan.occurrences for plan in plans))
        store.note(record)
        store.sync()
    return record


# -- planning -------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _Plan:
    """The changes of the lines of one file."""

    path: Path
    edits: tuple[tuple[int, bytes], ...]
    occurrences: int

    def carry_out(self) -> None:
        """Overwrite the bytes, and wait for the disk. Raises LogError."""
        try:
            with self.path.open("r+b", buffering=0) as file:
                for start, data in self.edits:
                    write_at(file.fileno(), data, start)
                os.fsync(file.fileno())
        except OSError as error:
            raise LogError(f"{self.path}: not all could be overwritten; purge again: {error}") from error


def _planned(store: Store, secret: Secret, form: Format) -> Iterator[_Plan]:
    """Yield the changes, file by file. Raises LogError, naming the line, if one would break something."""
    yield _plan(store.log.journal.path, secret, functools.partial(check_log_line, form=form))
    yield _plan(store.ledger.journal.path, secret, functools.partial(check_ledger_line, form=form))
    if (store.directory / facts.FILE_NAME).is_file():
        yield _plan(store.directory / facts.FILE_NAME, secret, check_fact)
    for path in sorted(store.directory.glob("*.torn-*")):
        yield _plan(path, secret, None)


def _plan(path: Path, secret: Secret, check: _Check | None) -> _Plan:
    edits, count, start = [], 0, 0
    with path.open("rb") as file:
        for line in file:
            if not secret.is_out_of(line):
                new, found = _masked(path, start, line, secret, check)
                if found:
                    edits.append(_difference(start, line, new))
                    count += found
            start += len(line)
    return _Plan(path=path, edits=tuple(edits), occurrences=count)


def _masked(path: Path, start: int, line: bytes, secret: Secret, check: _Check | None) -> tuple[bytes, int]:
    text = _as_json(line)
    if text is None:  # torn: nothing in it needs to stay intact
        masked, count = secret.masked_text(line.decode("utf-8", "surrogateescape"))
        return masked.encode("utf-8", "surrogateescape"), count
    try:
        masked, count = secret.masked_line(text)
        new = _with_new_checks(line, bytes_of(masked)) if count else line
        if count and check is not None:
            check(line, new)
    except LogError as error:
        where = f"{path}, bytes {start}-{start + len(line)}"
        text = f"{where}: the text cannot be overwritten: {error}; nothing was changed; purge it with what is around it"
        raise LogError(text) from error
    return new, count


def _with_new_checks(line: bytes, masked: bytes) -> bytes:
    """
    Renew the check digits of the task state if its text was masked: a replay frames the masked text of the log, and the
    two must be equal for a collection to be undone.
    """
    for (_, old), (_, new) in zip(strings(_value(line)), strings(_value(masked)), strict=True):
        if old != new and new.startswith(_STATE_FRAME):
            head, _, rest = new.partition(">\n")
            before = f'check="{head[-_CHECK_DIGITS - 1 : -1]}"'
            after = f'check="{check_of(rest.removesuffix(CLOSING))}"'
            masked = masked.replace(_escaped(before), _escaped(after))
    return masked


def _value(line: bytes) -> Any:
    return read_json(line.decode("utf-8", "surrogatepass"), DEEPEST_RECORD)


def _escaped(text: str) -> bytes:
    """Return the form inside a JSON string."""
    return json.dumps(text)[1:-1].encode()


def _as_json(line: bytes) -> str | None:
    try:
        text = line.decode("utf-8", "surrogatepass")
        read_json(text, DEEPEST_RECORD)
    except ValueError:
        return None
    return text


def _difference(start: int, old: bytes, new: bytes) -> tuple[int, bytes]:
    """Return where the lines begin to differ, and the bytes up to the last difference."""
    unlike = [place for place, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    return start + unlike[0], new[unlike[0] : unlike[-1] + 1]


# -- execution ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold the lock against sessions that promote facts to this file."""
    import filelock

    if not path.is_file():
        yield
        return
    try:
        with filelock.FileLock(f"{path.resolve()}.lock", timeout=facts.LOCK_SECONDS):
            yield
    except OSError as error:
        raise LogError(f"{path} cannot be held: {error}") from error


def _kept_elsewhere(settings: Settings, directory: Path, plugins: Plugins | None) -> Checkpoints | None:
    """Return checkpoints outside the directory, or None. Raises ConfigError if they cannot be reached."""
    name = settings.config.memory_backend
    if name in {FILES, SQLITE, MEMORY}:
        return None
    return Checkpoints((plugins or Plugins.discover()).memory_backend(name, directory.absolute()), name)


def _forget(directory: Path) -> None:
    """
    Delete files that can be rebuilt from log and ledger; before everything else, so that nothing is
    rebuilt in between.
    """
    index = directory / index_file.FILE_NAME
    index_files = (index.with_name(index.name + suffix) for suffix in ("", "-wal", "-shm"))
    try:
        state = (directory / task_file.FILE_NAME, *directory.glob("unfinished*"))
        for path in (*index_files, *state, *directory.glob(f"{DATABASE}*"), *(directory / FOLDER).glob("*")):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise LogError(f"{directory}: not all could be deleted; purge again: {error}") from error


def _renew_digests(store: Store, state: SessionState) -> None:
    """
    Write the digests that log and ledger now yield: a collection with a wrong digest could not be undone any more.

    A session that could not be replayed before cannot be now; the secret is removed all the same.
    """
    log, ledger, end = store.log, store.ledger, store.position
    reached = Position()
    try:
        for place, entry in standing(ledger, reached, end):
            record = entry.record
            apply_log_records(state, log, reached, record.log if isinstance(record, Rewound) else entry.at)
            before = state.context.messages
            enter(state, ledger, place, entry)
            if isinstance(record, Collected):
                count = record.digests.count
                after = state.context.messages
                found = Digests(before=digest_of_messages(before[:count]), after=digest_of_messages(after), count=count)
                _write_digests(store, place, _digests(record.digests), _digests(found))
            elif isinstance(record, Sent) and record.digest:
                _write_digests(store, place, _digest(record.digest), _digest(state.context.digest))
            reached = Position(entry.at, place.end)
    except LogError as error:
        _log.warning("digests not renewed", error=str(error))


def _write_digests(store: Store, place: ByteRange, old: bytes, new: bytes) -> None:
    if old != new:
        line = store.ledger.journal.read(place)
        store.ledger.journal.overwrite(place, line.replace(old, new))


def _digest(digest: str) -> bytes:
    """Return its form in the line of a request."""
    return f'"digest":"{digest}"'.encode()


def _digests(digests: Digests) -> bytes:
    """Return their form in the line of a collection: quotes in texts are escaped, so no text contains it."""
    return f'"digests":{{"before":"{digests.before}","after":"{digests.after}"'.encode()
