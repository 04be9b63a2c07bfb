"""
What tells a poll from a circle: its calls wait or ask for a state, and what it reads again is small.

A poll asks the same again because time passes. It costs little: a few lines, seconds apart. A circle reads again, at
once, what it had read before it was collected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import attrs

from gc_core.relevance.tool_calls import words_of
from gc_core.values.patterns import regex

SMALL: Final = 500
"""Tokens up to which a result is no more than a state; what is worth collecting is larger."""

BRIEF: Final = 1.8
"""Seconds of each step from which calls for a state are a poll: two seconds, measured with less care."""

PAUSE: Final = 5.0
"""
Seconds that the host waits between two rounds from which they are not a loop: an agent that searches for a text calls
again at once, one that waits for a build sleeps between its calls. Neither the model's time nor a tool's is waiting,
unless the tool is there to wait, or very slow.
"""

SLOW: Final = 40.0
"""
Seconds of a tool from which it has waited, whatever it is. Of the made sessions (``tests.support``) the slowest circle
takes 30 seconds a call, and honest agents that measure or watch something take 40 and more.
"""

_SEARCHED: Final = 2_000
_HEAD: Final = 200
_WAITING: Final = frozenset({"sleep", "wait", "watch", "poll", "pause", "delay", "await"})
_ASKING: Final = _WAITING | {"status", "state", "health", "progress", "ping", "heartbeat", "monitor", "alive", "ready"}
_WAITS = regex(
    r"(?<![\w/.-])(?:sleep|wait|watch)(?![\w/.])|--(?:watch|follow|wait)\b|\b(?:tail|logs) (?:-\w*f\b|--follow)"
    r"|\"(?:delay|wait|sleep|poll)\w*\"\s{0,3}:\s{0,3}\"?\d",
    re.IGNORECASE,
)
_ASKS = regex(
    r"(?<![\w/.-])(?:status|is-active|rollout)(?![\w/.])|\b(?:run|pr|job) (?:view|checks)\b"
    r"|\"(?:action|op|operation|method)\"\s{0,3}:\s{0,3}\"(?:state|status|poll|health|progress)\"",
    re.IGNORECASE,
)
_STATE = regex(
    r"(?:status|state|phase)\"?\s{0,3}[:=]\s{0,3}\"?(?:in.?progress|running|pending|queued|waiting|building|starting"
    r"|creating|provisioning|deploying|processing|scheduled|active|idle|ok|healthy|up|not.?ready|unknown)\b"
    r"|\A\W{0,3}(?:still )?(?:in.?progress|running|pending|queued|waiting)\b",
    re.IGNORECASE,
)


@attrs.define
class Waiting:
    """
    The seconds of a session: the model's, which do not count, its tools', and the host's, which is waiting.

    Attributes:
        clock: Returns seconds.
        last: When the clock was looked at last.
        passed: The tools' seconds and the host's.
        pauses: The number of calls around which somebody waited.

    """

    clock: Callable[[], float]
    passed: float = 0.0
    pauses: int = 0
    last: float = attrs.field(init=False, default=attrs.Factory(lambda self: self.clock(), takes_self=True))
    _waited: float = 0.0  # since the newest call
    _replied: bool = False

    def reply_came(self) -> None:
        """The model's time ends; its calls come later, with their results."""
        self._elapsed()
        self._replied = True

    def list_came(self) -> None:
        """
        A caller's next list has the reply, its calls and their results at once. Unless the reply was told of, a model
        is taken to need less than ``SLOW`` seconds.
        """
        self._replied = self._replied or self.clock() - self.last >= SLOW

    def called(self, *, waits: bool) -> None:
        """The model has called a tool that ``waits`` or not; what passed before was its own time."""
        seconds, self._waited = self._elapsed(), 0.0
        if self._replied:
            self._pass(seconds, waits=waits, of_host=True)
        self._replied = False

    def spoke(self) -> None:
        """The model has answered without a call; what passed before was its own time."""
        seconds = self._elapsed()
        if self._replied:
            self._pass(seconds, waits=False, of_host=True)
        self._replied = False

    def answered(self, *, waits: bool) -> None:
        """A tool that ``waits`` or not has answered."""
        self._pass(self._elapsed(), waits=waits, of_host=False)

    def went_on(self) -> None:
        """The host goes on."""
        self._pass(self._elapsed(), waits=False, of_host=True)

    def _pass(self, seconds: float, *, waits: bool, of_host: bool) -> None:
        self.passed += seconds
        if self._waited < PAUSE:
            self._waited += self._waits(seconds, waits=waits, of_host=of_host)
            self.pauses += self._waited >= PAUSE

    @staticmethod
    def _waits(seconds: float, *, waits: bool, of_host: bool) -> float:
        """Return the seconds of waiting among those that passed."""
        if seconds >= SLOW or (waits and seconds >= BRIEF):
            return max(PAUSE, seconds)
        return seconds if of_host else 0.0

    def _elapsed(self) -> float:
        """Return the seconds since the last look at the clock; one that goes back shows none."""
        now = self.clock()
        seconds, self.last = max(0.0, now - self.last), now
        return seconds


def waits(name: str, arguments: str) -> bool:
    """Return whether a call exists to let time pass."""
    return not _WAITING.isdisjoint(words_of(name)) or _WAITS.search(arguments[:_SEARCHED]) is not None


def asks_for_state(name: str, arguments: str) -> bool:
    """Return whether a call asks how something is, or lets time pass."""
    if waits(name, arguments) or not _ASKING.isdisjoint(words_of(name)):
        return True
    return _ASKS.search(arguments[:_SEARCHED]) is not None


def tells_state(text: str) -> bool:
    """Return whether a result begins with the state of something that goes on."""
    return _STATE.search(text[:_HEAD]) is not None
