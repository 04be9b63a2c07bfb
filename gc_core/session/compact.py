"""One collection of plain messages, without a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from gc_core.session.session import GCSession
from gc_core.values.config import GCConfig
from gc_core.values.items import ItemKind
from gc_core.values.protocols import GCStrategy, Summarizer

_AGAIN_PERCENT = 96.0
"""
Percent of the budget that a collection goes down to where the list was collected before: with less room to spare every
call would collect again, and break the prompt cache each time.
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
    Return the messages in at most ``budget`` tokens, valid for the provider; the very same ones when they fit.

    ``system`` text and ``tools`` that are sent beside the messages count. Everything but room and percentages is as
    ``config`` says; without one the strategy is ``gc_truncate``. Call it once a turn with what it returned and what
    came since: notices, summaries and shortened messages of its own are known again, and nothing wears away that there
    is room for. At least nine tenths of the budget are used where there is so much.

    The last messages stand as they are: the final user message or tool results are what the model is to answer, and
    calls that still wait for their results go on waiting. Nothing can be recalled afterwards, so what is left out is
    told without ids; a session keeps everything.

    Raises ContextOverflowError when what may not be removed is larger than the budget, MessageError for a malformed
    message, ConfigError for a strategy or format that there is no.
    """
    given = list(messages)
    settled = attrs.evolve(
        config or GCConfig(strategy="gc_truncate"),
        context_limit=budget,
        output_reservation=0,
        threshold_percent=100,
        target_percent=100,
        pressure_percent=100,
        max_turns=None if config is None else config.max_turns,
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
        """Return the messages, once what does not fit has been collected down to the target."""
        request = self._run(self._core.compacting(target_percent))
        # The system text may stand among the messages of a request, but it is none of the caller's.
        return list(request.messages[len(request.messages) - len(self._core.runtime.context.messages) :])
