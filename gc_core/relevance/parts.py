"""
The texts that were read: a key of each, and parts of files by their lines.

A range that begins a few lines later is the same text, and so is a text with numbered lines.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import posixpath
import re
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Final

import attrs

from gc_core.relevance.only_reads import file_read
from gc_core.relevance.tool_calls import PARTIAL, ToolCall
from gc_core.relevance.volatile_text import without_moments
from gc_core.values.patterns import regex

COVERED: Final = 0.95
"""Share of the lines of a part that were read before, from which it brings nothing new."""

MOST_PARTS: Final = 200
"""The most files, and parts of files, that are remembered, the latest read."""

MOST_LINES: Final = 500
"""Lines of one part that are remembered, chosen by their content; of a larger one many lines count as new."""

MOST_LINES_IN_ALL: Final = 20_000
"""Lines that are remembered, those of the files read latest; some 150 bytes each."""

_NUMBERED = regex(r"^[ \t]{0,9}L?(\d{1,7})(?:\t|→|[|:]| {1,3}\|)", re.MULTILINE)
_AGE = regex(r"(?<=[ \t]{2})(?:\d{1,6}[dhms]){1,4}(?=[ \t]{2}| ?$)", re.MULTILINE)
_HAS_AGES = regex(r"\bAGE\b")
_HEAD = 500
_HEAD_LINES = 3


@attrs.frozen
class Target:
    """
    What a call reads, or reads a part of.

    Attributes:
        file: The path of a file.
        whole: The call without its range, where it names no file but a range; "" otherwise.

    """

    file: str = ""
    whole: str = ""

    @classmethod
    def of(cls, call: ToolCall, arguments: str, read: Any) -> Target:
        """Return the target of a call that reads."""
        if file := file_read(call, arguments):
            return cls(file=posixpath.normpath(file.replace("\\", "/")).lstrip("/"))
        if not isinstance(read, dict) or PARTIAL.isdisjoint(read):
            return cls()
        rest = {key: value for key, value in read.items() if key not in PARTIAL}
        return cls(whole=json.dumps([call.name, rest], sort_keys=True))

    @property
    def is_named(self) -> bool:
        """Return whether the call names any."""
        return bool(self.file or self.whole)

    def is_same(self, other: Target) -> bool:
        """Return whether both may be one thing: a shorter path is the end of the longer."""
        one, two = self.file, other.file
        return self == other or (bool(one and two) and (one.endswith(f"/{two}") or two.endswith(f"/{one}")))

    def is_other_file(self, other: Target) -> bool:
        """Return whether both are files, and not the same."""
        return bool(self.file and other.file) and not self.is_same(other)


def text_key(text: str, *, in_any_order: bool) -> bytes:
    """
    Return the digest of a text that was read, without numbers of lines, the moment at which it was made, and the column
    of ages that kubectl shows. A search returns the same lines ``in_any_order``; elsewhere a new order is news.
    """
    plain = without_moments(_unnumbered(text))
    lines = (_AGE.sub("", plain) if _HAS_AGES.search(plain[:_HEAD]) else plain).strip().split("\n")
    return digest("text", *(sorted(lines) if in_any_order else lines))


@attrs.frozen
class Part:
    """
    A part of a file.

    Attributes:
        key: The key of its text.
        covers: For each of its lines the key of the part that brought the line last, if it brings hardly a new one.

    """

    key: bytes
    covers: tuple[bytes, ...] = ()


class Parts:
    """
    Knows parts of files by their lines: a range brings nothing new if its lines were read before, in whatever ranges.

    The same call with another result is a file that changed; only another call can be another range of the same.
    """

    def __init__(self) -> None:
        self._targets: OrderedDict[bytes, Target] = OrderedDict()
        self._lines: OrderedDict[Target, OrderedDict[int, bytes]] = OrderedDict()

    def read(self, key: bytes, target: Target, text: str, *, is_other_call: bool) -> Part:
        """Return the part that was read. Files that read alike, as licences do, are not the same."""
        if self._targets.get(key, target).is_other_file(target):
            key = digest(key, target.file)
        self._targets[key] = target
        keep_newest(self._targets, key, MOST_PARTS)
        lines = _lines_of(text)
        known = tuple(self._known(target, lines))
        self._remember(key, target, lines)
        return Part(key, known if is_other_call and len(known) >= COVERED * len(lines) else ())

    def _known(self, target: Target, lines: Iterable[int]) -> Iterator[bytes]:
        """Yield the keys of the parts that brought lines last, as far as any did."""
        its = [brought for other, brought in self._lines.items() if other.is_same(target)]
        for line in lines:
            yield from itertools.islice((brought[line] for brought in reversed(its) if line in brought), 1)

    def _remember(self, key: bytes, target: Target, lines: Iterable[int]) -> None:
        its = self._lines.setdefault(target, OrderedDict())
        for line in lines:
            its[line] = key
            its.move_to_end(line)
        keep_newest(self._lines, target, MOST_PARTS)
        for _ in range(sum(map(len, self._lines.values())) - MOST_LINES_IN_ALL):
            oldest = next(iter(self._lines.values()))
            oldest.popitem(last=False)
            if not oldest:
                self._lines.popitem(last=False)


def keep_newest(known: OrderedDict[Any, Any], newest: object, most: int) -> None:
    """Make a key the newest of those that are known, and forget the oldest if there are too many."""
    known.move_to_end(newest)
    if len(known) > most:
        known.popitem(last=False)


def digest(*pieces: str | bytes) -> bytes:
    """Return a digest of texts, in order."""
    made = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        raw = piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")
        made.update(len(raw).to_bytes(8, "big") + raw)
    return made.digest()


# -- inside ----------------------------------------------------------------------------------------------------------


def _unnumbered(text: str) -> str:
    """Return a text without the numbers that a tool put before its lines."""
    numbers = [found and int(found[1]) for found in map(_NUMBERED.match, text.split("\n", _HEAD_LINES + 1))]
    if any(one is not None and other == one + 1 for one, other in itertools.pairwise(numbers)):
        return _NUMBERED.sub("", text)
    return text


def _lines_of(text: str) -> frozenset[int]:
    """
    Return digests of a text's lines, the same ones of the same lines wherever they stand: each with the next one, as a
    line alone may occur in many places.
    """
    lines = [line.strip().encode("utf-8", "replace") for line in _unnumbered(text).split("\n")]
    pairs = itertools.pairwise(lines) if len(lines) > 1 else [(lines[0], b"")]
    return frozenset(sorted({zlib.crc32(b"\n".join(pair)) for pair in pairs})[:MOST_LINES])
