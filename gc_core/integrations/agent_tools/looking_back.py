"""What a model is told of its past: pages of originals, hits, and what was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Protocol, Unpack

import attrs

from gc_core.providers.contract import TokenCounter
from gc_core.providers.excerpts import excerpt_end
from gc_core.session.facade import SessionFacade
from gc_core.storage.contents import Passage
from gc_core.storage.search import Filters, Hit
from gc_core.values.agent_tool_schemas import is_agent_tool
from gc_core.values.items import Item
from gc_core.values.patterns import regex
from gc_core.values.sources import CONVERSATION

NOTHING_FOUND: Final = "nothing found; try fewer or other words, without tool and role"

_LETTERS = 4  # characters per token, roughly; the text itself is counted
_OWN_HITS = 40  # additional hits to request, since calls of these tools are left out
_QUERY_CHARS = 1_000
_REFERENCE_CHARS = 300
_NAMED = 5  # items of each kind that the status names

_ID = regex(r"\bi\d{1,18}(?:-i\d{1,18})?\b(?:, i\d{1,18}(?:-i\d{1,18})?\b){0,99}(?:@[0-9a-f]{6}\b)?", re.ASCII)


class Past(Protocol):
    """What is read of a session, running or not: a ``GCSession``, or a ``SessionReader``."""

    def items(self) -> tuple[Item, ...]:
        """Return the resident items."""

    def snapshot(self) -> dict[str, Any]:
        """Return the budget as plain JSON."""

    def recall(self, item: str) -> str:
        """Return the original text of what a reference names."""

    def contents(self, reference: str) -> tuple[Passage, ...]:
        """Return its parts."""

    def search(self, query: str, **filters: Unpack[Filters]) -> tuple[Hit, ...]:
        """Search everything that was ever said."""


@attrs.frozen
class Listed:
    """
    What came with the messages of the caller's last list.

    Attributes:
        session: The session.

    """

    session: SessionFacade

    def items(self) -> tuple[Item, ...]:
        """Return the resident items."""
        return self.session.items()

    def snapshot(self) -> dict[str, Any]:
        """Return the budget as plain JSON."""
        return self.session.snapshot()

    def recall(self, item: str) -> str:
        """Return the original text of what a reference names."""
        with self.session.port.entered("recall"):
            return self.session.port.listed.recall(item)

    def contents(self, reference: str) -> tuple[Passage, ...]:
        """Return its parts."""
        with self.session.port.entered("contents"):
            return self.session.port.listed.contents(reference)

    def search(self, query: str, **filters: Unpack[Filters]) -> tuple[Hit, ...]:
        """Search it."""
        with self.session.port.entered("search"):
            return self.session.port.listed.search(query, **filters)


@attrs.frozen
class LookingBack:
    """
    Answers a model's questions about its past, in bounded texts.

    Attributes:
        past: The session.
        counter: Its token counter.
        tag: What references bear in the answers, ``@5f3a9c``, where the model has several sessions.

    """

    past: Past
    counter: TokenCounter
    tag: str = ""

    def recall(self, reference: str, offset: int, most: int) -> str:
        """
        Return the originals that a reference names, from a character on, in about ``most`` tokens; a long range as a
        table of contents. The reference may be a whole stub. Raises SourceError and LogError as ``GCSession.recall``.
        """
        asked = reference_in(reference)
        named = f"{asked}{self.tag}"
        passages = [attrs.evolve(each, reference=f"{each.reference}{self.tag}") for each in self.past.contents(asked)]
        characters = sum(passage.characters for passage in passages)
        if len(passages) > 1 and not offset and characters > _LETTERS * most:
            return _table(named, passages, characters, most, self.counter)
        text = self.past.recall(asked)
        if not text or (offset and offset >= len(text)):
            return f"{named} has {len(text):,} characters of text"
        end = excerpt_end(text, offset, most, self.counter)
        told = [text[offset:end]]
        if end < len(text):
            told.append(f"[{end:,} of {len(text):,} characters; go on with reference={named}, offset={end}]")
        return "\n".join(told)

    def search(self, query: str, *, tool: str | None, role: str | None, limit: int) -> tuple[Hit, ...]:
        """Return at most this many hits, best first, without calls of tools that only repeat the log."""
        found = self.past.search(query[:_QUERY_CHARS], tool=tool, role=role, limit=limit + _OWN_HITS)
        return tuple(hit for hit in found if hit.tool == tool or not is_agent_tool(hit.tool))[:limit]

    def held(self) -> list[str]:
        """Return lines on what holds the window, what is largest in it, and what was left out."""
        items = self.past.items()
        held = [f"{entry['key']} {entry['tokens']:,}" for entry in self.past.snapshot()["sources"] if entry["tokens"]]
        large = sorted(
            (item for item in items if item.source == CONVERSATION.name), key=lambda item: item.tokens, reverse=True
        )[:_NAMED]
        left_out = [item.reference for item in items if item.reference is not None]
        lines = [
            f"held by: {', '.join(held)}",
            f"largest: {', '.join(f'{item.id} {_what(item)} {item.tokens:,}' for item in large)}",
            f"left out: {sum(each.tokens for each in left_out):,} tokens in {len(left_out)} places",
        ]
        if left_out:
            newest = (each.first if each.first == each.last else f"{each.first}-{each.last}" for each in left_out)
            lines.append(f"newest of them to recall: {', '.join([*newest][-_NAMED:])}")
        return lines


def reference_in(text: str) -> str:
    """Return the reference in a model's argument, which may be a whole stub; an id is preferred to a byte range."""
    told = text[max(0, text.rfind("[gc:")) :][:_REFERENCE_CHARS]
    named = _ID.search(told)
    return told if named is None else named.group()


def hit_line(hit: Hit) -> str:
    """Return a hit as one line."""
    return f"{hit.item} turn {hit.turn} {hit.tool or hit.role} {hit.kind.replace('_', ' ')}: {hit.preview}"


def _table(asked: str, passages: Sequence[Passage], characters: int, most: int, counter: TokenCounter) -> str:
    """Return a table of contents of a range that is too long, as far as it fits."""
    head = f"{asked} has {characters:,} characters; recall the part that you need:"
    lines = "\n".join([head, *(passage.line() for passage in passages)])
    end = excerpt_end(lines, 0, most, counter)
    return lines if end == len(lines) else f"{lines[:end].rstrip()}\n[{lines[end:].count(chr(10)) + 1} more parts]"


def _what(item: Item) -> str:
    return f"{item.name} {item.kind.value}".strip().replace("_", " ")
