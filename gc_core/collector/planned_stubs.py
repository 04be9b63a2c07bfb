"""Stubs of a plan: which items may have one, its limit, its estimated size, and its text."""

from __future__ import annotations

from functools import cached_property

from gc_core.collector.permissions import Rights
from gc_core.collector.running_totals import RunningTotals
from gc_core.providers.contract import TokenCounter
from gc_core.relevance.name_scan import scan
from gc_core.relevance.profiles import GENERAL_PROFILE, CompressionProfile, tool_kind, weighing_by
from gc_core.relevance.working_set import shows_file
from gc_core.values.framing import framed
from gc_core.values.items import Form, Item, ItemKind, Unit
from gc_core.values.policy import GCPolicy
from gc_core.values.references import Reference
from gc_core.values.removals import Stub
from gc_core.window.context import Context, NewText
from gc_core.window.stubs import (
    StubText,
    is_condensed,
    is_shortened_block,
    is_stubbable,
    reference_to,
    smallest_stub,
    trim_stub,
    write_stub,
)
from gc_core.window.view import WindowView

_WRITINGS = 3
"""How often one plan writes its stubs before it counts new ones at their limit."""

_CUTTABLE = frozenset(
    {ItemKind.TOOL_RESULT, ItemKind.TOOL_CALL, ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.ATTACHMENT}
)


