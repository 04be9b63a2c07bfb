"""
The identifiers of a text, for the measures of a replay.

A separate grammar: the judge of collectors shares no code with ``scan``, which collectors use.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

_WORD = re.compile(r"[A-Za-z0-9_#@~./+-]+")
_SHORTEST, _LONGEST = 5, 200
_SYMBOL = 6
_EDGES = ".+-~"
_FILE = re.compile(r"[\w-]+(\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,4}", re.ASCII)
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_ESCAPED_BREAK = re.compile(r"\\[nt]")


def identifiers(text: str) -> frozenset[str]:
    """
    Return all identifiers of a text.

    These are words of letters, digits and ``_ # @ ~ . / + -``, 5 to 200 long, that are a path (a slash and a letter, 6
    and more), mix letters with two or more digits (6 and more), are a number of 5 and more digits, a file name, or a
    snake_case or camelCase symbol (6 and more); of a path also its last part, of a dotted name its parts. Letters are
    ASCII. Punctuation at the edges of a word is not part of it, and the escaped line breaks of JSON end a word.
    """
    plain = _ESCAPED_BREAK.sub("  ", text) if "\\" in text else text
    return frozenset(name for word in set(_WORD.findall(plain)) for name in _of_word(word))


@functools.lru_cache(maxsize=100_000)
def _of_word(word: str) -> tuple[str, ...]:
    return tuple(_named(word.strip(_EDGES))) if _SHORTEST <= len(word) <= _LONGEST else ()


def _named(word: str) -> Iterator[str]:
    """Yield the identifier of a word, and those inside it."""
    if "/" in word:
        if _is_path(word):
            yield word
            yield from _named(word.rstrip("/").rpartition("/")[2])
    elif "." in word:
        if _FILE.fullmatch(word):
            yield word
        for part in word.split("."):
            yield from _named(part)
    elif _is_number(word) or _is_symbol(word):
        yield word


def _is_path(word: str) -> bool:
    return len(word) >= _SYMBOL and any(map(str.isalpha, word))


def _is_number(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isdigit()


def _is_symbol(word: str) -> bool:
    if len(word) < _SYMBOL or not any(map(str.isalpha, word)):
        return False
    return "_" in word.strip("_") or bool(_HUMP.search(word)) or sum(map(str.isdigit, word)) > 1
