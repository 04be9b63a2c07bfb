"""Overwriting a secret on purpose, everywhere in a session's directory, so that every place in its files holds."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import filelock

from gc_core import facts, search
from gc_core import log as logs
from gc_core.checkpoints import DIRECTORY
from gc_core.errors import ConfigError, GCError, LogError
from gc_core.fold import SESSION, enter, standing, take_all
from gc_core.formats import format_named
from gc_core.hunks import SavedMessage
from gc_core.items import ItemKind, Part
from gc_core.ledger import Collected, Digests, Entry, Purged, Rewound
from gc_core.log import LogRecord
from gc_core.logs import logger
from gc_core.messages import Payload
from gc_core.protocols import Format, TokenCounter
from gc_core.references import ByteRange
from gc_core.sources import CONVERSATION, PLUGIN, SYSTEM
from gc_core.state import Position, SessionState, Settings, digest_of_messages
from gc_core.store import Store

SHORTEST = 4
"""Characters of a secret at least: a shorter text stands in ids, numbers and words by chance."""

_MASKS = "*#-=+~_.:;!?%$&@|<>^"
"""What a secret is overwritten with: the first of these that it does not hold itself, so that none is made anew."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR = re.compile(r"[-+.\w]+")
_ESCAPE = re.compile(r'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])')
# Nobody escapes ASCII letters and digits but by number.
_UNESCAPED = re.compile(r"[A-Za-z0-9]+")
_ESCAPED_ASCII = re.compile(rb"\\u00[2-7]")

_SEALED = frozenset({"signature", "thoughtSignature", "thought_signature", "data", "media_type"})
"""Keys whose values are no text: another byte, and the provider refuses them."""

_NAMED = frozenset({"type", "name"})
"""Keys of a tool schema whose values are its structure."""

_Keys = tuple[str | int, ...]
Check = Callable[[bytes, bytes], None]
"""Raises LogError when a line may not become another one."""

_log = logger("gc_core.purge")


def purge(
    directory: str | Path,
    match: str,
    *,
    by: str,
    counter: TokenCounter | None = None,
) -> Purged:
    """
    Overwrite a text wherever a closed session's files hold it; returns what the ledger has of it: who, and how often.

    It is found as plain text and in every form in which JSON writes it, also in JSON inside of JSON, and overwritten
    with ``*`` (or another letter that it does not hold) in as many bytes: sizes, places, ids and references stay as
    they are, and so do the token counts, which were true when they were counted. Log, ledger, ``*.torn-*`` files and a
    facts file in the directory are overwritten; checkpoints and search index are deleted, for they are made anew of log
    and ledger. The digests of the collections in force are made anew too: undoing goes on, and ``verify`` compares what
    happens from now on. Whatever was damaged before can be found by ``verify`` only until then.

    A process that is killed in the middle leaves a session in which some of it stands; purging again completes it. What
    is not found: other spellings, the piece of it that a stub's cut left over, and copies elsewhere: forks, facts in
    another directory, the disk's free blocks. Masked thinking that still stands in the window no longer fits its
    signature.

    Args:
        directory: The session's.
        match: What is overwritten, letter by letter.
        by: Who wants it; stands in the ledger.
        counter: The host's own counter, if it had one.

    Raises:
        ConfigError: The text is shorter than four characters, stands in ``by``, or holds every letter of the mask.
        LogError: Nothing was changed: there is no session, another one has it open, or the text stands where a mask
            would break something, in an id, a number, a name, a key, sealed bytes.

    """
    secret, directory = _Secret.of(match, by), Path(directory)
    if not (directory / logs.FILE_NAME).is_file():
        raise LogError(f"{directory} holds no session: there is no {logs.FILE_NAME}")
    with contextlib.ExitStack() as opened:
        store = opened.enter_context(contextlib.closing(Store(directory)))
        store.mend()
        settings = Settings.of(store.settings(), None, counter)
        opened.enter_context(_held(directory / facts.FILE_NAME))
        plans = list(_planned(store, secret, format_named(settings.format)))
        _forget(directory)
        for plan in plans:
            plan.carry_out()
        _renew_digests(store, settings.fresh(store.payload))
        record = Purged(by=by, occurrences=sum(plan.occurrences for plan in plans))
        store.note(record)
        store.sync()
    return record


