"""
The ledger: changes of the window, as results, append-only.

No record says "run strategy X again": a collection contains its final texts, so the window is a pure function of the
master log and the ledger, and rebuilding it calls no plugin.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from gc_core.errors import GCError, LogError, RemovalError, SourceError
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
from gc_core.window.cursor import Cursor
from gc_core.window.memory_blocks import Block
from gc_core.window.patches import Patch

if TYPE_CHECKING:
    import cattrs

FILE_NAME = "ledger.jsonl"


@attrs.frozen(kw_only=True)
class Numbers:
    """The numbering after a change: ids are never given twice, whatever is undone."""

    items: int
    messages: int
    units: int
    summaries: int = 0


@attrs.frozen(kw_only=True)
class Digests:
    """
    Digests of the messages in the window, in hex.

    Attributes:
        before: Digest of all messages before the change.
        after: Digest of all messages after it.
        count: The number of messages before.

    """

    before: str
    after: str
    count: int


@attrs.frozen(kw_only=True)
class Opened:
    """
    A session was created, or opened again, with these settings.

    Attributes:
        session: The session's id.
        format: Name of the provider's message shape.
        model: The model's name, or None.
        config: Its configuration.
        version: The version of gc-core.
        objects: Types of strategies that were given as objects, which are not stored.

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
    A request was rendered; after the first one changes of the head wait for a break.

    Attributes:
        digest: Digest of its system texts, tool schemas and messages, in hex; "" in early files of gc-core.

    """

    digest: str = ""


@attrs.frozen(kw_only=True)
class Observed:
    """
    The provider reported its input tokens for a request of ``raw`` own tokens.

    Attributes:
        raw: The session's own count of the request's tokens.
        reported: Input tokens as reported, including cached ones.
        usage: The whole report of a call; None if a refusal named the size.
        sent: When the request began, in seconds since 1970; 0 if unknown.
        changed: Where it differed from the previous request: ``"tools"``, ``"system"``, ``"messages"`` or "".
        reason: The provider's own word for why it missed the cache, or "".
        counted: A counting endpoint returned it, before the call.

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
    A call outside the conversation.

    Attributes:
        source: Its kind: ``"summaries"``, ``"workers"``, or a name that a host gave.
        usage: Its usage.
        model: The model, or None.
        estimated: The tokens are the session's own counts, because none were reported.

    """

    source: str
    usage: Usage
    model: str | None = None
    estimated: bool = False


@attrs.frozen(kw_only=True)
class Cleared:
    """
    Items that the provider leaves out of the requests from here on, compared with before.

    Attributes:
        gone: Items that it now leaves out.
        back: Items that it does not leave out any more.
        tokens: Input tokens that it reports as cleared.

    """

    gone: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    tokens: int = 0


@attrs.frozen(kw_only=True)
class Configured:
    """
    Another model or window, or another spending limit.

    Attributes:
        model: The model's name, or None.
        context_limit: Tokens of its window.
        output_reservation: Tokens of it reserved for the reply.
        max_total_tokens: The spending limit; 0 without one, None in early files of gc-core.

    """

    model: str | None
    context_limit: int
    output_reservation: int
    max_total_tokens: int | None = None


@attrs.frozen(kw_only=True)
class Pinned:
    """A turn or an item was pinned or unpinned."""

    turn: int | None = None
    item: str | None = None
    pinned: bool


@attrs.frozen(kw_only=True)
class PolicySet:
    """The host changed the policy of an item."""

    item: str
    policy: GCPolicy


@attrs.frozen(kw_only=True)
class Collected:
    """
    One collection, or one restored item, with its effect on the window.

    Attributes:
        reason: The reason, or None for a restored item.
        target_tokens: The target.
        tokens_before: Tokens of the request before, uncalibrated.
        tokens_after: Tokens of the request after.
        removals: The removals, with their proposers and the tokens freed.
        hunks: The messages before and after, with the final texts.
        summaries: How each summary was written.
        recalled: Content brought back at the end of the next request, as it is sent there.
        schemas: Tool schemas that left.
        changed_head: Waiting changes of the head took effect with it.
        numbers: The numbering afterwards.
        counter: Name of the counter of its tokens.
        digests: The digests of the messages before and after.

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
    """The collection at this place of the ledger was undone, or (``redone``) redone."""

    place: ByteRange
    redone: bool = False


