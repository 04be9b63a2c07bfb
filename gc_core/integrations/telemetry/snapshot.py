"""A snapshot of the window, for the gauges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import attrs

from gc_core.session.facade import SessionFacade
from gc_core.values.items import Item, Level, Unit
from gc_core.values.sources import CONVERSATION, ENRICHMENT, TASK_STATE
from gc_core.window.recalled import RECALLED

HOT, WARM, COLD = "hot", "warm", "cold"
OVERHEAD = "overhead"
"""The name in the place of a source for the overhead of messages."""


@attrs.frozen(kw_only=True)
class Reading:
    """
    The use of the window.

    Attributes:
        session: The session's id.
        utilisation: Percent of the usable window, by source and policy; all of them are the budget's utilisation.
        levels: Tokens of the conversation by level, ``L0`` to ``L3``.
        tiers: Tokens by tier: verbatim conversation, replacements of older content, content brought back.
        ratios: Original tokens of what a level covers, divided by its current tokens; by level.
        cost: USD that the session has cost; None if a price is missing.

    """

    session: str
    utilisation: Mapping[tuple[str, str], float]
    levels: Mapping[str, int]
    tiers: Mapping[str, int]
    ratios: Mapping[str, float]
    cost: float | None

    @classmethod
    def of(cls, session: SessionFacade) -> Reading:
        """Take a snapshot. Raises LogError when the ledger cannot be read. O(window), and what is new in the ledger."""
        items, units = session.items(), session.view().units
        spoken = [unit for unit in units if unit.items[0].source == CONVERSATION.name]
        levels = Counter[str]({level.value: 0 for level in Level})
        for unit in spoken:
            levels[unit.level.value] += unit.tokens
        return cls(
            session=session.port.id,
            utilisation=_utilisation(session, items),
            levels=levels,
            tiers=_tiers(levels, items),
            ratios=dict(_ratios(spoken)),
            cost=session.cache.cost,
        )


def _utilisation(session: SessionFacade, items: Iterable[Item]) -> dict[tuple[str, str], float]:
    budget = session.budget
    tokens = Counter[tuple[str, str]]({(OVERHEAD, ""): budget.overhead})
    for item in items:
        tokens[item.source, item.policy.value] += item.tokens
    return {owner: 100.0 * of / budget.usable for owner, of in tokens.items()} if budget.usable > 0 else {}


def _tiers(levels: Mapping[str, int], items: Iterable[Item]) -> dict[str, int]:
    warm = sum(tokens for level, tokens in levels.items() if level != Level.VERBATIM.value)
    cold = 0
    for item in items:
        warm += item.tokens if item.source == TASK_STATE.name else 0
        cold += item.tokens if item.source == ENRICHMENT.name and item.name.startswith(RECALLED) else 0
    return {HOT: levels.get(Level.VERBATIM.value, 0), WARM: warm, COLD: cold}


def _ratios(units: Iterable[Unit]) -> Iterator[tuple[str, float]]:
    before, after = Counter[str](), Counter[str]()
    for unit in units:
        before[unit.level.value] += unit.original_tokens
        after[unit.level.value] += sum(item.tokens for item in unit.items)
    return ((level, before[level] / tokens) for level, tokens in after.items() if tokens)
