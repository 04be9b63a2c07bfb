"""
Finds numbers of three digits or more, and of ports, that none of a text's sources contains.

Smaller ones are counts, not quotations. A rounded original number, also of a sum in one line, and the sum or difference
of two, is derived, unless the number is a name: of a port, a version, a line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Self

import attrs

from gc_core.values.patterns import regex

_SPACED = regex(r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\w.,]\w)")
_POWER = regex(r"(?<![\w.])\d{1,3}(?:\.\d{1,6})?e[+-]?\d{1,2}(?!\w)", re.IGNORECASE)
_NUMBER = regex(r"(?<![\w.])\d+(?:[,_']\d+)*(?:\.\d+)*")
_VERSION = regex(r"(?<![\w.])v(\d+(?:\.\d+)+)", re.IGNORECASE)
_RUN = regex(r"\d+")
_AFTER_WORD = regex(r"(?<![A-Za-z0-9_.])\d+(?:\.\d+)*")
_LEAST_DIGITS = 3
_MOST_PAIRED = 100
_MOST_DIGITS = 18  # Python refuses to convert thousands
_LABEL = (
    r"ports?|versions?|lines?|pids?|process|issues?|tickets?|ids?|(?:status|exit|error) codes?|revisions?"
    r"|pull requests?|zeilen?|prozess|versionen|puertos?|líneas?|versión|proceso|lignes?|processus|portas?|linhas?"
    r"|порту?|строк[аеи]"
)
_LINK = (
    r"numbers?|no\.?|nr\.?|was|were|is|are|of|at|on|to|from|and|or|now|then|only|already|changed|moved|set|switched"
    r"|instead|the|war|ist|auf|von|und|era|es|el|en|y|de|était|est|le|sur|et|\d[\d.]*"
)
_LABELLED = regex(
    rf"(?<![\w-])(?:{_LABEL})(?:[ :=#–-]{{1,3}}(?:{_LINK})(?![\w,]))+"
    r"|(?:ポート|端口|バージョン|版本)(?:番号)?\s?[はがを为是]?\s?\d[\d.]*|(?<!\d)\d++(?=番ポート|行目)",
    re.IGNORECASE,
)
_PORT = regex(r"(?<![\w-])ports? \d{1,5}(?!\w|[.,]\d)", re.IGNORECASE)
_ALL = regex(r"(?<![\w.,])100 ?%")
_WHOLE = regex(r"(?<![\w.,])\d{1,3}(?:[.,]\d{3}){0,2}(?![\w.,]\w|\d)")
_MOST_IN_LINE = 12


@attrs.frozen(kw_only=True)
class QuotedNumbers:
    """
    The numbers that a text quotes.

    Attributes:
        all: In order, once each.
        names: Those that name something: nobody adds up or rounds a port.

    """

    all: Sequence[str]
    names: AbstractSet[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return those of a text."""
        labelled = dict.fromkeys(_labelled(text))
        return cls(all=tuple(dict.fromkeys((*_numbers(text), *labelled, *_ports(text)))), names=frozenset(labelled))

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.all)

    def unknown_to(self, whole: str) -> list[str]:
        """Return those that neither occur in a text, nor are derived from what does."""
        known = _known_in(whole)
        unknown = [number for number in self.all if not _is_known(number, known, is_name=number in self.names)]
        if self.names >= set(unknown):
            return unknown
        sums = set(_sums_of_lines(whole))
        return [number for number in unknown if number in self.names or not _is_round(_undotted(number), sums)]


def is_written(number: str, text: str) -> bool:
    """Return whether a text contains a number, in some notation; sums and round numbers do not count."""
    return not set(_forms(number)).isdisjoint(_known_in(text))


def _known_in(text: str) -> set[str]:
    numbers = [*_NUMBER.findall(text), *_VERSION.findall(text), *map(_unspaced, _SPACED.findall(text))]
    powers = (f"{float(power):f}".rstrip("0") for power in _POWER.findall(text))
    return {form for number in (*numbers, *powers) for form in _forms(number)}.union(_RUN.findall(text))


def _unspaced(number: str) -> str:
    """Return 12 480 as 12480."""
    return re.sub(r"\s", "", number)


