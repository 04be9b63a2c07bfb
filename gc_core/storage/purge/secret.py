"""A text to be purged: its places in a line, in every JSON notation, and its mask."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import attrs

from gc_core.errors import ConfigError, LogError
from gc_core.values.json_values import read_json, value_or_none
from gc_core.values.patterns import regex

SHORTEST = 4
"""The least characters of a secret: a shorter text occurs in ids, numbers and words by chance."""

_MASKS = "*#-=+~_.:;!?%$&@|<>^"
"""The mask characters: the first that the secret does not contain, so that no new match arises."""

_STRING = regex(r'"[^"\\]*+(?:\\(?s:.)[^"\\]*+)*+(?:"|\\?\Z)')
_SCALAR = regex(r"[-+.\w]+")
_ESCAPE = regex(r'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])')
# ASCII letters and digits are only escaped by number.
_UNESCAPED = regex(r"[A-Za-z0-9]+")
_ESCAPED_ASCII = regex(rb"\\u00[2-7]")


@attrs.frozen
class Secret:
    """A text to be overwritten, its mask character, and bytes that every line with it contains."""

    text: str
    mask: str
    rare: bytes

    @classmethod
    def of(cls, match: str, by: str) -> Secret:
        """Prepare a text. Raises ConfigError if it cannot be searched."""
        if len(match) < SHORTEST:
            raise ConfigError(f"{len(match)} characters would be hit by chance; a text to purge has {SHORTEST} or more")
        if match in by:
            raise ConfigError("by contains the text that is to be purged, and is written to the ledger")
        mask = next((letter for letter in _MASKS if letter not in match), None)
        if mask is None:
            raise ConfigError(f"the text contains every mask character of {_MASKS}; purge part of it")
        return cls(match, mask, max(_UNESCAPED.findall(match), key=len, default="").encode())

    def is_out_of(self, line: bytes) -> bool:
        """Return whether the bytes are enough to rule it out."""
        return bool(self.rare) and self.rare not in line and not _ESCAPED_ASCII.search(line)

    def masked_line(self, line: str) -> tuple[str, int]:
        """
        Return a line of JSON, masked in its strings, and the number of matches. Raises LogError for a match outside
        strings.
        """
        if any(self.text in scalar for scalar in _SCALAR.findall(_STRING.sub(" ", line))):
            raise LogError("it is a number, or in one")
        parts: list[str] = []
        end = count = 0
        for token in _STRING.finditer(line):
            inner = _Layer(token[0][1:-1], [*range(len(token[0]) - 1)])
            spans = _apart(self._spans(inner.below() or inner))
            parts += line[end : token.start() + 1], self._over(inner.text, spans)
            end, count = token.end() - 1, count + len(spans)
        return "".join((*parts, line[end:])), count

    def masked_text(self, text: str) -> tuple[str, int]:
        """Return any text, masked, and the number of matches."""
        spans = _apart(self._spans(_Layer(text, [*range(len(text) + 1)])))
        return self._over(text, spans), len(spans)

    def _spans(self, layer: _Layer) -> Iterator[tuple[int, int]]:
        """Yield its places in the line, at this layer and at those below it."""
        below = layer.below()
        starts = [found.start() for found in re.finditer(re.escape(self.text), layer.text)]
        if starts and below is not None and _is_json(layer.text):
            # In JSON a line break and "ice" are written \nice, which does not contain "nice".
            letters = set(below.starts)
            starts = [start for start in starts if {layer.starts[start], self._end(layer, start)} <= letters]
        for start in starts:
            yield layer.starts[start], self._end(layer, start)
        if below is not None:
            yield from self._spans(below)

    def _end(self, layer: _Layer, start: int) -> int:
        return layer.starts[start + len(self.text)]

    def _over(self, text: str, spans: Iterable[tuple[int, int]]) -> str:
        parts: list[str] = []
        end = 0
        for start, stop in spans:
            parts += text[end:start], self.mask * len(bytes_of(text[start:stop]))
            end = stop
        return "".join((*parts, text[end:]))


def bytes_of(text: str) -> bytes:
    """Return the text as a log contains it, including lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


@attrs.frozen
class _Layer:
    """A text after removing this many layers of escapes, and the origin of each character in the line."""

    text: str
    starts: list[int]

    def below(self) -> _Layer | None:
        """Return the text with one more layer of JSON's escapes removed; None if there is none."""
        parts: list[str] = []
        starts: list[int] = []
        end = 0
        for found in _ESCAPE.finditer(self.text):
            parts += self.text[end : found.start()], read_json(f'"{found[0]}"')
            starts += self.starts[end : found.start() + 1]
            end = found.end()
        return _Layer("".join((*parts, self.text[end:])), starts + self.starts[end:]) if end else None


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return them in order, overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(set(spans)):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _is_json(text: str) -> bool:
    return isinstance(value_or_none(text), dict | list)
