"""
Tells which long numbers a text contains, in some notation, and which are derived from those.

A rounded number, also of a sum in one line, and the sum or difference of two, is derived, unless it is a name.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

import attrs

from gc_core.values.patterns import regex

NUMBER = regex(r"(?<![\w.])\d+(?:[,_']\d+)*(?:\.\d+)*")
SPACED = regex(r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\w.,]\w)")
CLOCK = regex(r"(?<![\w:.])(\d{1,3}):(\d{2})(?![\d:])")
_POWER = regex(r"(?<![\w.])\d{1,3}(?:\.\d{1,6})?e[+-]?\d{1,2}(?!\w)", re.IGNORECASE)
_VERSION = regex(r"(?<![\w.])v(\d+(?:\.\d+)+)", re.IGNORECASE)
_RUN = regex(r"\d+")
_WHOLE = regex(r"(?<![\w.,])\d{1,3}(?:[.,]\d{3}){0,2}(?![\w.,]\w|\d)")
_DECIMAL = regex(r"\A\d+,(?:\d{1,2}|\d{4,})\Z")
_LEAST_MISSPELT = 4
_MOST_PAIRED = 100
_MOST_DIGITS = 18  # Python refuses to convert thousands
_MOST_ADDED_DIGITS = 9
_MOST_IN_LINE = 12
_NEAR = 5


@attrs.frozen(slots=False)
class KnownNumbers:
    """The numbers of a text."""

    text: str
    _rounded_to: dict[int, AbstractSet[str]] = attrs.field(factory=dict, init=False, repr=False, eq=False)

    def tell(self, number: str, *, is_name: bool) -> bool:
        """Return whether it occurs in some notation, or, if it is no name, is derived from what does."""
        if clock := CLOCK.fullmatch(number):
            return self._tell_time(int(clock[1]), int(clock[2]))
        if not self.forms.isdisjoint(forms(number)):
            return True
        if self._shortens(plain(number.replace(",", ".")), is_name=is_name) and ("." in number or "," in number):
            return True
        if is_name or _DECIMAL.match(number):
            return False
        return self._derives(plain(number)) or _is_round(undotted(number), self._sums)

    def _tell_time(self, hours: int, minutes: int) -> bool:
        """Return whether the minutes occur, whatever the zone, or a time nearby, or both as one number."""
        if str(minutes) in self.forms or f"{minutes:02}" in self.forms or str(60 * hours + minutes) in self.forms:
            return True
        times = (60 * int(hour) + int(minute) for hour, minute in CLOCK.findall(self.text))
        return not minutes or any(abs(60 * hours + minutes - other) < _NEAR for other in times)

    def _derives(self, number: str) -> bool:
        if not number.isdigit() or len(number) > _MOST_DIGITS:
            return False
        if _is_round(number, self._whole):
            return True
        return not self._is_misspelt(number) and self._adds_up_to(int(number))

    @cached_property
    def forms(self) -> AbstractSet[str]:
        """All notations of all numbers, and every run of digits."""
        return {form for number in self._numbers for form in forms(number)}.union(_RUN.findall(self.text))

    @cached_property
    def _numbers(self) -> AbstractSet[str]:
        spaced = (unspaced(number) for number in SPACED.findall(self.text))
        powers = (f"{float(power):f}".rstrip("0") for power in _POWER.findall(self.text))
        return {*NUMBER.findall(self.text), *_VERSION.findall(self.text), *spaced, *powers}

    @cached_property
    def _whole(self) -> Sequence[int]:
        """Whole numbers that stand alone, in order."""
        digits = {form for number in self._numbers for form in forms(number) if form.isdigit()}
        return sorted({int(form) for form in digits if len(form) <= _MOST_DIGITS})

    @cached_property
    def _beginnings(self) -> AbstractSet[str]:
        """What longer versions begin with."""
        dotted = (form.split(".") for form in self.forms if "." in form)
        return {".".join(parts[:end]) for parts in dotted for end in range(1, len(parts))}

    @cached_property
    def _fractions(self) -> Mapping[int, AbstractSet[str]]:
        """Fractions by their digits after the point."""
        found = defaultdict[int, set[str]](set)
        for form in self.forms:
            if form.count(".") == 1:
                found[len(form.partition(".")[2])].add(form)
        return found

    @cached_property
    def _spellings(self) -> AbstractSet[str]:
        return {"".join(sorted(form)) for form in self.forms}

    @cached_property
    def _sums(self) -> Sequence[int]:
        """Sums of two numbers in a line that has few, in order."""
        return sorted(set(_sums_of_lines(self.text)))

    def _shortens(self, number: str, *, is_name: bool) -> bool:
        """Return whether it is the beginning of a longer version, or a fraction with fewer digits."""
        if number in self._beginnings:
            return True
        return number.count(".") == 1 and not is_name and number in self._rounded(len(number.partition(".")[2]))

    def _rounded(self, places: int) -> AbstractSet[str]:
        """Return the fractions with more digits, rounded to so many."""
        if places not in self._rounded_to:
            longer = (one for length, each in self._fractions.items() if length > places for one in each)
            self._rounded_to[places] = {f"{float(one):.{places}f}" for one in longer}
        return self._rounded_to[places]

    def _is_misspelt(self, number: str) -> bool:
        """Return whether it has the digits of an original number in another order: 8434 for 8443."""
        return len(number) >= _LEAST_MISSPELT and "".join(sorted(number)) in self._spellings

    def _adds_up_to(self, number: int) -> bool:
        """Return whether it is the sum or difference of two; with very many some always match, so then none counts."""
        values = {value for value in self._whole if value < 10**_MOST_ADDED_DIGITS}
        if len(values) > _MOST_PAIRED:
            return False
        return any(number - value in values or number + value in values for value in values)


def plain(number: str) -> str:
    """Return a number without separators."""
    return re.sub(r"[,_']", "", number)


def unspaced(number: str) -> str:
    """Return 12 480 as 12480."""
    return re.sub(r"\s", "", number)


def undotted(number: str) -> str:
    """Return 2.300 as 2300."""
    return re.sub(r"[.,_'](?=\d{3}(?!\d))", "", number)


def forms(number: str) -> Iterator[str]:
    """Yield the notations of a number: with a comma for a point, without separators, without a last 0."""
    yield plain(number)
    digits = re.sub(r"\D", "", number)
    yield digits
    if "," in number or "." in number:
        yield plain(number.replace(",", "."))
        yield digits.rstrip("0")
        yield re.sub(r"[.,]0+$", "", number).replace(".", "").replace(",", "")


def _is_round(number: str, numbers: Sequence[int]) -> bool:
    """Return whether a round number, with two significant digits, approximates one of these: 1,200 for 1,187."""
    zeros = len(number) - len(number.rstrip("0"))
    if not number.isdigit() or len(number) - zeros > 2 or len(number) > _MOST_DIGITS:  # noqa: PLR2004
        return False
    value, step = int(number), 10**zeros
    near = numbers[bisect.bisect_left(numbers, value - step // 2) : bisect.bisect_right(numbers, value + step // 2)]
    return any(round(other / step) * step == value for other in near)


def _sums_of_lines(whole: str) -> Iterator[int]:
    for line in whole.split("\n"):
        numbers = [int(undotted(number)) for number in itertools.islice(_WHOLE.findall(line), _MOST_IN_LINE + 1)]
        if len(numbers) <= _MOST_IN_LINE:
            yield from (one + other for one, other in itertools.combinations(numbers, 2))
