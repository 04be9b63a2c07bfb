"""Works out how long what a text tells took: between its dates and hours, and in minutes and seconds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from gc_core.values.patterns import regex

_MOST_TIMES: Final = 50
_CLOCK = regex(r"(?<![\d:.])(\d{1,2})[:h](\d{2})(?::\d{2})?(?![\d:])")
_DAY = regex(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_LASTED = regex(
    r"(?<![\w.,])(\d{1,3}) ?(?:h|m)[a-z]{0,6} ?(\d{1,2}(?:[.,]\d{1,3})?) ?(?:m|s)[a-z]{0,6}(?!\w)"
    r"|(?<!\d)(\d{1,2}):(\d{2}(?:\.\d+)?)(?![\d:])"
)


def spans_in(text: str) -> Iterator[float]:
    """Yield minutes, hours, days, weeks and months between two times, and what took minutes and seconds, in both."""
    clock = {60 * int(hour) + int(minute) for hour, minute in _CLOCK.findall(text)}
    dates = {365 * int(year) + 30 * int(month) + int(day) for year, month, day in _DAY.findall(text)}
    yield from (apart / by for apart in _apart(clock) for by in (1, 60))
    yield from (apart / by for apart in _apart(dates) for by in (1, 7, 30))
    for found in _LASTED.findall(text):
        whole, part = filter(None, found)
        lasted = int(whole) + float(part.replace(",", ".")) / 60
        yield from (lasted, 60 * lasted)


def _apart(times: AbstractSet[int]) -> Iterator[int]:
    return (then - one for one, then in itertools.combinations(sorted(times)[:_MOST_TIMES], 2))
