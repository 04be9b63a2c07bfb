"""What stands where content was: how much left, under which id, and what it was."""

from __future__ import annotations

import attrs


@attrs.frozen
class ByteRange:
    """
    Where a record stands in a file of the session.

    Attributes:
        start: Offset of its first byte.
        end: Offset behind its last one, which is a line break.

    """

    start: int
    end: int


@attrs.frozen(kw_only=True)
class Reference:
    """
    A pointer from the window to what left it. The ids are valid for the life of the session's log.

    Attributes:
        tokens: Tokens that were left out.
        first: Id of the first item it stands for.
        last: Id of the last one; the same as ``first`` for a stub.
        first_turn: Turn of the first item.
        last_turn: Turn of the last item.
        hint: What it was, in a few words, or "".

    """

    tokens: int
    first: str
    last: str
    first_turn: int
    last_turn: int
    hint: str = ""

    def stub_text(self) -> str:
        """The line that ends a stub."""
        return f"[gc: {self.tokens:,} tokens left out: {self.first} {self.hint}".rstrip() + "]"

    def trace_text(self) -> str:
        """The whole text of a trace."""
        return f"[gc: {self.tokens:,} tokens left out here: {self._turns()}, {self._ids()}]"

    def spanning(self, last: Reference, tokens: int) -> Reference:
        """One reference from here up to the last of its neighbours, for so many tokens in all."""
        return Reference(
            tokens=tokens,
            first=self.first,
            last=last.last,
            first_turn=self.first_turn,
            last_turn=last.last_turn,
            hint=self.hint,
        )

    def _turns(self) -> str:
        return (
            f"turn {self.first_turn}"
            if self.first_turn == self.last_turn
            else (f"turns {self.first_turn}-{self.last_turn}")
        )

    def _ids(self) -> str:
        return self.first if self.first == self.last else f"{self.first}-{self.last}"
