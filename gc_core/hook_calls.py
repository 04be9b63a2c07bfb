"""
Hooks called as pluggy calls them, with each implementation isolated when its plugin is registered.

pluggy decides who is asked in which order, and runs the wrappers; what an implementation raises, or answers that cannot
be read, is kept as a failure of its plugin and goes no further. One that fails several times in a row is asked no more.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

import attrs
import pluggy

from gc_core.border import Attempt
from gc_core.errors import PluginError

Read = Callable[[Any], Any]
"""Reads what an implementation answered, which is not None. Raises PluginError where it cannot be read."""


class Faults(Protocol):
    """Keeps what went wrong."""

    def guarded(self, plugin: str, doing: str) -> AbstractContextManager[Attempt]:
        """Keep what is raised inside."""

    def forgive(self, name: str, doing: str) -> None:
        """It went well."""

    def is_quarantined(self, name: str, doing: str) -> bool:
        """Whether it failed too often in a row."""


class Relay:
    """
    A value that goes through the implementations of a hook one after the other: each gets what the one before it left.

    Args:
        value: With which it begins.
        given: What an implementation is given of it: a copy, where it could change it.
        taken: Reads the answer of a plugin, and returns the new value. What it raises is a failure of that plugin.
        failed: The value where a plugin failed, or is asked no more.

    """

    def __init__(
        self,
        value: Any,
        *,
        taken: Callable[[str, Any, Any], Any],
        given: Callable[[Any], Any] = lambda value: value,
        failed: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self.value = value
        self.given = given
        self._taken, self._failed = taken, failed
        self.newest: Any = None

    def take(self, plugin: str, answer: Any) -> None:
        """What a plugin answered; None leaves the value as it is."""
        self.newest = answer
        if answer is not None:
            self.value = self._taken(plugin, self.value, answer)

    def fail(self) -> None:
        """A plugin failed."""
        self.value = self._failed(self.value)


_RELAY: contextvars.ContextVar[Relay | None] = contextvars.ContextVar("gc_core_relay", default=None)

RELAYED: Final = {"gc_process_message": "message", "gc_redact": "text"}
"""Hooks whose value goes from one implementation to the next, with the argument that holds it."""


def isolate(
    manager: pluggy.PluginManager, plugin: object, faults: Faults, read: Mapping[str, Read], *, whole: Container[str]
) -> None:
    """
    Isolate the implementations of a plugin that was registered just now; ``read`` reads the answers of each hook. Hooks
    that are called while it is registered fail as a ``whole``: their errors refuse it.
    """
    for caller in manager.get_hookcallers(plugin) or ():
        for implementation in caller.get_hookimpls():
            if implementation.plugin is plugin and caller.name not in whole:
                isolated = _isolated(implementation, _Border(faults, implementation.plugin_name, caller.name), read)
                # pluggy types it as final, but calls whatever stands there; it has read the signature already.
                object.__setattr__(implementation, "function", isolated)


def relayed(call: Callable[..., Any], relay: Relay, argument: str, border: Callable[[], Any]) -> Any:
    """
    Send a value through a hook, and return what came of it; what a wrapper made of the last answer counts too, and what
    cannot be read of that is kept by ``border``.
    """
    token = _RELAY.set(relay)
    try:
        answers = call(**{argument: relay.value})
        last = answers[-1] if isinstance(answers, list) and answers else None
        if last is not None and last is not relay.newest:
            with border():
                relay.take("a wrapper", last)
    finally:
        _RELAY.reset(token)
    return relay.value


# -- inside ----------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Border:
    """The place where the code of a plugin begins."""

    faults: Faults
    plugin: str
    hook: str

    @property
    def is_closed(self) -> bool:
        return self.faults.is_quarantined(self.plugin, self.hook)

    @contextlib.contextmanager
    def crossed(self) -> Iterator[Attempt]:
        with self.faults.guarded(self.plugin, self.hook) as attempt:
            yield attempt
        if attempt.error is None:
            self.faults.forgive(self.plugin, self.hook)


def _isolated(implementation: pluggy.HookImpl, border: _Border, read: Mapping[str, Read]) -> Callable[..., Any]:
    if implementation.wrapper:
        return _isolated_wrapper(implementation.function, border, is_old=False)
    if implementation.hookwrapper:
        return _isolated_wrapper(implementation.function, border, is_old=True)
    if border.hook in RELAYED:
        names = implementation.argnames
        place = names.index(RELAYED[border.hook]) if RELAYED[border.hook] in names else None
        return _isolated_relay(implementation.function, border, place)
    return _isolated_function(implementation.function, border, read.get(border.hook, _as_it_is))


def _as_it_is(answer: Any) -> Any:
    return answer


def _isolated_function(function: Callable[..., Any], border: _Border, read: Read) -> Callable[..., Any]:
    def isolated(*arguments: Any) -> Any:
        if border.is_closed:
            return None
        with border.crossed():
            answer = function(*arguments)
            return None if answer is None else read(answer)
        return None

    return isolated


def _isolated_relay(function: Callable[..., Any], border: _Border, place: int | None) -> Callable[..., Any]:
    def isolated(*arguments: Any) -> Any:
        relay = _RELAY.get()
        if relay is None:
            raise PluginError(f"{border.hook} is called through Plugins alone, which hands its value on")
        if not border.is_closed:
            with border.crossed():
                own = list(arguments)
                if place is not None:
                    own[place] = relay.given(relay.value)
                answer = function(*own)
                relay.take(border.plugin, answer)
                return answer
        relay.fail()
        return None

    return isolated


def _isolated_wrapper(function: Callable[..., Any], border: _Border, *, is_old: bool) -> Callable[..., Any]:
    """A wrapper that fails is as if it were not there: what it wraps is asked, and its answer counts."""

    def isolated(*arguments: Any) -> Generator[None, Any, Any]:
        running = None if border.is_closed else _begun(function, arguments, border)
        result = yield
        if running is None:
            return result
        ended, answer = _ended(running, result, border)
        return answer if ended and not is_old else result

    return isolated


def _begun(function: Callable[..., Any], arguments: Iterable[Any], border: _Border) -> Generator[None, Any, Any] | None:
    with border.faults.guarded(border.plugin, border.hook):
        running: Generator[None, Any, Any] = function(*arguments)
        try:
            next(running)
        except StopIteration:
            raise PluginError("a wrapper has to yield once; it yielded nothing") from None
        return running
    return None


def _ended(running: Generator[None, Any, Any], result: Any, border: _Border) -> tuple[bool, Any]:
    """Whether a wrapper went on to its end, and what it returned."""
    with border.crossed():
        try:
            running.send(result)
        except StopIteration as stop:
            if border.hook and not isinstance(stop.value, list | type(None)):
                raise PluginError(f"a wrapper returned {stop.value!r:.200}; expected the list of answers") from None
            return isinstance(stop.value, list), stop.value
        running.close()
        raise PluginError("a wrapper has to yield once; it yielded twice")
    return False, None
