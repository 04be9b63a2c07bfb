"""Reads the dates and hours of a text, in most notations, and works out how long it was between them."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from gc_core.values.patterns import regex

_MOST_TIMES: Final = 50
DAY: Final = 86_400
"""Its seconds."""

_YEAR: Final = 365
_MONTH: Final = 2_630_000

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "jan gen ene janv oca sty янв",
            "feb fév févr fev şub lut фев",
            "mar mär maa mrt mars мар",
            "apr avr abr nis kwi апр",
            "may mai mag mei maj maio мая май",
            "jun jui juin giu haz cze июн",
            "jul juil lug tem lip июл",
            "aug aoû ago ağu sie авг",
            "sep set sept eyl wrz сен",
            "oct okt ott out eki paź окт",
            "nov kas lis ноя",
            "dec dez dic déc ara gru дек",
        ),
        start=1,
    )
    for name in names.split()
}
_NAMES: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTH_NAME = regex(rf"(?:{_NAMES})[^\W\d_]{{0,6}}\Z", 2)
_DAY_OF: Final = r"(?P<d>\d{1,2})"
_WORD: Final = rf"(?P<name>{_NAMES})[^\W\d_]{{0,8}}"
_OF_YEAR: Final = r"(?P<y>(?:19|20)\d{2})"
_DATES: Final = (
    regex(rf"(?<![\d.]){_OF_YEAR}(?:[-/.]|年\s?|년\s?)(?P<m>\d{{1,2}})(?:[-/.]|[月월]\s?)(?P<d>\d{{1,2}})(?!\d)"),
    regex(r"(?<!\d)(?P<m>\d{1,2})[月월]\s?(?P<d>\d{1,2})(?:[日일]|(?!\d))"),
    regex(
        rf"(?<![\d.,]){_DAY_OF}(?:\.|st|nd|rd|th|º)?[ /-](?:de |of )?{_WORD}(?:[\s,./-]{{1,3}}(?:de )?{_OF_YEAR})?", 2
    ),
    regex(rf"(?<!\w){_WORD}\.? {{1,2}}{_DAY_OF}(?:st|nd|rd|th)?(?![\d:]|[.,]\d)(?:,? {_OF_YEAR})?", 2),
)
"""A year stands before or after; 2 is to ignore case."""

_SHORT_DATE = regex(
    r"(?<![\d.,:/-])(\d{1,2})([./-])(\d{1,2})(?:\2((?:19|20)?\d{2})(?!\d)"
    r"|(?<!\.\d)(?<!\.\d\d)(?![\d.,:/-])|\.(?= ?[a-zà-ÿ)\n–-]|\Z))"
)
_CLOCK = regex(r"(?<![\d:.])(\d{1,2}) ?[:h时時] ?(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?![\d:])")
_LASTED = regex(r"(?<![\d:.])(\d{1,3}):(\d{2}(?:\.\d+)?)(?![\d:])")
_YEARS_AND_MONTHS = regex(r"(?<![\w.,])(\d{1,2}) ?y[a-z]{0,4} (?:and )?(\d{1,2}) ?m(?:o[a-z]{0,5})?(?!\w)")
_ORDINAL = regex(r"(?<!\w)(?:(?:am|den|le|el|il) )?(\d{1,2})(?:st|nd|rd|th|\.(?= [a-zà-ÿ]))")
_LONE_YEAR = regex(r"(?<![\w.,:/])(?:19|20)\d{2}(?![\w:]|[.,]\d)")
_ERA = regex(r"(令和|平成|昭和)\s?(\d{1,2}|元)")
_ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925}


def dates_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield year, 0 where none stands, month and day; the other way round as well where the order is not told."""
    for match in itertools.chain(*(pattern.finditer(text) for pattern in _DATES)):
        told = match.groupdict()
        month = int(told.get("m") or 0) or _MONTHS[told["name"].lower()]
        yield int(told.get("y") or 0), month, int(told["d"])
    for match in _SHORT_DATE.finditer(text):
        year = int(match[4] or 0)
        for month, day in {(int(match[1]), int(match[3])), (int(match[3]), int(match[1]))}:
            yield year + 2000 * (0 < year < 100), month, day  # noqa: PLR2004 - of two digits


def short_dates(text: str) -> Iterator[tuple[str, int]]:
    """Yield dates in digits that do not begin with the year, and their year, 0 where none stands."""
    yield from ((match[0], int(match[4] or 0)) for match in _SHORT_DATE.finditer(text))


def without_dates(text: str) -> str:
    """Return a text without its dates in digits that may be taken for numbers."""
    for date, year in short_dates(text):
        if year or date.endswith("."):
            text = text.replace(date, ";")
    return text


def is_month(word: str) -> bool:
    """Return whether a word may be the name of a month."""
    return _MONTH_NAME.match(word) is not None


def years_in(text: str) -> AbstractSet[int]:
    """Return the years of a text, those of dates with two digits and of Japanese eras as well."""
    eras = {_ERAS[era] + (1 if year == "元" else int(year)) for era, year in _ERA.findall(text)}
    return {*map(int, _LONE_YEAR.findall(text)), *(year for year, _, _ in dates_in(text) if year), *eras}


def hours_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield hours, minutes and seconds."""
    return ((int(hour), int(minute), int(second or 0)) for hour, minute, second in _CLOCK.findall(text))


def spans_in(text: str) -> Iterator[float]:
    """Yield the seconds between two hours, dates or years, also past midnight and New Year, and those of 9:12.77."""
    hours = {3600 * hour + 60 * minute + second for hour, minute, second in hours_in(text)}
    yield from sorted(hours)[:_MOST_TIMES]  # 00:18:44 may be what something took
    for apart in _apart(hours):
        yield from (apart, DAY - apart)
    years, dates = years_in(text), list(dates_in(text))[:_MOST_TIMES]
    for apart in _apart(set(_ordinals(dates, max(years, default=2001)))):
        # The first day is counted or not.
        yield from (DAY * apart, DAY * (apart + 1), DAY * (_YEAR - apart))
    for (_, _, day), ordinal in itertools.product(dates, _ORDINAL.findall(text)):
        yield DAY * abs(day - int(ordinal))
    yield from (_YEAR * DAY * apart for apart in _apart(years))
    yield from (_MONTH * (12 * int(years) + int(months)) for years, months in _YEARS_AND_MONTHS.findall(text))
    yield from (60 * int(whole) + float(part) for whole, part in _LASTED.findall(text))


def _ordinals(dates: Iterable[tuple[int, int, int]], this_year: int) -> Iterator[int]:
    for year, month, day in dates:
        with contextlib.suppress(ValueError):  # 30 February
            yield dt.date(year or this_year, month, day).toordinal()


def _apart(times: AbstractSet[int]) -> Iterator[int]:
    return (then - one for one, then in itertools.combinations(sorted(times)[:_MOST_TIMES], 2))
