"""One plugin, two strategies, and a summarizer: what a distribution may offer."""

import attrs

import gc_core as gc


@attrs.frozen
class ResultsFirst:
    """Old tool results shrink to their references."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for item in context.stubbable:
            yield gc.GCRemovalItem.stub(item, keep=0.05, reason="old result", phase="results")


@attrs.frozen
class StepsNext:
    """The oldest units go."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for unit in context.collectable:
            yield gc.GCRemovalItem.drop(unit, reason="oldest", phase="units")


@attrs.frozen
class OneLine:
    """What was called, in one line."""

    prefix: str = attrs.field(default="So far", validator=attrs.validators.instance_of(str))

    def summarize(self, request):
        calls = [item.name for item in request.items if item.kind is gc.ItemKind.TOOL_CALL]
        return f"{self.prefix} {len(calls)} tools were called: {', '.join(dict.fromkeys(calls))}."


@gc.hookimpl
def gc_register_strategies(register):
    register("results_first", ResultsFirst)
    register("steps_next", StepsNext)


@gc.hookimpl
def gc_register_summarizers(register):
    register("one_line", OneLine)
