"""Reads the quantities of a text: numbers with what they count or measure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import attrs

from gc_core.summaries.number_words import LETTER, SAID, chinese
from gc_core.summaries.units import BETWEEN, SCALES, TESTS, UNITS, size_of
from gc_core.values.patterns import regex

_DIGITS: Final = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d+)*"
_QUANTITY = regex(
    rf"(?P<sign>[€$£¥] ?)?(?<![A-Za-zÀ-ɏЀ-ӿ\d_.:/#<>&-])(?<!\d,)(?P<digits>{_DIGITS})(?![.,:/-]?\d|[>&])"
    rf"(?=(?P<rest>[^\n\d.,;:()!?。、，；：（）]{{0,40}}))"
    rf"|(?<![\w-])(?P<word>(?:{LETTER}){{2,12}}(?:-[^\W\d_]{{3,5}})?)(?= (?P<after>[^\n\d.,;:()!?]{{3,40}}))"
    r"|(?P<chinese>[两二三四五六七八九]?十[二三四五六七八九]?|[两二三四五六七八九])(?P<counted>[个個名人件本桌次台组組家张張位种種天周年页頁])"
)
_KEY = regex(r"([^\W\d_]{3,40})[\"'`]? ?[:=：] ?[\"'`]?\Z")
_NAMING = regex(
    r"(?<!\w)(?:(?:turn|item|step|line|page|section|chapter|part|number|version|phase|table|figure|option|question|room"
    r"|issue|ticket|article|clause|level|ligne|página|línea|pagina|riga|linha)s?|no\.|nr\.|n[°º]|pr|mr|zeilen?|seiten?"
    r"|abschnitt|kapitel|schritt|строк[аеи]|страниц[аые]) ?#?\Z",
    re.IGNORECASE,
)
"""What stands before a number that names one thing."""

_CLAUSE_END = regex(r"\s*(?:[.,;:)!?。、，；]|$)")
_LINE_NUMBER = regex(r"\s*\d{1,6}[:→|-](?!\d)")
_RATE: Final = frozenset({"a", "an", "per", "pro", "par", "por", "al", "im"})
_CLAUSE = regex(r"[;\n]|[.,] ")
_AVERAGE = regex(
    r"\b(?:means?|averag\w{1,3}|median|avg|durchschnitt\w{0,5}|mittel\w{0,4}|moyenn\w{1,2}|promedios?|medi[ao])\b",
    re.IGNORECASE,
)
_TOKEN = regex(r"[^\W\d_]+|[%°€$£¥]+")
_CJK = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MOST_WORDS: Final = 2
_MOST_READ: Final = 3
_LONGEST_NAMING: Final = 12


@attrs.frozen
class Quantity:
    """
    A number with what it is of.

    Attributes:
        written: As it stands in the text.
        values: What it may mean: ``2.450`` has two.
        step: The value of its last digit.
        words: The words after it that may say what is counted, as stems.
        kind: The dimension of its unit, or "".
        size: How large the unit is among those of its dimension.
        line: The line in which it stands.
        averaged: Its clause tells an average.

    """

    written: str
    values: tuple[float, ...]
    step: float
    words: tuple[str, ...]
    kind: str
    size: float
    line: int
    averaged: bool = False

    def is_of(self, words: tuple[str, ...]) -> bool:
        """Return whether it may count the same."""
        return any(is_same(one, other) for one in self.words for other in words)


def is_same(one: str, other: str) -> bool:
    """Return whether two words differ only in their ending, or both tell how tests went."""
    if one == other:
        return True
    if one.startswith(TESTS) and other.startswith(TESTS):
        return True
    least = min(len(one), len(other))
    same = next((place for place in range(least) if one[place] != other[place]), least)
    return least >= 3 and same >= max(3, least - 1) and max(len(one), len(other)) - same <= 3  # noqa: PLR2004


def quantities(text: str, *, carry: bool = False) -> Iterator[Quantity]:
    """
    Yield the quantities of a text, in order; versions, paths and the like are none.

    With ``carry`` a number at the end of a clause is of what the one before it was: "40 shelves, upstairs 23".
    """
    for number, line in enumerate(text.split("\n")):
        carried: tuple[str, ...] = ()
        start = _LINE_NUMBER.match(line)
        for match in _QUANTITY.finditer(line, start.end() if start else 0):
            if (said := _said(match, number)) is None:
                continue
            if carry and not said.words and not said.kind and _CLAUSE_END.match(line, match.end()):
                said = attrs.evolve(said, words=carried)
            carried = said.words or carried
            yield attrs.evolve(said, averaged=carry and tells_average(match))


def _said(match: re.Match[str], line: int) -> Quantity | None:
    if match["digits"]:
        before = match.string[max(0, match.start() - _LONGEST_NAMING) : match.start()]
        return None if _NAMING.search(before) else _in_digits(match, line)
    if match["chinese"]:
        value = chinese(match["chinese"])
        return Quantity(match["chinese"], (float(value),), 1.0, *_of(match["counted"]), line) if value > 1 else None
    value = SAID.get(match["word"].lower(), 0)
    return Quantity(match["word"], (float(value),), 1.0, *_of(match["after"]), line) if value else None


def _in_digits(match: re.Match[str], line: int) -> Quantity:
    digits, rest = match["digits"], match["rest"].strip()
    scale, rest = _scaled(rest)
    words, kind, size = _of(rest)
    if not words and not kind and (key := _KEY.search(match.string, 0, match.start())):
        words = (stem(key[1].lower()),)
    values = tuple(value * scale for value in readings(digits))
    kind = kind or ("money" if match["sign"] else "")
    return Quantity(digits, values, scale * step_of(digits), words, kind, size, line)


def _scaled(rest: str) -> tuple[float, str]:
    """Return what a word such as million multiplies by, and what stands after it."""
    first = _TOKEN.match(rest)
    if first is None:
        return 1.0, rest
    word = rest[0] if _CJK.match(rest) else first[0].lower()
    return (SCALES[word], rest[len(word) :].strip()) if word in SCALES else (1.0, rest)


def tells_average(match: re.Match[str]) -> bool:
    """Return whether the clause of a match says mean, average or median."""
    before = _CLAUSE.split(match.string[max(0, match.start() - 100) : match.start()])[-1]
    after = _CLAUSE.split(match.string[match.end() : match.end() + 60])[0]
    return _AVERAGE.search(f"{before}{match[0]}{after}") is not None


def readings(digits: str) -> Iterator[float]:
    """Yield what digits with separators may mean."""
    plain = re.sub(r"\s", "", digits)
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


def _of(rest: str) -> tuple[tuple[str, ...], str, float]:
    """Return the stems of the words that say what is counted, and the dimension of a unit."""
    tokens = _TOKEN.findall(rest.lower())
    if not tokens or tokens[0] in _RATE:
        return (), "", 1.0
    if _CJK.match(tokens[0]):
        return _of_signs(tokens[0])
    kind = UNITS.get(tokens[0], "")
    words = [token for token in tokens[:_MOST_READ] if token not in BETWEEN and len(token) > 2]  # noqa: PLR2004
    return tuple(map(stem, words[:_MOST_WORDS])), kind, size_of(tokens[0])


def _of_signs(run: str) -> tuple[tuple[str, ...], str, float]:
    unit = next((run[:end] for end in (3, 2, 1) if run[:end] in UNITS), "")
    return (unit or run[:1],), UNITS.get(unit, ""), size_of(unit)


def is_sign(word: str) -> bool:
    """Return whether it is a counter of Chinese, Japanese or Korean."""
    return _CJK.match(word) is not None


def stem(word: str) -> str:
    """Return a word without a plural's s."""
    return word if len(word) < 4 else word.removesuffix("s")  # noqa: PLR2004
