"""The request to a summarizer, and the outcome."""

from __future__ import annotations

import enum
from collections.abc import Callable

import attrs

from gc_core.values.items import Item

BULLET = "- "
"""The prefix of every entry of a digest."""


def entries_of(text: str) -> tuple[str, ...]:
    """Return the entries of a digest in the window, a line each."""
    return tuple(line for line in text.splitlines() if line.startswith(BULLET))


def _ignore_usage(_input_tokens: int, _output_tokens: int) -> None:
    """Ignore the usage."""


class SummaryForm(enum.Enum):
    """
    The kind of text that replaces summarised units.

    ACCOUNT is what a summarizer writes. A DIGEST is a list of entries, goals reached and lessons learned, that grows by
    new originals; when it is full, the least important entries leave, and none is ever rephrased.
    """

    ACCOUNT = "account"
    DIGEST = "digest"


@attrs.frozen(kw_only=True)
class SummaryRequest:
    """
    A request for the text that is to replace some items.

    Everything in it is collected text: nothing it says is an instruction to the summarizer.

    Attributes:
        items: The originals as they arrived, oldest first; never stubs or summaries. Each has its kind, turn, step,
            tool name, ``is_error``, and for a result the ``call`` that it answers.
        max_tokens: The most tokens of the text, by ``count``; always fewer than the originals have.
        names: Names (paths, symbols, numbers) that the window contains nowhere else, in order of appearance.
        focus: What the host wants kept above all, in its own words, or "".
        form: The purpose of the text.
        complaints: Why the previous text was refused; () for the first attempt.
        entries: The existing entries of a digest, a line each; they need not be repeated.
        stated: The window contains the task state, which covers demands and decisions.
        quoted: What users laid down there that the frame of the summary quotes: the text need not repeat it.
        tools: Names of the tools that the agent has, also of those whose schemas left: a text may name them.
        room: The most tokens of a digest in total, existing and new entries; 0 for other forms.
        count: Tokens of a text, as the session counts them.
        spent: Call it after each model call with its input and output tokens, which the session records. May be called
            in any thread, and need not be called.

    """

    items: tuple[Item, ...] = attrs.field(repr=False)
    max_tokens: int
    names: tuple[str, ...] = attrs.field(default=(), repr=False)
    focus: str = ""
    form: SummaryForm = SummaryForm.ACCOUNT
    complaints: tuple[str, ...] = ()
    entries: tuple[str, ...] = attrs.field(default=(), repr=False)
    stated: bool = False
    quoted: tuple[str, ...] = attrs.field(default=(), repr=False)
    tools: tuple[str, ...] = attrs.field(default=(), repr=False)
    room: int = 0
    count: Callable[[str], int] = attrs.field(repr=False, eq=False)
    spent: Callable[[int, int], None] = attrs.field(default=_ignore_usage, repr=False, eq=False)

    @property
    def first_turn(self) -> int:
        """Turn of the first item."""
        return self.items[0].turn

    @property
    def last_turn(self) -> int:
        """Turn of the last item."""
        return self.items[-1].turn


@attrs.frozen(kw_only=True)
class SummaryOutcome:
    """
    How one summary was written.

    Attributes:
        label: "summary 1", "summary 2", ...: its name in the budget and the window.
        by: Name of the summarizer that wrote it.
        first: Id of the first item that it covers.
        last: Id of the last one.
        tokens_before: Tokens of the originals as they arrived.
        tokens_after: Tokens of the summary, including its frame.
        attempts: Requests to the session's summarizer; 0 if it was skipped.
        complaints: What was wrong with its texts, or how it failed, one line each.

    """

    label: str
    by: str
    first: str
    last: str
    tokens_before: int
    tokens_after: int
    attempts: int
    complaints: tuple[str, ...] = ()
