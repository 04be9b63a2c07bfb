"""
Liveness: a line is alive if it is the last carrier of a name; an item is dead if it is superseded.

Everything is derived from the scans that items carry since they arrived, so the index contains only what is resident.
Measured: of the simple tests of liveness, *last carrier* is the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from gc_core.relevance.reachability import NO_ROOTS, Roots, distances
from gc_core.relevance.tool_calls import CallKind, ToolCall
from gc_core.values.items import Item, ItemKind

_AGENT = frozenset({ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_CALL})


class Liveness:
    """
    Answers questions about the resident items, oldest first; created for one collection.

    Costs O(names in the window), when the first question comes.
    """

    def __init__(self, items: Sequence[Item], roots: Roots = NO_ROOTS) -> None:
        self._items = items
        self._roots = roots

    def last_carried(self, item: Item) -> frozenset[str]:
        """Return names that no later resident item contains: with this item, the window would lose them."""
        place = self._places[item.id]
        return frozenset(name for name in item.scan.names if self._last[name] == place)

    def reuse(self, item: Item) -> int:
        """Return how many of its names the agent has used since, in texts and calls."""
        place = self._places[item.id]
        return sum(1 for name in item.scan.names if self._last_used.get(name, -1) > place)

    def superseded(self, item: Item) -> bool:
        """
        Return whether a later item makes this result stale: the same call again, the same file read or written again,
        or the same call succeeded after this one failed.
        """
        return item.id in self._superseded

    def distance(self, item: Item) -> int | None:
        """Return the shared names between the item and the nearest root; None if it is unreachable."""
        return self._distances.get(item.id)

    @cached_property
    def _distances(self) -> Mapping[str, int]:
        return distances(self._items, self._roots)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {item.id: place for place, item in enumerate(self._items)}

    @cached_property
    def _last(self) -> dict[str, int]:
        return _last_places(enumerate(self._items))

    @cached_property
    def _last_used(self) -> dict[str, int]:
        return _last_places((place, item) for place, item in enumerate(self._items) if item.kind in _AGENT)

    @cached_property
    def _superseded(self) -> frozenset[str]:
        """Compute superseded items, newest to oldest: a repeated view makes earlier ones stale."""
        results = {item.call: item for item in self._items if item.kind is ItemKind.TOOL_RESULT and item.call}
        seen: set[tuple[str, str]] = set()
        written: set[str] = set()
        stale: set[str] = set()
        for call in reversed(self._items):
            result = results.get(call.id)
            if call.kind is not ItemKind.TOOL_CALL or result is None:
                continue
            did = ToolCall.of(call)
            if (call.name, call.text) in seen or (did.files and written.issuperset(did.files)):
                stale.add(result.id)
            if not result.is_error:
                seen.add((call.name, call.text))
                if did.changes or (did.kind is CallKind.READ and did.is_whole):
                    written.update(did.files)
        return frozenset(stale)


def _last_places(placed: Iterable[tuple[int, Item]]) -> dict[str, int]:
    last: dict[str, int] = {}
    for place, item in placed:
        last.update(dict.fromkeys(item.scan.names, place))
    return last
