"""
What a session knows of its task: kept from the log as it is asked for, and told in the window where that is wanted.

Nothing of it is in a file: the log tells it all, and what the window shows of it is a memory block as any other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import attrs

from gc_core.actions import Drop, Summarize
from gc_core.answering import Steps
from gc_core.blocks import Block
from gc_core.collection import Collected
from gc_core.condensing import Condensing
from gc_core.errors import ContextOverflowError, PluginError
from gc_core.events import StateCut
from gc_core.fold import CALLS_CLOSED, SESSION
from gc_core.items import Item, ItemKind
from gc_core.ledger import Rewound
from gc_core.log import LogRecord, MasterLog
from gc_core.messages import Role
from gc_core.past import serialised
from gc_core.plugins import EXTRACT
from gc_core.policy import GCPolicy
from gc_core.protocols import Format
from gc_core.record_texts import parts_of
from gc_core.results import GCResult
from gc_core.sources import CONVERSATION, InstructionSource
from gc_core.state import Position, SessionState
from gc_core.task.contract import StateExtractor, extracted
from gc_core.task.extraction import DeterministicExtractor
from gc_core.task.rendering import StateText, state_text
from gc_core.task.values import TaskState

TASK_STATE: Final = InstructionSource(name="task_state", policy=GCPolicy.LOCKED, layer=80)
"""
Holds the state's text. LOCKED, for what it tells has left the window; a version before is EPHEMERAL. The text itself is
kept within its bound, which may become another one when the window does.
"""

BLOCK: Final = "state"
"""Name of the memory block."""

PIECE_ITEMS: Final = 300
"""Items that are read from the log at a time, a message more or less: memory holds no history."""

_SEAM = 8
"""Tokens that a text may have more inside a frame than alone."""

_HUNDRED = 100


class Remembering(Condensing):
    """The part of a session that keeps the state of its task."""

    _extractor: StateExtractor
    _known: _Known | None = None
    _cut_told: tuple[tuple[str, int], ...] = ()

    @property
    @serialised
    def state(self) -> TaskState:
        """
        The state of the task as far as everything said tells it: demands, decisions, questions, files, errors, plans.

        Found in the log, by the extractor that ``state_extractor`` names; the first time O(history), then O(what is
        new). Raises LogError when the log cannot be read.
        """
        return self._look()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _look(self) -> TaskState:
        """The state with what has been logged since the last look."""
        known, self._known = self._known, None  # an error in between makes the next look begin anew
        if known is None:
            known = _Known(skipped=_taken_back(self._store.ledger.entries()), state=self._first_state())
        known.go_on(self._store.log, self._format, self._counter.count, self._extract)
        if known.state.objective != self._state.objective.text:
            known.state = attrs.evolve(known.state, objective=self._state.objective.text)
        self._known = known
        return known.state

    def _first_state(self) -> TaskState:
        """The state before anything was said."""
        return TaskState()

    def _extract(self, state: TaskState, items: tuple[Item, ...]) -> TaskState:
        name, objective = self._config.state_extractor, self._state.objective.text
        if self.plugins.is_quarantined(name, EXTRACT):
            return DeterministicExtractor().extract(state, items, objective)
        guard = functools.partial(self.plugins.guarded, name, EXTRACT)
        failed = len(self.plugins.failures)
        found = extracted(self._extractor, state, items, objective, guard)
        if len(self.plugins.failures) == failed:
            self.plugins.forgive(name, EXTRACT)
        return found

    @property
    def _questions(self) -> tuple[str, ...]:
        """What is asked and not answered keeps alive what it names; found when the state was looked at last."""
        known = self._known
        return () if known is None else tuple(question.text for question in known.state.open_questions if question.in_force)

    @property
    def _state_tokens(self) -> int:
        """Tokens that the block may have in the window; 0 where nobody wants it."""
        percent = self._config.task_state_percent
        percent = self._state_percent if percent is None else percent
        return int(self._config.usable * percent / _HUNDRED)

    @functools.cached_property
    def _state_percent(self) -> float:
        """What the strategies ask for, read once: the most; of one that asks for rubbish nothing."""
        asked = [0.0]
        for name, strategy in self._strategies:
            with self.plugins.guarded(name, "task_state_percent"):
                asked.append(_percent_of(getattr(strategy, "task_state_percent", 0.0)))
        return max(asked)

    def _commit(self, collected: Collected) -> None:
        super()._commit(collected)
        with self.plugins.guarded("task_state", "remembering"):  # the collection is true; without the block it goes on
            self._remember(collected.result)

    def _remember(self, result: GCResult) -> None:
        """What has left is told by the state from now on: its new text waits for the end of the request."""
        room = self._state_tokens
        if not room or not any(isinstance(removal.action, Drop | Summarize) for removal in result.removals):
            return
        frame = self._counter.count(_block("").framed) + self._counter.per_message + _SEAM
        told = state_text(self._look(), max(0, room - frame), self._counter.count)
        self._tell_cut(told)
        if told.text:
            self._recorder.register(TASK_STATE)
            self._state.give(TASK_STATE.name, {BLOCK: told.text})

    def _tell_cut(self, told: StateText) -> None:
        cut = tuple(told.cut.items())
        if cut and cut != self._cut_told:
            self._tell(StateCut(left_out=told.cut, tokens=told.tokens))
        self._cut_told = cut

    def _making_fit(self) -> Steps[None]:
        """Before the last resort the state is placed; where nothing else helps any more, it gives way."""
        self._place_state()
        try:
            yield from super()._making_fit()
        except ContextOverflowError:
            if not self._gives_way():
                raise
            yield from super()._making_fit()

    def _place_state(self) -> None:
        """The state that a collection of this very call has made stands in its request, if there is room."""
        waiting = [block for block in self._state.blocks.waiting if block.source == TASK_STATE.name]
        if not waiting or self._kept_at or self._context.open_calls:
            return
        moment = self._moment()
        tokens = sum(self._counter.count(block.framed) + self._counter.per_message for block in waiting)
        if self._scheduler.fits(attrs.evolve(moment, tokens=moment.tokens + tokens + _SEAM)):
            for taken in self._recorder.prepare():
                self._told(taken)
        else:
            self._state.give(TASK_STATE.name, {BLOCK: ""})

    def _gives_way(self) -> bool:
        """The log tells all that the state does: rather than no request at all, it may go. Whether it stood there."""
        key = self._state.blocks.newest.get((TASK_STATE.name, BLOCK), "")
        item = self._context.find(key)
        if item is None or item.policy is not GCPolicy.LOCKED:
            return False
        self._recorder.set_policy(key, GCPolicy.EPHEMERAL)
        return True

    def _go_back(self, to: Position, why: str, state: SessionState) -> None:
        super()._go_back(to, why, state)
        self._known = None


def _percent_of(asked: Any) -> float:
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not 0 <= asked <= _HUNDRED:
        raise PluginError(f"task_state_percent = {asked!r:.100}: expected a number of percent from 0 to 100")
    return float(asked)


def _block(text: str) -> Block:
    return Block(source=TASK_STATE.name, name=BLOCK, text=text, kind=ItemKind.MEMORY_BLOCK)


# -- the log ---------------------------------------------------------------------------------------------------------


def _taken_back(entries: Iterable[tuple[Any, Any]]) -> tuple[tuple[int, int], ...]:
    """Bytes of the log that do not count any more, because the session went back behind them."""
    return tuple(
        (entry.record.log, entry.at)
        for _, entry in entries
        if isinstance(entry.record, Rewound) and entry.record.log < entry.at
    )


@attrs.define(kw_only=True)
class _Known:
    """The state as far as the log was read, and what reading on needs: all of it bounded."""

    skipped: tuple[tuple[int, int], ...] = ()
    state: TaskState = attrs.field(factory=TaskState)
    reached: int = 0
    _unit: int = 0
    _spoke: bool = False
    _open: list[tuple[str, Item]] = attrs.field(factory=list)

    def go_on(
        self,
        log: MasterLog,
        format_: Format,
        count: Callable[[str], int],
        extract: Callable[[TaskState, tuple[Item, ...]], TaskState],
    ) -> None:
        """Take in what stands behind the place that was reached, in pieces."""
        piece: list[Item] = []
        for place, record in log.records(self.reached, log.size):
            if not any(start <= place.start < end for start, end in self.skipped):
                piece.extend(self._items(record, format_, count))
            if len(piece) >= PIECE_ITEMS:
                self.state, piece = extract(self.state, tuple(piece)), []
                self.reached = place.end
        if piece:
            self.state = extract(self.state, tuple(piece))
        self.reached = log.size

    def _items(self, record: LogRecord, format_: Format, count: Callable[[str], int]) -> Iterator[Item]:
        if record.source == SESSION and CALLS_CLOSED in record.payload:
            self._open.clear()
        if record.source != CONVERSATION.name:
            return
        spoke = record.role == Role.ASSISTANT.value
        if not (spoke and self._spoke and format_.replies_in_pieces):
            self._unit += 1
        self._spoke = spoke
        for key, part in parts_of(record, format_):
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
                call="" if called is None else called.id,
                is_error=part.is_error,
            )
            if part.kind is ItemKind.TOOL_CALL:
                self._open.append((part.call_id, attrs.evolve(item, text="")))
            yield item

    def _answered(self, call_id: str, name: str) -> Item | None:
        """The call that a result answers: the oldest open one of its id; without ids, of its name."""
        for place, (known, item) in enumerate(self._open):
            if known == call_id and (call_id or not name or item.name == name):
                return self._open.pop(place)[1]
        return None
