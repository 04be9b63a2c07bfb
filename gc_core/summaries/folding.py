"""One line for a resolved cluster of steps or turns: what was done, and how it ended. No model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gc_core.items import Item, ItemKind
from gc_core.relevance.call_results import failure_in, verdicts_in
from gc_core.relevance.tool_calls import CallKind, ToolCall, first_line
from gc_core.summary import SummaryRequest

FOLDING: Final = "fold"
"""Who reports say that wrote it."""

_DONE = {
    CallKind.WRITE: "wrote",
    CallKind.EDIT: "edited",
    CallKind.READ: "read",
    CallKind.SEARCH: "searched",
    CallKind.RUN: "ran",
    CallKind.NOTE: "noted",
}
_ENDED_CHARS = 120
_ASKED_CHARS = 60
_MOST = 6
"""Things that a fold names of one kind at most, the newest."""

# A fold is one line in brackets: what it quotes cannot close the bracket.
_PLAIN = str.maketrans({"[": "(", "]": ")"})


def fold_line(request: SummaryRequest) -> str:
    """
    What was done, by kind, and how the last run or the last word ended; in at most ``request.max_tokens`` tokens, in
    the past tense. What does not fit is left out from the end of each list.
    """
    calls = {item.id: ToolCall.of(item) for item in request.items if item.kind is ItemKind.TOOL_CALL}
    ended = _ended(request.items, calls)
    for most in range(_MOST, 0, -1):
        line = _plain("; ".join(filter(None, (*_done(calls.values(), most), ended))))
        if request.count(line) <= request.max_tokens:
            return line
    short = _plain(ended)
    while short and request.count(short) > request.max_tokens:
        short = short[: len(short) * 3 // 4].rstrip()
    return short


def _plain(text: str) -> str:
    """On one line, whatever a reader takes for the end of one: there are more such letters than line feeds."""
    return " ".join(text.translate(_PLAIN).split())


def _done(calls: Iterable[ToolCall], most: int) -> Iterator[str]:
    """What was done, one text a kind, in the order of the kinds."""
    by_kind: dict[CallKind, dict[str, None]] = {}
    for call in calls:
        for what in call.paths or ((call.asked[:_ASKED_CHARS],) if call.asked else ()):
            by_kind.setdefault(call.kind, {})[what] = None
    for kind, verb in _DONE.items():
        named = list(by_kind.get(kind, ()))
        if named:
            more = f" and {len(named) - most} more" if len(named) > most else ""
            yield f"{verb} {', '.join(named[-most:])}{more}"


def _ended(items: Sequence[Item], calls: dict[str, ToolCall]) -> str:
    """The verdict of the last result that has one, a failure, or the last thing that the assistant said."""
    for item in reversed(items):
        if item.kind is ItemKind.ASSISTANT_TEXT:
            return first_line(item.text, _ENDED_CHARS)
        if item.kind is ItemKind.TOOL_RESULT:
            kind = (calls.get(item.call) or ToolCall.unknown(item.name)).kind
            told = failure_in(item, kind) or next(reversed(verdicts_in(item.text)), "")
            if told:
                return told[:_ENDED_CHARS]
    return ""
