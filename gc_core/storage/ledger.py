"""
The ledger: what was done to the window, as results, append-only.

No record says "run strategy X again": a collection holds its final texts, so that the window is a pure function of the
master log and the ledger, and making it again calls no plugin.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from gc_core.errors import GCError, LogError
from gc_core.relevance.objective import Objective
from gc_core.storage.journal import Journal, line_of
from gc_core.values.items import Item
from gc_core.values.json_values import DEEPEST_RECORD, read_json
from gc_core.values.messages import Payload, Usage
from gc_core.values.policy import GCPolicy
from gc_core.values.references import ByteRange
from gc_core.values.removals import GAP, SUMMARY_SHARE, Drop, GCRemovalItem, Stub, Summarize
from gc_core.values.results import GCTriggerReason
from gc_core.values.sources import InstructionSource
from gc_core.values.summary import SummaryForm, SummaryOutcome
from gc_core.window.intake import Cursor
from gc_core.window.memory_blocks import Block
from gc_core.window.patches import Patch

if TYPE_CHECKING:
    import cattrs

FILE_NAME = "ledger.jsonl"


@attrs.frozen(kw_only=True)
class Numbers:
    """Where numbering stood afterwards: ids are never given twice, whatever is undone."""

    items: int
    messages: int
    units: int
    summaries: int = 0


@attrs.frozen(kw_only=True)
class Digests:
    """
    Digests of the messages in the window, in hex.

    Attributes:
        before: Of all messages before the change.
        after: Of all messages after it.
        count: How many there were before.

    """

    before: str
    after: str
    count: int


@attrs.frozen(kw_only=True)
class Opened:
    """
    A session began, or was opened again, with these settings.

    Attributes:
        session: The session's id.
        format: Name of the provider's message shape.
        model: The model's name, or None.
        config: How it collects.
        version: Of gc-core.
        objects: Types of strategies that were given as objects: no file holds them.

    """

    session: str
    format: str
    model: str | None
    config: dict[str, Any]
    version: str
    objects: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Registered:
    """The host added a source."""

    source: InstructionSource


@attrs.frozen(kw_only=True)
class Sent:
    """
    A request was rendered; from the first one on changes at its head wait for a break.

    Attributes:
        digest: Of its system texts, tool schemas and messages, in hex; "" in files of gc-core before it was told.

    """

    digest: str = ""


@attrs.frozen(kw_only=True)
class Observed:
    """
    The provider reported its input tokens for a request of ``raw`` own tokens.

    Attributes:
        raw: Own count of the request's tokens.
        reported: Input tokens as reported, those of the cache included.
        usage: The whole report of a call; None where a refusal named the size.
        sent: When the request began, in seconds since 1970; 0 where that is not known.
        changed: Where it differed from the request before: ``"tools"``, ``"system"``, ``"messages"`` or "".
        reason: Why it missed the cache, in the provider's own word, or "".
        counted: It is what a counting endpoint said, before the call.

    """

    raw: int
    reported: int
    usage: Usage | None = None
    sent: float = 0.0
    changed: str = ""
    reason: str = ""
    counted: bool = False


@attrs.frozen(kw_only=True)
class Booked:
    """
    A call beside the conversation was paid.

    Attributes:
        source: Of whom: ``"summaries"``, ``"workers"``, or what a host calls it.
        usage: What it took.
        model: Which model it was, or None.
        estimated: The tokens are own counts, for no one reported them.

    """

    source: str
    usage: Usage
    model: str | None = None
    estimated: bool = False


@attrs.frozen(kw_only=True)
class Cleared:
    """
    What the provider itself leaves out of the requests from here on, against what it left out before.

    Attributes:
        gone: Items that it leaves out now.
        back: Items that it does not leave out any more.
        tokens: Input tokens that it says it cleared.

    """

    gone: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    tokens: int = 0


@attrs.frozen(kw_only=True)
class Configured:
    """
    Another model or window, or another limit of what may be spent.

    Attributes:
        model: The model's name, or None.
        context_limit: Tokens of its window.
        output_reservation: Of those, kept free for the reply.
        max_total_tokens: What the session may spend; 0 without a limit, None in files of gc-core before it had one.

    """

    model: str | None
    context_limit: int
    output_reservation: int
    max_total_tokens: int | None = None


@attrs.frozen(kw_only=True)
class Pinned:
    """A turn or an item was pinned or released."""

    turn: int | None = None
    item: str | None = None
    pinned: bool


@attrs.frozen(kw_only=True)
class PolicySet:
    """The host changed how strongly an item is held."""

    item: str
    policy: GCPolicy


@attrs.frozen(kw_only=True)
class Collected:
    """
    One collection, or one item brought back: what it did to the window.

    Attributes:
        reason: What asked for it, or None for an item that was brought back.
        target_tokens: What was to be reached.
        tokens_before: Tokens of the request before, uncalibrated.
        tokens_after: Tokens of the request after.
        removals: Who proposed what, and what each freed.
        hunks: The messages before and after, with the final texts.
        summaries: How each summary came about.
        recalled: What comes back at the end of the next request, as it is sent there.
        schemas: Tool schemas that left.
        changed_head: What waited at the head of the request took effect with it.
        numbers: Where numbering stood afterwards.
        counter: Name of the counter of its tokens.
        digests: Of the messages before and after.

    """

    reason: GCTriggerReason | None
    target_tokens: int = 0
    tokens_before: int
    tokens_after: int
    removals: tuple[GCRemovalItem, ...] = ()
    hunks: tuple[Patch, ...]
    summaries: tuple[SummaryOutcome, ...] = ()
    recalled: tuple[Block, ...] = ()
    schemas: tuple[Payload, ...] = ()
    changed_head: bool = False
    numbers: Numbers
    counter: str
    digests: Digests


@attrs.frozen(kw_only=True)
class Undone:
    """The collection at this place of the ledger was undone, or (``redone``) done again."""

    place: ByteRange
    redone: bool = False


@attrs.frozen(kw_only=True)
class Released:
    """What undoing had brought back may be collected again."""


@attrs.frozen(kw_only=True)
class Rewound:
    """
    Log and ledger after these offsets, up to this record, are taken back; the files keep them.

    Attributes:
        log: Size of the log to which the session went back, in bytes.
        ledger: Size of the ledger.
        why: In words.
        numbers: Where numbering stands, whatever was taken back.

    """

    log: int
    ledger: int
    why: str
    numbers: Numbers


@attrs.frozen(kw_only=True)
class Branched:
    """
    The caller's list departed from what was known of it: what came after that point left the window.

    Attributes:
        kept: Messages at the head of the list that are the same.
        cursor: What was known before the next one.
        results: Id of the message that what comes next may join, or "".
        objective: What the agent was after then.

    """

    kept: int
    cursor: Cursor
    results: str = ""
    objective: Objective


@attrs.frozen(kw_only=True)
class Purged:
    """Somebody overwrote a secret on purpose; the digests of the collections in effect were made again."""

    by: str
    occurrences: int


@attrs.frozen(kw_only=True)
class ObjectiveSet:
    """The host said what the agent is after; "": the user's own words tell."""

    text: str


