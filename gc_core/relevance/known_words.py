"""
The words of texts that were read: whether one text says all that another does, in whatever form.

Rows by another query, a resource as JSON after YAML, a page from a cache and a log with another tail are read again
though no text is the same. Whatever is new in a text has a word that was not there. Ages are no words: they grow by
themselves.
"""

from __future__ import annotations

import heapq
import itertools
import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from typing import Final

from gc_core.relevance.parts import keep_newest
from gc_core.values.patterns import regex

MOST_TEXTS: Final = 100
"""The most texts whose words are remembered, the latest that came."""

MOST_WORDS: Final = 2_000
"""The most words that are remembered of a text, chosen by their digests; some 70 bytes each."""

MOST_LETTERS: Final = 50_000
"""The most letters of a text whose words are compared."""

MOST_KEYS: Final = 1_000
"""The most texts that are remembered as said in another."""

_LONG_NUMBER = 3
_WORD = regex(r"[^\W_]+")
_AGE = regex(r"(?:\d+[dhms]){1,4}")


class KnownWords:
    """Knows the words of texts by the keys of the texts; in memory only."""

    def __init__(self) -> None:
        self._words: OrderedDict[bytes, frozenset[int]] = OrderedDict()
        self._said_in: OrderedDict[bytes, bytes] = OrderedDict()

    def said_in(self, text: str, key: bytes, *, is_other_call: bool) -> bytes:
        """
        Return the key of an earlier text that has all words of this one, and remember that; its own if there is none.

        The same call with another result tells what changed, also with fewer words. A very long text is not compared.
        """
        if key not in self._said_in and len(text) <= MOST_LETTERS:
            words = _words_of(text)
            others = (other for other, known in self._words.items() if words <= known) if is_other_call else ()
            self._said_in[key] = next(iter(others), key)
            self._words.setdefault(self._said_in[key], words)
        found = self._said_in.get(key, key)
        self._keep(key, found)
        return found

    def is_own(self, text: str, key: bytes) -> None:
        """Remember that a text says something of its own, though another has its words."""
        self._words[key], self._said_in[key] = _words_of(text), key
        self._keep(key, key)

    def contained(self, words: Iterable[str], key: bytes) -> Iterator[str]:
        """Yield the words that stand in a text; a short number may stand anywhere."""
        known = self._words.get(key, frozenset())
        for word in words:
            pieces = _WORD.findall(word)
            if all(
                _digest(piece) in known and not (piece.isdecimal() and len(piece) < _LONG_NUMBER) for piece in pieces
            ):
                yield word

    def _keep(self, key: bytes, said_in: bytes) -> None:
        if said_in in self._words:
            keep_newest(self._words, said_in, MOST_TEXTS)
        if key in self._said_in:
            keep_newest(self._said_in, key, MOST_KEYS)


def _words_of(text: str) -> frozenset[int]:
    """Return digests of the words; of a number one more for each further time that it stands there."""
    words = Counter(_WORD.findall(text.lower()))
    digests = set(map(_digest, itertools.filterfalse(_is_age, words)))
    for word, times in words.items():
        if times > 1 and word.isdecimal():
            digests.update(_digest(f"{word} {time}") for time in range(2, times + 1))
    return frozenset(digests if len(digests) <= MOST_WORDS else heapq.nsmallest(MOST_WORDS, digests))


def _is_age(word: str) -> bool:
    return word[0].isdecimal() and not word.isdecimal() and _AGE.fullmatch(word) is not None


def _digest(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))
