"""What went wrong inside an agent without breaking it: a line each, which ``ctxgc doctor`` reads. Imports little."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

FAILURES: Final = "failures.log"
"""The log's name, beside the folders of the agents' sessions."""

MOST_BYTES: Final = 100_000
"""A log that is longer begins anew."""

_MOST_CHARS: Final = 500


def note(root: Path, why: str) -> None:
    """Add a line to the log, for its owner alone. Raises OSError."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = root / FAILURES
    fresh = os.O_TRUNC if path.exists() and path.stat().st_size > MOST_BYTES else os.O_APPEND
    line = " ".join(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {why}".split())[:_MOST_CHARS]
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | fresh, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 - the mode
        file.write(f"{line}\n")
