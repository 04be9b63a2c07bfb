"""
Reads the numbers of three digits or more, of ports and of clocks that a text quotes.

Smaller ones are counts, not quotations. Those that name a port, a version, a line, a year or a file are never derived.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Self

import attrs

from gc_core.summaries.derived_numbers import DerivedNumbers
from gc_core.summaries.quantities import Quantity, quantities
from gc_core.summaries.ranges import range_starts
from gc_core.summaries.times import WrittenDate, certain_dates, short_dates, without_dates
from gc_core.summaries.written_numbers import CLOCK, NUMBER, SPACED, WrittenNumbers, forms, unspaced
from gc_core.values.patterns import regex

_RUN = regex(r"\d+")
_AFTER_WORD = regex(r"(?<![A-Za-z0-9_.])\d+(?:\.\d+)*")
_LEAST_DIGITS = 3
_MOST_DIGITS = 15
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
_YEAR = regex(
    r"(?<![\w-])(?:(?:in|im|since|seit|depuis|desde|sinds|nel|em|в|w) (?:19|20)\d{2}(?![\w%]|[.,:-]\d)"
    r"|(?:of|from|von|de|del|van|z) (?:19|20)\d{2}(?=[.,;)\n]|$))"
)
_ALL = regex(r"(?<![\w.,])100 ?%")


@attrs.frozen(kw_only=True)
class QuotedNumbers:
    """
    The numbers that a text quotes.

    Attributes:
        all: In order, once each.
        names: Those that name something: nobody adds up or rounds a port.
        dates: Days, which are none of these.
        quantities: What they are of, if they are of something.
        starts: From where a range goes to them.
        scaled: Those of one or two digits that a word makes thousands or millions of.

    """

    all: Sequence[str]
    names: AbstractSet[str]
    dates: Sequence[WrittenDate]
    quantities: Mapping[str, Sequence[Quantity]]
    starts: Mapping[str, int]
    scaled: AbstractSet[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return those of a text."""
        dates = tuple(certain_dates(text))
        text = without_dates(text, short_dates(text))
        labelled = dict.fromkeys((*_labelled(text), *(match[0].split()[-1] for match in _YEAR.finditer(text))))
        times = (match[0] for match in CLOCK.finditer(text))
        told = defaultdict[str, dict[Quantity, Quantity]](dict)
        for each in quantities(text, carry=True):
            told[unspaced(each.written)].setdefault(attrs.evolve(each, line=0, start=0), each)
        of = {number: tuple(said.values()) for number, said in told.items()}
        scaled = frozenset(number for number, said in of.items() if all(map(_is_scaled, said)))
        numbers = dict.fromkeys((*_numbers(text), *scaled, *labelled, *_ports(text), *times))
        names = frozenset({*labelled, *_ports(text)})
        return cls(
            all=tuple(numbers), names=names, dates=dates, quantities=of, starts=range_starts(text), scaled=scaled
        )

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.all or self.dates)

    def repeated_in(self, text: str) -> Self:
        """Return those that a text repeats as they are written."""
        numbers = tuple(number for number in self.all if number in text)
        return attrs.evolve(self, all=numbers, dates=tuple(each for each in self.dates if each.written in text))

    def unknown_to(self, numbers: DerivedNumbers) -> list[str]:
        """Return those that neither occur in a text, nor follow from what does."""
        if not self:
            return []
        known = WrittenNumbers(numbers.text)
        unsaid = [number for number in self.all if number in self.scaled or not known.tell(number)]
        found = [number for number in unsaid if not self._follows(number, numbers)]
        dates = [date for date in self.dates if numbers.are_few and (known.has_dates or not date.is_named)]
        return found + [each.written for each in dates if not (known.tell_date(each) or numbers.times.tell_date(each))]

    def _follows(self, number: str, numbers: DerivedNumbers) -> bool:
        if clock := CLOCK.fullmatch(number):
            return numbers.are_few and numbers.times.tell_hour(60 * int(clock[1]) + int(clock[2]))
        if number in self.starts and numbers.ranges.tell(self.starts[number], int(number)):
            return True
        if number in self.names or number.count(".") > 1 or sum(map(str.isdigit, number)) > _MOST_DIGITS:
            return False
        said = self.quantities.get(number) or [Quantity.bare(number)]
        cut = (attrs.evolve(each, values=(each.values[0] + each.step / 2,)) for each in said if number in self.scaled)
        return any(map(numbers.explain_long, said)) or any(map(numbers.round_to, cut))


def _is_scaled(said: Quantity) -> bool:
    """Return whether a number has fewer digits than it says."""
    return said.values[0] >= 10**_LEAST_DIGITS and sum(map(str.isdigit, said.written)) in range(1, _LEAST_DIGITS)


def is_written(number: str, text: str) -> bool:
    """Return whether a text contains a number, in some notation; sums and round numbers do not count."""
    return not set(forms(number)).isdisjoint(WrittenNumbers(text).forms)


def _numbers(text: str) -> Iterator[str]:
    """Return numbers that are not counts: three digits and more; all of something is 100 %."""
    found = NUMBER.findall(SPACED.sub(lambda number: unspaced(number[0]), _ALL.sub("", text)))
    return (number for number in found if sum(map(str.isdigit, number)) >= _LEAST_DIGITS)


def _ports(text: str) -> Iterator[str]:
    """Yield the numbers of ports, however short."""
    return (number for match in _PORT.finditer(text) for number in _RUN.findall(match[0]))


def _labelled(text: str) -> Iterator[str]:
    """Yield numbers that are names: nobody adds up or rounds a port."""
    found = (number for match in _LABELLED.finditer(text) for number in _AFTER_WORD.findall(match[0]))
    return (number for number in found if len(_RUN.findall(number)) > 1 or len(number) >= _LEAST_DIGITS)
