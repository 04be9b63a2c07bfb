"""The contracts between gc-core and its plugins: strategies, counters, formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, runtime_checkable

from gc_core.values.items import Item, Turn, Unit
from gc_core.values.removals import GCRemovalItem
from gc_core.values.results import ColdText, Goal
from gc_core.values.summary import SummaryRequest
from gc_core.values.working_files import WorkingFile


class LivenessView(Protocol):
    """The live content of the window: see ``gc_core.relevance.liveness``."""

    def last_carried(self, item: Item) -> frozenset[str]:
        """Return names that no later resident item contains: with this item, the window would lose them."""

    def reuse(self, item: Item) -> int:
        """Return how many of the item's names the agent has used since."""

    def superseded(self, item: Item) -> bool:
        """Return whether a later item makes this tool result stale."""

    def distance(self, item: Item) -> int | None:
        """Return the shared names between the item and the agent's current work: ``ContextView.distance``."""


class WorkingSetView(Protocol):
    """The files that the agent works on: see ``gc_core.relevance.working_set``."""

    @property
    def files(self) -> tuple[WorkingFile, ...]:
        """The files shown in the window, the least used first: longest untouched, and large ones sooner."""

    def beyond(self, tokens: int) -> tuple[WorkingFile, ...]:
        """
        Return the files to shorten, each as a whole, the least used first, so that the views of the others take at most
        this many tokens.
        """

    def keeps(self, unit: Unit, tokens: int) -> bool:
        """Return whether the unit shows, whole, a file in use: one that is not ``beyond`` this many tokens."""

    def disuse(self, unit: Unit) -> float:
        """Return how unused the files of the unit are: idle steps, and four more for each 1,000 tokens."""

    @property
    def superseded(self) -> tuple[Item, ...]:
        """Items largely repeated later in the window, oldest first: ``GCRemovalItem.trim`` removes the repetition."""

    def holds(self, item: Item) -> bool:
        """
        Return whether the item shows a file in use, a failure of a run that has not passed since,
        or the newest plan.
        """


class ContextView(Protocol):
    """A strategy's view of the window, read-only, as of the start of the collection."""

    @property
    def tokens(self) -> int:
        """Tokens of the current request."""

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

        Units outside the recent turns come first. The older steps of the recent turns follow, and are accepted only
        when everything before them has been taken or would not suffice; last come discoverable tool schemas that no
        visible call uses. Nothing LOCKED, PRESERVABLE, pinned or pending.
        """

    @property
    def preservable(self) -> tuple[Unit, ...]:
        """PRESERVABLE units that may be dropped, oldest first; empty unless the goal allows it under pressure."""

    @property
    def stubbable(self) -> tuple[Item, ...]:
        """EPHEMERAL items that a stub may replace, oldest first: whole, unpinned, older than the most recent steps."""

    @property
    def young(self) -> tuple[Item, ...]:
        """The stubbable items for a YOUNG collection: those that came since the last one and show no file in use."""

    @property
    def condensed(self) -> tuple[Item, ...]:
        """EPHEMERAL items that are stubs already, oldest first; a shorter stub may replace each."""

    @property
    def liveness(self) -> LivenessView:
        """The liveness of the resident items."""

    @property
    def working_set(self) -> WorkingSetView:
        """The files that the agent works on, and what the window shows of them."""

    @property
    def can_summarize(self) -> bool:
        """True if summaries are available; otherwise proposals for summaries are refused."""

    def age(self, unit: Unit) -> int:
        """Return the steps taken since the unit."""

    @property
    def objective(self) -> str:
        """The agent's objective, in words: see ``GCSession.objective``."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Names in the objective that only the user's own words contain: the content about them has left."""

    def search(self, query: str, limit: int = 10) -> tuple[ColdText, ...]:
        """Return removed items that match a query, best first; none if the strategy works without tiers."""

    def importance(self, item: Item) -> float:
        """Return an item's importance, from 0 to 1, by the session's scorer: see ``ImportanceScorer``."""

    def distance(self, item: Item) -> int | None:
        """
        Return how many shared names lie between the item and the objective, an open question, the newest steps or
        protected content: 0 for those themselves, 1 for an item that shares a rare name with one of them. None:
        unreachable, the first garbage.
        """

    def is_recent(self, unit: Unit) -> bool:
        """
        Return whether the unit goes only when old units do not suffice: a step of the recent turns, or an unused
        schema.
        """


COLLECT_ARGUMENTS: Final = ("context", "goal")
"""The arguments of ``GCStrategy.collect``, which the core gives by position."""


@runtime_checkable
class GCStrategy(Protocol):
    """
    The plugin: proposes removals, the best first, and carries nothing out.

    ``collect`` is pure: no I/O, no model call, no clock. The core stops pulling when the goal is met.

    A strategy may have an attribute ``triggers``, a tuple of ``gc_core.values.triggers`` values: when it wants to be
    asked, besides the session's threshold. The core reads it once and evaluates them.
    """

    def collect(self, context: ContextView, goal: Goal) -> Iterable[GCRemovalItem]:
        """Propose removals, the best first."""


class RegisterStrategy(Protocol):
    """The argument of ``gc_register_strategies``: call it once for each strategy class that you offer."""

    def __call__(self, name: str, strategy: type[GCStrategy]) -> None:
        """Offer a strategy class under a name that a configuration can use."""


@runtime_checkable
class Summarizer(Protocol):
    """
    Writes the text that replaces originals which leave the window.

    The core validates the text, asks once more if it is not acceptable, and falls back to its own extract. It may raise
    anything, and take as long as ``summarizer_timeout`` allows.
    """

    def summarize(self, request: SummaryRequest) -> str:
        """Return the summary in at most ``request.max_tokens`` tokens, in the past tense."""


@runtime_checkable
class AsyncSummarizer(Protocol):
    """A summarizer for ``AsyncGCSession``."""

    async def summarize(self, request: SummaryRequest) -> str:
        """Return the summary in at most ``request.max_tokens`` tokens, in the past tense."""


class RegisterSummarizer(Protocol):
    """The argument of ``gc_register_summarizers``: call it once for each summarizer class that you offer."""

    def __call__(self, name: str, summarizer: type[Summarizer | AsyncSummarizer]) -> None:
        """Offer a summarizer class under a name that a configuration can use."""


@runtime_checkable
class SummarizationValidator(Protocol):
    """Checks a summary against its originals."""

    def validate(self, request: SummaryRequest, text: str) -> Sequence[str]:
        """
        Return complaints, one line each, that a summarizer can act on; none if the text may replace
        the originals.
        """
