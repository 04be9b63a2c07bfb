"""What a session tells those who listen."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from gc_core.results import GCResult, Goal


@attrs.frozen(kw_only=True)
class CollectionStarted:
    """A collection begins."""

    goal: Goal


@attrs.frozen(kw_only=True)
class CollectionFinished:
    """A collection is done and its result is in force."""

    result: GCResult


@attrs.frozen(kw_only=True)
class CollectionDeferred:
    """A collection could free too little to be worth a break of the prompt cache; nothing has changed."""

    result: GCResult


@attrs.frozen(kw_only=True)
class CollectionFailed:
    """A collection failed; session, budget and history are as they were."""

    goal: Goal
    error: BaseException


@attrs.frozen(kw_only=True)
class BudgetUpdated:
    """The budget changed: tokens of the request now, and usage in percent of the usable window."""

    tokens: int
    utilisation: float


@attrs.frozen(kw_only=True)
class ThresholdCrossed:
    """While the reply streamed, usage passed the threshold; at most once a model call. Percent of the usable window."""

    usage: float
    threshold: float


@attrs.frozen(kw_only=True)
class MessageRepaired:
    """A message would have been refused by the provider: what was wrong and what was made of it."""

    kind: str
    text: str


Event = (
    CollectionStarted
    | CollectionFinished
    | CollectionDeferred
    | CollectionFailed
    | BudgetUpdated
    | ThresholdCrossed
    | MessageRepaired
)

Listener = Callable[[Event], None]
"""Called for every event, in the order in which things happen; what it raises is kept in ``plugins.failures``."""
