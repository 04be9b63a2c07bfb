"""How much of a window may be held softly: what is above a cap is collected like anything else, the oldest first."""

from __future__ import annotations

import attrs

SAID_PERCENT = 25.0
"""What users said in old turns that used tools, and the answers that they got."""

SUMMARIES_PERCENT = 20.0
"""Summaries, those of an agent's own compaction too."""

NOTICES_PERCENT = 2.0
"""The lines that tell what left."""

_UNLIMITED = 10**12


@attrs.frozen(kw_only=True)
class Caps:
    """
    Tokens that each kind may have.

    Attributes:
        said: User messages of old turns, with the answers that are held beside them.
        summaries: Summaries.
        notices: Lines that tell what left.

    """

    said: int = _UNLIMITED
    summaries: int = _UNLIMITED
    notices: int = _UNLIMITED

    @classmethod
    def of(cls, usable: int) -> Caps:
        """Return the caps of a window in which a request may have this many tokens; 0 where no one knows: no caps."""
        if not usable:
            return cls()
        return cls(
            said=int(usable * SAID_PERCENT / 100.0),
            summaries=int(usable * SUMMARIES_PERCENT / 100.0),
            notices=int(usable * NOTICES_PERCENT / 100.0),
        )
