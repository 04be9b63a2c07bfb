"""
The task state, read from the log on demand.

The log contains all of it: a file in the session's directory only records how far the log was read.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from gc_core.errors import LogError
from gc_core.plugins.manager import EXTRACT
from gc_core.providers.contract import Format
from gc_core.session.runtime import Runtime
from gc_core.storage.master_log import LogRecord, MasterLog
from gc_core.storage.originals import TakenBack
from gc_core.storage.rebuild import CALLS_CLOSED, SESSION
from gc_core.storage.search.record_texts import spoken_parts_of
from gc_core.storage.state import Position
from gc_core.storage.task_state_file import VERSION, OpenCall, SavedState, mark_at, saved_state
from gc_core.task.contract import StateExtractor, extracted
from gc_core.task.values import TaskState
from gc_core.values.items import Item, ItemKind
from gc_core.values.messages import Role
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import CONVERSATION

PIECE_ITEMS: Final = 300
"""Items read from the log at a time, give or take a message, so that memory holds no history."""

SAVED_BYTES: Final = 1_000_000
"""Bytes by which the log grows before the file of the state is written again; it is also written at the end."""


UNSETTLED: Final = 8
"""
The messages at the end of a caller's list that may still be others in the next one, such as a reminder that moves: when
they change, the state is read again from there and not from the beginning.
"""


class TaskReader:
    """
    Reads the task state from the log, as far as the log has grown since the last time.

    Args:
        runtime: The session's.
        extractor: Finds the state in the log.
        first: Returns the state before anything was logged here, and the bytes of the log that it already covers.

    """

    def __init__(
        self, runtime: Runtime, *, extractor: StateExtractor, first: Callable[[], tuple[TaskState, int]]
    ) -> None:
        self._runtime = runtime
        self._extractor = extractor
        self._first = first
        self._known: _Known | None = None
        self._settled: _Known | None = None
        """The state before the newest messages of a caller's list, where lists depart most often."""

    def look(self) -> TaskState:
        """Return the state with what has been logged since the last call."""
        known, self._known = self._known, None  # after an error the next call starts over
        if known is None:
            known = self._known_before()
        settled = self._settled_at
        if known.reached < settled:
            self._go_on(known, settled)
            self._settled = known.copy()
        self._go_on(known, self._runtime.store.log.size)
        if known.state.objective != self._runtime.state.objective.text:
            known.state = attrs.evolve(known.state, objective=self._runtime.state.objective.text)
        self._known = known
        return known.state

    def _go_on(self, known: _Known, end: int) -> None:
        known.go_on(self._runtime.store.log, end, self._runtime.format, self._runtime.counter.count, self._extract)

    @property
    def _settled_at(self) -> int:
        """The size of the log before the newest messages of the caller's list; 0 without as many."""
        given = self._runtime.state.given
        return given[-UNSETTLED].log if len(given) >= UNSETTLED else 0

    def _known_before(self) -> _Known:
        """Return the state that the file holds, if it still fits the log; otherwise start from the beginning."""
        ledger = self._runtime.store.ledger
        found = saved_state(self._runtime.store, self._runtime.config.state_extractor)
        if found is None:
            state, reached = self._first()
            return _Known(skipped=TakenBack.of(ledger).also((0, reached)), state=state)
        saved, state = found
        return _Known.of(saved, state, TakenBack.of(ledger, saved.ledger))

    def save(self, grown: int = 1) -> None:
        """Save how far the log was read, if it has grown by this many bytes since the last save."""
        known, store = self._known, self._runtime.store
        if known is None or store.temporary or known.reached - known.saved < grown:
            return
        with contextlib.suppress(LogError):  # the log contains the same; a session that cannot write still ends
            saved = known.as_saved(store.session, self._runtime.config.state_extractor, store.position, store.log)
            saved.write(store.directory)
            known.saved = known.reached

    def _extract(self, state: TaskState, items: tuple[Item, ...]) -> TaskState:
        name, objective = self._runtime.config.state_extractor, self._runtime.state.objective.text
        if self._runtime.plugins.is_quarantined(name, EXTRACT):
            from gc_core.task.extractor import DeterministicExtractor

            return DeterministicExtractor().extract(state, items, objective)
        guard = functools.partial(self._runtime.plugins.guarded, name, EXTRACT)
        failed = len(self._runtime.plugins.failures)
        found = extracted(self._extractor, state, items, objective, guard)
        if len(self._runtime.plugins.failures) == failed:
            self._runtime.plugins.forgive(name, EXTRACT)
        return found

    @property
    def questions(self) -> tuple[str, ...]:
        """The open questions of the last state: they keep alive what they name."""
        asked = () if self._known is None else self._known.state.open_questions
        return tuple(question.text for question in asked if question.in_force)

    def forget(self) -> None:
        """Read the state again from the beginning: the session was rewound."""
        self._known = self._settled = None

    def take_back(self, start: int, end: int) -> None:
        """Go back to a state from before this part of the log, which left the caller's list."""
        for known in (self._known, self._settled):
            if known is not None and known.reached <= start:
                self._known, self._settled = known.without(start, end), known.without(start, end)
                return
        self.forget()


