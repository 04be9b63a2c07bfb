"""Pairs calls with results by position, because real sessions repeat ids."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from gc_core.providers.rules.violations import Violation


class Pairs:
    """
    Pairs calls with results while iterating over messages.

    Only the calls of the newest assistant message are open. Calls still open when another message follows are late: a
    result that comes later is in the wrong place, and without one the call has no result.
    """

    def __init__(self, orphan_rule: str) -> None:
        self.open: dict[str, int] = {}  # a Counter would cost half the time of the whole check
        self._orphan_rule = orphan_rule
        self._answered: set[str] = set()
        self._caller = -1
        self._late: dict[str, deque[tuple[int, str, str]]] = {}

    def call(self, index: int, ids: Iterable[str]) -> None:
        """Note a call; no other may be open."""
        self._answered.clear()
        self._caller = index
        for call in ids:
            self.open[call] = self.open.get(call, 0) + 1

    def interrupt(self, rule: str, why: str) -> None:
        """Note that something other than a result follows while calls are open."""
        for call, waiting in self.open.items():
            self._late.setdefault(call, deque()).extend([(self._caller, rule, why)] * waiting)
        self.open.clear()

    def answer(self, index: int, call: str) -> Violation | None:
        """Take the result for a call; return the violation if it is a second, late or orphaned one."""
        if call in self.open:
            self._close(call)
            return None
        if call in self._answered:
            return Violation(rule="A1", index=index, text=f"a second result for call {call!r}; expected exactly one")
        if call in self._late:
            return self._answer_late(index, call)
        return Violation(
            rule=self._orphan_rule, index=index, text=f"a result for {call!r}, which the message before did not call"
        )

    def unanswered(self, *, pending: bool) -> Iterator[Violation]:
        """Yield the calls that never got a result; the open ones only if they may not wait."""
        if not pending:
            self.interrupt("A1", "")
        for call, waiting in self._late.items():
            for caller, _, _ in waiting:
                yield Violation(
                    rule="A1", index=caller, text=f"call {call!r} has no result; expected one directly after it"
                )

    def _close(self, call: str) -> None:
        self._answered.add(call)
        self.open[call] -= 1
        if not self.open[call]:
            del self.open[call]

    def _answer_late(self, index: int, call: str) -> Violation:
        caller, rule, why = self._late[call].popleft()
        if not self._late[call]:
            del self._late[call]
        return Violation(
            rule=rule, index=index, text=f"the result for call {call!r} of message {caller} is late: {why}"
        )
