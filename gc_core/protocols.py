"""The contracts between gc-core and what can be plugged in: strategies, counters, formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from gc_core.actions import GCRemovalItem
from gc_core.importance import ScoringWindow
from gc_core.items import Image, Item, Part, Place, Turn, Unit
from gc_core.messages import Payload, Request, Role, Usage
from gc_core.profiles import CompressionProfile
from gc_core.relevance.working_set import WorkingFile
from gc_core.results import ColdText, Goal
from gc_core.server_edits import ServerEdits
from gc_core.summary import SummaryRequest


class LivenessView(Protocol):
    """What is alive in the window: see ``gc_core.liveness``."""

    def last_carried(self, item: Item) -> frozenset[str]:
        """Names that no later resident item shows: with this item, the window would lose them."""

    def reuse(self, item: Item) -> int:
        """How many of the item's names the agent has used since."""

    def superseded(self, item: Item) -> bool:
        """Whether a later item makes this tool result stale."""

    def distance(self, item: Item) -> int | None:
        """Shared names between the item and what the agent is about: see ``ContextView.distance``."""


class WorkingSetView(Protocol):
    """Which files the agent works on: see ``gc_core.relevance.working_set``."""

    @property
    def files(self) -> tuple[WorkingFile, ...]:
        """The files that the window shows, the least in use first: longest untouched, and large ones sooner."""

    def beyond(self, tokens: int) -> tuple[WorkingFile, ...]:
        """
        The files to shorten, each as a whole, the least in use first, so that the views of the others take at most so
        many tokens.
        """

    def keeps(self, unit: Unit, tokens: int) -> bool:
        """Whether the unit shows a file that is in use, whole: one that is not ``beyond`` so many tokens."""

    def disuse(self, unit: Unit) -> float:
        """How little the files are in use that the unit shows: idle steps, and four more for each 1,000 tokens."""

    @property
    def superseded(self) -> tuple[Item, ...]:
        """Items of which a good part stands again in the window, oldest first: ``GCRemovalItem.trim`` takes them."""

    def holds(self, item: Item) -> bool:
        """Whether the item shows a file in work, how a run failed that has not passed since, or the newest plan."""


class ContextView(Protocol):
    """What a strategy may know of the window, read-only, as it stood when the collection began."""

    @property
    def tokens(self) -> int:
        """Tokens of the request as it stands."""

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
        """EPHEMERAL items that a stub may replace, oldest first: whole, unpinned, behind the most recent steps."""

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
        """How much an item matters, from 0 to 1, as the session's scorer says: see ``ImportanceScorer``."""

    def distance(self, item: Item) -> int | None:
        """
        How many shared names lie between the item and the objective, an open question, the newest steps or what is
        held: 0 for those themselves, 1 for what shares a rare name with one of them. None: unreachable, garbage first.
        """

    def is_recent(self, unit: Unit) -> bool:
        """Whether the unit goes only when nothing old suffices: a step of the recent turns, or an unused schema."""


@runtime_checkable
class GCStrategy(Protocol):
    """
    The plugin: proposes removals, most welcome first, and carries nothing out.

    ``collect`` is pure: no I/O, no model call, no clock. The core stops pulling when the goal is met.

    A strategy may have an attribute ``triggers``, a tuple of ``gc_core.triggers`` values: when it wants to be asked
    beside the session's threshold. The core reads it once and evaluates them.
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
        """The summary in at most ``request.max_tokens`` tokens, in the past tense."""


@runtime_checkable
class AsyncSummarizer(Protocol):
    """A summarizer for ``AsyncGCSession``."""

    async def summarize(self, request: SummaryRequest) -> str:
        """The summary in at most ``request.max_tokens`` tokens, in the past tense."""


class RegisterSummarizer(Protocol):
    """What ``gc_register_summarizers`` receives: call it once for each summarizer class on offer."""

    def __call__(self, name: str, summarizer: type[Summarizer | AsyncSummarizer]) -> None:
        """Offer a summarizer class under a name that a configuration can use."""


@runtime_checkable
class SummarizationValidator(Protocol):
    """Says what is wrong with a summary."""

    def validate(self, request: SummaryRequest, text: str) -> Sequence[str]:
        """Complaints, one line each, that a summarizer can act on; none when the text may stand for the originals."""


@runtime_checkable
class ImportanceScorer(Protocol):
    """
    Says how much an item of the window matters.

    Asked for every resident item, once a collection, when a strategy first asks for an importance. Where it raises, or
    one score is no number from 0 to 1, the composite scores in its place; after three such collections for good.
    """

    def score(self, item: Item, window: ScoringWindow) -> float:
        """How much the item matters, from 0 to 1."""


class RegisterScorer(Protocol):
    """What ``gc_register_scorers`` receives: call it once for each scorer class on offer."""

    def __call__(self, name: str, scorer: type[ImportanceScorer]) -> None:
        """Offer a scorer class under a name that a configuration can use."""


class RegisterProfile(Protocol):
    """What ``gc_register_profiles`` receives: call it once for each compression profile on offer."""

    def __call__(self, profile: CompressionProfile) -> None:
        """Offer a profile under its own name, which a configuration can use."""


@runtime_checkable
class MemoryBackend(Protocol):
    """
    Keeps bytes by key: the checkpoints of one session.

    Keys are up to 200 ASCII letters, digits, ".", "_" and "-", with no "." first. One process writes, others may read
    at the same time. It may raise whatever it likes: what it held is told by log and ledger too, only more slowly.
    """

    def write(self, key: str, data: bytes) -> None:
        """Keep the bytes under a key, wholly or not at all: whoever reads finds the old ones or these."""

    def read(self, key: str) -> bytes | None:
        """The bytes of a key, or None."""

    def delete(self, key: str) -> None:
        """Forget a key; one that is not there is no error."""

    def keys(self, prefix: str = "") -> Iterable[str]:
        """The keys that begin so, sorted."""


class RegisterMemoryBackend(Protocol):
    """What ``gc_register_memory_backends`` receives: call it once for each backend class on offer."""

    def __call__(self, name: str, backend: Callable[[Path], MemoryBackend]) -> None:
        """Offer a backend under a name that a configuration can use; it is made with the session's directory."""


