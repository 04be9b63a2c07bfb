"""A file that the agent works on, and what the window still shows of it."""

from __future__ import annotations

from typing import Final

import attrs

from gc_core.values.items import Item

STEPS_PER_1000_TOKENS: Final = 4
"""A file with 1,000 tokens more leaves this many steps sooner: the space it takes from others is part of its price."""


@attrs.frozen(kw_only=True)
class WorkingFile:
    """
    A file, and what the window still shows of it.

    Attributes:
        name: Its path, the longest used in its calls.
        idle: Steps since a call last read, wrote or named it.
        items: Its views that a stub may replace, oldest first: results of reading and changing it, and calls that wrote
            text into it.
        tokens: Tokens of all its views.

    """

    name: str
    idle: int
    items: tuple[Item, ...]
    tokens: int

    @property
    def disuse(self) -> float:
        """Idle steps, and four more for each 1,000 tokens: the most unused file shrinks first."""
        return self.idle + STEPS_PER_1000_TOKENS * self.tokens / 1_000

    @property
    def open_tokens(self) -> int:
        """Tokens of the views that a stub may replace."""
        return sum(item.tokens for item in self.items)
