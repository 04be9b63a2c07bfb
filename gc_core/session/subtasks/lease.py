"""One lease: the room that a sub-task's result will have in its parent's window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self

import attrs

OPEN, DELIVERED, RELEASED = "open", "delivered", "released"


class LeaseHolder(Protocol):
    """The calls that a lease makes on the session that granted it."""

    def deliver(self, lease: Lease, result: object) -> tuple[str, ...]:
        """Take the lease's result; see ``Lease.deliver``."""

    def release(self, lease: Lease) -> None:
        """Free the lease's room without a result."""


@attrs.define(eq=False, kw_only=True)
class Lease:
    """
    Room that a session keeps free for one sub-task; made by ``GCSession.lease``.

    Use it as a context manager: tokens that were not used are released at its end. Every thread may call it.

    Attributes:
        name: The sub-task's name.
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

        A text becomes one note at the end of the next request. A message in the session's format may be given instead:
        its tool results become the results of their calls, any other message is added as text. A result with more
        tokens than the lease is cut to its important lines, with a reference; the log keeps it whole, and ``recall``
        returns it. A tool result that the configuration holds is left whole.

        While the model's own calls wait for their results, or a summary is awaited, a note waits too, its tokens stay
        reserved, and () is returned: the next ``pre_send`` places it.

        Raises LeaseError when the lease is not open or the result contains no text, MessageError for a malformed
        message, SessionClosedError.
        """
        return self._holder.deliver(self, result)

    def release(self) -> None:
        """Release the tokens without a result; does nothing if that was done, or if the session is closed."""
        self._holder.release(self)

    def __enter__(self) -> Self:
        """Return the lease itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Release the lease unless a result was delivered."""
        self.release()


@attrs.define(eq=False, kw_only=True)
class Waiting:
    """
    A queued request for a lease.

    Attributes:
        asked: Its name and tokens.
        wake: Called when the lease is granted or the wait is over.
        lease: The granted lease.

    """

    asked: tuple[str, int]
    wake: Callable[[], None]
    lease: Lease | None = None
