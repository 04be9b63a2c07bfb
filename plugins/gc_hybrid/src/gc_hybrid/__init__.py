"""
By generation: ancient turns are dropped, middle turns become a summary, recent ones stay as they are.

Use it when the recent past matters and the distant past does not. Recent are the session's ``preserve_recent_turns``;
the ``middle_turns`` before them are the middle; older ones are ancient. Inside a giant turn the same numbers count
steps. Ancient content leaves with a trace; without a summarizer the middle does too.
"""

from collections.abc import Iterator, Sequence

import attrs

import gc_core as gc


@attrs.frozen(kw_only=True)
class Hybrid:
    """Drops ancient turns, summarises the middle, keeps recent turns; likewise for steps inside a giant turn."""

    middle_turns: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    keep: float = attrs.field(default=0.07, validator=[attrs.validators.gt(0), attrs.validators.lt(1)])
    files_share: float = attrs.field(default=0.6, validator=[attrs.validators.ge(0), attrs.validators.lt(1)])
    max_summary_tokens: int = attrs.field(default=1_200, validator=attrs.validators.ge(200))

    def collect(self, context: gc.ContextView, goal: gc.Goal) -> Iterator[gc.GCRemovalItem]:
        """
        Propose old turns by generation, then old steps by generation, those that show a file in use last; then users'
        messages, under pressure.
        """
        working, room = context.working_set, int(self.files_share * goal.target_tokens)
        for item in working.superseded:
            yield gc.GCRemovalItem.trim(item, reason="shown again", phase="superseded")
        units = [unit for unit in context.collectable if not working.keeps(unit, room)]
        old = [unit for unit in units if not context.is_recent(unit)]
        turns = sorted({unit.turn for unit in old})[-self.middle_turns :]
        yield from self._by_generation(context, old, [unit for unit in old if unit.turn in turns], "turns")
        steps = [unit for unit in units if context.is_recent(unit) and unit.is_step]
        yield from self._by_generation(context, steps, steps[-self.middle_turns :], "steps")
        in_use = [unit for unit in context.collectable if working.keeps(unit, room)]
        for unit in sorted(in_use, key=working.disuse, reverse=True):
            yield gc.GCRemovalItem.drop(unit, reason="its file is the least in use", phase="files in use")
        yield from self._under_pressure(context)

    def _under_pressure(self, context: gc.ContextView) -> Iterator[gc.GCRemovalItem]:
        """Yield the oldest summaries before anything that a user said, which becomes a summary if possible."""
        said = [unit for unit in context.preservable if not unit.is_summary]
        for unit in context.preservable:
            if unit.is_summary:
                yield gc.GCRemovalItem.drop(unit, reason="oldest summary", phase="under pressure")
        if said and context.can_summarize:
            yield self._summary(said, "under pressure")
        for unit in said:
            yield gc.GCRemovalItem.drop(unit, reason="oldest", phase="under pressure")

    def _summary(self, units: Sequence[gc.Unit], phase: str) -> gc.GCRemovalItem:
        return gc.GCRemovalItem.summarize(
            units, max_tokens=self.max_summary_tokens, keep=self.keep, reason="oldest", phase=phase
        )

    def _by_generation(
        self, context: gc.ContextView, units: Sequence[gc.Unit], middle: Sequence[gc.Unit], what: str
    ) -> Iterator[gc.GCRemovalItem]:
        for unit in units[: len(units) - len(middle)]:
            yield gc.GCRemovalItem.drop(unit, reason="ancient", phase=f"ancient {what}")
        if not context.can_summarize:
            for unit in middle:
                yield gc.GCRemovalItem.drop(unit, reason="truncated: no summarizer", phase=f"middle {what}, truncated")
        elif middle:
            yield self._summary(middle, f"middle {what}")
            for unit in middle:
                yield gc.GCRemovalItem.drop(unit, reason="too little for a summary", phase=f"middle {what}")


@gc.hookimpl
def gc_register_strategies(register: gc.RegisterStrategy) -> None:
    """Offer Hybrid as ``gc_hybrid``."""
    register("gc_hybrid", Hybrid)
