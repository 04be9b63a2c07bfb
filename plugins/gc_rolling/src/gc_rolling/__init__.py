"""
A rolling window: what has been served shrinks while it is young, and what is old shrinks again.

Use it for agents that run for long. Young results are snipped near the end of the prompt, where a break of the prompt
cache is cheap; the whole window is collected rarely, and deep. It loses the wording of old tool output, of which it
keeps whole lines, and of old steps, of which a line stays.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

import gc_core as gc
from gc_rolling.clusters import resolved_clusters

_ROOM = 150
"""Tokens that every snip may have, if that is no more than ``_MOST`` of the original."""
_MOST = 0.7


def _falling(_: object, field: "attrs.Attribute[Any]", shares: tuple[float, ...]) -> None:
    if not all(isinstance(share, (int, float)) and 0 <= share < 1 for share in shares):
        raise ValueError(f"{field.name} = {shares!r}: expected shares from 0 to below 1")
    if list(shares) != sorted(shares, reverse=True):
        raise ValueError(f"{field.name} = {shares!r}: expected the largest share first")


def _whole(least: int) -> Any:
    return [attrs.validators.instance_of(int), attrs.validators.ge(least)]


_NUMBER = attrs.validators.instance_of((int, float))
_SHARE: Any = [_NUMBER, attrs.validators.ge(0), attrs.validators.lt(1)]
_PERCENT: Any = [_NUMBER, attrs.validators.ge(0), attrs.validators.le(100)]
_FLAG = attrs.validators.instance_of(bool)


@attrs.frozen(kw_only=True)
class Rolling:
    """Young content is snipped as soon as it has been served, old content shrinks with its age, resolved steps fold."""

    snip_after: int = attrs.field(default=2, validator=_whole(0))
    snip_least: int = attrs.field(default=200, validator=_whole(1))
    keep: float = attrs.field(default=0.9, validator=_SHARE)
    nursery_tokens: int = attrs.field(default=4_000, validator=_whole(0))
    nursery_on_bound_thinking: bool = attrs.field(default=False, validator=_FLAG)
    target_percent: float = attrs.field(default=50.0, validator=_PERCENT)
    conversation_percent: float = attrs.field(default=76.0, validator=_PERCENT)
    shares: tuple[float, ...] = attrs.field(default=(0.45, 0.3, 0.15, 0.05), converter=tuple, validator=_falling)
    fold: bool = attrs.field(default=True, validator=_FLAG)
    autocompact_percent: float = attrs.field(default=83.5, validator=_PERCENT)
    max_summary_tokens: int = attrs.field(default=6_000, validator=_whole(200))

    @property
    def triggers(self) -> tuple[gc.Trigger, ...]:
        """The nursery, and how deep a collection of the whole window goes."""
        major = gc.Major(target_percent=self.target_percent, conversation_percent=self.conversation_percent)
        if not self.nursery_tokens:
            return (major,)
        young = gc.Young(
            tokens=self.nursery_tokens,
            steps=self.snip_after,
            least=self.snip_least,
            on_bound_thinking=self.nursery_on_bound_thinking,
        )
        return (young, major)

    def collect(self, context: gc.ContextView, goal: gc.Goal) -> Iterator[gc.GCRemovalItem]:
        """Propose snips of what has been served; for the whole window also smaller forms, folds and drops."""
        if goal.is_young:
            yield from self._snips(context, context.young, "nursery")
            return
        yield from _enrichment(context)
        yield from self._snips(context, context.stubbable, "snip")
        if context.can_summarize and self._is_full(goal):
            yield from self._compactions(context)
        yield from self._smaller(context)
        if self.fold and context.can_summarize:
            for cluster in resolved_clusters(context):
                yield gc.GCRemovalItem.fold(cluster, reason="resolved", phase="fold")
        for unit in context.collectable:
            yield gc.GCRemovalItem.drop(unit, reason="oldest of what may go", phase="drop")
        if goal.pressure:
            # The oldest summaries go before anything that a user said.
            for unit in sorted(context.preservable, key=lambda unit: not unit.is_summary):
                yield gc.GCRemovalItem.drop(unit, reason="under pressure", phase="preservable")

    def _is_full(self, goal: gc.Goal) -> bool:
        """Whether the conversation has reached its cap, or the window its ceiling."""
        full = goal.conversation_percent >= self.conversation_percent
        return full or goal.window_percent >= self.autocompact_percent

    def _snips(self, context: gc.ContextView, items: Sequence[gc.Item], phase: str) -> Iterator[gc.GCRemovalItem]:
        """Superseded and repeated content first, then the oldest."""
        ages = {unit.number: context.age(unit) for unit in context.units}
        served = [item for item in items if item.tokens >= self.snip_least and ages[item.unit] >= self.snip_after]
        stale = {item.id for item in served if context.liveness.superseded(item)}
        for item in sorted(served, key=lambda item: item.id not in stale):
            reason = "superseded" if item.id in stale else "served"
            # A snip of a short text may keep more of it: below some size only the reference would be left.
            keep = max(self.keep, min(_MOST, _ROOM / item.tokens))
            yield gc.GCRemovalItem.snip(item, keep=keep, reason=reason, phase=phase)

    def _smaller(self, context: gc.ContextView) -> Iterator[gc.GCRemovalItem]:
        """What is condensed shrinks further, the oldest first, all of it by one step before any by the next."""
        offered = {item.id for item in (*context.condensed, *context.stubbable)}
        items = [item for unit in context.units for item in unit.items if item.id in offered]
        large = [item for item in items if item.original_tokens >= 2 * self.snip_least]
        for share in self.shares:
            for item in large:
                yield gc.GCRemovalItem.snip(item, keep=share, reason="older", phase=f"micro {share:g}")

    def _compactions(self, context: gc.ContextView) -> Iterator[gc.GCRemovalItem]:
        """Everything that may go becomes one summary behind which the conversation goes on; then older steps alike."""
        old = [unit for unit in context.collectable if not context.is_recent(unit)]
        steps = [unit for unit in context.collectable if context.is_recent(unit) and unit.is_step]
        for units in (old, steps):
            told = [unit for unit in units if not unit.is_summary]
            if told:
                yield gc.GCRemovalItem.compact(
                    told, max_tokens=self.max_summary_tokens, reason="close to the ceiling", phase="autocompaction"
                )


def _enrichment(context: gc.ContextView) -> Iterator[gc.GCRemovalItem]:
    """All of it at once: it is made anew every turn."""
    units = [unit for unit in context.collectable if all(item.source == "enrichment" for item in unit.items)]
    if units:
        yield gc.GCRemovalItem.drop(*units, reason="made anew every turn", phase="enrichment")


@gc.hookimpl
def gc_register_strategies(register: gc.RegisterStrategy) -> None:
    """Offer Rolling as ``rolling``."""
    register("rolling", Rolling)
