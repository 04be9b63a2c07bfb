"""
headroom's ``compress`` over the whole history before each call, as its documentation has it for a loop of one's own.

It has no budget: ``model_limit`` is the window, and how much leaves is its own choice. The model that compresses plain
text is fetched from a hub at first use, which is not done here, so only its rules are at work.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

from headroom import compress
from wire import Message, Opening, serve


class Compress:
    """A history, compressed anew for each call."""

    def __init__(self, opening: Opening) -> None:
        compress([{"role": "user", "content": ""}], model="gpt-4o")  # loads what it loads once: the time of no call
        self._window = opening.window
        self._history: list[Message] = []
        self._sent: list[Message] = []

    def hear(self, messages: Sequence[Message]) -> None:
        """Append."""
        self._history.extend(messages)

    def collect(self) -> None:
        """Compress; the history stays as it is."""
        self._sent = compress(copy.deepcopy(self._history), model="gpt-4o", model_limit=self._window).messages

    def messages(self) -> Iterable[Message]:
        """What came out."""
        return self._sent


if __name__ == "__main__":
    serve(Compress)