@attrs.frozen(kw_only=True)
class Released:
    """Restored items may be collected again."""


@attrs.frozen(kw_only=True)
class Rewound:
    """
    Log and ledger after these offsets, up to this record, are rewound; the files keep them.

    Attributes:
        log: Size of the log to which the session was rewound, in bytes.
        ledger: Size of the ledger.
        why: The reason, in words.
        numbers: The numbering, which continues whatever was rewound.

    """

    log: int
    ledger: int
    why: str
    numbers: Numbers


@attrs.frozen(kw_only=True)
class Branched:
    """
    The caller's list departed from what was known of it: messages after that point left the window.

    Attributes:
        kept: Messages at the head of the list that are the same.
        cursor: The numbering before the next one.
        results: Id of the message that what comes next may join, or "".
        objective: The agent's objective then.
        taken_out: Size of the log before what the caller took out, in bytes; 0 if its own summary stands for that.

    """

    kept: int
    cursor: Cursor
    results: str = ""
    objective: Objective
    taken_out: int = 0


@attrs.frozen(kw_only=True)
class Purged:
    """Someone overwrote a secret with a purge; the digests of the collections in effect were renewed."""

    by: str
    occurrences: int


@attrs.frozen(kw_only=True)
class ObjectiveSet:
    """The host set the objective; "": the user's own words decide."""

    text: str


@attrs.frozen(kw_only=True)
class Ancestor:
    """
    A session that this one was handed off from, directly or indirectly.

    Attributes:
        session: Its id.
        directory: The directory of its files; "" if they were deleted with it.

    """

    session: str
    directory: str


@attrs.frozen(kw_only=True)
class Inherited:
    """
    The session was handed off from another one.

    Attributes:
        ancestors: The sessions that its opening refers to, the nearest first.
        state: The task state at that time, as JSON.

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
    "first_sent": Sent,  # in early files of gc-core
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
"""The form in a line: quotes in texts are escaped, so hardly any other line contains it."""

_GOING_BACK = b'"kind":"rewound"', b'"kind":"branched"'


@functools.cache
def unreadable() -> tuple[type[Exception], ...]:
    """Return the errors of reading a value from JSON of another form."""
    import cattrs

    cattrs_errors = cattrs.BaseValidationError, cattrs.StructureHandlerNotFoundError
    of_values = RemovalError, SourceError
    return ValueError, LookupError, TypeError, AttributeError, ArithmeticError, *of_values, *cattrs_errors


def inconsistent_record() -> tuple[type[Exception], ...]:
    """Return the errors of applying a damaged record, or one of another session."""
    return GCError, *unreadable()


@attrs.frozen(kw_only=True)
class Entry:
    """
    One line of the ledger.

    Attributes:
        at: Size of the master log when it was written, in bytes: the part of the log that precedes it.
        time: Seconds since 1970.
        record: The change.
        span: The telemetry span as ``trace-span`` in hex, if telemetry was active; otherwise "".

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
        """Return the entry in a line. Raises LogError for a line of another form."""
        try:
            saved = read_json(line, DEEPEST_RECORD)
            at, time, kind = saved.pop("at"), saved.pop("time"), saved.pop("kind")
            span = _strict(saved.pop("span", ""), str)
            at, time = _strict(at, int), float(_strict(time, float))
            return cls(at=at, time=time, record=converter_of_records().structure(saved, _KINDS[kind]), span=span)
        except unreadable() as error:
            raise LogError(f"not a valid line of a ledger: {line[:200]!r}; {type(error).__name__}: {error}") from error


