"""Why a collection runs, what it should reach, and its result."""

from __future__ import annotations

import enum
import re

import attrs

from gc_core.errors import PluginError
from gc_core.values.removals import RENEWED, GCRemovalItem
from gc_core.values.sources import TASK_STATE
from gc_core.values.summary import SummaryOutcome
from gc_core.values.validators import allowing, is_number, of_kind, optional


def is_renewal(removal: GCRemovalItem) -> bool:
    """
    Return whether the core removed an item to add a newer version; a strategy may name a phase of
    its own the same.
    """
    return removal.phase == RENEWED and removal.strategy == TASK_STATE.name


class GCTriggerReason(enum.Enum):
    """The reason for a collection."""

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


_ID = re.compile(r"i[1-9][0-9]{0,17}")
_number = allowing(is_number, "a number")


@attrs.frozen(kw_only=True)
class Goal:
    """
    The goal of one collection. Raises ConfigError, naming the field, for a value of another kind.

    Attributes:
        target_tokens: The request may have this many tokens afterwards, uncalibrated as the budget counts.
        reason: Why the collection runs.
        pressure_tokens: PRESERVABLE content may go when that brings the request below this many tokens; None: it stays.
        relief_tokens: PRESERVABLE content keeps leaving through summaries while the request has at least this many
            tokens; None: only to just below the pressure.
        usable_tokens: The most tokens of a request, as the budget counts; 0 if unknown.
        turns_before: With a limit of turns, everything that may go leaves from the turns before this one; 0: no limit.
        fills: Of the last unit that leaves, as much stays as fits below the target.
        young_after: Number of the item after which a YOUNG collection looks for consumed content.
        window_percent: Usage in percent of the usable window when the collection began; 0 if unknown.
        conversation_percent: The same for the conversation only.
        focus: What the host wants summaries to keep above all, in its own words, or "".

    """

    target_tokens: int = attrs.field(validator=_number)
    reason: GCTriggerReason = attrs.field(
        default=GCTriggerReason.MANUAL, validator=of_kind(GCTriggerReason, "a GCTriggerReason")
    )
    pressure_tokens: int | None = attrs.field(default=None, validator=optional(_number))
    relief_tokens: int | None = attrs.field(default=None, validator=optional(_number))
    usable_tokens: int = attrs.field(default=0, validator=_number)
    turns_before: int = attrs.field(default=0, validator=_number)
    fills: bool = attrs.field(default=False, validator=of_kind(bool, "True or False"))
    young_after: int = attrs.field(default=0, validator=_number)
    window_percent: float = attrs.field(default=0.0, validator=_number)
    conversation_percent: float = attrs.field(default=0.0, validator=_number)
    focus: str = attrs.field(default="", validator=of_kind(str, "a text"))

    @property
    def is_young(self) -> bool:
        """True if only young, consumed content should shrink, as far as possible."""
        return self.reason is GCTriggerReason.YOUNG

    @property
    def pressure(self) -> bool:
        """True if PRESERVABLE content may be removed at all."""
        return self.pressure_tokens is not None


@attrs.frozen(kw_only=True)
class Refusal:
    """A proposed removal that the core refused, and why."""

    removal: GCRemovalItem
    why: str


@attrs.frozen(kw_only=True)
class ColdItem:
    """
    A removed item and its current relevance. Raises PluginError, naming the field, for a value that cannot be.

    Attributes:
        item: Its id.
        relevance: From 0 to 1.
        reason: The reason, in a few words.

    """

    item: str = attrs.field(
        validator=allowing(lambda key: isinstance(key, str) and _ID.fullmatch(key), "an item's id", error=PluginError)
    )
    relevance: float = attrs.field(
        validator=allowing(lambda value: is_number(value) and 0 <= value <= 1, "from 0 to 1", error=PluginError)
    )
    reason: str = attrs.field(default="", validator=of_kind(str, "a text", error=PluginError))


@attrs.frozen(kw_only=True)
class ColdText:
    """A removed item found by a search: its id, its original text, and the query."""

    item: str
    text: str = attrs.field(repr=False)
    query: str = ""


@attrs.frozen(kw_only=True)
class Inconsistency:
    """
    Why a plugin found a reply inconsistent with the conversation.

    Attributes:
        reason: The reason, in words.
        items: Ids of collected items that the model seems to miss; they are brought back.

    """

    reason: str
    items: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class GCResult:
    """
    The result of one collection.

    Attributes:
        reason: Why it ran.
        tokens_before: Tokens of the request before, uncalibrated.
        tokens_after: Tokens of the request after.
        target_tokens: The goal's target.
        protected_tokens: What this collection may not remove: LOCKED content, pins, the newest turns and steps, and
            below the pressure users' messages, up to their cap.
        removals: What was carried out, in the order of the proposals, with the tokens actually freed.
        refusals: Refused proposals.
        failures: Errors of strategies, one line each.
        summaries: How each summary was written.
        note: Why little or nothing was removed, or "".
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
        """Tokens above the target; 0 if it was reached."""
        return max(0, self.tokens_after - self.target_tokens)

    @property
    def reached(self) -> bool:
        """True if the target was reached, or could not be because protected content already exceeds it."""
        return not self.shortfall or self.protected_tokens > self.target_tokens

    @property
    def changed(self) -> bool:
        """True if the request has changed."""
        return bool(self.removals)

    def freed_by(self) -> dict[tuple[str, str], int]:
        """Return the tokens freed by (strategy, phase)."""
        freed: dict[tuple[str, str], int] = {}
        for removal in self.removals:
            key = (removal.strategy, removal.phase)
            freed[key] = freed.get(key, 0) + removal.tokens_freed
        return freed
