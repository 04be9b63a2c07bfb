"""The agent's own log, followed by the server that the agent started: without a gateway that is the session."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from typing import Any, Final

from ctxgc.following import Follower

from gc_agents.agent_folder import INDEX, AgentFolder
from gc_agents.changes import NOTE, Change, carry_out, place_notes
from gc_agents.failure_log import note
from gc_agents.long_results import reference_line
from gc_core import GCSession
from gc_core.errors import LogError, TranscriptError
from gc_core.integrations.agent_tools import NOTES
from gc_core.task.rendering import state_text
from gc_core.values.loggers import logger
from gc_core.values.messages import Payload

STATE_TOKENS: Final = 1_500
"""The most tokens of the task's state that are put back after a compaction."""

_PINNED_CHARS: Final = 2_000
_NEWEST: Final = 200
_log = logger("gc_agents.live_log")


class LiveLog:
    """
    Follows the log of one session of an agent, and keeps what a compaction may not lose up to date.

    Safe to call from threads.

    Args:
        folder: The folder of the agent's session.

    """

    def __init__(self, folder: AgentFolder) -> None:
        self._folder = folder
        self._follower: Follower | None = None
        self._mutex = threading.Lock()
        self._stopped = threading.Event()
        self._following: threading.Thread | None = None
        self._why = ""

    @property
    def session(self) -> GCSession | None:
        """The session, written by this process; None where there is no log yet, or another process writes it."""
        return None if self._follower is None else self._follower.session

    def look(self) -> None:
        """Take in what the log has gained. What cannot be read or written is logged, and tried again the next time."""
        with self._mutex:
            try:
                self._look()
            except (LogError, TranscriptError, OSError) as error:
                self._tell(str(error))
                self._close()

    def change(self, change: Change) -> str:
        """Carry out a change in the session. Raises LogError where this process does not write it, and SourceError."""
        with self._mutex:
            if self.session is None:
                raise LogError(f"{self._folder.session} is not written by this process now; try again")
            told = carry_out(self.session, change)
            if change.tool == NOTE:
                place_notes(self.session)
            self._folder.carry(carried_by(self.session))
        return told

    def follow(self) -> None:
        """Follow in a thread of its own until ``close``; a second call does nothing."""
        with self._mutex:
            if self._following is None:
                self._following = threading.Thread(target=self._run, name="gc-live-log", daemon=True)
                self._following.start()

    def close(self) -> None:
        """End the following."""
        self._stopped.set()
        with self._mutex:
            self._close()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        from time import perf_counter

        from ctxgc.following import LEAST_SECONDS, SHARE

        took = 0.0
        while not self._stopped.wait(max(2 * LEAST_SECONDS, SHARE * took)):
            began = perf_counter()
            self.look()
            took = perf_counter() - began

    def _look(self) -> None:
        if self._follower is None:
            transcript = self._folder.transcript
            if transcript is None:
                return
            self._follower = Follower(transcript, self._folder.session, original=self._original)
        if self._follower.look() and self._follower.session is not None:
            self._folder.carry(carried_by(self._follower.session))

    def _original(self, message: Payload) -> Payload:
        """Return a message with the originals of results that a hook shortened: these are found and recalled."""
        content = message.get("content")
        if message.get("role") != "user" or not isinstance(content, list):
            return message
        blocks = [self._original_block(block) for block in content]
        return message if blocks == content else {**message, "content": blocks}

    def _original_block(self, block: Any) -> Any:
        call = block.get("tool_use_id") if isinstance(block, Mapping) and block.get("type") == "tool_result" else None
        if not isinstance(call, str) or reference_line(call) not in str(block.get("content")):
            return block
        original = self._folder.original(call)
        return block if original is None else {**block, "content": original}

    def _close(self) -> None:
        if self._follower is not None:
            self._follower.close()
            self._follower = None

    def _tell(self, why: str) -> None:
        if why != self._why:
            self._why = why
            _log.warning("log not followed", why=why[:500])
            with contextlib.suppress(OSError):  # a full disk is why, as a rule
                note(self._folder.root, f"log not followed: {why}")


def carried_by(session: GCSession) -> str:
    """Return what is put back after a compaction: the task's state, notes and pins, and what can be recalled."""
    items = session.items()
    state = state_text(session.state, STATE_TOKENS, session.port.counter.count).text
    notes = "\n".join(item.text for item in items if item.source == NOTES.name)
    pins = "\n".join(f"[{item.id}] {session.recall(item.id)[:_PINNED_CHARS]}" for item in items if item.pinned)
    parts = {"## State of the task": state, "## Notes": notes, "## Pinned": pins, INDEX: _index(session)}
    return "\n\n".join(f"{title}\n{text}" for title, text in parts.items() if text)


def _index(session: GCSession) -> str:
    last = session.port.next_item - 1
    if last < 1:
        return ""
    first = max(1, last - _NEWEST + 1)
    lines = [passage.line() for passage in session.contents(f"i{first}-i{last}")]
    head = f"Everything said so far is kept as i1 to i{last}: gc_search finds it, gc_recall shows it. The newest:"
    return "\n".join([head, *lines])
