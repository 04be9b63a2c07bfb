"""
Finds the lines of the history that an assistant quotes: in edits by exact replacement, and verbatim in other arguments.

Derived only from the transcript, before anything is replayed, and shares no code with collectors. An edit names the
text that it replaces, so each of its lines must be in the prompt, whole: no list of names can do that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import attrs

from ctxgc.evaluation.transcripts import Transcript
from gc_core.providers import format_named
from gc_core.values.items import ItemKind, Part
from gc_core.values.json_values import strings, value_or_none
from gc_core.values.messages import Role

REPLACED_KEYS = frozenset({"old_string", "old_str", "oldText", "old_text", "search", "find"})
"""The arguments in which a call quotes what it replaces."""

FAR_MESSAGES = 20
"""A line is quoted from afar if its last occurrence is more than this many messages back."""

LEAST_QUOTED, LEAST_REUSED = 8, 20
"""Characters below which a line of an edit, and a line of other arguments, is ignored."""

_NUMBER = re.compile(r"(?:[^\s:]{1,200}:)?\d{1,6}(?:→|\t|:|\||-(?=\s)) ?")


@attrs.frozen(kw_only=True)
class QuotedLine:
    """
    A line of the history that a call repeats.

    Attributes:
        text: The line, without white space at its ends and without a line number in front.
        back: Messages since it last occurred.
        holder: Place in ``Quotes.holders`` of the text in which it last occurred.

    """

    text: str
    back: int
    holder: int

    @property
    def is_far(self) -> bool:
        """Whether it last occurred more than 20 messages back."""
        return self.back > FAR_MESSAGES


@attrs.frozen(kw_only=True)
class Quotes:
    """
    The quotations of each assistant message, by its place among the messages.

    Attributes:
        edits: Of each call that edits, the lines that it replaces and that are in the history; calls that quote no
            such line are left out.
        reused: Lines of 20 characters and more in all other arguments that last occurred more than 20 messages back.
        lines: All of these lines.
        holders: The texts in which quoted lines of edits last occurred.

    """

    edits: Mapping[int, tuple[tuple[QuotedLine, ...], ...]]
    reused: Mapping[int, frozenset[str]]
    lines: frozenset[str] = attrs.field(repr=False)
    holders: tuple[str, ...] = attrs.field(repr=False)


def quotes_of(transcript: Transcript) -> Quotes:
    """Return the quotes of a session; O(its text)."""
    reader = _Reader()
    for text in transcript.system:
        reader.hear(text, place=-1)
    form = format_named(transcript.format)
    for place, message in enumerate(transcript.messages):
        parts = [part for part in form.read(message) if part.kind is not ItemKind.THINKING]
        if form.role(message) is Role.ASSISTANT:
            reader.quote([part for part in parts if part.kind is ItemKind.TOOL_CALL], place=place)
        for part in parts:
            reader.hear(part.text, place=place)
    return reader.quotes()


def quotable_lines(text: str) -> frozenset[str]:
    """
    Return the lines of a text that can be quoted, as ``QuotedLine.text`` has them.

    Of a JSON object or list, as arguments of a call are, also the lines of the strings inside.
    """
    lines = set(_plain_lines(text))
    if text[:1] in {"{", "["}:
        for _, string in strings(value_or_none(text)):
            lines.update(_plain_lines(string))
    return frozenset(lines)


# -- inside ----------------------------------------------------------------------------------------------------------


@attrs.define
class _Reader:
    """Reads a session once, message by message."""

    _last: dict[str, tuple[int, str]] = attrs.Factory(dict)
    _edits: dict[int, tuple[tuple[QuotedLine, ...], ...]] = attrs.Factory(dict)
    _reused: dict[int, frozenset[str]] = attrs.Factory(dict)
    _holders: dict[str, int] = attrs.Factory(dict)

    def hear(self, text: str, *, place: int) -> None:
        """Note that the lines of this text occur here."""
        self._last.update(dict.fromkeys(quotable_lines(text), (place, text)))

    def quote(self, calls: Iterable[Part], *, place: int) -> None:
        """Record what the calls of a message repeat of the history."""
        edits: list[tuple[QuotedLine, ...]] = []
        reused: set[str] = set()
        for call in calls:
            given = list(strings(value_or_none(call.text)))
            replaced = [text for key, text in given if key in REPLACED_KEYS]
            others = [text for key, text in given if key not in REPLACED_KEYS]
            edits.append(tuple(self._quoted(dict.fromkeys(_lines(replaced)), place)))
            reused.update(line for line in _lines(others) if len(line) >= LEAST_REUSED and self._is_far(line, place))
        if any(edits):
            self._edits[place] = tuple(filter(None, edits))
        if reused:
            self._reused[place] = frozenset(reused)

    def quotes(self) -> Quotes:
        """Return all quotes."""
        quoted = {line.text for edits in self._edits.values() for edit in edits for line in edit}
        return Quotes(
            edits=self._edits,
            reused=self._reused,
            lines=frozenset(quoted.union(*self._reused.values())),
            holders=tuple(self._holders),
        )

    def _quoted(self, lines: Iterable[str], place: int) -> Iterator[QuotedLine]:
        for line in lines:
            if line in self._last:
                last_place, text = self._last[line]
                holder = self._holders.setdefault(text, len(self._holders))
                yield QuotedLine(text=line, back=place - last_place, holder=holder)

    def _is_far(self, line: str, place: int) -> bool:
        return line in self._last and place - self._last[line][0] > FAR_MESSAGES


def _lines(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from _plain_lines(text)


def _plain_lines(text: str) -> Iterator[str]:
    """Yield lines of at least eight characters, without white space at their ends and a line number in front."""
    for line in text.split("\n"):
        stripped = line.strip()
        number = _NUMBER.match(stripped)
        plain = stripped[number.end() :].strip() if number else stripped
        if len(plain) >= LEAST_QUOTED:
            yield plain
