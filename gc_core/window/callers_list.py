"""The list of messages that a caller keeps, as far as the session has read it."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Mapping, Sequence

import attrs

from gc_core.relevance.objective import Objective
from gc_core.values.items import Item, ItemKind, number_of
from gc_core.values.messages import Message, Payload, digest_of, without_marks
from gc_core.window.cursor import Cursor

REMEMBERED = 64
"""The branch points kept in memory, the newest: older ones are rebuilt from the log when a list departs there."""

_STAND_INS = frozenset({ItemKind.TRACE, ItemKind.SUMMARY})
_REPLIES = frozenset({ItemKind.ASSISTANT_TEXT, ItemKind.THINKING, ItemKind.TOOL_CALL})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})


@attrs.frozen
class Given:
    """
    A message of the caller's list.

    Attributes:
        digest: The digest of the message in its normal form, in hex; see ``digest_of_given``.
        items: The number of items before it.
        log: Size of the master log before it, in bytes.
        ledger: Size of the ledger before it, in bytes.

    """

    digest: str
    items: int
    log: int
    ledger: int


@attrs.frozen
class Spelling:
    """
    Other messages that stand for the beginning of a caller's list: those that a session sent in its place.

    Attributes:
        digests: The digest of each message.
        count: The number of messages of the list that they stand for.
        last: The last of these; None if there are none.

    """

    digests: tuple[str, ...]
    count: int
    last: Given | None

    @classmethod
    def of(cls, digests: Sequence[str], known: Sequence[Given]) -> Spelling:
        """Return these messages as standing for all of the known list."""
        return cls(tuple(digests), len(known), known[-1] if known else None)

    def spelled_out(self, digests: Sequence[str], known: Sequence[Given]) -> tuple[str, ...] | None:
        """Return the digests of a list with the messages that its beginning stands for; None if it is another one."""
        size = len(self.digests)
        still = self.last is None or (self.count <= len(known) and known[self.count - 1] == self.last)
        if not size or not still or tuple(digests[:size]) != self.digests:
            return None
        return (*(each.digest for each in known[: self.count]), *digests[size:])


@attrs.frozen
class BranchPoint:
    """The state from which a session continues before a message: numbering, open calls, the objective."""

    cursor: Cursor
    objective: Objective


@attrs.frozen
class Departure:
    """
    Where a list departs from the one that a session knows.

    Attributes:
        kept: The number of leading messages that both have.
        dropped: The number of messages that the known list has after them.
        drops_replies: They include words or calls of the model.
        is_whole: Nothing of what both have was collected.

    """

    kept: int
    dropped: int
    drops_replies: bool
    is_whole: bool


START = BranchPoint(Cursor(), Objective())
"""The branch point before the first message."""


def digest_of_given(message: Payload) -> str:
    """
    Return the digest of a message in its normal form: without cache marks and null fields, with a string as one text
    block. Clients move marks from call to call and write the same text in both forms.
    """
    bare = without_marks(message)
    content = bare.get("content")
    if isinstance(content, str):
        bare = {**bare, "content": [content]}
    elif isinstance(content, list) and len(content) == 1 and _is_plain_text(content[0]):
        bare = {**bare, "content": [content[0]["text"]]}
    return digest_of({key: value for key, value in bare.items() if value is not None}).hex()


def _is_plain_text(block: object) -> bool:
    return isinstance(block, Mapping) and block.keys() == {"type", "text"} and block["type"] in _TEXT_TYPES


def known_prefix(known: Sequence[Given], digests: Sequence[str]) -> int:
    """Return the number of equal leading messages of both lists."""
    same = itertools.takewhile(lambda pair: pair[0].digest == pair[1], zip(known, digests, strict=False))
    return sum(1 for _ in same)


def departure(known: Sequence[Given], messages: Sequence[Message], digests: Sequence[str]) -> Departure:
    """Return where a list departs from the known one, with these messages in the window."""
    kept = known_prefix(known, digests)
    if kept == len(known):
        return Departure(kept, 0, drops_replies=False, is_whole=False)
    number = known[kept].items
    items = [item for message in messages for item in message.items if not item.synthetic]
    return Departure(
        kept,
        len(known) - kept,
        drops_replies=any(number_of(item.id) > number and item.kind in _REPLIES for item in items),
        is_whole=set(range(kept)) <= set(origins_of(messages, known[: kept + 1]))
        and not any(item.reference is not None and number_of(item.reference.first) <= number for item in items),
    )


def origins_of(messages: Iterable[Message], given: Sequence[Given]) -> tuple[int, ...]:
    """
    Return for each message of the window the place in the caller's list of the message that it came from, also where a
    notice has joined it; -1 for one that came from several, or that the framework wrote.
    """
    starts = [each.items for each in given]
    return tuple(_origin(message, starts) for message in messages)


def _origin(message: Message, starts: Sequence[int]) -> int:
    came = [number_of(item.id) for item in message.items if not item.synthetic]
    places = {bisect.bisect_right(starts, number - 1) - 1 for number in came}
    return places.pop() if len(places) == 1 else -1


def came_after(item: Item, number: int) -> bool:
    """Return whether an item, or everything that a trace or summary covers, arrived after the item with this number."""
    return number_of(_last(item)) > number


def straddles(items: Iterable[Item], number: int) -> bool:
    """Return whether a trace or summary covers items on both sides of this number."""
    return any(
        number_of(item.reference.first) <= number < number_of(item.reference.last)
        for item in items
        if item.kind in _STAND_INS and item.reference is not None
    )


def _last(item: Item) -> str:
    return item.reference.last if item.kind in _STAND_INS and item.reference is not None else item.id
