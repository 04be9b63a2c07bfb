"""The conversations of one agent's session: its own, and those of its sub-agents."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

import attrs

from gc_agents.changes import Change
from gc_core import GCSession, SessionReader
from gc_core.integrations.agent_tools.looking_back import LookingBack
from gc_core.storage.master_log import FILE_NAME
from gc_core.values.json_values import read_object

Readable = GCSession | SessionReader
"""A session that is read: one that runs in this process, or one that another process may be writing."""

TAG_CHARS = 6
"""Letters of a session's id that tell its items from those of another session: ``i42@5f3a9c``."""

KEY_HEADER: Final = "x-gc-lane-key"
"""The header that names a gateway's lane by its directory."""

NOT_HELD: Final = "this gateway holds no such conversation"
"""How the refusal of a gateway begins that another one may be asked instead of."""

_MOST_HEAD_BYTES = 100_000


@attrs.frozen(kw_only=True)
class Caller:
    """
    Who calls a tool, as far as the call says so.

    Attributes:
        thread: Codex's id of the conversation, from the call's ``_meta``; or "".
        lane: The name that the client gave its conversation as ``x-gc-lane``; or "".
        key: The directory's name of a gateway's lane; or "".
        claude: Claude Code's id of its session, from a header; or "".

    """

    thread: str = ""
    lane: str = ""
    key: str = ""
    claude: str = ""


@attrs.frozen(kw_only=True)
class Conversation:
    """
    One conversation.

    Attributes:
        directory: That of its session.
        name: The client's id of it, for people; or "".
        tag: What tells its items from those of the others.

    """

    directory: Path
    name: str = ""
    tag: str = ""


class Sessions(Protocol):
    """Finds the conversations of a caller, reads them, and changes their windows."""

    def of(self, caller: Caller) -> tuple[Conversation, ...]:
        """
        Return the caller's conversation, then the others of the same agent's session. Raises SourceError, saying what
        would be right, if none is known.
        """

    def reading(self, conversation: Conversation) -> AbstractContextManager[Readable]:
        """Open a conversation to read. Raises LogError."""

    def original(self, caller: Caller, call: str) -> str | None:
        """Return the original of a result that was shortened on arrival, by its call; None if there is none."""

    def change(self, conversation: Conversation, change: Change) -> str:
        """Carry out a change; return what came of it. Raises GCErrors, with nothing changed."""


def looking_back(session: Readable, tag: str = "") -> LookingBack:
    """Return what answers questions about a session's past; references in the answers bear the tag."""
    counter = session.counter if isinstance(session, SessionReader) else session.port.counter
    return LookingBack(session, counter, tag)


def estimated(session: Readable, tokens: int) -> int:
    """Convert tokens of a session's budget to the provider's count."""
    return session.estimate(tokens) if isinstance(session, SessionReader) else session.port.estimate(tokens)


def tag_in(directory: Path) -> str:
    """Return the tag of the session in a directory, from the first line of its log; "" if there is none."""
    try:
        with (directory / FILE_NAME).open("rb") as log:
            line = log.readline(_MOST_HEAD_BYTES)
    except OSError:
        return ""
    payload = (read_object(line.decode("utf-8", "replace")) or {}).get("payload")
    session = payload.get("session") if isinstance(payload, Mapping) else None
    return session[:TAG_CHARS] if isinstance(session, str) else ""
