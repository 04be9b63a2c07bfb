"""Checkpoints: the whole state at one moment, so that opening a session takes time in proportion to its window."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from gc_core.errors import LogError, PluginError
from gc_core.isolation import Attempt, PluginFailure, isolated
from gc_core.plugins.checkpoint_backends import DATABASE, FOLDER, FileBackend, SQLiteBackend
from gc_core.plugins.contract import MemoryBackend
from gc_core.providers.calibration import Calibration
from gc_core.relevance.objective import Objective
from gc_core.storage.ledger import Configured, Opened, converter_of_records, inconsistent_record, unreadable
from gc_core.storage.packed import Packed
from gc_core.storage.state import Position, SessionState, digest_of_messages
from gc_core.values.config import FILES, SQLITE
from gc_core.values.json_values import DEEPEST_RECORD, read_json
from gc_core.values.loggers import logger
from gc_core.values.patterns import regex
from gc_core.values.references import ByteRange
from gc_core.values.sources import BUILT_IN_SOURCES, InstructionSource
from gc_core.window.callers_list import Given
from gc_core.window.context import Head
from gc_core.window.cursor import Cursor
from gc_core.window.memory_blocks import Block, Blocks
from gc_core.window.patches import SavedMessage
from gc_core.window.pending_head import Changes

if TYPE_CHECKING:
    import cattrs

KEPT_NEWEST = 20
"""The least number of checkpoints that are kept, however old."""

_SUM = b',"sum":"%s"}'
_SUM_BYTES, _DIGEST_BYTES = len(_SUM) - 2 + 32, 16

_NAME = regex(r"(\d{1,18})-(\d{1,18})\.json", re.ASCII)

_log = logger("gc_core.checkpoints")

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Checkpoint:
    """
    The state of a session at one moment. Content that the log has verbatim is not stored twice, and blocks that wait
    for the end of a request are not stored: no log knows of them yet.

    Attributes:
        at: The sizes of log and ledger.
        session: The session's id.
        opened: How it was last opened.
        counter: Name of the counter of its tokens.
        digest: The digest of the messages, in hex.
        settings: Model and window.
        sources: Sources other than the built-in ones.
        head: The content before the conversation.
        messages: The messages of the window.
        cursor: The state of the numbering.
        results: Id of the message with the results of the current batch, or "".
        changes: Changes of the head that wait for a break.
        newest: Source, name and item of every newest version.
        calibration: The calibration from usage reports.
        pinned_turns: Turns that no action changes.
        sent: A request was rendered.
        sent_digest: The digest of the last request, in hex; "" if unknown.
        undone: Items that undoing brought back.
        done: The places in the ledger of the collections in effect.
        undoable_from: The index of the first that can still be undone.
        taken_back: The places of those that were undone, the next one to redo last.
        turns: Where each turn began.
        thinking: Items with thinking of the current turn, if the model drops that of earlier ones.
        carried: Blocks that are kept after a compaction and still wait.
        cleared: Items that the provider leaves out.
        objective: The agent's objective.
        given: The known part of the caller's list.
        compacted_at: Messages of that list before the provider's last compaction.

    """

    at: Position
    session: str
    opened: Opened
    counter: str
    digest: str
    settings: Configured
    sources: tuple[InstructionSource, ...]
    head: Head
    messages: tuple[SavedMessage, ...]
    cursor: Cursor
    results: str
    changes: Changes
    newest: tuple[tuple[str, str, str], ...]
    calibration: Calibration
    pinned_turns: tuple[int, ...]
    sent: bool
    undone: tuple[str, ...]
    done: tuple[ByteRange, ...]
    sent_digest: str = ""
    undoable_from: int = 0
    taken_back: tuple[ByteRange, ...]
    turns: Packed[Position]
    thinking: tuple[str, ...]
    carried: tuple[Block, ...] = ()
    cleared: tuple[str, ...] = ()
    objective: Objective = attrs.field(factory=Objective)
    given: tuple[Given, ...] = ()
    compacted_at: int = 0

    @classmethod
    def of(cls, state: SessionState, at: Position, opened: Opened) -> Checkpoint:
        """Return a checkpoint of the current state."""
        context = state.context
        results = context.cursor.results
        return cls(
            at=at,
            session=opened.session,
            opened=opened,
            counter=state.counter.name,
            digest=digest_of_messages(context.messages),
            settings=state.configured,
            sources=tuple(source for source in context.budget.sources if source not in BUILT_IN_SOURCES),
            head=context.head,
            messages=tuple(map(SavedMessage.of, context.messages)),
            cursor=context.cursor,
            results="" if results is None else results.id,
            changes=state.changes,
            newest=tuple((*key, item) for key, item in state.blocks.newest.items()),
            calibration=state.calibration,
            pinned_turns=tuple(sorted(state.pinned_turns)),
            sent=state.sent,
            sent_digest=state.sent_digest,
            undone=tuple(sorted(state.undone)),
            done=tuple(state.done),
            undoable_from=state.undoable_from,
            taken_back=tuple(state.taken_back),
            turns=state.turns.copy(),
            thinking=tuple(state.thinking),
            carried=tuple(block for block in state.blocks.waiting if block.policy is not None),
            cleared=tuple(sorted(state.cleared)),
            objective=state.objective,
            given=tuple(state.given),
            compacted_at=state.compacted_at,
        )

    def restore(self, state: SessionState) -> None:
        """
        Restore this state into a fresh one. Raises LogError when the log does not contain what it was made from; the
        state is unusable then.

        Tokens are kept as they were counted, unless another counter is in use now.
        """
        try:
            self._restore(state)
        except inconsistent_record() as error:
            raise LogError(f"checkpoint at {self.at.log}: {type(error).__name__}: {error}") from error

    def _restore(self, state: SessionState) -> None:
        state.configure(self.settings, state.counted_for(self.settings.model))
        for source in self.sources:
            state.register(source)
        messages = [state.load(saved) for saved in self.messages]
        found = digest_of_messages(messages)
        if found != self.digest:
            raise LogError(f"its messages have digest {found}, expected {self.digest}")
        results = next((message for message in messages if message.id == self.results), None)
        state.context.set_head(self.head)
        context = state.context.with_messages(messages, attrs.evolve(self.cursor, results=results))
        state.context = context if self.counter == state.counter.name else context.recounted(state.intake())
        state.changes = self.changes
        state.blocks = Blocks(self.carried, newest={(source, name): item for source, name, item in self.newest})
        state.calibration = self.calibration
        state.pinned_turns = frozenset(self.pinned_turns)
        state.sent, state.sent_digest = self.sent, self.sent_digest
        state.undone = frozenset(self.undone)
        state.undoable_from = self.undoable_from
        state.done, state.taken_back = Packed(ByteRange, self.done), list(self.taken_back)
        state.turns, state.thinking = self.turns.copy(), list(self.thinking)
        state.cleared = frozenset(self.cleared)
        state.objective = self.objective
        state.given, state.compacted_at = list(self.given), self.compacted_at
        if state.given:
            state.cite_nothing()


Guard = Callable[[str, str], AbstractContextManager[Attempt]]
"""Isolates a backend's code, given the backend's name and the operation."""


@contextlib.contextmanager
def log_backend_failure(backend: str, doing: str) -> Iterator[Attempt]:
    """Isolate without recording: a backend's error is only logged."""
    with isolated() as attempt:
        yield attempt
    if attempt.error is not None:
        attempt.failure = PluginFailure(plugin=backend, doing=doing, error=attempt.error)
        _log.warning("checkpoints not used", error=str(attempt.failure))


