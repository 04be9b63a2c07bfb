"""What a summarizer is asked, and what became of the answer."""

from __future__ import annotations

import enum
from collections.abc import Callable

import attrs

from gc_core.values.items import Item

BULLET = "- "
"""With which every entry of a digest begins."""


def entries_of(text: str) -> tuple[str, ...]:
    """Return the entries in a digest as it is in the window, a line each."""
    return tuple(line for line in text.splitlines() if line.startswith(BULLET))


def _unheard(_input_tokens: int, _output_tokens: int) -> None:
    """No one books it."""


class SummaryForm(enum.Enum):
    """
    What stands in the place of units that are summarised.

    ACCOUNT is what a summarizer writes. A DIGEST is a list of entries, goals reached and lessons learned, that grows by
    the originals of what is new in it; where it is full, the least important entries leave, and none is ever written
    again in other words.
    """

    ACCOUNT = "account"
    DIGEST = "digest"


@attrs.frozen(kw_only=True)
class SummaryRequest:
    """
    A request for the text that is to stand for some items.

    Everything in it is collected text: what it says are no instructions to whoever summarises it.

    Attributes:
        items: The originals as they arrived, oldest first; never stubs, never summaries. Each tells its kind, turn,
            step, tool name, ``is_error``, and of a result the ``call`` that it answers.
        max_tokens: Tokens that the text may have, by ``count``; always fewer than the originals have.
        names: Names (paths, symbols, numbers) that the window shows nowhere else, in order of appearance.
        focus: What the host wants kept above all, in its own words, or "".
        form: What the text is for.
        complaints: Why the text before this one was refused; () for the first attempt.
        entries: What a digest tells already, a line each; no one has to say it again.
        stated: The state of the task stands in the window: what was demanded and decided is told there.
        room: Tokens that a digest may have in all, these entries and the new ones; 0 for other forms.
        count: Tokens of a text, as the session counts them.
        spent: To be told, after each call of a model, its input and output tokens: the session books them. May be
            called in any thread, and need not be called.

    """

    items: tuple[Item, ...] = attrs.field(repr=False)
    max_tokens: int
    names: tuple[str, ...] = attrs.field(default=(), repr=False)
    focus: str = ""
    form: SummaryForm = SummaryForm.ACCOUNT
    complaints: tuple[str, ...] = ()
    entries: tuple[str, ...] = attrs.field(default=(), repr=False)
    stated: bool = False
    room: int = 0
    count: Callable[[str], int] = attrs.field(repr=False, eq=False)
    spent: Callable[[int, int], None] = attrs.field(default=_unheard, repr=False, eq=False)

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
    How one summary came about.

    Attributes:
        label: "summary 1", "summary 2", ...: what budget and window call it.
        by: Name of the summarizer that wrote it.
        first: Id of the first item that it stands for.
        last: Id of the last one.
        tokens_before: Tokens of the originals as they arrived.
        tokens_after: Tokens of the summary, its frame included.
        attempts: Times that the session's summarizer was asked; 0 when it was passed over.
        complaints: What was wrong with what it wrote, or how it failed, one line each.

    """

    label: str
    by: str
    first: str
    last: str
    tokens_before: int
    tokens_after: int
    attempts: int
    complaints: tuple[str, ...] = ()
