"""The file of a task state: how far the log was read, so that an opened session need not read it from the start."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import attrs

from gc_core.errors import LogError, StateError
from gc_core.plugins.checkpoint_backends import FileBackend
from gc_core.storage import master_log as logs
from gc_core.storage.ledger import unreadable
from gc_core.storage.master_log import MasterLog
from gc_core.storage.originals import TakenBack
from gc_core.storage.rebuild import survives_rewinds
from gc_core.storage.state import Position
from gc_core.storage.store import Store
from gc_core.task.values import TaskState
from gc_core.values.json_values import read_json
from gc_core.values.loggers import logger
from gc_core.values.references import ByteRange

if TYPE_CHECKING:
    import cattrs

FILE_NAME: Final = "task_state.json"

VERSION: Final = 3
"""The version of the file, and of the extractor's results: a file of another version is ignored and rewritten."""

_MARK_BYTES = 4_096
_log = logger("gc_core.task_file")


@attrs.frozen(kw_only=True)
class OpenCall:
    """A call without a result, as far as the result needs it."""

    call_id: str
    item: str
    name: str
    unit: int


@attrs.frozen(kw_only=True)
class SavedState:
    """
    The state as far as the log was read. Derived: log and ledger contain all of it.

    Attributes:
        session: The session's id.
        extractor: The extractor's name.
        log: The bytes of the log that it covers.
        ledger: The bytes of the ledger at that time.
        mark: Digest of the last bytes of the log before that place, in hex.
        skipped: Bytes of the log that were taken back, from and to.
        unit: Number of the last unit.
        spoke: The last message was the assistant's.
        open: Calls without a result.
        state: The state, as JSON.
        version: See ``VERSION``.

    """

    session: str
    extractor: str
    log: int
    ledger: int
    mark: str
    skipped: tuple[tuple[int, int], ...] = ()
    unit: int = 0
    spoke: bool = False
    open: tuple[OpenCall, ...] = ()
    state: str
    version: int = 0

    @classmethod
    def read(cls, directory: Path) -> Self | None:
        """
        Return the saved state in a session's directory; None without one. Raises StateError for an
        unreadable one.
        """
        data = FileBackend(directory).read(FILE_NAME)
        if data is None:
            return None
        try:
            return _converter().structure(read_json(data), cls)
        except unreadable() as error:
            raise StateError(f"{directory / FILE_NAME}: {type(error).__name__}: {error}") from error

    def write(self, directory: Path) -> None:
        """Write it, completely or not at all, readable for its owner only. Raises LogError on failure."""
        text = json.dumps(_converter().unstructure(self), ensure_ascii=False, separators=(",", ":"))
        FileBackend(directory).write(FILE_NAME, text.encode("utf-8", "surrogatepass"))


def saved_state(store: Store, extractor: str) -> tuple[SavedState, TaskState] | None:
    """Return the saved state of a session's task, if it fits its log and its ledger; otherwise None."""
    if store.temporary:
        return None
    try:
        saved = SavedState.read(store.directory)
        if saved is None or not _fits(saved, store, extractor):
            return None
        return saved, TaskState.from_json(saved.state)
    except (LogError, StateError) as error:
        _log.warning("task state read again", error=str(error))
        return None


def mark_at(log: MasterLog, end: int) -> str:
    """Return a digest of the last bytes before a place: after a crash they may differ."""
    return hashlib.sha256(log.journal.read(ByteRange(max(0, end - _MARK_BYTES), end))).hexdigest() if end else ""


def state_flaws(directory: Path, session: str) -> Iterator[str]:
    """Yield what is wrong with the file in a session's directory, if there is one. Read-only."""
    try:
        saved = SavedState.read(directory)
        if saved is None:
            return
        TaskState.from_json(saved.state)
    except (LogError, StateError) as error:
        yield f"it cannot be read: {error}"
        return
    if saved.session != session:
        yield f"it is of session {saved.session!r}, not {session!r}"
    size = (directory / logs.FILE_NAME).stat().st_size
    if saved.log > size:
        yield f"it covers {saved.log} bytes of a log of {size}"


# -- inside ------------------------------------------------------------------------------------------------------------


def _fits(saved: SavedState, store: Store, extractor: str) -> bool:
    at = Position(saved.log, saved.ledger)
    return (
        (saved.version, saved.session, saved.extractor) == (VERSION, store.session, extractor)
        and store.reaches(at)
        and survives_rewinds(store.ledger, at, store.position)
        and all(start >= saved.log for start, _ in TakenBack.of(store.ledger, saved.ledger).ranges)
        and mark_at(store.log, saved.log) == saved.mark
    )


@functools.cache
def _converter() -> cattrs.Converter:
    import cattrs

    return cattrs.Converter(omit_if_default=True, forbid_extra_keys=True)
