"""The contracts between gc-core and what can be plugged in: strategies, counters, formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from gc_core.values.items import Item, Turn, Unit
from gc_core.values.removals import GCRemovalItem
from gc_core.values.results import ColdText, Goal
from gc_core.values.summary import SummaryRequest
from gc_core.values.working_files import WorkingFile


class LivenessView(Protocol):
    """What is alive in the window: see ``gc_core.relevance.liveness``."""

    def last_carried(self, item: Item) -> frozenset[str]:
        """Return names that no later resident item shows: with this item, the window would lose them."""

    def reuse(self, item: Item) -> int:
        """Return how many of the item's names the agent has used since."""

    def superseded(self, item: Item) -> bool:
        """Return whether a later item makes this tool result stale."""

    def distance(self, item: Item) -> int | None:
        """Shared names between the item and what the agent is about: see ``ContextView.distance``."""


class WorkingSetView(Protocol):
    """Which files the agent works on: see ``gc_core.relevance.working_set``."""

    @property
    def files(self) -> tuple[WorkingFile, ...]:
        """The files that the window shows, the least in use first: longest untouched, and large ones sooner."""

    def beyond(self, tokens: int) -> tuple[WorkingFile, ...]:
        """
        Return the files to shorten, each as a whole, the least in use first, so that the views of the others take at
        most this many tokens.
        """

    def keeps(self, unit: Unit, tokens: int) -> bool:
        """Return whether the unit shows a file that is in use, whole: one that is not ``beyond`` this many tokens."""

    def disuse(self, unit: Unit) -> float:
        """
        Return how little the files are in use that the unit shows: idle steps, and four more for
        each 1,000 tokens.
        """

    @property
    def superseded(self) -> tuple[Item, ...]:
        """Items of which a good part stands again in the window, oldest first: ``GCRemovalItem.trim`` takes them."""

    def holds(self, item: Item) -> bool:
        """
        Return whether the item shows a file in work, how a run failed that has not passed since, or
        the newest plan.
        """


class ContextView(Protocol):
    """What a strategy may know of the window, read-only, as it stood when the collection began."""

    @property
    def tokens(self) -> int:
        """Tokens of the request as it is."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The resident turns, oldest first."""

    @property
    def units(self) -> tuple[Unit, ...]:
        """The resident units, oldest first."""

    @property
    def collectable(self) -> tuple[Unit, ...]:
        """
        Units that may be dropped or summarised, oldest first.

        Units outside the recent turns come first; the older steps of the recent turns follow, and are accepted only
        once everything before them has been taken or would not suffice; so are, last, discoverable tool schemas that no
        visible call uses. Nothing LOCKED, PRESERVABLE, pinned or pending.
        """

    @property
    def preservable(self) -> tuple[Unit, ...]:
        """PRESERVABLE units that may be dropped, oldest first; empty unless the goal says that pressure allows it."""

    @property
    def stubbable(self) -> tuple[Item, ...]:
        """EPHEMERAL items that a stub may replace, oldest first: whole, unpinned, after the most recent steps."""

    @property
    def young(self) -> tuple[Item, ...]:
        """
        Those of the stubbable items that a YOUNG collection is about: they came since the last one, and show no file in
        work.
        """

    @property
    def condensed(self) -> tuple[Item, ...]:
        """EPHEMERAL items that are stubs already, oldest first: a shorter one, some of its lines, may replace each."""

    @property
    def liveness(self) -> LivenessView:
        """What is alive among the resident items."""

    @property
    def working_set(self) -> WorkingSetView:
        """Which files the agent works on, and what the window shows of them."""

    @property
    def can_summarize(self) -> bool:
        """Whether a summary can be asked for; proposals for one are refused otherwise."""

    def age(self, unit: Unit) -> int:
        """Steps that have been taken since the unit."""

    @property
    def objective(self) -> str:
        """What the agent is after, in words: see ``GCSession.objective``."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Names in the objective that nothing but the user's own words shows: what they tell of has left."""

    def search(self, query: str, limit: int = 10) -> tuple[ColdText, ...]:
        """Items that left the window and match a query, best first; none where the strategy works without tiers."""

    def importance(self, item: Item) -> float:
        """Return how much an item matters, from 0 to 1, as the session's scorer says: see ``ImportanceScorer``."""

    def distance(self, item: Item) -> int | None:
        """
        Return how many shared names lie between the item and the objective, an open question, the newest steps or what
        is held: 0 for those themselves, 1 for what shares a rare name with one of them. None: unreachable, garbage
        first.
        """

    def is_recent(self, unit: Unit) -> bool:
        """
        Return whether the unit goes only when nothing old suffices: a step of the recent turns, or
        an unused schema.
        """


@runtime_checkable
class GCStrategy(Protocol):
    """
    The plugin: proposes removals, most welcome first, and carries nothing out.

    ``collect`` is pure: no I/O, no model call, no clock. The core stops pulling when the goal is met.

    A strategy may have an attribute ``triggers``, a tuple of ``gc_core.values.triggers`` values: when it
    wants to be asked beside the session's threshold. The core reads it once and evaluates them.
    """

    def collect(self, context: ContextView, goal: Goal) -> Iterable[GCRemovalItem]:
        """Propose removals, most welcome first."""


class RegisterStrategy(Protocol):
    """What ``gc_register_strategies`` receives: call it once for each strategy class on offer."""

    def __call__(self, name: str, strategy: type[GCStrategy]) -> None:
        """Offer a strategy class under a name that a configuration can use."""


@runtime_checkable
class Summarizer(Protocol):
    """
    Writes the text that stands for originals which leave the window.

    The core checks what it wrote, asks once more when it is not acceptable, and falls back to its own extract. It may
    raise whatever it likes, and take as long as ``summarizer_timeout`` allows.
    """

    def summarize(self, request: SummaryRequest) -> str:
        """Return the summary in at most ``request.max_tokens`` tokens, in the past tense."""


@runtime_checkable
class AsyncSummarizer(Protocol):
    """A summarizer for ``AsyncGCSession``."""

    async def summarize(self, request: SummaryRequest) -> str:
        """Return the summary in at most ``request.max_tokens`` tokens, in the past tense."""


class RegisterSummarizer(Protocol):
    """What ``gc_register_summarizers`` receives: call it once for each summarizer class on offer."""

    def __call__(self, name: str, summarizer: type[Summarizer | AsyncSummarizer]) -> None:
        """Offer a summarizer class under a name that a configuration can use."""


@runtime_checkable
class SummarizationValidator(Protocol):
    """Says what is wrong with a summary."""

    def validate(self, request: SummaryRequest, text: str) -> Sequence[str]:
        """Complaints, one line each, that a summarizer can act on; none when the text may stand for the originals."""
