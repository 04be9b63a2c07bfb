"""
What a session knows of its task: kept from the log as it is asked for, and told in the window where that is wanted.

The log tells it all: a file in the session's directory only keeps how far it was read, and what the window shows of it
is a memory block as any other.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import attrs

from gc_core.errors import LogError, PluginError
from gc_core.events import StateCut
from gc_core.plugins.manager import EXTRACT
from gc_core.providers.contract import Format
from gc_core.session.inbox import Inbox
from gc_core.session.provider_state import ProviderState
from gc_core.session.runtime import SEAM, Runtime
from gc_core.session.window_meter import WindowMeter
from gc_core.storage.ledger import Rewound
from gc_core.storage.master_log import LogRecord, MasterLog
from gc_core.storage.rebuild import CALLS_CLOSED, SESSION
from gc_core.storage.search.record_texts import parts_of
from gc_core.storage.state import Position
from gc_core.storage.task_state_file import VERSION, OpenCall, SavedState, mark_at, saved_state
from gc_core.task.contract import StateExtractor, extracted
from gc_core.task.rendering import StateText, state_text
from gc_core.task.values import TaskState
from gc_core.values.items import Item, ItemKind
from gc_core.values.messages import Role
from gc_core.values.policy import GCPolicy
from gc_core.values.removals import Drop, Summarize
from gc_core.values.results import GCResult
from gc_core.values.sources import CONVERSATION, TASK_STATE
from gc_core.window.memory_blocks import Block

BLOCK: Final = "state"
"""Name of the memory block."""

PIECE_ITEMS: Final = 300
"""Items that are read from the log at a time, a message more or less: memory holds no history."""

SAVED_BYTES: Final = 1_000_000
"""Bytes that the log grows by until the file of the state is written again; it is also written at the end."""

_REMEMBERING = "remembering"

_HUNDRED = 100

_LEFT = frozenset({ItemKind.TRACE, ItemKind.SUMMARY})
"""What stands for what has left the window."""


class TaskMemory:
    """
    Keeps the state of the task.

    Args:
        runtime: The session's.
        meter: Measures the window.
        provider: Says whether the provider keeps the history.
        inbox: Places what waits.
        extractor: Finds the state in the log.
        first: The state before anything was said here, and the bytes of the log that it tells of already.

    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        meter: WindowMeter,
        provider: ProviderState,
        inbox: Inbox,
        extractor: StateExtractor,
        first: Callable[[], tuple[TaskState, int]],
    ) -> None:
        self._runtime = runtime
        self._meter = meter
        self._provider = provider
        self._inbox = inbox
        self._extractor = extractor
        self._first = first
        self._known: _Known | None = None
        self._cut_told: tuple[tuple[str, int], ...] = ()
        self._is_restated = False
        self._percent: float | None = None

    def look(self) -> TaskState:
        """The state with what has been logged since the last look."""
        known, self._known = self._known, None  # an error in between makes the next look begin anew
        if known is None:
            known = self._known_before()
        known.go_on(self._runtime.store.log, self._runtime.format, self._runtime.counter.count, self._extract)
        if known.state.objective != self._runtime.state.objective.text:
            known.state = attrs.evolve(known.state, objective=self._runtime.state.objective.text)
        self._known = known
        return known.state

    def _known_before(self) -> _Known:
        """As far as the file of the state tells it, where that still fits; else from the beginning."""
        ledger = self._runtime.store.ledger
        found = saved_state(self._runtime.store, self._runtime.config.state_extractor)
        if found is None:
            state, told = self._first()
            return _Known(skipped=((0, told), *_taken_back(ledger.entries())), state=state)
        saved, state = found
        return _Known.of(saved, state, _taken_back(ledger.entries(saved.ledger)))

    def save(self, grown: int = 1) -> None:
        """Write down how far the state is known, where the log has grown so many bytes since that was done."""
        known, store = self._known, self._runtime.store
        if known is None or store.temporary or known.reached - known.saved < grown:
            return
        with contextlib.suppress(LogError):  # the log tells the same; a session that cannot write it still ends
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
        """What is asked and not answered keeps alive what it names; found when the state was looked at last."""
        asked = () if self._known is None else self._known.state.open_questions
        return tuple(question.text for question in asked if question.in_force)

    @property
    def refreshed_item(self) -> str:
        """The state as it stands in the window: what a collection drops or tells makes another one of it."""
        key = self._runtime.state.blocks.newest.get((TASK_STATE.name, BLOCK), "")
        return key if self._state_tokens and self._runtime.context.find(key) is not None else ""

    @property
    def _state_tokens(self) -> int:
        """Tokens that the block may have in the window; 0 where nobody wants it."""
        percent = self._runtime.config.task_state_percent
        percent = self._strategies_percent() if percent is None else percent
        return int(self._runtime.config.usable * percent / _HUNDRED)

    def _strategies_percent(self) -> float:
        """What the strategies ask for, read once: the most; of one that asks for rubbish nothing."""
        if self._percent is None:
            asked = [0.0]
            for name, strategy in self._meter.strategies:
                with self._runtime.plugins.guarded(name, "task_state_percent"):
                    asked.append(_percent_of(getattr(strategy, "task_state_percent", 0.0)))
            self._percent = max(asked)
        return self._percent

    def after_commit(self, result: GCResult) -> None:
        """A collection is in force; without the block it goes on."""
        self._try(lambda: self._remember(result))

    def forget_restated(self) -> None:
        """The window has changed: the next request says the state again, where it is missing."""
        self._is_restated = False

    def forget(self) -> None:
        """The session went back: the state is found anew, and what waits tells of what was taken back."""
        self._known = None
        if any(block.source == TASK_STATE.name for block in self._runtime.state.blocks.waiting):
            self._runtime.state.give(TASK_STATE.name, {BLOCK: ""})

    def restate_if_missing(self) -> None:
        """After every change of the window."""
        if not self._is_restated:
            self._is_restated = True
            self._try(self._restate)

    def _try(self, step: Callable[[], None]) -> None:
        """What goes wrong here goes wrong again: after some failures in a row the session does without the state."""
        if self._runtime.plugins.is_quarantined(TASK_STATE.name, _REMEMBERING):
            return
        with self._runtime.plugins.guarded(TASK_STATE.name, _REMEMBERING) as attempt:
            step()
        if attempt.error is None:
            self._runtime.plugins.forgive(TASK_STATE.name, _REMEMBERING)

    def _restate(self) -> None:
        """
        A state waits in no file. Where the process ended, or the session went back, between a collection and the
        request that would have shown its state, that is told again, if there is room.
        """
        stands = self.refreshed_item or any(
            block.source == TASK_STATE.name for block in self._runtime.state.blocks.waiting
        )
        if stands or self._provider.kept_at or not self._state_tokens:
            return
        if any(item.kind in _LEFT for item in self._runtime.context.items()):
            self._give_state()
            waits = any(block.source == TASK_STATE.name for block in self._runtime.state.blocks.waiting)
            if waits and not self._has_room(self._runtime.state.blocks.waiting):
                self._runtime.state.give(TASK_STATE.name, {BLOCK: ""})

    def _remember(self, result: GCResult) -> None:
        """What has left is told by the state from now on; one that nobody wants any more is stale, and may go."""
        if not any(isinstance(removal.action, Drop | Summarize) for removal in result.removals):
            return
        if self._state_tokens:
            self._give_state()
        else:
            self.give_way()

    def _give_state(self) -> None:
        """The state's new text waits for the end of the request."""
        room = self._state_tokens
        frame = self._runtime.counter.count(_block("").framed) + self._runtime.counter.per_message + SEAM
        told = state_text(self.look(), max(0, room - frame), self._runtime.counter.count)
        self.save(SAVED_BYTES)
        self._announce_cut(told)
        if told.text:
            if TASK_STATE.name not in {source.name for source in self._runtime.context.budget.sources}:
                self._runtime.recorder.register(TASK_STATE)
            self._runtime.state.give(TASK_STATE.name, {BLOCK: told.text})

    def _announce_cut(self, told: StateText) -> None:
        cut = tuple(told.cut.items())
        if cut and cut != self._cut_told:
            self._runtime.events.emit(StateCut(left_out=told.cut, tokens=told.tokens))
        self._cut_told = cut

    def place(self) -> None:
        """The state that a collection of this very call has made stands in its request, if there is room."""
        waiting = [block for block in self._runtime.state.blocks.waiting if block.source == TASK_STATE.name]
        if not waiting or self._provider.kept_at or self._runtime.context.open_calls:
            return
        if self._has_room(self._runtime.state.blocks.waiting):  # what comes back from the log is placed with it
            self._inbox.place_waiting()
        elif not self._has_room(waiting):
            self._runtime.state.give(TASK_STATE.name, {BLOCK: ""})

    def _has_room(self, blocks: Iterable[Block]) -> bool:
        moment = self._meter.moment()
        tokens = sum(self._runtime.counter.count(block.framed) + self._runtime.counter.per_message for block in blocks)
        return self._meter.scheduler.fits(attrs.evolve(moment, tokens=moment.tokens + tokens + SEAM))

    def give_way(self) -> bool:
        """The log tells all that the state does: rather than no request at all, it may go. Whether it stood there."""
        key = self._runtime.state.blocks.newest.get((TASK_STATE.name, BLOCK), "")
        item = self._runtime.context.find(key)
        if item is None or item.policy is not GCPolicy.LOCKED:
            return False
        self._runtime.recorder.set_policy(key, GCPolicy.EPHEMERAL)
        return True


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
    saved: int = 0
    _unit: int = 0
    _spoke: bool = False
    _open: list[OpenCall] = attrs.field(factory=list)

    @classmethod
    def of(cls, saved: SavedState, state: TaskState, since: tuple[tuple[int, int], ...]) -> _Known:
        """As it was saved; ``since`` is what was taken back after that."""
        return cls(
            skipped=(*saved.skipped, *since), state=state, reached=saved.log, saved=saved.log, unit=saved.unit,
            spoke=saved.spoke, open=list(saved.open),
        )  # fmt: skip

    def as_saved(self, session: str, extractor: str, now: Position, log: MasterLog) -> SavedState:
        """What the file holds of it. What was taken back is known as far as the ledger reaches now."""
        return SavedState(
            session=session, extractor=extractor, log=self.reached, ledger=now.ledger, mark=mark_at(log, self.reached),
            skipped=self.skipped, unit=self._unit, spoke=self._spoke, open=tuple(self._open),
            state=self.state.to_json(), version=VERSION,
        )  # fmt: skip

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
                call="" if called is None else called.item,
                is_error=part.is_error,
            )
            if part.kind is ItemKind.TOOL_CALL:
                self._open.append(OpenCall(call_id=part.call_id, item=key, name=item.name, unit=item.unit))
            yield item

    def _answered(self, call_id: str, name: str) -> OpenCall | None:
        """The call that a result answers: the oldest open one of its id; without ids, of its name."""
        for place, known in enumerate(self._open):
            if known.call_id == call_id and (call_id or not name or known.name == name):
                return self._open.pop(place)
        return None
