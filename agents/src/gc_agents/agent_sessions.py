"""The session of the agent that started this process: by its environment, its calls, or an option."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from gc_agents.agent_folder import AgentFolder
from gc_agents.changes import NOTE, Change, carry_out, place_notes
from gc_agents.conversations import Caller, Conversation, Readable, tag_in
from gc_agents.lane_folders import LaneFolders
from gc_agents.live_log import LiveLog
from gc_agents.places import CLAUDE_CODE, CODEX
from gc_agents.running_gateways import ask_gateways
from gc_core import GCSession, SessionReader
from gc_core.errors import SourceError
from gc_core.storage.ledger import FILE_NAME as LEDGER_NAME
from gc_core.storage.master_log import FILE_NAME

CLAUDE_VARIABLE: Final = "CLAUDE_CODE_SESSION_ID"
"""Claude Code tells its servers and hooks the id of their session here."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}\Z", re.ASCII)


@attrs.frozen(kw_only=True)
class Places:
    """
    Where sessions are looked for.

    Attributes:
        session: A session's directory, if one was named: then it is the only one.
        lanes: The directory of a gateway's lanes.
        followed: The directory of the sessions that were made of agents' own logs.
        codex: Codex's own directory.

    """

    session: Path | None = None
    lanes: Path
    followed: Path
    codex: Path = attrs.field(factory=lambda: Path.home() / ".codex")


class AgentSessions:
    """
    The conversations of one agent, for a server that the agent started.

    Args:
        places: Where they are looked for.
        environ: The environment's variables.

    """

    def __init__(self, places: Places, environ: Mapping[str, str]) -> None:
        self._places = places
        self._claude = environ.get(CLAUDE_VARIABLE, "")
        self._lanes = LaneFolders(places.lanes)
        self._live: dict[Path, LiveLog] = {}
        self._mutex = threading.Lock()
        self._open: tuple[Path, tuple[int, ...], SessionReader] | None = None

    def of(self, caller: Caller) -> tuple[Conversation, ...]:
        """Return the caller's conversation, then the others of its session. Raises SourceError if none is known."""
        if self._places.session is not None:
            return (Conversation(directory=self._places.session, tag=tag_in(self._places.session)),)
        agent, key = (CODEX, caller.thread) if caller.thread else (CLAUDE_CODE, caller.claude or self._claude)
        if not _ID.match(key):
            raise SourceError("this call does not say which session it belongs to; start ctxgc mcp with --session DIR")
        name = f"{CODEX}:{key}" if agent == CODEX else f"{CLAUDE_CODE}:{key}:"
        behind_gateway = self._lanes.family(name)
        if behind_gateway:
            return behind_gateway
        folder = AgentFolder.of(self._places.followed, agent, key)
        if agent == CODEX and folder.transcript is None:
            self._note_rollout(folder, key)
        live = self._live_log(folder)
        live.look()
        live.follow()
        if not (folder.session / FILE_NAME).is_file():
            text = f"nothing is known of session {key} of {agent} yet: it has no lane in {self._places.lanes}"
            raise SourceError(f"{text}, and its log was not followed into {folder.session}")
        return (Conversation(directory=folder.session, name=name, tag=tag_in(folder.session)),)

    def original(self, caller: Caller, call: str) -> str | None:
        """Return the original of a result that a hook shortened; None if there is none."""
        key = caller.claude or self._claude
        if self._places.session is not None or not _ID.match(key):
            return None
        return AgentFolder.of(self._places.followed, CLAUDE_CODE, key).original(call)

    def follow(self) -> None:
        """Follow the log of Claude Code's session in the background, unless a gateway has it."""
        known = self._places.session is not None or not _ID.match(self._claude)
        if not known and not self._lanes.family(f"{CLAUDE_CODE}:{self._claude}:"):
            self._live_log(AgentFolder.of(self._places.followed, CLAUDE_CODE, self._claude)).follow()

    def close(self) -> None:
        """End the following."""
        for live in self._live.values():
            live.close()
        with self._mutex:
            self._close_reader()

    @contextlib.contextmanager
    def reading(self, conversation: Conversation) -> Iterator[Readable]:
        """
        Open a conversation to read: the session of this process, if it writes it; else its files, which another process
        may be writing. One that has not changed since the last time stays open. Raises LogError.
        """
        live = self._live.get(conversation.directory)
        session = None if live is None else live.session
        if session is not None:
            yield session
            return
        with self._mutex:
            yield self._reader(conversation.directory)

    def change(self, conversation: Conversation, change: Change) -> str:
        """
        Let the gateway that holds the conversation carry out the change; if none does, open the session for it.

        Raises LogError where another program writes the session.
        """
        live = self._live.get(conversation.directory)
        if live is not None and live.session is not None:
            return live.change(change)
        answered = ask_gateways(self._places.lanes, conversation.directory.name, change)
        if answered is not None:
            return answered
        with GCSession.open_idle(conversation.directory) as session:
            told = carry_out(session, change)
            if change.tool == NOTE:
                place_notes(session)
        return told

    def _note_rollout(self, folder: AgentFolder, thread: str) -> None:
        """Remember where Codex writes the log of a thread, which no hook says."""
        found = max((self._places.codex / "sessions").glob(f"*/*/*/rollout-*-{thread}.jsonl"), default=None)
        if found is not None:
            folder.note_transcript(str(found.absolute()))

    def _reader(self, directory: Path) -> SessionReader:
        sizes = tuple(_size(directory / name) for name in (FILE_NAME, LEDGER_NAME))
        if self._open is None or self._open[:2] != (directory, sizes):
            self._close_reader()
            self._open = (directory, sizes, SessionReader(directory))
        return self._open[2]

    def _close_reader(self) -> None:
        if self._open is not None:
            self._open[2].close()
            self._open = None

    def _live_log(self, folder: AgentFolder) -> LiveLog:
        return self._live.setdefault(folder.session, LiveLog(folder))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
