"""
What is kept of one session of an agent without a gateway: originals of shortened results, what a compaction may not
lose, and the session that is made of the agent's own log. Imports little: hooks use it.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Final

INDEX: Final = "## What can be read again"
"""The heading of the last part of what is put back after a compaction."""

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}\Z", re.ASCII)
_ABOUT: Final = "agent.json"
_CARRIED: Final = "carried.md"
_ORIGINALS: Final = "originals"
_SESSION: Final = "session"


class AgentFolder:
    """
    The folder of one session of an agent.

    Args:
        path: The folder; made, for its owner alone, with the first thing that is kept.

    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, root: Path, agent: str, session: str) -> AgentFolder:
        """Return the folder of a session. Raises ValueError for an id that could name anything else."""
        return cls(root / agent / checked_id(session))

    @property
    def root(self) -> Path:
        """The folder of all agents."""
        return self.path.parent.parent

    @property
    def session(self) -> Path:
        """The directory of the session that is made of the agent's log."""
        return self.path / _SESSION

    # -- the transcript ------------------------------------------------------------------------------------------------

    def note_transcript(self, path: str) -> None:
        """Remember where the agent writes its log. Raises OSError and ValueError."""
        if not Path(path).is_absolute():
            raise ValueError(f"transcript_path = {path!r:.200}: expected an absolute path")
        if self.transcript != Path(path):
            self._write(self.path / _ABOUT, json.dumps({"transcript": path}))

    @property
    def transcript(self) -> Path | None:
        """Where the agent writes its log; None if no hook has said so."""
        try:
            told = json.loads((self.path / _ABOUT).read_text(encoding="utf-8"))
            return Path(told["transcript"])
        except (OSError, ValueError, LookupError, TypeError):
            return None

    # -- originals -----------------------------------------------------------------------------------------------------

    def keep(self, call: str, text: str) -> None:
        """Keep the original of a call's result. Raises OSError where it cannot be written, ValueError for no id."""
        self._write(self.path / _ORIGINALS / f"{checked_id(call)}.txt", text)

    def original(self, call: str) -> str | None:
        """Return the original of a call's result; None if none was kept."""
        if not _ID.match(call):
            return None
        try:
            data = (self.path / _ORIGINALS / f"{call}.txt").read_bytes()
        except OSError:
            return None
        return data.decode("utf-8", "surrogatepass")

    # -- what a compaction may not lose --------------------------------------------------------------------------------

    def carry(self, text: str) -> None:
        """Replace what is put back after a compaction. Raises OSError."""
        if text != self.carried():
            self._write(self.path / _CARRIED, text)

    def carried(self, most: int = 1_000_000) -> str:
        """Return what is put back after a compaction, at most so many characters; "" for nothing."""
        try:
            return (self.path / _CARRIED).read_text(encoding="utf-8")[:most].strip()
        except (OSError, UnicodeDecodeError):
            return ""

    # -- inside --------------------------------------------------------------------------------------------------------

    def _write(self, path: Path, text: str) -> None:
        """Write a file whole or not at all, for its owner alone."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123 - the mode
                file.write(text.encode("utf-8", "surrogatepass"))
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def checked_id(text: object) -> str:
    """Return an id of an agent's. Raises ValueError for what could name anything else."""
    if not isinstance(text, str) or not _ID.match(text):
        raise ValueError(f"id = {text!r:.100}: expected letters, digits, '-' and '_'")
    return text
