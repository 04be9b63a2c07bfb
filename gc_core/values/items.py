"""The parts of the window: items, in units, in turns and steps."""

from __future__ import annotations

import enum

import attrs

from gc_core.values.names import NOTHING, Scan
from gc_core.values.policy import GCPolicy
from gc_core.values.references import ByteRange, Reference

Place = tuple[str | int, ...]
"""The place of a part in a provider's message, as keys and indices; only its format interprets it."""


class ItemKind(enum.Enum):
    """The kind of an item."""

    SYSTEM_TEXT = "system_text"
    TOOL_SCHEMA = "tool_schema"
    MEMORY_BLOCK = "memory_block"
    ENRICHMENT = "enrichment"
    USER_TEXT = "user_text"
    ASSISTANT_TEXT = "assistant_text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    ATTACHMENT = "attachment"
    OPAQUE = "opaque"
    SUMMARY = "summary"
    TRACE = "trace"

    # Members are singletons, and Enum's own hash is Python code that collections would call for every item.
    __hash__ = object.__hash__


class Form(enum.Enum):
    """Whether an item is whole, or replaced by a shorter text."""

    WHOLE = "whole"
    STUB = "stub"


class Level(enum.Enum):
    """The detail with which a unit still contains its originals: the older, the less."""

    VERBATIM = "L0"
    CONDENSED = "L1"
    SUMMARY = "L2"
    DIGEST = "L3"


DIGEST_NAME = "digest"
"""The prefix of the names of digests' items."""


def number_of(key: str) -> int:
    """
    Return the number in an item's id: 12 for ``i12``, -1 for anything that is not an item's id.

    Ids count up in the order in which items arrived.
    """
    return int(key[1:]) if key[:1] == "i" and key[1:].isascii() and key[1:].isdigit() else -1


@attrs.frozen(kw_only=True)
class Image:
    """
    The size of an image, for counting.

    Attributes:
        width: Pixels; 0 when the size is not known offline (a URL, a file id).
        height: Pixels; 0 when unknown.
        detail: The provider's own word for the resolution, or "".

    """

    width: int = 0
    height: int = 0
    detail: str = ""


@attrs.frozen(kw_only=True)
class Part:
    """
    A part of a provider's message, as a format reads it; it becomes an item.

    Attributes:
        kind: What it is.
        place: Its place in the message.
        text: The text that the model reads; the arguments of a tool call as one JSON text; "" for an image.
        name: Tool name of a call, or "".
        call_id: The provider's id that pairs a call with its result, or "".
        is_error: The tool reported a failure.
        images: Images inside this part.
        free_text: The arguments of the call are free text, not a JSON object.
        sealed_bytes: Bytes that are not text: signatures, encrypted data, base64 that is not an image.
        fixed: The provider accepts it only unmodified (a signed part of Gemini's, G3): it may be removed, not changed.
        sealed_text: Its ``sealed_bytes`` contain text, as in thinking, rather than a document.
        held: It must stay in its place (Anthropic's changes of tools, N8): it is LOCKED.

    """

    kind: ItemKind
    place: Place
    text: str = ""
    name: str = ""
    call_id: str = ""
    is_error: bool = False
    images: tuple[Image, ...] = ()
    free_text: bool = False
    sealed_bytes: int = 0
    fixed: bool = False
    sealed_text: bool = False
    held: bool = False


