"""Merges the oldest summaries of a window when they exceed their cap."""

from __future__ import annotations

from typing import Final

import attrs

from gc_core.values.items import Unit
from gc_core.values.removals import GCRemovalItem
from gc_core.window.view import WindowView, Zone

CORE: Final = "gc_core"
"""The proposer of what applies under every strategy."""

_KEPT_PARTS = 4
"""The newest summaries stay, up to one part in this many of the cap; the merged one may have the rest."""

_LEAST_SHARE = 0.001


def merged_summaries(view: WindowView) -> GCRemovalItem | None:
    """Return one digest for the oldest summaries, if all of them together exceed their cap; otherwise None."""
    summaries = [unit for unit in view.units if unit.is_summary and view.zone(unit) is not Zone.HELD]
    cap = view.caps.summaries
    if not view.can_summarize or sum(unit.tokens for unit in summaries) <= cap:
        return None
    oldest = [unit for unit in _but_the_newest(summaries, cap // _KEPT_PARTS) if not view.is_fresh(unit)]
    room = cap - cap // _KEPT_PARTS
    new = sum(unit.original_tokens for unit in oldest if not unit.is_digest)
    known = sum(unit.tokens for unit in oldest if unit.is_digest)
    if not new or sum(unit.tokens for unit in oldest) <= room:
        return None
    share = min(0.5, max(_LEAST_SHARE, (room - min(known, room // 2)) / new))
    reason = "more summaries than their cap allows"
    removal = GCRemovalItem.digest(oldest, max_tokens=room, keep=share, reason=reason, phase="summaries")
    return attrs.evolve(removal, strategy=CORE)


def _but_the_newest(summaries: list[Unit], tokens: int) -> list[Unit]:
    """Return those before the newest ones with at most this many tokens."""
    left = list(summaries)
    while left and left[-1].tokens <= tokens:
        tokens -= left.pop().tokens
    return left
