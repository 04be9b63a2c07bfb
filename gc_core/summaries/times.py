"""Reads the dates and hours of a text, in most notations, and works out how long it was between them."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final, Self

import attrs

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
_MONTH_WORDS: Final = frozenset(
    """
    january february march april may june july august september october november december januar jänner februar märz mai
    juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre enero
    febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile maggio
    giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    januari februari maart mei augustus stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października
    listopada grudnia января февраля марта апреля мая июня июля августа сентября октября ноября декабря ocak şubat mart
    nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık maj augusti
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
_ENGLISH: Final = frozenset("May March Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec".split())  # noqa: SIM905
"""What is only a month's name with a capital letter."""

_NAMES: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTH_NAME = regex(rf"(?:{_NAMES})[^\W\d_]{{0,6}}\Z", 2)
_DAY_OF: Final = r"(?P<d>\d{1,2})"
_WORD: Final = rf"(?P<word>(?P<name>{_NAMES})[^\W\d_]{{0,8}})"
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
_BEFORE_DATE = regex(
    r"(?<!\w)(?:am|vom|zum|bis|ab|seit|den|dem|der|on|until|since|le|du|au|jusqu'au|el|il|dal|al|em|op"
    r"|dnia|\w{3,7}(?:day|tag),?) \Z|\d\. ?[–-] ?\Z",
    2,
)
"""What stands before a date without a year, not before a number at the end of a sentence."""

_RELATIVE = regex(
    r"(?<!\w)(?:(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
    r"|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|(?:segunda|terça|quarta|quinta|sexta)-feira"
    r"|poniedział\w{1,4}|wtor\w{2}|środ[aęy]|czwart\w{1,2}|piąt\w{1,2}|sobot[aęy]|niedziel[aęi]"
    r"|понедельник\w?|вторник\w?|сред[ауы]|четверг\w?|пятниц[ауы]|суббот[ауы]|воскресень\w"
    r")(?!,? ?(?:[^\W\d_]{1,9}\.? )?\d)"
    r"|(?:tomorrow|yesterday|weekend|fortnight|(?:next|last|this|following|previous) (?:day|week|month)"
    r"|a (?:week|month)|end of|morgen|gestern|woche|ende|anfang|(?:nächsten|folgenden|selben) tag|demain|hier|lendemain"
    r"|semaine|début|fin d[eu]|mañana|ayer|semana|día siguiente|domani|ieri|settimana|giorno dopo|fine (?:mese|d[ei])"
    r"|amanhã|ontem|dia seguinte|jutro|wczoraj|tydzień|tygodni\w|завтра|вчера|недел\w|конц\w)(?!\w))"
    r"|[明昨翌]日|[明昨]天|[前后後]天|来週|先週|[上下]周|週間|末|曜日|星期|내일|어제|요일",
    2,
)
"""What tells a day by another: without a date it may be any near those that stand there."""

_FORTNIGHT: Final = 14
_LONGEST_BEFORE: Final = 12
_MOST_DAYS: Final = 31
_MOST_MONTHS: Final = 12
_CLOCK = regex(r"(?<![\d:.])(\d{1,2}) ?[:h时時] ?(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?![\d:])")
_YEARS_AND_MONTHS = regex(r"(?<![\w.,])(\d{1,2}) ?y[a-z]{0,4} (?:and )?(\d{1,2}) ?m(?:o[a-z]{0,5})?(?!\w)")
_LONE_YEAR = regex(r"(?<![\w.,:/])(?:19|20)\d{2}(?![\w:]|[.,]\d)")


@attrs.frozen
class WrittenDate:
    """
    A date as it stands in a text.

    Attributes:
        written: Its characters.
        year: 0 where none stands.
        days: Its month and day; the other way round as well where the order is not told.
        is_named: Its order is told, by the name of the month or by the year before it.

    """

    written: str
    year: int
    days: AbstractSet[tuple[int, int]]
    is_named: bool = False

    @classmethod
    def of(cls, match: re.Match[str]) -> Self:
        """Return one that tells its order."""
        told = match.groupdict()
        month = int(told.get("m") or 0) or _MONTHS[told["name"].lower()]
        return cls(match[0], int(told.get("y") or 0), frozenset({(month, int(told["d"]))}), is_named=True)

    @classmethod
    def of_short(cls, match: re.Match[str]) -> Self:
        """Return one in digits that does not begin with the year."""
        one, other, year = int(match[1]), int(match[3]), int(match[4] or 0)
        return cls(match[0], year + 2000 * (0 < year < 100), frozenset({(one, other), (other, one)}))  # noqa: PLR2004


