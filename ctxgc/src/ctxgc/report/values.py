"""What a report tells of a session. Tokens are own counts, uncalibrated, as the budget has them."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Share:
    """A part of the window and its tokens."""

    name: str
    tokens: int


@attrs.frozen(kw_only=True)
class Cost:
    """
    What the prompt of one call cost.

    Attributes:
        read: Input tokens read from the provider's cache.
        written: Input tokens written to it.
        fresh: Input tokens that were neither.
        output: Tokens of the reply; 0 where no one reported them.
        price: In USD, or in tokens' worth of plain input where the report has no prices (``Report.priced``).
        recorded: As the provider reported it; else simulated from the prompts' common prefix.
        miss: Why the cache was not read as far as it could have been, in words, or "".

    """

    read: int
    written: int
    fresh: int
    output: int = 0
    price: float
    recorded: bool = False
    miss: str = ""


@attrs.frozen(kw_only=True)
class Call:
    """
    One model call, and the window that it was sent.

    Attributes:
        number: From 1 on.
        time: Of its reply, in seconds since 1970.
        turn: The turn in which it came.
        tokens: Of its request: the sum of each of the three divisions.
        limit: Tokens that a request might have.
        cached: Tokens of the longest common prefix with the request before, in whole messages.
        sources: The window by source; ``framing`` is what messages and request cost beyond their items.
        policies: The window by how strongly it is held.
        kinds: The window by what it is made of; what the framework wrote counts as ``stub``, ``trace``, ``summary``.
        cost: What it cost.

    """

    number: int
    time: float
    turn: int
    tokens: int
    limit: int
    cached: int
    sources: tuple[Share, ...]
    policies: tuple[Share, ...]
    kinds: tuple[Share, ...]
    cost: Cost


@attrs.frozen(kw_only=True)
class Stay:
    """
    Moments at which an item stood in the window unchanged.

    A moment is the request of the call with that number; the one after the last call is the window as it is.

    Attributes:
        first: The first moment.
        last: The last one.
        tokens: What it cost there.
        policy: How strongly it was held.
        pinned: The host had pinned it.
        form: ``whole`` or ``stub``.
        text: What stood there: its place in ``Report.texts``.

    """

    first: int
    last: int
    tokens: int
    policy: str
    pinned: bool = False
    form: str = "whole"
    text: int


@attrs.frozen(kw_only=True)
class ReportItem:
    """
    An item that was ever in the window.

    Attributes:
        id: The session's own.
        kind: What it is.
        name: Tool name, part name or "".
        source: Name of its source.
        turn: Its turn, -1 for what stands before the conversation.
        tokens: Tokens with which it arrived.
        synthetic: Written by the framework.
        original: Its text as it arrived: its place in ``Report.texts``.
        stays: When it stood in the window, and as what.

    """

    id: str
    kind: str
    name: str
    source: str
    turn: int
    tokens: int
    synthetic: bool = False
    original: int
    stays: tuple[Stay, ...]


@attrs.frozen(kw_only=True)
class Standing:
    """What stands where something was: the item (itself, of a stub) and its text's place in ``Report.texts``."""

    item: str
    kind: str
    text: int


@attrs.frozen(kw_only=True)
class Removal:
    """
    What one proposal of a collection took.

    Attributes:
        action: ``drop``, ``stub``, ``summarize``; ``with it`` for what the core took because something else left.
        reason: Why, as the strategy says.
        phase: The strategy's name for the phase, or "".
        strategy: Who proposed it, or "".
        freed: Tokens that it freed.
        items: Ids of the items.
        standing: What stands there since.

    """

    action: str
    reason: str
    phase: str = ""
    strategy: str = ""
    freed: int = 0
    items: tuple[str, ...]
    standing: tuple[Standing, ...] = ()


@attrs.frozen(kw_only=True)
class Change:
    """
    Something that was done to the window at once: a collection mostly.

    Attributes:
        number: From 1 on.
        what: ``collected``, ``restored``, ``undone``, ``redone``, ``rewound`` or ``configured``.
        time: When, in seconds since 1970.
        before: Number of the call whose request was the first to show it.
        reason: What asked for it, or what it was, in words.
        tokens_before: Tokens of the request before.
        tokens_after: Tokens of the request after.
        target: What was to be reached, in tokens; 0 where there was no goal.
        in_force: It has not been undone.
        rewritten: Tokens from the first changed message on: what the provider has to read again.
        rewriting_price: What they cost more than reading them from the cache would, in USD or None without prices.
        schemas: Names of the tool schemas that left.
        removals: What left, in the order in which it was proposed.

    """

    number: int
    what: str
    time: float
    before: int
    reason: str
    tokens_before: int
    tokens_after: int
    target: int = 0
    in_force: bool = True
    rewritten: int = 0
    rewriting_price: float | None = None
    schemas: tuple[str, ...] = ()
    removals: tuple[Removal, ...] = ()

    @property
    def freed(self) -> int:
        """Tokens that the request lost."""
        return self.tokens_before - self.tokens_after


@attrs.frozen(kw_only=True)
class Report:
    """
    All that a page shows of a session.

    Attributes:
        name: What the session is called.
        format: The provider's message shape.
        model: The model's name, or "".
        strategies: Names of its strategies as it was opened last.
        version: Of gc-core.
        made: When the report was made, in seconds since 1970.
        tokens: Of the window as it is at the end.
        framing: Of those, what messages and request cost beyond their items, by moment: one more than there are calls.
        limit: Tokens that a request may have at the end.
        priced: Prices are USD; else tokens' worth of plain input.
        notes: What a reader of the figures has to know, in sentences.
        calls: Every model call that counts, oldest first.
        changes: What was done to the window, oldest first.
        items: Every item, in the order of the session.
        texts: Every text, once each.

    """

    name: str
    format: str
    model: str
    strategies: tuple[str, ...]
    version: str
    made: float
    tokens: int
    framing: tuple[int, ...]
    limit: int
    priced: bool
    notes: tuple[str, ...]
    calls: tuple[Call, ...]
    changes: tuple[Change, ...]
    items: tuple[ReportItem, ...] = attrs.field(repr=False)
    texts: tuple[str, ...] = attrs.field(repr=False)

    @property
    def collections(self) -> tuple[Change, ...]:
        """The collections alone."""
        return tuple(change for change in self.changes if change.what == "collected")
