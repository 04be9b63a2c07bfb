"""Checkpoints: the whole state at one moment, so that opening a session takes as long as its window is large."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from gc_core.blocks import Block, Blocks
from gc_core.calibration import Calibration
from gc_core.changes import Changes
from gc_core.context import Head
from gc_core.errors import GCError, LogError
from gc_core.hunks import SavedMessage
from gc_core.intake import Cursor
from gc_core.ledger import CONVERTER, UNREADABLE, Configured, Opened
from gc_core.references import ByteRange
from gc_core.sources import BUILT_IN_SOURCES, InstructionSource
from gc_core.state import Position, SessionState, digest_of_messages

DIRECTORY = "checkpoints"

_NAME = re.compile(r"(\d{1,18})-(\d{1,18})")


@attrs.frozen(kw_only=True)
class Checkpoint:
    """
    The state of a session at one moment. What the log holds word for word is not held twice, and blocks that wait for
    the end of a request are not held: no log knows of them yet.

    Attributes:
        at: How far log and ledger reached.
        session: The session's id: whose checkpoint it is.
        opened: How it was opened last.
        counter: Name of the counter of its tokens.
        digest: Of the messages, in hex.
        settings: Model and window.
        sources: Those beside the built-in ones.
        head: What stands before the conversation.
        messages: The messages of the window.
        cursor: Where numbering stands.
        results: Id of the message that holds the results of the current batch, or "".
        changes: What waits for a break at the head.
        newest: Source, name and item of every newest version.
        calibration: What was learned from usage reports.
        pinned_turns: Turns that no action touches.
        sent: A request was rendered.
        undone: Items that undoing brought back.
        done: Where the ledger holds the collections that are in force.
        undoable_from: Number of those that cannot be undone any more.
        taken_back: Where it holds those that were undone, the next one to redo last.
        turns: Where each turn began.
        thinking: Items with thinking of the current turn, where a model drops that of earlier ones.
        carried: Blocks that go on behind a compaction and still wait.
        cleared: Items that the provider leaves out.

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
    undoable_from: int = 0
    taken_back: tuple[ByteRange, ...]
    turns: tuple[Position, ...]
    thinking: tuple[str, ...]
    carried: tuple[Block, ...] = ()
    cleared: tuple[str, ...] = ()

    @classmethod
    def of(cls, state: SessionState, at: Position, opened: Opened) -> Checkpoint:
        """The state as it is."""
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
            undone=tuple(sorted(state.undone)),
            done=tuple(state.done),
            undoable_from=state.undoable_from,
            taken_back=tuple(state.taken_back),
            turns=tuple(state.turns),
            thinking=tuple(state.thinking),
            carried=tuple(block for block in state.blocks.waiting if block.policy is not None),
            cleared=tuple(sorted(state.cleared)),
        )

    def restore(self, state: SessionState) -> None:
        """
        Bring a fresh state to this one. Raises LogError when the log does not hold what it was made of; the state is of
        no use then.

        Tokens are taken as they were counted, unless another counter counts now.
        """
        try:
            self._restore(state)
        except (GCError, *UNREADABLE) as error:
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
        state.pinned_turns, state.sent = frozenset(self.pinned_turns), self.sent
        state.undone = frozenset(self.undone)
        state.undoable_from = self.undoable_from
        state.done, state.taken_back = list(self.done), list(self.taken_back)
        state.turns, state.thinking = list(self.turns), list(self.thinking)
        state.cleared = frozenset(self.cleared)


class Checkpoints:
    """The checkpoints of a session, a file each; one that is torn or of another session is passed over."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def write(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint: wholly, or not at all. Raises LogError when it cannot be."""
        path = self._directory / f"{checkpoint.at.log:015d}-{checkpoint.at.ledger:015d}.json"
        text = json.dumps(_CONVERTER.unstructure(checkpoint), ensure_ascii=False, separators=(",", ":"))
        new = path.with_suffix(".new")
        try:
            self._directory.mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(text.encode("utf-8", "surrogatepass"))
            new.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                new.unlink()
            raise LogError(f"{path} cannot be written: {error}") from error

    def forget(self, behind: Position) -> None:
        """
        Remove the checkpoints of bytes that were lost, and those that were never finished. When the files have grown
        again, others stand there.

        Raises LogError when that cannot be done.
        """
        try:
            for path in self._directory.glob("*.new"):
                path.unlink(missing_ok=True)
            for path in self._directory.glob("*.json"):
                at = _position(path)
                if at is not None and (at.log > behind.log or at.ledger > behind.ledger):
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise LogError(f"{self._directory}: a checkpoint of lost bytes cannot be removed: {error}") from error

    def newest(self, before: Position) -> Iterator[Checkpoint]:
        """The checkpoints up to a moment, newest first."""
        for path in reversed(self.paths(before)):
            checkpoint = read_checkpoint(path)
            if checkpoint is not None:
                yield checkpoint

    def paths(self, before: Position) -> list[Path]:
        """The files of the checkpoints up to a moment, oldest first."""
        return [path for path in sorted(self._directory.glob("*-*.json")) if _is_before(path, before)]


def _is_before(path: Path, end: Position) -> bool:
    log, _, ledger = path.stem.partition("-")
    return log.isdigit() and ledger.isdigit() and int(log) <= end.log and int(ledger) <= end.ledger


def _position(path: Path) -> Position | None:
    """The moment that a file's name says, or None for a file that is no checkpoint."""
    found = _NAME.fullmatch(path.stem)
    return None if found is None else Position(int(found.group(1)), int(found.group(2)))


def read_checkpoint(path: Path) -> Checkpoint | None:
    """None for a file that cannot be read: an older checkpoint, or log and ledger alone, tell the same."""
    try:
        return _CONVERTER.structure(json.loads(path.read_bytes().decode("utf-8", "surrogatepass")), Checkpoint)
    except (OSError, *UNREADABLE):
        return None


def _converter() -> cattrs.Converter:
    converter = CONVERTER.copy()
    converter.register_unstructure_hook(
        Cursor, make_dict_unstructure_fn(Cursor, converter, results=override(omit=True), _cattrs_omit_if_default=True)
    )
    converter.register_structure_hook(Cursor, make_dict_structure_fn(Cursor, converter, results=override(omit=True)))
    converter.register_unstructure_hook(Position, lambda position: [position.log, position.ledger])
    converter.register_structure_hook(Position, lambda pair, _: Position(int(pair[0]), int(pair[1])))
    return converter


_CONVERTER = _converter()
