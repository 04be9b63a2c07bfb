"""What a provider left out of a request, as a value."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class ServerEdits:
    """
    What was left out of one request.

    Attributes:
        tool_uses: Calls whose results were cleared, the oldest ones.
        thinking_turns: Replies whose thinking was cleared, the oldest ones.
        dropped: Blocks of thinking that were dropped one by one, each as its message and its place in it.
        tokens: Input tokens that the provider says were cleared.

    """

    tool_uses: int = 0
    thinking_turns: int = 0
    dropped: tuple[tuple[int, int], ...] = ()
    tokens: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was left out."""
        return not (self.tool_uses or self.thinking_turns or self.dropped)