@runtime_checkable
class ContextMiddleware(Protocol):
    """
    Looks at each message of the conversation before it is logged, and may change it.

    Mark the method ``@hookimpl(specname="gc_process_message")``, and register the object: see that hook.
    """

    def process(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The message, in the provider's shape, as it is to be logged and sent; None leaves it as it is."""


class TokenCounter(Protocol):
    """Counts tokens as one model does, exactly or by an estimate that says so."""

    @property
    def name(self) -> str:
        """What a report calls it."""

    @property
    def exact(self) -> bool:
        """Whether it is the model's own tokenizer."""

    @property
    def per_message(self) -> int:
        """Tokens of framing that every message costs."""

    @property
    def per_request(self) -> int:
        """Tokens that every request costs once."""

    def count(self, text: str) -> int:
        """Tokens of a text; special tokens in it are ordinary text. Never raises for any string."""

    def count_image(self, image: Image) -> int:
        """Tokens of an image."""

    def count_thinking(self, part: Part) -> int:
        """Tokens of a thinking part of the newest turn."""


class Format(Protocol):
    """
    One provider's message shape: reads payloads into parts, writes edited copies, makes requests.

    Payloads are JSON values (dicts, lists, strings, numbers); a format never changes one in place.

    Attributes:
        name: What a session's ``format=`` argument names.
        most_marks: Cache marks that a request may carry, 0 when the provider has none.
        alternates: Results stand alone in their message, and a reply follows no reply (Gemini: G1, G2).
        replies_in_pieces: A reply may come item by item: payloads of the model side by side are one message
            (Responses).
        takes_last_thinking: Thinking may be the last part of a reply, or its only one; in a format of pieces, of one of
            them, for others may follow.

    """

    name: str
    most_marks: int
    alternates: bool
    replies_in_pieces: bool
    takes_last_thinking: bool

    def role(self, payload: Payload) -> Role:
        """Who speaks. Raises MessageError, naming the field, when the payload says it wrongly."""

    def read(self, payload: Payload) -> tuple[Part, ...]:
        """
        The parts of one message, in its order; every block is in exactly one part.

        Raises MessageError naming the field and what was expected.
        """

    def edit(self, payload: Payload, texts: Mapping[Place, str | None]) -> Payload | None:
        """
        A copy in which the parts at these places have another text, or (None) are gone.

        ``read`` of the copy yields the remaining parts in the same order. Blocks not named are the same objects.
        None when nothing is left. The text of a tool call is its arguments as one JSON object.
        """

    def with_call_ids(self, payload: Payload, ids: Mapping[Place, str]) -> Payload:
        """
        A copy in which the calls and results at these places have other ids; the payload itself where the provider
        takes ids that repeat.
        """

    def normalise(self, payload: Payload) -> Payload:
        """The payload itself, or a copy in the order that the provider demands (tool results first)."""

    def join(self, first: Payload, second: Payload) -> Payload | None:
        """
        One message for two, where the provider wants all results of a batch in one message, or takes a reply in pieces;
        else None.
        """

    def replaces(self, payload: Payload) -> bool:
        """Whether the provider's own compaction stands for everything before this message (R4)."""

    def marks(self, payload: Payload) -> int:
        """How many cache marks a message or tool schema carries."""

    def unmarked(self, payload: Payload, keep: int) -> Payload:
        """A copy with only its last ``keep`` cache marks; the payload itself when it has no more."""

    def user(self, text: str) -> Payload:
        """A user message that the framework writes."""

    def results(self, answers: Sequence[tuple[str, str]]) -> tuple[Payload, ...]:
        """Messages that answer calls: (call id, text) each, in the order of the calls."""

    def reply(self, reply: object) -> Payload:
        """The assistant message inside what the provider's client returned: an SDK object, a dict or a message."""

    def history_elsewhere(self, reply: object) -> str | None:
        """
        Where the provider keeps the history that this reply belongs to (R5), "" where the host sends it all; None when
        the reply does not tell.
        """

    def usage(self, usage: object) -> Usage:
        """The provider's usage report, an SDK object or a dict, in our words."""

    def served(self, reply: object) -> ServerEdits | None:
        """
        What the provider itself left out of the request that this reply answers; None when the reply does not tell: the
        last report stands then. Raises MessageError for a report that cannot be read.
        """

    def schema_name(self, schema: Payload) -> str:
        """The tool name in a schema of this format; raises MessageError when there is none."""

    def needs_user_first(self) -> bool:
        """Whether the conversation has to start with a user message."""

    def request(
        self, *, system: Sequence[str], tools: Sequence[Payload], messages: Sequence[Payload], tokens: int
    ) -> Request:
        """The request of these system texts, schemas and messages."""

    def refused_size(self, error: BaseException) -> tuple[int | None, int | None] | None:
        """
        (tokens sent, tokens allowed) that a context-length refusal names, each None where it is not named.

        None when the error is not a context-length refusal.
        """
