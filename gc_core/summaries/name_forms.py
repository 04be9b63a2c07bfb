"""Tells whether a name occurs in a text, in some form of it: without accents, in two words, in another case."""

from __future__ import annotations

import bisect
import itertools
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

import attrs

from gc_core.values.patterns import regex

_ADJECTIVE = regex(r"(?:i?an|ish|ese|ic|s)$")
_LETTERS: Final = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "æ": "a"})
_UMLAUT = regex(r"(?<=[aou])e")
_ACCENT = regex(r"[\u0300-\u036f]+")
_INNER_CAPITAL = regex(r"(?<=[a-z\d])(?=[A-Z])")
_LONG = regex(r"[^\W\d_]{3,}")
_WORD = regex(r"[^\W\d_]+")
_GAP = regex(r"[\W_]{4,}|\d+")
"""What stands between words that are no parts of one name."""

_LEAST_STEM: Final = 3
_LONGEST_ENDING: Final = 3
_LEAST_INSIDE: Final = 5
_MOST_BEFORE: Final = 3
"""So many letters may stand before a name in one word: jgarcia, sqlalchemy."""

_LONGEST: Final = 40
_LONG_NAME: Final = 8
"""Such names end otherwise in other languages: Caledonia is Calédonie."""

_FLEETING = regex(r"[еёe](?=[^аеёиоуыэюяaeiouy]$)")
CYRILLIC = regex(r"[а-яё]{3}")


@attrs.frozen(slots=False)
class NameForms:
    """The words of a text, in which names are looked up; the text is read once, however many names there are."""

    text: str

    def occur(self, name: str) -> bool:
        """Return whether some word begins with a name, or some words in a row are it: "and y" is no Andy."""
        name = plain_letters(name)
        declines = len(name) >= _LONG_NAME or CYRILLIC.search(name) or not name.isascii()
        declined = name[: max(_LEAST_STEM, len(name) - 2)] if declines else name
        begins = (declined, _ADJECTIVE.sub("", name))
        if any(_holds_beginning(self._words, begin) or self._have_parts(begin) for begin in begins):
            return True
        return len(name) >= _LEAST_INSIDE and name in self._inside

    def have_form(self, name: str) -> bool:
        """Return whether a word is a form of a name: Markiem of Marek, Львом of Лев."""
        stems = (name[: max(_LEAST_STEM, len(name) - _LONGEST_ENDING)], *(_FLEETING.sub(by, name) for by in ("", "ь")))
        return any(_holds_beginning(self._long_words, stem) for stem in stems if len(stem) >= _LEAST_STEM)

    @cached_property
    def _plain(self) -> str:
        return plain_letters(self.text)

    @cached_property
    def _words(self) -> Sequence[str]:
        return sorted(set(_WORD.findall(self._plain)))

    def _have_parts(self, name: str) -> bool:
        """Return whether two or three words that follow each other are a name."""
        halves = ((name[:place], name[place:]) for place in range(1, len(name)))
        return any(pair in self._pairs or (pair[0] in self._firsts and self._go_on(*pair)) for pair in halves)

    def _go_on(self, first: str, rest: str) -> bool:
        """Return whether two words follow a first one."""
        halves = ((rest[:place], rest[place:]) for place in range(1, len(rest)))
        return any(pair in self._pairs and (first, pair[0]) in self._pairs for pair in halves)

    @cached_property
    def _pairs(self) -> AbstractSet[tuple[str, str]]:
        """Words that follow each other."""
        passages = map(_WORD.findall, set(_GAP.split(self._plain)))
        return set(itertools.chain.from_iterable(map(itertools.pairwise, passages)))

    @cached_property
    def _firsts(self) -> AbstractSet[str]:
        return {first for first, _ in self._pairs}

    @cached_property
    def _inside(self) -> AbstractSet[str]:
        """Words without their first letters."""
        words = (word for word in self._words if _LEAST_INSIDE < len(word) <= _LONGEST)
        return frozenset(word[start:] for word in words for start in range(1, _MOST_BEFORE + 1))

    @cached_property
    def _long_words(self) -> Sequence[str]:
        return sorted({word.lower() for word in _LONG.findall(self.text)})


def _holds_beginning(words: Sequence[str], begin: str) -> bool:
    """Return whether one of some words, which are sorted, begins with a stem."""
    place = bisect.bisect_left(words, begin)
    return place < len(words) and words[place].startswith(begin)


def plain_letters(text: str) -> str:
    """Return a text in small letters, without accents and the e that may stand for one; a capital begins a word."""
    parts = unicodedata.normalize("NFD", _INNER_CAPITAL.sub(" ", text).lower().translate(_LETTERS))
    return _UMLAUT.sub("", _ACCENT.sub("", parts))
