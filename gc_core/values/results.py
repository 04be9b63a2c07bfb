"""Why a collection runs, what it must reach, and what came of it."""

from __future__ import annotations

import enum

import attrs

from gc_core.values.removals import RENEWED, GCRemovalItem
from gc_core.values.sources import TASK_STATE
from gc_core.values.summary import SummaryOutcome


def is_renewal(removal: GCRemovalItem) -> bool:
    """Return whether the core took out what it tells again; a strategy may call a phase of its own the same."""
    return removal.phase == RENEWED and removal.strategy == TASK_STATE.name


class GCTriggerReason(enum.Enum):
    """Why a collection runs."""

    THRESHOLD = "threshold"
    CONTINUOUS = "continuous"
    TURN_LIMIT = "turn_limit"
    CONTEXT_LIMIT = "context_limit"
    MANUAL = "manual"
    YOUNG = "young"
    COLD_CACHE = "cold_cache"
    PRICE = "price"
    HOT = "hot"
    STEPS = "steps"
    SPEND = "spend"
    OBJECTIVE = "objective"


@attrs.frozen(kw_only=True)
class Goal:
    """
    What one collection must reach.

    Attributes:
        target_tokens: The request may have this many tokens afterwards, uncalibrated as the budget counts.
        reason: Why the collection runs.
        pressure_tokens: PRESERVABLE content may go when that brings the request below this many tokens; None: it stays.
        relief_tokens: In a summary it goes on to go while the request has at least this many; None: only to just below
            the pressure.
        usable_tokens: Tokens that a request may have at all, as the budget counts; 0 where no one knows.
        turns_before: With a limit of turns: everything that may go leaves of the turns before this one; 0: no limit.
        fills: Of the last unit that leaves, as much stays as there is room for below the target.
        young_after: Number of the item after which a YOUNG collection looks for what has been served.
        window_percent: Usage in percent of the usable window when the collection began; 0 where no one knows.
        conversation_percent: The same of the conversation alone.
        focus: What the host wants summaries to keep above all, in its own words, or "".

    """

    target_tokens: int
    reason: GCTriggerReason = GCTriggerReason.MANUAL
    pressure_tokens: int | None = None
    relief_tokens: int | None = None
    usable_tokens: int = 0
    turns_before: int = 0
    fills: bool = False
    young_after: int = 0
    window_percent: float = 0.0
    conversation_percent: float = 0.0
    focus: str = ""

    @property
    def is_young(self) -> bool:
        """Whether only what is young and served is to shrink, as far as it can."""
        return self.reason is GCTriggerReason.YOUNG

    @property
    def pressure(self) -> bool:
        """Whether PRESERVABLE content may go at all."""
        return self.pressure_tokens is not None


@attrs.frozen(kw_only=True)
class Refusal:
    """A proposed removal that the core did not accept, and why."""

    removal: GCRemovalItem
    why: str


@attrs.frozen(kw_only=True)
class ColdItem:
    """
    An item that left the window, and how relevant it is now.

    Attributes:
        item: Its id.
        relevance: From 0 to 1.
        reason: Why, in a few words.

    """

    item: str = attrs.field(validator=attrs.validators.matches_re(r"i[1-9][0-9]{0,17}"))
    relevance: float = attrs.field(validator=[attrs.validators.ge(0.0), attrs.validators.le(1.0)])
    reason: str = ""


@attrs.frozen(kw_only=True)
class ColdText:
    """An item that left the window as a search found it: its id, its original text, and what called for it."""

    item: str
    text: str = attrs.field(repr=False)
    query: str = ""


@attrs.frozen(kw_only=True)
class Inconsistency:
    """
    Why a reply does not fit what was said before, as a plugin found.

    Attributes:
        reason: In words.
        items: Ids of collected items that the model seems to miss; they are brought back.

    """

    reason: str
    items: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class GCResult:
    """
    What one collection did.

    Attributes:
        reason: Why it ran.
        tokens_before: Tokens of the request before, uncalibrated.
        tokens_after: Tokens of the request after.
        target_tokens: What the goal asked for.
        protected_tokens: What this collection may not take: LOCKED content, pins, the newest turns and steps, and below
            the pressure what users said, up to its cap.
        removals: What was carried out, in the order in which it was proposed, with the tokens really freed.
        refusals: What was proposed and refused.
        failures: What strategies did wrong, one line each.
        summaries: How each summary came about.
        note: Why little or nothing was removed, in words, or "".
        earliest_change: Index of the first message that changed in the request, or -1.
        seconds: Wall time.

    """

    reason: GCTriggerReason
    tokens_before: int
    tokens_after: int
    target_tokens: int
    protected_tokens: int = 0
    removals: tuple[GCRemovalItem, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    failures: tuple[str, ...] = ()
    summaries: tuple[SummaryOutcome, ...] = ()
    note: str = ""
    earliest_change: int = -1
    seconds: float = 0.0

    @property
    def tokens_freed(self) -> int:
        """Tokens that the request lost; never negative."""
        return self.tokens_before - self.tokens_after

    @property
    def shortfall(self) -> int:
        """Tokens still missing to the target; 0 when it was reached."""
        return max(0, self.tokens_after - self.target_tokens)

    @property
    def reached(self) -> bool:
        """Whether it reached its target, or could not: what is protected is above that alone."""
        return not self.shortfall or self.protected_tokens > self.target_tokens

    @property
    def changed(self) -> bool:
        """Whether the request is another one than before."""
        return bool(self.removals)

    def freed_by(self) -> dict[tuple[str, str], int]:
        """Return tokens freed by (strategy, phase)."""
        freed: dict[tuple[str, str], int] = {}
        for removal in self.removals:
            key = (removal.strategy, removal.phase)
            freed[key] = freed.get(key, 0) + removal.tokens_freed
        return freed
