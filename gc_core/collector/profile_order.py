"""Puts those of a strategy's equal proposals last that concern results with important content."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gc_core.relevance.profiles import CompressionProfile
from gc_core.values.items import Item, ItemKind
from gc_core.values.removals import Drop, GCRemovalItem, Stub

NAMED: Final = 0.3
"""The share of important lines of a result from which its removal waits for others of its kind."""


def in_order(proposals: Iterable[object], profile: CompressionProfile, items: Mapping[str, Item]) -> Iterator[object]:
    """
    Yield what a strategy proposes; of drops or stubs that follow one another, of one phase and with one reason, those
    about results that the profile holds for important come last.

    Different phases and reasons keep the strategy's order. ``items`` are those of the window by id. Reads the text of
    each result that is proposed, and holds no more back than the window has items.
    """
    for _, alike in itertools.groupby(proposals, key=_kind):
        waiting: list[object] = []
        for each in alike:
            if len(waiting) < len(items) and _is_named(each, profile, items):
                waiting.append(each)
            else:
                yield each
        yield from waiting


def _kind(proposal: object) -> tuple[str, str, type]:
    if isinstance(proposal, GCRemovalItem):
        return proposal.phase, proposal.reason, type(proposal.action)
    return "", "", type(proposal)


def _is_named(proposal: object, profile: CompressionProfile, items: Mapping[str, Item]) -> bool:
    if not isinstance(proposal, GCRemovalItem) or not isinstance(proposal.action, Drop | Stub):
        return False
    lines = high = 0
    for item in (items[key] for key in proposal.items if key in items):
        if item.kind is ItemKind.TOOL_RESULT:
            lines += sum(1 for line in item.text.split("\n") if line.strip())
            high += profile.important_lines(item)
    return bool(high) and high >= NAMED * lines
