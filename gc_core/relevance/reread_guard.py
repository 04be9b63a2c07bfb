"""
The re-read guard: notices when an agent goes in circles about what was collected.

An instruction to look at the whole conversation again sends the agent after a text that is not in the window any more.
It calls its tools, gets the same condensed answer, and asks again. The guard tells it to go on from the summaries and
what can be recalled; where the circle goes on, the host may want the loop to end.

A circle is fast and alone: a user who says anything, equal words included, a result that differs, and time that passes
between the rounds show that the agent waits for something, as a monitor or a poll of a build does. And it is about what
was collected: a call whose result still holds as it came repeats for other reasons.

It looks at what is new alone, O(new) a turn, is deterministic, and calls nothing. What it has seen lives in memory:
a session that is opened again begins again, with nothing noticed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import attrs

from gc_core.relevance.reread_phrases import asks_to_reread
from gc_core.values.framing import unframed
from gc_core.values.items import Item, ItemKind, number_of
from gc_core.values.json_values import read_json

ASKED, REPEATED = "asked", "repeated"
"""What a notice is about: words that ask for what was collected, or a call that gives the same again."""

NOTICED_AT: Final = 3
"""
Times that one call has given the same, with nothing new between, when the agent is told. A second time is harmless.
In the 5,389 calls of the project's recorded sessions (November 2026) a third comes in one session alone, whose agent
sends one SQL query up to ten times without a change.
"""

LAP: Final = 6
"""
Steps in a row that brought nothing new from which several calls that take turns are a circle, as soon as one of them
has come round again. Five files that are read once more, in turn, are none; a sixth step that goes back to
one of them begins a second lap.
"""

FURTHER: Final = 5
"""
Further times after the agent was told, then the loop ends: a model that was told reads it with the very next request,
so one or two more may already be under way, and five are no accident. Each costs a whole model call.
"""

POLLED: Final = 20
"""
The same for calls of other tools than those that look back. An unchanged answer may be all that a polling tool has to
say for a while ("still running"): 20 more calls are minutes at the usual pauses, and still an end.
"""

PAUSE: Final = 10.0
"""
Seconds between two rounds, the model's own time not counted, from which they are no circle: an agent that looks for a
text calls again as soon as it has an answer, one that waits for a build sleeps between its calls.
"""

COOLDOWN_STEPS: Final = 10
"""Steps after a notice during which further words of that kind are counted, and not told again."""

MOST_SEEN: Final = 10_000
"""Calls with their results, and texts, that are remembered, the latest used; some 16 bytes each."""

PROVISIONAL: Final = "[gc: {name} was started, id {call_id}, and is still running; its result comes later, by that id]"
"""What answers a call that goes on beside the model; each names its own id, and none of them says anything new."""

_LAP: Final = b"lap"  # no digest is that short
_STILL_RUNS: Final = PROVISIONAL.rpartition("}")[2]
_LOOKS_BACK = frozenset({"recall", "search_history", "context_status"})
_SAID = frozenset({ItemKind.USER_TEXT, ItemKind.SYSTEM_TEXT, ItemKind.ASSISTANT_TEXT})
_SHOWN = 120  # letters of a call that a notice names


@attrs.frozen(kw_only=True)
class Notice:
    """
    What the guard noticed.

    Attributes:
        kind: ``"asked"`` or ``"repeated"``.
        what: The words that asked, or the call that repeats.
        times: How often, with nothing new between.
        item: Where it stands, the newest; "" for a part of the system text, and for what waits for the request's end.
        goes_on: It went on after the agent was told.

    """

    kind: str
    what: str
    times: int
    item: str
    goes_on: bool = False


@attrs.define
class _Circle:
    """One thing that comes again and again since something new came last."""

    kind: str
    what: str
    most: int
    first: str = ""  # the result that it gave first, where what was collected is in question
    times: int = 0
    returns: int = 0  # of these times, those that gave what was known
    item: str = ""
    told_at: int = 0  # the times when the agent was told last, 0 when it was not
    _step: tuple[int, int] = (-1, -1)
    _pauses: int = 0

    def again(self, item: Item, step: tuple[int, int], pauses: int, *, known: bool = True) -> None:
        """Once more; twice in one step counts once, and after a pause it begins again."""
        if pauses != self._pauses:
            self.times = self.returns = self.told_at = 0
        if self.times == 0 or step != self._step:
            self.times += 1
            self.returns += known
        self._step, self.item, self._pauses = step, item.id, pauses

    def is_due(self, lap: _Circle | None) -> bool:
        """Return whether the agent is to be told; ``lap`` counts the steps of all calls that gave the same again."""
        if self.told_at:
            return self.goes_on
        if self.kind == ASKED:
            return True
        return self.times >= NOTICED_AT or (lap is not None and self._closes(lap))

    def _closes(self, lap: _Circle) -> bool:
        return self.returns > 1 and lap.times >= LAP and lap.told_at == 0 and lap._pauses == self._pauses

    @property
    def goes_on(self) -> bool:
        return bool(self.told_at) and self.times >= self.told_at + self.most

    def notice(self) -> Notice:
        return Notice(kind=self.kind, what=self.what, times=self.times, item=self.item, goes_on=self.goes_on)


class RereadGuard:
    """
    Sees every item that arrives, and says what it noticed before the next model call.

    Progress is a call or a result of a call that was not there before, and whatever a user says; text is narration and
    is none, nor is a text that asks to look at everything again. Progress ends a circle, and so does a pause.

    Args:
        clock: Seconds; what passes between a request and its reply is the model's time and counts for nothing.

    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: OrderedDict[bytes, str] = OrderedDict()
        self._calls: dict[str, tuple[bytes, str, bool]] = {}
        self._circles: dict[bytes, _Circle] = {}
        self._texts: dict[str, str] = {}
        self._asked = ""
        self._steps = 0
        self._quiet_to = 0
        self._waited = 0.0  # since the newest call, without the model's time
        self._pauses = 0
        self._last = clock()

    # -- what arrives --------------------------------------------------------------------------------------------

    def see(self, items: Iterable[Item], *, collected: bool) -> None:
        """New items, in their order. Circles count where something was ``collected`` alone."""
        items = tuple(items)
        calls = any(item.kind is ItemKind.TOOL_CALL for item in items)
        self._pass_time(counts=not calls)
        for item in items:
            if item.kind is ItemKind.TOOL_CALL:
                self._called(item)
            elif item.kind is ItemKind.TOOL_RESULT:
                self._answered(item, collected=collected)
            elif item.kind in _SAID:
                self._said(item, beside_calls=calls, collected=collected)
        self._steps += calls

    def see_prompts(self, texts: Mapping[str, str]) -> None:
        """Texts of the request that no message holds yet, by name; each version of one is looked at once."""
        for key, text in texts.items():
            if self._texts.get(key) != text:
                self._texts[key] = text
                if words := asks_to_reread(text):
                    self._asked = words

    # -- what was noticed ----------------------------------------------------------------------------------------

    def look(self, stands: Callable[[str], bool] = lambda _item: False, *, ends: bool = False) -> Notice | None:
        """
        Return what is to be told before the next model call; ``goes_on`` says that it was told and went on all the
        same.

        ``stands`` says of an item whether it is in the window as it came: a call that gave one is in no circle.
        With ``ends`` a circle that goes on is told by every call, until something new has come; else it is told again
        now and then. Asked where something was collected alone.
        """
        self._pass_time(counts=True)
        due = next((one for one in self._due() if not (one.first and stands(one.first))), None)
        asked, self._asked = self._asked, ""
        if due is not None:
            notice = due.notice()
            if not (ends and notice.goes_on):
                self._mark_told(due.kind)
            return self._unless_cooling_down(notice)
        return self._unless_cooling_down(Notice(kind=ASKED, what=asked, times=1, item="")) if asked else None

    # -- inside --------------------------------------------------------------------------------------------------

    def _due(self) -> Iterator[_Circle]:
        lap = self._circles.get(_LAP)
        return (one for one in self._circles.values() if one is not lap and one.is_due(lap))

    def _pass_time(self, *, counts: bool) -> None:
        """Time that passes while the model answers is no one's waiting; a clock that goes back shows none."""
        now = self._clock()
        if not counts:
            self._waited = 0.0
        elif self._waited < PAUSE:
            self._waited += max(0.0, now - self._last)
            self._pauses += self._waited >= PAUSE
        self._last = now

    def _mark_told(self, kind: str) -> None:
        """One notice speaks of the whole circle, and several calls may belong to it."""
        for circle in self._circles.values():
            if circle.kind == kind:
                circle.told_at = circle.times

    def _unless_cooling_down(self, notice: Notice) -> Notice | None:
        if notice.kind == ASKED and self._steps < self._quiet_to and not notice.goes_on:
            return None
        self._quiet_to = self._steps + COOLDOWN_STEPS
        return notice

    def _called(self, item: Item) -> None:
        shown = f"{item.name}({item.text})"
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        self._calls[item.id] = (_digest(item.name, _plain(item.text)), shown, item.name in _LOOKS_BACK)

    def _answered(self, item: Item, *, collected: bool) -> None:
        """The same call with the same result is no progress, whatever stood between."""
        made = self._calls.pop(item.call, None)
        if made is None:
            # A late result, in a frame that names its call: what it says may be new all the same.
            if self._is_new(_digest(unframed(item)), item):
                self._circles.clear()
            return
        call, shown, looks_back = made
        pair = _digest(call, _STILL_RUNS if item.text.endswith(_STILL_RUNS) else item.text)
        known = not self._is_new(pair, item)
        if not known:
            self._circles.clear()
        elif not collected:
            return
        if pair not in self._circles:
            first = "" if looks_back else self._seen[pair]
            self._circles[pair] = _Circle(REPEATED, shown, FURTHER if looks_back else POLLED, first)
        step = item.turn, item.step
        self._circles[pair].again(item, step, self._pauses, known=known)
        if known:
            self._circles.setdefault(_LAP, _Circle(REPEATED, "", POLLED)).again(item, step, self._pauses)

    def _said(self, item: Item, *, beside_calls: bool, collected: bool) -> None:
        words = asks_to_reread(item.text)
        if words:
            if collected:
                who = item.kind.value.encode()
                circle = self._circles.setdefault(who, _Circle(ASKED, words, FURTHER))
                circle.again(item, (-2, number_of(item.id)), self._pauses)
            return
        if item.synthetic:
            return
        new = self._is_new(_digest(item.kind.value, item.text), item)
        if item.kind is ItemKind.USER_TEXT:
            # An agent that only says that it will look again is driven by such words as "Continue."
            self._drop(REPEATED)
            if new:
                self._circles.clear()
        elif item.kind is ItemKind.ASSISTANT_TEXT and not beside_calls and new:
            self._drop(ASKED)  # of calls it is the user's next word that ends a circle: until then it may be narration

    def _drop(self, kind: str) -> None:
        self._circles = {key: one for key, one in self._circles.items() if one.kind != kind}

    def _is_new(self, key: bytes, item: Item) -> bool:
        if key in self._seen:
            self._seen.move_to_end(key)
            return False
        self._seen[key] = item.id
        if len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)
        return True


def told(notice: Notice, *, recalls: bool, cites: bool, reference: str) -> str:
    """
    Return what the agent is told: to go on from what stands for the rest, and how an original comes back.

    ``recalls``: it has the tool ``recall``; ``cites``: references name bytes of a log that it was told of;
    ``reference``: something that was left out, or "".
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
    stands = "Summaries and lines that open with [gc: stand for what was left out. Continue from them, with a new step."
    return f"{seen} {stands} {back}"


def _plain(arguments: str) -> str:
    """Arguments without what makes no difference: blanks, and the order of keys. Kept as they are when no JSON."""
    try:
        return json.dumps(read_json(arguments), sort_keys=True)
    except ValueError:
        return arguments


def _digest(*pieces: str | bytes) -> bytes:
    made = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        raw = piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")
        made.update(len(raw).to_bytes(8, "big") + raw)
    return made.digest()