def dates_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield year, 0 where none stands, month and day; the other way round as well where the order is not told."""
    long = map(WrittenDate.of, itertools.chain(*(pattern.finditer(text) for pattern in _DATES)))
    return ((date.year, *day) for date in (*long, *map(WrittenDate.of_short, _short(text))) for day in date.days)


def certain_dates(text: str) -> Iterator[WrittenDate]:
    """Yield dates that nobody takes for anything else: "3 settings" is none, nor "5/7"."""
    found = (match for pattern in _DATES for match in pattern.finditer(text) if _is_certain(match))
    yield from itertools.chain(map(WrittenDate.of, found), short_dates(text))


def _is_certain(match: re.Match[str]) -> bool:
    told = match.groupdict()
    word = told.get("word") or "January"
    days = int(told.get("m") or 1) <= _MOST_MONTHS and 0 < int(told["d"]) <= _MOST_DAYS
    return days and (word in _ENGLISH or (word.lower() in _MONTH_WORDS and word not in {"may", "march"}))


def short_dates(text: str) -> Iterator[WrittenDate]:
    """Yield dates in digits that do not begin with the year and may be taken for numbers."""
    found = map(WrittenDate.of_short, _short(text))
    return (date for date in found if date.year or date.written.endswith("."))


def _short(text: str) -> Iterator[re.Match[str]]:
    return (match for match in _SHORT_DATE.finditer(text) if not match[0].endswith(".") or _is_date(match))


def _is_date(match: re.Match[str]) -> bool:
    """Return whether two numbers with a full stop after each are a day and a month, not a number that ends a line."""
    less, more = sorted((int(match[1]), int(match[3])))
    if not 0 < less <= _MOST_MONTHS or more > _MOST_DAYS:
        return False
    goes_on = match.string[match.end() : match.end() + 2].strip(" ")[:1]
    before = match.string[max(0, match.start() - _LONGEST_BEFORE) : match.start()]
    return goes_on in {"–", "-"} or goes_on.isalpha() or _BEFORE_DATE.search(before) is not None


def without_dates(text: str, dates: Iterable[WrittenDate]) -> str:
    """Return a text without some of its dates."""
    for written in sorted({date.written for date in dates}, key=len, reverse=True):
        text = text.replace(written, ";")
    return text


def is_month(word: str) -> bool:
    """Return whether a word may be the name of a month."""
    return _MONTH_NAME.match(word) is not None


def years_in(text: str) -> AbstractSet[int]:
    """Return the years of a text, those of dates with two digits as well."""
    return {*map(int, _LONE_YEAR.findall(text)), *(year for year, _, _ in dates_in(text) if year)}


def hours_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield hours, minutes and seconds."""
    return ((int(hour), int(minute), int(second or 0)) for hour, minute, second in _CLOCK.findall(text))


def spans_in(text: str) -> Iterator[float]:
    """Yield the seconds between two hours, dates or years, also past midnight and New Year."""
    hours = {3600 * hour + 60 * minute + second for hour, minute, second in hours_in(text)}
    yield from sorted(hours)[:_MOST_TIMES]  # 00:18:44 may be what something took
    for apart in _apart(hours):
        yield from (apart, DAY - apart)
    years, dates = years_in(text), list(dates_in(text))[:_MOST_TIMES]
    for apart in _apart(set(_ordinals(dates, max(years, default=2001)))):
        # The first day is counted or not.
        yield from (DAY * apart, DAY * (apart + 1), DAY * (_YEAR - apart))
    yield from (_YEAR * DAY * apart for apart in _apart(years))
    yield from (_MONTH * (12 * int(years) + int(months)) for years, months in _YEARS_AND_MONTHS.findall(text))


def days_apart(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Return how many days lie between two days, of one year or of two; as many as there are if one is none."""
    ordinals = list(_ordinals([(0, *one), (0, *other)], 2001))
    apart = abs(ordinals[0] - ordinals[-1]) if len(ordinals) > 1 else _YEAR // 2
    return min(apart, _YEAR - apart)


def is_near(day: tuple[int, int], text: str) -> bool:
    """Return whether a text tells a day by another, and has a date near this one."""
    others = {(month, other) for _, month, other in dates_in(text)} if _RELATIVE.search(text) else ()
    return any(days_apart(day, other) <= _FORTNIGHT for other in others)


def _ordinals(dates: Iterable[tuple[int, int, int]], this_year: int) -> Iterator[int]:
    for year, month, day in dates:
        with contextlib.suppress(ValueError):  # 30 February
            yield dt.date(year or this_year, month, day).toordinal()


def _apart(times: AbstractSet[int]) -> Iterator[int]:
    return (then - one for one, then in itertools.combinations(sorted(times)[:_MOST_TIMES], 2))