class Stubs:
    """
    The stubs of a plan; they are counted by what is alive in them until ``write`` has written their texts.

    ``profile`` says which lines stay first, and how much of a tool's output: not of what no one has read yet.
    """

    def __init__(
        self,
        context: Context,
        view: WindowView,
        totals: RunningTotals,
        counter: TokenCounter,
        profile: CompressionProfile = GENERAL_PROFILE,
    ) -> None:
        self._context = context
        self._view = view
        self._totals = totals
        self._counter = counter
        self._limits: dict[str, int] = {}
        self._gaps: dict[str, str] = {}
        self._trims: dict[str, NewText] = {}
        self._unread: set[str] = set()
        self._texts: dict[str, NewText] = {}
        self._cuts: dict[str, tuple[tuple[object, ...], NewText]] = {}
        self._references: dict[str, Reference] = {}
        self._writings = 0
        self._written_at = -1
        self._profile = profile
        self._weighing = weighing_by(profile)

    # -- proposals ----------------------------------------------------------------------------------------

    def has(self, key: str) -> bool:
        """Return whether the window has such an item."""
        return key in self._items

    def item(self, key: str) -> Item:
        """Return the current item. Raises KeyError for one that is not resident."""
        return self._items[key][0]

    def place(self, key: str) -> int:
        """Return the position of the item's unit. Raises KeyError as well."""
        return self._items[key][1]

    def take(self, stub: Stub, rights: Rights) -> str:
        """Add a stub with this share of its tokens for a resident item; return why that is refused, or ""."""
        key = stub.item
        item, place = self._items[key]
        unit = self._view.units[place]
        why = self._keeps_whole(item, unit, place, rights)
        if why:
            return why
        if stub.repeated:
            return self._take_trim(stub, item, unit)
        whole = item.tokens if item.form is Form.WHOLE else item.original_tokens
        limit = max(int(stub.keep * whole), smallest_stub(item, self._counter, self._reference(item)))
        if limit >= self._totals.size_of(item):
            return "a stub would not be smaller"
        self._limits[key], self._gaps[key] = limit, stub.gap
        self._trims.pop(key, None)
        if rights.stub_any_kind:
            self._unread.add(key)
        self._totals.resize(item, unit, min(limit, self._estimate(item, limit, rights)))
        self._written_at = -1
        return ""

    def _take_trim(self, stub: Stub, item: Item, unit: Unit) -> str:
        """Add a stub without what the window shows again: its text is known at once."""
        if item.form is not Form.WHOLE:
            return f"item {item.id} is a stub already"
        repeated = self._view.working_set.repeated(item)
        text = trim_stub(item, repeated, self._counter, reference=self._reference(item), gap=stub.gap)
        if text.tokens >= self._totals.size_of(item):
            return "a stub would not be smaller"
        self._limits[item.id], self._gaps[item.id], self._trims[item.id] = text.tokens, stub.gap, _new_text(text)
        self._totals.resize(item, unit, text.tokens)
        self._written_at = -1
        return ""

    def _keeps_whole(self, item: Item, unit: Unit, place: int, rights: Rights) -> str:
        """Return why the item may not be stubbed, or ""."""
        if unit.number in self._totals.dropped:
            return "its unit is dropped in this pass"
        if unit.number in self._totals.kept:
            return f"a plugin keeps unit {unit.number}"
        if item.pinned or unit.pinned:
            return f"item {item.id} is pinned"
        if rights.stub_any_kind:
            may = is_cuttable(item) or is_shortened_block(item)
        else:
            may = is_stubbable(item) or is_condensed(item)
        if not may:
            form = "fixed" if item.fixed else item.form.value
            return f"item {item.id} cannot be stubbed ({item.kind.value}, {item.policy.value}, {form})"
        return self._not_by_right(item, unit, place, rights)

    def _not_by_right(self, item: Item, unit: Unit, place: int, rights: Rights) -> str:
        """Return why the proposer may not stub the item, or ""."""
        if not rights.stub_recent and (unit.pending or not self._view.is_before_recent_steps(place)):
            return f"item {item.id} belongs to the newest steps"
        if rights.stub_only is not None and item.id not in rights.stub_only:
            return f"item {item.id} is not young"
        return ""

    def _estimate(self, item: Item, limit: int, rights: Rights) -> int:
        """
        Return tokens that a stub will have: what is alive in it. Where exactness matters more than
        thrift, its limit.
        """
        if rights.stub_any_kind or self._writings >= _WRITINGS:
            return limit
        alive = self._view.liveness.last_carried(item)
        chars = sum(span.end - span.start for span in item.scan.spans if not alive.isdisjoint(span.names))
        return smallest_stub(item, self._counter, self._reference(item)) + int(
            item.tokens * chars / max(1, len(item.text))
        )

    def _trim(self, item: Item) -> int | None:
        """Return the characters of unimportant lines in a stub of the item, or None if the profile sets no limit."""
        if not self._profile.tool_output_trim or item.kind is not ItemKind.TOOL_RESULT:
            return None
        call = self._call_of(item)
        kind = tool_kind(item.name, "" if call is None else call.text)
        return self._profile.tool_output_trim.get(kind)

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self) -> None:
        """Write and count the texts of all stubs, unless nothing has changed since."""
        if not self._limits or self._written_at == self._totals.changes:
            return
        self._written_at = self._totals.changes
        self._writings += 1
        self._texts = self._written()
        for key, text in self._texts.items():
            item, place = self._items[key]
            self._totals.resize(item, self._view.units[place], min(text.tokens, item.tokens))

    def smaller(self) -> dict[str, NewText]:
        """Return the written texts that are worth their places, by item id."""
        return {key: text for key, text in self._texts.items() if text.tokens < self._items[key][0].tokens}

    def shown(self) -> set[str]:
        """Return the names that the window shows once everything is carried out."""
        shown = set(self._locked_names)
        for unit, gone in zip(self._view.units, self._totals.gone, strict=True):
            for item in () if gone else unit.items:
                written = self._texts.get(item.id)
                shown |= item.scan.names if written is None else written.scan.names
                shown.update(() if item.reference is None else item.reference.names)
        return shown

    def _written(self) -> dict[str, NewText]:
        """
        Return the stubs' texts, newest first: each keeps what the window would lose, given what
        follows it by then.

        LOCKED content shows its names wherever it is.
        """
        shown = set(self._locked_names)
        texts: dict[str, NewText] = {}
        for unit, gone in zip(reversed(self._view.units), reversed(self._totals.gone), strict=True):
            if gone:
                continue
            for item in reversed(unit.items):
                scanned = item.scan
                if item.id in self._limits:
                    texts[item.id] = self._stubbed(item, shown)
                    scanned = texts[item.id].scan
                shown |= scanned.names
        return texts

    def _stubbed(self, item: Item, shown: set[str]) -> NewText:
        trimmed = self._trims.get(item.id)
        if trimmed is not None:
            return trimmed
        if item.kind is ItemKind.TOOL_CALL or item.form is Form.STUB or framed(item, "") != "":
            return _new_text(self._cut(item, shown))  # cut from texts with names that the item's scan may lack
        # Most stubs are written several times in a plan, and the window shows the same names again each time.
        key = self._limits[item.id], self._gaps[item.id], item.id in self._unread, item.scan.names & shown
        known = self._cuts.get(item.id)
        if known is None or known[0] != key:
            known = self._cuts[item.id] = key, _new_text(self._cut(item, shown))
        return known[1]

    def _cut(self, item: Item, shown: set[str]) -> StubText:
        ends = item.id in self._unread
        return write_stub(
            item,
            self._limits[item.id],
            self._counter,
            shown,
            ends=ends,
            reference=self._reference(item),
            gap=self._gaps[item.id],
            weighing=self._weighing,
            most_ordinary=None if ends else self._trim(item),
            named=self._view.named if self._shows_file(item) else frozenset(),
        )

    @cached_property
    def _locked_names(self) -> frozenset[str]:
        groups = (self._context.head_items(), *[message.items for message in self._context.messages])
        scans = [item.scan for items in groups for item in items if item.policy is GCPolicy.LOCKED]
        return frozenset().union(*[scanned.names for scanned in scans])

    def _reference(self, item: Item) -> Reference:
        known = item.reference if item.form is Form.STUB else self._references.get(item.id)
        if known is None:
            context = self._context
            known = reference_to(
                item, self._call_of(item), cites=context.cites, recalls=context.recalls, form=context.recall_form
            )
            self._references[item.id] = known
        return known

    def _shows_file(self, item: Item) -> bool:
        return item.kind is ItemKind.TOOL_RESULT and shows_file(item, self._call_of(item))

    def _call_of(self, item: Item) -> Item | None:
        """Return the call that a result answers, if it is resident."""
        return self._items.get(item.call, (None, 0))[0] if item.call else None

    @cached_property
    def _items(self) -> dict[str, tuple[Item, int]]:
        """Every item with its unit's place. Only needed by stubs, so a plan with only drops does not pay for it."""
        return {item.id: (item, place) for place, unit in enumerate(self._view.units) for item in unit.items}


def _new_text(stub: StubText) -> NewText:
    return NewText(text=stub.text, tokens=stub.tokens, reference=stub.reference, scan=scan(stub.text))


def is_cuttable(item: Item) -> bool:
    """
    Return whether the last resort could cut the item: text, calls and results that are not pinned,
    LOCKED or fixed.
    """
    return item.kind in _CUTTABLE and not (item.pinned or item.fixed) and item.policy is not GCPolicy.LOCKED
