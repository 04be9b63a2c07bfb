"""
A rolling window: consumed output shrinks while it is young, and files in use stay whole.

Use it for long-running agents. Output of commands and searches is snipped to its important lines near the end of the
prompt, where a break of the prompt cache is cheap; the whole window is collected rarely, and deep. A file stays whole
while the agent works on it, because an edit has to quote its lines; the longest untouched shrinks first, all its views
together. It loses the wording of old tool output, of which it keeps whole lines, and of old steps, which leave a line.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

import gc_core as gc
from gc_core import WorkingFile

_ROOM = 150
"""Tokens that every snip may have, if that is no more than ``_MOST`` of the original."""
_MOST = 0.7

_FILE_ROOM = 60
"""The same for a view whose file shrinks: its reference, its path and a line or two."""

_LEAST_CALL = 150
"""Tokens of arguments worth a snip: short commands are run again, verbatim."""


def _whole(least: int) -> Any:
    return [attrs.validators.instance_of(int), attrs.validators.ge(least)]


_NUMBER = attrs.validators.instance_of((int, float))
_SHARE: Any = [_NUMBER, attrs.validators.ge(0), attrs.validators.lt(1)]
_FLAG = attrs.validators.instance_of(bool)


@attrs.frozen(kw_only=True)
class Rolling:
    """Snips young output as soon as it has been consumed; the least used files shrink, each as a whole."""

    snip_after: int = attrs.field(default=2, validator=_whole(0))
    snip_least: int = attrs.field(default=60, validator=_whole(1))
    keep: float = attrs.field(default=0.25, validator=_SHARE)
    keep_of_file: float = attrs.field(default=0.05, validator=_SHARE)
    files_share: float = attrs.field(default=0.65, validator=_SHARE)
    nursery_tokens: int = attrs.field(default=4_000, validator=_whole(0))
    nursery_on_bound_thinking: bool = attrs.field(default=False, validator=_FLAG)
    target_percent: float = attrs.field(default=47.0, validator=gc.percent)
    base_tokens: int = attrs.field(default=10_000, validator=_whole(0))

    @property
    def triggers(self) -> tuple[gc.Trigger, ...]:
        """The nursery, and the depth of a collection of the whole window."""
        major = gc.Major(target_percent=self.target_percent, base_tokens=self.base_tokens)
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
        """Propose snips of consumed output; for the whole window also old views, unused files and drops."""
        if goal.is_young:
            yield from self._snips(context, context.young, "nursery")
            return
        working, room = context.working_set, int(self.files_share * goal.target_tokens)
        yield from _enrichment(context)
        for item in working.superseded:
            yield gc.GCRemovalItem.trim(item, reason="shown again", phase="superseded")
        yield from self._snips(context, [item for item in context.stubbable if not working.holds(item)], "snip")
        yield from self._files(working.beyond(room))
        in_use = [unit for unit in context.collectable if working.keeps(unit, room)]
        for unit in context.collectable:
            if not working.keeps(unit, room):
                yield gc.GCRemovalItem.drop(unit, reason="oldest of what may go", phase="drop")
        for unit in sorted(in_use, key=working.disuse, reverse=True):
            yield gc.GCRemovalItem.drop(unit, reason="its file is the least in use", phase="drop")
        if goal.pressure:
            # The oldest summaries go before anything that a user said.
            for unit in sorted(context.preservable, key=lambda unit: not unit.is_summary):
                yield gc.GCRemovalItem.drop(unit, reason="under pressure", phase="preservable")

    def _snips(self, context: gc.ContextView, items: Iterable[gc.Item], phase: str) -> Iterator[gc.GCRemovalItem]:
        """Yield superseded and repeated content first, then the oldest."""
        ages = {unit.number: context.age(unit) for unit in context.units}
        served = [item for item in items if item.tokens >= self._least(item) and ages[item.unit] >= self.snip_after]
        stale = {item.id for item in served if context.liveness.superseded(item)}
        for item in sorted(served, key=lambda item: item.id not in stale):
            reason = "superseded" if item.id in stale else "served"
            # A snip of a short text keeps a larger share: otherwise only the reference would be left.
            keep = max(self.keep, min(_MOST, _ROOM / item.tokens))
            yield gc.GCRemovalItem.snip(item, keep=keep, reason=reason, phase=phase)

    def _least(self, item: gc.Item) -> int:
        return max(self.snip_least, _LEAST_CALL) if item.kind is gc.ItemKind.TOOL_CALL else self.snip_least

    def _files(self, files: Iterable[WorkingFile]) -> Iterator[gc.GCRemovalItem]:
        """Yield all views of a file together: half of a view is no more useful than none."""
        for file in files:
            for item in file.items:
                reason = f"its file was last named {file.idle} steps ago"
                yield gc.GCRemovalItem.snip(
                    item,
                    keep=max(self.keep_of_file, min(_MOST, _FILE_ROOM / item.tokens)),
                    reason=reason,
                    phase="files",
                )


def _enrichment(context: gc.ContextView) -> Iterator[gc.GCRemovalItem]:
    """Yield all enrichment at once: it is produced again every turn."""
    units = [unit for unit in context.collectable if all(item.source == "enrichment" for item in unit.items)]
    if units:
        yield gc.GCRemovalItem.drop(*units, reason="made anew every turn", phase="enrichment")


@gc.hookimpl
def gc_register_strategies(register: gc.RegisterStrategy) -> None:
    """Offer Rolling as ``gc_rolling``."""
    register("gc_rolling", Rolling)
