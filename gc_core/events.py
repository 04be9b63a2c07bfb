"""The events that a session emits to its listeners."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from gc_core.values.results import GCResult, Goal


@attrs.frozen(kw_only=True)
class CollectionStarted:
    """A collection begins."""

    goal: Goal


@attrs.frozen(kw_only=True)
class CollectionFinished:
    """A collection has been committed. ``collection`` is its id in the log, ``gc_collection``."""

    result: GCResult
    collection: str = ""


@attrs.frozen(kw_only=True)
class CollectionDeferred:
    """A collection would have freed too little to be worth a break of the prompt cache; nothing has changed."""

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
    """
    Usage passed the threshold while the reply streamed; emitted at most once per model call. In percent of the usable
    window.
    """

    usage: float
    threshold: float


@attrs.frozen(kw_only=True)
class MessageRepaired:
    """The provider would have refused a message: what was wrong, and what it was changed to."""

    kind: str
    text: str


@attrs.frozen(kw_only=True)
class LayerChanged:
    """
    A layer at the head of the request differs from the one that was sent.

    Attributes:
        source: Name of its source.
        part: Its name in the source; for tool schemas the names of those added, removed or changed, joined by commas.
        layer: Stability of the source.
        waits: It takes effect with the next break that happens anyway; if false, it is already in effect.
        invalidates: The levels of a request that the provider has to read again: tools, system, messages.
        tokens: Their tokens, uncalibrated: everything from the change on, in the current window.

    """

    source: str
    part: str
    layer: int
    waits: bool
    invalidates: tuple[str, ...]
    tokens: int


@attrs.frozen(kw_only=True)
class VolatileLayer:
    """
    A text at the head of the request looks as if it will differ next time; each change breaks the prompt cache.

    Attributes:
        source: Name of its source.
        part: Its name there.
        excerpt: The text found, at most 80 characters.
        why: What it looks like.

    """

    source: str
    part: str
    excerpt: str
    why: str


@attrs.frozen(kw_only=True)
class RereadNoticed:
    """
    The agent, or a prompt, asks for content that was collected, or a call repeats with nothing new; the agent is
    warned. ``kind`` is "asked" or "repeated"; ``what`` is the words or the call, ``times`` how often it occurred,
    ``item`` the item that contains it ("" for the system text).
    """

    kind: str
    what: str
    times: int
    item: str


@attrs.frozen(kw_only=True)
class RateExceeded:
    """
    The calls of the last minute used more tokens than ``tpm_budget``; emitted when the budget is exceeded. No call is
    refused.

    Attributes:
        tokens: Tokens of the last minute that count for the provider's limit.
        budget: Tokens per minute that the budget allows.

    """

    tokens: int
    budget: int


@attrs.frozen(kw_only=True)
class SpendNotice:
    """
    Nine tenths of ``max_total_tokens`` are spent, and the agent was asked to finish; once per limit.

    Attributes:
        spent: Input and output tokens of all calls of the session.
        allowed: The limit.

    """

    spent: int
    allowed: int


@attrs.frozen(kw_only=True)
class StateCut:
    """
    Demands or decisions in effect did not fit into the text of the task state; emitted when their number changes.

    Attributes:
        left_out: How many of them, by kind: ``constraints``, ``decisions``. ``session.state`` holds them all.
        tokens: Size of the text.

    """

    left_out: Mapping[str, int]
    tokens: int


@attrs.frozen(kw_only=True)
class ProviderCompacted:
    """
    A reply contained the provider's own compaction, which replaces everything before it in the window.

    The log keeps all of it. Content that was LOCKED or pinned is sent again at the end of the next request.

    Attributes:
        tokens_before: Tokens of the request before, uncalibrated.
        tokens_after: Tokens of the request after, the reply included.

    """

    tokens_before: int
    tokens_after: int


Event = (
    CollectionStarted
    | CollectionFinished
    | CollectionDeferred
    | CollectionFailed
    | BudgetUpdated
    | ThresholdCrossed
    | RateExceeded
    | SpendNotice
    | StateCut
    | MessageRepaired
    | ProviderCompacted
    | LayerChanged
    | VolatileLayer
    | RereadNoticed
)

Listener = Callable[[Event], None]
"""Called for every event, in order; what a listener raises is kept in ``plugins.failures``."""
