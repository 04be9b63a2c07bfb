"""Restores collected content: a unit returns to its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from gc_core.errors import SourceError
from gc_core.providers.token_counting import part_tokens
from gc_core.storage.ledger import Ledger
from gc_core.storage.rebuild import collected
from gc_core.values.items import Item, ItemKind, Part, number_of
from gc_core.values.messages import Message
from gc_core.values.references import ByteRange
from gc_core.window.intake import Intake
from gc_core.window.patches import SavedMessage


def originals(ledger: Ledger, done: Iterable[ByteRange], item: str) -> tuple[SavedMessage, ...]:
    """
    Return the messages of the item's unit as they were before a collection changed them, with units that share a
    message with it.

    Raises SourceError when no collection in effect removed the item.
    """
    places = list(done)
    unit = next((unit for place in places for unit in _units_with(ledger, place, item)), None)
    if unit is None:
        raise SourceError(f"item {item!r} was not collected, or that was undone")
    units, first = {unit}, dict[str, SavedMessage]()
    while True:
        for place in places:
            line = ledger.journal.read(place)
            if any(f'"unit":{each},'.encode() in line for each in units):
                for message in _removed_messages(ledger, place):
                    if any(each.unit in units for each in message.items):
                        first.setdefault(message.id, message)
        more = {each.unit for message in first.values() for each in message.items}
        if more <= units:
            return tuple(first.values())
        units |= more


def brought_back(messages: Sequence[Message], back: Iterable[Message], intake: Intake) -> list[Message]:
    """
    Return the messages of the window with these among them, pinned, each in its place; traces that covered them cover
    less. O(window).
    """
    window = list(messages)
    restored: list[Item] = []
    for together in _together(back):
        # A unit is placed by its end: its head may have lost items before it was dropped.
        end = max(number_of(item.id) for message in together for item in message.items)
        resident = {message.id: at for at, message in enumerate(window)}
        missing = [message for message in together if message.id not in resident]
        for message in together:
            if message.id in resident:
                window[resident[message.id]] = message
        restored += [item for message in missing for item in message.items]
        later = [resident[message.id] for message in together if message.id in resident]
        after = next((at for at, other in enumerate(window) if _rank(other) > end), len(window))
        place = min([after, *later])  # the resident messages of the unit are its last ones: the results
        window[place:place] = missing
    return [lessened for message in window for lessened in _lessened(message, restored, intake)]


def _together(back: Iterable[Message]) -> list[list[Message]]:
    """Return the messages, pinned, in groups that share units, oldest first."""
    groups: list[tuple[set[int], list[Message]]] = []
    for message in sorted(back, key=_rank):
        pinned = attrs.evolve(message, items=tuple(attrs.evolve(item, pinned=True) for item in message.items))
        units = {item.unit for item in message.items}
        if groups and groups[-1][0] & units:
            groups[-1][0].update(units)
            groups[-1][1].append(pinned)
        else:
            groups.append((units, [pinned]))
    return [messages for _, messages in groups]


def _units_with(ledger: Ledger, place: ByteRange, item: str) -> list[int]:
    if f'"id":"{item}"'.encode() not in ledger.journal.read(place):
        return []
    found = [each for message in _removed_messages(ledger, place) for each in message.items if each.id == item]
    if any(each.kind is ItemKind.TRACE for each in found):
        raise SourceError(f"item {item!r} is a trace: restore one of the items that it covers")
    return [each.unit for each in found]


def _removed_messages(ledger: Ledger, place: ByteRange) -> list[SavedMessage]:
    return [message for hunk in collected(ledger, place).hunks for message in hunk.removed]


def _rank(message: Message) -> int:
    """
    Return the position of a message: by its first item, a trace by the first item that it covers, a summary by the
    last.
    """
    first = message.items[0]
    if first.kind is ItemKind.TRACE and first.reference:
        return number_of(first.reference.first)
    return number_of(first.reference.last if first.kind is ItemKind.SUMMARY and first.reference else first.id)


def _lessened(message: Message, restored: Sequence[Item], intake: Intake) -> list[Message]:
    """Return a trace that covers less now, or nothing; any other message as it is."""
    item = message.items[0]
    if item.kind is not ItemKind.TRACE or item.reference is None:
        return [message]
    first, last = number_of(item.reference.first), number_of(item.reference.last)
    back = sum(each.original_tokens for each in restored if first <= number_of(each.id) <= last)
    if not back:
        return [message]
    if item.reference.tokens <= back:
        return []
    reference = attrs.evolve(item.reference, tokens=item.reference.tokens - back)
    text = reference.trace_text()
    tokens = part_tokens(Part(kind=ItemKind.TRACE, place=(), text=text), intake.counter)
    trace = attrs.evolve(item, text=text, tokens=tokens, original_tokens=reference.tokens, reference=reference)
    return [attrs.evolve(message, payload=intake.format.user(text), items=(trace,))]
