"""Reads the quantities of a text: numbers with what they count or measure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Self

import attrs

from gc_core.summaries.nouns import are_of, stem
from gc_core.summaries.number_words import LETTER, SAID, chinese
from gc_core.summaries.numerals import readings, step_of
from gc_core.summaries.units import BETWEEN, SCALES, UNITS, size_of
from gc_core.values.patterns import regex

_DIGITS: Final = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,']\d+)*"
_LASTED: Final = (
    r"(?<![\w.,:])(?:(?P<hours>\d{1,3}) ?h(?:[a-z]{0,6})?,? ?)?(?P<minutes>\d{1,3}) ?m(?:in[a-z]{0,5})?,? ?"
    r"(?P<seconds>\d{1,2}(?:\.\d+)?) ?s(?:ec[a-z]{0,5})?(?!\w)"
    r"|(?<![\w.,:])(?P<hours2>\d{1,3}) ?h(?:[a-z]{0,6})?,? ?(?P<minutes2>\d{1,2})(?: ?m(?:in[a-z]{0,5})?)?(?![\w.,:])"
    r"|(?<!\d)(?P<hours3>\d{1,3}) ?(?:時間|小时|小時|시간) ?(?P<minutes3>\d{1,2}) ?[分분]"
)
_QUANTITY = regex(
    rf"{_LASTED}|"
    rf"(?P<sign>[€$£¥] ?)?(?<![A-Za-zÀ-ɏЀ-ӿ\d_./#<>&])(?<!\d,)(?<!\w:)(?<![\w.)]-)"
    rf"(?P<digits>{_DIGITS})(?![.,:/-]?\d|[>&])"
    rf"(?=(?P<rest>[^\n\d.,;:()!?。、，；：（）]{{0,40}}))"
    rf"|(?<![\w-])(?P<word>(?:{LETTER}){{2,12}}(?:-[^\W\d_]{{3,5}})?)(?![\w-])(?= ?(?P<after>[^\n\d.,;:()!?]{{0,40}}))"
    r"|(?P<chinese>[两二三四五六七八九]?十[二三四五六七八九]?|[两二三四五六七八九])(?P<counted>[个個名人件本桌次台组組家张張位种種天周年页頁])"
)
_LINK: Final = (
    r"(?:was|were|is|are|at|to|from|of|be|set|changed|raised|lowered|increased|reduced|moved|became|now|then|only|instead"
    r"|scaled?|wurden?|war(?:en)?|ist|auf|von|est|sont|était|étaient|passée?s?|à|de|es|era|pasaron|pasó|a)"
)
_KEY = regex(
    rf"(?<![\w.-])(?!{_LINK} )([^\W\d][\w-]{{2,40}}) ?(?!{_LINK} )(\w[\w-]{{2,40}})?[\"'`*]{{0,3}}"
    rf"(?: ?[:=：]{{1,2}} ?[\"'`]?|(?: {_LINK}| \w{{1,6}}(?= (?:to|auf|à|a) )){{1,5}} )\Z",
    re.IGNORECASE,
)
"""A word or two before their value: ``workers = 4``, "worker count was changed from 4 to 8"."""

_NAMING = regex(
    r"(?<!\w)(?:(?:turn|item|step|line|page|section|chapter|part|number|version|phase|table|figure|option|question|room"
    r"|issue|ticket|article|clause|level|ligne|página|línea|pagina|riga|linha)s?|no\.|nr\.|n[°º]|pr|mr|zeilen?|seiten?"
    r"|abschnitt|kapitel|schritt|строк[аеи]|страниц[аые]) ?#?\Z|[月월年년] ?\Z",
    re.IGNORECASE,
)
"""What stands before a number that names one thing."""

_CLAUSE_END = regex(r"\s*(?:[.,;:)!?。、，；]|$)")
_LINE_NUMBER = regex(r"\s*\d{1,6}[:→|-](?!\d)")
_RATES: Final = frozenset({"a", "an", "per", "pro", "par", "por", "al", "im"})
_RATE = regex(
    r"(?:[^\W\d_]{1,30}|[%€$])? ?(?:[^\W\d_]{1,30} )?(?:(?:per|pro|je|par|por) \w|(?:a|an|al|im|na|w|в|за) "
    r"(?:second|minute|hour|day|week|month|year|mes|día|dia|giorno|mese|anno|año|mês|tag|monat|jahr"
    r"|godzin|dzie|tydz|miesi|rok|секунд|минут|час|день|недел|месяц|год))",
    re.IGNORECASE,
)
_GLUED_UNIT = regex(r"\A([KMGT])(?!\w)")  # "38G", as du writes it
_JOINED = regex(r" ?[^\W\d_]{1,12}\.?,? ?(?:[^\W\d_]{1,3} )?")
_CLAUSE = regex(r"[;\n]|[.,] ")
_AVERAGE = regex(
    r"\b(?:means?|averag\w{1,3}|median|avg|durchschnitt\w{0,5}|mittel\w{0,4}|moyenn\w{1,2}|promedios?|medi[ao])\b",
    re.IGNORECASE,
)
_TOKEN = regex(r"[^\W\d_]+|[%°€$£¥]+")
_COUNTERS: Final = {"名": "人", "位": "人"}
_CJK = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MOST_WORDS: Final = 2
_MOST_READ: Final = 3
_LONGEST_NAMING: Final = 12
_LONGEST_KEY: Final = 100
_GENERIC: Final = frozenset({"count", "number", "size", "limit", "value", "setting"})


@attrs.frozen
class Quantity:
    """
    A number with what it is of.

    Attributes:
        written: As it stands in the text.
        values: What it may mean: ``2.450`` has two.
        step: The value of its last digit where it means the first.
        words: The words after it that may say what is counted, as stems.
        kind: The dimension of its unit, or "".
        size: How large the unit is among those of its dimension.
        line: The line in which it stands.
        start: The character of the line at which it begins.
        whole: What it measures together with the larger unit before, in the smallest unit: two minutes and 25 seconds.
        averaged: Its clause tells an average.
        is_rate: It is so much for each of something.
        keys: What it may be the value of, such as a setting, as stems.

    """

    written: str
    values: tuple[float, ...]
    step: float
    words: tuple[str, ...]
    kind: str
    size: float
    line: int
    start: int = 0
    whole: float = 0
    averaged: bool = False
    keys: tuple[str, ...] = ()
    is_rate: bool = False

    @classmethod
    def bare(cls, digits: str) -> Self:
        """Return one that is of nothing."""
        return cls(digits, tuple(readings(digits)), step_of(digits), (), "", 1.0, 0)

    @property
    def base(self) -> float:
        """What it measures in the smallest unit."""
        return self.values[0] * self.size

    def step_at(self, value: float) -> float:
        """Return the value of the last digit where it means this: of ``2.450``, one or a thousandth."""
        return self.step if value == self.values[0] else self.step / 1000

    def times(self, factor: float) -> Self:
        """Return so many times as much."""
        return attrs.evolve(self, values=tuple(value * factor for value in self.values), step=self.step * factor)

    def is_of(self, words: tuple[str, ...]) -> bool:
        """Return whether it may count the same."""
        return are_of(self.words, words)


def quantities(text: str, *, carry: bool = False) -> Iterator[Quantity]:
    """
    Yield the quantities of a text, in order; versions, paths and the like are none.

    With ``carry`` a number at the end of a clause is of what the one before it was: "40 shelves, upstairs 23".
    """
    for number, line in enumerate(text.split("\n")):
        carried: Quantity | None = None
        before: Quantity | None = None
        start = _LINE_NUMBER.match(line)
        for match in _QUANTITY.finditer(line, start.end() if start else 0):
            if (said := _said(match, number)) is None:
                continue
            said = attrs.evolve(said, start=match.start())
            if carry and carried and not said.words and not said.kind and _CLAUSE_END.match(line, match.end()):
                said = attrs.evolve(said, words=carried.words, kind=carried.kind, size=carried.size)
            carried = said if said.words or said.kind else carried
            whole = _together(before, said, line) if before else 0
            before = attrs.evolve(said, whole=whole, averaged=carry and tells_average(match))
            yield before


def _together(one: Quantity, then: Quantity, line: str) -> float:
    """Return what two quantities of time measure, of which the smaller follows the larger at once; 0 if they do not."""
    if not one.kind == then.kind == "time" or one.size <= then.size:
        return 0
    between = line[one.start + len(one.written) : then.start]
    return (one.whole or one.base) + then.base if _JOINED.fullmatch(between) else 0


def _said(match: re.Match[str], line: int) -> Quantity | None:
    if match["minutes"] or match["hours2"] or match["hours3"]:
        return _lasted(match, line)
    if match["digits"]:
        before = match.string[max(0, match.start() - _LONGEST_NAMING) : match.start()]
        return None if _NAMING.search(before) else _in_digits(match, line)
    if match["chinese"]:
        value = chinese(match["chinese"])
        return Quantity(match["chinese"], (float(value),), 1.0, *_of(match["counted"]), line) if value > 1 else None
    value = SAID.get(match["word"].lower(), 0)
    if not value:
        return None
    words, kind, size = _of(match["after"])
    keys = _keys_before(match)
    return Quantity(match["word"], (float(value),), 1.0, words or keys, kind, size, line, keys=keys)


def _lasted(match: re.Match[str], line: int) -> Quantity:
    """Return what took hours, minutes and seconds as one quantity."""
    hours = int(match["hours"] or match["hours2"] or match["hours3"] or 0)
    minutes = int(match["minutes"] or match["minutes2"] or match["minutes3"])
    seconds = 3600 * hours + 60 * minutes + float(match["seconds"] or 0)
    step = 1.0 if match["seconds"] else 60.0
    return Quantity(match[0], (seconds,), step, ("second",), "time", 1.0, line)


def _in_digits(match: re.Match[str], line: int) -> Quantity:
    digits, rest = match["digits"], _GLUED_UNIT.sub(r"\1b", match["rest"]).strip()
    scale, rest = _scaled(rest)
    words, kind, size = _of(rest)
    keys = _keys_before(match)
    if not kind:
        words = words or keys
    values = tuple(value * scale for value in readings(digits))
    if match["sign"]:
        kind, size = "money", 1.0
    return Quantity(
        digits, values, scale * step_of(digits), words, kind, size, line, keys=keys, is_rate=bool(_RATE.match(rest))
    )


def _keys_before(match: re.Match[str]) -> tuple[str, ...]:
    """Return the stems of what a number is the value of."""
    key = _KEY.search(match.string[max(0, match.start() - _LONGEST_KEY) : match.start()])
    return tuple(stem(word.lower()) for word in key.groups() if word and word.lower() not in _GENERIC) if key else ()


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


def _of(rest: str) -> tuple[tuple[str, ...], str, float]:
    """Return the stems of the words that say what is counted, and the dimension of a unit."""
    tokens = _TOKEN.findall(rest.lower())
    if not tokens or tokens[0] in _RATES:
        return (), "", 1.0
    if _CJK.match(tokens[0]):
        return _of_signs(tokens[0])
    kind = UNITS.get(tokens[0], "")
    words = [token for token in tokens[:_MOST_READ] if token not in BETWEEN and len(token) > 2]  # noqa: PLR2004
    return tuple(map(stem, words[:_MOST_WORDS])), kind, size_of(tokens[0])


def _of_signs(run: str) -> tuple[tuple[str, ...], str, float]:
    unit = next((run[:end] for end in (3, 2, 1) if run[:end] in UNITS), "")
    return (unit or _COUNTERS.get(run[:1], run[:1]),), UNITS.get(unit, ""), size_of(unit)
