"""
The re-read guard: notices when an agent keeps asking for collected content.

An instruction to review the whole conversation sends the agent after a text that is no longer in the window. It calls
its tools, gets the same condensed answer, and asks again. The guard tells it to continue from the summaries and what
can be recalled; if the repetition continues, the host may want the loop to end.

A loop is fast and undisturbed: a user who says anything, even the same words, a result that differs, and time that
passes between the rounds show that the agent waits for something, as a monitor or a poll of a build does. So does a
small result, or a call for a state, every two seconds, and a tool that takes most of a minute
(``gc_core.relevance.polls``). And a loop concerns collected content: a call whose result is still whole in the window
repeats for other reasons.

What comes back decides (``gc_core.relevance.known_results``): a large text that was read before is the same text,
whatever words asked for it, and a thought or an error is no news. A small result belongs to its call.

It reads only what is new, O(new) per turn, is deterministic, and calls nothing. Its state is in memory: a session that
is opened again starts over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from gc_core.relevance.circles import ASKED, FURTHER, POLLED, REPEATED, Circle, Notice, Now
from gc_core.relevance.known_results import KnownResults, Recognised
from gc_core.relevance.parts import COVERED, digest
from gc_core.relevance.polls import BRIEF, Waiting
from gc_core.relevance.reread_phrases import asks_to_reread
from gc_core.relevance.rounds import MadeCall
from gc_core.values.framing import unframed
from gc_core.values.items import Item, ItemKind, number_of

COOLDOWN_STEPS: Final = 10
"""Steps after a notice during which further repetitions of that kind are counted, but not announced again."""

_LAP: Final = b"lap"  # no digest is that short
_SAID = frozenset({ItemKind.USER_TEXT, ItemKind.SYSTEM_TEXT, ItemKind.ASSISTANT_TEXT})


class RereadGuard:
    """
    Sees every item that arrives, and reports before the next model call what it noticed.

    Progress is a result that was not there before and brings something, and anything a user says; text is narration and
    is not progress, nor is a text that asks to review everything. Progress ends a loop, and so does a pause.

    Args:
        clock: Returns seconds; the time between a request and its reply is the model's and is not counted.

    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._time = Waiting(clock)
        self._known = KnownResults()
        self._calls: dict[str, MadeCall] = {}
        self._circles: dict[bytes, Circle] = {}
        self._texts: dict[str, str] = {}
        self._asked = ""
        self._steps = 0
        self._quiet_to = 0
        self._is_idle = False  # the newest step brought nothing
        self._passed_before = 0.0  # at the step before this one
        self._passed_at = 0.0  # at this step

    # -- arrivals --------------------------------------------------------------------------------------------

    def see(self, items: Iterable[Item], *, collected: bool) -> None:
        """See new items, in order. Loops count only if something was ``collected``."""
        items = tuple(items)
        made = {item.id: MadeCall.of(item) for item in items if item.kind is ItemKind.TOOL_CALL}
        calls = bool(made)
        self._calls |= made
        self._let_pass(items, made)
        for item in items:
            if item.kind is ItemKind.TOOL_RESULT:
                self._answered(item, collected=collected)
            elif item.kind in _SAID:
                self._said(item, has_calls=calls, collected=collected)
        self._steps += calls

    def reply_came(self) -> None:
        """See that the model has answered, if its calls come later, together with their results."""
        self._time.reply_came()

    def list_came(self) -> None:
        """See that a caller passes its list, which may have a reply that nobody told of."""
        self._time.list_came()

    def went_on(self) -> None:
        """See that the host is about to call the model: what passed was its own time, also before a collection."""
        self._time.went_on()

    def see_prompts(self, texts: Mapping[str, str]) -> None:
        """See texts of the request that are not messages yet, by name; each version is read once."""
        for key, text in texts.items():
            if self._texts.get(key) != text:
                self._texts[key] = text
                if words := asks_to_reread(text):
                    self._asked = words

    # -- notices ----------------------------------------------------------------------------------------

    def look(self, is_verbatim: Callable[[str], bool] = lambda _item: False, *, ends: bool = False) -> Notice | None:
        """
        Return the notice to announce before the next model call, or None; its ``goes_on`` means that it was announced
        and the loop continued.

        ``is_verbatim`` says whether an item is in the window verbatim: a call that produced one is not in a loop. With
        ``ends`` a continuing loop is reported by every call until something new arrives; otherwise now and then. Called
        only if something was collected.
        """
        self._time.went_on()
        due = next((one for one in self._due() if not (one.first and is_verbatim(one.first))), None)
        asked, self._asked = self._asked, ""
        if due is not None:
            notice = due.notice()
            if not (ends and notice.goes_on):
                self._mark_warned(due.kind)
            return self._unless_cooling_down(notice)
        return self._unless_cooling_down(Notice(kind=ASKED, what=asked, times=1, item="")) if asked else None

    # -- inside --------------------------------------------------------------------------------------------------

    def _due(self) -> Iterator[Circle]:
        lap = self._circles.get(_LAP)
        return (one for one in self._circles.values() if one is not lap and one.is_due(lap))

    def _let_pass(self, items: Sequence[Item], made: Mapping[str, MadeCall]) -> None:
        """Take the time since the last items: the model's before a call, a tool's before a result."""
        if made:
            self._time.called(waits=any(one.waits for one in made.values()))
            self._passed_before, self._passed_at = self._passed_at, self._time.passed
        answered = [self._calls[item.call] for item in items if item.call in self._calls]
        if answered:
            self._time.answered(waits=any(one.waits for one in answered))
        elif any(item.kind is ItemKind.ASSISTANT_TEXT for item in items) and not made:
            self._time.spoke()
        elif not made:
            self._time.went_on()

    def _now(self, step: tuple[int, int]) -> Now:
        return Now(step=step, steps=self._steps, pauses=self._time.pauses, passed=self._time.passed)

    def _mark_warned(self, kind: str) -> None:
        """Mark the whole loop as announced: one notice covers it, and several calls may belong to it."""
        for circle in self._circles.values():
            if circle.kind == kind:
                circle.warned_at = circle.times

    def _unless_cooling_down(self, notice: Notice) -> Notice | None:
        if notice.kind == ASKED and self._steps < self._quiet_to and not notice.goes_on:
            return None
        self._quiet_to = self._steps + COOLDOWN_STEPS
        return notice

    def _answered(self, item: Item, *, collected: bool) -> None:
        """Count the same text, or the same call with the same result, whatever came in between that brought nothing."""
        made = self._calls.pop(item.call, None)
        if made is None:
            # A late result, in a frame that names its call: its content may still be new.
            if self._known.is_new(digest(unframed(item)), item):
                self._circles.clear()
            return
        came = self._known.recognised(made, item)
        known = came.first != item.id
        if not known:
            if self._known.brings_nothing(made, item):
                self._pass_by(item)
                return
            self._circles.clear()
        elif not collected:
            return
        is_cheap = made.is_cheap(item)
        circle, now = self._circle_of(came), self._now((item.turn, item.step))
        if circle is None:
            circle = Circle(REPEATED, "", FURTHER if made.looks_back else POLLED, is_cheap=is_cheap)
        self._circles[came.key] = circle
        circle.what, circle.first = made.shown, "" if made.looks_back else came.first
        circle.again(item, now, known=known)
        self._is_idle = False
        if known and not (is_cheap and self._is_slow):
            self._circles.setdefault(_LAP, Circle(REPEATED, "", POLLED)).again(item, now)

    def _circle_of(self, came: Recognised) -> Circle | None:
        """
        Return the circle of what came, or None. Lines that came in other parts came as often as most of them did: the
        circle of such a part goes on in a copy.
        """
        own = self._circles.get(came.key)
        parts = [self._circles.get(key) for key in came.covers]
        parts.sort(key=lambda part: part.times if part else 0)
        least = parts[int(len(parts) * (1 - COVERED))] if parts else None
        if least is None or (own is not None and own.times >= least.times):
            return own
        return attrs.evolve(least)

    @property
    def _is_slow(self) -> bool:
        return self._passed_at - self._passed_before >= BRIEF

    def _pass_by(self, item: Item) -> None:
        """Count a step that brought nothing as one of its lap, if known content came right before it."""
        lap = self._circles.get(_LAP)
        if lap is not None and not self._is_idle and not self._is_slow:
            lap.again(item, self._now((item.turn, item.step)))
        self._is_idle = True

    def _said(self, item: Item, *, has_calls: bool, collected: bool) -> None:
        words = asks_to_reread(item.text)
        if words:
            if collected:
                who = item.kind.value.encode()
                circle = self._circles.setdefault(who, Circle(ASKED, words, FURTHER))
                circle.again(item, self._now((-2, number_of(item.id))))
            return
        if item.synthetic:
            return
        new = self._known.is_new(digest(item.kind.value, item.text), item)
        if item.kind is ItemKind.USER_TEXT:
            # An agent that only announces another review is driven by words such as "Continue."
            self._drop(REPEATED)
            if new:
                self._circles.clear()
        elif item.kind is ItemKind.ASSISTANT_TEXT and not has_calls and new:
            self._drop(ASKED)  # loops of calls end with the user's next message: until then it may be narration

    def _drop(self, kind: str) -> None:
        self._circles = {key: one for key, one in self._circles.items() if one.kind != kind}
