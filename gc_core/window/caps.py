"""The caps of softly held content: units above a cap are collected like anything else, the oldest first."""

from __future__ import annotations

import attrs

SAID_PERCENT = 25.0
"""Users' messages in old turns that used tools, with the answers."""

SUMMARIES_PERCENT = 20.0
"""Summaries, including those of an agent's own compaction."""

NOTICES_PERCENT = 2.0
"""The notices of what left, without what they quote."""

QUOTES_PERCENT = 7.0
"""What notices and summaries quote of users: rules that would be lost otherwise."""

_UNLIMITED = 10**12


@attrs.frozen(kw_only=True)
class Caps:
    """
    The most tokens of each kind.

    Attributes:
        said: User messages of old turns, with the answers held next to them.
        summaries: Summaries.
        notices: Notices of what left, without quotes.
        quotes: What notices and summaries quote of users.

    """

    said: int = _UNLIMITED
    summaries: int = _UNLIMITED
    notices: int = _UNLIMITED
    quotes: int = _UNLIMITED

    @classmethod
    def of(cls, usable: int) -> Caps:
        """Return the caps of a window for requests of this many tokens; 0, for unknown: no caps."""
        if not usable:
            return cls()
        return cls(
            said=int(usable * SAID_PERCENT / 100.0),
            summaries=int(usable * SUMMARIES_PERCENT / 100.0),
            notices=int(usable * NOTICES_PERCENT / 100.0),
            quotes=int(usable * QUOTES_PERCENT / 100.0),
        )
