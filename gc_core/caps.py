"""How much of a window may be held softly: what is above a cap is collected like anything else, the oldest first."""

from __future__ import annotations

import attrs

SAID_PERCENT = 25.0
"""What users said in old turns that used tools, and the answers that they got."""

SUMMARIES_PERCENT = 20.0
"""Summaries, those of an agent's own compaction too."""

NOTICES_PERCENT = 2.0
"""The lines that tell what left."""

LEAST_SUMMARIES_PERCENT = 5.0
"""Of summaries so much stays, whatever room the target leaves beside what is protected and what users said."""

_UNLIMITED = 10**12


@attrs.frozen(kw_only=True)
class Caps:
    """
    Tokens that each kind may have.

    Attributes:
        said: User messages of old turns, with the answers that are held beside them.
        answers: Of that, what the answers may have: less where the target leaves no room for more.
        summaries: Summaries.
        notices: Lines that tell what left.
        least_summaries: Summaries stay up to so much, whatever the target.

    """

    said: int = _UNLIMITED
    answers: int = _UNLIMITED
    summaries: int = _UNLIMITED
    notices: int = _UNLIMITED
    least_summaries: int = 0

    @classmethod
    def of(cls, usable: int) -> Caps:
        """The caps of a window in which a request may have so many tokens; 0 where nobody knows: no caps."""
        if not usable:
            return cls()
        return cls(
            said=int(usable * SAID_PERCENT / 100.0),
            summaries=int(usable * SUMMARIES_PERCENT / 100.0),
            notices=int(usable * NOTICES_PERCENT / 100.0),
            least_summaries=int(usable * LEAST_SUMMARIES_PERCENT / 100.0),
        )

    def beside(self, protected: int, said: int, summaries: int, *, target: int) -> Caps:
        """
        The caps beside so many protected tokens, so many of what users said, and so many of summaries: a collection has
        to reach its target, unless what is protected is above that alone. Answers give way, then summaries; what users
        said does not.
        """
        if protected >= target:
            return self
        room = max(0, target - protected - self.notices - said)
        most = min(self.summaries, max(self.least_summaries, room))
        return attrs.evolve(self, answers=max(0, room - min(summaries, most)), summaries=most)
