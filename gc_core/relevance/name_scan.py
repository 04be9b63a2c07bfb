"""Finds the names in a text, by line: paths, symbols, ids and numbers."""

from __future__ import annotations

from collections.abc import Iterator

from gc_core.values.names import NOTHING, Scan, Span
from gc_core.values.patterns import regex

LONG_LINE = 600
"""Characters above which a line is read in pieces: one row of minified JSON may contain a hundred records."""

_PIECE = 240
_PIECE_END = regex(r"[}\])][,;]?\s*|[,;]\s+|[,;](?=[\"'{\[(])|\s")

_TOKEN = regex(r"[A-Za-z0-9_#@~./+\-]{5,}")
_LONGEST = 200
_CAMEL = regex(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_FILE = regex(r"[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+)*\.[A-Za-z][A-Za-z0-9]{0,4}$")
_EDGE = ".+-~"


def scan(text: str) -> Scan:
    """
    Return the names of a text by line: O(length), each line once.

    A name is 5 to 200 characters of letters, digits and ``_ # @ ~ . / + -`` that are a path, mix letters with two or
    more digits, are a number of five or more digits, a file name, or a snake_case or camelCase symbol; for a path also
    its last part, for a dotted name its parts. Escaped line breaks of JSON separate names.
    """
    flat = text.replace("\\n", "  ").replace("\\t", "  ") if "\\" in text else text
    find = _TOKEN.findall
    spans = []
    for start, end in spans_of(text):
        names: list[str] = []
        for token in find(flat, start, end):
            names += _KNOWN[token]
        if names:
            spans.append(Span(start=start, end=end, names=tuple(dict.fromkeys(names))))
    return Scan(spans=tuple(spans)) if spans else NOTHING


def spans_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of every line, in order, a very long one in pieces, without line breaks."""
    start, size = 0, len(text)
    while start <= size:
        stop = text.find("\n", start)
        stop = size if stop < 0 else stop
        if stop - start <= LONG_LINE:
            yield start, stop
        else:
            yield from _pieces(text, start, stop)
        start = stop + 1


def _pieces(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield a long line cut after brackets, commas or blanks only: half a token would be another name."""
    while stop - start > 2 * _PIECE:
        cut = _PIECE_END.search(text, start + _PIECE, stop)
        if cut is None:
            break
        yield start, cut.end()
        start = cut.end()
    yield start, stop


class _Known(dict[str, tuple[str, ...]]):
    """
    The names in each token seen so far: most tokens of a session recur.

    A dict rather than lru_cache, because a hit costs half as much and every message is scanned (``python -m
    benchmarks.liveness``). Bounded: it is cleared when it is full.
    """

    most = 65_536

    def __missing__(self, token: str) -> tuple[str, ...]:
        if len(self) >= self.most:
            self.clear()
        names = tuple(dict.fromkeys(_names(token.strip(_EDGE)))) if len(token) <= _LONGEST else ()
        self[token] = names
        return names


_KNOWN = _Known()


def _names(word: str) -> Iterator[str]:
    if "/" in word:
        if len(word) > 5 and any(map(str.isalpha, word)):  # noqa: PLR2004 - the grammar: 6 and more
            yield word
            yield from _names(word.rstrip("/").rpartition("/")[2])
    elif "." in word.strip("."):
        if _FILE.match(word):
            yield word
        for part in word.split("."):
            yield from _names(part)
    elif _is_symbol(word):
        yield word


def _is_symbol(word: str) -> bool:
    if word.isdigit():
        return len(word) > 4  # noqa: PLR2004 - the grammar: 5 and more
    if len(word) < 6:  # noqa: PLR2004 - the grammar: 6 and more
        return False
    if "_" in word.strip("_") or _CAMEL.search(word):
        return True
    digits = sum(map(str.isdigit, word))
    return digits > 1 and any(map(str.isalpha, word))
