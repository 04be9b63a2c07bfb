"""The application log's records of a session's events. They contain no text of the conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from gc_core.events import (
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
from gc_core.values.loggers import logger
from gc_core.values.removals import action_of
from gc_core.values.results import GCResult

_log = logger("gc_core.session")


def log_event(event: Event) -> None:
    """Log an event of the running session; budget changes, one per message, are not logged."""
    log = _LOGGERS.get(type(event))
    if log is not None:
        log(event)


def log_plan(result: GCResult) -> None:
    """Log the removals of a plan by form, and its refusals."""
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


def _collection_began(event: CollectionStarted) -> None:
    goal = event.goal
    _log.debug(
        "collection began",
        reason=goal.reason.value,
        usage_percent=round(goal.window_percent, 1),
        target_tokens=goal.target_tokens,
        pressure=goal.pressure,
    )


def _collection_finished(event: CollectionFinished) -> None:
    result = event.result
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


def log_skipped(result: GCResult, *, again: bool) -> None:
    """
    Log why a collection did nothing; ``again``: it did nothing for the same reason before, and may
    with each call.
    """
    log = _log.debug if again else _log.info
    log(
        "collection skipped",
        reason=result.reason.value,
        tokens=result.tokens_before,
        target_tokens=result.target_tokens,
        protected_tokens=result.protected_tokens,
        why=result.note,
    )


def _collection_failed(event: CollectionFailed) -> None:
    error = type(event.error).__name__
    _log.warning("collection failed", reason=event.goal.reason.value, error=error, why=_short(event.error))


def _layer_changed(event: LayerChanged) -> None:
    _log.info(
        "layer changed",
        source=event.source,
        part=_short(event.part),
        layer=event.layer,
        waits=event.waits,
        invalidated_tokens=event.tokens,
    )


def _layer_volatile(event: VolatileLayer) -> None:
    _log.warning("layer is volatile", source=event.source, part=event.part, excerpt=event.excerpt, why=event.why)


def _message_repaired(event: MessageRepaired) -> None:
    _log.warning("message repaired", kind=event.kind, text=event.text)


def _threshold_crossed(event: ThresholdCrossed) -> None:
    _log.debug("threshold crossed", usage_percent=round(event.usage, 1), threshold_percent=round(event.threshold, 1))


def _rate_exceeded(event: RateExceeded) -> None:
    _log.warning("rate exceeded", tokens_per_minute=event.tokens, budget_tokens_per_minute=event.budget)


def _spend_limit_near(event: SpendNotice) -> None:
    _log.warning("spend limit is near", spent_tokens=event.spent, allowed_tokens=event.allowed)


def _state_cut(event: StateCut) -> None:
    _log.info("task state cut", left_out=sum(event.left_out.values()), tokens=event.tokens)


def _circle_noticed(event: RereadNoticed) -> None:
    _log.warning("circle noticed", kind=event.kind, times=event.times, item=event.item)


def _provider_compacted(event: ProviderCompacted) -> None:
    _log.info("provider compacted", tokens_before=event.tokens_before, tokens_after=event.tokens_after)


_LOGGERS: Mapping[type[Event], Callable[[Any], None]] = {
    CollectionStarted: _collection_began,
    CollectionFinished: _collection_finished,
    CollectionFailed: _collection_failed,
    LayerChanged: _layer_changed,
    VolatileLayer: _layer_volatile,
    MessageRepaired: _message_repaired,
    ThresholdCrossed: _threshold_crossed,
    RateExceeded: _rate_exceeded,
    SpendNotice: _spend_limit_near,
    StateCut: _state_cut,
    RereadNoticed: _circle_noticed,
    ProviderCompacted: _provider_compacted,
}
