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

What comes back decides (``gc_core.relevance.rounds``): a large text that was read before is the same text, whatever
words asked for it, and a thought or an error is no news. A small result belongs to its call.

It reads only what is new, O(new) per turn, is deterministic, and calls nothing. Its state is in memory: a session that
is opened again starts over.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from gc_core.relevance.polls import BRIEF, Waiting
from gc_core.relevance.reread_phrases import asks_to_reread
from gc_core.relevance.rounds import MadeCall, Parts, digest, text_key
from gc_core.relevance.volatile_text import without_moments
from gc_core.values.framing import unframed
from gc_core.values.items import Item, ItemKind, number_of

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

COOLDOWN_STEPS: Final = 10
"""Steps after a notice during which further repetitions of that kind are counted, but not announced again."""

MOST_SEEN: Final = 10_000
"""The most calls with results, and texts, that are remembered, the latest used; some 16 bytes each."""

PROVISIONAL: Final = "[gc: {name} was started, id {call_id}, and is still running; its result comes later, by that id]"
"""
Tools that answer a call which continues in the background; each names its own id, and none of them
says anything new.
"""

_LAP: Final = b"lap"  # no digest is that short
_STILL_RUNS: Final = PROVISIONAL.rpartition("}")[2]
_BEFORE_ID: Final = PROVISIONAL.partition("{name}")[2].partition("{call_id}")[0]
_SAID = frozenset({ItemKind.USER_TEXT, ItemKind.SYSTEM_TEXT, ItemKind.ASSISTANT_TEXT})


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
class _Now:
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
class _Circle:
    """Something that recurs since anything new came last."""

    kind: str
    what: str
    most: int
    first: str = ""  # the earlier copy that has to have left the window, if collected content is concerned
    is_cheap: bool = False  # it reads little again, or asks for a state
    times: int = 0
    returns: int = 0  # how many of them returned a known result
    item: str = ""
    warned_at: int = 0  # the count at the last warning, 0 before one
    _now: _Now = _Now()
    _began: _Now = _Now()

    def again(self, item: Item, now: _Now, *, known: bool = True) -> None:
        """Count one more; two in one step count once, and after a pause counting starts over."""
        if now.pauses != self._now.pauses:
            self.times = self.returns = self.warned_at = 0
        if self.times == 0:
            self._began = now
        if self.times == 0 or now.step != self._now.step:
            self.times += 1
            self.returns += known
        self._now, self.item = now, item.id

    def is_due(self, lap: _Circle | None) -> bool:
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

    def _closes(self, lap: _Circle) -> bool:
        return self.returns > 1 and lap.times >= LAP and lap.warned_at == 0 and lap._now.pauses == self._now.pauses

    @property
    def goes_on(self) -> bool:
        return bool(self.warned_at) and self.times >= self.warned_at + self.most

    def notice(self) -> Notice:
        return Notice(kind=self.kind, what=self.what, times=self.times, item=self.item, goes_on=self.goes_on)


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
        self._seen: OrderedDict[bytes, str] = OrderedDict()
        self._parts = Parts()
        self._calls: dict[str, MadeCall] = {}
        self._circles: dict[bytes, _Circle] = {}
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

    def _due(self) -> Iterator[_Circle]:
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
        elif not made:
            self._time.went_on()

    def _now(self, step: tuple[int, int]) -> _Now:
        return _Now(step=step, steps=self._steps, pauses=self._time.pauses, passed=self._time.passed)

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
            if self._is_new(digest(unframed(item)), item):
                self._circles.clear()
            return
        key, first = self._recognised(made, item)
        known = first != item.id
        if not known:
            if self._brings_nothing(made, item):
                self._pass_by(item)
                return
            self._circles.clear()
        elif not collected:
            return
        is_cheap = made.is_cheap(item)
        if key not in self._circles:
            self._circles[key] = _Circle(REPEATED, "", FURTHER if made.looks_back else POLLED, is_cheap=is_cheap)
        circle, now = self._circles[key], self._now((item.turn, item.step))
        circle.what, circle.first = made.shown, "" if made.looks_back else first
        circle.again(item, now, known=known)
        self._is_idle = False
        if known and not (is_cheap and self._is_slow):
            self._circles.setdefault(_LAP, _Circle(REPEATED, "", POLLED)).again(item, now)

    @property
    def _is_slow(self) -> bool:
        return self._passed_at - self._passed_before >= BRIEF

    def _pass_by(self, item: Item) -> None:
        """Count a step that brought nothing as one of its lap, if known content came right before it."""
        lap = self._circles.get(_LAP)
        if lap is not None and not self._is_idle and not self._is_slow:
            lap.again(item, self._now((item.turn, item.step)))
        self._is_idle = True

    def _recognised(self, made: MadeCall, item: Item) -> tuple[bytes, str]:
        """
        Return the key of what came back, and the copy of it that was there before: the first that this call brought,
        or, if it is another call, the newest; the item itself if there was none.
        """
        named = [self._is_new(word, item) for word in made.things]
        if not made.brings_text(item):
            text = _STILL_RUNS if item.text.endswith(_STILL_RUNS) else without_moments(item.text)
            key = digest(made.digest, text)
            return key, item.id if self._is_new(key, item) else self._seen[key]
        key = text_key(item.text)
        if made.target.is_named:
            is_other_call = self._is_new(made.digest, item)
            key = self._parts.root(key, made.target, item.text, is_other_call=is_other_call)
        pair = digest(made.digest, key)
        newest = item.id if self._is_new(key, item) else self._seen[key]
        self._seen[key] = item.id
        if any(named) and not made.target.file:
            self._is_new(pair, item)
            return pair, item.id  # of something that no call has named before, though it reads alike
        return key, newest if self._is_new(pair, item) else self._seen[pair]

    def _brings_nothing(self, made: MadeCall, item: Item) -> bool:
        """Return whether a call and its result, neither seen before, are no progress all the same."""
        failed = made.failed(item)
        if made.is_thought(item) or (failed and made.reads):
            return True
        if not failed and not made.is_plan(item):
            return False
        ticked = [self._is_new(entry, item) for entry in made.ticked()]
        return not self._is_new(made.remainder(item), item) and not any(ticked)

    def _said(self, item: Item, *, has_calls: bool, collected: bool) -> None:
        words = asks_to_reread(item.text)
        if words:
            if collected:
                who = item.kind.value.encode()
                circle = self._circles.setdefault(who, _Circle(ASKED, words, FURTHER))
                circle.again(item, self._now((-2, number_of(item.id))))
            return
        if item.synthetic:
            return
        new = self._is_new(digest(item.kind.value, item.text), item)
        if item.kind is ItemKind.USER_TEXT:
            # An agent that only announces another review is driven by words such as "Continue."
            self._drop(REPEATED)
            if new:
                self._circles.clear()
        elif item.kind is ItemKind.ASSISTANT_TEXT and not has_calls and new:
            self._drop(ASKED)  # loops of calls end with the user's next message: until then it may be narration

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


def promised_by(item: Item) -> str:
    """Return the id of the call whose result an item promises for later; "" if it promises none."""
    if item.kind is not ItemKind.TOOL_RESULT or not item.text.endswith(_STILL_RUNS):
        return ""
    return item.text.removesuffix(_STILL_RUNS).rpartition(_BEFORE_ID)[2]


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
