"""
Detects what the agent needed after it had been collected: the price of collecting too much.

Two signals need no model: an edit that fails because its text is not found, in a file of which a view was collected,
and a read of a file whose view was collected. Nothing is brought back automatically: measured, that gains nothing (the
issue's experiments), because the agent's own read counts as a use and keeps the file whole from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import attrs

from gc_core.relevance.call_results import text_was_not_found
from gc_core.relevance.tool_calls import CallKind, ToolCall
from gc_core.relevance.working_set import is_readable, shows_file
from gc_core.values.items import Item, ItemKind

Find = Callable[[str], Item | None]
"""Finds a resident item by its id."""


@attrs.frozen(kw_only=True)
class NeededAgain:
    """
    Content that the agent needed again.

    Attributes:
        reads: Files read again whose view had been collected.
        tokens: Tokens of these reads' results.
        edits: Edits whose text was not found, in files of which a view had been collected.

    """

    reads: int = 0
    tokens: int = 0
    edits: int = 0

    def __bool__(self) -> bool:
        """Return whether there was anything."""
        return bool(self.reads or self.edits)

    def __str__(self) -> str:
        """Return one line, for ``explain`` and the report page."""
        return (
            f"needed again after a collection: {self.reads:,} reads of files whose view had left"
            f" ({self.tokens:,} tokens), {self.edits:,} edits whose text was not found"
        )


@attrs.define
class NeedWatch:
    """Follows collections and arrivals, and counts content that was needed again. O(new items)."""

    needed: NeededAgain = attrs.field(factory=NeededAgain)
    _removed_files: set[str] = attrs.field(factory=set)

    def collected(self, before: Iterable[Item], find_before: Find, find_after: Find) -> None:
        """Note a collection: remember files of which a view left, or shrank."""
        for item in before:
            call = _call_of(item, find_before)
            if item.kind is ItemKind.TOOL_RESULT and shows_file(item, call) and call is not None:
                now = find_after(item.id)
                if now is None or not is_readable(now):
                    self._removed_files.update(_files(call))

    def arrived(self, items: Iterable[Item], find: Find) -> None:
        """Note new items."""
        for item in items:
            call = _call_of(item, find) if item.kind is ItemKind.TOOL_RESULT else None
            if call is None or self._removed_files.isdisjoint(_files(call)):
                continue
            did = ToolCall.of(call)
            if did.changes and text_was_not_found(item):
                self.needed = attrs.evolve(self.needed, edits=self.needed.edits + 1)
            elif did.kind is CallKind.READ and not item.is_error:
                known = self.needed
                self.needed = attrs.evolve(known, reads=known.reads + 1, tokens=known.tokens + item.tokens)
                self._removed_files.difference_update(_files(call))


def _call_of(item: Item, find: Find) -> Item | None:
    return find(item.call) if item.call else None


def _files(call: Item) -> Iterator[str]:
    """Yield files by the last two parts of their paths: calls name a file by its whole path, or by its end."""
    for file in ToolCall.of(call).files:
        yield "/".join(file.replace("\\", "/").split("/")[-2:])
