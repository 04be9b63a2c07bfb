"""A file that the agent works on, with what the window still shows of it."""

from __future__ import annotations

from typing import Final

import attrs

from gc_core.values.items import Item

STEPS_PER_1000_TOKENS: Final = 4
"""A file of 1,000 tokens more leaves this many steps sooner: room that it takes from others is part of its price."""


@attrs.frozen(kw_only=True)
class WorkingFile:
    """
    A file with what the window still shows of it.

    Attributes:
        name: Its path, as the longest of the calls that named it has it.
        idle: Steps since a call last read, wrote or named it.
        items: Its views that a stub may replace, oldest first: results of reading and changing it, and calls that wrote
            text into it.
        tokens: What all its views take.

    """

    name: str
    idle: int
    items: tuple[Item, ...]
    tokens: int

    @property
    def disuse(self) -> float:
        """Idle steps, and four more for each 1,000 tokens: the file with the most of it shrinks first."""
        return self.idle + STEPS_PER_1000_TOKENS * self.tokens / 1_000

    @property
    def open_tokens(self) -> int:
        """What those views take that a stub may replace."""
        return sum(item.tokens for item in self.items)
