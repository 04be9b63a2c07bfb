"""Finds the collected items that carry names which are said or called, and nothing else in the window contains."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gc_core.session.shown_texts import may_return
from gc_core.storage.search import Hit
from gc_core.values.items import Item, ItemKind, Unit, number_of
from gc_core.values.references import ByteRange

if TYPE_CHECKING:
    from gc_core.session.named_calls import CallFinder
    from gc_core.session.named_results import NamedResults

MOST_LOOKED_UP = 8
"""The most names of one step to search for in texts, those of calls first and the longest first."""

_HITS = 10  # hits per name, among which its carrier is chosen: each is read from the log

_SAID = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_CALL})
# Enrichment is excluded: what was recalled before is a copy.
_WORTH = {
    kind.value: worth
    for worth, kind in enumerate(
        (ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_CALL, ItemKind.MEMORY_BLOCK, ItemKind.USER_TEXT, ItemKind.TOOL_RESULT)
    )
}


class CarrierFinder:
    """
    Finds the item that carries a name best.

    Args:
        calls: Finds earlier calls.
        search: Searches the log.
        recall: Reads an original, also of an earlier session.
        is_taken_back: Whether a line of the log does not count any more.

    """

    def __init__(
        self,
        calls: CallFinder,
        search: Callable[..., tuple[Hit, ...]],
        recall: Callable[[str], str],
        is_taken_back: Callable[[ByteRange], bool],
    ) -> None:
        self._calls = calls
        self._search = search
        self._recall = recall
        self._is_taken_back = is_taken_back

    def carriers(
        self, step: Unit, items: Sequence[Item], named: NamedResults, whole: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """
        Return the names that a step misses by the collected item that carries them best, besides what is decided;
        parts of a name already found are skipped.
        """
        names = [name for name in _missing(items, step) if not named.decides(name)]
        before, left = number_of(step.items[0].id), MOST_LOOKED_UP - named.compared
        found: dict[str, tuple[str, ...]] = {}
        for name in names:
            is_known = any(name in known for known_names in found.values() for known in known_names)
            if is_known or not left:
                continue
            left -= 1
            carrier = self._carrier(name, before, whole)
            if carrier:
                found[carrier] = (*found.get(carrier, ()), name)
        return found

    # -- inside --------------------------------------------------------------------------------------------------

    def _carrier(self, name: str, before: int, whole: frozenset[str]) -> str:
        """Return the id of the collected item that carries a name best, or ""."""
        hits = [hit for hit in self._search(name, limit=_HITS) if number_of(hit.item) < before]
        collected = (hit for hit in hits if may_return(hit, _WORTH, whole) and not self._is_taken_back(hit.bytes))
        best = sorted(collected, key=_worth, reverse=True)
        return next((hit.item for hit in best if self._is_carrier(hit, name)), "")

    def _is_carrier(self, hit: Hit, name: str) -> bool:
        says = hit.kind != ItemKind.TOOL_CALL.value or self._calls.says(hit)
        return says and _carries(self._recall(hit.item), name)


def _missing(items: Sequence[Item], step: Unit) -> list[str]:
    """
    Return names that the step says or calls and no other item contains, those of calls first, the longest first.

    Directories and relative paths are left out: they occur in many texts and say little.
    """
    said = [item for item in step.items if item.kind in _SAID]
    own = {item.id for item in step.items if item.kind in _SAID or item.kind is ItemKind.THINKING}
    shown = frozenset().union(*(item.scan.names for item in items if item.id not in own))
    called = frozenset().union(*(item.scan.names for item in said if item.kind is ItemKind.TOOL_CALL))
    named = frozenset().union(*(item.scan.names for item in said)) - shown
    named = frozenset(name for name in named if ".." not in name and not name.endswith("/"))
    return sorted(named, key=lambda name: (name not in called, -len(name), name))


def _carries(text: str, name: str) -> bool:
    """
    Return whether the text contains the name exactly, not as part of a longer word.

    Checked here, for the few best hits: a search for it as an entity would read thousands of others.
    """
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _worth(hit: Hit) -> tuple[int, int]:
    return _WORTH[hit.kind], number_of(hit.item)
