"""One collection of plain messages, without a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gc_core.answering import driven
from gc_core.config import GCConfig
from gc_core.protocols import GCStrategy, Summarizer
from gc_core.session import GCSession


def compact(
    messages: Iterable[Any],
    budget: int,
    *,
    strategy: GCStrategy | str = "gc_truncate",
    format: str = "openai",  # noqa: A002 - the word users know it by
    model: str | None = None,
    summarizer: Summarizer | None = None,
) -> list[Any]:
    """
    The messages in at most ``budget`` tokens, valid for the provider; unchanged when they fit.

    The last messages stand as they are: the final user message or tool results are what the model is to answer, and
    calls that still wait for their results go on waiting.
    Raises ContextOverflowError when what may not be removed is larger than the budget, MessageError for a malformed
    message, UnknownStrategyError for a strategy that is not installed.
    """
    config = GCConfig(
        context_limit=budget, output_reservation=0, threshold_percent=100, target_percent=100, pressure_percent=100
    )
    with GCSession(config, strategy=strategy, format=format, model=model, summarizer=summarizer) as session:
        session.extend(messages)
        return list(driven(session._fitting(), session._answering.ask).messages)
