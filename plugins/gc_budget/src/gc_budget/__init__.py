"""
The weakest policy goes first, and stubs keep the important lines.

Use it for long-lived agents. Five phases in strict order, ended as soon as the goal is met: enrichment in bulk, other
EPHEMERAL content as stubs, old turns and steps, PRESERVABLE content under pressure; LOCKED content never. It loses the
wording of old tool output, of which it keeps whole lines, and the model's old texts, which leave a trace.
"""

from collections.abc import Iterator, Mapping

import attrs

import gc_core as gc

_EXCLUDE = "exclude"
_STUBS = "1b ephemeral"
_LEAST = 200
"""Tokens below which nothing is stubbed: short results are mostly content (docs/measurements.md)."""
_ROOM = 150
"""Tokens that every stub may have, if that is no more than ``_MOST`` of the original."""
_MOST = 0.7

_FILE_ROOM = 60
"""The same for a view whose file shrinks: its reference, its path and a line or two."""
_LARGE = 2_000
"""Tokens from which a result is stubbed deeper before whole turns go."""


def _shares(_: object, field: "attrs.Attribute[Mapping[str, float | str]]", shares: Mapping[str, float | str]) -> None:
    for tool, share in shares.items():
        if share != _EXCLUDE and not (isinstance(share, (int, float)) and 0 <= share < 1):
            raise ValueError(f"{field.name}.{tool} = {share!r}: expected a share from 0 to below 1, or {_EXCLUDE!r}")


@attrs.frozen(kw_only=True)
class Budget:
    """Removes content with the weakest policy first, and keeps the important lines of what it shortens."""

    keep: float = attrs.field(default=0.45, validator=[attrs.validators.ge(0), attrs.validators.lt(1)])
    keep_of_file: float = attrs.field(default=0.05, validator=[attrs.validators.ge(0), attrs.validators.lt(1)])
    files_share: float = attrs.field(default=0.6, validator=[attrs.validators.ge(0), attrs.validators.lt(1)])
    stub_arguments: bool = attrs.field(default=True, validator=attrs.validators.instance_of(bool))
    tools: Mapping[str, float | str] = attrs.field(factory=dict, validator=_shares)

    def collect(self, context: gc.ContextView, goal: gc.Goal) -> Iterator[gc.GCRemovalItem]:
        """Propose removals in the order of the phases."""
        working, room = context.working_set, int(self.files_share * goal.target_tokens)
        yield from _enrichment(context)
        for item in filter(self._may_go, working.superseded):
            yield gc.GCRemovalItem.trim(item, reason="shown again", phase=_STUBS)
        yield from self._ephemeral(context)
        for file in working.beyond(room):
            for item in file.items:
                if self._may_go(item):
                    reason = f"its file was last named {file.idle} steps ago"
                    yield gc.GCRemovalItem.stub(
                        item,
                        keep=max(self.keep_of_file, min(_MOST, _FILE_ROOM / item.tokens)),
                        reason=reason,
                        phase=_STUBS,
                    )
        in_use = [unit for unit in context.collectable if working.keeps(unit, room)]
        for unit in context.collectable:
            if not working.keeps(unit, room):
                yield gc.GCRemovalItem.drop(unit, reason="oldest of what may go", phase="2 partial")
        for unit in sorted(in_use, key=working.disuse, reverse=True):
            yield gc.GCRemovalItem.drop(unit, reason="its file is the least in use", phase="2 partial")
        if goal.pressure:
            for unit in context.preservable:
                yield gc.GCRemovalItem.drop(unit, reason="under pressure", phase="3 preservable")

    def _ephemeral(self, context: gc.ContextView) -> Iterator[gc.GCRemovalItem]:
        """
        Yield superseded content first, then the oldest; if that does not suffice, large items once
        more and deeper.
        """
        items = [item for item in context.stubbable if self._may_go(item) and not context.working_set.holds(item)]
        stale = [item for item in items if context.liveness.superseded(item)]
        known = {item.id for item in stale}
        rest = [item for item in items if item.id not in known]
        for reason, group in (("superseded", stale), ("oldest", rest)):
            for item in group:
                yield gc.GCRemovalItem.stub(item, keep=self._share(item), reason=reason, phase=_STUBS)
        for item in items:
            if item.tokens >= _LARGE:
                yield gc.GCRemovalItem.stub(item, keep=self._share(item) / 3, reason="large and old", phase=_STUBS)

    def _may_go(self, item: gc.Item) -> bool:
        if item.kind is gc.ItemKind.TOOL_CALL and not self.stub_arguments:
            return False
        return item.tokens >= _LEAST and self.tools.get(item.name) != _EXCLUDE

    def _share(self, item: gc.Item) -> float:
        """Return the share a stub keeps: more for a short text, of which otherwise only the reference would be left."""
        share = self.tools.get(item.name)
        if isinstance(share, (int, float)):
            return share
        return max(self.keep, min(_MOST, _ROOM / item.tokens))


def _enrichment(context: gc.ContextView) -> Iterator[gc.GCRemovalItem]:
    """Yield all enrichment at once: it is produced again every turn."""
    units = [unit for unit in context.collectable if all(item.source == "enrichment" for item in unit.items)]
    if units:
        yield gc.GCRemovalItem.drop(*units, reason="made anew every turn", phase="1a enrichment")


@gc.hookimpl
def gc_register_strategies(register: gc.RegisterStrategy) -> None:
    """Offer Budget as ``gc_budget``."""
    register("gc_budget", Budget)
