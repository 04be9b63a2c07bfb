"""Removals of lines that edits quote by a session's collections, and the places where these lines still are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import attrs
from ctxgc.evaluation.quotes import QuotedLine, quotable_lines

from gc_core import GCRemovalItem, GCResult, GCSession, Item, hookimpl
from gc_core.values.items import Form, ItemKind
from gc_core.values.removals import Drop, Stub

ELSEWHERE = "something that is no item"


@attrs.frozen(kw_only=True)
class Line:
    """
    A line of the history that an edit replaces.

    Attributes:
        text: The line.
        back: Messages since its last occurrence in the recording.
        holder: The item that shows it in the request, in words; "" if none does.
        loss: Its last removal, in words; "" if there was none.

    """

    text: str
    back: int
    holder: str
    loss: str


@attrs.define(eq=False)
class Trail:
    """
    A plugin that remembers which removal took which line.

    Attributes:
        wanted: The lines that matter.

    """

    wanted: frozenset[str]
    _results: list[GCResult] = attrs.Factory(list)
    _standing: dict[str, frozenset[str]] = attrs.Factory(dict)
    """Of each item, the wanted lines that it showed when it was last looked at."""
    _losses: dict[str, str] = attrs.Factory(dict)
    _newest: int = 0

    @hookimpl
    def gc_collection_finished(self, result: GCResult) -> None:
        """Look at it as soon as the session has taken it over."""
        self._results.append(result)

    def look(self, session: GCSession, *, call: int) -> None:
        """Take in what has come and what has gone since the last look."""
        items = session.items()
        for item in items:
            if _number(item) > self._newest and not item.synthetic:
                text = item.text if item.form is Form.WHOLE else session.recall(item.id)
                self._standing[item.id] = quotable_lines(text) & self.wanted
        self._newest = max((self._newest, *map(_number, items)))
        removals = [removal for result in self._results for removal in result.removals]
        self._results.clear()
        if removals:
            self._compare(items, removals, call)

    def line(self, line: QuotedLine, session: GCSession, *, is_shown: bool) -> Line:
        """What there is to tell of a line."""
        holders = [item for item in session.items() if line.text in quotable_lines(item.text)] if is_shown else []
        best = max(holders, key=lambda item: (item.form is Form.WHOLE, _number(item)), default=None)
        words = "" if not is_shown else ELSEWHERE if best is None else described(best)
        return Line(text=line.text, back=line.back, holder=words, loss=self._losses.get(line.text, ""))

    def _compare(self, items: Iterable[Item], removals: Iterable[GCRemovalItem], call: int) -> None:
        by_item: defaultdict[str, list[GCRemovalItem]] = defaultdict(list)
        for removal in removals:
            for key in removal.items:
                by_item[key].append(removal)
        texts = {item.id: item.text for item in items if item.id in by_item}
        for key, its in by_item.items():
            left = quotable_lines(texts.get(key, "")) & self.wanted
            lost = self._standing.get(key, frozenset()) - left
            self._losses.update(dict.fromkeys(lost, in_words(its[-1], call)))
            self._standing[key] = self._standing.get(key, frozenset()) & left


def _number(item: Item) -> int:
    """The number in the id of an item of the conversation; 0 of what stands before it."""
    return int(item.id[1:]) if item.id[1:].isdecimal() else 0


def in_words(removal: GCRemovalItem, call: int) -> str:
    """What a removal did, and why."""
    action = removal.action
    done = "shortened" if isinstance(action, Stub) else "dropped" if isinstance(action, Drop) else "summarised"
    phase = f"phase `{removal.phase}`, " if removal.phase else ""
    return f"{done} at call {call}: {phase}“{removal.reason}”"


def described(item: Item) -> str:
    """What stands in the window."""
    what = {ItemKind.TOOL_RESULT: "result of", ItemKind.TOOL_CALL: "text of the call"}.get(item.kind, item.kind.value)
    name = f"{what} `{item.name}`" if item.name else what
    if item.form is Form.WHOLE:
        return f"whole: {name}"
    return f"{item.tokens:,} of {item.original_tokens:,} tokens: {name}"
