"""The removals that a proposer may make, and reasons against them."""

from __future__ import annotations

from collections.abc import Collection

import attrs

from gc_core.collector.running_totals import RunningTotals
from gc_core.values.items import Unit
from gc_core.window.view import Zone


@attrs.frozen(kw_only=True)
class Rights:
    """
    The permissions of a proposer.

    Attributes:
        zones: Zones of units that it may drop.
        stub_recent: It may stub items of the newest steps and of the newest exchange.
        stub_any_kind: It may stub items that are not EPHEMERAL (but not LOCKED or pinned ones).
        preservable_above: PRESERVABLE units only when all of them could bring the request below this many tokens.
        preservable_to: They are summarised only while the request has at least this many; dropped only while it has at
            least ``preservable_above``.
        whole: A summary takes all its units, not only as many as the goal needs: its text is written already.
        stub_only: If given, items that it may stub at all, by id: a young collection takes nothing else.

    """

    zones: frozenset[Zone]
    stub_recent: bool = False
    stub_any_kind: bool = False
    preservable_above: int = 0
    preservable_to: int = 0
    whole: bool = False
    stub_only: frozenset[str] | None = None

    def cutting(self) -> Rights:
        """Return these permissions, with which items of any kind may be cut."""
        return attrs.evolve(self, stub_any_kind=True)

    def refusal_reason(self, unit: Unit, zone: Zone) -> str:
        """Return why the unit of this zone may not be taken out, or ""."""
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

    def deferral_reason(self, zones: Collection[Zone], totals: RunningTotals, target: int, *, summarised: bool) -> str:
        """
        Return why units of these zones may not go yet on the way to the target, or "". ``told``: a summary will cover
        them.
        """
        if Zone.PRESERVABLE in zones and not self._relieves(totals, summarised=summarised):
            return "preservable: without it usage would be on the same side of the pressure"
        if Zone.RECENT in zones and totals.total - totals.open_in(Zone.OLD) <= target:
            return "the old turns suffice"
        if Zone.SCHEMA in zones and totals.total - totals.open_in(Zone.OLD) - totals.open_in(Zone.RECENT) <= target:
            return "the conversation suffices"
        return ""

    def _relieves(self, totals: RunningTotals, *, summarised: bool) -> bool:
        """
        Return whether PRESERVABLE content is worth taking: usage is under pressure, and all of it together could end
        that.

        Where one oversized new result is the reason, it could not; the last resort cuts that first.
        """
        could = totals.total - totals.open_in(Zone.PRESERVABLE) < self.preservable_above
        return self.preservable_above == 0 or (
            could and totals.total >= (self.preservable_to if summarised else self.preservable_above)
        )