def _numbers(text: str) -> Iterator[str]:
    """Return numbers that are not counts: three digits and more; all of something is 100 %."""
    found = _NUMBER.findall(_SPACED.sub(lambda number: _unspaced(number[0]), _ALL.sub("", text)))
    return (number for number in found if sum(map(str.isdigit, number)) >= _LEAST_DIGITS)


def _ports(text: str) -> Iterator[str]:
    """Yield the numbers of ports, however short."""
    return (number for match in _PORT.finditer(text) for number in _RUN.findall(match[0]))


def _labelled(text: str) -> Iterator[str]:
    """Yield numbers that are names: nobody adds up or rounds a port."""
    found = (number for match in _LABELLED.finditer(text) for number in _AFTER_WORD.findall(match[0]))
    return (number for number in found if len(_RUN.findall(number)) > 1 or len(number) >= _LEAST_DIGITS)


def _plain(number: str) -> str:
    return re.sub(r"[,_']", "", number)


def _forms(number: str) -> Iterator[str]:
    """Yield the other notations of a number: with a comma for a point, without separators, without a last 0."""
    yield _plain(number)
    digits = re.sub(r"\D", "", number)
    yield digits
    if "," in number or "." in number:
        yield number.replace(",", ".")
        yield digits.rstrip("0")
        yield re.sub(r"[.,]0+$", "", number).replace(".", "").replace(",", "")


def _is_known(number: str, known: AbstractSet[str], *, is_name: bool) -> bool:
    """
    Return whether it occurs in some notation, a longer version of it does, or, if it is no name, numbers that it rounds
    or adds up.
    """
    if not known.isdisjoint(_forms(number)):
        return True
    if "." in number or "," in number:
        dotted = number.replace(",", ".")
        if any(other.startswith(f"{dotted}.") or (not is_name and _rounds(other, dotted)) for other in known):
            return True
    if is_name:
        return False
    plain = _plain(number)
    if not plain.isdigit() or len(plain) > _MOST_DIGITS or _is_misspelt(plain, known):
        return False
    return _is_round(plain, known) or _is_sum(int(plain), known)


def _is_misspelt(number: str, known: Iterable[str]) -> bool:
    """Return whether it has the digits of an original number in another order: 8434 for 8443."""
    digits = sorted(number)
    return len(number) > _LEAST_DIGITS and any(len(other) == len(number) and sorted(other) == digits for other in known)


def _is_round(number: str, known: Iterable[str]) -> bool:
    """Return whether a round number, with two significant digits, approximates an original one: 1,200 for 1,187."""
    zeros = len(number) - len(number.rstrip("0"))
    if len(number) - zeros > 2 or len(number) > _MOST_DIGITS:  # noqa: PLR2004
        return False
    step = 10**zeros
    whole = (int(other) for other in known if other.isdigit() and len(other) <= len(number) + 1)
    return any(round(value / step) * step == int(number) for value in whole)


def _is_sum(number: int, known: Iterable[str]) -> bool:
    """
    Return whether it is the sum or difference of two original numbers; with very many some always match, so then none
    counts.
    """
    values = {int(other) for other in known if other.isdigit() and len(other) < 10}  # noqa: PLR2004
    if len(values) > _MOST_PAIRED:
        return False
    return any(number - value in values or number + value in values for value in values)


def _sums_of_lines(whole: str) -> Iterator[str]:
    """Yield sums of two numbers in a line that has few."""
    for line in whole.split("\n"):
        numbers = [int(_undotted(number)) for number in itertools.islice(_WHOLE.findall(line), _MOST_IN_LINE + 1)]
        if len(numbers) <= _MOST_IN_LINE:
            yield from (str(one + other) for one, other in itertools.combinations(numbers, 2))


def _undotted(number: str) -> str:
    """Return 2.300 as 2300."""
    return re.sub(r"[.,_'](?=\d{3}(?!\d))", "", number)


def _rounds(other: str, number: str) -> bool:
    """Return whether a fraction with fewer digits rounds to this one."""
    places = len(number.partition(".")[2])
    if other.count(".") != 1 or number.count(".") != 1 or len(other.partition(".")[2]) <= places:
        return False
    return f"{float(other):.{places}f}" == number
