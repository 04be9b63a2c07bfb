"""What the window shows of the texts that may be brought back: whole, or recalled before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import attrs

from gc_core.storage.search import Hit
from gc_core.storage.search.sharing import Sharer
from gc_core.values.agent_tool_schemas import is_agent_tool
from gc_core.values.items import Form, Item, ItemKind


@attrs.frozen
class ShownTexts:
    """
    The texts that the window shows.

    Attributes:
        whole: The ids of items that it has whole.
        recalled: The texts in which others were brought back.

    """

    whole: frozenset[str]
    recalled: tuple[str, ...]

    @classmethod
    def of(cls, items: Sequence[Item]) -> ShownTexts:
        """Return those of a window's items."""
        return cls(
            frozenset(item.id for item in items if item.form is Form.WHOLE),
            tuple(item.text for item in items if item.kind is ItemKind.ENRICHMENT),
        )

    def shows(self, item: str, words: Iterable[str]) -> bool:
        """Return whether an item is shown whole, or recalled with the words that are asked for."""
        sought = tuple(words)
        return item in self.whole or any(
            f"[recalled {item}:" in text and all(word in text for word in sought) for text in self.recalled
        )


def may_return(each: Hit | Sharer, kinds: Collection[str], whole: Collection[str]) -> bool:
    """Return whether an item of some kinds was collected, and is not a copy that was recalled before."""
    return each.kind in kinds and each.item not in whole and not is_agent_tool(each.tool)
