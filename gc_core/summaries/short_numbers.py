"""
Finds values of one or two digits that the originals contradict.

A short number beside a key that the originals assign is judged if it is none of their numbers, nor derived from those
of the key: as a sum, a difference, a number rounded or in another unit, or a sum or difference of what one line has.
``workers = 4`` contradicts "the worker count was set to 8". An average lies between the numbers that it is of. The
arguments of a call are a quotation: ``round(x, 2)`` contradicts ``round(x, 3)``.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import attrs

from gc_core.summaries.number_words import SAID, spelt_in
from gc_core.summaries.quantities import tells_average
from gc_core.values.patterns import regex

_MOST_LISTED: Final = 12
"""The largest number that people count themselves."""

_MOST_ADDED: Final = 12
"""Above as many numbers with one noun, or six in one line, some always add up: then nothing is contradicted."""

_NUMERAL: Final = rf"(?:\d{{1,4}}|(?:{'|'.join(SAID)}))(?![A-Za-z0-9_%]|[.,:/-]\d| %)"
_LINK: Final = (
    r"(?:was|were|is|are|at|to|from|of|be|set|changed|raised|lowered|increased|reduced|moved|became|now|then|only|instead"
    r"|wurden?|war(?:en)?|ist|auf|von|est|sont|était|étaient|passée?s?|à|de|es|era|pasaron|pasó|a)"
)
_GENERIC: Final = frozenset({"count", "number", "size", "limit", "value", "setting"})
_VALUED = regex(
    rf"(?<![\w.-])(?:([^\W\d_]{{3,40}}) )?(?!{_LINK}\b)([^\W\d][\w-]{{2,40}})[\"'`*]{{0,3}}"
    rf"((?:(?: ?[:=]{{1,2}}| {_LINK}(?!\w)))(?: {_LINK}(?!\w)){{0,4}} ?{_NUMERAL}"
    rf"(?: (?:{_LINK}(?!\w)|{_NUMERAL})){{0,4}})",
    re.IGNORECASE,
)
_ASSIGNED = regex(
    r"(?<![\w.-])([^\W\d][\w-]{2,40})[\"'`]{0,2}(?: ?[:=]{1,2} ?| (?:is|was|are|were|ist|est|es) )[\"'`]?"
    r"(\d{1,5})(?![\w%]|[.,:/-]\w)"
)
_COUNTED = regex(r"(?<![\w.,:/#$€-])(\d{1,5})(?= ([^\W\d_]{3,40})(?: ([^\W\d_]{3,40}))?)")
_NUMBER = regex(r"(?<![\w.,])\d{1,5}(?![\w]|[.,]\d)")
_ANY = regex(r"(?<![A-Za-z\d])\d+")
_FRACTION = regex(r"(?<![\w.])(\d{1,4})[.,]\d{1,3}(?![\w.])")
_CALL = regex(r"(?<!\w)([A-Za-z_][A-Za-z0-9_]{1,59}\([^()\n]{0,80}\d[^()\n]{0,80}\))")
_SPACE = regex(r"[\s\"'`\\]+")
_NOT_CODE = regex(r"[\W_]+")
_DIGITS = regex(r"\d+")

_UNITS: Final = frozenset(
    """
    item message turn step call line second minute hour day week month year time percent per cent byte euro dollar
    and more other the with from than
    january february march april may june july august september october november december
    sekunden minuten stunden tage wochen monate jahre prozent und von der die das
    seconde heure jour semaine mois an fois pour segundo minuto hora día semana mes año vece por
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
"""What a summary counts itself; what is added up, converted and rounded too freely; what is no noun."""

_FACTORS: Final = (7, 10, 24, 60, 100, 1000, 1024, 3600)


def contradicted(text: str, originals: Iterable[str]) -> tuple[str, ...]:
    """Return short numbers of the text that differ from those that the originals give for the same, in order."""
    valued = list(_valued(text))
    calls = _CALL.findall(text)
    if not valued and not calls:
        return ()
    whole = "\n".join(originals)
    found = _changed_calls(calls, whole)
    if valued:
        numbers = _Numbers.of(whole)
        found += [str(said.number) for said in valued if numbers.contradict_value(said)]
    return tuple(dict.fromkeys(found))


def _changed_calls(calls: Sequence[str], whole: str) -> list[str]:
    """Return calls that the originals have only with other numbers in the same places."""
    if not calls:
        return []
    code = _NOT_CODE.sub("", whole)
    shapes = set(map(_shape, _CALL.findall(whole)))
    return [call for call in calls if _NOT_CODE.sub("", call) not in code and _shape(call) in shapes]


