"""The words and phrases of a query, and their places in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from gc_core.storage.search.record_texts import unescaped
from gc_core.values.patterns import regex
from gc_core.values.scripts import DENSE, folded, is_dense, parted

MOST_WORDS = 32
"""The most words of a query, or of a phrase in it, that are searched: the first ones."""

_QUERY_CHARS = 4_000
"""The characters of a query that are read: more words than are searched."""

_PREVIEW, _BEFORE = 160, 60
"""The characters of a preview, and those before the matched word."""

_WORD = regex(r"[^\W_]+")
_LETTER = rf"[^\W_{DENSE}]"
"""A letter or digit of a word that blanks part from others."""
_QUOTED = regex(r'"([^"]*)"|([^\s"]+)')

Phrase = tuple[str, ...]


def phrases_of(query: str) -> tuple[Phrase, ...]:
    """
    Return words and phrases of a query, each as its adjacent words. Only letters and digits:
    nothing is left to escape.
    """
    plain = unicodedata.normalize("NFC", unescaped(query[:_QUERY_CHARS]))
    found = (tuple(_WORD.findall(parted(quoted or word))[:MOST_WORDS]) for quoted, word in _QUOTED.findall(plain))
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))[:MOST_WORDS]


def finder_of(phrase: Phrase) -> re.Pattern[str]:
    """
    Return a pattern for a phrase in a folded text; its first word leads, because Python searches
    plain letters fast.
    """
    words = [(re.escape(folded(word)), is_dense(word)) for word in phrase]
    (first, runs_on), (_, ends_dense) = words[0], words[-1]
    found = first if runs_on else rf"{first}(?<!{_LETTER}{first})"
    for (_, before), (word, dense) in pairwise(words):
        found += (r"[\W_]*" if before or dense else r"[\W_]+") + word
    return re.compile(found if ends_dense else rf"{found}(?!{_LETTER})")


def whole(entity: str) -> re.Pattern[str]:
    """Return a pattern for an identifier, exactly and not as part of a longer word."""
    return re.compile(rf"(?<!\w){re.escape(unescaped(entity))}(?!\w)")


def preview_of(text: str, finders: Sequence[re.Pattern[str]]) -> str:
    """Return some 160 characters around the first of the phrases, on one line."""
    start = max(0, _first_match(text, finders) - _BEFORE)
    cut = " ".join(text[start : start + _PREVIEW].split())
    return f"{'…' if start else ''}{cut}{'…' if start + _PREVIEW < len(text) else ''}"


def _first_match(text: str, finders: Sequence[re.Pattern[str]]) -> int:
    """Return the place of the first of the phrases, otherwise 0."""
    for plain in (str.lower, folded):  # removing accents is slow, and seldom needed
        searched = plain(text)
        places = [found.start() for finder in finders if (found := finder.search(searched))]
        if places:
            return min(places)
    return 0
