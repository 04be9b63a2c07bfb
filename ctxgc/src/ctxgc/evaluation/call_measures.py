"""The measures of one model call in a replay."""

from __future__ import annotations

import attrs

from gc_core.values.results import GCTriggerReason

CACHE_READ = 0.1
"""The price of a token read from the provider's prompt cache, relative to an uncached one."""

CACHE_WRITE = 1.25
"""The price of a token written to the cache."""

MISS_TOKENS = 60
"""Tokens of the call with which an agent fetches what it misses."""


@attrs.frozen(kw_only=True)
class Prompt:
    """
    The tokens of one prompt, and how many of them were in the previous prompt.

    Attributes:
        tokens: All of them.
        cached: Those of the longest common prefix with the previous prompt, in whole messages.

    """

    tokens: int
    cached: int

    @property
    def cost(self) -> float:
        """Its price, in tokens: cached content is cheap to read, the rest must be written."""
        return CACHE_READ * self.cached + CACHE_WRITE * (self.tokens - self.cached)


@attrs.frozen(kw_only=True)
class Share:
    """
    A share that is present.

    Attributes:
        kept: Tokens, or identifiers, of it in the prompt.
        whole: All of its tokens or identifiers.

    """

    kept: int = 0
    whole: int = 0

    def plus(self, other: Share) -> Share:
        """Return both together."""
        return Share(kept=self.kept + other.kept, whole=self.whole + other.whole)

    @property
    def percent(self) -> float:
        """Percent of it; 100 if there is nothing."""
        return 100.0 * self.kept / self.whole if self.whole else 100.0


@attrs.frozen(kw_only=True)
class Recovery:
    """
    The identifiers that a prompt does not show and its references bring back.

    A reference names the ids of what left; every id can be recalled. An agent cannot know which
    of them contains what it misses, so the newest item is recalled first.

    Attributes:
        missed: Identifiers that the next message uses from afar and the prompt does not show; not names
            of tools, because every schema contains one.
        recovered: Those that the original of some item has which a reference in the prompt names.
        first: Those that come with the first recall.
        few: Those that come within three recalls.
        tokens: Tokens of the items that have the recovered ones, the newest such item for each.
        few_tokens: Tokens of all recalls up to the one that hits, for those that come within three.

    """

    missed: int = 0
    recovered: int = 0
    first: int = 0
    few: int = 0
    tokens: int = 0
    few_tokens: int = 0

    def plus(self, other: Recovery) -> Recovery:
        """Return both together."""
        return Recovery(
            missed=self.missed + other.missed,
            recovered=self.recovered + other.recovered,
            first=self.first + other.first,
            few=self.few + other.few,
            tokens=self.tokens + other.tokens,
            few_tokens=self.few_tokens + other.few_tokens,
        )

    def percent(self, count: int) -> float | None:
        """Return this number as a percentage of the missed identifiers; None when nothing was missed."""
        return 100.0 * count / self.missed if self.missed else None


@attrs.frozen(kw_only=True)
class Fit:
    """
    How much of what the real next message uses is in a prompt. A prompt that is larger than the window, or that could
    not be sent, shows nothing.

    Attributes:
        far: Of the identifiers whose last earlier occurrence is more than 20 messages back, those that are visible;
            measured where the whole history is above 80 % of the window.
        far_lines: Those of them that are on a whole original line.
        near: Of all identifiers that occurred in an earlier message; measured in the other calls.
        recovery: What could be brought back of the far ones that are not visible.
        missed: The far ones that are not visible.
        edits: Of the calls that replace text of the history, those of which every quoted line is in the prompt as a
            whole line; of all model calls.
        far_quotes: Of those lines that last occurred more than 20 messages back, the ones in the prompt; measured where
            the whole history is above 80 % of the window.
        near_quotes: Of the others, the ones in the prompt; of all model calls.
        reuse: Of the lines of other arguments that last occurred more than 20 messages back, the ones in the prompt;
            measured as ``far_quotes``.
        miss_price: What one more call for each edit that misses costs, in tokens: the prompt read again from the cache,
            and what holds the missing lines, with the call, written.

    """

    far: Share = Share()
    far_lines: Share = Share()
    near: Share = Share()
    recovery: Recovery = Recovery()
    missed: tuple[str, ...] = ()
    edits: Share = Share()
    far_quotes: Share = Share()
    near_quotes: Share = Share()
    reuse: Share = Share()
    miss_price: float = 0.0


