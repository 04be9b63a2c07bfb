"""Tells which long numbers, hours and dates a text contains, in some notation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property

import attrs

from gc_core.summaries.number_words import spelt_in
from gc_core.summaries.times import WrittenDate, certain_dates, dates_in, without_dates, years_in
from gc_core.values.patterns import regex

_LETTER = r"A-Za-zÀ-ɏͰ-ӿ"
NUMBER = regex(rf"(?<![{_LETTER}\d_.])(?<!\d[,'])\d+(?:[.,_']\d+)*")
SPACED = regex(r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d|[\w.,]\w)")
CLOCK = regex(r"(?<![\w:.])(\d{1,3}):(\d{2})(?![\d:])")
_GROUPED = regex(r"(\d{1,3}(?:[.,'_]\d{2,3})*[.,'_]\d{3})(?:[.,](\d{1,2}))?")
"""A number whose separators may be those of thousands, and its fraction; in India, lakhs have two digits."""

_POWER = regex(r"(?<![\w.])\d{1,3}(?:\.\d{1,6})?e[+-]?\d{1,2}(?!\w)", re.IGNORECASE)
_VERSION = regex(r"(?<![\w.])v(\d+(?:\.\d+)+)", re.IGNORECASE)
_RUN = regex(r"\d+")
_MINUTES = regex(
    r"(?<![\d.,])\d{1,2}(?:[:.h]| ?(?:h|hrs|uhr|[時时点點시]) ?)?(\d{2})(?!\d)|:(\d{2})(?!\d)", re.IGNORECASE
)
_QUARTER = regex(
    r"(?<!\w)(?:half|quarter|halb|(?:drei)?viertel|demie|quart|y media|cuarto|mezz[ao]"
    r"|e meia|połow|полов|четверт)|半|반",
    re.IGNORECASE,
)
_ZONE = regex(
    r"(?<!\w)(?:UTC|GMT|CES?T|[ECMP][SD]T|BST|JST|IST)(?!\w)|:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})(?![\w-])"
    r"|(?i:time ?zone|zeitzone)"
)
_NOON = regex(
    r"noon|midnight|mittag|mitternacht|midi|minuit|medi[oa]|mezz|meia"
    r"|полдень|полноч|południe|północ|正午|零時|零点"
)
_AFTERNOON = regex(
    r"(?:\d ?|(?<!\w))p\.?m\b|afternoon|evening|night|abend|nacht|mittag|soir|tarde|noche|noite|pomeriggio"
    r"|(?:di|della|sta) ?sera|notte|вечер|дня|ноч|wiecz|połud|午後|夜|下午|晚|오후|저녁",
    re.IGNORECASE,
)
_DAY = 24
_LONE = regex(r"(?<![\d:/.,])\d{1,2}(?![\d:/]|[.,]\d)")
_LEAST_LONG = 3
_LEAST_REFERENCE = 5
_MOST_DIGITS = 18  # Python refuses to convert thousands
_MOST_OF_DATE = 4
_MOST_PARTS = 6
"""A version has at most so many; what has more is a row of numbers."""

_NEAR = 5


@attrs.frozen(slots=False)
class WrittenNumbers:
    """The numbers of a text."""

    text: str

    def tell(self, number: str) -> bool:
        """Return whether it occurs in some notation, or as the beginning of a version, or the end of a reference."""
        if clock := CLOCK.fullmatch(number):
            return self._tell_time(int(clock[1]), int(clock[2]))
        if not self.forms.isdisjoint(forms(number)):
            return True
        if number.isdigit():
            return number in self._ends or (len(number) == len("2025") and int(number) in self._years)
        return pointed(number) in self._beginnings

    def tell_date(self, date: WrittenDate) -> bool:
        """Return whether a day of a month occurs, or, apart from dates, its parts."""
        if not date.days.isdisjoint(self._dates) or any(f"{month:02}{day:02}" in self.text for month, day in date.days):
            return True
        if date.is_named:
            return any(day in self._lone for _, day in date.days)
        return set(map(int, _RUN.findall(date.written))) <= self._short

    def _tell_time(self, hours: int, minutes: int) -> bool:
        """Return whether the minutes occur in a time, whatever the zone, or a time nearby, or both as one number."""
        if str(60 * hours + minutes) in self.forms:
            return True
        if minutes in self._minutes if minutes else not self._hours.isdisjoint({hours, hours % _DAY}):
            return True
        times = (60 * int(hour) + int(minute) for hour, minute in CLOCK.findall(self.text))
        return any(abs(60 * hours + minutes - other) < _NEAR for other in times)

    @cached_property
    def _minutes(self) -> AbstractSet[int]:
        """The minutes of times, also those of 8h30, 8.30 and 0830; quarters where one is told in words."""
        told = {int(one or other) for one, other in _MINUTES.findall(self.text)}
        return told | {15, 30, 45} if _QUARTER.search(self.text) else told

    @cached_property
    def _hours(self) -> AbstractSet[int]:
        """Numbers that may be hours, those of the afternoon and of another zone as well where one is told."""
        told = {int(run) for run in self._runs if len(run) <= 2} | set(spelt_in(self.text))  # noqa: PLR2004
        if _ZONE.search(self.text):
            return {*range(_DAY + 1)}
        if _NOON.search(self.text):
            told |= {0, _DAY // 2}
        return {*told, *(hour + _DAY // 2 for hour in told)} if _AFTERNOON.search(self.text) else told

    @cached_property
    def forms(self) -> AbstractSet[str]:
        """All notations of all numbers, and every run of digits."""
        return {form for number in self._numbers for form in forms(number)} | self._runs

    @cached_property
    def _runs(self) -> AbstractSet[str]:
        return frozenset(_RUN.findall(self.text))

    @cached_property
    def _numbers(self) -> AbstractSet[str]:
        spaced = (unspaced(number) for number in SPACED.findall(self.text))
        powers = (f"{float(power):f}".rstrip("0") for power in _POWER.findall(self.text))
        return {*NUMBER.findall(self.text), *_VERSION.findall(self.text), *spaced, *powers}

    @cached_property
    def _beginnings(self) -> AbstractSet[str]:
        """What longer versions begin with."""
        dotted = (form.split(".") for form in self.forms if "." in form)
        versions = (parts for parts in dotted if len(parts) <= _MOST_PARTS)
        return {".".join(parts[:end]) for parts in versions for end in range(1, len(parts))}

    @cached_property
    def _ends(self) -> AbstractSet[str]:
        """Three digits and more with which longer references begin or end."""
        runs = (run for run in self._runs if _LEAST_REFERENCE <= len(run) <= _MOST_DIGITS)
        return {part for run in runs for size in range(_LEAST_LONG, len(run)) for part in (run[:size], run[-size:])}

    @cached_property
    def _dates(self) -> AbstractSet[tuple[int, int]]:
        return {(month, day) for _, month, day in dates_in(self.text)}

    @cached_property
    def has_dates(self) -> bool:
        """Whether a date can be compared with others."""
        return next(certain_dates(self.text), None) is not None

    @cached_property
    def _short(self) -> AbstractSet[int]:
        return {int(run) for run in self._runs if len(run) <= _MOST_OF_DATE}

    @cached_property
    def _lone(self) -> AbstractSet[int]:
        """Numbers that may be the day of a date that is told in another way."""
        text = without_dates(self.text, certain_dates(self.text))
        return set(map(int, _LONE.findall(text)))

    @cached_property
    def _years(self) -> AbstractSet[int]:
        return years_in(self.text)


def unspaced(number: str) -> str:
    """Return 12 480 as 12480."""
    return re.sub(r"\s", "", number)


def forms(number: str) -> Iterator[str]:
    """Yield the notations of a number: with a point for a comma, and without a last 0 or separators."""
    yield pointed(number)
    yield _without_last_zeros(pointed(number))
    if grouped := _GROUPED.fullmatch(number):
        whole = re.sub(r"\D", "", grouped[1])
        yield _without_last_zeros(f"{whole}.{grouped[2] or 0}")


def pointed(number: str) -> str:
    """Return a number with points alone."""
    return re.sub(r"[_']", "", number).replace(",", ".")


def _without_last_zeros(number: str) -> str:
    return number.rstrip("0").rstrip(".") if number.count(".") == 1 else number