class Ledger:
    """Appends entries and reads them back."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    @property
    def size(self) -> int:
        """The size of the ledger in bytes: the place of the next entry."""
        return self.journal.size

    def append(self, entry: Entry) -> ByteRange:
        """Write an entry; return its place. Raises LogError when it cannot be written."""
        (place,) = self.journal.append([entry.line()])
        return place

    def read(self, place: ByteRange) -> Entry:
        """Return the entry at a place. Raises LogError if there is none."""
        return self._entry(place, self.journal.read(place))

    def entries(self, start: int = 0, end: int | None = None) -> Iterator[tuple[ByteRange, Entry]]:
        """Yield the entries from an offset on, each with its place. Raises LogError at an invalid line."""
        for place, line in self.journal.lines(start, end):
            yield place, self._entry(place, line)

    def opened_last(self, start: int = 0) -> Opened | None:
        """
        Return how the session was last opened, from an offset on, or None; other lines are not parsed.

        Raises LogError at an invalid line of that kind.
        """
        found = None
        for place, line in self.journal.lines(start):
            if _OPENED in line:
                record = self._entry(place, line).record
                found = record if isinstance(record, Opened) else found
        return found

    def going_back(self, start: int = 0) -> Iterator[tuple[ByteRange, Entry]]:
        """
        Yield every rewind and every branch of the caller's list, from an offset on; other lines are not parsed.

        Raises LogError at an invalid line of these kinds.
        """
        for place, line in self.journal.lines(start):
            if any(kind in line for kind in _GOING_BACK):
                yield place, self._entry(place, line)

    def _entry(self, place: ByteRange, line: bytes) -> Entry:
        try:
            return Entry.read(line)
        except LogError as error:
            raise LogError(f"{self.journal.path}, bytes {place.start}-{place.end}: {error}") from error


@functools.cache
def converter_of_records() -> cattrs.Converter:
    """
    Return a converter of values to compact JSON: without defaults, ranges as pairs, a message's
    texts in its payload.
    """
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
    # The keys of patches in ledger files are others than their fields.
    after, removed, inserted = override(rename="behind"), override(rename="gone"), override(rename="come")
    converter.register_unstructure_hook(
        Patch,
        make_dict_unstructure_fn(
            Patch, converter, _cattrs_omit_if_default=True, after=after, removed=removed, inserted=inserted
        ),
    )
    converter.register_structure_hook(
        Patch, make_dict_structure_fn(Patch, converter, after=after, removed=removed, inserted=inserted)
    )
    # A message is saved elsewhere; a cursor only names it.
    converter.register_unstructure_hook(
        Cursor, make_dict_unstructure_fn(Cursor, converter, results=override(omit=True), _cattrs_omit_if_default=True)
    )
    converter.register_structure_hook(Cursor, make_dict_structure_fn(Cursor, converter, results=override(omit=True)))
    converter.register_structure_hook_func(_is_payload, lambda payload, _: payload)
    converter.register_unstructure_hook_func(_is_payload, lambda payload: payload)
    converter.register_structure_hook(Drop | Stub | Summarize, _action)
    return converter


def _without_defaults(record: LedgerRecord) -> dict[str, Any]:
    """Fields that differ from their default, in cattrs' order: fields without a default first."""
    fields = sorted(attrs.fields(type(record)), key=lambda field: field.default is not attrs.NOTHING)
    values = ((field, getattr(record, field.name)) for field in fields)
    return {field.name: value for field, value in values if value != field.default}


def _is_plain(value: object) -> bool:
    """True if a value is written as it is: then cattrs, which takes 60 ms to load, is not asked for its form."""
    left = [value]
    while left:
        each = left.pop()
        if type(each) is dict:
            left += each.values()
        elif type(each) is tuple:
            left += each
        elif each is not None and type(each) not in {str, int, float, bool}:
            return False
    return True


def _strict(value: Any, kind: Any) -> Any:
    """Return the value as it was written: a value of another type was damaged, and must not be converted."""
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise TypeError(f"{value!r:.60} is not a {kind.__name__}")
    return value


def _byte_range(pair: Any, _: object) -> ByteRange:
    start, end = (_strict(each, int) for each in pair)
    if not 0 <= start <= end:
        raise ValueError(f"{start}-{end} is not a range of bytes")
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
