"""One collection of plain messages, without a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from gc_core.errors import ConfigError, MessageError
from gc_core.session.session import GCSession
from gc_core.values.config import GCConfig, checked_config
from gc_core.values.items import ItemKind
from gc_core.values.protocols import GCStrategy, Summarizer
from gc_core.values.validators import check_text, is_count, listed

_AGAIN_PERCENT = 96.0
"""
Percent of the budget to which a list is collected that was collected before: with less headroom every call would
collect again, and break the prompt cache each time.
"""

_STAND_INS = frozenset({ItemKind.TRACE, ItemKind.SUMMARY})


def compact(
    messages: Iterable[Any],
    budget: int,
    *,
    strategy: GCStrategy | str | Sequence[GCStrategy | str] | None = None,
    format: str = "openai",  # noqa: A002 - the word users know it by
    system: str = "",
    tools: Iterable[Any] = (),
    config: GCConfig | None = None,
    model: str | None = None,
    summarizer: Summarizer | None = None,
) -> list[Any]:
    """
    Return the messages in at most ``budget`` tokens, valid for the provider; the same objects when they fit.

    ``system`` and ``tools``, which are sent in addition to the messages, count too. Everything except the budget and
    percentages follows ``config``; without one the strategy is ``gc_truncate``. No cache breakpoint is set: those of
    the list are its owner's. Call it once per turn with what it returned and the messages since: it recognises its own
    notices, summaries and shortened messages, and nothing that fits is lost. If there is that much content, strategies
    that drop and shorten use nine tenths of the budget or more; those that summarise may leave a quarter of it free.

    The final user message or tool results are what the model has to answer. They stay as they are while they fit,
    whatever else has to leave; otherwise they are shortened to their beginning and end. The original request, which
    is what users said before the first reply, is never shortened. Open calls keep waiting. Nothing can be recalled
    afterwards, so notices carry no ids; a session keeps everything.

    Raises ContextOverflowError when what may not be removed is larger than the budget, MessageError for a malformed
    message, ConfigError for a wrong budget, strategy, format or ``config``.
    """
    given = list(listed("messages", messages, "messages", error=MessageError))
    if not is_count(budget, 1):
        raise ConfigError(f"budget = {budget!r:.200}: expected the most tokens, a whole number of at least 1")
    check_text("system", system)
    settled = attrs.evolve(
        checked_config(config),
        context_limit=budget,
        output_reservation=0,
        token_budget=None,
        threshold_percent=100,
        target_percent=100,
        pressure_percent=100,
        cache_marks=False,
    )
    with _Fleeting(settled, strategy=strategy, format=format, model=model, summarizer=summarizer) as session:
        if system:
            session.system(base=system)
        session.tools(tools)
        session.extend(given)
        was_collected = any(item.kind in _STAND_INS for item in session.items())
        percent = _AGAIN_PERCENT if was_collected else 100.0
        sent = session.compacted(percent)
    return given if sent == given else sent


class _Fleeting(GCSession):
    """A session that ends with the call: nothing can be recalled from it."""

    _recalls = False

    def compacted(self, target_percent: float) -> list[Any]:
        """Collect down to the target if the messages do not fit, and return them."""
        request = self._run(self._core.compacting(target_percent))
        # The system text may be one of the request's messages, but the caller did not pass it as one.
        return list(request.messages[len(request.messages) - len(self._core.runtime.context.messages) :])
