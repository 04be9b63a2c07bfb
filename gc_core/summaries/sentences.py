"""Finds sentences with certain words. Linear: it searches fixed words, and the sentences around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gc_core.values.patterns import regex
from gc_core.values.sentences import sentence_ends

REACH: Final = 280
"""The most characters of a sentence on either side of the word that it was found by."""

MOST_SENTENCES: Final = 40
"""The most sentences from either end of a text."""

LONG_TEXT: Final = 16_000
"""Characters above which only both ends of a text are read, half of it each: the middle was pasted."""

_SHORT: Final = 120
"""The most characters of a sentence that may need another one to be understood."""

_POINTS_BACK = regex(
    r"\b(?:it|its|them|they|this|that|these|those|he|she|him|her|otherwise|others?|so|es|ihn|ihm|ihr|sie|das|diese[rsnm]?"
    r"|dies|dort|lo|la|los|las|le|les|eso|esto|ese|esa|ça|cela|ceci|isso|isto|ele|ela|questo|quello|это|его|её|их|он"
    r"|она|они|to|tego)\b|它|他们|她|这|那|それ|これ|그것|이것",
    re.IGNORECASE,
)
"""Words that refer to what precedes them."""

_AMOUNT = regex(r"\d")

_BULLET = regex(r"\s*(?:[-*•>#]+\s+|\d{1,3}[.)]\s+)*")


def sentences_with(text: str, words: Sequence[str]) -> list[str]:
    """Return the sentences that contain one of these words, in order, verbatim except for white space."""
    if len(text) > LONG_TEXT:
        ends = (text[: LONG_TEXT // 2], text[-LONG_TEXT // 2 :])
        return list(dict.fromkeys(sentence for end in ends for sentence in _sentences(end, words)))
    return list(_sentences(text, words))


def with_the_one_before(text: str, sentence: str) -> str:
    """
    Return a short sentence with the previous one in the same paragraph, if that is short too: "Never exceed without
    explicit approval." says nothing without what must not be exceeded. A question is not added.
    """
    place = text.find(sentence)
    if place <= 0 or len(sentence) > _SHORT:
        return sentence
    before = text[max(0, place - 2 * _SHORT) : place].rpartition("\n")[2]
    stops = list(sentence_ends(before, 0, len(before.rstrip()) - 1))
    first = before[stops[-1] :].strip() if stops else before.strip()
    bullet = _BULLET.match(first)
    first = first[0 if bullet is None else bullet.end() :].strip("-*•> ")
    if not first or len(first) > _SHORT or first.endswith("?") or (not stops and len(before) == 2 * _SHORT):
        return sentence
    hangs_on_it = _POINTS_BACK.search(sentence) or (_AMOUNT.search(first) and not _AMOUNT.search(sentence))
    return f"{first} {sentence}" if hangs_on_it else sentence


def _sentences(text: str, words: Sequence[str]) -> dict[str, None]:
    lower = text.lower()
    lower = (lower if len(lower) == len(text) else text).replace("’", "'")
    ends = -1
    sentences: dict[str, None] = {}
    for place in sorted({place for word in words for place in _places(lower, word)}):
        if place < ends:
            continue
        start, ends = _bounds(text, place)
        if sentence := " ".join(text[start:ends].split()):
            sentences[sentence] = None
        if len(sentences) == MOST_SENTENCES:
            break
    return sentences


def _places(lower: str, word: str) -> Iterator[int]:
    """Yield the places of a whole word; a limited number, because a text may be one word a million times."""
    place, size = lower.find(word), len(word)
    for _ in range(MOST_SENTENCES * 4):
        if place < 0:
            return
        before, after = lower[place - 1 : place], lower[place + size : place + size + 1]
        if not (before.isalnum() or before in {"_", "-", "/", "."} or after.isalnum() or after in {"_", "("}):
            yield place
        place = lower.find(word, place + size)


def _bounds(text: str, place: int) -> tuple[int, int]:
    """Return start and end of the sentence around a place, at most ``REACH`` away; without its bullet."""
    low, high = max(0, place - REACH), min(len(text), place + REACH)
    start = low
    for end in sentence_ends(text, low, place):
        start = end
    if start == low > 0 and not text[low - 1].isspace():
        start = _after_blank(text, low, place)
    end = next(sentence_ends(text, place, high), 0)
    if not end:
        end = high if high == len(text) else max(text.rfind(" ", place, high), place + 1)
    bullet = _BULLET.match(text, start, place)
    return (start if bullet is None else bullet.end()), end


def _after_blank(text: str, low: int, place: int) -> int:
    blank = text.find(" ", low, place)
    return place if blank < 0 else blank + 1
