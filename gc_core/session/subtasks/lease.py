"""One lease: the room that a sub-task's result will have in its parent's window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self

import attrs

OPEN, DELIVERED, RELEASED = "open", "delivered", "released"


class LeaseHolder(Protocol):
    """What a lease asks of the session that granted it."""

    def deliver(self, lease: Lease, result: object) -> tuple[str, ...]:
        """Take the lease's result; see ``Lease.deliver``."""

    def release(self, lease: Lease) -> None:
        """Free the lease's room without a result."""


@attrs.define(eq=False, kw_only=True)
class Lease:
    """
    Room that a session keeps free for one sub-task; made by ``GCSession.lease``.

    Use it as a context manager: what was not delivered is released at its end. Every thread may call it.

    Attributes:
        name: What the sub-task is called.
        tokens: Tokens of the parent's window that its result may have, the message around it included.
        state: ``"open"``, ``"delivered"`` or ``"released"``.

    """

    name: str
    tokens: int
    state: str = OPEN
    _holder: LeaseHolder = attrs.field(repr=False)

    def deliver(self, result: object) -> tuple[str, ...]:
        """
        Give the sub-task's result to the session; frees the room, and returns the ids of the items that it became.

        A text stands as one note at the end of the next request. A message in the session's format may be given
        instead: tool results stand as the results of their calls, of every other message the text is told. What has
        more tokens than the lease is cut to what is alive in it, with a reference; the log holds it whole, and
        ``recall`` brings it back. A tool result that the configuration holds is left whole.

        While the model's own calls wait for their results, or a summary is awaited, a note waits too, its room stays
        taken, and () is returned: it is placed by the next ``pre_send``.

        Raises LeaseError when the lease is not open any more or the result holds no text, MessageError for a message
        that is malformed, SessionClosedError.
        """
        return self._holder.deliver(self, result)

    def release(self) -> None:
        """Free the room without a result; nothing happens where that was done, or the session is closed."""
        self._holder.release(self)

    def __enter__(self) -> Self:
        """Return the lease itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Release it, unless something was delivered."""
        self.release()


@attrs.define(eq=False, kw_only=True)
class Waiting:
    """
    A lease that waits for room.

    Attributes:
        asked: Its name and tokens.
        wake: Told when there is a lease, or none any more.
        lease: What was granted.

    """

    asked: tuple[str, int]
    wake: Callable[[], None]
    lease: Lease | None = None
