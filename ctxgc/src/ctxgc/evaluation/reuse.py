"""
The reuse of identifiers by a session's assistant: those that occurred earlier, and how far back.

Derived only from the transcript, before anything is replayed, so it is the same for every collector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from ctxgc.evaluation.identifiers import identifiers
from ctxgc.evaluation.quotes import Quotes, quotes_of
from ctxgc.evaluation.transcripts import Transcript
from gc_core.providers import format_named
from gc_core.providers.contract import Format
from gc_core.values.items import ItemKind, Part
from gc_core.values.json_values import strings, value_or_none
from gc_core.values.messages import Payload, Role

FAR_MESSAGES = 20
"""An identifier is used from afar if its last earlier occurrence is more than this many messages back."""

COMMON_PERCENT = 20
"""Identifiers in more than this share of a session's messages are left out: they are never far."""


Line = tuple[bool, str]
"""Whether it is in a string inside JSON, and the line: otherwise a list of bare names would pass for lines."""


@attrs.frozen(kw_only=True)
class Uses:
    """
    The identifiers that each assistant message uses again, by its place among the messages.

    A system text that came before the messages counts as an earlier message. Identifiers in more than 20 % of all
    messages are left out.

    Attributes:
        far: Used at this place, and nowhere in the 20 messages before.
        near: Used at this place, and somewhere before; the far ones are among them.
        lines: The original lines that carry an identifier which is used from afar, white space at their ends left out.
        names: The identifiers of every message.
        spoken: Places of the assistant's messages.
        tools: Names of the tools that are called, which are also in their schemas.
        quotes: The lines that calls repeat.

    """

    far: Mapping[int, frozenset[str]]
    near: Mapping[int, frozenset[str]]
    lines: Mapping[str, frozenset[Line]]
    names: Sequence[frozenset[str]]
    quotes: Quotes
    spoken: frozenset[int] = frozenset()
    tools: frozenset[str] = frozenset()

    def wanted(self, place: int) -> frozenset[str]:
        """Return what is needed in the future, from this place: identifiers whose next occurrence is a far use."""
        seen: set[str] = set()
        wanted: set[str] = set()
        for later in range(place, len(self.names)):
            wanted |= self.far.get(later, frozenset()) - seen
            seen |= self.names[later]
        return frozenset(wanted)


def uses_of(transcript: Transcript) -> Uses:
    """Return the uses of a session; O(its text)."""
    form = format_named(transcript.format)
    texts = [message_texts(message, form) for message in transcript.messages]
    opening = [frozenset(identifiers(text)) for text in transcript.system]
    names = _rare([*opening, *(_names(parts) for parts in texts)])
    places = [place for place, message in enumerate(transcript.messages) if form.role(message) is Role.ASSISTANT]
    far, near = _far_and_near(names, frozenset(place + len(opening) for place in places))
    wanted = frozenset(name for used in far.values() for name in used)
    return Uses(
        far={place - len(opening): used for place, used in far.items()},
        near={place - len(opening): used for place, used in near.items()},
        lines=_carriers([*transcript.system, *(text for parts in texts for text in parts)], wanted),
        names=names[len(opening) :],
        quotes=quotes_of(transcript),
        spoken=frozenset(places),
        tools=frozenset(_called(transcript.messages, form)),
    )


def message_texts(message: Payload, form: Format) -> tuple[str, ...]:
    """Return the texts of a message that count: prose, calls (name and arguments) and results."""
    return tuple(text for part in form.read(message) for text in part_texts(part))


def part_texts(part: Part) -> Iterator[str]:
    """Yield the texts of a part; thinking has none: providers drop it, and nothing else reads it."""
    if part.kind is ItemKind.THINKING:
        return
    if part.kind is ItemKind.TOOL_CALL and part.name:
        yield part.name
    if part.text:
        yield part.text


def lines_of(text: str) -> Iterator[Line]:
    """
    Yield the lines of a text, white space at their ends left out.

    Of a JSON object or list, as arguments of a call are, also the lines of the strings inside.
    """
    yield from ((False, line.strip()) for line in text.split("\n"))
    if text[:1] in {"{", "["}:
        for _, string in strings(value_or_none(text)):
            yield from ((True, line.strip()) for line in string.split("\n"))


def _called(messages: Iterable[Payload], form: Format) -> Iterator[str]:
    for message in messages:
        yield from (part.name for part in form.read(message) if part.kind is ItemKind.TOOL_CALL)


def _names(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(name for text in texts for name in identifiers(text))


def _rare(names: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return it without those that occur in too many messages."""
    counts = Counter(name for message in names for name in message)
    common = {name for name, count in counts.items() if 100 * count > COMMON_PERCENT * len(names)}
    return [message - common for message in names]


def _far_and_near(
    names: Sequence[frozenset[str]], spoken: frozenset[int]
) -> tuple[dict[int, frozenset[str]], dict[int, frozenset[str]]]:
    far: dict[int, frozenset[str]] = {}
    near: dict[int, frozenset[str]] = {}
    last: dict[str, int] = {}
    for place, message in enumerate(names):
        if place in spoken:
            near[place] = frozenset(name for name in message if name in last)
            far[place] = frozenset(name for name in near[place] if place - last[name] > FAR_MESSAGES)
        last.update(dict.fromkeys(message, place))
    return far, near


def _carriers(texts: Iterable[str], wanted: frozenset[str]) -> dict[str, frozenset[Line]]:
    """Return the lines that carry each of these identifiers."""
    carriers: dict[str, set[Line]] = {name: set() for name in wanted}
    for text in set(texts):
        if wanted.isdisjoint(identifiers(text)):
            continue
        for line in set(lines_of(text)):
            for name in identifiers(line[1]) & wanted:
                carriers[name].add(line)
    return {name: frozenset(lines) for name, lines in carriers.items()}
