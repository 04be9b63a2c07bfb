"""Tells whether an hour, a day or how long something took follows from the hours, dates and times of a text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs

from gc_core.summaries.quantities import Quantity
from gc_core.summaries.results import around, holds
from gc_core.summaries.times import DAY, WrittenDate, dates_in, days_apart, hours_in, is_near, spans_in

_YEAR: Final = 366
_MONTH: Final = 28
_MONTH_OFF: Final = 3
"""By so many days a month may differ from another."""


@attrs.frozen(slots=False)
class ElapsedTimes:
    """
    The times of a text.

    Attributes:
        text: It.
        took: What something took, in seconds.

    """

    text: str
    took: Sequence[float]

    def tell_hour(self, minutes: int) -> bool:
        """Return whether an hour is so long after another, or before it, as something took."""
        hours = [60 * int(hour) + int(minute) for hour, minute, _ in hours_in(self.text)]
        return any(
            abs((hour + sign * took / 60 - minutes + 720) % 1440 - 720) < 1
            for hour in hours
            for took in self.took
            for sign in (1, -1)
        )

    def tell_date(self, date: WrittenDate) -> bool:
        """Return whether a day is so long after another, or before it, as something takes, or is told by another."""
        others = {(month, day) for _, month, day in dates_in(self.text)}
        spans = {round(took / DAY) for took in self.took if DAY / 2 < took < _YEAR * DAY}
        return any(is_near(day, self.text) for day in date.days) or any(
            abs(days_apart(day, other) - span) <= (_MONTH_OFF if span >= _MONTH else 1)
            for day, other, span in itertools.product(date.days, others, spans)
        )

    def tell_span(self, said: Quantity) -> bool:
        """Return whether a time lies between two hours or dates."""
        if said.whole and any(abs(said.whole - span) < said.size * said.step for span in self._spans):
            return True
        pairs = (pair for value in said.values for pair in around(value, said))
        return any(holds(self._spans, low * said.size, high * said.size) for low, high in pairs)

    @cached_property
    def _spans(self) -> Sequence[float]:
        return sorted(set(spans_in(self.text)))
