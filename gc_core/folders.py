"""Folders for their owner alone, and temporary ones that end with the process that made them."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
from pathlib import Path

from gc_core.errors import LogError
from gc_core.logs import logger

_OTHERS = stat.S_IRWXG | stat.S_IRWXO

_log = logger("gc_core.store")


class TemporaryFolder:
    """
    A folder that is removed when it is closed, when nobody holds it any more, or when its process ends.

    A forked child has a copy of all that its parent has, and ends too: what it did not make, it does not remove.

    Attributes:
        path: Where it is.

    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="gc-core-"))
        self._removal = weakref.finalize(self, _remove, str(self.path), os.getpid())

    def close(self) -> None:
        """Remove it, with all that is in it."""
        self._removal()


def private(folder: Path) -> Path:
    """
    A folder that its owner alone may enter: made where it is missing, closed to others where it was open to them.

    Where it belongs to somebody else it stays as it is, and a warning in the log says so. Raises LogError when it
    cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(folder.stat().st_mode)
    except OSError as error:
        raise LogError(f"{folder} cannot be made: {error}") from error
    if mode & _OTHERS:
        try:
            folder.chmod(mode & ~_OTHERS)
        except OSError as error:
            _log.warning("folder stays open to others", path=str(folder), mode=f"{mode:o}", error=str(error))
    return folder


def _remove(folder: str, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)
