"""
Finds names and numbers in a text that none of its sources contains.

A name is what does not occur by chance: a path, a file, a symbol with ``_`` or camelCase, letters mixed with digits, an
address, an option, a hyphenated word in backticks. Names are compared ignoring case and separators, a path part by
part, so that ``auth.py`` matches ``src/auth.py`` and ``user id`` matches ``userId``. Numbers count from three digits
on: smaller ones are counts, not quotations. A rounded original number, and the sum or difference of two, is derived,
unless the number is a name: of a port, a version, a line.

The folders of a path follow each other as in the originals, or stand there at the start of a path of their own: an
agent that changes folders and lists files names the rest of a path alone.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from gc_core.values.patterns import regex

_NAME = regex(r"[A-Za-z0-9_@#~$][A-Za-z0-9_@#~$./:+\-]{2,198}[A-Za-z0-9_/]")
_NUMBER = regex(r"(?<![\w.])\d+(?:[,_']\d+)*(?:\.\d+)*")
_RUN = regex(r"\d+")
_AFTER_WORD = regex(r"(?<![A-Za-z0-9_.])\d+(?:\.\d+)*")
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
_PLACE = regex(r"[:#].*")
_ABBREVIATED = frozenset({"e.g", "i.e", "a.m", "p.m", "etc", "vs", "u.s", "and/or", "n/a", "i/o", "z.b", "d.h", "w/o"})


def invented(text: str, originals: Iterable[str]) -> tuple[str, ...]:
    """Return names and numbers of the text that occur in none of the originals, in order. O(length of both)."""
    names = dict.fromkeys(_names(text))
    labelled = dict.fromkeys(_labelled(text))
    numbers = dict.fromkeys((*_numbers(text), *labelled, *_ports(text)))
    if not names and not numbers:
        return ()
    whole = "\n".join(originals)
    squeezed = _SQUEEZED.sub("", whole).lower()
    lower = whole.lower()
    found = [
        name for name in names if not (_occurs_whole(name, squeezed) and _is_one_path(name.lower(), squeezed, lower))
    ]
    if numbers:
        known = _known_in(whole)
        found += [number for number in numbers if not _is_known(number, known, is_name=number in labelled)]
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


def _is_one_path(name: str, squeezed: str, lower: str) -> bool:
    """Return whether the folders of a file follow each other as in the originals; other names are no paths."""
    parts = [part for part in name.split("/") if any(map(str.isalnum, part))]
    if "://" in name or len(parts) < 2:  # noqa: PLR2004 - a folder and what is in it
        return True
    parts[-1] = _PLACE.sub("", parts[-1])
    if not _FILE.fullmatch(parts[-1]):
        return True
    return all(
        _squeeze(f"{one}{then}") in squeezed or _starts_path(then, lower) for one, then in itertools.pairwise(parts)
    )


def _starts_path(part: str, lower: str) -> bool:
    """Return whether a part stands at the start of a path: as a file, before a slash, alone, or after cd."""
    ends = r"(?!\w)" if _FILE.fullmatch(part) else r"(?=[/\\\n\t\"'`]|  |$)"
    start = r"(?:(?<![\w./\\-])|(?<![\w.-][/\\]))(?<![\w.-])"
    return re.search(rf"{start}{re.escape(part)}{ends}|\bcd {re.escape(part)}\b", lower) is not None


# -- numbers ---------------------------------------------------------------------------------------------------------


def _numbers(text: str) -> Iterator[str]:
    """Return numbers that are not counts: three digits and more; all of something is 100 %."""
    found = _NUMBER.findall(_ALL.sub("", text))
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
    if not plain.isdigit() or _is_misspelt(plain, known):
        return False
    return _is_round(plain, known) or _is_sum(int(plain), known)


def _is_misspelt(number: str, known: Iterable[str]) -> bool:
    """Return whether it has the digits of an original number in another order: 8434 for 8443."""
    digits = sorted(number)
    return len(number) > _LEAST_DIGITS and any(len(other) == len(number) and sorted(other) == digits for other in known)


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
