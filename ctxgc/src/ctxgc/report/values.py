"""The contents of a report. Tokens are own counts, uncalibrated, as in the budget."""

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
    The cost of one call's prompt.

    Attributes:
        read: Input tokens read from the provider's cache.
        written: Input tokens written to it.
        fresh: Input tokens that were neither.
        output: Tokens of the reply; 0 if they were not reported.
        price: In USD, or in tokens of plain input if the report has no prices (``Report.priced``).
        recorded: Reported by the provider; otherwise simulated from the prompts' common prefix.
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
    One model call, and the window that was sent.

    Attributes:
        number: From 1 on.
        time: Time of its reply, in seconds since 1970.
        turn: Its turn.
        tokens: Tokens of its request: the sum of ``sources``, of ``policies`` and of ``kinds``.
        limit: Tokens that a request could have.
        cached: Tokens of the longest common prefix with the previous request, in whole messages.
        sources: The window by source; ``framing`` is what messages and request cost beyond their items.
        policies: The window by policy.
        kinds: The window by kind of content; what the framework wrote counts as ``stub``, ``trace``, ``summary``.
        cost: Its cost.

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
    Moments at which an item was in the window unchanged.

    A moment is the request of the call with that number; the one after the last call is the current window.

    Attributes:
        first: The first moment.
        last: The last one.
        tokens: Its tokens there.
        policy: Its policy there.
        pinned: The host had pinned it.
        form: ``whole`` or ``stub``.
        text: Place of its text in ``Report.texts``.

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
        id: Its id in the session.
        kind: Its kind.
        name: Tool name, part name or "".
        source: Name of its source.
        turn: Its turn, -1 for content before the conversation.
        tokens: Its tokens on arrival.
        synthetic: Written by the framework.
        original: Place of its original text in ``Report.texts``.
        stays: When it was in the window, and in which form.

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
class Replacement:
    """The item that replaces removed content (for a stub the same item), and its text's place in ``Report.texts``."""

    item: str
    kind: str
    text: int


@attrs.frozen(kw_only=True)
class Removal:
    """
    What one proposal of a collection removed.

    Attributes:
        action: ``drop``, ``stub``, ``summarize``; ``with it`` for what the core removed because something else left.
        reason: The strategy's reason.
        phase: The strategy's name for the phase, or "".
        strategy: Who proposed it, or "".
        freed: Tokens that it freed.
        items: Ids of the items.
        replacements: What replaces the removed content.

    """

    action: str
    reason: str
    phase: str = ""
    strategy: str = ""
    freed: int = 0
    items: tuple[str, ...]
    replacements: tuple[Replacement, ...] = ()


@attrs.frozen(kw_only=True)
class Change:
    """
    One change of the window, mostly a collection.

    Attributes:
        number: From 1 on.
        what: ``collected``, ``restored``, ``undone``, ``redone``, ``rewound`` or ``configured``.
        time: When, in seconds since 1970.
        before: Number of the call whose request was the first to show it.
        reason: What caused it, or what it was, in words.
        tokens_before: Tokens of the request before.
        tokens_after: Tokens of the request after.
        target: The goal in tokens; 0 if there was none.
        in_force: It has not been undone.
        rewritten: Tokens from the first changed message on, which the provider has to read again.
        rewriting_price: What this costs more than reading them from the cache, in USD, or None without prices.
        schemas: Names of the tool schemas that left.
        removals: The removals, in the order of the proposals.

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
    The contents of a session's report page.

    Attributes:
        name: The session's name on the page.
        format: The provider's message shape.
        model: The model's name, or "".
        strategies: Names of its strategies when it was last opened.
        version: Version of gc-core.
        made: When the report was made, in seconds since 1970.
        tokens: Tokens of the window at the end.
        framing: Tokens beyond those of the items, by moment: one more than there are calls.
        limit: Tokens that a request may have at the end.
        priced: Prices are in USD; otherwise in tokens of plain input.
        notes: Sentences that explain the figures.
        calls: Every model call that counts, oldest first.
        changes: The changes of the window, oldest first.
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
        """The changes that are collections."""
        return tuple(change for change in self.changes if change.what == "collected")
