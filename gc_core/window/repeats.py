"""Finds what a user asked several times in the same words, as a monitor does: only the newest request holds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from gc_core.values.items import ItemKind, Unit

_QUESTION_MARKS: Final = ("?", "？", "؟")


def repeated_units(units: Sequence[Unit], *, before: int) -> frozenset[int]:
    """
    Return the numbers of the user messages in turns before this one that a later message repeats word for word, and of
    the answers in turns where nothing else was asked. A text that replies to a question anywhere is never repeated: it
    says something else after another question. Where no copy has what came right before it, it may be such a reply.
    """
    newest = {text: unit.number for unit in units if (text := _request(unit))}
    requests = [unit for unit in units if any(item.kind is ItemKind.USER_TEXT for item in unit.items)]
    orders = _orders(units)
    repeated = {
        unit.number
        for unit in requests
        if unit.turn < before and (text := _request(unit)) in orders and newest[text] != unit.number
    }
    turns = {unit.turn for unit in requests if unit.number in repeated}
    turns -= {unit.turn for unit in requests if unit.number not in repeated}
    return frozenset(repeated.union(unit.number for unit in units if unit.turn in turns and _answers(unit)))


def _orders(units: Sequence[Unit]) -> set[str]:
    """Return the texts of users' messages that are known to reply to no question."""
    pairs = [(asked, _request(reply)) for asked, reply in pairwise(units) if asked.number + 1 == reply.number]
    replies = {text for asked, text in pairs if _asks(asked)}
    return {text for _, text in pairs if text} - replies


def _request(unit: Unit) -> str:
    """Return the text of a message that is nothing but what a user said; "" for any other unit."""
    is_said = all(item.kind is ItemKind.USER_TEXT and not item.synthetic for item in unit.items)
    return "\n".join([item.text.strip() for item in unit.items]) if is_said else ""


def _answers(unit: Unit) -> bool:
    """Return whether the unit is a text of the model that asks nothing."""
    return all(item.kind is ItemKind.ASSISTANT_TEXT for item in unit.items) and not _asks(unit)


def _asks(unit: Unit) -> bool:
    last = unit.items[-1]
    return last.kind is ItemKind.ASSISTANT_TEXT and last.text.rstrip().endswith(_QUESTION_MARKS)
