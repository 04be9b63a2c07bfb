"""
What tells a poll from a circle: its calls wait or ask for a state, and what it reads again is small.

A poll asks the same again because time passes. It costs little: a few lines, seconds apart. A circle reads again, at
once, what it had read before it was collected.
"""

from __future__ import annotations

import re
from typing import Final

from gc_core.relevance.tool_calls import NAME_WORD
from gc_core.values.patterns import regex

SMALL: Final = 500
"""Tokens up to which a result is no more than a state; what is worth collecting is larger."""

BRIEF: Final = 1.8
"""Seconds of each step from which calls for a state are a poll: two seconds, measured with less care."""

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


def waits(name: str, arguments: str) -> bool:
    """Return whether a call exists to let time pass."""
    return not _WAITING.isdisjoint(_words(name)) or _WAITS.search(arguments[:_SEARCHED]) is not None


def asks_for_state(name: str, arguments: str) -> bool:
    """Return whether a call asks how something is, or lets time pass."""
    if waits(name, arguments) or not _ASKING.isdisjoint(_words(name)):
        return True
    return _ASKS.search(arguments[:_SEARCHED]) is not None


def tells_state(text: str) -> bool:
    """Return whether a result begins with the state of something that goes on."""
    return _STATE.search(text[:_HEAD]) is not None


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in NAME_WORD.findall(name))