@attrs.frozen(kw_only=True)
class Sent:
    """
    A request as it was rendered, judged only by the transcript, not by what the session says.

    Attributes:
        prompt: Its tokens, counted again.
        unchanged: Messages at its head that are those of the previous request.
        broke: These are fewer than the previous request had, not counting its last two.
        whole: It begins with the whole previous request.
        breaches: What the provider would refuse, in words.
        locked_missing: Bytes of LOCKED texts and schemas that are not in it.
        user_text: Of what the user typed so far: every text block of a message in the user's role that the transcript
            has, in which no tool answers, however long. A block is kept when it is whole and unchanged in the
            prompt, as often as it was said; what a recorder or a harness wrote in the user's role cannot be
            distinguished and counts.
        first_request: Of the first run of user messages.
        continuity: Of the newest exchanges that the window could hold, in tokens, those that are there whole in
            one unbroken run; measured where the history is larger than the window.
        notices: Tokens of the window that notices of removed content take.

    """

    prompt: Prompt
    unchanged: int = 0
    broke: bool = False
    whole: bool = True
    breaches: tuple[str, ...] = ()
    locked_missing: int = 0
    user_text: Share = Share()
    first_request: Share = Share()
    continuity: Share = Share()
    notices: Share = Share()


@attrs.frozen(kw_only=True)
class Owner:
    """An owner of tokens."""

    name: str
    tokens: int


@attrs.frozen(kw_only=True)
class Overflow:
    """
    A call that could not be sent: protected content is larger than the window.

    Attributes:
        call: Its number, from 1 on.
        needed: Tokens of the request.
        limit: Tokens that it may have.
        locked: Tokens of LOCKED content, counted from the transcript.
        locked_alone: LOCKED content by itself is larger than the window, so that no collector could have helped.
        owners: The owners of the tokens, largest first.

    """

    call: int
    needed: int
    limit: int
    locked: int
    only_locked: bool
    owners: tuple[Owner, ...]


@attrs.frozen(kw_only=True)
class CallMeasures:
    """
    One model call.

    Attributes:
        number: From 1 on.
        sent: The request, or None when there was none.
        overflow: Why there was none.
        without: The prompt that it would have been without any collection.
        fit: How much it contained of what its reply uses.
        collections: Why collections ran that changed something, before the call and after it.
        reached: Of the collections of the whole window that changed something, those that reached their target, or
            could not: protected content by itself is above it.
        deferred: Collections that were tried and not worth it.
        tried: A collection was tried, whatever came of it.
        collected: Something was collected since the previous request was rendered.
        repeats: Dry runs with the goal of a collection right after it.
        repeats_not_empty: Those of them that found more to remove.
        seconds: Wall time of ``pre_send`` and ``post_turn``, which takes the reply in.
        ingest_seconds: Wall time of appending what came since the previous call.

    """

    number: int
    sent: Sent | None
    overflow: Overflow | None = None
    without: Prompt
    fit: Fit = Fit()
    collections: tuple[GCTriggerReason, ...] = ()
    reached: Share = Share()
    deferred: int = 0
    tried: bool = False
    collected: bool = False
    repeats: int = 0
    repeats_not_empty: int = 0
    seconds: float = 0.0
    ingest_seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens that were sent; 0 when nothing was."""
        return 0 if self.sent is None else self.sent.prompt.tokens

    @property
    def drifted(self) -> bool:
        """True if sent content changed although nothing was collected."""
        return self.sent is not None and not self.sent.whole and not self.collected
