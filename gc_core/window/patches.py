"""The effect of one change on the messages of the window, so that it can be undone and redone."""

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
        """The patch that undoes this one."""
        return Patch(after=self.after, removed=self.inserted, inserted=self.removed)


def hunks_between(before: Sequence[Message], after: Sequence[Message]) -> tuple[Patch, ...]:
    """
    Return the patches from one list to the other, by identity: an unchanged message is the same
    object. One that another has overtaken is removed and inserted. O(window).
    """
    stays = _unmoved(before, after)
    rest = iter(after)
    inserted: list[Message] = []
    removed: list[Message] = []
    after_id, hunks = "", []
    for old in before:
        if id(old) not in stays:
            removed.append(old)
            continue
        for new in rest:
            if new is old:
                break
            inserted.append(new)
        hunks += _hunk(after_id, removed, inserted)
        removed, inserted, after_id = [], [], old.id
    return tuple(hunks + _hunk(after_id, removed, [*inserted, *rest]))


def _unmoved(before: Sequence[Message], after: Sequence[Message]) -> set[int]:
    """Return the messages, by identity, that are in both lists and in the same order there."""
    place_of = {id(message): place for place, message in enumerate(before)}
    unmoved, last = set(), -1
    for message in after:
        place = place_of.get(id(message), -1)
        if place > last:
            unmoved.add(id(message))
            last = place
    return unmoved


def patched(
    messages: Sequence[Message],
    hunks: Iterable[Patch],
    load: Callable[[SavedMessage], Message],
    format: Format,  # noqa: A002 - the session's own word
) -> list[Message]:
    """
    Apply patches to messages. Content that joined a message after its change was recorded stays at its end.

    Raises LogError, naming the place, when a message that should leave is missing.
    """
    result: list[Message] = []
    rest = iter(messages)
    for hunk in hunks:
        grown: tuple[Message, int] | None = None
        if hunk.after:
            result += _up_to(rest, hunk.after)
        for removed in hunk.removed:
            found = next(rest, None)
            if found is None or found.id != removed.id:
                where = f"after {hunk.after}" if hunk.after else "at the head"
                text = f"{where} message {removed.id} was expected, found {found.id if found else 'nothing'}"
                raise LogError(f"the ledger does not fit the window: {text}")
            if len(found.items) > len(removed.items):
                grown = found, len(removed.items)
        inserted = list(map(load, hunk.inserted))
        result += inserted if grown is None else _with_tail(inserted, *grown, format)
    return [*result, *rest]


def _with_tail(
    inserted: Sequence[Message],
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
    if not inserted or inserted[-1].id != found.id:
        return [*inserted, tail]
    whole = format.join(inserted[-1].payload, rest)
    if whole is None:
        raise LogError(f"what joined message {found.id} does not join its other version")
    return [*inserted[:-1], attrs.evolve(tail, payload=whole, items=(*inserted[-1].items, *tail.items))]


def _up_to(rest: Iterator[Message], wanted: str) -> Iterator[Message]:
    for message in rest:
        yield message
        if message.id == wanted:
            return
    raise LogError(f"the ledger does not fit the window: no message {wanted}")


def _hunk(after_id: str, removed: Sequence[Message], inserted: Sequence[Message]) -> list[Patch]:
    if not removed and not inserted:
        return []
    saved = SavedMessage.of
    return [Patch(after=after_id, removed=tuple(map(saved, removed)), inserted=tuple(map(saved, inserted)))]


def _with_text(item: Item, text: str) -> Item:
    return attrs.evolve(item, text=text, scan=NOTHING if item.kind is ItemKind.TRACE else scan(text))
