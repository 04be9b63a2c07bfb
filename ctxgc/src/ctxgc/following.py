"""
Keeps a session in step with the log of an agent that runs now.

The log is read whole whenever it has changed, and the session takes in what it does not know yet, by the digests of
``GCSession.sync``: so a log that is rewritten, rotated or cut back needs no case of its own, and neither does one that
was followed before. What a following costs is bounded by its pauses.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

from ctxgc.evaluation.agent_logs import is_database, newest_session
from ctxgc.evaluation.transcripts import Transcript, read_content, read_transcript
from gc_core.errors import LogError, TranscriptError
from gc_core.providers import format_named
from gc_core.providers.contract import Format
from gc_core.session.session import GCSession
from gc_core.storage.master_log import FILE_NAME
from gc_core.values.config import GCConfig
from gc_core.values.folders import private
from gc_core.values.items import ItemKind
from gc_core.values.json_values import read_object
from gc_core.values.loggers import logger
from gc_core.values.messages import Payload, Role

ABOUT_NAME: Final = "followed.json"
"""The file of the directory that says which log it follows."""

LEAST_SECONDS: Final = 0.5
"""Between two looks at a log."""

SHARE: Final = 20
"""After a look that took a second, nothing is done for so many: a long log takes one part in this of a processor."""

QUIET_SECONDS: Final = 5.0
"""A log that did not change for so long has ended its last reply."""

_UNBOUNDED: Final = GCConfig(
    strategy="none", context_limit=1_000_000_000, output_reservation=0, reread_guard="off", cache_marks=False
)
"""Nothing is collected: the window is the agent's own."""

_log = logger("gc_core.following")

Seen = tuple[int, int, int]
"""Inode, bytes and time of the last change of a file."""


