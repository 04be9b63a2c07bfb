"""The results that came before: whether one comes again, and whether one that does not brings anything."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Final

import attrs

from gc_core.relevance.known_words import KnownWords
from gc_core.relevance.namings import Namings
from gc_core.relevance.parts import Part, Parts, digest, text_key
from gc_core.relevance.provisional import STILL_RUNS
from gc_core.relevance.rounds import MadeCall
from gc_core.relevance.volatile_text import without_moments
from gc_core.values.items import Item

MOST_SEEN: Final = 10_000
"""The most calls with results, and texts, that are remembered, the latest used; some 180 bytes each."""


@attrs.frozen
class Recognised:
    """
    A result as far as it came before.

    Attributes:
        key: The key of what came.
        first: The first copy, of this call or, if it is another call, of any; the item itself if there was none.
        covers: For each line the key of what brought it last, where it consists of lines that came before.

    """

    key: bytes
    first: str
    covers: tuple[bytes, ...] = ()


class KnownResults:
    """Knows results by their keys, with the items that brought them; in memory only."""

    def __init__(self) -> None:
        self._seen: OrderedDict[bytes, str] = OrderedDict()
        self._parts = Parts()
        self._namings = Namings()
        self._words = KnownWords()

    def is_new(self, key: bytes, item: Item) -> bool:
        """Return whether a key was not there before, and remember the item that has it."""
        if key in self._seen:
            self._seen.move_to_end(key)
            return False
        self._seen[key] = item.id
        if len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)
        return True

    def recognised(self, made: MadeCall, item: Item) -> Recognised:
        """Return what came back as far as it came before."""
        if not made.brings_text(item):
            text = STILL_RUNS if item.text.endswith(STILL_RUNS) else without_moments(item.text)
            key = digest(made.digest, text)
            return Recognised(key, item.id if self.is_new(key, item) else self._seen[key])
        part, names_other = self._read(made, item)
        pair, first = digest(made.digest, part.key), self._first(part, item)
        if not self.is_new(pair, item):
            return Recognised(part.key if made.reads else pair, self._seen[pair], part.covers)
        if names_other:
            return Recognised(pair, item.id)  # it answers another thing, though it reads alike
        return Recognised(part.key, first, part.covers)

    def _read(self, made: MadeCall, item: Item) -> tuple[Part, bool]:
        """
        Return what was read, or an earlier text that says the same, and whether the call names another thing than
        earlier ones for which that came. Of a file its path tells.
        """
        part, is_other_call = Part(text_key(item.text, in_any_order=made.searches)), self.is_new(made.digest, item)
        own = part.key
        if made.target.is_named:
            part = self._parts.read(own, made.target, item.text, is_other_call=is_other_call)
        if made.target.file:
            self._namings.remember(made, part.key)
            return part, False
        if not part.covers:
            part = Part(self._words.said_in(item.text, own, is_other_call=is_other_call))
        contained = self._words.contained(made.words, part.key) if part.key in self._seen else ()
        names_other = self._namings.names_other(made, part.key, contained)
        if names_other and not part.covers and part.key != own:
            part = Part(own)
            self._words.is_own(item.text, own)
        self._namings.remember(made, part.key)
        return part, names_other

    def _first(self, part: Part, item: Item) -> str:
        """Return the first item that brought the text, or most lines of it; the item itself if there was none."""
        if not self.is_new(part.key, item):
            return self._seen[part.key]
        return next((self._seen[key] for key, _ in Counter(part.covers).most_common(1) if key in self._seen), item.id)

    def brings_nothing(self, made: MadeCall, item: Item) -> bool:
        """Return whether a call and its result, neither seen before, are no progress all the same."""
        failed = made.failed(item)
        if made.is_thought(item) or (failed and made.reads):
            return True
        tells = made.is_plan(item) or made.is_talk(item)
        ticked = [self.is_new(entry, item) for entry in made.ticked()] if failed or tells else []
        return (tells or (failed and not self.is_new(made.remainder(item), item))) and not any(ticked)