# -- what is looked for ------------------------------------------------------------------------------------------------


@attrs.frozen
class _Layer:
    """A text as it is after so many escapes were taken away, and where in the line each of its letters begins."""

    text: str
    starts: list[int]

    def below(self) -> _Layer | None:
        """With one more layer of JSON's escapes taken away; None when there is none."""
        parts: list[str] = []
        starts: list[int] = []
        end = 0
        for found in _ESCAPE.finditer(self.text):
            parts += self.text[end : found.start()], json.loads(f'"{found[0]}"')
            starts += self.starts[end : found.start() + 1]
            end = found.end()
        return _Layer("".join((*parts, self.text[end:])), starts + self.starts[end:]) if end else None


@attrs.frozen
class _Secret:
    """A text to be overwritten."""

    text: str
    mask: str
    rare: bytes

    @classmethod
    def of(cls, match: str, by: str) -> _Secret:
        """Raises ConfigError when it cannot be looked for."""
        if len(match) < SHORTEST:
            raise ConfigError(f"{len(match)} characters would be hit by chance; a text to purge has {SHORTEST} or more")
        if match in by:
            raise ConfigError("by names the text that is to be purged; it stands in the ledger")
        mask = next((letter for letter in _MASKS if letter not in match), None)
        if mask is None:
            raise ConfigError(f"a text that holds all of {_MASKS} cannot be told from its mask; purge a part of it")
        return cls(match, mask, max(_UNESCAPED.findall(match), key=len, default="").encode())

    def is_out_of(self, line: bytes) -> bool:
        """Whether a look at the bytes is enough to say that it is not there."""
        return bool(self.rare) and self.rare not in line and not _ESCAPED_ASCII.search(line)

    def masked_line(self, line: str) -> tuple[str, int]:
        """A line of JSON, masked in its strings, and how often. Raises LogError when it stands outside of them."""
        if any(self.text in scalar for scalar in _SCALAR.findall(_STRING.sub(" ", line))):
            raise LogError("it is a number, or in one")
        parts: list[str] = []
        end = count = 0
        for token in _STRING.finditer(line):
            inner = _Layer(token[0][1:-1], [*range(len(token[0]) - 1)])
            spans = _apart(self._spans(inner.below() or inner))
            parts += line[end : token.start() + 1], self._over(inner.text, spans)
            end, count = token.end() - 1, count + len(spans)
        return "".join((*parts, line[end:])), count

    def masked_text(self, text: str) -> tuple[str, int]:
        """Any text, masked, and how often."""
        spans = _apart(self._spans(_Layer(text, [*range(len(text) + 1)])))
        return self._over(text, spans), len(spans)

    def _spans(self, layer: _Layer) -> Iterator[tuple[int, int]]:
        """Where it stands in the line, at this layer and at those below it."""
        below = layer.below()
        starts = [found.start() for found in re.finditer(re.escape(self.text), layer.text)]
        if starts and below is not None and _is_json(layer.text):
            # In JSON a line break and "ice" are written \nice, which holds no "nice".
            letters = set(below.starts)
            starts = [start for start in starts if {layer.starts[start], self._end(layer, start)} <= letters]
        for start in starts:
            yield layer.starts[start], self._end(layer, start)
        if below is not None:
            yield from self._spans(below)

    def _end(self, layer: _Layer, start: int) -> int:
        return layer.starts[start + len(self.text)]

    def _over(self, text: str, spans: Iterable[tuple[int, int]]) -> str:
        parts: list[str] = []
        end = 0
        for start, stop in spans:
            parts += text[end:start], self.mask * len(_bytes(text[start:stop]))
            end = stop
        return "".join((*parts, text[end:]))


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """In their order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(set(spans)):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# -- what will be done -------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _Plan:
    """What becomes of the lines of one file."""

    path: Path
    edits: tuple[tuple[int, bytes], ...]
    occurrences: int

    def carry_out(self) -> None:
        """Overwrite the bytes, and wait for the disk. Raises LogError."""
        try:
            with self.path.open("r+b", buffering=0) as file:
                for start, data in self.edits:
                    os.pwrite(file.fileno(), data, start)
                os.fsync(file.fileno())
        except OSError as error:
            raise LogError(f"{self.path}: not all could be overwritten; purge again: {error}") from error


def _planned(store: Store, secret: _Secret, form: Format) -> Iterator[_Plan]:
    """What is to be overwritten, file by file. Raises LogError, naming the line, where that would break something."""
    yield _plan(store.log.journal.path, secret, functools.partial(_check_log_line, form=form))
    yield _plan(store.ledger.journal.path, secret, functools.partial(_check_ledger_line, form=form))
    if (store.directory / facts.FILE_NAME).is_file():
        yield _plan(store.directory / facts.FILE_NAME, secret, _check_fact)
    for path in sorted(store.directory.glob("*.torn-*")):
        yield _plan(path, secret, None)


def _plan(path: Path, secret: _Secret, check: Check | None) -> _Plan:
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


def _masked(path: Path, start: int, line: bytes, secret: _Secret, check: Check | None) -> tuple[bytes, int]:
    text = _as_json(line)
    if text is None:  # torn: nothing in it has to be kept whole
        masked, count = secret.masked_text(line.decode("utf-8", "surrogateescape"))
        return masked.encode("utf-8", "surrogateescape"), count
    try:
        masked, count = secret.masked_line(text)
        new = _bytes(masked)
        if count and check is not None:
            check(line, new)
    except LogError as error:
        where = f"{path}, bytes {start}-{start + len(line)}"
        text = f"{where}: the text cannot be overwritten: {error}; nothing was changed; purge it with what is around it"
        raise LogError(text) from error
    return new, count


def _as_json(line: bytes) -> str | None:
    try:
        text = line.decode("utf-8", "surrogatepass")
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return text


def _difference(start: int, old: bytes, new: bytes) -> tuple[int, bytes]:
    """Where the lines begin to differ, and what stands there up to the last byte that does."""
    unlike = [place for place, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    return start + unlike[0], new[unlike[0] : unlike[-1] + 1]


# -- what may be overwritten -------------------------------------------------------------------------------------------


def _check_log_line(old: bytes, new: bytes, *, form: Format) -> None:
    before, after = LogRecord.read(old), LogRecord.read(new)
    paths = _changed(json.loads(old), json.loads(new))
    _refuse(path for path in paths if path[0] != "payload" or before.source == SESSION)
    if before.source == CONVERSATION.name:
        _check_message(before.payload, after.payload, form)
    elif before.source == SYSTEM.name:
        _refuse(path for path in paths if path[1] != "parts")
    elif before.source == PLUGIN.name:
        _refuse(path for path in paths if path[1] != "schemas")
        _check_schemas(before.payload["schemas"], after.payload["schemas"])
    else:
        _refuse(path for path in paths if path[1] != "text")


def _check_ledger_line(old: bytes, new: bytes, *, form: Format) -> None:
    before, after = Entry.read(old).record, Entry.read(new).record
    _refuse(path for path in _changed(json.loads(old), json.loads(new)) if not _is_text(path))
    if isinstance(before, Collected) and isinstance(after, Collected):
        _check_schemas(before.schemas, after.schemas)
        for one, other in zip(_messages(before), _messages(after), strict=True):
            if one.payload is not None and other.payload is not None:
                _check_message(one.payload, other.payload, form)


def _check_fact(old: bytes, new: bytes) -> None:
    facts.FactChange.read(new)
    _refuse(path for path in _changed(json.loads(old), json.loads(new)) if path != ("text",))


def _is_text(path: _Keys) -> bool:
    """Whether it is a text in an entry of the ledger: what people or plugins wrote, and nothing is found by."""
    if path[0] == "hunks":
        return "payload" in path or path[-1] in {"hint", "preview"}
    return path[0] in {"schemas", "why", "by"} or (path[0] == "removals" and path[-1] in {"reason", "phase"})


def _messages(record: Collected) -> Iterator[SavedMessage]:
    for hunk in record.hunks:
        yield from (*hunk.gone, *hunk.come)


def _check_message(old: Payload, new: Payload, form: Format) -> None:
    """A message stays what it is: its parts are those that they were, and only their texts differ."""
    _refuse(
        path
        for path in _changed(old, new)
        if "input" not in path and (path[-1] in _SEALED or str(_at(old, path)).startswith("data:"))
    )
    try:
        same = form.role(old) is form.role(new) and form.marks(old) == form.marks(new)
        same = same and [*map(_frame, _parts(old, form))] == [*map(_frame, _parts(new, form))]
    except (GCError, ValueError) as error:
        raise LogError(f"the message would be no message any more: {error}") from error
    if not same:
        raise LogError("it is an id, a name or another part of the message's structure")


def _parts(payload: Payload, form: Format) -> tuple[Part, ...]:
    return form.read(form.normalise(payload))


def _frame(part: Part) -> tuple[Part, Any]:
    """A part without its texts; of arguments, their shape."""
    shape = None
    if part.kind is ItemKind.TOOL_CALL and not part.free_text:
        with contextlib.suppress(ValueError, RecursionError):  # what a model wrote need not be JSON
            shape = _shape(json.loads(part.text))
    return attrs.evolve(part, text=""), shape


def _shape(value: Any) -> Any:
    """A JSON value without its texts."""
    if isinstance(value, Mapping):
        return [(key, _shape(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return [_shape(inner) for inner in value]
    return "" if isinstance(value, str) else value


def _check_schemas(old: Iterable[Payload], new: Iterable[Payload]) -> None:
    _refuse(path for path in _changed([*old], [*new], ("schemas",)) if path[-1] in _NAMED)


def _changed(old: Any, new: Any, path: _Keys = ()) -> list[_Keys]:
    """Where two JSON values have other texts. Raises LogError when they differ in more than that."""
    if isinstance(old, Mapping) and isinstance(new, Mapping) and [*old] == [*new]:
        return [found for key in old for found in _changed(old[key], new[key], (*path, key))]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [found for at, each in enumerate(old) for found in _changed(each, new[at], (*path, at))]
    if isinstance(old, str) and isinstance(new, str):
        return [] if old == new else [path]
    if old != new or type(old) is not type(new):
        raise LogError(f"it is a key{f' below {_dotted(path)}' if path else ''}")
    return []


def _at(value: Any, path: _Keys) -> Any:
    for key in path:
        value = value[key]
    return value


def _refuse(paths: Iterable[_Keys]) -> None:
    for path in paths:
        raise LogError(f"it is in {_dotted(path)}, which is no text")


def _dotted(path: _Keys) -> str:
    return ".".join(map(str, path))


# -- what is done ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    """While no session promotes facts to this file."""
    if not path.is_file():
        yield
        return
    try:
        with filelock.FileLock(f"{path.resolve()}.lock", timeout=facts.LOCK_SECONDS):
            yield
    except OSError as error:
        raise LogError(f"{path} cannot be held: {error}") from error


def _forget(directory: Path) -> None:
    """What is made anew of log and ledger; first of all, so that nothing can be made of it in between."""
    index = directory / search.FILE_NAME
    beside = (index.with_name(index.name + suffix) for suffix in ("", "-wal", "-shm"))
    try:
        for path in (*beside, *(directory / DIRECTORY).glob("*")):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise LogError(f"{directory}: not all could be deleted; purge again: {error}") from error


def _renew_digests(store: Store, state: SessionState) -> None:
    """
    Digests as log and ledger give them now: a collection whose digest does not fit could not be undone any more.

    A session that could not be folded before cannot be now; the secret is gone from it all the same.
    """
    log, ledger, end = store.log, store.ledger, store.position
    reached = Position()
    try:
        for place, entry in standing(ledger, reached, end):
            record = entry.record
            take_all(state, log, reached, record.log if isinstance(record, Rewound) else entry.at)
            before = state.context.messages
            enter(state, ledger, place, entry)
            if isinstance(record, Collected):
                count = record.digests.count
                after = state.context.messages
                found = Digests(before=digest_of_messages(before[:count]), after=digest_of_messages(after), count=count)
                _write_digests(store, place, record.digests, found)
            reached = Position(entry.at, place.end)
    except LogError as error:
        _log.warning("digests were not made anew", error=str(error))


def _write_digests(store: Store, place: ByteRange, old: Digests, new: Digests) -> None:
    if old != new:
        line = store.ledger.journal.read(place)
        replaced = line.replace(_digests(old), _digests(new))
        store.ledger.journal.overwrite(place, replaced)


def _digests(digests: Digests) -> bytes:
    """As they stand in a line: the quotes of a text are escaped, so no text holds them."""
    return f'"digests":{{"before":"{digests.before}","after":"{digests.after}"'.encode()
