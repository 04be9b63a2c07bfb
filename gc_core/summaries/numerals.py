"""Reads numbers as they are written: what their digits mean, and which of them a text has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gc_core.summaries.number_words import spelt_in
from gc_core.values.patterns import regex

_MYRIAD = regex(r"(?<![\d.,])(\d{1,4})[万萬만] ?(?:(\d)[千천]|(\d,\d{3}|\d{1,4}))(?![\d.,]*\d|[万萬만千천])")
_ONE = regex(
    r"(?<!\w)(?:an?|one|eine?n?|une?|una|uma?|een|en|ett)(?: |')(?=(?:hour|minute|day|week|month|year|stunde|tag|woche"
    r"|monat|jahr|heure|jour|semaine|mois|hora|minuto|día|semana|mes|ora|giorno|settimana|mese|dia|uur|minuut|timme)"
    r",? (?:(?:and|und|et|y|ed?|en|och) )?\d)",
    re.IGNORECASE,
)
_LIST = regex(r"(?<![\w.,])-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?){2,}")
_THOUSANDS = regex(r"-?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")  # in India, lakhs have two digits
_WRITTEN = regex(
    r"(?<![A-Za-z\d_.,])(?<![A-Za-z]-)(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,']\d+)*)"
)
_RUN = regex(r"(?<![A-Za-z\d_])(?<!\d[ \u00a0\u202f])\d+(?![ \u00a0\u202f]\d{3}(?!\d))")
_GROUPED = regex(r"(?<![\w.])\d{1,3}(?:_\d{3})+(?!\w)")
_POWER = regex(r"(?<![\w.])(\d{1,3}(?:\.\d{1,6})?)(?:e\+?| ?[*×·] ?10(?:\^|\*\*))(\d{1,2})(?!\w)", re.IGNORECASE)
_SCALED = regex(
    r"(?<![\w.,])\d+(?:[.,]\d+)?(?P<glued>[kmb]|[mb]n)(?![a-z\d])|\d (?P<before>[kmb])(?=[€$£])"
    r"|[(\[](?:in )?(?:[$€£¥]|[a-z]{3} )?(?P<head>[kmb]|[mb]n|mio|mrd|tsd)\.?(?:[€$£¥]| [a-z]{3})?[)\]]"
    r"|\bin (?P<unit>[kmb])(?=[€$£])|(?<![a-z])(?P<word>thousands|millions|billions)(?![a-z])",
    re.IGNORECASE,
)
"""What makes thousands or millions of numbers: 45M, or "($M)" over a table."""

_PART = regex(r"(?<=\d[-/:])\d+")  # of a date or an hour
_GLUED = regex(r"(?<![A-Za-z\d_])[A-Za-z](\d{2,3})(?!\w)")  # "p95"
_SCALES: Final = {"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}


def in_digits(text: str) -> str:
    """Return a text with 30万3600 as 303600, [1,2,3] as [1, 2, 3], and an hour and 30 minutes as 1 hour and 30."""
    text = _ONE.sub("1 ", text)
    text = _GROUPED.sub(lambda match: match[0].replace("_", ""), text)
    text = _LIST.sub(lambda match: match[0] if _THOUSANDS.fullmatch(match[0]) else match[0].replace(",", ", "), text)
    return _MYRIAD.sub(
        lambda match: match[1] + (f"{match[2]}000" if match[2] else match[3].replace(",", "").zfill(4)), text
    )


def readings(digits: str) -> Iterator[float]:
    """Yield what digits with separators may mean."""
    plain = re.sub(r"[\s'_]", "", digits)
    if plain.isdigit():
        yield float(plain[:15])
        return
    head, mark, tail = plain.rpartition("," if plain.rfind(",") > plain.rfind(".") else ".")
    if len(tail) == 3 or plain.count(mark) > 1:  # noqa: PLR2004 - thousands
        yield float(re.sub(r"\D", "", plain)[:15])
    if plain.count(mark) == 1:
        yield float(f"{re.sub(r'[.,]', '', head)}.{tail}")


def step_of(digits: str) -> float:
    """Return the value of the last digit."""
    found = re.search(r"[.,](\d{1,2}|\d{4,})$", digits)
    return 10.0 ** -len(found[1]) if found else 1.0


def scales_in(text: str) -> Iterator[float]:
    """Yield what numbers of a text may stand for so many of: 1e6 where it has 45M, or "($M)" over a table."""
    found = {match[match.lastgroup or 0].lower() for match in _SCALED.finditer(text)}
    yield from {1e9 if word == "mrd" else _SCALES[word[0]] for word in found}


def numbers_in(text: str) -> frozenset[float]:
    """Return every number of a text, wherever it stands."""
    runs = {*_RUN.findall(text), *_GLUED.findall(text), *_PART.findall(text)}
    whole = {value for digits in set(_WRITTEN.findall(text)) for value in readings(digits)}
    powers = (float(f"{digits}e{power}") for digits, power in _POWER.findall(text))
    return frozenset({*whole, *powers, *(float(run[:15]) for run in runs), *map(float, spelt_in(text))})
