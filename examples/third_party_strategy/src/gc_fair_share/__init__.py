"""
No tool may fill the window: the tool whose results take the most room gives way first.

For agents with one talkative tool among quiet ones. Results shrink to the lines that the window would lose otherwise;
when all have shrunk, the oldest units go. It loses the wording of what the talkative tool said.
"""

from collections import Counter, deque
from collections.abc import Iterator

import attrs

import gc_core as gc


@attrs.frozen(kw_only=True)
class FairShare:
    """
    The tool with the most tokens in its results gives way first, oldest result first.

    Attributes:
        keep: Share of its tokens that the stub of a result may keep at most.
        spare_below: Results of fewer tokens stay: a stub of them frees little.

    """

    keep: float = attrs.field(default=0.2, validator=[attrs.validators.ge(0), attrs.validators.lt(1)])
    spare_below: int = attrs.field(default=100, validator=attrs.validators.ge(0))

    def collect(self, context: gc.ContextView, goal: gc.Goal) -> Iterator[gc.GCRemovalItem]:
        """Propose results by their tools' shares, then units; gc-core stops pulling when the goal is met."""
        for item in self._by_share(context):
            yield gc.GCRemovalItem.stub(item, keep=self.keep, reason=f"{item.name} has the largest share")
        for unit in context.collectable:
            yield gc.GCRemovalItem.drop(unit, reason="oldest unit")
        if goal.pressure:
            for unit in context.preservable:
                yield gc.GCRemovalItem.drop(unit, reason="oldest, under pressure")

    def _by_share(self, context: gc.ContextView) -> Iterator[gc.Item]:
        results = [item for item in context.stubbable if item.kind is gc.ItemKind.TOOL_RESULT]
        waiting: dict[str, deque[gc.Item]] = {}
        tokens: Counter[str] = Counter()
        for item in results:
            tokens[item.name] += item.tokens
            if item.tokens >= self.spare_below:
                waiting.setdefault(item.name, deque()).append(item)
        while waiting:
            tool = max(waiting, key=lambda name: tokens[name])
            item = waiting[tool].popleft()
            tokens[tool] -= round(item.tokens * (1 - self.keep))
            if not waiting[tool]:
                del waiting[tool]
            yield item


@gc.hookimpl
def gc_register_strategies(register: gc.RegisterStrategy) -> None:
    """Offer FairShare as ``fair_share``."""
    register("fair_share", FairShare)