@attrs.define(kw_only=True)
class _Known:
    """The state up to a place in the log, and what reading on needs; all of it bounded."""

    skipped: TakenBack = attrs.field(factory=TakenBack)
    state: TaskState = attrs.field(factory=TaskState)
    reached: int = 0
    saved: int = 0
    _unit: int = 0
    _spoke: bool = False
    _open: list[OpenCall] = attrs.field(factory=list)

    @classmethod
    def of(cls, saved: SavedState, state: TaskState, since: TakenBack) -> _Known:
        """Restore a saved state; ``since`` was taken back after it was saved."""
        return cls(
            skipped=since.also(*saved.skipped), state=state, reached=saved.log, saved=saved.log, unit=saved.unit,
            spoke=saved.spoke, open=list(saved.open),
        )  # fmt: skip

    def as_saved(self, session: str, extractor: str, now: Position, log: MasterLog) -> SavedState:
        """Return the contents of the file. What was taken back is known as far as the ledger reaches now."""
        return SavedState(
            session=session, extractor=extractor, log=self.reached, ledger=now.ledger, mark=mark_at(log, self.reached),
            skipped=self.skipped.ranges, unit=self._unit, spoke=self._spoke, open=tuple(self._open),
            state=self.state.to_json(), version=VERSION,
        )  # fmt: skip

    def copy(self) -> _Known:
        """Return a copy, which stays as it is when this one reads on."""
        return attrs.evolve(self, open=[*self._open])

    def without(self, start: int, end: int) -> _Known:
        """Return a copy that skips this part of the log, which it has not read."""
        return attrs.evolve(self, skipped=self.skipped.also((start, end)), open=[*self._open])

    def go_on(
        self,
        log: MasterLog,
        end: int,
        format_: Format,
        count: Callable[[str], int],
        extract: Callable[[TaskState, tuple[Item, ...]], TaskState],
    ) -> None:
        """Read the log from the place that was reached up to another one, in pieces."""
        piece: list[Item] = []
        for place, record in log.records(self.reached, end):
            if not self.skipped.holds(place):
                piece.extend(self._items(record, format_, count))
            if len(piece) >= PIECE_ITEMS:
                self.state, piece = extract(self.state, tuple(piece)), []
                self.reached = place.end
        if piece:
            self.state = extract(self.state, tuple(piece))
        self.reached = end

    def _items(self, record: LogRecord, format_: Format, count: Callable[[str], int]) -> Iterator[Item]:
        if record.source == SESSION and CALLS_CLOSED in record.payload:
            self._open.clear()
        if record.source != CONVERSATION.name:
            return
        spoke = record.role == Role.ASSISTANT.value
        if not (spoke and self._spoke and format_.replies_in_pieces):
            self._unit += 1
        self._spoke = spoke
        for key, part in spoken_parts_of(record, format_):
            called = self._answered(part.call_id, part.name) if part.kind is ItemKind.TOOL_RESULT else None
            tokens = count(part.text) if part.kind is ItemKind.USER_TEXT else 0
            item = Item(
                id=key,
                kind=part.kind,
                source=record.source,
                policy=record.policies.get(key, GCPolicy.EPHEMERAL),
                tokens=tokens,
                original_tokens=tokens,
                text=part.text,
                unit=self._unit if called is None else called.unit,
                turn=record.turn,
                name=part.name or ("" if called is None else called.name),
                call="" if called is None else called.item,
                is_error=part.is_error,
            )
            if part.kind is ItemKind.TOOL_CALL:
                self._open.append(OpenCall(call_id=part.call_id, item=key, name=item.name, unit=item.unit))
            yield item

    def _answered(self, call_id: str, name: str) -> OpenCall | None:
        """Return the call that a result answers: the oldest open one with its id; without ids, with its name."""
        for place, known in enumerate(self._open):
            if known.call_id == call_id and (call_id or not name or known.name == name):
                return self._open.pop(place)
        return None
