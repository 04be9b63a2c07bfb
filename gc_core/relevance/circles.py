"""Circles: how often something recurred since anything new came, when that is enough for a warning, and its words."""

from __future__ import annotations

from typing import Final

import attrs

from gc_core.relevance.polls import BRIEF
from gc_core.values.items import Item

ASKED, REPEATED = "asked", "repeated"
"""The kinds of notices: words that ask for collected content, or a call that returns the same again."""

NOTICED_AT: Final = 3
"""
Number of times that one text, or one small result of one call, comes with nothing new in between, at which the agent is
warned. A second time is harmless. In the 5,389 calls of the project's recorded sessions (November 2026) a third occurs
in one session only, whose agent sends one SQL query up to ten times unchanged.
"""

LAP: Final = 6
"""
Number of steps in a row without anything new at which several alternating calls are a loop, as soon as one of them
recurs. Five files that are read once more, in turn, are not; a sixth step that returns to one of them begins a second
lap. A thought or an error after a reading is a step as well; it is never what recurs.
"""

FURTHER: Final = 5
"""
Number of further times after the warning at which the loop ends: a model reads the warning with the next request, so
one or two more may already be under way, and five are not an accident. Each costs a whole model call.
"""

POLLED: Final = 20
"""
The same for tools other than those that look back. A polling tool may have nothing but an unchanged answer for a while
("still running"): 20 more calls are minutes at the usual pauses, and still an end.
"""


@attrs.frozen(kw_only=True)
class Notice:
    """
    A repetition that the guard noticed.

    Attributes:
        kind: ``"asked"`` or ``"repeated"``.
        what: The words that asked, or the call that repeats.
        times: The number of repetitions, with nothing new in between.
        item: The newest item that contains it; "" for a part of the system text, and for a block that waits.
        goes_on: It continued after the warning.

    """

    kind: str
    what: str
    times: int
    item: str
    goes_on: bool = False


@attrs.frozen(kw_only=True)
class Now:
    """
    A moment in a session.

    Attributes:
        step: The step of the item.
        steps: The number of steps so far.
        pauses: How often somebody has waited.
        passed: Seconds, without the model's.

    """

    step: tuple[int, int] = (-1, -1)
    steps: int = 0
    pauses: int = 0
    passed: float = 0.0


@attrs.define
class Circle:
    """
    Something that recurs since anything new came last.

    Attributes:
        kind: ``"asked"`` or ``"repeated"``.
        what: The words that asked, or the newest call.
        most: The number of further times after a warning at which it continues.
        first: The earlier copy that has to have left the window, if collected content is concerned.
        is_cheap: It reads little again, or asks for a state.
        times: How often it came.
        returns: How many of them returned a known result.
        item: The newest item that contains it.
        warned_at: The count at the last warning, 0 before one.

    """

    kind: str
    what: str
    most: int
    first: str = ""
    is_cheap: bool = False
    times: int = 0
    returns: int = 0
    item: str = ""
    warned_at: int = 0
    _now: Now = Now()
    _began: Now = Now()

    def again(self, item: Item, now: Now, *, known: bool = True) -> None:
        """Count one more; two in one step count once, and after a pause counting starts over."""
        if now.pauses != self._now.pauses:
            self.times = self.returns = self.warned_at = 0
        if self.times == 0:
            self._began = now
        if self.times == 0 or now.step != self._now.step:
            self.times += 1
            self.returns += known
        self._now, self.item = now, item.id

    def is_due(self, lap: Circle | None) -> bool:
        """Return whether a warning is due; ``lap`` counts the steps of all calls that returned the same again."""
        if self._is_poll:
            return False
        if self.warned_at:
            return self.goes_on
        if self.kind == ASKED:
            return True
        return self.times >= NOTICED_AT or (lap is not None and self._closes(lap))

    @property
    def _is_poll(self) -> bool:
        steps = self._now.steps - self._began.steps
        return self.is_cheap and self._now.passed - self._began.passed >= BRIEF * steps

    def _closes(self, lap: Circle) -> bool:
        return self.returns > 1 and lap.times >= LAP and lap.warned_at == 0 and lap._now.pauses == self._now.pauses

    @property
    def goes_on(self) -> bool:
        """True if it continued after the warning."""
        return bool(self.warned_at) and self.times >= self.warned_at + self.most

    def notice(self) -> Notice:
        """Return what to announce."""
        return Notice(kind=self.kind, what=self.what, times=self.times, item=self.item, goes_on=self.goes_on)


def notice_text(notice: Notice, *, recalls: bool, cites: bool, reference: str) -> str:
    """
    Return the warning for the agent: to continue from what is in the window, and how to get an original back.

    ``recalls``: it has the tool ``recall``; ``cites``: references name bytes of a log that it knows of; ``reference``:
        something that was left out, or "".
    """
    if notice.kind == ASKED:
        seen = "The older part of this conversation is no longer in the window as it was."
    else:
        seen = f"{notice.what} has given the same result {notice.times} times, with nothing new between."
    example = reference or "i42"
    if recalls:
        back = f'What is needed word for word comes back once, by its id: recall with reference="{example}".'
    elif cites:
        back = "What is needed word for word stands in the log, at the bytes that these lines name."
    else:
        back = "What is needed and not told there can be asked of the user."
    rest = "Summaries and lines that open with [gc: stand for what was left out. Continue from them, with a new step."
    return f"{seen} {rest} {back}"