class Checkpoints:
    """
    The checkpoints of a session. An unusable one, torn or with a flipped bit, is skipped with a warning in the log.

    A failing backend is skipped too: log and ledger contain the same, and so do an older checkpoint and what came
    since.

    Args:
        backend: Stores them.
        name: Its name in a configuration.
        guard: Isolates its code.

    """

    def __init__(self, backend: MemoryBackend, name: str = FILES, guard: Guard = log_backend_failure) -> None:
        self.name = name
        self._backend = backend
        self._guard = guard
        self._passed_over: set[str] = set()

    def write(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, and delete those that are not needed. Raises LogError when it cannot be written."""
        key = key_of(checkpoint.at)
        text = json.dumps(_converter().unstructure(checkpoint), ensure_ascii=False, separators=(",", ":"))
        self.put(key, sealed(text.encode("utf-8", "surrogatepass")))
        self._thin_out()

    def put(self, key: str, data: bytes) -> None:
        """Store a checkpoint as another backend stored it. Raises LogError on failure."""
        with self._guard(self.name, "write") as attempt:
            self._backend.write(key, data)
        if attempt.error is not None:
            raise LogError(f"a checkpoint cannot be written: {attempt.failure}") from attempt.error

    def forget(self, end: Position) -> None:
        """
        Delete the checkpoints of lost bytes, which other content will replace when log and ledger grow again.

        Raises LogError on failure.
        """
        for key, at in self.moments().items():
            if at.log > end.log or at.ledger > end.ledger:
                self._delete(key)

    def forget_all(self) -> None:
        """Delete everything that the backend stores. Raises LogError on failure."""
        with self._guard(self.name, "keys") as attempt:
            keys = list(self._backend.keys())
        if attempt.error is not None:
            raise LogError(f"not every checkpoint can be removed: {attempt.failure}") from attempt.error
        for key in keys:
            self._delete(key)

    def newest(self, before: Position) -> Iterator[Checkpoint]:
        """Yield the readable checkpoints up to a moment, newest first."""
        for key in reversed(self.moments(before)):
            if key not in self._passed_over:
                try:
                    checkpoint = self.read(key)
                except LogError as error:
                    self._pass_over(key, error)
                else:
                    yield checkpoint

    def pass_over(self, checkpoint: Checkpoint, why: LogError) -> None:
        """Mark a checkpoint as unusable: it is not offered again."""
        self._pass_over(key_of(checkpoint.at), why)

    def moments(self, before: Position | None = None) -> dict[str, Position]:
        """Return the keys of the checkpoints up to a moment, or of all, each with its own moment; oldest first."""
        found: dict[str, Position] = {}
        with self._guard(self.name, "keys"):
            keys = self._backend.keys()
            for key in keys:
                at = _moment(_checked(key, str))
                if at is not None and (before is None or (at.log <= before.log and at.ledger <= before.ledger)):
                    found[key] = at
        return dict(sorted(found.items(), key=lambda pair: (pair[1].log, pair[1].ledger)))

    def read(self, key: str) -> Checkpoint:
        """
        Return a checkpoint. Raises LogError if it cannot be read; an older one, or log and ledger,
        contain the same.
        """
        text = _unsealed(self.data(key) or b"")
        try:
            checkpoint: Checkpoint = _converter().structure(read_json(text, DEEPEST_RECORD), Checkpoint)
        except unreadable() as error:
            raise LogError(f"{type(error).__name__}: {error}") from error
        if key != key_of(checkpoint.at):
            raise LogError(f"it says that it is of {checkpoint.at.log}-{checkpoint.at.ledger}")
        return checkpoint

    def data(self, key: str) -> bytes | None:
        """Return a checkpoint as the backend stores it; None if it does not, or cannot say."""
        found: bytes | None = None
        with self._guard(self.name, "read"):
            answer = self._backend.read(key)
            found = None if answer is None else _checked(answer, bytes)
        return found  # noqa: RET504 - also where the border has caught something

    def _pass_over(self, key: str, why: LogError) -> None:
        self._passed_over.add(key)
        _log.warning("checkpoint skipped", checkpoint=f"{self.name}/{key}", why=str(why))

    def _thin_out(self) -> None:
        keys = self.moments()
        for key in checkpoints_to_prune(keys):
            with self._guard(self.name, "delete"):
                self._backend.delete(key)

    def _delete(self, key: str) -> None:
        with self._guard(self.name, "delete") as attempt:
            self._backend.delete(key)
        if attempt.error is not None:
            raise LogError(f"checkpoint {key:.99} cannot be removed: {attempt.failure}") from attempt.error


def shown(directory: Path, *, writable: bool) -> Checkpoints:
    """
    Return the checkpoints in a session's directory; if they are stored in several ways, those with
    the newest of all.
    """
    return max(checkpoint_stores_in(directory, writable=writable), key=lambda each: max(each.moments(), default=""))


def checkpoint_stores_in(
    directory: Path, guard: Guard = log_backend_failure, *, writable: bool = False
) -> tuple[Checkpoints, ...]:
    """Return all checkpoints that may be in a session's directory, whatever its current configuration."""
    files = Checkpoints(FileBackend(directory / FOLDER), FILES, guard)
    if not (directory / DATABASE).is_file():
        return (files,)
    return files, Checkpoints(SQLiteBackend(directory / DATABASE, writable=writable), SQLITE, guard)


def sealed(text: bytes) -> bytes:
    """
    Return a JSON object with its own digest as its last member: with a flipped bit it may still be JSON with another
    meaning.
    """
    return text[:-1] + _SUM % _digest(text[:-1])


def _unsealed(data: bytes) -> bytes:
    """Return the object without its digest. Raises LogError if that does not match."""
    text = data[:-_SUM_BYTES]
    if data[-_SUM_BYTES:] != _SUM % _digest(text):
        raise LogError(f"its {len(data):,} bytes are not as they were written")
    return text + b"}"


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).hexdigest().encode()


