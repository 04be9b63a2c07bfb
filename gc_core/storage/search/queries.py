"""What a query says: words and phrases, and where a text holds them."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence

from gc_core.storage.search.record_texts import unescaped
from gc_core.values.patterns import regex

MOST_WORDS = 32
"""Words of a query, or of a phrase in it, that are looked for: the first ones."""

_QUERY_CHARS = 4_000
"""Characters of a query that count: more words than are searched for."""

_PREVIEW, _BEFORE = 160, 60
"""Characters of a preview, and those of it before the word that was found."""

_WORD = regex(r"[^\W_]+")
_QUOTED = regex(r'"([^"]*)"|([^\s"]+)')

Phrase = tuple[str, ...]


def phrases_of(query: str) -> tuple[Phrase, ...]:
    """
    Return words and phrases of a query, each as its words in a row. Letters and digits alone: nothing is left to
    escape.
    """
    plain = unicodedata.normalize("NFC", unescaped(query[:_QUERY_CHARS]))
    found = (tuple(_WORD.findall(quoted or word)[:MOST_WORDS]) for quoted, word in _QUOTED.findall(plain))
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))[:MOST_WORDS]


def finder_of(phrase: Phrase) -> re.Pattern[str]:
    """Finds a phrase in a folded text; its first word leads the pattern, for Python searches fast for plain letters."""
    first, *rest = (re.escape(_folded(word)) for word in phrase)
    return re.compile(r"[\W_]+".join((rf"{first}(?<![^\W_]{first})", *rest)) + r"(?![^\W_])")


def whole(entity: str) -> re.Pattern[str]:
    """Finds an identifier letter by letter, not as a piece of a longer word."""
    return re.compile(rf"(?<!\w){re.escape(unescaped(entity))}(?!\w)")


def preview_of(text: str, finders: Sequence[re.Pattern[str]]) -> str:
    """Some 160 characters around the first of the phrases, on one line."""
    start = max(0, _first_match(text, finders) - _BEFORE)
    cut = " ".join(text[start : start + _PREVIEW].split())
    return f"{'…' if start else ''}{cut}{'…' if start + _PREVIEW < len(text) else ''}"


def _first_match(text: str, finders: Sequence[re.Pattern[str]]) -> int:
    """Return where the first of the phrases stands, else 0."""
    for plain in (str.lower, _folded):  # taking accents away is slow, and seldom needed
        folded = plain(text)
        places = [found.start() for finder in finders if (found := finder.search(folded))]
        if places:
            return min(places)
    return 0


def _folded(text: str) -> str:
    """Without case and accents, every letter in its place."""
    return text.lower() if text.isascii() else "".join(map(_folded_letter, text))


@functools.lru_cache(maxsize=4_096)
def _folded_letter(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[0].lower()[:1]
