"""
Scores the lines that a stub may keep, by a profile.

Only those lines are read, joined to one short text, so that scoring costs little compared with finding them.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterable, Sequence

import attrs

from gc_core.relevance.profiles.line_classes import LINES
from gc_core.relevance.profiles.matchers import Cue, Line, holds, opening

_KEY = 2
"""The first characters of a line by which its cues are found."""


@attrs.frozen
class Cues:
    """
    The cues of several classes, prepared once.

    Attributes:
        opening: Cues that open a line, by its first characters in lower case.
        anywhere: The other cues.

    """

    opening: dict[str, tuple[Cue, ...]]
    anywhere: tuple[Cue, ...]


@functools.lru_cache(maxsize=64)
def cues_of(names: tuple[str, ...]) -> Cues:
    """Return the cues of classes of lines."""
    known = [cue for name in names if name in LINES for cue in LINES[name].cues]
    table: dict[str, tuple[Cue, ...]] = {}
    for cue in known:
        if cue.opens:
            key = cue.word[:_KEY].lower()
            table[key] = (*table.get(key, ()), cue)
    return Cues(opening=table, anywhere=tuple(cue for cue in known if not cue.opens))


class Excerpt:
    """Some lines of a text, joined."""

    def __init__(self, text: str, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._starts: list[int] = []
        reached = 0
        for start, end in lines:
            self._starts.append(reached)
            reached += end - start + 1
        self._text = "\n".join([text[start:end] for start, end in lines])
        self._heads = [
            opening(self._text, at, at + end - start) for at, (start, end) in zip(self._starts, lines, strict=True)
        ]

    @functools.cached_property
    def _small(self) -> str:
        small = self._text.lower()
        return small if len(small) == len(self._text) else self._text

    def judged(self, cues: Cues) -> set[Line]:
        """Return those lines that contain a cue."""
        return {*self._opened(cues), *self._holding(cues.anywhere)}

    def _opened(self, cues: Cues) -> Iterable[Line]:
        if not cues.opening:
            return
        table, whole = cues.opening, self._text
        for place, line in zip(self._heads, self._lines, strict=True):
            for cue in table.get(whole[place : place + _KEY].lower(), ()):
                text = self._small if cue.small else whole
                if text.startswith(cue.word, place) and holds(cue, text, place):
                    yield line
                    break

    def _holding(self, cues: Iterable[Cue]) -> Iterable[Line]:
        starts, lines = self._starts, self._lines
        for cue in cues:
            text = self._small if cue.small else self._text
            word, find = cue.word, text.find
            place = find(word)
            while place >= 0:
                if holds(cue, text, place):
                    at = bisect_right(starts, place)
                    yield lines[at - 1]
                    if at == len(starts):
                        break
                    place = find(word, starts[at])
                else:
                    place = find(word, place + 1)
