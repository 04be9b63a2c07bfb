"""State shared by a session's collaborators: plugins, recorder, settings and events, and the gate of its calls."""

from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar

import attrs

from gc_core.errors import SessionClosedError
from gc_core.events import BudgetUpdated, Event, Listener
from gc_core.observer import UNWATCHED, Watch
from gc_core.plugins.manager import Plugins
from gc_core.providers.contract import Format, TokenCounter
from gc_core.session.event_logs import log_event
from gc_core.storage.recorder import Recorder
from gc_core.storage.state import SessionState, Settings
from gc_core.storage.store import Store
from gc_core.values.config import GCConfig
from gc_core.values.items import Item
from gc_core.values.loggers import Scope, bound
from gc_core.window.budget import InstructionBudget
from gc_core.window.context import Context

SEAM: Final = 8
"""Tokens that a text may take more inside a frame than by itself."""

P = ParamSpec("P")
R = TypeVar("R")


class Events:
    """The one place that announces events: to the log, the observer and the listeners."""

    def __init__(self, plugins: Plugins, listener: Listener | None = None) -> None:
        self.observer: Watch = UNWATCHED
        self._plugins = plugins
        self._listeners = [] if listener is None else [listener]
        self._after_budget: weakref.WeakMethod[Callable[[], None]] | None = None

    def subscribe(self, listener: Listener) -> None:
        """Call this listener with every event from now on."""
        self._listeners.append(listener)

    def after_budget(self, react: Callable[[], None]) -> None:
        """Call this method whenever the budget has changed, after all listeners. It is held weakly."""
        self._after_budget = weakref.WeakMethod(react)

    def emit(self, event: Event) -> None:
        """Announce an event. Errors of listeners are kept in ``plugins.failures``."""
        log_event(event)
        self.observer.on_event(event)
        for listener in self._listeners:
            with self._plugins.guarded("listener", type(event).__name__):
                listener(event)

    def budget_updated(self, budget: InstructionBudget) -> None:
        """Announce the budget, also to the hook."""
        self.emit(BudgetUpdated(tokens=budget.total, utilisation=budget.utilisation))
        self._plugins.budget_updated(budget)
        react = None if self._after_budget is None else self._after_budget()
        if react is not None:
            react()


@attrs.frozen(kw_only=True)
class Runtime:
    """
    The values that the collaborators of one session share. The recorder owns the state; no
    collaborator keeps a copy.
    """

    plugins: Plugins
    recorder: Recorder
    events: Events
    settings: Settings

    @property
    def store(self) -> Store:
        """The session's files."""
        return self.recorder.store

    @property
    def directory(self) -> Path:
        """The directory of the session's files."""
        return self.recorder.store.directory

    @property
    def state(self) -> SessionState:
        """The state of the session."""
        return self.recorder.state

    @property
    def context(self) -> Context:
        """The window."""
        return self.recorder.state.context

    @property
    def config(self) -> GCConfig:
        """The configuration."""
        return self.recorder.state.config

    @property
    def counter(self) -> TokenCounter:
        """The token counter."""
        return self.recorder.state.counter

    @property
    def format(self) -> Format:
        """The provider's message shape."""
        return self.recorder.state.format

    def fresh(self) -> SessionState:
        """Return the state of an empty session, for the files to be applied to."""
        store = self.store
        return self.settings.fresh(store.payload, cites=not store.temporary)

    def find(self, key: str) -> Item | None:
        """Return the resident item with this id, in the current window, or None."""
        return self.context.find(key)

    def budget_changed(self) -> None:
        """Announce the current budget."""
        self.events.budget_updated(self.context.budget)


class CallGate:
    """
    Admits one call at a time: overlapping calls from threads wait for each other, and a closed session refuses them.

    Attributes:
        closed: Whether the session was closed.
        scope: The session's fields in log records; it does not refer to the session, which could not be freed
            otherwise.
        lock: Held by the call that is running; the same thread may enter again.

    """

    def __init__(self, runtime: Runtime) -> None:
        recorder = runtime.recorder
        self._runtime = runtime
        self.closed = False
        self.lock = threading.RLock()
        self.scope = Scope(session=recorder.store.session, turn=lambda: recorder.state.context.cursor.turn)

    @property
    def is_over(self) -> bool:
        """Whether no call is taken: the session was closed, another has its directory, or this is a forked child."""
        return self.closed or self._runtime.store.is_lost

    @contextlib.contextmanager
    def call(self, name: str) -> Iterator[None]:
        """Run, log and observe a call of this name."""
        with bound(self.scope), self._runtime.events.observer.call(name), self.entered(name):
            yield

    @contextlib.contextmanager
    def entered(self, name: str) -> Iterator[None]:
        """Inside, no other thread calls the session; a closed one raises SessionClosedError."""
        # Before the lock: a holder in the parent process never releases it after a fork.
        self._runtime.store.check_owner(name.strip("_"))
        with self.lock:
            if self.closed:
                raise SessionClosedError(f"{name.strip('_')}() on a closed session")
            self._rebuild_if_stale()
            yield

    def _rebuild_if_stale(self) -> None:
        """Rebuild the state if an interrupt left it half done."""
        recorder = self._runtime.recorder
        if recorder.is_stale:
            recorder.renew(recorder.store.state_at(recorder.store.position, self._runtime.fresh))


class Gated(Protocol):
    """An object whose calls are made one at a time."""

    _gate: CallGate


S = TypeVar("S", bound=Gated)


def synchronized(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Make overlapping calls from threads wait for each other, and refuse calls on a closed session."""

    @functools.wraps(method)
    def call(session: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with session._gate.call(method.__name__):  # noqa: SLF001 - it decorates the methods of that class
            return method(session, *args, **kwargs)

    return call