def _shape(call: str) -> str:
    """Return a call without spaces and quotes, and with one sign for each number."""
    return _DIGITS.sub("0", _SPACE.sub("", call))


@attrs.frozen
class _Said:
    """A number with the keys or nouns that may be meant, and whether its clause tells an average."""

    words: tuple[str, ...]
    number: int
    averaged: bool

    def lies_within(self, given: Sequence[int]) -> bool:
        """Return whether it may be an average of these numbers."""
        return self.averaged and min(given) <= self.number <= max(given)


@attrs.frozen
class _Numbers:
    """
    The numbers of the originals.

    Attributes:
        known: All, and what one line's numbers add up to.
        assigned: Those that are values, by their keys.
        counted: Those before a noun, by these.

    """

    known: AbstractSet[int]
    assigned: Mapping[str, Sequence[int]]
    counted: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, whole: str) -> _Numbers:
        assigned, counted = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        for key, number in _ASSIGNED.findall(whole):
            assigned[_stem(key)].append(int(number))
        for said in _of_nouns(whole):
            for noun in said.words:
                counted[noun].append(said.number)
        return cls({*_written(whole), *_added_in_lines(whole)}, assigned, counted)

    def contradict_value(self, said: _Said) -> bool:
        """Return whether one of its keys has other values, and the number is derived from none of them."""
        given = next((self.assigned[key] for key in said.words if key in self.assigned), ())
        if not given and said.number > _MOST_LISTED:
            given = next((self.counted[key] for key in said.words if key in self.counted), ())
        return bool(given) and not said.lies_within(given) and not self._tells(said.number, tuple(set(given)))

    def _tells(self, number: int, given: Sequence[int]) -> bool:
        return number in self.known or number in _derived(given) or _is_converted(number, given)


def _written(whole: str) -> Iterator[int]:
    """Yield every number in digits, wherever it stands, rounded, or in words."""
    yield from (int(number) for number in set(_ANY.findall(whole)) if len(number) < 10)  # noqa: PLR2004
    yield from (int(number) + 1 for number in set(_FRACTION.findall(whole)))
    yield from spelt_in(whole)


def _added_in_lines(whole: str) -> Iterator[int]:
    for line in whole.split("\n"):
        numbers = [int(number) for number in itertools.islice(_NUMBER.findall(line), 7)]
        if 1 < len(numbers) <= 6:  # noqa: PLR2004 - see _MOST_ADDED
            yield from _derived(numbers)


def _derived(numbers: Sequence[int]) -> set[int]:
    """Return sums of some of the numbers, and differences of two; everything where there are too many."""
    if len(numbers) > _MOST_ADDED:
        return set(range(1000))
    sums = {0}
    for number in numbers:
        sums |= {number + other for other in sums if other < 1000}  # noqa: PLR2004
    return sums | {abs(one - other) for one, other in itertools.combinations(numbers, 2)}


def _is_converted(number: int, given: Sequence[int]) -> bool:
    """Return whether it is one of these in another unit: minutes for seconds."""
    return any(number * factor in given or number in {other * factor for other in given} for factor in _FACTORS)


def _valued(text: str) -> Iterator[_Said]:
    """Yield short numbers that are given as values, with the keys that may be meant."""
    for match in _VALUED.finditer(text):
        before, key = _stem(match[1] or ""), _stem(match[2])
        keys = (f"{before}{key}", key, before) if match[2].lower() in _GENERIC else (f"{before}{key}", key)
        for word in match[3].lower().split():
            plain = word.lstrip(":=")
            number = int(plain) if plain.isdecimal() else SAID.get(plain, 0)
            if 1 < number < 100:  # noqa: PLR2004 - longer ones are quotations
                yield _Said(keys, number, tells_average(match))


def _of_nouns(text: str) -> Iterator[_Said]:
    """Yield numbers before nouns, each with these words."""
    for match in _COUNTED.finditer(text):
        number, *words = match.groups(default="")
        stems = tuple(stem for stem in map(_stem, filter(None, words)) if stem not in _UNITS)
        if stems and not _is_unit(words[0]):
            yield _Said(stems, int(number), tells_average(match))


def _is_unit(word: str) -> bool:
    return word.lower() in _UNITS or _stem(word) in _UNITS


def _stem(word: str) -> str:
    return _NOT_CODE.sub("", word).lower().removesuffix("s")
