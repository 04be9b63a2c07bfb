"""Changes a session's past: undo, restore, rewind, branch."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from gc_core.errors import LogError
from gc_core.session.archive import Archive
from gc_core.session.collection_runner import CollectionRunner
from gc_core.session.opening import checkpoints_in
from gc_core.session.runtime import Runtime
from gc_core.session.task_memory import TaskMemory
from gc_core.session.window_meter import WindowMeter
from gc_core.storage import ledger as ledgers
from gc_core.storage import master_log as logs
from gc_core.storage.checkpoints import Checkpoint, Checkpoints
from gc_core.storage.rebuild import survives_rewinds
from gc_core.storage.state import Position, SessionState, digest_of_messages
from gc_core.values.loggers import logger
from gc_core.window.callers_list import BranchPoint, Given

_log = logger("gc_core.session")


class Timeline:
    """Undoes collections, and goes back to earlier moments."""

    def __init__(
        self, runtime: Runtime, *, task: TaskMemory, meter: WindowMeter, archive: Archive, collections: CollectionRunner
    ) -> None:
        self._runtime = runtime
        self._task = task
        self._meter = meter
        self._archive = archive
        self._collections = collections

    # -- undoing -------------------------------------------------------------------------------------------------

    def undo(self) -> bool:
        """Undo the last collection; see ``GCSession.undo``."""
        tokens, undone = self._tokens, self._runtime.recorder.undo() is not None
        if undone:
            _log.info("collection undone", tokens_before=tokens, tokens_after=self._tokens)
            self.window_changed()
        return undone

    def redo(self) -> bool:
        """Redo what was undone last; see ``GCSession.redo``."""
        tokens, redone = self._tokens, self._runtime.recorder.redo() is not None
        if redone:
            _log.info("collection redone", tokens_before=tokens, tokens_after=self._tokens)
            self.window_changed()
        return redone

    def restore(self, item: str) -> None:
        """Restore one collected item; see ``GCSession.restore``."""
        tokens = self._tokens
        self._runtime.recorder.restore(item)
        _log.info("item restored", item=item, tokens_before=tokens, tokens_after=self._tokens)
        self.window_changed()

    def release(self) -> None:
        """Allow restored content to be collected again."""
        held = any(self._runtime.context.find(key) is not None for key in self._runtime.state.undone)
        self._runtime.recorder.release()
        if held:
            _log.info("pins released")

    # -- going back ----------------------------------------------------------------------------------------------

    def rewind(self, turn: int) -> None:
        """Go back to the moment before a turn; see ``GCSession.rewind``."""
        to = self._runtime.recorder.turn_began(turn)
        self._go_back(to, f"before turn {turn}", self._state_at(to))

    def branch_off(self, kept: int, *, is_summed_up: bool) -> None:
        """
        Continue after this many messages of the caller's list. What was collected there stays collected, unless
        something in the window covers messages on both sides: then everything since is taken back.

        What left the list does not count any more, unless the caller's own summary stands for it.
        """
        recorder, state = self._runtime.recorder, self._runtime.state
        given, dropped = state.given[kept], len(state.given) - kept
        if state.can_branch(kept):
            tokens = self._tokens
            end = self._runtime.store.position.log
            point = state.branch_point(kept) or self._branch_point(given)
            recorder.branch(kept, point, 0 if is_summed_up else given.log)
            if not is_summed_up:
                self._archive.take_back(given.log, end)
                self._task.reader.take_back(given.log, end)
            _log.info("list branched off", kept=kept, dropped=dropped, tokens_before=tokens, tokens_after=self._tokens)
            self.window_changed()
            return
        to = Position(given.log, given.ledger)
        self._go_back(to, f"before message {kept + 1} of the list", self._state_at(to))

    def checkpoint(self) -> Checkpoint:
        """Write a checkpoint to go back to. Raises LogError if it cannot be written."""
        self._task.reader.save()
        return self._runtime.store.checkpoint(self._runtime.state)

    def rollback(self, checkpoint: Checkpoint | None = None) -> Checkpoint:
        """Go back to a checkpoint; see ``GCSession.rollback``."""
        if not isinstance(checkpoint, Checkpoint | None):
            raise LogError(f"checkpoint = {checkpoint!r:.200}: expected one that checkpoint() gave")
        store = self._runtime.store
        target = checkpoint or self.newest_checkpoint()
        where = f"the checkpoint at {target.at.log}"
        if target.session != store.session or not store.reaches(target.at):
            raise LogError(f"{where} is of another session or branch")
        if not survives_rewinds(store.ledger, target.at, store.position):
            raise LogError(f"{where} was itself taken back")
        state = store.state_at(target.at, self._runtime.fresh)
        found = digest_of_messages(state.context.messages)
        if found != target.digest:
            raise LogError(f"{where} has digest {target.digest}; the files have {found}")
        self._go_back(target.at, where, state)
        return target

    def newest_checkpoint(self) -> Checkpoint:
        """Return the newest checkpoint. Raises LogError if there is none."""
        store = self._runtime.store
        newest = store.newest_checkpoint()
        if newest is None and store.temporary:
            raise LogError("there is no checkpoint to go back to: a session without directory= writes none by itself")
        if newest is None:
            raise LogError(f"{self._runtime.directory} holds no checkpoint to go back to")
        return newest

    def window_changed(self) -> None:
        """Do everything that follows a change of the window other than a collection, in order."""
        self._task.forget_restated()
        self._meter.reset()
        self._warn_if_large()
        self._meter.raw_sent = 0
        self._collections.forget()
        self._runtime.budget_changed()

    # -- branching -----------------------------------------------------------------------------------------------

    def branch(self, directory: Path, at: int | None) -> None:
        """
        Copy the files into an empty directory, up to now or to the start of turn ``at``. Raises LogError for any other
        directory.
        """
        store = self._runtime.store
        position = store.position if at is None else self._runtime.recorder.turn_began(at)
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise LogError(f"{directory} is not empty; a branch needs an empty directory")
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, size in ((logs.FILE_NAME, position.log), (ledgers.FILE_NAME, position.ledger)):
                _copy(store.directory / name, directory / name, size)
        except OSError as error:
            shutil.rmtree(directory, ignore_errors=True)
            raise LogError(f"the branch {directory} cannot be written: {error}") from error
        with contextlib.suppress(LogError):  # isolation keeps the error; log and ledger hold the same
            self._copy_checkpoints(
                checkpoints_in(directory.absolute(), self._runtime.settings, self._runtime.plugins), position
            )

    # -- inside --------------------------------------------------------------------------------------------------

    @property
    def _tokens(self) -> int:
        """Tokens of the current request, uncalibrated."""
        return self._runtime.context.budget.total

    def _state_at(self, to: Position) -> SessionState:
        return self._runtime.store.state_at(to, self._runtime.fresh)

    def _branch_point(self, given: Given) -> BranchPoint:
        state = self._state_at(Position(given.log, given.ledger))
        return BranchPoint(state.context.cursor, state.objective)

    def _go_back(self, to: Position, why: str, state: SessionState) -> None:
        """Go back; what the host set stays: model and window, sources, and blocks that wait for the next request."""
        recorder, was, tokens = self._runtime.recorder, self._runtime.state, self._tokens
        recorder.rewind(to, state, why)
        _log.info("session went back", to=why, tokens_before=tokens, tokens_after=self._tokens)
        if state.configured != was.configured:
            recorder.configure(was.configured)
        for source in was.context.budget.sources:
            recorder.register(source)
        for block in was.blocks.given:
            state.give(block.source, {block.name: block.text})
        state.blocks.forget_quotes()
        with contextlib.suppress(LogError):  # it is done and written; a checkpoint only speeds it up
            self._runtime.store.checkpoint(recorder.state)
        self.window_changed()
        self._archive.forget()
        self._task.reader.forget()

    def _warn_if_large(self) -> None:
        moment = self._meter.moment()
        if not self._meter.scheduler.fits(moment):
            taken, usable = moment.taken, self._runtime.config.usable
            _log.warning("window too large", tokens=taken, usable_tokens=usable, remedy="release() what came back")

    def _copy_checkpoints(self, to: Checkpoints, until: Position) -> None:
        known = self._runtime.store.checkpoints
        for key in known.moments(until):
            data = known.data(key)
            if data is not None:
                to.put(key, data)


def _copy(source: Path, target: Path, size: int) -> None:
    with source.open("rb") as old, target.open("xb") as new:
        target.chmod(0o600)
        left = size
        while left and (part := old.read(min(left, 1 << 20))):
            new.write(part)
            left -= len(part)
