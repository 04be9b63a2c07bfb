"""The outcomes of calls, and the assistant's claims that no result confirms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from gc_core.relevance.call_results import failure_in, verdicts_in
from gc_core.relevance.reruns import repeats
from gc_core.relevance.tool_calls import CHANGES, CallKind, ToolCall, first_line
from gc_core.summaries.fact_kinds import KeptFact, KeptKind, coded
from gc_core.summaries.sentences import MOST_SENTENCES, sentences_with
from gc_core.values.items import Item, ItemKind

NO_RESULT: Final = "[gc: no result"
"""The beginning of the text that the framework inserts for a result that never came."""

_SHORT = 160
"""The characters of a line that states a request or an outcome."""

_CLAIMS = (
    *("fixed", "works", "working", "passes", "pass", "passed", "done", "complete", "completed", "verified"),
    *("resolved", "successfully", "implemented"),
)
_NO_CLAIM = ("?", "let me", "i'll", "will ", "need", "should", "if ", "not ", "n't", "to pass", "to complete", "until")
"""Words that make a sentence with such a word something other than a claim."""


def happened(items: Sequence[Item], calls: Mapping[str, ToolCall]) -> Iterator[KeptFact]:
    """Return results, errors and their resolutions, open calls, unconfirmed claims, and a tally by tool."""
    walk = _Walk(calls=calls)
    for place, item in enumerate(items):
        if item.kind is ItemKind.TOOL_RESULT:
            walk.result(place, item)
        elif item.kind is ItemKind.ASSISTANT_TEXT and not item.synthetic:
            walk.spoke(place, item)
    return walk.facts()


@attrs.define(kw_only=True)
class _Walk:
    """The outcomes of calls, in the order of their results."""

    calls: Mapping[str, ToolCall]
    _found: list[KeptFact] = attrs.field(factory=list, init=False)
    _failed: dict[str, list[tuple[int, ToolCall]]] = attrs.field(factory=dict, init=False)
    _tally: dict[str, tuple[int, int]] = attrs.field(factory=dict, init=False)
    _last: tuple[int, Item] | None = attrs.field(default=None, init=False)
    _turn: int = attrs.field(default=-1, init=False)
    _checked: bool = attrs.field(default=False, init=False)

    def result(self, place: int, item: Item) -> None:
        call = self.calls.get(item.call) or ToolCall.unknown(item.name)
        if item.synthetic and item.text.startswith(NO_RESULT):
            self._add(KeptKind.OPEN, place, item, call.asked or item.name, call)
            return
        error = failure_in(item, call.kind)
        times, failures = self._tally.get(call.name, (0, 0))
        self._tally[call.name] = times + 1, failures + bool(error)
        self._last = place, item
        self._check(item.turn, call, failed=bool(error))
        if error:
            self._failed.setdefault(call.name, []).append((len(self._found), call))
            self._add(KeptKind.ERROR, place, item, error, call)
            return
        self._resolve(item, call)
        verdicts = verdicts_in(item.text) if call.kind is CallKind.RUN else []
        for line in verdicts:
            self._add(KeptKind.RESULT, place, item, line, call)
        if not verdicts and call.kind in {CallKind.RUN, CallKind.OTHER} and (line := first_line(item.text, _SHORT)):
            self._add(KeptKind.DEED, place, item, line, call)

    def spoke(self, place: int, item: Item) -> None:
        """Read claims; they are confirmed if a run or another action succeeded after the last edit of the turn."""
        if item.turn != self._turn:
            self._turn, self._checked = item.turn, False
        if self._checked:
            return
        for text in sentences_with(item.text, _CLAIMS):
            if _is_claim(text):
                self._found.append(KeptFact(kind=KeptKind.CLAIM, turn=item.turn, item=item.id, place=place, text=text))

    def facts(self) -> Iterator[KeptFact]:
        yield from self._found
        if self._last is not None:
            place, item = self._last
            tally = ", ".join(_tallied(name, *counts) for name, counts in self._tally.items())
            yield KeptFact(kind=KeptKind.TOOLS, turn=item.turn, item=item.id, place=place, text=tally)

    def _add(self, kind: KeptKind, place: int, item: Item, text: str, call: ToolCall) -> None:
        self._found.append(
            KeptFact(kind=kind, turn=item.turn, item=item.id, place=place, text=text, tool=call.name, asked=call.asked)
        )

    def _check(self, turn: int, call: ToolCall, *, failed: bool) -> None:
        if turn != self._turn:
            self._turn, self._checked = turn, False
        if call.kind in CHANGES:
            self._checked = False
        elif call.kind in {CallKind.RUN, CallKind.OTHER}:
            self._checked = not failed

    def _resolve(self, item: Item, call: ToolCall) -> None:
        """Mark errors of calls that this success repeats as resolved."""
        waiting = self._failed.get(call.name, ())
        still = []
        for place, failed in waiting:
            if repeats(call, failed):
                self._found[place] = attrs.evolve(self._found[place], later=item.id)
            else:
                still.append((place, failed))
        if waiting:
            self._failed[call.name] = still[-MOST_SENTENCES:]


def _tallied(name: str, times: int, failures: int) -> str:
    often = f"{times} times" if times > 1 else "once"
    return f"{coded(name)} {often}" + (f" ({failures} failed)" if failures else "")


def _is_claim(sentence: str) -> bool:
    lower = sentence.lower().replace("’", "'")
    return not any(sign in lower for sign in _NO_CLAIM)
