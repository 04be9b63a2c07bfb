"""What a strategy may propose, and what a collection does to the window."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from gc_core.values.items import Item, Unit
from gc_core.values.summary import SummaryForm

GAP = "[...]"
"""Stands where something was left out between kept lines."""

SNIPPED = "[...snipped...]"
"""The same in a snip."""

RENEWED = "renewed"
"""Phase of what leaves because its newer version is told at the end of the next request."""

DIGEST_SHARE = 1 / 60
"""Share of the tokens that the originals of a segment had which its entries in a digest may have."""

SUMMARY_SHARE = 0.25
"""Share of the tokens that it stands for which a summary may have, unless a strategy says otherwise."""


@attrs.frozen
class Drop:
    """Take whole units out; one trace stands at the cut."""

    units: tuple[int, ...]


@attrs.frozen
class Stub:
    """
    Replace one item by a shorter text that the core writes; ``keep`` is the share of its tokens that may stay.

    Of an item that is a stub already, it is the share of the tokens that the item had when it arrived. ``gap`` stands
    where lines were left out. With ``repeated`` only what the window shows again is left out, whatever ``keep`` says:
    of a file's view the lines that a later view repeats, of an edit the long texts that it replaced.
    """

    item: str
    keep: float = attrs.field(validator=[attrs.validators.ge(0.0), attrs.validators.lt(1.0)])
    gap: str = attrs.field(default=GAP, validator=attrs.validators.in_((GAP, SNIPPED)))
    repeated: bool = attrs.field(default=False, validator=attrs.validators.instance_of(bool))


@attrs.frozen
class Summarize:
    """
    Replace whole units by one summary; a request that the core answers. Of an account as many of them as the goal
    needs, with ``whole`` all of them; of a digest always all.

    The summary has at most ``max_tokens`` tokens, and at most the share ``keep`` of the tokens that it stands for.
    """

    units: tuple[int, ...]
    max_tokens: int = attrs.field(validator=attrs.validators.gt(0))
    keep: float = attrs.field(default=SUMMARY_SHARE, validator=[attrs.validators.gt(0.0), attrs.validators.lt(1.0)])
    form: SummaryForm = attrs.field(default=SummaryForm.ACCOUNT, validator=attrs.validators.instance_of(SummaryForm))
    whole: bool = attrs.field(default=False, validator=attrs.validators.instance_of(bool))


Action = Drop | Stub | Summarize
"""The closed set of actions a strategy may propose."""


@attrs.frozen(kw_only=True)
class GCRemovalItem:
    """
    One proposed removal. Use the constructors ``drop``, ``stub``, ``snip``, ``trim``, ``summarize`` and
    ``digest``.

    Attributes:
        action: What to do, with which units or item.
        reason: Why, in a few words; it goes into reports and the ledger.
        phase: The strategy's own name for the phase, or "".
        items: Ids of the items it concerns.
        strategy: Name of the strategy; filled in by the core.
        tokens_freed: Tokens really freed; filled in by the core when the removal has been planned.

    """

    action: Action = attrs.field(validator=attrs.validators.instance_of((Drop, Stub, Summarize)))
    reason: str = attrs.field(
        validator=attrs.validators.and_(attrs.validators.instance_of(str), attrs.validators.min_len(1))
    )
    phase: str = attrs.field(default="", validator=attrs.validators.instance_of(str))
    items: tuple[str, ...] = ()
    strategy: str = ""
    tokens_freed: int = 0

    @classmethod
    def drop(cls, *units: Unit, reason: str, phase: str = "") -> GCRemovalItem:
        """Propose to take these whole units out together."""
        return cls(action=Drop(_numbers(units)), reason=reason, phase=phase, items=_ids(units))

    @classmethod
    def stub(cls, item: Item, *, keep: float = 0.35, reason: str, phase: str = "") -> GCRemovalItem:
        """Propose to replace the item by a stub of at most ``keep`` of its tokens (0 <= keep < 1)."""
        return cls(action=Stub(item.id, keep), reason=reason, phase=phase, items=(item.id,))

    @classmethod
    def snip(cls, item: Item, *, keep: float, reason: str, phase: str = "") -> GCRemovalItem:
        """Return the same, its live lines around literal ``[...snipped...]`` marks."""
        return cls(action=Stub(item.id, keep, SNIPPED), reason=reason, phase=phase, items=(item.id,))

    @classmethod
    def trim(cls, item: Item, *, reason: str, phase: str = "") -> GCRemovalItem:
        """
        Propose to leave out of the item what the window shows again, and to keep every other line whole: see
        ``WorkingSetView.superseded``.
        """
        return cls(action=Stub(item.id, 0.0, repeated=True), reason=reason, phase=phase, items=(item.id,))

    @classmethod
    def digest(
        cls, units: Sequence[Unit], *, max_tokens: int, keep: float = DIGEST_SHARE, reason: str, phase: str = ""
    ) -> GCRemovalItem:
        """
        Ask for one digest in the place of these units, summaries and an older digest among them.

        What is new in it is written from the originals, in at most the share ``keep`` of the tokens that they had when
        they arrived. The digest has at most ``max_tokens`` in all: what an older one tells stays as far as it is more
        important. Traces between the units leave with them.
        """
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
        Ask for one summary of these units, in their order, as many of them as the goal needs; of all with ``whole``.

        It has at most ``max_tokens`` tokens and at most ``keep`` (0 < keep < 1) of the tokens that it stands for.
        """
        action = Summarize(_numbers(units), max_tokens, keep, whole=whole)
        return cls(action=action, reason=reason, phase=phase, items=_ids(units))

    def of(self, units: Sequence[Unit]) -> GCRemovalItem:
        """Return the same proposal for these units, of one to drop or to summarise units."""
        assert not isinstance(self.action, Stub)  # noqa: S101 - that has an item
        action = attrs.evolve(self.action, units=_numbers(units))
        return attrs.evolve(self, action=action, items=_ids(units))


def action_of(removal: GCRemovalItem) -> str:
    """Return what a removal does, in a word."""
    match removal.action:
        case Drop():
            return "drop"
        case Stub():
            return "stub"
        case summarize:
            return "summarize" if summarize.form is SummaryForm.ACCOUNT else summarize.form.value


def _numbers(units: Sequence[Unit]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(unit.number for unit in units))


def _ids(units: Sequence[Unit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.id for unit in units for item in unit.items))
