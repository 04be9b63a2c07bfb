"""Texts as recognisers read them: fixed words first, a pattern only where one occurs, and at most a line at a time."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import attrs

from gc_core.relevance.name_scan import LONG_LINE
from gc_core.values.items import ItemKind
from gc_core.values.names import Scan, Span
from gc_core.values.patterns import regex

_AROUND = 120
"""Characters on each side that are classed with a word in a very long line that is not cut anywhere else."""

_PARAGRAPH = 1_200
"""Characters to each side in which the ends of a paragraph are searched."""

_BEFORE = 24
"""Characters before a word in which the required prefix is searched."""

_NUMBER = regex(r"(?:[ \t]{0,12}\d{1,7}(?:→|\t|: ?|-|\|))?[+-]?[ \t]{0,80}")
"""Prefixes that tools put before a line: its number, the sign of a diff, and its indent."""

_NUMBERED_BLANK = "→\n"
"""The end of a blank line after its number."""

Line = tuple[int, int]
"""Start and end in the text, in characters, without the line break."""


@attrs.frozen
class Cue:
    """
    A fixed word, and what must surround it.

    Attributes:
        word: Searched first, as it is written.
        pattern: Must match from the word on, if given. It must be of bounded length.
        opens: The word must begin its line, apart from a line number and its indent.
        apart: No letter, digit or underscore may be right before it.
        small: Word and pattern are searched in the text in lower case.
        before: Must be found in the few characters before the word, if given; ends in ``$``.

    """

    word: str
    pattern: re.Pattern[str] | None = None
    opens: bool = False
    apart: bool = False
    small: bool = False
    before: re.Pattern[str] | None = None


def cues(
    *words: str, pattern: str = "", opens: bool = False, apart: bool = False, small: bool = False, before: str = ""
) -> tuple[Cue, ...]:
    """Return a cue for each word, all with the same conditions."""
    after = regex(pattern) if pattern else None
    ahead = regex(before) if before else None
    return tuple(Cue(word, after, opens=opens, apart=apart, small=small, before=ahead) for word in words)


@attrs.frozen
class LineClass:
    """
    The conditions under which a line belongs to a class.

    Attributes:
        cues: Any of them makes a line a member.
        sought: Cues that are also searched in lines without names; the others judge lines that are read anyway.
            Searching whole texts for every cue would be most of the cost of a collection.
        also: Finds further members that no cue can describe.

    """

    cues: tuple[Cue, ...] = ()
    sought: tuple[Cue, ...] = ()
    also: Callable[[Reading], Iterable[Line]] | None = None

    def of(self, reading: Reading) -> Iterator[Line]:
        """Yield all lines of the class in a text, in no order, some of them several times."""
        yield from reading.with_cues(self.cues)
        if self.also is not None:
            yield from self.also(reading)


class Reading:
    """
    A text, read for its classes.

    Costs what is asked: a word costs one ``str.find`` over the text and a look at its line at each place. A line above
    ``scan.LONG_LINE`` characters is read in the pieces that the scan made of it, so a line of 1 MB costs no more than
    the same text in many lines.
    """

    def __init__(self, text: str, scanned: Scan, kind: ItemKind = ItemKind.TOOL_RESULT, name: str = "") -> None:
        self.text = text
        self.kind = kind
        self.name = name
        self.spans: Sequence[Span] = scanned.spans

    @cached_property
    def small(self) -> str:
        """The text in lower case; unchanged if that changes its length."""
        small = self.text.lower()
        return small if len(small) == len(self.text) else self.text

    def with_cues(self, known: Iterable[Cue]) -> Iterator[Line]:
        """Yield every line that contains a cue, in no order, some of them several times."""
        for cue in known:
            yield from self._with_cue(cue)

    def beginning(self, word: str, start: int = 0) -> Iterator[Line]:
        """Yield every line that begins with this word, from a place on."""
        if start == 0 and self.text.startswith(word):
            yield self.line_at(0)
        place = self.text.find(f"\n{word}", start)
        while place >= 0:
            line = self.line_at(place + 1)
            yield line
            place = self.text.find(f"\n{word}", line[1])

    def line_at(self, place: int) -> Line:
        """Return the line at a place, or its piece if it is very long."""
        start = self.text.rfind("\n", max(0, place - LONG_LINE), place) + 1
        end = self.text.find("\n", place, place + LONG_LINE)
        if start == 0 and place > LONG_LINE:
            return self._piece_at(place)
        if end < 0:
            end = len(self.text)
            if end > place + LONG_LINE:
                return self._piece_at(place)
        return (start, end) if end - start <= LONG_LINE else self._piece_at(place)

    def paragraph_at(self, place: int) -> Line:
        """
        Return the lines around a place up to the next blank one on each side; whole lines if that
        is too far away.
        """
        low, high = max(0, place - _PARAGRAPH), min(len(self.text), place + _PARAGRAPH)
        return self._paragraph_start(low, place), self._paragraph_end(place, high)

    def paragraphs(self) -> Iterator[Line]:
        """Yield all paragraphs, in order."""
        text, place, size = self.text, 0, len(self.text)
        while place < size:
            if text[place] == "\n":
                place += 1
                continue
            start, end = self.paragraph_at(place)
            if end > max(start, place):
                yield max(start, place), end
            place = max(end, place) + 1

    # -- inside --------------------------------------------------------------------------------------------------

    def _paragraph_start(self, low: int, place: int) -> int:
        blank = self.text.rfind("\n\n", low, place)
        if self._is_numbered:
            blank = max(blank, self.text.rfind(_NUMBERED_BLANK, low, place))
        if blank >= 0:
            return blank + 2
        return 0 if low == 0 else self.text.find("\n", low, place) + 1 or low

    def _paragraph_end(self, place: int, high: int) -> int:
        end = self.text.find("\n\n", place, high)
        if self._is_numbered:
            numbered = self.text.find(_NUMBERED_BLANK, place, high if end < 0 else end)
            if numbered >= 0:
                return max(place, self.text.rfind("\n", place, numbered))
        if end < 0:
            end = high if high == len(self.text) else self.text.rfind("\n", place, high)
        return high if end < 0 else end

    @cached_property
    def _is_numbered(self) -> bool:
        return _NUMBERED_BLANK in self.text

    def _with_cue(self, cue: Cue) -> Iterator[Line]:
        text = self.small if cue.small else self.text
        word, find = cue.word, text.find
        place = find(word)
        while place >= 0:
            if not holds(cue, text, place):
                place = find(word, place + 1)
                continue
            line = self.line_at(place)
            if cue.opens and not self._opens(line[0], place):
                place = find(word, max(line[1], place + 1))
                continue
            yield line
            place = find(word, max(line[1], place + 1))

    def _opens(self, start: int, place: int) -> bool:
        return start == place or opening(self.text, start, place) == place

    def _piece_at(self, place: int) -> Line:
        at = bisect_right(self._starts, place) - 1
        if at >= 0 and place < self.spans[at].end:
            return self.spans[at].start, self.spans[at].end
        before = self.spans[at].end if at >= 0 else 0
        after = self.spans[at + 1].start if at + 1 < len(self.spans) else len(self.text)
        return max(before, place - _AROUND), min(after, place + _AROUND)

    @cached_property
    def _starts(self) -> list[int]:
        return [span.start for span in self.spans]


def opening(text: str, start: int, end: int) -> int:
    """Return where a line really begins, after its number, the sign of a diff and its indent."""
    head = _NUMBER.match(text, start, end)
    return start if head is None else head.end()


def holds(cue: Cue, text: str, place: int) -> bool:
    """Return whether the conditions around the word are met."""
    if cue.apart and place and (text[place - 1].isalnum() or text[place - 1] == "_"):
        return False
    if cue.pattern is not None and not cue.pattern.match(text, place):
        return False
    return cue.before is None or cue.before.search(text, max(0, place - _BEFORE), place) is not None
