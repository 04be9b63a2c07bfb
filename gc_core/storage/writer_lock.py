"""The right to write in a session's directory, which one session holds at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gc_core.errors import LogError
from gc_core.storage.file_handle import Ring

if TYPE_CHECKING:
    from filelock import BaseFileLock

FILE_NAME: Final = "lock"

LOCKS: Final = Ring(128)
"""
The locks that a process holds open together: each costs a file descriptor. Beyond these the one that was not used for
longest rests.
"""


class WriterLock:
    """
    A lock on a directory that can rest while its session is idle and many others are open.

    A resting lock holds no descriptor, so another process may open the session. Where one has, this session has lost
    the directory: its next call and every write raise LogError, and nothing of the other's is touched. Use it as a
    context manager around each write.

    Args:
        directory: The directory of the session.
        files: The files that every writer changes when it opens the session: log and ledger.

    Raises:
        LogError: Another session holds the directory, or it cannot be locked.

    """

    def __init__(self, directory: Path, files: Sequence[Path]) -> None:
        import filelock

        self._directory = directory
        self._files = files
        # Not for one thread only: a session may be closed in another thread than the one that opened it.
        self._lock: BaseFileLock = filelock.FileLock(directory / FILE_NAME, mode=0o600, thread_local=False)
        self._mutex = threading.RLock()
        self._used = True
        self._seen: list[tuple[int, int, int] | None] | None = None
        """The files as they were when the lock began to rest; None while it is held."""
        self.is_lost = False
        """Whether another session opened the directory while this lock rested."""
        self._acquire()

    def wake(self) -> None:
        """Hold the lock. Raises LogError when another session opened the directory since it began to rest."""
        self._used = True
        if self._seen is not None:
            with self._mutex:
                self._acquire_again()

    def __enter__(self) -> None:
        """Hold the lock until the block ends. Raises LogError as ``wake`` does."""
        self._mutex.acquire()
        try:
            self.wake()
        except BaseException:
            self._mutex.release()
            raise

    def __exit__(self, *exception: object) -> None:
        """Let it rest again when it may."""
        self._mutex.release()

    def rest(self) -> bool:
        """Release it until it is needed again, unless it was used since the last time; returns whether it rests."""
        if self._used or not self._mutex.acquire(blocking=False):
            self._used = False
            return False
        try:
            if self._seen is None and self._lock.is_locked:
                self._seen = self._look()
                self._lock.release()
        finally:
            self._mutex.release()
        return True

    def release(self) -> None:
        """Release it for good."""
        with self._mutex:
            self._lock.release()

    def _acquire(self) -> None:
        import filelock

        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout as error:
            raise LogError(
                f"{self._directory} is open in another session, and a log has one writer: close that session, or make"
                f" the change in the process that has it open (lsof {self._directory / FILE_NAME} names it)"
            ) from error
        except OSError as error:
            raise LogError(f"{self._directory} cannot be locked: {error}") from error
        LOCKS.add(self)

    def _acquire_again(self) -> None:
        if self._seen is None:
            return
        if not self.is_lost:
            try:
                self._acquire()
            except LogError:
                self.is_lost = True
                raise
            self.is_lost = self._seen != self._look()
        if self.is_lost:
            self._lock.release()
            raise LogError(
                f"{self._directory} was opened by another session while this one rested, as the idlest of more than"
                f" {LOCKS.limit} open sessions: open it again"
            )
        self._seen = None

    def _look(self) -> list[tuple[int, int, int] | None]:
        return [_seen(path) for path in self._files]


def _seen(path: Path) -> tuple[int, int, int] | None:
    """Inode, bytes and time of the last change; None for a file that is missing."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