class Follower:
    """
    Follows one log into the session of one directory. Use it as a context manager: it holds the session open.

    Args:
        log: The agent's log: a file of Claude Code, Codex, Gemini CLI or pi, or opencode's database.
        directory: The session's directory: empty, or one that followed this log before.
        session: Which one, in a database of many; by default the one that was changed last when this began.
        model: The model whose tokens are counted.
        original: Returns a message of the log as it should be kept, where the log holds less.

    Raises:
        LogError: The directory is of another session or log, or another program writes it.
        TranscriptError: The log is a database without a session.

    """

    def __init__(
        self,
        log: Path,
        directory: Path,
        *,
        session: str = "",
        model: str | None = None,
        original: Callable[[Payload], Payload] | None = None,
    ) -> None:
        self._path = log.absolute()
        self._directory = directory
        self._model = model
        self._original = original
        self._chosen = session
        self._session: GCSession | None = None
        self._seen: Seen | None = None
        self._changed_at = 0.0
        self._is_settled = True
        self._told = ""
        self._check()

    @property
    def session(self) -> GCSession | None:
        """The session; None until the log has a message."""
        return self._session

    def look(self, *, ended: bool = False, now: float | None = None) -> int:
        """
        Take in what the log has gained; return the number of new messages.

        The newest reply waits until it is whole: until something follows it, the log was quiet for some seconds, or
        ``ended``. A log that is missing, or that holds nothing that can be read, is looked at again the next time.
        Raises LogError where the session cannot be written.
        """
        moment = time.monotonic() if now is None else now
        seen = _seen(self._path)
        if seen != self._seen:
            self._seen, self._changed_at, self._is_settled = seen, moment, False
        elif self._is_settled:
            return 0
        is_quiet = ended or moment - self._changed_at >= QUIET_SECONDS
        transcript = self._read() if seen is not None else None
        self._is_settled = is_quiet
        return 0 if transcript is None else self._take(transcript, is_quiet=is_quiet)

    def follow(self, wait: Callable[[float], bool], looked: Callable[[int], None] = lambda _: None) -> None:
        """
        Follow until ``wait`` returns True; it is given the seconds until the next look. ``looked`` gets the new
        messages of each look that found some.
        """
        while True:
            began = time.monotonic()
            found = self.look()
            if found:
                looked(found)
            if wait(max(LEAST_SECONDS, SHARE * (time.monotonic() - began))):
                break
        found = self.look(ended=True)
        if found:
            looked(found)

    def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def __enter__(self) -> Self:
        """Return the follower itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raise LogError for a directory that is used for something else."""
        about = _about(self._directory)
        if about is None:
            if self._directory.exists() and (not self._directory.is_dir() or any(self._directory.iterdir())):
                raise LogError(f"{self._directory} is not empty; a followed log needs a directory of its own")
            return
        known, session = about
        if known != str(self._path) or (self._chosen and session and self._chosen != session):
            raise LogError(f"{self._directory} follows {known}{session and f' ({session})'}, not {self._path}")
        self._chosen = session

    def _read(self) -> Transcript | None:
        """Return what the log holds; None where nothing of it can be read now."""
        try:
            if is_database(self._path):
                self._chosen = self._chosen or newest_session(self._path)
                transcript = read_transcript(self._path, session=self._chosen)
            else:
                transcript = read_transcript(self._path, _whole_lines(self._path, read_content(self._path)))
        except TranscriptError as error:
            self._tell(str(error))
            return None
        if transcript.warnings:
            self._tell(str(transcript.warnings[-1]))
        return transcript

    def _tell(self, why: str) -> None:
        """Log what cannot be read, once."""
        if why != self._told:
            self._told = why
            _log.warning("log not read whole", path=str(self._path), why=why[:500])

    def _take(self, transcript: Transcript, *, is_quiet: bool) -> int:
        form = format_named(transcript.format)
        messages = transcript.messages[: settled(transcript.messages, form, is_quiet=is_quiet)]
        if not messages:
            return 0
        if self._original is not None:
            messages = tuple(map(self._original, messages))
        session = self._opened(form)
        before = session.port.next_item
        session.sync(messages, system="\n\n".join(transcript.system) or None, tools=transcript.tools or None)
        return len(messages) if session.port.next_item != before else 0

    def _opened(self, form: Format) -> GCSession:
        """Return the session, opened once. Raises LogError where it is of another format."""
        if self._session is None:
            if (self._directory / FILE_NAME).is_file():
                self._session = GCSession.open(self._directory)
            else:
                private(self._directory)
                self._note_about()
                self._session = GCSession(_UNBOUNDED, format=form.name, model=self._model, directory=self._directory)
        if self._session.format != form.name:
            told = f"{self._path} is in the format {form.name} now"
            raise LogError(f"{told}; the session in {self._directory} is in {self._session.format}")
        return self._session

    def _note_about(self) -> None:
        told = {"log": str(self._path), "session": self._chosen}
        (self._directory / ABOUT_NAME).write_text(json.dumps(told), encoding="utf-8")


def settled(messages: Sequence[Payload], form: Format, *, is_quiet: bool) -> int:
    """
    Return how many messages, from the first, will not change any more: up to the first call after the last user
    message that waits for its result, and, while the log grows, up to a reply that nothing follows.
    """
    parts = [form.read(message) for message in messages]
    answered = {part.call_id for each in parts for part in each if part.kind is ItemKind.TOOL_RESULT}
    begins = next(
        (at for at in range(len(messages) - 1, -1, -1) if any(part.kind is ItemKind.USER_TEXT for part in parts[at])), 0
    )
    for at in range(begins, len(messages)):
        if any(part.kind is ItemKind.TOOL_CALL and part.call_id not in answered for part in parts[at]):
            return at
    ends = len(messages)
    while not is_quiet and ends and form.role(messages[ends - 1]) is Role.ASSISTANT:
        ends -= 1
    return ends


def _whole_lines(path: Path, content: bytes) -> bytes:
    """Return a log of lines without the one that is being written; any other file as it is."""
    return content if path.suffix == ".json" else content[: content.rfind(b"\n") + 1]


def _seen(path: Path) -> Seen | None:
    """Return what tells a change of the log, that beside a database included; None where there is none."""
    found = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        with contextlib.suppress(OSError):
            status = each.stat()
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return found[-1] if found else None


def _about(directory: Path) -> tuple[str, str] | None:
    """Return which log a directory follows, and which session in it; None where it says none."""
    try:
        told = read_object((directory / ABOUT_NAME).read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError):
        return None
    log, session = told.get("log"), told.get("session")
    return (log, session) if isinstance(log, str) and isinstance(session, str) else None
