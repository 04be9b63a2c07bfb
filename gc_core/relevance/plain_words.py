"""
The words of a question that say what it is about, and where a text has them, in whatever form.

A word is found by its beginning, so that ``rehearse`` meets ``rehearsal`` and ``Tablette`` meets ``Tabletten``. Where
no blanks part words (Chinese, and the Han characters of Japanese), each two neighbouring characters are one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import itemgetter

import attrs

from gc_core.relevance.function_words import FUNCTION_CHARACTERS, function_words
from gc_core.values.patterns import regex
from gc_core.values.scripts import DENSE, HAN, HANGUL, KATAKANA, folded

PASSAGE = 400
"""Characters of a text in which the words of a question have to stand together."""

_RUN = regex(rf"(?P<han>[{HAN}]+)|[{KATAKANA}]+|[{HANGUL}]+|[^\W_{DENSE}{HANGUL}]+")
_SHORTEST, _SHORTEST_HANGUL = 3, 2
_BEGINNING, _ALIKE = 4, 0.6
"""Two forms of a word begin with the same four letters (or are shorter), and with three fifths of the longer one."""


@attrs.frozen
class PlainWord:
    """
    A word of a question, in lower case and without accents.

    Attributes:
        text: The word, or a pair of Han characters.
        run: The run of characters that it is from; the pairs of one run say one thing together.
        is_pair: It is a pair of Han characters.

    """

    text: str
    run: int
    is_pair: bool = False

    @property
    def beginning(self) -> str:
        """What every form of it begins with."""
        return self.text[: max(_SHORTEST, math.ceil(len(self.text) * _ALIKE))]

    def is_form(self, other: str) -> bool:
        """Return whether another word, folded as well, is a form of this one."""
        longest, shortest = max(len(self.text), len(other)), min(len(self.text), len(other))
        same = next((place for place in range(shortest) if self.text[place] != other[place]), shortest)
        return same >= min(_BEGINNING, shortest) and same >= longest * _ALIKE


def plain_words(text: str, most: int) -> tuple[PlainWord, ...]:
    """
    Return the words of a question that say what it is about, each in its first form; none if there are more.

    A number of three digits or more is a word, and so is a run of Han characters.
    """
    runs = tuple(itertools.islice(_new_words(text), most + 1))
    return () if len(runs) > most else tuple(itertools.chain.from_iterable(runs))


def spelt(text: str, words: Sequence[PlainWord]) -> Mapping[PlainWord, str]:
    """Return those of some words that a text has, as they are first spelt there, in the text's order."""
    plain = folded(text)
    first = (next(_places(plain, word), None) for word in words)
    return {word: text[start:end] for start, end, word in sorted(filter(None, first), key=itemgetter(0))}


def together(
    text: str, words: Sequence[PlainWord], weigh: Callable[[Collection[PlainWord]], float]
) -> Mapping[PlainWord, str]:
    """
    Return those of some words that stand together in a text, as they are spelt there: the most of them, by weight.

    O(length).
    """
    best: Mapping[PlainWord, str] = {}
    plain, first = folded(text), 0
    places = sorted((place for word in words for place in _places(plain, word)), key=itemgetter(0))
    for last, (at, _, _) in enumerate(places):
        while at - places[first][0] > PASSAGE:
            first += 1
        here = {word: text[start:end] for start, end, word in places[first : last + 1]}
        if weigh(here) > weigh(best):
            best = here
    return best


# -- inside ----------------------------------------------------------------------------------------------------------


def _new_words(text: str) -> Iterator[list[PlainWord]]:
    """Yield a word, or the pairs of a run, for each that is no form of one before."""
    found: list[PlainWord] = []
    for run, (word, is_han) in enumerate(_words(text)):
        pairs = map("".join, itertools.pairwise(word)) if is_han else (word,)
        new = [each for each in pairs if not any(_is_known(each, known, is_han) for known in found)]
        if new:
            here = [PlainWord(each, run, is_han) for each in dict.fromkeys(new)]
            found += here
            yield here


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the words that say something, and the runs of Han characters without those that only join."""
    found = [(match.group(), match["han"] is not None) for match in _RUN.finditer(folded(text))]
    without = function_words([word for word, _ in found])
    for word, is_han in found:
        if is_han:
            yield from ((part, True) for part in word.translate(FUNCTION_CHARACTERS).split() if len(part) > 1)
        elif len(word) >= _shortest(word) and word not in without:
            yield word, False


def _is_known(word: str, known: PlainWord, is_pair: bool) -> bool:
    return word == known.text if is_pair else not known.is_pair and known.is_form(word)


def _shortest(word: str) -> int:
    return _SHORTEST_HANGUL if "\uac00" <= word[0] <= "\ud7af" else _SHORTEST


def _places(text: str, word: PlainWord) -> Iterator[tuple[int, int, PlainWord]]:
    """Yield start and end of a word in a folded text."""
    sought = word.text if word.is_pair else word.beginning
    start = text.find(sought)
    while start >= 0:
        if word.is_pair:
            yield start, start + len(sought), word
        else:
            token = _token(text, start)
            if word.is_form(token):
                yield start, start + len(token), word
        start = text.find(sought, start + 1)


def _token(text: str, start: int) -> str:
    """Return the word that begins at a place; "" inside of one."""
    before, here = _RUN.match(text, start - 1) if start else None, _RUN.match(text, start)
    return "" if here is None or (before is not None and before.end() > start) else here.group()
