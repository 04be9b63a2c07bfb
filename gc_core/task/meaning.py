"""
Which words of a sentence say what it is about: its stems, each with a weight that is lower the more often it is said.

The weights are learned from the messages that the sentence models learn from, so no language has a list of words.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import attrs

from gc_core.task.sentence_features import DENSE_RUN, NAME, NUMBER, STEM, Reading, hash_of
from gc_core.task.sentence_models import weight_of_word
from gc_core.values.patterns import regex

TELLING = 0.1
"""The weight from which a stem says what a sentence is about."""

_WEIGHED = 6
"""The letters of a word by which it is weighed: "commit" and "comment" have one stem, and say different things."""

_AMOUNT = regex(rf"(?<![\w.]){NUMBER.pattern}")
_CALLED = regex(rf"{NAME.pattern}|(?<!\w)[^\W\d_]{{1,40}}\d{{1,9}}(?!\w)")
"""A name in code, or a word with a number: "part17" is another thing than "part18", and no other amount of it."""

_PLACEHOLDERS = frozenset({"⌘", "0"})


@attrs.frozen
class Meaning:
    """
    A sentence as it is compared.

    Attributes:
        tokens: Its words, with names and numbers as placeholders.
        order: Its stems, in order, numbers, names and parts of text without blanks behind the words.
        weights: The weight of each stem, from 0 to 1.
        told: The stems that say what it is about, without numbers.
        numbers: Its numbers.
        names: Its names in code.

    """

    tokens: tuple[str, ...]
    order: tuple[str, ...]
    weights: dict[str, float] = attrs.field(repr=False)
    told: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]


@functools.lru_cache(maxsize=8_192)
def meaning_of(sentence: str) -> Meaning:
    """Return a sentence as it is compared; linear, and cached."""
    reading = Reading.of(sentence)
    weights: dict[str, float] = {}
    said = list(stems_of(reading))
    for stem, word in said:
        weights[stem] = max(weights.get(stem, 0.0), weight_of(word))
    return Meaning(
        tokens=reading.tokens,
        order=tuple(stem for stem, _ in said),
        weights=weights,
        told=frozenset(stem for stem, weight in weights.items() if weight >= TELLING and stem[0] != "#"),
        numbers=frozenset(stem for stem in weights if stem[0] == "#"),
        names=frozenset(stem for stem in weights if stem[0] == "`"),
    )


def words_of(sentence: str) -> frozenset[str]:
    """Return the stems that say what a sentence is about."""
    return meaning_of(sentence).told


def weight_of(word: str) -> float:
    """Return how much a word says, from 0 for what is said all the time to 1."""
    return weight_of_word(hash_of(word))


def stems_of(reading: Reading) -> Iterator[tuple[str, str]]:
    """
    Yield the stems of words with the beginning by which they are weighed, then numbers, names in code, and pairs of
    letters of text without blanks.
    """
    for token in reading.tokens:
        if token not in _PLACEHOLDERS and token[0].isalnum() and not DENSE_RUN.match(token):
            yield f"={token[:STEM]}", f"={token[:_WEIGHED]}"
    yield from ((f"#{found[0]}",) * 2 for found in _AMOUNT.finditer(reading.text))
    yield from ((f"`{found[0].strip('`')}",) * 2 for found in _CALLED.finditer(reading.text))
    for run in DENSE_RUN.findall(reading.text):
        yield from ((f"={run[at : at + 2]}",) * 2 for at in range(len(run) - 1))
