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
    the answers in turns where nothing else was asked.

    A reply to a question is never repeated: it says something else after another question.
    """
    newest = {text: unit.number for unit in units if (text := _request(unit))}
    requests = [unit for unit in units if any(item.kind is ItemKind.USER_TEXT for item in unit.items)]
    orders = _orders(units)
    repeated = {
        unit.number
        for unit in requests
        if unit.turn < before and unit.number in orders and newest[orders[unit.number]] != unit.number
    }
    turns = {unit.turn for unit in requests if unit.number in repeated}
    turns -= {unit.turn for unit in requests if unit.number not in repeated}
    return frozenset(repeated.union(unit.number for unit in units if unit.turn in turns and _answers(unit)))


def _orders(units: Sequence[Unit]) -> dict[int, str]:
    """
    Return the texts of users' messages that reply to no question, by their numbers: those behind something else, and,
    where what came right before has left, those of which the other copies reply to none.
    """
    before = {unit.number: former for former, unit in pairwise(units) if former.number + 1 == unit.number}
    texts = {unit.number: text for unit in units if (text := _request(unit))}
    replies = {number for number in texts if number in before and _asks(before[number])}
    known = {texts[number] for number in texts if number in before} - {texts[number] for number in replies}
    return {
        number: text for number, text in texts.items() if number not in replies and (number in before or text in known)
    }


def _request(unit: Unit) -> str:
    """Return the text of a message that is nothing but what a user said; "" for any other unit."""
    is_said = all(item.kind is ItemKind.USER_TEXT and not item.synthetic for item in unit.items)
    return "\n".join([item.text.strip() for item in unit.items]) if is_said else ""


def _answers(unit: Unit) -> bool:
    """Return whether the unit is a text of the model that asks nothing."""
    return all(item.kind is ItemKind.ASSISTANT_TEXT for item in unit.items) and not _asks(unit)


def _asks(unit: Unit) -> bool:
    """Return whether the unit is a text of the model with a question in its last paragraph."""
    last = unit.items[-1]
    end = last.text.rstrip().rpartition("\n\n")[2]
    return last.kind is ItemKind.ASSISTANT_TEXT and any(mark in end for mark in _QUESTION_MARKS)
