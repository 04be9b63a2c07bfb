"""The removals that a strategy may propose and a collection carries out."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from gc_core.errors import RemovalError
from gc_core.values.items import Item, Unit
from gc_core.values.summary import SummaryForm
from gc_core.values.validators import above, allowing, check_kind, is_number, listed, of_kind

GAP = "[...]"
"""Marks an omission between kept lines."""

SNIPPED = "[...snipped...]"
"""The same in a snip."""

RENEWED = "renewed"
"""The phase of removals whose newer version is added at the end of the next request."""

DIGEST_SHARE = 1 / 60
"""Entries of a digest may have at most this share of the tokens of their originals."""

SUMMARY_SHARE = 0.25
"""A summary may have at most this share of the tokens that it replaces, unless a strategy says otherwise."""


_a_flag = of_kind(bool, "True or False", error=RemovalError)
_a_text = of_kind(str, "a text", error=RemovalError)
_kept = allowing(
    lambda value: is_number(value) and 0 <= value < 1, "a share of at least 0 and less than 1", error=RemovalError
)
_summary_share = allowing(
    lambda value: is_number(value) and 0 < value < 1, "a share above 0 and less than 1", error=RemovalError
)
_a_reason = allowing(
    lambda value: isinstance(value, str) and bool(value), "the reason in a few words", error=RemovalError
)


@attrs.frozen
class Drop:
    """Remove whole units; one trace replaces them."""

    units: tuple[int, ...]


@attrs.frozen
class Stub:
    """
    Replace one item by a shorter text that the core writes; ``keep`` is the share of its tokens that may stay.

    For an item that is a stub already, it is the share of its original tokens. ``gap`` marks lines that were left out.
    With ``repeated`` only what the window shows again is left out, whatever ``keep`` says: for the view of a file the
    lines that a later view repeats, for an edit the long texts that it replaced.
    """

    item: str
    keep: float = attrs.field(validator=_kept)
    gap: str = attrs.field(default=GAP, validator=attrs.validators.in_((GAP, SNIPPED)))
    repeated: bool = attrs.field(default=False, validator=_a_flag)


@attrs.frozen
class Summarize:
    """
    Replace whole units by one summary, which the core requests. For an account as many of them as the goal needs, with
    ``whole`` all of them; for a digest always all.

    The summary has at most ``max_tokens`` tokens, and at most the share ``keep`` of the tokens that it replaces.
    """

    units: tuple[int, ...]
    max_tokens: int = attrs.field(validator=above(0, error=RemovalError))
    keep: float = attrs.field(default=SUMMARY_SHARE, validator=_summary_share)
    form: SummaryForm = attrs.field(default=SummaryForm.ACCOUNT, validator=attrs.validators.instance_of(SummaryForm))
    whole: bool = attrs.field(default=False, validator=_a_flag)


Action = Drop | Stub | Summarize
"""The closed set of actions a strategy may propose."""


@attrs.frozen(kw_only=True)
class GCRemovalItem:
    """
    One proposed removal. Use the constructors ``drop``, ``stub``, ``snip``, ``trim``, ``summarize`` and
    ``digest``. They raise RemovalError, naming the argument, for a value that cannot be.

    Attributes:
        action: The action, with its units or item.
        reason: The reason in a few words; it goes into reports and the ledger.
        phase: The strategy's own name for the phase, or "".
        items: Ids of the items it concerns.
        strategy: Name of the strategy; filled in by the core.
        tokens_freed: Tokens actually freed; filled in by the core when the removal has been planned.

    """

    action: Action = attrs.field(validator=attrs.validators.instance_of((Drop, Stub, Summarize)))
    reason: str = attrs.field(validator=_a_reason)
    phase: str = attrs.field(default="", validator=_a_text)
    items: tuple[str, ...] = ()
    strategy: str = ""
    tokens_freed: int = 0

    @classmethod
    def drop(cls, *units: Unit, reason: str, phase: str = "") -> GCRemovalItem:
        """Propose to remove these whole units together."""
        return cls(action=Drop(_numbers(_checked(units))), reason=reason, phase=phase, items=_ids(units))

    @classmethod
    def stub(cls, item: Item, *, keep: float = 0.35, reason: str, phase: str = "") -> GCRemovalItem:
        """Propose to replace the item by a stub of at most ``keep`` of its tokens (0 <= keep < 1)."""
        check_kind("item", item, Item, "an Item", error=RemovalError)
        return cls(action=Stub(item.id, keep), reason=reason, phase=phase, items=(item.id,))

    @classmethod
    def snip(cls, item: Item, *, keep: float, reason: str, phase: str = "") -> GCRemovalItem:
        """Propose a stub with live lines around literal ``[...snipped...]`` marks."""
        check_kind("item", item, Item, "an Item", error=RemovalError)
        return cls(action=Stub(item.id, keep, SNIPPED), reason=reason, phase=phase, items=(item.id,))

    @classmethod
    def trim(cls, item: Item, *, reason: str, phase: str = "") -> GCRemovalItem:
        """
        Propose to remove from the item what the window shows again, and to keep every other line whole: see
        ``WorkingSetView.superseded``.
        """
        check_kind("item", item, Item, "an Item", error=RemovalError)
        return cls(action=Stub(item.id, 0.0, repeated=True), reason=reason, phase=phase, items=(item.id,))

    @classmethod
    def digest(
        cls, units: Sequence[Unit], *, max_tokens: int, keep: float = DIGEST_SHARE, reason: str, phase: str = ""
    ) -> GCRemovalItem:
        """
        Propose one digest in the place of these units, including summaries and an older digest.

        Its new entries are written from the originals, in at most the share ``keep`` of their original tokens. The
        digest has at most ``max_tokens`` in total: older entries stay as far as they are more important. Traces between
        the units leave with them.
        """
        units = _checked(units)
        action = Summarize(_numbers(units), max_tokens, keep, SummaryForm.DIGEST)
        return cls(action=action, reason=reason, phase=phase, items=_ids(units))

    @classmethod
    def summarize(
        cls,
        units: Sequence[Unit],
        *,
        max_tokens: int,
        keep: float = SUMMARY_SHARE,
        whole: bool = False,
        reason: str,
        phase: str = "",
    ) -> GCRemovalItem:
        """
        Propose one summary of these units, in order, of as many as the goal needs; of all with ``whole``.

        It has at most ``max_tokens`` tokens and at most ``keep`` (0 < keep < 1) of the tokens that it replaces.
        """
        units = _checked(units)
        action = Summarize(_numbers(units), max_tokens, keep, whole=whole)
        return cls(action=action, reason=reason, phase=phase, items=_ids(units))

    def of(self, units: Sequence[Unit]) -> GCRemovalItem:
        """Return the same proposal for these units; for drops and summaries only."""
        assert not isinstance(self.action, Stub)  # noqa: S101 - that has an item
        numbers, items = _numbers(units), _ids(units)
        if numbers == self.action.units and items == self.items:
            return self
        return attrs.evolve(self, action=attrs.evolve(self.action, units=numbers), items=items)


def action_of(removal: GCRemovalItem) -> str:
    """Return the name of a removal's action."""
    match removal.action:
        case Drop():
            return "drop"
        case Stub():
            return "stub"
        case summarize:
            return "summarize" if summarize.form is SummaryForm.ACCOUNT else summarize.form.value


def _checked(units: Sequence[Unit]) -> tuple[Unit, ...]:
    return listed("units", units, "units", kinds=Unit, error=RemovalError)


def _numbers(units: Sequence[Unit]) -> tuple[int, ...]:
    return tuple(dict.fromkeys([unit.number for unit in units]))


def _ids(units: Sequence[Unit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([item.id for unit in units for item in unit.items]))
