"""What one change did to the messages of the window, so that it can be undone and redone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from gc_core.errors import LogError
from gc_core.relevance.name_scan import scan
from gc_core.values.items import Item, ItemKind
from gc_core.values.messages import Message, Payload, Role
from gc_core.values.names import NOTHING
from gc_core.values.references import ByteRange

if TYPE_CHECKING:  # the ledger is read without a window
    from gc_core.providers.contract import Format

ReadPayload = Callable[[ByteRange], Payload]
"""Reads the payload of the line of the master log at a place."""


@attrs.frozen(kw_only=True)
class SavedMessage:
    """
    A message as the ledger and the checkpoints store it.

    Attributes:
        id: The session's own id.
        role: The role.
        overhead: Its tokens beyond its items.
        synthetic: Written by the framework.
        items: Its items, without their texts, which are in the payload.
        payload: Its payload; None if it is, verbatim, what the log has at ``place``.
        place: The line of the master log with which it arrived, or None.

    """

    id: str
    role: Role
    overhead: int
    synthetic: bool = False
    items: tuple[Item, ...]
    payload: Payload | None = None
    place: ByteRange | None = None

    @classmethod
    def of(cls, message: Message) -> SavedMessage:
        """Return the saved form of a message."""
        place = message.items[0].logged if message.as_logged else None
        return cls(
            id=message.id,
            role=message.role,
            overhead=message.overhead,
            synthetic=message.synthetic,
            items=message.items,
            payload=message.payload if place is None else None,
            place=place,
        )

    def message(self, read: ReadPayload, format: Format) -> Message:  # noqa: A002 - the session's own word
        """
        Return the message of the window. Raises LogError when the log does not contain what its
        items are made from.
        """
        payload = self.payload
        if payload is None and self.place is not None:
            payload = read(self.place)
        parts = () if payload is None else format.read(payload)
        if payload is None or len(parts) != len(self.items):
            raise LogError(f"message {self.id} has {len(self.items)} items and its payload {len(parts)} parts")
        items = (_with_text(item, part.text) for item, part in zip(self.items, parts, strict=True))
        return Message(
            id=self.id,
            role=self.role,
            payload=payload,
            items=tuple(items),
            overhead=self.overhead,
            synthetic=self.synthetic,
            as_logged=self.payload is None,
        )


@attrs.frozen(kw_only=True)
class Patch:
    """
    Adjacent messages, and what replaced them.

    Attributes:
        after: Id of the unchanged message before them, "" at the head of the conversation.
        removed: The removed messages.
        inserted: The inserted messages.

    """

    after: str
    removed: tuple[SavedMessage, ...] = ()
    inserted: tuple[SavedMessage, ...] = ()

    @property
    def reverse(self) -> Patch:
        """Return the patch that undoes it."""
        return Patch(after=self.after, removed=self.inserted, inserted=self.removed)


def hunks_between(before: Sequence[Message], after: Sequence[Message]) -> tuple[Patch, ...]:
    """
    Return the patches from one list to the other, by identity: an unchanged message is the same
    object. O(window).
    """
    stays = {id(message) for message in before} & {id(message) for message in after}
    rest = iter(after)
    come: list[Message] = []
    gone: list[Message] = []
    behind, hunks = "", []
    for old in before:
        if id(old) not in stays:
            gone.append(old)
            continue
        for new in rest:
            if new is old:
                break
            come.append(new)
        hunks += _hunk(behind, gone, come)
        gone, come, behind = [], [], old.id
    return tuple(hunks + _hunk(behind, gone, [*come, *rest]))


def patched(
    messages: Sequence[Message],
    hunks: Iterable[Patch],
    load: Callable[[SavedMessage], Message],
    format: Format,  # noqa: A002 - the session's own word
) -> list[Message]:
    """
    Apply patches to messages. What joined a message after its change was recorded stays at its end.

    Raises LogError, naming the place, when a message that should leave is missing.
    """
    result: list[Message] = []
    rest = iter(messages)
    for hunk in hunks:
        grown: tuple[Message, int] | None = None
        if hunk.after:
            result += _up_to(rest, hunk.after)
        for gone in hunk.removed:
            found = next(rest, None)
            if found is None or found.id != gone.id:
                where = f"behind {hunk.after}" if hunk.after else "at the head"
                text = f"{where} message {gone.id} should stand, and {found.id if found else 'nothing'} does"
                raise LogError(f"the ledger does not fit the window: {text}")
            if len(found.items) > len(gone.items):
                grown = found, len(gone.items)
        come = list(map(load, hunk.inserted))
        result += come if grown is None else _with_tail(come, *grown, format)
    return [*result, *rest]


def _with_tail(
    come: Sequence[Message],
    found: Message,
    start: int,
    format: Format,  # noqa: A002 - the session's own word
) -> list[Message]:
    """Append the items of a grown message from ``start`` on to its other version, or to the messages if it left."""
    earlier = format.read(found.payload)[:start]
    rest = format.edit(found.payload, {part.place: None for part in earlier})
    if rest is None:
        raise LogError(f"message {found.id} has {len(found.items)} items and its payload {len(earlier)} parts")
    tail = attrs.evolve(found, payload=rest, items=found.items[start:], as_logged=False)
    if not come or come[-1].id != found.id:
        return [*come, tail]
    whole = format.join(come[-1].payload, rest)
    if whole is None:
        raise LogError(f"what joined message {found.id} does not join its other version")
    return [*come[:-1], attrs.evolve(tail, payload=whole, items=(*come[-1].items, *tail.items))]


def _up_to(rest: Iterator[Message], wanted: str) -> Iterator[Message]:
    for message in rest:
        yield message
        if message.id == wanted:
            return
    raise LogError(f"the ledger does not fit the window: no message {wanted}")


def _hunk(behind: str, gone: Sequence[Message], come: Sequence[Message]) -> list[Patch]:
    if not gone and not come:
        return []
    saved = SavedMessage.of
    return [Patch(after=behind, removed=tuple(map(saved, gone)), inserted=tuple(map(saved, come)))]


def _with_text(item: Item, text: str) -> Item:
    return attrs.evolve(item, text=text, scan=NOTHING if item.kind is ItemKind.TRACE else scan(text))
