"""
Old turns become a summary, the oldest first, and only as many as the goal needs.

Use it for long sessions whose thread must not be lost. Each collection writes one more entry, from the originals in the
log, never from an earlier summary. The oldest steps of recent turns are summarised when nothing else is left. It loses
the wording of what it summarises; the reference in the summary's last line brings the originals back.
"""

from collections.abc import Iterator, Sequence

import attrs

import gc_core as gc


@attrs.frozen(kw_only=True)
class Summarize:
    """Replaces old turns with a summary, oldest first; then the oldest steps of recent turns."""

    keep: float = attrs.field(default=0.07, validator=[attrs.validators.gt(0), attrs.validators.lt(1)])
    files_share: float = attrs.field(default=0.6, validator=[attrs.validators.ge(0), attrs.validators.lt(1)])
    max_summary_tokens: int = attrs.field(default=1_200, validator=attrs.validators.ge(200))

    def collect(self, context: gc.ContextView, goal: gc.Goal) -> Iterator[gc.GCRemovalItem]:
        """
        Propose a summary of old turns, one of old steps, then one of those that show a file in use; under pressure the
        oldest summaries go, then user texts.
        """
        working, room = context.working_set, int(self.files_share * goal.target_tokens)
        for item in working.superseded:
            yield gc.GCRemovalItem.trim(item, reason="shown again", phase="superseded")
        units = [unit for unit in context.collectable if not working.keeps(unit, room)]
        old = [unit for unit in units if not context.is_recent(unit)]
        steps = [unit for unit in units if context.is_recent(unit) and unit.is_step]
        in_use = [unit for unit in context.collectable if working.keeps(unit, room)]
        said = [unit for unit in context.preservable if not unit.is_summary]
        yield from self._summary(context, old, "old turns")
        yield from self._summary(context, steps, "recent steps")
        for unit in sorted(in_use, key=working.disuse, reverse=True) if context.can_summarize else ():
            yield gc.GCRemovalItem.drop(unit, reason="its file is the least in use", phase="files in use")
        for unit in context.preservable:
            if unit.is_summary:
                yield gc.GCRemovalItem.drop(unit, reason="oldest summary, under pressure", phase="under pressure")
        yield from self._summary(context, said, "under pressure")

    def _summary(self, context: gc.ContextView, units: Sequence[gc.Unit], phase: str) -> Iterator[gc.GCRemovalItem]:
        if units:
            yield gc.GCRemovalItem.summarize(
                units, max_tokens=self.max_summary_tokens, keep=self.keep, reason="oldest", phase=phase
            )
        for unit in units if context.can_summarize else ():
            yield gc.GCRemovalItem.drop(unit, reason="too little for a summary", phase=phase)


@gc.hookimpl
def gc_register_strategies(register: gc.RegisterStrategy) -> None:
    """Offer Summarize as ``gc_summarize``."""
    register("gc_summarize", Summarize)