@attrs.frozen(kw_only=True)
class Item:
    """
    The smallest part of the window that has an id and a token count.

    Attributes:
        id: ``i1``, ``i2``, ...: the session's own, never reused.
        kind: Its kind.
        source: Name of the instruction source it belongs to.
        policy: Its policy.
        tokens: Its current tokens.
        text: The text that the model currently reads.
        unit: Number of its unit.
        turn: Number of its turn; counts from 0 and never shifts.
        step: Number of its step inside the turn, or -1 when it belongs to no assistant unit.
        name: Tool name (call and result), part name (system, enrichment) or "".
        call: Item id of the tool call that a result answers, or "".
        is_error: The tool reported a failure.
        synthetic: Written by the framework, not by user, model or tool.
        form: Whole, or a stub.
        original_tokens: Tokens that it had when it arrived.
        pinned: The host pinned this item.
        fixed: The provider accepts it only unmodified: it may leave with its unit, but not be stubbed.
        required: The provider requires it to stay where it is: it is LOCKED, whatever the host says.
        reference: What a stub or a trace refers to.
        logged: The line of the master log with which it arrived; None for what the framework wrote.

    """

    id: str
    kind: ItemKind
    source: str
    policy: GCPolicy
    tokens: int
    text: str = attrs.field(default="", repr=False)
    unit: int
    turn: int
    step: int = -1
    name: str = ""
    call: str = ""
    is_error: bool = False
    synthetic: bool = False
    form: Form = Form.WHOLE
    original_tokens: int
    pinned: bool = False
    fixed: bool = False
    required: bool = False
    reference: Reference | None = None
    logged: ByteRange | None = None
    scan: Scan = attrs.field(default=NOTHING, repr=False, eq=False)


@attrs.frozen(kw_only=True)
class Unit:
    """
    Items that leave only together: an assistant message with all its results, or one user message.

    Attributes:
        number: The session's own number.
        turn: The turn it belongs to.
        step: Its step inside the turn, or -1 for a user or framework message.
        items: In the order in which the model reads them.
        tokens: Its tokens, including the overhead of its messages.
        pending: It contains a tool call that still waits for its result.
        pinned: One of its items, or its turn, is pinned.
        policy: The strongest policy of its items, which applies to all.
        is_trace: It replaces units that were dropped.
        original_tokens: Tokens of its originals when they arrived.

    """

    number: int
    turn: int
    step: int
    items: tuple[Item, ...]
    tokens: int
    pending: bool = False
    pinned: bool = False
    # Asked for several times in every collection, so computed once.
    policy: GCPolicy = attrs.field(init=False, repr=False, eq=False)
    is_trace: bool = attrs.field(init=False, repr=False, eq=False)
    original_tokens: int = attrs.field(init=False, repr=False, eq=False)

    @policy.default
    def _strongest(self) -> GCPolicy:
        policies = {item.policy for item in self.items}
        return policies.pop() if len(policies) == 1 else max(policies, key=lambda policy: policy.strength)

    @is_trace.default
    def _holds_only_traces(self) -> bool:
        return self.items[0].kind is ItemKind.TRACE and all(item.kind is ItemKind.TRACE for item in self.items)

    @original_tokens.default
    def _arrived_with(self) -> int:
        arrived = [item.original_tokens if item.reference is None else item.reference.tokens for item in self.items]
        return sum(arrived)

    @property
    def is_summary(self) -> bool:
        """True if it replaces units that were summarised."""
        return self.items[0].kind is ItemKind.SUMMARY

    @property
    def level(self) -> Level:
        """The detail with which it still contains its originals; a trace counts like a digest."""
        if self.is_summary and not self.is_digest:
            return Level.SUMMARY
        if self.is_digest or self.is_trace:
            return Level.DIGEST
        return Level.CONDENSED if any(item.form is Form.STUB for item in self.items) else Level.VERBATIM

    @property
    def is_digest(self) -> bool:
        """True if it is a summary that grows by entries."""
        return self.is_summary and self.items[0].name.startswith(DIGEST_NAME)

    @property
    def is_exchange(self) -> bool:
        """True for a turn that called no tool: a question and its answer."""
        return self.is_step and any(item.kind is ItemKind.USER_TEXT for item in self.items)

    @property
    def is_step(self) -> bool:
        """True for one model call (an assistant message with its results)."""
        return self.step >= 0


@attrs.frozen(kw_only=True)
class Turn:
    """
    One turn: from a user message to the next one that does not directly follow a user message.

    Attributes:
        number: Counts from 0 and never shifts.
        units: Its resident units, oldest first.

    """

    number: int
    units: tuple[Unit, ...]

    @property
    def tokens(self) -> int:
        """Tokens of its resident units."""
        return sum(unit.tokens for unit in self.units)
