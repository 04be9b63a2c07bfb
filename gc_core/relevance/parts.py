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
from typing import Any, Final

import attrs

from gc_core.relevance.only_reads import file_read
from gc_core.relevance.tool_calls import PARTIAL, ToolCall
from gc_core.relevance.volatile_text import without_moments
from gc_core.values.patterns import regex

ALIKE: Final = 0.8
"""
Share of the lines of two texts that both have, from which a part of a file was read before: nine tenths of each.
"""

MOST_PARTS: Final = 200
"""The most parts of files whose lines are remembered, the latest read."""

MOST_LINES: Final = 100
"""Lines of such a part that are compared, chosen by their content; some 40 bytes each."""

_NUMBERED = regex(r"^[ \t]{0,9}L?(\d{1,7})(?:\t|→|[|:]| {1,3}\|)", re.MULTILINE)
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


def text_key(text: str) -> bytes:
    """Return the digest of a text that was read, without numbers of lines and the moment at which it was made."""
    return digest("text", without_moments(_unnumbered(text)).strip())


@attrs.frozen
class _Part:
    """A part of a file: the text that it is a version of, and lines of it."""

    root: bytes
    target: Target
    lines: frozenset[int]


class Parts:
    """
    Knows parts of files by their lines, so that a range that begins a few lines later is the same text.

    The same call with another result is a file that changed; only another call can be another range of the same.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, _Part] = OrderedDict()

    def root(self, key: bytes, target: Target, text: str, *, is_other_call: bool) -> bytes:
        """
        Return the key of the first text of which a text is a version; its own, if it is none. Files that read alike, as
        licences do, are not the same.
        """
        known = self._known.get(key)
        if known is not None and known.target.is_other_file(target):
            key = digest(key, target.file)
            known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            return known.root
        lines = _lines_of(text)
        alike = self._alike(target, lines) if is_other_call else None
        self._known[key] = _Part(key if alike is None else alike.root, target, lines)
        if len(self._known) > MOST_PARTS:
            self._known.popitem(last=False)
        return self._known[key].root

    def _alike(self, target: Target, lines: frozenset[int]) -> _Part | None:
        its = (part for part in reversed(self._known.values()) if part.target.is_same(target))
        return next((part for part in its if _share(part.lines, lines) >= ALIKE), None)


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
    """Return digests of a text's lines, the same ones of the same lines wherever they stand."""
    found = {zlib.crc32(line.strip().encode("utf-8", "replace")) for line in _unnumbered(text).split("\n")}
    return frozenset(sorted(found)[:MOST_LINES])


def _share(one: frozenset[int], other: frozenset[int]) -> float:
    """Return the share of lines that both have, by the smallest digests of all."""
    all_lines = sorted(one | other)[:MOST_LINES]
    return sum(line in one and line in other for line in all_lines) / len(all_lines)
