"""The name of the conversation that a run belongs to: a model is told none."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any, Final

from agents.memory import Session, SessionSettings

from agents import TResponseInputItem

CONVERSATION: Final[contextvars.ContextVar[str]] = contextvars.ContextVar("gc_conversation", default="")


@contextlib.contextmanager
def conversation(name: str) -> Iterator[None]:
    """Name the conversation of the runs inside this block."""
    token = CONVERSATION.set(name)
    try:
        yield
    finally:
        CONVERSATION.reset(token)


class LaneSession:
    """
    A session of the SDK, unchanged, whose id names the conversation of the runs that use it.

    Args:
        session: Any session of the SDK. It keeps the whole history: only what is sent is shorter.

    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._session.session_id

    @property
    def session_settings(self) -> SessionSettings | None:
        """The settings of the session."""
        return self._session.session_settings

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the session's items. A run asks for them first: from here on it has the session's name."""
        CONVERSATION.set(self.session_id)
        return await self._session.get_items(limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items to the session."""
        await self._session.add_items(items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the newest item from the session."""
        return await self._session.pop_item()

    async def clear_session(self) -> None:
        """Clear the session."""
        await self._session.clear_session()

    def __getattr__(self, name: str) -> Any:
        """What a session has beside the protocol."""
        return getattr(self._session, name)
