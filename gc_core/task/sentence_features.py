"""
What a sentence shows of what it is: its words, their parts, its form, and what stands beside it.

A feature is a short text, of which only the hash is used. Nobody wrote down which features speak for a rule or a
decision: that is learned from labelled messages (``benchmarks.sentence_models``). Linear in the length of the sentence.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from zlib import crc32

import attrs

from gc_core.values.patterns import regex

MOST_TOKENS = 60
"""The most tokens of a sentence that are read."""

NAME = regex(
    r"`[^`\n]{1,80}`|\bhttps?://\S{1,200}|(?<![\w./])[~.]{0,2}/[\w.@-]{1,60}(?:/[\w.@-]{1,60}){0,12}/?"
    r"|(?<![\w.@/-])[\w.@-]{1,60}(?:/[\w.@-]{1,60}){2,12}"
    r"|(?<![\w.@/-])[\w@-]{1,60}(?:/[\w@-]{1,60}){0,12}\.[a-z]{1,4}\d?(?!\w|\.\w)"
    r"|(?<!\w)[^\W_]{0,40}(?:_[^\W_]{1,40}){1,8}(?:\(\))?|(?<!\w)[a-z]{1,30}(?:[A-Z][a-z]{1,30}){1,6}(?:\(\))?"
    r"|(?<!\w)\w{1,60}\(\)|(?<!\w)--?[a-z][\w-]{0,40}"
)
"""A path, an address or a name in code: which one it is says nothing."""

_CONTRACTED = regex(
    r"\b(do|does|did|is|are|was|were|has|have|had|must|need|should|would|could|ca|wo)nt\b"
    r"(?! (?:je|tu|il|ils|elles?|on|nous|vous|les?|la|une?|des|ces?|cette|mon|ma|mes|son|sa|ses|nos|notre|vos|votre"
    r"|leurs?|y)\b| [jl]')",
    re.IGNORECASE,
)
"""What is often written without its apostrophe; not the French "dont"."""

NUMBER = regex(r"\d+(?:[.,:]\d+)*")
_WORD = regex(
    r"⌘|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:'[^\W\d_]+)*|[\uac00-\ud7af]+|[\u3040-\u30ff\u3400-\u9fff]"
    r"|\d+|[^\w\s]"
)
DENSE_RUN = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_MARK = regex(r"[^\w\s]")
_PARTS = (4, 5)
"""The lengths of the parts of words, in letters."""

_DENSE_PARTS = (2, 3, 4)
_SHORTEST = 3
STEM = 4
"""The letters of a word that its stem has: endings hide that two words stand together."""

_APART = 3
"""How far apart two words may be that count together."""

_BESIDE = 8
"""The tokens of a neighbouring sentence that are read."""

_SENTENCES, _PLACES = 4, 2
_MOST_DOUBLED = 6
"""Numbers of sentences are told apart by powers of two, up to the fifth: a long message is a document or a task."""

_START = 6
_BEGINS, _ENDS, _BEFORE, _AFTER = 1, 2, 3, 4
_MIX, _BITS = 0x9E3779B1, (1 << 32) - 1
"""An odd number whose bits are spread, which mixes hashes; and the bits of one."""


@attrs.frozen
class Reading:
    """A sentence as its features are read from it, with the hashes of its tokens and of their stems."""

    text: str
    tokens: tuple[str, ...]
    hashes: tuple[int, ...]
    stems: tuple[int, ...]

    @classmethod
    def of(cls, sentence: str) -> Reading:
        """Read a sentence."""
        plain = sentence.replace("’", "'")
        words = _CONTRACTED.sub(r"\1n't", NUMBER.sub("0", NAME.sub(" ⌘ ", plain)))
        tokens = tuple(_WORD.findall(words.lower())[:MOST_TOKENS])
        return cls(plain, tokens, tuple(map(hash_of, tokens)), tuple(hash_of(f"={token[:STEM]}") for token in tokens))


def hashes_of(sentences: Sequence[str]) -> list[frozenset[int]]:
    """Return the hashes of the features of each sentence of a message, of 32 bits each."""
    readings = [Reading.of(sentence) for sentence in sentences]
    return [frozenset(_features(readings, place)) for place in range(len(readings))]


@functools.lru_cache(maxsize=16_384)
def hash_of(feature: str) -> int:
    """Return the hash of a feature, of 32 bits."""
    return crc32(feature.encode("utf-8", "surrogatepass"))


def _features(readings: Sequence[Reading], place: int) -> Iterator[int]:
    reading = readings[place]
    yield from _of_words(reading)
    yield from _of_stems(reading.stems)
    yield from map(hash_of, _of_dense(reading.text))
    yield from map(hash_of, _of_form(reading))
    yield hash_of(f"place {min(place, _PLACES)} {min(len(readings), _SENTENCES)}")
    yield hash_of(f"among {min(len(readings).bit_length(), _MOST_DOUBLED)}")
    yield from _beside(_BEFORE, readings[place - 1] if place else None)
    yield from _beside(_AFTER, readings[place + 1] if place + 1 < len(readings) else None)


def _together(*hashes: int) -> int:
    """Return the hash of several features in this order."""
    mixed = 0
    for each in hashes:
        mixed = (mixed ^ each) * _MIX & _BITS
    return mixed


def _of_words(reading: Reading) -> Iterator[int]:
    yield from reading.hashes
    framed = (_BEGINS, *reading.hashes, _ENDS)
    yield from map(_together, framed, framed[1:])
    yield from map(_together, framed, framed[1:], framed[2:])
    for word in set(reading.tokens):
        yield from _parts_of(word)


@functools.lru_cache(maxsize=16_384)
def _parts_of(word: str) -> tuple[int, ...]:
    """Return the hashes of the parts of a word."""
    if len(word) < _SHORTEST or not word.isalpha() or DENSE_RUN.match(word):
        return ()
    whole = f"^{word}$"
    return tuple(hash_of(f"~{whole[at : at + size]}") for size in _PARTS for at in range(len(whole) - size + 1))


def _of_stems(stems: Sequence[int]) -> Iterator[int]:
    """Yield stems that stand together, or near each other."""
    for apart in range(1, _APART + 1):
        yield from (_together(one, apart, two) for one, two in zip(stems, stems[apart:], strict=False))


def _of_dense(text: str) -> Iterator[str]:
    """Yield parts of what is written without blanks; how it ends says most."""
    for run in DENSE_RUN.findall(text):
        for size in _DENSE_PARTS:
            yield from (f"~{run[at : at + size]}" for at in range(len(run) - size + 1))
        yield f"end {run[-2:]}"
        yield f"end {run[-3:]}"


def _of_form(reading: Reading) -> Iterator[str]:
    """Yield how long it is, how it begins and ends, and how much of it is marks, as in what machines write."""
    text, size = reading.text, max(1, len(reading.text))
    yield f"length {min(len(reading.tokens) // 3, 8)}"
    yield f"first {''.join(map(_shape, text[:_START]))}"
    yield f"last {_shape(text[-1:])}"
    yield f"marks {min(10 * len(_MARK.findall(text)) // size, 4)}"
    yield f"capitals {min(4 * sum(map(str.isupper, text)) // size, 3)}"


def _shape(letter: str) -> str:
    if letter.isalpha():
        return "X" if letter.isupper() else "x"
    return "9" if letter.isdigit() else letter


def _beside(side: int, reading: Reading | None) -> Iterator[int]:
    if reading is None:
        yield side
        return
    yield from (_together(side, each) for each in reading.hashes[:_BESIDE])
