"""The cold tier: removed content that a collection brings back because it matters again."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final

import attrs

from gc_core.plugins.manager import Plugins
from gc_core.providers.contract import TokenCounter
from gc_core.relevance.name_scan import scan
from gc_core.values.items import Item, ItemKind
from gc_core.values.references import Reference
from gc_core.values.results import ColdItem, ColdText, Goal
from gc_core.window.recalled import Recalled
from gc_core.window.stubs import write_stub
from gc_core.window.view import WindowView

MOST_ITEMS: Final = 5
"""The most items that one collection brings back: for more the agent has a search tool."""

MOST_TOKENS: Final = 1_000
"""The most tokens of one of them; of a longer one the lines that the window shows nowhere else."""


MOST_SHARE: Final = 0.25
"""The share of the usable window that one collection brings back at most."""

MOST_EXAMINED: Final = 50
"""The most promoted items that are read from the log, the most relevant first."""


@attrs.frozen(kw_only=True)
class ColdTier:
    """
    The archive as a collection uses it.

    Attributes:
        search: Searches collected items, best first, at most this many.
        read: Returns a collected item as it arrived, by its id; None for a resident or unknown one.
        threshold: Relevance above which an item comes back.

    """

    search: Callable[[str, int], tuple[ColdText, ...]]
    read: Callable[[str], Item | None]
    threshold: float

    def recalled(self, plugins: Plugins, view: WindowView, goal: Goal, counter: TokenCounter) -> tuple[Recalled, ...]:
        """Return what plugins promote and there is room for, the most relevant first, without repetition."""
        named: dict[str, ColdItem] = {}
        for found in sorted(plugins.promote(view, goal), key=lambda found: (-found.relevance, found.item)):
            named.setdefault(found.item, found)
        room = int(MOST_SHARE * goal.usable_tokens)
        shown = {name for unit in view.units for item in unit.items for name in item.scan.names}
        back: list[Recalled] = []
        wanted = (found for found in named.values() if found.relevance > self.threshold)
        for found in itertools.islice(wanted, MOST_EXAMINED):
            if len(back) == MOST_ITEMS:
                break
            item = self.read(found.item)
            if item is None:
                continue
            recalled = _recalled(item, shown, counter)
            if recalled.tokens <= room:
                room -= recalled.tokens
                back.append(recalled)
        return tuple(back)


def _recalled(item: Item, shown: set[str], counter: TokenCounter) -> Recalled:
    text = item.text
    if item.original_tokens > MOST_TOKENS:
        reference = Reference(
            tokens=item.original_tokens, first=item.id, last=item.id, first_turn=item.turn, last_turn=item.turn
        )
        whole = attrs.evolve(item, tokens=item.original_tokens, kind=ItemKind.TOOL_RESULT, scan=scan(text))
        text = write_stub(whole, MOST_TOKENS, counter, shown, reference=reference).text
    recalled = Recalled(item=item.id, text=text, tokens=0)
    return attrs.evolve(recalled, tokens=counter.count(recalled.block.framed) + counter.per_message)
