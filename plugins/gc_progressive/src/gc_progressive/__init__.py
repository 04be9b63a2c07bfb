"""
Ten thousand steps at four levels of detail: verbatim, condensed, summarised, digested.

Use it for agents that run for thousands of steps. The older a step is, the less detail is kept: results shrink to their
important lines, segments of steps to summaries of decisions and outcomes, summaries to entries of one digest that never
grows beyond its cap. It loses the wording of old content; the task state is kept in addition.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

import gc_core as gc
from gc_progressive.segments import Spare, is_conversation, segments

_ROOM = 150
"""Tokens that every condensed item may have, if that is no more than ``_MOST`` of the original."""
_MOST = 0.7

_FILE_ROOM = 60
"""The same for a view whose file shrinks: its reference, its path and a line or two."""

_LEAST_CALL = 150
"""Tokens of arguments worth a stub: short commands are run again, verbatim."""

_LEAST_SUMMARY = 250
"""Tokens that a summary may have however short its segment was: its frame takes sixty."""

_LEAST_DIGEST = 1_000
"""The tokens of the digest in the smallest windows."""

"""The most names of the objective that are searched in the log, with one search each."""

_WISHES: dict[str, type[gc.Hot | gc.Steps | gc.ObjectiveChange]] = {
    "hot": gc.Hot,
    "steps": gc.Steps,
    "objective": gc.ObjectiveChange,
}
"""Opportunities for a collection that it may ask for, each weighed by the core."""

_HUNDRED = 100


def _rising(_: object, field: "attrs.Attribute[Any]", values: tuple[int, ...]) -> None:
    if len(values) != 3 or not all(type(value) is int and value >= 0 for value in values):  # noqa: PLR2004 - the levels
        raise ValueError(f"{field.name} = {values!r}: expected three whole numbers, one for each level below the first")
    if list(values) != sorted(values):
        raise ValueError(f"{field.name} = {values!r}: expected the smallest first")


def _falling(_: object, field: "attrs.Attribute[Any]", shares: tuple[float, ...]) -> None:
    if not all(isinstance(share, (int, float)) and 0 <= share < 1 for share in shares):
        raise ValueError(f"{field.name} = {shares!r}: expected shares from 0 to below 1")
    if list(shares) != sorted(shares, reverse=True):
        raise ValueError(f"{field.name} = {shares!r}: expected the largest share first")


def _names(words: Any) -> tuple[Any, ...]:
    """Return the words; a single string is one word, not its letters."""
    return tuple(words) if isinstance(words, (list, tuple)) else (words,)


def _wishes(_: object, field: "attrs.Attribute[Any]", words: tuple[object, ...]) -> None:
    for word in words:
        if word not in tuple(_WISHES):
            raise ValueError(
                f"{field.name} = {words!r}: expected words among {', '.join(_WISHES)}; {word!r} is not one"
            )
    if len(set(words)) < len(words):
        raise ValueError(f"{field.name} = {words!r}: expected each word once")


def _whole(least: int) -> Any:
    return [attrs.validators.instance_of(int), attrs.validators.ge(least)]


_NUMBER = attrs.validators.instance_of((int, float))
_SHARE: Any = [_NUMBER, attrs.validators.ge(0), attrs.validators.lt(1)]
_FLAG = attrs.validators.instance_of(bool)
_RATIO: Any = [_NUMBER, attrs.validators.ge(1)]


@attrs.frozen(kw_only=True)
class Progressive:
    """
    Every step shrinks with its age, from its originals at each level, and the least important
    content leaves first.
    """

    ages: tuple[int, int, int] = attrs.field(default=(10, 50, 200), converter=tuple, validator=_rising)
    least: int = attrs.field(default=60, validator=_whole(1))
    keep: float = attrs.field(default=0.25, validator=_SHARE)
    keep_of_file: float = attrs.field(default=0.05, validator=_SHARE)
    files_share: float = attrs.field(default=0.65, validator=_SHARE)
    shares: tuple[float, ...] = attrs.field(default=(0.1,), converter=tuple, validator=_falling)
    summary_ratio: float = attrs.field(default=12.0, validator=_RATIO)
    digest_ratio: float = attrs.field(default=60.0, validator=_RATIO)
    digest_percent: float = attrs.field(default=15.0, validator=gc.percent)
    segment_steps: int = attrs.field(default=50, validator=_whole(1))
    nursery_steps: int = attrs.field(default=2, validator=_whole(0))
    nursery_tokens: int = attrs.field(default=4_000, validator=_whole(0))
    nursery_on_bound_thinking: bool = attrs.field(default=False, validator=_FLAG)
    target_percent: float = attrs.field(default=47.0, validator=gc.percent)
    base_tokens: int = attrs.field(default=10_000, validator=_whole(0))
    relief_percent: float = attrs.field(default=60.0, validator=gc.percent)
    wishes: tuple[str, ...] = attrs.field(default=(), converter=_names, validator=_wishes)
    spend_tokens: int | None = attrs.field(default=None, validator=attrs.validators.optional(_whole(1)))
    task_state_percent: float = attrs.field(default=20.0, validator=gc.percent)

    @property
    def triggers(self) -> tuple[gc.Trigger, ...]:
        """When it should be asked: at its cap, at the opportunities that ``wishes`` name, for the nursery, by spend."""
        declared: list[gc.Trigger] = [
            gc.Major(
                target_percent=self.target_percent,
                base_tokens=self.base_tokens,
                relief_percent=self.relief_percent,
            ),
            *(_WISHES[word]() for word in self.wishes),
        ]
        if self.nursery_tokens:
            young = gc.Young(
                tokens=self.nursery_tokens,
                steps=self.nursery_steps,
                least=self.least,
                on_bound_thinking=self.nursery_on_bound_thinking,
            )
            declared.append(young)
        if self.spend_tokens is not None:
            declared.append(gc.Spend(tokens=self.spend_tokens))
        return tuple(declared)

    def collect(self, context: gc.ContextView, goal: gc.Goal) -> Iterator[gc.GCRemovalItem]:
        """Propose every level in turn, the oldest and the least important first, without repetition."""
        proposed: set[object] = set()
        for removal in self._levels(context, goal):
            if removal.action not in proposed:
                proposed.add(removal.action)
                yield removal

    def _levels(self, context: gc.ContextView, goal: gc.Goal) -> Iterator[gc.GCRemovalItem]:
        condensed, summarised, digested = self.ages
        if goal.is_young:
            yield from self._condense(context, context.young, self.nursery_steps)
            return
        working, room = context.working_set, int(self.files_share * goal.target_tokens)

        def spare(unit: gc.Unit) -> bool:
            return working.keeps(unit, room)

        yield from _stale(context)
        for item in working.superseded:
            yield gc.GCRemovalItem.trim(item, reason="shown again", phase="L1")
        others = [item for item in context.stubbable if not working.holds(item)]
        yield from self._condense(context, others, self.nursery_steps)
        for file in working.beyond(room):
            for item in file.items:
                reason = f"its file was last named {file.idle} steps ago"
                yield gc.GCRemovalItem.stub(
                    item, keep=max(self.keep_of_file, min(_MOST, _FILE_ROOM / item.tokens)), reason=reason, phase="L1"
                )
        if context.can_summarize:
            yield from self._digest(context, goal, digested, spare)
            yield from self._summarize(context, summarised, spare)
        yield from self._smaller(context, others)
        if context.can_summarize:
            yield from self._summarize(context, condensed, spare)
            yield from self._digest(context, goal, summarised, spare)
        yield from _evictions(context, spare)
        if goal.pressure:
            # What the digest covers goes last: nothing else covers it.
            for unit in sorted(context.preservable, key=lambda unit: (unit.is_digest, not unit.is_summary)):
                yield gc.GCRemovalItem.drop(unit, reason="under pressure", phase="preservable")

    def _condense(self, context: gc.ContextView, items: Sequence[gc.Item], age: int) -> Iterator[gc.GCRemovalItem]:
        """L1: results, long arguments and texts shrink to their important lines, superseded ones first."""
        ages = {unit.number: context.age(unit) for unit in context.units}
        served = [item for item in items if item.tokens >= self._least(item) and ages[item.unit] >= age]
        stale = {item.id for item in served if context.liveness.superseded(item)}
        for item in sorted(served, key=lambda item: item.id not in stale):
            reason = "superseded" if item.id in stale else f"older than {age} steps"
            # A short text keeps a larger share: otherwise only the reference would be left.
            keep = max(self.keep, min(_MOST, _ROOM / item.tokens))
            yield gc.GCRemovalItem.stub(item, keep=keep, reason=reason, phase="L1")

    def _least(self, item: gc.Item) -> int:
        return max(self.least, _LEAST_CALL) if item.kind is gc.ItemKind.TOOL_CALL else self.least

    def _smaller(self, context: gc.ContextView, others: Sequence[gc.Item]) -> Iterator[gc.GCRemovalItem]:
        """L1: condensed items shrink further, the oldest first, all by one step before any by the next."""
        items = [item for item in (*context.condensed, *others) if not context.working_set.holds(item)]
        large = [item for item in items if item.original_tokens >= 2 * self.least]
        for share in self.shares:
            for item in large:
                yield gc.GCRemovalItem.stub(item, keep=share, reason="older", phase=f"L1 {share:g}")

    def _summarize(self, context: gc.ContextView, age: int, spare: Spare) -> Iterator[gc.GCRemovalItem]:
        """L2: whole segments of old steps, each once, the oldest first; none that show a file in use."""
        for segment in segments(context, age=age, steps=self.segment_steps, spare=spare):
            room = max(_LEAST_SUMMARY, int(sum(unit.original_tokens for unit in segment) / self.summary_ratio))
            # In a chat no more than the goal needs: the latest messages stay unbroken, however short they are.
            whole = not any(unit.is_exchange for unit in segment)
            yield gc.GCRemovalItem.summarize(
                segment, max_tokens=room, keep=_MOST, whole=whole, reason=f"older than {age} steps", phase="L2"
            )

    def _digest(self, context: gc.ContextView, goal: gc.Goal, age: int, spare: Spare) -> Iterator[gc.GCRemovalItem]:
        """L3: everything older that shows no file in use, including summaries, becomes one digest."""
        old = [unit for unit in context.units if unit.is_summary and context.age(unit) >= age]
        steps = (unit for unit in context.collectable if is_conversation(unit) and context.age(unit) >= age)
        old += [unit for unit in steps if not spare(unit)]
        if goal.pressure:
            old += [unit for unit in context.preservable if not unit.is_summary and context.age(unit) >= age]
        if any(not unit.is_digest for unit in old):
            yield gc.GCRemovalItem.digest(
                sorted(old, key=lambda unit: unit.number),
                max_tokens=max(_LEAST_DIGEST, int(goal.usable_tokens * self.digest_percent / _HUNDRED)),
                keep=1 / self.digest_ratio,
                reason=f"older than {age} steps",
                phase="L3",
            )


def _evictions(context: gc.ContextView, spare: Spare) -> Iterator[gc.GCRemovalItem]:
    """Yield the least important units first, those that show a file in use last."""
    units = [unit for unit in context.collectable if unit.number > 0 and not spare(unit)]
    for unit in sorted(units, key=lambda unit: (max(context.importance(item) for item in unit.items), unit.number)):
        yield gc.GCRemovalItem.drop(unit, reason="least important", phase="evict")
    schemas = [unit for unit in context.collectable if unit.number < 0]
    in_use = sorted(filter(spare, context.collectable), key=context.working_set.disuse, reverse=True)
    for unit in (*in_use, *schemas):
        yield gc.GCRemovalItem.drop(unit, reason="oldest of what may go", phase="drop")


def _stale(context: gc.ContextView) -> Iterator[gc.GCRemovalItem]:
    """Yield enrichment and older versions of memory blocks, which are sent again."""
    resent = {"enrichment", "task_state"}
    units = [unit for unit in context.collectable if all(item.source in resent for item in unit.items)]
    if units:
        yield gc.GCRemovalItem.drop(*units, reason="told anew", phase="stale")


@gc.hookimpl
def gc_register_strategies(register: gc.RegisterStrategy) -> None:
    """Offer Progressive as ``gc_progressive``."""
    register("gc_progressive", Progressive)
