"""
Finds names and numbers in a text that none of its sources contains.

A name is what does not occur by chance: a path, a file, a symbol with ``_`` or camelCase, letters mixed with digits, an
address, an option, a hyphenated word in backticks. Names are compared ignoring case and separators, a path part by
part, so that ``auth.py`` matches ``src/auth.py`` and ``user id`` matches ``userId``. Numbers count from three digits
on: smaller ones are counts, not quotations. A rounded original number, and the sum or difference of two, is derived.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from gc_core.values.patterns import regex

_NAME = regex(r"[A-Za-z0-9_@#~$][A-Za-z0-9_@#~$./:+\-]{2,198}[A-Za-z0-9_/]")
_NUMBER = regex(r"(?<![\w.])\d+(?:[,_']\d+)*(?:\.\d+)*")
_RUN = regex(r"\d+")
_CAMEL = regex(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_MIXED = regex(r"\A(?=[^A-Za-z\n]*[A-Za-z])(?=\D*\d)")
_INNER = regex(r"[A-Za-z0-9][/_@#~$][A-Za-z0-9]|[A-Za-z0-9_]\.[A-Za-z][A-Za-z0-9]{0,9}\b|::|://")
_FILE = regex(r"[\w\-.]*\w\.[A-Za-z][A-Za-z0-9]{0,4}")
_UNIT = regex(r"~?[\d.,]+(?:-[\d.,]+)?-?(?:[a-z]{1,3}|bits?|bytes?|min|times?|lines?)", re.IGNORECASE)
_COUNTED = regex(r"~?\d+(?:-[A-Za-z]+)+")  # "an 8-step plan"
_EITHER = regex(r"[A-Za-z]?[a-z]+(?:/[A-Za-z]?[a-z]+){1,2}")  # "read/write", "created/modified"
_SQUEEZED = regex(r"[\W_]+")
_LEAST_DIGITS = 3
_LEAST_LETTERS = 3
_OPTION = regex(r"(?<![\w-])--[A-Za-z][\w-]*")
_TICKED = regex(r"`([\w.]+-[\w.-]+)`")
_MOST_PAIRED = 100
_ABBREVIATED = frozenset({"e.g", "i.e", "a.m", "p.m", "etc", "vs", "u.s", "and/or", "n/a", "i/o", "z.b", "d.h", "w/o"})


def invented(text: str, originals: Iterable[str]) -> tuple[str, ...]:
    """Return names and numbers of the text that occur in none of the originals, in order. O(length of both)."""
    names = dict.fromkeys(_names(text))
    numbers = dict.fromkeys(_numbers(text))
    if not names and not numbers:
        return ()
    whole = "\n".join(originals)
    squeezed = _SQUEEZED.sub("", whole).lower()
    found = [name for name in names if not _occurs_whole(name, squeezed)]
    if numbers:
        known = _known_in(whole)
        found += [number for number in numbers if not _is_known(number, known)]
    return tuple(found)


def is_written(number: str, text: str) -> bool:
    """Return whether a text contains a number, in some notation; sums and round numbers do not count."""
    return not set(_forms(number)).isdisjoint(_known_in(text))


def _known_in(text: str) -> set[str]:
    return {form for number in _NUMBER.findall(text) for form in _forms(number)}.union(_RUN.findall(text))


# -- names -----------------------------------------------------------------------------------------------------------


def _names(text: str) -> Iterator[str]:
    yield from _OPTION.findall(text)
    yield from _TICKED.findall(text)
    for match in _NAME.finditer(text):
        name = match[0].rstrip("./:-+~")
        if name.lower() in _ABBREVIATED or not any(map(str.isalpha, name)):
            continue
        if any(pattern.fullmatch(name) for pattern in (_UNIT, _COUNTED, _EITHER)):
            continue
        if _INNER.search(name) or _CAMEL.search(name) or _MIXED.search(name):
            yield name


def _occurs_whole(name: str, squeezed: str) -> bool:
    """Return whether every part of a path, or the name as a whole or split at its dots, occurs."""
    return all(_occurs(part, squeezed) for part in re.split(r"/+", name) if part)


def _occurs(part: str, squeezed: str) -> bool:
    plain = _squeeze(part)
    if len(plain) < _LEAST_LETTERS or plain in squeezed or plain.removesuffix("s") in squeezed:
        return True
    if _FILE.fullmatch(part):
        return False
    pieces = [piece for piece in map(_squeeze, re.split(r"[.:@#+\-]+", part)) if len(piece) >= _LEAST_LETTERS]
    return len(pieces) > 1 and all(piece in squeezed for piece in pieces)


def _squeeze(text: str) -> str:
    return _SQUEEZED.sub("", text).lower()


# -- numbers ---------------------------------------------------------------------------------------------------------


def _numbers(text: str) -> Iterator[str]:
    """Return numbers that are not counts: three digits and more."""
    return (number for number in _NUMBER.findall(text) if sum(map(str.isdigit, number)) >= _LEAST_DIGITS)


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


def _is_known(number: str, known: AbstractSet[str]) -> bool:
    """Return whether it occurs in some notation, a longer version of it does, or numbers that it rounds or adds up."""
    if not known.isdisjoint(_forms(number)):
        return True
    if "." in number or "," in number:
        dotted = number.replace(",", ".")
        if any(other.startswith(f"{dotted}.") or _rounds(other, dotted) for other in known):
            return True
    plain = _plain(number)
    return plain.isdigit() and (_is_round(plain, known) or _is_sum(int(plain), known))


def _is_round(number: str, known: Iterable[str]) -> bool:
    """Return whether a round number, with two significant digits, approximates an original one: 1,200 for 1,187."""
    zeros = len(number) - len(number.rstrip("0"))
    if len(number) - zeros > 2:  # noqa: PLR2004
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


def _rounds(other: str, number: str) -> bool:
    """Return whether a fraction with fewer digits rounds to this one."""
    places = len(number.partition(".")[2])
    if other.count(".") != 1 or number.count(".") != 1 or len(other.partition(".")[2]) <= places:
        return False
    return f"{float(other):.{places}f}" == number