@attrs.frozen(kw_only=True)
class Ancestor:
    """
    A session that this one was handed off from, or one before that.

    Attributes:
        session: Its id.
        directory: Where its files lie; "" where they ended with it.

    """

    session: str
    directory: str


@attrs.frozen(kw_only=True)
class Inherited:
    """
    The session was handed off.

    Attributes:
        ancestors: The sessions that what it began with speaks of, the nearest first.
        state: The state of the task as it was then, as JSON.

    """

    ancestors: tuple[Ancestor, ...]
    state: str = attrs.field(repr=False)


LedgerRecord = (
    Opened
    | Inherited
    | Registered
    | Sent
    | Observed
    | Cleared
    | Booked
    | ObjectiveSet
    | Configured
    | Pinned
    | PolicySet
    | Collected
    | Undone
    | Released
    | Rewound
    | Branched
    | Purged
)

_KINDS: dict[str, type[Any]] = {
    "opened": Opened,
    "inherited": Inherited,
    "registered": Registered,
    "first_sent": Sent,  # in files of gc-core before each request was told of
    "sent": Sent,
    "observed": Observed,
    "cleared": Cleared,
    "booked": Booked,
    "objective": ObjectiveSet,
    "configured": Configured,
    "pinned": Pinned,
    "policy_set": PolicySet,
    "collected": Collected,
    "undone": Undone,
    "released": Released,
    "rewound": Rewound,
    "branched": Branched,
    "purged": Purged,
}
_NAMES = {cls: name for name, cls in _KINDS.items()}
_OPENED = b'"kind":"opened"'
"""As it stands in a line: the quotes of a text are escaped, so hardly another line holds it."""

