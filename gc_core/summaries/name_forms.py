"""Tells whether a name occurs in a text, in some form of it: without accents, in two words, in another case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set as AbstractSet
from typing import Final

from gc_core.values.patterns import regex

_ADJECTIVE = regex(r"(?:i?an|ish|ese|ic|s)$")
_LETTERS: Final = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "æ": "a"})
_UMLAUT = regex(r"(?<=[aou])e")
_ACCENT = regex(r"[\u0300-\u036f]+")
_INNER_CAPITAL = regex(r"(?<=[a-z\d])(?=[A-Z])")
_LONG = regex(r"[^\W\d_]{3,}")

_LEAST_STEM: Final = 3
_LONGEST_ENDING: Final = 3
_LONG_NAME: Final = 8
"""Such names end otherwise in other languages: Caledonia is Calédonie."""

_FLEETING = regex(r"[еёe](?=[^аеёиоуыэюяaeiouy]$)")
CYRILLIC = regex(r"[а-яё]{3}")


def occurs(name: str, plain: str) -> bool:
    """Return whether some word begins with a name, or some words in a row are it: "and y" is no Andy."""
    name = plain_letters(name)
    declines = len(name) >= _LONG_NAME or CYRILLIC.search(name) or not name.isascii()
    declined = name[: max(_LEAST_STEM, len(name) - 2)] if declines else name
    begins = dict.fromkeys((declined, _ADJECTIVE.sub("", name)))
    forms = ((begin, r"[\W_]{0,3}".join(begin) + r"(?![^\W_])") for begin in begins)
    return any(re.search(rf"(?<![^\W_])(?:{begin}|{apart})", plain) for begin, apart in forms)


def has_form(name: str, words: AbstractSet[str]) -> bool:
    """Return whether one of some words is a form of a name: Markiem of Marek, Львом of Лев."""
    stems = (name[: max(_LEAST_STEM, len(name) - _LONGEST_ENDING)], *(_FLEETING.sub(sign, name) for sign in ("", "ь")))
    begins = tuple(stem for stem in stems if len(stem) >= _LEAST_STEM)
    return any(word.startswith(begins) for word in words)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, in small letters."""
    return frozenset(word.lower() for word in _LONG.findall(text))


def plain_letters(text: str) -> str:
    """Return a text in small letters, without accents and the e that may stand for one; a capital begins a word."""
    parts = unicodedata.normalize("NFD", _INNER_CAPITAL.sub(" ", text).lower().translate(_LETTERS))
    return _UMLAUT.sub("", _ACCENT.sub("", parts))
