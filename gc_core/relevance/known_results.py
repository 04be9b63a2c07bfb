"""The results that came before: whether one comes again, and whether one that does not brings anything."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Final

import attrs

from gc_core.relevance.namings import Namings
from gc_core.relevance.own_notes import entries, is_own_note, is_thought, thing_noted
from gc_core.relevance.parts import Part, Parts, digest, keep_newest, text_key
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
        first: The first copy that this call brought, or if it brought none, that any call brought; the item itself if
            there is none.
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

    def is_new(self, key: bytes, item: Item) -> bool:
        """Return whether a key was not there before, and remember the item that has it."""
        is_new = key not in self._seen
        self._seen.setdefault(key, item.id)
        keep_newest(self._seen, key, MOST_SEEN)
        return is_new

    def recognised(self, made: MadeCall, item: Item) -> Recognised:
        """Return what came back as far as it came before."""
        if not made.brings_text(item):
            text = STILL_RUNS if item.text.endswith(STILL_RUNS) else without_moments(item.text)
            key = digest(made.digest, text)
            return Recognised(key, item.id if self.is_new(key, item) else self._seen[key])
        part = Part(text_key(item.text, in_any_order=made.searches))
        if made.target.is_named:
            is_other_call = self.is_new(made.digest, item)
            part = self._parts.read(part.key, made.target, item.text, is_other_call=is_other_call)
        names_other = self._namings.names_other(made, part.key, item.text if part.key in self._seen else "")
        first, pair = self._first(part, item), digest(made.digest, part.key)
        if not self.is_new(pair, item):
            return Recognised(part.key if made.reads else pair, self._seen[pair], part.covers)
        if names_other and not made.target.file:
            return Recognised(pair, item.id)  # it answers another thing, though it reads alike
        return Recognised(part.key, first, part.covers)

    def _first(self, part: Part, item: Item) -> str:
        """Return the first item that brought the text, or most lines of it; the item itself if there was none."""
        if not self.is_new(part.key, item):
            return self._seen[part.key]
        return next((self._seen[key] for key, _ in Counter(part.covers).most_common(1) if key in self._seen), item.id)

    def brings_nothing(self, made: MadeCall, item: Item) -> bool:
        """Return whether a call and its result, neither seen before, are no progress all the same; remember both."""
        failed = made.failed(item)
        if is_thought(made.name, item) or (failed and made.reads):
            return True
        is_own = not (failed or made.reads) and is_own_note(made.name, made.arguments, made.read, item)
        if not (failed or is_own):
            return False
        goes_on = is_own and self._takes_note(made, item)
        says_more = self.is_new(made.remainder(item), item)
        # Its first answer says how it confirms a note.
        confirms = is_own and self.is_new(digest(made.name, b"tells"), item)
        return not goes_on and (confirms or not says_more)

    def _takes_note(self, made: MadeCall, item: Item) -> bool:
        """Remember a note or a plan; return whether it is the first to its thing, or ticks off an entry."""
        thing, found = thing_noted(made.name, made.read), list(entries(made.read))
        done = (each.key for each in found if each.is_done and (each.is_alone or each.key in self._seen))
        ticked = [self.is_new(digest(key, b"done"), item) for key in done]  # all of them are remembered
        for each in found:
            self.is_new(each.key, item)
        return any(ticked) or (thing != b"" and self.is_new(thing, item))
