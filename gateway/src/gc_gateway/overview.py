"""What a gateway shows of its lanes: frozen values, made from what each lane last knew."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Collected:
    """
    One collection.

    Attributes:
        id: Its id in the log.
        at: When, in seconds since 1970.
        reason: Why it ran.
        tokens_freed: Tokens that the request lost.

    """

    id: str
    at: float
    reason: str
    tokens_freed: int


@attrs.frozen(kw_only=True)
class Counts:
    """
    What was done. Tokens are gc-core's own counts of whole requests, except for those that the provider reported.

    Attributes:
        calls: Turns.
        passed: Those of them that were sent as they came, because they could not be collected for.
        collections: Collections.
        given_tokens: Tokens that would have been sent without collections; of what was left out, an estimate by its
            letters.
        sent_tokens: Tokens that were sent.
        cache_read_tokens: Tokens that the provider read from its cache, as it reported them.
        spent: USD for all calls whose usage the provider reported, and whose model has a price.
        spent_without: USD that the same calls would have cost with the clients' lists.

    """

    calls: int = 0
    passed: int = 0
    collections: int = 0
    given_tokens: int = 0
    sent_tokens: int = 0
    cache_read_tokens: int = 0
    spent: float = 0.0
    spent_without: float = 0.0

    def plus(self, other: Counts) -> Counts:
        """Return the sum of both."""
        names = [field.name for field in attrs.fields(Counts)]
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in names})


@attrs.frozen(kw_only=True)
class LaneView:
    """
    A lane as it was at one moment.

    Attributes:
        key: The name of its directory.
        name: The client's id of the conversation, or "".
        parent: The name of the lane of the agent that started this one, or "".
        client: What sends it.
        dialect: The dialect of its requests.
        model: The model of its last request.
        tokens: Tokens of its last request.
        limit: Tokens that a request may have; 0 before the first.
        counts: What it has done since it was opened.
        latest: Its latest collections, the newest last.
        is_open: It is in memory.

    """

    key: str
    name: str
    parent: str
    client: str
    dialect: str
    model: str
    tokens: int
    limit: int
    counts: Counts
    latest: tuple[Collected, ...]
    is_open: bool


@attrs.frozen(kw_only=True)
class Overview:
    """
    All lanes of a gateway.

    Attributes:
        lanes: The lanes, the latest last; those that left memory come first.
        totals: What all of them have done since the gateway started.

    """

    lanes: tuple[LaneView, ...]
    totals: Counts
