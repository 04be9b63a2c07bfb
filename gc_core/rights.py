"""What a proposer may take, and why it may not, or not yet."""

from __future__ import annotations

from collections.abc import Collection

import attrs

from gc_core.items import Unit
from gc_core.tally import Tally
from gc_core.view import Zone


@attrs.frozen(kw_only=True)
class Rights:
    """
    What a proposer may take.

    Attributes:
        zones: Zones of units that it may drop.
        stub_recent: It may stub items of the newest steps and of the newest exchange.
        stub_any_kind: It may stub items that are not EPHEMERAL (never LOCKED or pinned ones).
        preservable_above: PRESERVABLE units only while the request has at least this many tokens.
        whole: A summary takes all its units, for its text is written already, not only as many as the goal needs.
        stub_only: If given, items that it may stub at all, by id: a young collection takes nothing else.

    """

    zones: frozenset[Zone]
    stub_recent: bool = False
    stub_any_kind: bool = False
    preservable_above: int = 0
    whole: bool = False
    stub_only: frozenset[str] | None = None

    def why_never(self, unit: Unit, zone: Zone) -> str:
        """Why the unit of this zone may not be taken out, or ""."""
        if zone in self.zones:
            return ""
        if self.stub_only is not None:
            return f"unit {unit.number} stays: a young collection only stubs what is young"
        if unit.pinned:
            return f"unit {unit.number} is pinned"
        if unit.pending:
            return f"unit {unit.number} waits for a result"
        if zone is Zone.HELD:
            return f"unit {unit.number} is held ({unit.policy.value})"
        return f"unit {unit.number} is {zone.value}: turn {unit.turn} is protected"

    def why_not_yet(self, zones: Collection[Zone], tally: Tally, target: int) -> str:
        """Why units of these zones, which may go, are not due yet on the way to the target, or ""."""
        if Zone.PRESERVABLE in zones and not _relieves(tally, self.preservable_above):
            return "preservable: without it usage would be on the same side of the pressure"
        if Zone.RECENT in zones and tally.total - tally.open_in(Zone.OLD) <= target:
            return "the old turns suffice"
        if Zone.SCHEMA in zones and tally.total - tally.open_in(Zone.OLD) - tally.open_in(Zone.RECENT) <= target:
            return "the conversation suffices"
        return ""


def _relieves(tally: Tally, pressure: int) -> bool:
    """
    Whether PRESERVABLE content is worth taking: usage is under pressure, and all of it together could end that.

    Where one oversized new result is the reason, it could not; the last resort cuts that first.
    """
    return pressure == 0 or tally.total - tally.open_in(Zone.PRESERVABLE) < pressure <= tally.total
