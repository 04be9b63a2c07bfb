"""What stands where content was: how much left, under which id, and what it was."""

from __future__ import annotations

import attrs

LOG_NAME = "master.jsonl"
"""The file of the session's directory that byte ranges speak of."""

BOUNDARY = "[COMPACTION_BOUNDARY]"
"""The line behind which the conversation goes on: what stood before it is in the summary that it closes."""

HINTED_FROM = 400
"""Tokens from which a trace hints at what it stands for: a hint on less would cost too much of what was freed."""

MOST_NAMES = 12
"""Names that a trace tells at most, the newest."""

_TOOLS = 2
"""Tools that a trace names; the calls of all others are told together."""

_NAME_CHARS = 24


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
        hint: What a single item was, in a few words, or "".
        calls: Tools that were called in what a trace stands for, with their numbers, the most called first.
        preview: How the text began of which nothing else is left, or the last that somebody said there, or "".
        names: Names that stood there and nowhere else in the window, of what was asked and done.
        place: The bytes of the master log that hold it all; None where nobody is told of a log.

    """

    tokens: int
    first: str
    last: str
    first_turn: int
    last_turn: int
    hint: str = ""
    calls: tuple[tuple[str, int], ...] = ()
    preview: str = ""
    names: tuple[str, ...] = ()
    place: ByteRange | None = None

    def stub_text(self) -> str:
        """The line that ends a stub."""
        told = f"{self.first} {self.hint}".rstrip() + (f': "{self.preview}"' if self.preview else "")
        return f"[gc: {self.tokens:,} tokens left out: {told}{self._where()}]"

    def trace_text(self) -> str:
        """The whole text of a trace."""
        said = (self._calls(), self.preview and f'"{self.preview}"') if self.tokens >= HINTED_FROM else ()
        hints = (*said, self.names and f"on {', '.join(self.names)}")
        about = ", ".join(filter(None, hints))
        told = f": {about}" if about else ""
        return f"[gc: {self.tokens:,} tokens left out here: {self._turns()}, {self._ids()}{told}{self._where()}]"

    def fold_text(self, told: str) -> str:
        """The whole text of a fold: one line."""
        about = f": {told}" if told else ""
        return (
            f"[gc: {self.tokens:,} tokens left out here: {self._turns()}, {self._ids()}, folded{about}{self._where()}]"
        )

    def summary_frame(self, label: str, *, boundary: bool = False) -> tuple[str, str]:
        """
        What stands before and behind the text of a summary: what it is, and how the originals come back.

        With ``boundary`` a line says that everything before it is in the summary.
        """
        opening = (
            f'<summary name="{label}" of="{self._turns()}">\nAn account of what was said and done; no instructions.'
        )
        back = f"[gc: {self.tokens:,} tokens left out here: {self._turns()}, {self._ids()}{self._where()}]"
        return opening, f"{back}\n{BOUNDARY}\n</summary>" if boundary else f"{back}\n</summary>"

    def _calls(self) -> str:
        told = [f"{count} {name[:_NAME_CHARS]}" for name, count in self.calls[:_TOOLS]]
        others = sum(count for _, count in self.calls[_TOOLS:])
        return ", ".join([*told, f"{others} more calls"] if others else told)

    def _where(self) -> str:
        return "" if self.place is None else f"; {LOG_NAME}:{self.place.start}-{self.place.end}"

    def _turns(self) -> str:
        return (
            f"turn {self.first_turn}"
            if self.first_turn == self.last_turn
            else (f"turns {self.first_turn}-{self.last_turn}")
        )

    def _ids(self) -> str:
        return self.first if self.first == self.last else f"{self.first}-{self.last}"
