"""The core's own removals when a request would not fit, or every strategy failed: deterministic, without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from gc_core.collector.permissions import Rights
from gc_core.collector.planned_stubs import is_cuttable
from gc_core.collector.planner import Planner
from gc_core.values.items import Form, Item, ItemKind
from gc_core.values.policy import GCPolicy
from gc_core.values.removals import GCRemovalItem
from gc_core.window.stubs import is_shortened_block
from gc_core.window.view import WindowView, Zone, is_block

NAME = "last_resort"
"""The name that reports use in the place of a strategy's."""

_ORDINARY = Rights(zones=frozenset({Zone.OLD, Zone.RECENT, Zone.SCHEMA}))
_CUT = Rights(zones=frozenset(), stub_recent=True, stub_any_kind=True)
_PRESERVABLE = Rights(zones=frozenset({Zone.PRESERVABLE}))
_RESERVE = Rights(zones=frozenset({Zone.RESERVE}))

_OLD_KEEP = 0.1
_PASTE_TOKENS = 2_000
"""User text above this size was pasted."""

_BLOCK_PART = 8
"""Blocks that must be cut keep at least one part in this many of what fits."""

_LIST_PART = 2
"""Where nothing can be recalled, what must be cut keeps at least one part in this many of what fits."""

_SLACK = 64
"""Tokens that a cut takes beyond what is missing, so that estimates of a text's length need not be exact."""


@attrs.frozen(kw_only=True)
class Cutting:
    """
    Says what the last resort cuts.

    Attributes:
        whole: Items that stay whole, by id.
        share: Tokens that what is cut keeps together as long as protected content can leave instead.

    """

    whole: frozenset[str] = frozenset()
    share: int = 0

    def of(self, view: WindowView) -> list[Item]:
        """Return what could be cut, largest first: it is the oversized one that keeps the request from fitting."""
        items = (item for unit in view.units for item in unit.items if item.id not in self.whole)
        may = (item for item in items if is_cuttable(item) or is_shortened_block(item))
        return sorted(may, key=lambda item: item.tokens, reverse=True)


IN_SESSION = Cutting()
"""A session can recall what is cut, so that the newest input is cut before what users said leaves."""


def in_list(view: WindowView, fit: int) -> Iterator[Cutting]:
    """
    Yield what to cut where nothing can be recalled: at first everything but the newest input, which no reply has seen,
    and where that does not suffice, that too.
    """
    yield Cutting(whole=frozenset(item.id for unit in view.units[view.final :] for item in unit.items))
    yield Cutting(share=fit // _LIST_PART)


def run(planner: Planner, view: WindowView, *, fit: int, cutting: Cutting = IN_SESSION) -> None:
    """
    Offer removals in this order: the first three steps down to the goal, the rest only until ``fit`` tokens are
    reached. LOCKED and pinned content is never offered; what users laid down is quoted as long as anything is left.
    """
    for offers, rights in _to_goal(view):
        _offer(planner, offers, rights, planner.goal.target_tokens)
    planner.settle()
    if not planner.reaches(fit):
        _cut_oversized(planner, view, fit, cutting)
    _offer(planner, _drops(view, Zone.PRESERVABLE, "kept until nothing else could go"), _PRESERVABLE, fit)
    _offer(planner, _drops(view, Zone.RESERVE, "recent, but nothing else was left"), _RESERVE, fit)
    _cut(planner, cutting.of(view), fit)
    planner.settle()
    planner.quote_less(fit)


def _cut_oversized(planner: Planner, view: WindowView, fit: int, cutting: Cutting) -> None:
    items = [item for item in cutting.of(view) if _is_oversized(item)]
    room = _roomy(planner, fit)
    if cutting.share:
        room = max(room, planner.total - sum(map(planner.size_of, items)) + cutting.share)
    _cut(planner, items, room)


def shorten_blocks(planner: Planner, view: WindowView, *, fit: int) -> None:
    """
    Cut the blocks that no model call has seen, where they are larger than all that a collection could make room for.

    They would must be cut in the end, when everything else had left. So they get what is free now, and at least a
    part of the window.
    """
    if planner.reaches(fit + view.tokens - view.protected_tokens()):
        return
    unseen = (unit for unit in view.in_zone(Zone.RESERVE) if is_block(unit))
    blocks = [item for unit in unseen for item in unit.items if is_shortened_block(item)]
    others = planner.total - sum(item.tokens for item in blocks)
    _cut(planner, blocks, max(_roomy(planner, fit), others + fit // _BLOCK_PART))
    planner.settle()


def _roomy(planner: Planner, fit: int) -> int:
    """
    Return the size that a cut aims at: below the limit, because a request that just fits would be collected again at
    the next call, a break each time.
    """
    return min(fit, max(0, fit + planner.goal.target_tokens) // 2)


def _to_goal(view: WindowView) -> Iterator[tuple[Iterable[GCRemovalItem], Rights]]:
    results = [item for item in view.stubbable if item.kind is ItemKind.TOOL_RESULT]
    others = [item for item in view.stubbable if item.kind is not ItemKind.TOOL_RESULT]
    yield _stubs(results, "old result"), _ORDINARY
    yield _stubs(others, "old argument or paste"), _ORDINARY
    units = view.collectable
    yield (GCRemovalItem.drop(unit, reason="oldest unit", phase="drop") for unit in units), _ORDINARY


def _stubs(items: Iterable[Item], reason: str) -> Iterator[GCRemovalItem]:
    return (GCRemovalItem.stub(item, keep=_OLD_KEEP, reason=reason, phase="stub") for item in items)


def _drops(view: WindowView, zone: Zone, reason: str) -> Iterator[GCRemovalItem]:
    units = sorted(view.in_zone(zone), key=lambda unit: not is_block(unit))  # what can be given again leaves first
    return (GCRemovalItem.drop(unit, reason=reason, phase=zone.value) for unit in units)


def _offer(planner: Planner, offers: Iterable[GCRemovalItem], rights: Rights, until: int) -> None:
    for offer in offers:
        if planner.reaches(until):
            return
        planner.offer(attrs.evolve(offer, strategy=NAME), rights)


def _is_oversized(item: Item) -> bool:
    """Return whether the item may be cut before protected content leaves: of what a user typed only a paste."""
    return item.policy is not GCPolicy.PRESERVABLE or item.tokens > _PASTE_TOKENS


def _cut(planner: Planner, items: Sequence[Item], fit: int) -> None:
    """Cut everything above a common size to that size, the largest that fits."""
    sizes = {item.id: planner.size_of(item) for item in items}
    if planner.reaches(fit) or not sizes:
        return
    others = planner.total - sum(sizes.values())
    size = equal_cap(list(sizes.values()), fit - others - _SLACK)
    for item in items:
        if sizes[item.id] > size and not planner.reaches(fit):
            # Of a stub that is cut again, as of any other, the share is one of the original.
            keep = size / (item.tokens if item.form is Form.WHOLE else item.original_tokens)
            removal = GCRemovalItem.stub(item, keep=keep, reason="too large to fit", phase="cut")
            planner.offer(attrs.evolve(removal, strategy=NAME), _CUT)


def equal_cap(sizes: Sequence[int], room: int) -> int:
    """Return the size to which the larger ones are to be cut so that all together fill the room."""
    left = max(0, room)
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            return share
        left -= size
    return max(sizes)