_REWOUND = b'"kind":"rewound"'


@functools.cache
def unreadable() -> tuple[type[Exception], ...]:
    """Return what reading a value from JSON of another form may raise."""
    import cattrs

    cattrs_errors = cattrs.BaseValidationError, cattrs.StructureHandlerNotFoundError
    return ValueError, LookupError, TypeError, AttributeError, ArithmeticError, *cattrs_errors


def inconsistent_record() -> tuple[type[Exception], ...]:
    """Return what carrying out a record of another session's, or a damaged one, may raise."""
    return GCError, *unreadable()


@attrs.frozen(kw_only=True)
class Entry:
    """
    One line of the ledger.

    Attributes:
        at: Size of the master log when it was written, in bytes: what of the log comes before it.
        time: Seconds since 1970.
        record: What happened.
        span: In which it happened, as ``trace-span`` in hex, where telemetry watched; else "".

    """

    at: int
    time: float
    record: LedgerRecord
    span: str = ""

    def line(self) -> bytes:
        """Return the line as it is in the file."""
        saved = _without_defaults(self.record)
        if not _is_plain(saved):
            saved = converter_of_records().unstructure(self.record)
        head = {"at": self.at, "time": round(self.time, 3), "kind": _NAMES[type(self.record)]}
        return line_of({**head, **({"span": self.span} if self.span else {}), **saved})

    @classmethod
    def read(cls, line: bytes) -> Entry:
        """Return the entry of a line. Raises LogError for a line of another form."""
        try:
            saved = read_json(line, DEEPEST_RECORD)
            at, time, kind = saved.pop("at"), saved.pop("time"), saved.pop("kind")
            span = _strict(saved.pop("span", ""), str)
            at, time = _strict(at, int), float(_strict(time, float))
            return cls(at=at, time=time, record=converter_of_records().structure(saved, _KINDS[kind]), span=span)
        except unreadable() as error:
            raise LogError(f"no line of a ledger: {line[:200]!r}; {type(error).__name__}: {error}") from error


