"""
No peer, but the smallest adapter: the newest messages that fit the target, not beginning with a result.

It shows how one is written, and with ``everything`` it must give the figures of no collection at all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from wire import Message, Opening, serve, tokens_of


class KeepLast:
    """Forgets the oldest messages when the trigger is reached."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._held: list[Message] = []

    def hear(self, messages: Sequence[Message]) -> None:
        """Append."""
        self._held.extend(messages)

    def collect(self) -> None:
        """Down to the target, and on to a message that may stand first."""
        tokens = sum(map(tokens_of, self._held))
        if tokens < self._opening.trigger or sys.argv[1:] == ["everything"]:
            return
        cut = 0
        while tokens > self._opening.target or self._held[cut]["role"] == "tool":
            tokens -= tokens_of(self._held[cut])
            cut += 1
        del self._held[:cut]

    def messages(self) -> Iterable[Message]:
        """What is left."""
        return self._held


if __name__ == "__main__":
    serve(KeepLast)
