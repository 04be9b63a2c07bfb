"""Converts another program's log to a session: everything in it is in the master log, as if it had been said here."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import TypedDict, Unpack

from ctxgc.evaluation.transcripts import Transcript, read_transcript
from gc_core.errors import LogError
from gc_core.events import Listener
from gc_core.plugins.manager import Plugins
from gc_core.providers.contract import TokenCounter
from gc_core.session.session import GCSession
from gc_core.values.config import GCConfig
from gc_core.values.loggers import logger
from gc_core.values.protocols import GCStrategy

_log = logger("gc_core.adoption")


class Options(TypedDict, total=False):
    """The arguments of ``GCSession`` besides configuration, format and directory."""

    model: str | None
    strategy: GCStrategy | str | None
    plugins: Plugins | None
    counter: TokenCounter | None
    on_event: Listener | None


def adopt(
    path: str | Path, directory: str | Path, config: GCConfig | None = None, **options: Unpack[Options]
) -> GCSession:
    """
    Return a new session in ``directory`` whose master log has all messages of a foreign log, in order.

    Reads what ``read_transcript`` reads: gptme's ``conversation.jsonl``, the sessions of Claude Code, OpenAI's and
    Anthropic's messages. Ids, byte ranges, search, recall and collections work as in any other session. Nothing is
    collected on the way; the first ``pre_send`` collects if it must. A call without a result gets a synthetic one.

    The times of the foreign log are lost: every line has the time of its adoption. Unreadable parts are left out, and
    reported in the application's log.

    Raises TranscriptError when the file is missing or contains no message, and LogError when the directory is not empty
    or cannot be written; nothing is left in it then.
    """
    transcript = read_transcript(path)
    for warning in transcript.warnings:
        _log.warning("transcript repaired", why=str(warning))
    return adopt_transcript(transcript, directory, config, **options)


def adopt_transcript(
    transcript: Transcript, directory: str | Path, config: GCConfig | None = None, **options: Unpack[Options]
) -> GCSession:
    """Adopt a log that has been read; see ``adopt``."""
    directory = Path(directory)
    _check_unused(directory)
    session = GCSession(config, format=transcript.format, directory=directory, **options)
    with contextlib.ExitStack() as undo:
        undo.callback(_take_back, session)
        _fill(session, transcript)
        undo.pop_all()
    return session


def _check_unused(directory: Path) -> None:
    if directory.is_file():
        raise LogError(f"{directory} is a file; expected a directory")
    try:
        used = directory.exists() and any(directory.iterdir())
    except OSError as error:
        raise LogError(f"{directory} cannot be read: {error.strerror or error}, expected an empty directory") from error
    if used:
        raise LogError(f"{directory} is not empty; an adopted log needs an empty directory")


def _fill(session: GCSession, transcript: Transcript) -> None:
    """Append the messages. Only ``pre_send`` and ``post_turn`` collect, and neither is called."""
    parts = {f"part_{number}" if number > 1 else "base": text for number, text in enumerate(transcript.system, 1)}
    session.system(**parts)  # type: ignore[arg-type]  # no part is named as one of its keywords
    session.tools(transcript.tools)
    session.extend(transcript.messages)
    session.checkpoint()


def _take_back(session: GCSession) -> None:
    """Delete a partial log. The directory was empty, so everything in it belongs to the session."""
    session.close()
    shutil.rmtree(session.directory, ignore_errors=True)
