"""
How turns and steps ended: what the host said of them, else what results and users tell.

Tests that passed or failed, exit codes and builds are told by the results of calls that run something; whether it was
accepted, by the beginning of the user's next message. What neither tells has no outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import attrs

from gc_core.items import Item, ItemKind, Unit
from gc_core.per_text import PerText
from gc_core.relevance.call_results import failure_in, verdicts_in
from gc_core.relevance.tool_calls import CallKind, ToolCall

MOST_OUTCOMES = 256
"""Outcomes of the host's that are remembered, the newest: older ones are of items that have left."""

_PASSED = re.compile(
    r"(?<![\w-])[1-9]\d{0,6} (?:tests? )?(?:passed|passing)\b|^(?:PASS|ok|OK)\b|\ball tests pass"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)[: ]{1,2}0\b",
)
_ERRORS = re.compile(r"(?<![\w-])[1-9]\d{0,6} errors?\b")
_END = 1_000
"""Characters at the end of a result in which a verdict is looked for."""
_SIGNS = (
    *("passed", "passing", "tests pass", "PASS", "failed", "failing", "failure", "FAIL"),
    *("exit code", "exit status", "exited", "\nok", "\nOK"),
)
"""One of them stands in every verdict; that they do not is found out at once."""
_SAID = 150
"""Characters at the beginning of a user's message in which a verdict is looked for."""
_REJECTED = re.compile(
    r"\bstill (?:broken|fail\w*|not|does ?n[o']t|the same|wrong|crash\w*|get\w* (?:the|an?|this|that) \w*error)"
    r"|\b(?:does ?n[o']t|did ?n[o']t|is ?n[o']t|not) (?:work|working|fix|fixed|help|right|correct|what I)\b"
    r"|\bthat(?:'s| is) (?:wrong|incorrect)\b|\b(?:you|it|this) broke\b|\brevert (?:that|this|it|your)\b",
    re.IGNORECASE,
)
_ACCEPTED = re.compile(
    r"\b(?:works|worked|fixed|solved|passes) (?:now|great|fine|well|perfectly|as expected|for me)\b"
    r"|\b(?:it|that|this|everything|all) (?:works|worked|is fixed|passes)\b|^(?:thanks|thank you|perfect|great"
    r"|excellent|awesome|well done|nice|good job|lgtm|looks good)\b",
    re.IGNORECASE,
)


@attrs.frozen(kw_only=True)
class Outcome:
    """
    How a turn, or a run of units, ended.

    Attributes:
        success: It ended well.
        turn: The turn, or None where units are meant.
        first: Number of the first of the units.
        last: Number of the last one.
        note: Why, in the host's words.

    """

    success: bool
    turn: int | None = None
    first: int = 0
    last: int = 0
    note: str = ""

    def is_of(self, item: Item) -> bool:
        """Whether the item belongs to it."""
        return item.turn == self.turn if self.turn is not None else self.first <= item.unit <= self.last


class Outcomes:
    """
    How what the resident items belong to ended.

    Args:
        units: The resident units, oldest first.
        marked: What the host said; where it said something of an item, nothing else is asked.
        lines: The lines of results that say how a run ended, where they are kept from one collection to the next.

    """

    def __init__(
        self, units: Sequence[Unit], marked: Sequence[Outcome] = (), lines: PerText[tuple[str, ...]] | None = None
    ) -> None:
        self._units = units
        self._marked = marked
        self._lines = PerText(verdict_lines) if lines is None else lines

    def success(self, item: Item) -> float | None:
        """The share of good outcomes of the turn and the steps that an item belongs to; None where there is none."""
        said = [outcome.success for outcome in self._marked if outcome.is_of(item)]
        if not said:
            said = self._found.get(item.unit, [])
        return sum(said) / len(said) if said else None

    @cached_property
    def _found(self) -> dict[int, list[bool]]:
        """What results and users tell, by the number of the unit of which they tell it."""
        found: dict[int, list[bool]] = {}
        for outcome, units in self._told():
            for unit in units:
                found.setdefault(unit.number, []).append(outcome)
        return found

    def _told(self) -> Iterator[tuple[bool, Sequence[Unit]]]:
        """
        Each verdict with the units that led to it: a result's, those since the verdict before in the same turn; a
        user's, the whole turn before.
        """
        turn: list[Unit] = []
        since: list[Unit] = []
        for unit in self._units:
            if turn and unit.turn != turn[0].turn:
                said = _said_by(unit)
                if said is not None:
                    yield said, tuple(turn)
                turn, since = [], []
            turn.append(unit)
            since.append(unit)
            for verdict in self._verdicts_of(unit):
                yield verdict, tuple(since)
                since = []

    def _verdicts_of(self, unit: Unit) -> Iterator[bool]:
        calls = {item.id: item for item in unit.items if item.kind is ItemKind.TOOL_CALL}
        for item in unit.items:
            call = calls.get(item.call)
            if item.kind is not ItemKind.TOOL_RESULT or call is None:
                continue
            verdict = verdict_of(item, self._lines[item.text])
            if verdict is not None and ToolCall.of(call).kind is CallKind.RUN:
                yield verdict


def verdict_of(result: Item, lines: Sequence[str]) -> bool | None:
    """What a run says by these lines of its result: that it went well, that it failed, or (None) neither."""
    if not lines:
        return None
    if failure_in(result, CallKind.RUN) or any(_ERRORS.search(line) for line in lines):
        return False
    return True if any(_PASSED.search(line) for line in lines) else None


def verdict_lines(text: str) -> tuple[str, ...]:
    """The lines of a result that say how a run ended."""
    end = "\n" + text[-_END:]
    return tuple(verdicts_in(end)) if any(sign in end for sign in _SIGNS) else ()


def said_of_it(text: str) -> bool | None:
    """Whether a user's message begins by accepting what was done, or by rejecting it; None for neither."""
    beginning = text[:_SAID].strip()
    if _REJECTED.search(beginning):
        return False
    return True if _ACCEPTED.search(beginning) else None


def _said_by(unit: Unit) -> bool | None:
    texts = [item.text for item in unit.items if item.kind is ItemKind.USER_TEXT and not item.synthetic]
    said = [verdict for verdict in map(said_of_it, texts) if verdict is not None]
    return all(said) if said else None