def checkpoints_to_prune(moments: Mapping[str, Position]) -> list[str]:
    """
    Return which of these checkpoints, oldest first, may be deleted: the newest 20 stay, and of the older ones enough
    that from any moment the previous one is nearer than a quarter of the distance to the newest.

    So their number grows with the logarithm of the session's length, and going back a hundred steps reads little more
    than going back one.
    """
    keys = list(moments)
    places = [moments[key].log + moments[key].ledger for key in keys]
    superfluous, newer = [], len(keys) - KEPT_NEWEST
    for number in range(newer - 1, -1, -1):
        before = places[number - 1] if number else 0
        if places[newer] - before <= (places[-1] - places[number]) // 4:
            superfluous.append(keys[number])
        else:
            newer = number
    return superfluous


def key_of(at: Position) -> str:
    """Return the key of the checkpoint of a moment: sorted keys are in order of time."""
    return f"{at.log:015d}-{at.ledger:015d}.json"


def _moment(key: str) -> Position | None:
    """Return the moment in a key, or None for any other key."""
    found = _NAME.fullmatch(key)
    return None if found is None else Position(int(found.group(1)), int(found.group(2)))


def _checked(answer: Any, kind: type[T]) -> T:
    if not isinstance(answer, kind):
        raise PluginError(f"answered {answer!r:.200}; expected {kind.__name__}")
    return answer


def _position(pair: Any, _: object) -> Position:
    log, ledger = (converter_of_records().structure(each, int) for each in pair)
    return Position(log, ledger)


def _given(row: Any, _: object) -> Given:
    digest, *numbers = row
    items, log, ledger = (converter_of_records().structure(each, int) for each in numbers)
    return Given(converter_of_records().structure(digest, str), items, log, ledger)


@functools.cache
def _converter() -> cattrs.Converter:
    converter = converter_of_records().copy()
    converter.register_unstructure_hook(Position, lambda position: [position.log, position.ledger])
    # In long sessions the turns are most of a checkpoint: one hook for all of them calls nothing for each.
    converter.register_unstructure_hook_func(lambda kind: kind == Packed[Position], lambda turns: turns.pairs())
    converter.register_structure_hook_func(
        lambda kind: kind == Packed[Position],
        lambda pairs, _: Packed(Position, [_position(pair, None) for pair in pairs]),
    )
    converter.register_unstructure_hook_func(
        lambda kind: kind == tuple[Given, ...],
        lambda given: [[each.digest, each.items, each.log, each.ledger] for each in given],
    )
    converter.register_structure_hook(Given, _given)
    converter.register_structure_hook(Position, _position)
    return converter
