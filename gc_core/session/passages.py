"""The part of a long text in which most of some names stand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from gc_core.providers.contract import TokenCounter
from gc_core.providers.excerpts import excerpt_end

_BEFORE_CHARS = 400  # characters before the name for which a part is shown
_PASSAGE = 400  # characters among which as many names as possible are shown
_PLACES = 200  # places of a name in a text among which the one to show is chosen


def passage_with(names: Sequence[str], text: str, most: int, counter: TokenCounter) -> str:
    """Return at most this many tokens of a text: the part around the names, otherwise the beginning."""
    start = _start(text, names, min(_BEFORE_CHARS, most))
    return text[start : excerpt_end(text, start, most, counter)]


# -- inside ----------------------------------------------------------------------------------------------------------


def _start(text: str, names: Sequence[str], before: int) -> int:
    """Return the start of a line at most this many characters before the place with most of the names."""
    places = _places(text, [rf"(?<!\w){re.escape(name)}(?!\w)" for name in names])
    places = places or _places(text, map(re.escape, names))  # words of scripts without blanks
    place = max(places, key=lambda place: (_near(text, names, place), -place), default=0)
    near = max(0, place - before)
    line = text.find("\n", near, place)
    return near if near == 0 or line < 0 else line + 1


def _places(text: str, patterns: Iterable[str]) -> list[int]:
    every = (itertools.islice(re.finditer(pattern, text), _PLACES) for pattern in patterns)
    return [found.start() for found in itertools.chain.from_iterable(every)]


def _near(text: str, names: Sequence[str], place: int) -> int:
    """Return how many of the names are in the passage that begins at a place."""
    return sum(text.find(name, place, place + _PASSAGE) >= 0 for name in names)
