"""Folders that only their owner can enter, and temporary ones that end with the process that made them."""

from __future__ import annotations

import contextlib
import os
import stat
import weakref
from pathlib import Path
from typing import Final

from gc_core.errors import LogError

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""Permissions of others than the owner."""


class TemporaryFolder:
    """
    A folder that is removed when it is closed, when it is garbage collected, or when its process ends.

    A forked child has a copy of everything its parent has, and ends too: it does not remove what it did not create.

    Attributes:
        path: The path.

    """

    def __init__(self) -> None:
        import tempfile

        self.path = Path(tempfile.mkdtemp(prefix="gc-core-"))
        self._removal = weakref.finalize(self, _remove, str(self.path), os.getpid())

    def close(self) -> None:
        """Remove the folder and its contents."""
        self._removal()


def private(folder: Path) -> Path:
    """
    Return a folder that only its owner can enter: created if missing, closed to others if it was open.

    A folder of another owner stays as it is, which ``ctxgc doctor`` reports. Raises LogError when it cannot be created.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(folder.stat().st_mode)
    except FileExistsError as error:
        raise LogError(f"{folder} is a file; expected a directory") from error
    except OSError as error:
        raise LogError(f"{folder} cannot be created: {error.strerror or error}") from error
    if mode & OTHERS:
        with contextlib.suppress(OSError):
            folder.chmod(mode & ~OTHERS)
    return folder


def _remove(folder: str, maker: int) -> None:
    import shutil

    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)
