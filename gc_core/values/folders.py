"""Folders for their owner alone, and temporary ones that end with the process that made them."""

from __future__ import annotations

import contextlib
import os
import stat
import weakref
from pathlib import Path
from typing import Final

from gc_core.errors import LogError

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""What others than the owner may do."""


class TemporaryFolder:
    """
    A folder that is removed when it is closed, when no one holds it any more, or when its process ends.

    A forked child has a copy of all that its parent has, and ends too: what it did not make, it does not remove.

    Attributes:
        path: Where it is.

    """

    def __init__(self) -> None:
        import tempfile

        self.path = Path(tempfile.mkdtemp(prefix="gc-core-"))
        self._removal = weakref.finalize(self, _remove, str(self.path), os.getpid())

    def close(self) -> None:
        """Remove it, with all that is in it."""
        self._removal()


def private(folder: Path) -> Path:
    """
    Return a folder that its owner alone may enter: made where it is missing, closed to others where it was open to
    them.

    Where it belongs to somebody else it stays as it is, which the doctor tells. Raises LogError when it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(folder.stat().st_mode)
    except OSError as error:
        raise LogError(f"{folder} cannot be made: {error}") from error
    if mode & OTHERS:
        with contextlib.suppress(OSError):
            folder.chmod(mode & ~OTHERS)
    return folder


def _remove(folder: str, maker: int) -> None:
    import shutil

    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)