class Ledger:
    """Appends entries and reads them back."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    @property
    def size(self) -> int:
        """Bytes of the ledger; where the next entry will stand."""
        return self.journal.size

    def append(self, entry: Entry) -> ByteRange:
        """Write an entry; returns where it stands. Raises LogError when it cannot be written."""
        (place,) = self.journal.append([entry.line()])
        return place

    def read(self, place: ByteRange) -> Entry:
        """Return the entry at a place. Raises LogError when none stands there."""
        return self._entry(place, self.journal.read(place))

    def entries(self, start: int = 0, end: int | None = None) -> Iterator[tuple[ByteRange, Entry]]:
        """Yield the entries from an offset on, each with its place. Raises LogError at a line that is none."""
        for place, line in self.journal.lines(start, end):
            yield place, self._entry(place, line)

    def opened_last(self, start: int = 0) -> Opened | None:
        """
        Return how the session was opened last, from an offset on, or None: no other line is taken apart.

        Raises LogError at a line that says so and is none.
        """
        found = None
        for place, line in self.journal.lines(start):
            if _OPENED in line:
                record = self._entry(place, line).record
                found = record if isinstance(record, Opened) else found
        return found

    def rewinds(self) -> Iterator[tuple[Rewound, int]]:
        """
        Yield every time that the session went back, with the size of the log at that time; no other line is taken
        apart.

        Raises LogError at a line that says so and is none.
        """
        for place, line in self.journal.lines():
            if _REWOUND in line:
                entry = self._entry(place, line)
                if isinstance(entry.record, Rewound):
                    yield entry.record, entry.at

    def _entry(self, place: ByteRange, line: bytes) -> Entry:
        try:
            return Entry.read(line)
        except LogError as error:
            raise LogError(f"{self.journal.path}, bytes {place.start}-{place.end}: {error}") from error


@functools.cache
def converter_of_records() -> cattrs.Converter:
    """Values as compact JSON: defaults are left out, ranges are pairs, a message's texts are in its payload."""
    import cattrs
    from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

    converter = cattrs.Converter(
        omit_if_default=True, detailed_validation=False, unstruct_collection_overrides={frozenset: sorted}
    )
    converter.register_unstructure_hook(ByteRange, lambda place: [place.start, place.end])
    converter.register_structure_hook(ByteRange, _byte_range)
    for kind in (int, float, str, bool):
        converter.register_structure_hook(kind, _strict)
    converter.register_unstructure_hook(
        Item,
        make_dict_unstructure_fn(
            Item, converter, _cattrs_omit_if_default=True, text=override(omit=True), scan=override(omit=True)
        ),
    )
    converter.register_structure_hook(
        Item, make_dict_structure_fn(Item, converter, text=override(omit=True), scan=override(omit=True))
    )
    # A message is saved elsewhere; a cursor names it beside.
    converter.register_unstructure_hook(
        Cursor, make_dict_unstructure_fn(Cursor, converter, results=override(omit=True), _cattrs_omit_if_default=True)
    )
    converter.register_structure_hook(Cursor, make_dict_structure_fn(Cursor, converter, results=override(omit=True)))
    converter.register_structure_hook_func(_is_payload, lambda payload, _: payload)
    converter.register_unstructure_hook_func(_is_payload, lambda payload: payload)
    converter.register_structure_hook(Drop | Stub | Summarize, _action)
    return converter


def _without_defaults(record: LedgerRecord) -> dict[str, Any]:
    """What is no default, in cattrs' order: fields without a default first."""
    fields = sorted(attrs.fields(type(record)), key=lambda field: field.default is not attrs.NOTHING)
    values = ((field, getattr(record, field.name)) for field in fields)
    return {field.name: value for field, value in values if value != field.default}


def _is_plain(value: object) -> bool:
    """Whether a value is written as it stands: then cattrs, which takes 60 ms to load, is not asked for its form."""
    if type(value) is dict:
        return all(map(_is_plain, value.values()))
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return value is None or type(value) in {str, int, float, bool}


def _strict(value: Any, kind: Any) -> Any:
    """
    Return the value as it was written: one of another type was damaged, and may not pass for what
    it can be made into.
    """
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise TypeError(f"{value!r:.60} is no {kind.__name__}")
    return value


def _byte_range(pair: Any, _: object) -> ByteRange:
    start, end = (_strict(each, int) for each in pair)
    if not 0 <= start <= end:
        raise ValueError(f"{start}-{end} is no range of bytes")
    return ByteRange(start, end)


def _is_payload(kind: Any) -> bool:
    return bool(kind == Payload)


def _action(saved: dict[str, Any], _: object) -> Drop | Stub | Summarize:
    if "item" in saved:
        return Stub(saved["item"], saved["keep"], saved.get("gap", GAP))
    if "max_tokens" in saved:
        form = SummaryForm(saved.get("form", SummaryForm.ACCOUNT.value))
        keep, whole = saved.get("keep", SUMMARY_SHARE), bool(saved.get("whole"))
        return Summarize(tuple(saved["units"]), saved["max_tokens"], keep, form, whole)
    return Drop(tuple(saved["units"]))
