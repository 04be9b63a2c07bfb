"""What a session tells those who listen."""

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
    """A collection is done and its result is in effect."""

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


@attrs.frozen(kw_only=True)
class LayerChanged:
    """
    A layer at the head of the request is another one than was sent.

    Attributes:
        source: Name of its source.
        part: Its name there; of tool schemas the names of those that came, left or changed, joined by commas.
        layer: Stability of the source.
        waits: It takes effect with the next break that happens anyway; else it is in effect.
        invalidates: What of a request the provider reads again for it: of tools, system, messages.
        tokens: So many of them, uncalibrated: from the change on, as the window stands now.

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
    A text at the head of the request looks as if it were another one next time; each time it breaks the prompt cache.

    Attributes:
        source: Name of its source.
        part: Its name there.
        excerpt: What was found, in at most 80 letters.
        why: What it looks like.

    """

    source: str
    part: str
    excerpt: str
    why: str


@attrs.frozen(kw_only=True)
class RereadNoticed:
    """
    The agent, or a prompt, asks for what was collected, or a call repeats without anything new; the agent is told.

    ``kind`` is "asked" or "repeated"; ``what`` names the words or the call, ``times`` how often it came, ``item`` where
    it stands ("" for the system text).
    """

    kind: str
    what: str
    times: int
    item: str


@attrs.frozen(kw_only=True)
class RateExceeded:
    """
    The calls of the last minute took more than ``tpm_budget``; told when it is crossed, and refused by no one.

    Attributes:
        tokens: Tokens of the last minute that count for the provider's limit.
        budget: Tokens a minute that it allows.

    """

    tokens: int
    budget: int


@attrs.frozen(kw_only=True)
class SpendNotice:
    """
    Nine tenths of ``max_total_tokens`` are spent, and the agent was told to finish; once for each limit.

    Attributes:
        spent: Input and output tokens of all calls of the session.
        allowed: The limit.

    """

    spent: int
    allowed: int


@attrs.frozen(kw_only=True)
class StateCut:
    """
    Demands or decisions in effect did not fit into the text of the task's state; told when their number changes.

    Attributes:
        left_out: How many of them, by kind: ``constraints``, ``decisions``. ``session.state`` holds them all.
        tokens: Tokens that the text has.

    """

    left_out: Mapping[str, int]
    tokens: int


@attrs.frozen(kw_only=True)
class ProviderCompacted:
    """
    A reply held the provider's own compaction: it stands for everything before it, which left the window.

    The log keeps it all. What was LOCKED or pinned is sent again, at the end of the next request.

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
"""Called for every event, in the order in which things happen; what it raises is kept in ``plugins.failures``."""
