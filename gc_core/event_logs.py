"""What the events of a session are called in the application's log. Nothing of it holds text of the conversation."""

from __future__ import annotations

from collections import Counter

from gc_core.actions import action_of
from gc_core.events import (
    CollectionDeferred,
    CollectionFailed,
    CollectionFinished,
    CollectionStarted,
    Event,
    LayerChanged,
    MessageRepaired,
    ProviderCompacted,
    RateExceeded,
    RereadNoticed,
    SpendNotice,
    StateCut,
    ThresholdCrossed,
    VolatileLayer,
)
from gc_core.logs import logger
from gc_core.results import GCResult, GCTriggerReason, Goal

_log = logger("gc_core.session")


def log_event(event: Event) -> None:
    """Log an event of the session that is at work."""
    match event:
        case CollectionStarted(goal=goal):
            _collection_began(goal)
        case CollectionFinished(result=result):
            _collection_finished(result)
        case CollectionDeferred(result=result):
            _collection_skipped(result)
        case CollectionFailed(goal=goal, error=error):
            _log.warning("collection failed", reason=goal.reason.value, error=type(error).__name__, why=_short(error))
        case LayerChanged() as changed:
            _layer_changed(changed)
        case VolatileLayer(source=source, part=part, excerpt=excerpt, why=why):
            _log.warning("layer is volatile", source=source, part=part, excerpt=excerpt, why=why)
        case MessageRepaired(kind=kind, text=text):
            _log.warning("message repaired", kind=kind, text=text)
        case _:
            _log_notice(event)


def log_plan(result: GCResult) -> None:
    """Log what a plan would take, by form, and what was refused of it."""
    if not _log.hears_debug:
        return
    forms = Counter(action_of(removal) for removal in result.removals)
    _log.debug(
        "plan made",
        reason=result.reason.value,
        tokens_freed=result.tokens_freed,
        **{f"{name}_removals": forms[form] for form, name in _FORMS.items()},
        items=sum(len(removal.items) for removal in result.removals),
        strategies=_strategies(result),
        note=result.note,
    )
    for why, refused in Counter(refusal.why for refusal in result.refusals).most_common(_MOST_REASONS):
        _log.debug("removals refused", removals=refused, why=_short(why))


_FORMS = {"drop": "dropping", "stub": "stubbing", "summarize": "summarizing", "digest": "digesting"}
_MOST_REASONS = 5
_MOST_CHARS = 200


def _short(text: object) -> str:
    return str(text)[:_MOST_CHARS]


def _strategies(result: GCResult) -> str:
    return ",".join(dict.fromkeys(removal.strategy for removal in result.removals if removal.strategy))


def _collection_began(goal: Goal) -> None:
    _log.debug(
        "collection began",
        reason=goal.reason.value,
        usage_percent=round(goal.window_percent, 1),
        target_tokens=goal.target_tokens,
        pressure=goal.pressure,
    )


def _collection_finished(result: GCResult) -> None:
    _log.info(
        "collection finished",
        reason=result.reason.value,
        tokens_before=result.tokens_before,
        tokens_after=result.tokens_after,
        tokens_freed=result.tokens_freed,
        target_tokens=result.target_tokens,
        shortfall_tokens=result.shortfall,
        removals=len(result.removals),
        refusals=len(result.refusals),
        summaries=len(result.summaries),
        strategies=_strategies(result),
        seconds=round(result.seconds, 3),
        note=result.note,
    )
    for summary in result.summaries:
        _log.info(
            "summary taken in",
            by=summary.by,
            first_item=summary.first,
            last_item=summary.last,
            tokens_before=summary.tokens_before,
            tokens_after=summary.tokens_after,
            attempts=summary.attempts,
        )


def _collection_skipped(result: GCResult) -> None:
    # In continuous mode this may come with each call, where nothing can be taken.
    tell = _log.debug if result.reason is GCTriggerReason.CONTINUOUS else _log.info
    tell(
        "collection skipped",
        reason=result.reason.value,
        tokens=result.tokens_before,
        target_tokens=result.target_tokens,
        protected_tokens=result.protected_tokens,
        why=result.note,
    )


def _layer_changed(changed: LayerChanged) -> None:
    _log.info(
        "layer changed",
        source=changed.source,
        part=_short(changed.part),
        layer=changed.layer,
        waits=changed.waits,
        invalidated_tokens=changed.tokens,
    )


def _log_notice(event: Event) -> None:
    match event:
        case ThresholdCrossed(usage=usage, threshold=threshold):
            _log.debug("threshold crossed", usage_percent=round(usage, 1), threshold_percent=round(threshold, 1))
        case RateExceeded(tokens=tokens, budget=budget):
            _log.warning("rate exceeded", tokens_per_minute=tokens, budget_tokens_per_minute=budget)
        case SpendNotice(spent=spent, allowed=allowed):
            _log.warning("spend limit is near", spent_tokens=spent, allowed_tokens=allowed)
        case StateCut(left_out=left_out, tokens=tokens):
            _log.info("task state cut", left_out=sum(left_out.values()), tokens=tokens)
        case RereadNoticed(kind=kind, times=times, item=item):
            _log.warning("circle noticed", kind=kind, times=times, item=item)
        case ProviderCompacted(tokens_before=before, tokens_after=after):
            _log.info("provider compacted", tokens_before=before, tokens_after=after)
        case _:
            pass  # the budget changes with each message
