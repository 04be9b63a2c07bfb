"""
Finds names and quoted numbers in a text that none of its sources contains.

A name is what does not occur by chance: a path, a file, a symbol with ``_`` or camelCase, letters mixed with digits, an
address, an option, a hyphenated word in backticks. Names are compared ignoring case and separators, a path part by
part, so that ``auth.py`` matches ``src/auth.py`` and ``user id`` matches ``userId``.

The folders of a path follow each other as in the originals, or stand there at the start of a path of their own: an
agent that changes folders and lists files names the rest of a path alone.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property

import attrs

from gc_core.summaries.derived_numbers import DerivedNumbers
from gc_core.summaries.proper_names import is_called_otherwise
from gc_core.summaries.quoted_numbers import QuotedNumbers
from gc_core.values.patterns import regex

_NAME = regex(r"[A-Za-z0-9_@#~$][A-Za-z0-9_@#~$./:+\-]{2,198}[A-Za-z0-9_/]")
_CAMEL = regex(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_MIXED = regex(r"\A(?=[^A-Za-z\n]*[A-Za-z])(?=\D*\d)")
_INNER = regex(r"[A-Za-z0-9][/_@#~$][A-Za-z0-9]|[A-Za-z0-9_]\.[A-Za-z][A-Za-z0-9]{0,9}\b|::|://")
_FILE = regex(r"[\w\-.]*\w\.[A-Za-z][A-Za-z0-9]{0,4}")
_MEMBER = regex(
    r"\A(?![A-Z0-9_]+\.)[A-Z]\w*\.(?!java$|scala$|swift$|html$|json$|toml$|yaml$)[a-z]{4,}\Z"
)  # "Cart.total"
_UNIT = regex(r"~?[\d.,]+(?:-[\d.,]+)?-?(?:[a-z]{1,3}|bits?|bytes?|min|times?|lines?)", re.IGNORECASE)
_COUNTED = regex(r"~?\d+(?:-[A-Za-z]+)+")  # "an 8-step plan"
_EITHER = regex(r"[A-Za-z]?[a-z]+(?:/[A-Za-z]?[a-z]+){1,2}")  # "read/write", "created/modified"
_SQUEEZED = regex(r"[\W_]+")
_WORD = regex(r"\w+")
_QUOTED = regex(r"[\"'`](\w+)(?=[\"'`])")
_LEAST_LETTERS = 3
_OPTION = regex(r"(?<![\w-])--[A-Za-z][\w-]*")
_TICKED = regex(r"`([\w.]+-[\w.-]+)`")
_CHAIN = regex(r"(?<![\w.-])\d{2,}(?:-\d{2,}){2,}(?![\w-])")  # "7741-55-203"
_DATE = regex(r"(?:19|20)\d{2}-\d{2}-\d{2}|\d{2}-\d{2}-(?:19|20)?\d{2}")
_PLACE = regex(r"[:#].*")
_ABBREVIATED = frozenset({"e.g", "i.e", "a.m", "p.m", "etc", "vs", "u.s", "and/or", "n/a", "i/o", "z.b", "d.h", "w/o"})


def invented(text: str, originals: Iterable[str]) -> tuple[str, ...]:
    """Return names and quoted numbers of the text that occur in none of the originals. O(length of both)."""
    whole = "\n".join(originals)
    return (*invented_names(text, whole), *QuotedNumbers.of(text).unknown_to(DerivedNumbers(whole)))


def invented_and_repeated(text: str, originals: Iterable[str], reply: str) -> Iterator[str]:
    """Yield those of them that a reply repeats; nothing else is looked up or worked out."""
    whole = "\n".join(originals)
    yield from _not_in(whole, (name for name in _names(text) if name in reply))
    yield from QuotedNumbers.of(text).repeated_in(reply).unknown_to(DerivedNumbers(whole))


def invented_names(text: str, whole: str) -> Iterator[str]:
    """Yield names of a text that do not occur in another, in order."""
    yield from _not_in(whole, _names(text))


def _not_in(whole: str, found: Iterable[str]) -> Iterator[str]:
    names = dict.fromkeys(found)
    if not names:
        return
    squeezed, lower, fields = _SQUEEZED.sub("", whole).lower(), whole.lower(), _Fields(whole)
    for name in names:
        if not (_occurs_whole(name, squeezed, fields) and _is_one_path(name.lower(), squeezed, lower)):
            yield name


def _names(text: str) -> Iterator[str]:
    yield from _OPTION.findall(text)
    yield from _TICKED.findall(text)
    yield from (chain for chain in _CHAIN.findall(text) if not _DATE.fullmatch(chain))
    for match in _NAME.finditer(text):
        name = match[0].rstrip("./:-+~")
        if name.lower() in _ABBREVIATED or not any(map(str.isalpha, name)):
            continue
        if _EITHER.fullmatch(match[0]) or any(pattern.fullmatch(name) for pattern in (_UNIT, _COUNTED)):
            continue
        if _INNER.search(name) or _CAMEL.search(name) or _MIXED.search(name):
            yield name


def _occurs_whole(name: str, squeezed: str, fields: _Fields) -> bool:
    """Return whether every part of a path, or the name as a whole or split at its dots, occurs."""
    return all(_occurs(part, squeezed) or fields.tell(part.lower()) for part in re.split(r"/+", name) if part)


def _occurs(part: str, squeezed: str) -> bool:
    plain = _squeeze(part)
    if len(plain) < _LEAST_LETTERS or plain in squeezed or plain.removesuffix("s") in squeezed:
        return True
    if is_called_otherwise(plain, squeezed):
        return True
    if _FILE.fullmatch(part) and not _MEMBER.search(part):
        return False
    pieces = [piece for piece in map(_squeeze, re.split(r"[.:@#+\-]+", part)) if len(piece) >= _LEAST_LETTERS]
    return len(pieces) > 1 and all(piece in squeezed for piece in pieces)


@attrs.frozen(slots=False)
class _Fields:
    """The fields that a text names, as of a table: in quotation marks."""

    text: str

    def tell(self, part: str) -> bool:
        """Return whether a name is a thing with one of its fields."""
        thing, dot, field = part.rpartition(".")
        return bool(dot) and field in self._quoted and self._words >= set(_WORD.findall(thing))

    @cached_property
    def _quoted(self) -> AbstractSet[str]:
        return frozenset(_QUOTED.findall(self.text.lower()))

    @cached_property
    def _words(self) -> AbstractSet[str]:
        return frozenset(_WORD.findall(self.text.lower()))


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
