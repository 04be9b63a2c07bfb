"""The results that came before: whether one comes again, and whether one that does not brings anything."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from gc_core.relevance.parts import Parts, digest, text_key
from gc_core.relevance.provisional import STILL_RUNS
from gc_core.relevance.rounds import MadeCall
from gc_core.relevance.volatile_text import without_moments
from gc_core.values.items import Item

MOST_SEEN: Final = 10_000
"""The most calls with results, and texts, that are remembered, the latest used; some 16 bytes each."""


class KnownResults:
    """Knows results by their keys, with the items that brought them; in memory only."""

    def __init__(self) -> None:
        self._seen: OrderedDict[bytes, str] = OrderedDict()
        self._parts = Parts()

    def is_new(self, key: bytes, item: Item) -> bool:
        """Return whether a key was not there before, and remember the item that has it."""
        if key in self._seen:
            self._seen.move_to_end(key)
            return False
        self._seen[key] = item.id
        if len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)
        return True

    def recognised(self, made: MadeCall, item: Item) -> tuple[bytes, str]:
        """
        Return the key of what came back, and the copy of it that was there before: the first that this call brought,
        or, if it is another call, the newest; the item itself if there was none.
        """
        named = [self.is_new(word, item) for word in made.things]
        if not made.brings_text(item):
            text = STILL_RUNS if item.text.endswith(STILL_RUNS) else without_moments(item.text)
            key = digest(made.digest, text)
            return key, item.id if self.is_new(key, item) else self._seen[key]
        key = text_key(item.text)
        if made.target.is_named:
            is_other_call = self.is_new(made.digest, item)
            key = self._parts.root(key, made.target, item.text, is_other_call=is_other_call)
        pair = digest(made.digest, key)
        newest = item.id if self.is_new(key, item) else self._seen[key]
        self._seen[key] = item.id
        if any(named) and not made.target.file:
            self.is_new(pair, item)
            return pair, item.id  # of something that no call has named before, though it reads alike
        return key, newest if self.is_new(pair, item) else self._seen[pair]

    def brings_nothing(self, made: MadeCall, item: Item) -> bool:
        """Return whether a call and its result, neither seen before, are no progress all the same."""
        failed = made.failed(item)
        if made.is_thought(item) or (failed and made.reads):
            return True
        if not failed and not made.is_plan(item):
            return False
        ticked = [self.is_new(entry, item) for entry in made.ticked()]
        return not self.is_new(made.remainder(item), item) and not any(ticked)
