"""The state of the task in the window: a memory block, where the configuration or a strategy wants one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import attrs

from gc_core.errors import PluginError
from gc_core.events import StateCut
from gc_core.session.inbox import Inbox
from gc_core.session.provider_state import ProviderState
from gc_core.session.runtime import SEAM, Runtime
from gc_core.session.task_reader import SAVED_BYTES, TaskReader
from gc_core.session.window_meter import WindowMeter
from gc_core.values.items import ItemKind
from gc_core.values.policy import GCPolicy
from gc_core.values.references import without_references
from gc_core.values.removals import Drop, Summarize
from gc_core.values.results import GCResult
from gc_core.values.sources import STATE_NAME, TASK_STATE
from gc_core.window.memory_blocks import Block

if TYPE_CHECKING:
    from gc_core.task.rendering import StateText

_REMEMBERING = "remembering"

_HUNDRED = 100

_LEFT = frozenset({ItemKind.TRACE, ItemKind.SUMMARY})
"""Kinds that replace content that has left the window."""


class TaskMemory:
    """
    Shows the task state in the window, and refreshes it after collections.

    Args:
        runtime: The session's.
        meter: Measures the window.
        provider: Says whether the provider stores the history.
        inbox: Places what waits.
        reader: Reads the state from the log.

    Attributes:
        reader: Reads the state from the log.

    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        meter: WindowMeter,
        provider: ProviderState,
        inbox: Inbox,
        reader: TaskReader,
    ) -> None:
        self._runtime = runtime
        self._meter = meter
        self._provider = provider
        self._inbox = inbox
        self.reader = reader
        self._announced_cut: tuple[tuple[str, int], ...] = ()
        self._is_restated = False
        self._percent: float | None = None

    @property
    def refreshed_item(self) -> str:
        """The state's item in the window, which a collection will replace with a newer version; "" if there is none."""
        key = self._runtime.state.blocks.newest.get((TASK_STATE.name, STATE_NAME), "")
        return key if self._state_tokens and self._runtime.context.find(key) is not None else ""

    @property
    def _state_tokens(self) -> int:
        """Tokens that the block may have in the window; 0 if it is not wanted."""
        percent = self._runtime.config.task_state_percent
        percent = self._strategies_percent() if percent is None else percent
        return int(self._runtime.config.usable * percent / _HUNDRED)

    def _strategies_percent(self) -> float:
        """Return the most that a strategy asks for, read once; invalid requests count as 0."""
        if self._percent is None:
            asked = [0.0]
            for name, strategy in self._meter.declared.strategies:
                with self._runtime.plugins.guarded(name, "task_state_percent"):
                    asked.append(_percent_of(getattr(strategy, "task_state_percent", 0.0)))
            self._percent = max(asked)
        return self._percent

    def after_commit(self, result: GCResult) -> None:
        """Refresh the state after a committed collection; the session continues if that fails."""
        self._try(lambda: self._remember(result))

    def forget_restated(self) -> None:
        """Let the next request add the state again if it is missing: the window has changed."""
        self._is_restated = False

    def restate_if_missing(self) -> None:
        """Add the state again if a change of the window left it missing."""
        if not self._is_restated:
            self._is_restated = True
            self._try(self._restate)

    def _try(self, step: Callable[[], None]) -> None:
        """Run a step that may fail repeatedly: after several failures in a row the session does without the state."""
        if self._runtime.plugins.is_quarantined(TASK_STATE.name, _REMEMBERING):
            return
        with self._runtime.plugins.guarded(TASK_STATE.name, _REMEMBERING) as attempt:
            step()
        if attempt.error is None:
            self._runtime.plugins.forgive(TASK_STATE.name, _REMEMBERING)

    def _restate(self) -> None:
        """
        Add the state again, if there is room: a waiting block is in no file, so it is lost if the process ended, or the
        session was rewound, between a collection and the next request.
        """
        is_present = self.refreshed_item or any(
            block.source == TASK_STATE.name for block in self._runtime.state.blocks.waiting
        )
        if is_present or self._provider.kept_at or not self._state_tokens:
            return
        if any(item.kind in _LEFT for item in self._runtime.context.items()):
            self._give_state()
            waits = any(block.source == TASK_STATE.name for block in self._runtime.state.blocks.waiting)
            if waits and not self._has_room(self._runtime.state.blocks.waiting):
                self._runtime.state.give(TASK_STATE.name, {STATE_NAME: ""})

    def _remember(self, result: GCResult) -> None:
        """Cover what a collection removed in the state; a state that is not wanted any more may be collected."""
        if not any(isinstance(removal.action, Drop | Summarize) for removal in result.removals):
            return
        if self._state_tokens:
            self._give_state()
        else:
            self.give_way()

    def tokens_to_come(self) -> int:
        """Return the tokens of the state that a collection from now on would give; 0 if none is wanted."""
        expected = 0

        def measure() -> None:
            nonlocal expected
            text = self._written().text if self._state_tokens else ""
            expected = self._tokens_of(_block(text)) + SEAM if text else 0

        self._try(measure)
        return expected

    def _written(self) -> StateText:
        """
        Return the state's text as it would be given now; a list that nothing can be recalled from has no ids.

        Without tools every question is a task of its own, so the task is what was asked last.
        """
        from gc_core.task.rendering import TEXT_CHARS, state_text

        room = self._state_tokens - self._tokens_of(_block("")) - SEAM
        known = self.reader.look()
        if not self._runtime.context.cursor.has_tools:
            known = attrs.evolve(known, objective=self._runtime.state.objective.newest(TEXT_CHARS))
        state = state_text(known, max(0, room), self._runtime.counter.count)
        if self._runtime.context.recalls:
            return state
        return attrs.evolve(state, text=without_references(state.text))

    def _give_state(self) -> None:
        """Let the state's new text wait for the end of the request."""
        state = self._written()
        self.reader.save(SAVED_BYTES)
        self._announce_cut(state)
        if state.text:
            if TASK_STATE.name not in {source.name for source in self._runtime.context.budget.sources}:
                self._runtime.recorder.register(TASK_STATE)
            self._runtime.state.give(TASK_STATE.name, {STATE_NAME: state.text})

    def _announce_cut(self, state: StateText) -> None:
        cut = tuple(state.cut.items())
        if cut and cut != self._announced_cut:
            self._runtime.events.emit(StateCut(left_out=state.cut, tokens=state.tokens))
        self._announced_cut = cut

    def place(self) -> None:
        """Place the state that a collection of this call produced in its request, if there is room."""
        waiting = [block for block in self._runtime.state.blocks.waiting if block.source == TASK_STATE.name]
        if not waiting or self._provider.kept_at or self._runtime.context.open_calls:
            return
        if self._has_room(self._runtime.state.blocks.waiting):  # returning items are placed with it
            self._inbox.place_waiting()
        elif not self._has_room(waiting):
            self._runtime.state.give(TASK_STATE.name, {STATE_NAME: ""})

    def _has_room(self, blocks: Iterable[Block]) -> bool:
        moment = self._meter.moment()
        tokens = sum(map(self._tokens_of, blocks))
        return self._meter.scheduler.fits(attrs.evolve(moment, tokens=moment.tokens + tokens + SEAM))

    def _tokens_of(self, block: Block) -> int:
        return self._runtime.counter.count(block.framed) + self._runtime.counter.per_message

    def give_way(self) -> bool:
        """
        Let the state be removed rather than have no request: the log holds everything that it says. Return whether it
        was resident.
        """
        key = self._runtime.state.blocks.newest.get((TASK_STATE.name, STATE_NAME), "")
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
    return Block(source=TASK_STATE.name, name=STATE_NAME, text=text, kind=ItemKind.MEMORY_BLOCK)
