"""A session's description of itself: usage, limits, what occupies the window, and what happens next."""

from __future__ import annotations

from collections.abc import Iterator

from gc_core.collector.scheduler import Moment
from gc_core.providers.contract import TokenCounter
from gc_core.session.core import SessionCore
from gc_core.values.items import ItemKind
from gc_core.values.results import GCTriggerReason
from gc_core.window.budget import InstructionBudget
from gc_core.window.context import Context

_ROUGH = {
    ItemKind.TOOL_SCHEMA: "tool schemas",
    ItemKind.TOOL_CALL: "tool calls",
    ItemKind.THINKING: "thinking",
    ItemKind.ATTACHMENT: "attachments",
}
_TEXTS = frozenset({ItemKind.SYSTEM_TEXT, ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT})


def explain(core: SessionCore) -> str:
    """Return the lines of ``explain``."""
    lines = [*_usage_lines(core), *core.head.lines(), *core.provider.cleared_lines(), *core.leases.lines()]
    if debt := core.meter.debt:
        lines.append(str(debt))
    core.spend.follow()
    lines.extend(filter(None, [core.meter.pace.words()]))
    lines.extend([*core.provider.kept_lines(), *_last_lines(core)])
    with core.runtime.plugins.guarded("ledger", "accounts"):  # the rest does not depend on it
        lines.extend(core.cache_report().words())
    lines.extend(str(failure) for failure in core.runtime.plugins.failures)
    return "\n".join(lines)


def _usage_lines(core: SessionCore) -> list[str]:
    moment, scheduler, runtime = core.meter.moment(), core.meter.scheduler, core.runtime
    budget, counter, usable = runtime.context.budget, runtime.counter, runtime.config.usable
    how = _how(counter, runtime.context)
    lines = [
        f"{moment.estimated:,} of {usable:,} tokens ({scheduler.usage(moment):.1f} %), {how}",
        _parts(budget, moment),
        _next_step(core, moment),
    ]
    profile = core.archive.profile
    if not profile.is_neutral:
        lines.append(f"long texts are shortened by the profile {profile.name}")
    counted, outside = core.renderer.counted, core.collections.answering.counter
    if counted is not None and outside is not None:
        own, reported = counted
        lines.append(f"{outside.name} counted {reported:,} tokens, gc-core {own:,}")
    return lines


def _how(counter: TokenCounter, context: Context) -> str:
    """Say how the tokens are counted."""
    if not counter.exact:
        return f"estimated by {counter.name}"
    rough = ", ".join(_rough(context))
    return f"counted by {counter.name}; {rough} only roughly" if rough else f"counted exactly by {counter.name}"


def _rough(context: Context) -> Iterator[str]:
    """Yield what is counted by a rule, because no vendor says how the model reads it."""
    kinds = {item.kind for item in context.items()}
    yield from (words for kind, words in _ROUGH.items() if kind in kinds)
    sent = [context.system, *(message.items for message in context.messages)]
    if any(sum(item.kind in _TEXTS for item in items) > 1 for items in sent):
        yield "messages with several texts"


def _parts(budget: InstructionBudget, moment: Moment) -> str:
    """The parts that add up to the tokens of the first line."""
    parts = {
        "locked": budget.locked,
        "preservable": budget.preservable,
        "collectable": budget.eligible,
        "framing": budget.overhead,
    }
    words = [f"{name} {tokens:,}" for name, tokens in parts.items()]
    correction = moment.estimated - moment.tokens
    return ", ".join(words) + (f", correction {correction:+,}" if correction else "")


def _last_lines(core: SessionCore) -> list[str]:
    """Return the lines on the last collection and on the price of its break of the prefix."""
    last, meter = core.collections.last_result, core.meter
    if last is None:
        return []
    lines = [
        (
            f"last collection ({last.reason.value}): from {last.tokens_before:,} to {last.tokens_after:,} tokens,"
            f" removals: {len(last.removals)}{'; ' + last.note if last.note else ''}"
        )
    ]
    if meter.weighed and not meter.debt.deferred_tokens and last.reason is not GCTriggerReason.CONTEXT_LIMIT:
        lines.append(f"its break of the prompt cache: {meter.weighed}")
    return lines


def _next_step(core: SessionCore, moment: Moment) -> str:
    config, scheduler, waits_above = core.runtime.config, core.meter.scheduler, core.meter.waits_above
    if not config.auto_trigger:
        return "collects only when asked"
    if core.provider.kept_at:
        return "collects nothing"
    if waits_above > moment.tokens:
        return f"the last collection would have freed too little; the next is tried above {waits_above:,} tokens"
    begins, ends = f"{scheduler.begins_percent:.4g} %", f"down to {scheduler.target_percent:.4g} %"
    when = f"each call above {begins} collects" if config.continuous else f"the next collection starts at {begins}"
    young = scheduler.young
    early = "" if young is None else f", and earlier once the agent has consumed {young.tokens:,} tokens of results"
    return f"{when}, {ends}{early}"
