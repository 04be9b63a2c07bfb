"""
A plugin that was written when the contract was frozen. It is never changed: what it does has to work for good.

It takes part in everything that there was: each hook with all its arguments, each protocol, ``collect`` with two
parameters by position, and imports ``gc_core`` alone.
"""

import attrs

import gc_core as gc

HEARD = []
"""Names of the hooks that were called."""

SHELVES = {}


@attrs.frozen
class Vintage:
    """Old results shrink first, then old units go, the least important first."""

    keep: float = attrs.field(default=0.2, validator=[attrs.validators.ge(0), attrs.validators.le(1)])
    triggers: tuple[gc.Trigger, ...] = (
        gc.Major(target_percent=50.0, conversation_percent=90.0, relief_percent=80.0),
        gc.Young(tokens=2_000, steps=2, least=200),
        gc.Hot(),
        gc.Steps(),
        gc.Spend(tokens=1_000_000),
        gc.ObjectiveChange(),
    )

    def collect(self, context, goal):  # noqa: C901 - it asks for everything that can be asked for
        """Propose removals, most welcome first."""
        if goal.is_young:
            for item in context.young:
                yield gc.GCRemovalItem.stub(item, keep=self.keep, reason="served", phase="young")
            return
        for item in context.stubbable:
            if not context.liveness.last_carried(item) or context.liveness.superseded(item):
                yield gc.GCRemovalItem.stub(item, keep=0.0, reason="nothing of it is needed", phase="dead")
            elif context.liveness.reuse(item) == 0 and context.distance(item) is None:
                yield gc.GCRemovalItem.stub(item, keep=self.keep, reason="long", phase="long")
        units = [unit for unit in context.collectable if not context.is_recent(unit)]
        for unit in sorted(units, key=lambda unit: (self._worth(context, unit), -context.age(unit))):
            yield gc.GCRemovalItem.drop(unit, reason="least important")
        if context.can_summarize and len(context.collectable) > 1:
            known = [unit for unit in context.collectable if unit.number > 0]
            yield gc.GCRemovalItem.summarize(known[:2], max_tokens=100, reason="old")
        for unit in context.collectable:
            if context.is_recent(unit):
                yield gc.GCRemovalItem.drop(unit, reason="oldest of the newest")
        if goal.pressure:
            for unit in context.preservable:
                yield gc.GCRemovalItem.drop(unit, reason="pressure")

    def _worth(self, context, unit):
        worth = max(context.importance(item) for item in unit.items)
        return worth + sum(name in context.objective for name in context.missing) + len(context.search("x", 1))


@attrs.frozen
class VintageSummarizer:
    """What was called, in one line."""

    prefix: str = "So far"

    def summarize(self, request):
        """The summary."""
        calls = [item.name for item in request.items if item.kind is gc.ItemKind.TOOL_CALL]
        return f"{self.prefix}, turns {request.first_turn} to {request.last_turn}: {len(calls)} tools were called."


class VintageScorer:
    """The newer, the better."""

    def score(self, item, window):
        """How much the item matters."""
        relevance = window.relevance(item)
        return (window.recency(item) + (0.5 if relevance is None else relevance)) / 2


class VintageExtractor:
    """What the user demands, word for word."""

    def extract(self, state, items, objective):
        """The state with these items."""
        new = tuple(
            gc.Constraint(text=item.text[:80], item=item.id, turn=item.turn)
            for item in items
            if item.kind is gc.ItemKind.USER_TEXT and "must" in item.text
        )
        return attrs.evolve(state, objective=objective or state.objective, constraints=(*state.constraints, *new)[-9:])


class VintageBackend:
    """A dict by directory."""

    def __init__(self, directory):
        self.shelf = SHELVES.setdefault(str(directory), {})

    def write(self, key, data):
        """Keep it."""
        self.shelf[key] = data

    def read(self, key):
        """What was kept."""
        return self.shelf.get(key)

    def delete(self, key):
        """Forget it."""
        self.shelf.pop(key, None)

    def keys(self, prefix=""):
        """What is kept."""
        return sorted(key for key in self.shelf if key.startswith(prefix))


class VintageMiddleware:
    """A user's long line keeps its head."""

    @gc.hookimpl(specname="gc_process_message")
    def process(self, message):
        """The message, or None."""
        HEARD.append("gc_process_message")
        content = message.get("content")
        if message.get("role") != "user" or not isinstance(content, str):
            return None
        return {**message, "content": "\n".join(line[:5_000] for line in content.split("\n"))}


class VintageValidator:
    """Short is good."""

    def validate(self, request, text):
        """Complaints."""
        return [] if request.count(text) <= request.max_tokens else ["too long"]


PROFILE = gc.CompressionProfile(
    name="vintage",
    high_importance=("file_path", "error_message"),
    low_importance=("verbose_log",),
    preserve_verbatim=("code_snippet",),
    tool_output_trim={"file_read": 2_000},
)

SOURCE = gc.InstructionSource(name="vintage", policy=gc.GCPolicy.PRESERVABLE, layer=15, cap=500)


@gc.hookimpl
def gc_register_strategies(register):
    register("vintage", Vintage)


@gc.hookimpl
def gc_register_summarizers(register):
    register("vintage", VintageSummarizer)


@gc.hookimpl
def gc_register_scorers(register):
    register("vintage", VintageScorer)


@gc.hookimpl
def gc_register_profiles(register):
    register(PROFILE)


@gc.hookimpl
def gc_register_memory_backends(register):
    register("vintage", VintageBackend)


@gc.hookimpl
def gc_register_extractors(register):
    register("vintage", VintageExtractor)


@gc.hookimpl
def gc_register_sources():
    return [SOURCE]


@gc.hookimpl
def gc_classify(item, age, reuse):
    HEARD.append("gc_classify")
    return gc.GCPolicy.PRESERVABLE if item.name == "ask_user" and age + reuse < 10 else None


@gc.hookimpl
def gc_review_plan(plan):
    HEARD.append("gc_review_plan")
    return [gc.Refusal(removal=each, why="vintage") for each in plan.removals if "precious" in each.reason]


@gc.hookimpl
def gc_promote(context, goal):
    HEARD.append("gc_promote")
    found = context.search(context.objective, limit=1) if goal.target_tokens else ()
    return [gc.ColdItem(item=each.item, relevance=0.1, reason="perhaps") for each in found]


@gc.hookimpl
def gc_summary_written(request, text):
    HEARD.append("gc_summary_written")
    return [item.id for item in request.items if item.name == "precious" and text]


@gc.hookimpl
def gc_validate_reply(reply, context):
    HEARD.append("gc_validate_reply")
    return gc.Inconsistency(why="it says so", items=()) if "inconsistent" in str(reply) and context.tokens else None


@gc.hookimpl
def gc_redact(text):
    HEARD.append("gc_redact")
    return text.replace("hunter2", "****") if "hunter2" in text else None


@gc.hookimpl
def gc_collection_started(goal):
    HEARD.append(f"gc_collection_started {goal.reason.value}"[:21])


@gc.hookimpl
def gc_collection_finished(result):
    HEARD.append(f"gc_collection_finished {result.tokens_freed}"[:22])


@gc.hookimpl
def gc_collection_failed(goal, error):
    HEARD.append(f"gc_collection_failed {goal} {error}"[:20])


@gc.hookimpl
def gc_budget_updated(budget):
    HEARD.append(f"gc_budget_updated {budget.total}"[:17])


@gc.hookimpl
def gc_request_rendered(request):
    HEARD.append(f"gc_request_rendered {request.tokens}"[:19])
