"""
Hook calls: pluggy's own manager, with every implementation of a gc-core hook isolated.

An implementation is isolated when it is registered: pluggy calls a wrapper that records its errors, reads
its answer, and no longer calls it in quarantine. Order, wrappers, blocking and history stay pluggy's.
"""

from __future__ import annotations

import abc
import copy
import inspect
from collections.abc import Callable, Generator, Iterable, Mapping
from contextvars import ContextVar
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final, TypeVar

import attrs
import pluggy

from gc_core.errors import PluginError
from gc_core.plugins import hookspecs
from gc_core.plugins.faults import FAILED, Faults
from gc_core.plugins.hookspecs import PROJECT
from gc_core.values.policy import GCPolicy
from gc_core.values.results import ColdItem, Inconsistency, Refusal
from gc_core.values.sources import InstructionSource

A = TypeVar("A")

MASKED: Final = "[masked: a plugin that looks for secrets failed]"
"""Replaces a text that could not be checked."""

_OWN_HOOKS: Final = frozenset(name for name in vars(hookspecs) if name.startswith("gc_"))
"""Hooks that gc-core calls; a host calls its own, and may await them."""

_HOOKABLE: Final = (FunctionType, MethodType, staticmethod, classmethod)
"""What pluggy takes for an implementation, if it is marked."""

Running = Generator[None, Any, Any]
"""A wrapper between its two halves."""


# -- valid answers -----------------------------------------------------------------------------


def _one(kind: type[A]) -> Callable[[Any], A]:
    def read(answer: Any) -> A:
        if not isinstance(answer, kind):
            raise PluginError(f"answered {answer!r:.200}; expected a {kind.__name__} or None")
        return answer

    return read


def _all_of(kind: type[A]) -> Callable[[Any], tuple[A, ...]]:
    def read(answer: Iterable[Any]) -> tuple[A, ...]:
        answers = tuple(answer)
        for each in answers:
            if not isinstance(each, kind):
                raise PluginError(f"answered {each!r:.200}; expected a {kind.__name__}")
        return answers

    return read


def _ignored(_answer: Any) -> None:
    """Ignore the return value of an observer."""


_text: Final = _one(str)

_READS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "gc_classify": _one(GCPolicy),
    "gc_register_sources": _all_of(InstructionSource),
    "gc_promote": _all_of(ColdItem),
    "gc_review_plan": _all_of(Refusal),
    "gc_summary_written": _all_of(str),
    "gc_validate_reply": _one(Inconsistency),
    "gc_collection_started": _ignored,
    "gc_collection_finished": _ignored,
    "gc_collection_failed": _ignored,
    "gc_budget_updated": _ignored,
    "gc_request_rendered": _ignored,
}
"""The reader of a hook's answers."""

_CHAINS: Final[Mapping[str, Any]] = {"gc_process_message": None, "gc_redact": MASKED}
"""Hooks whose implementations each see the previous one's result, with the replacement for a failed one."""

_ISOLATED: Final = frozenset({*_READS, *_CHAINS})
"""
Hooks whose implementations are isolated: all of gc-core's, except registering ones, which are
rolled back as a whole.
"""


# -- chains --------------------------------------------------------------------------------------------------------


@attrs.define
class Chain:
    """
    One call of a hook whose implementations each see the previous one's result.

    Attributes:
        hook: The hook.
        value: The result so far.
        accepted: Reads a plugin's answer, given its name, the value and the answer. Raises for a refused one.
        failed: Whether any of them failed.

    """

    hook: str
    value: Any
    accepted: Callable[[str, Any, Any], Any]
    failed: bool = False

    def called(self, hook: pluggy.HookCaller, **arguments: Any) -> list[Any]:
        """Call the hook with its implementations as links of this chain."""
        token = _CURRENT.set(self)
        try:
            return hook(**arguments)  # type: ignore[no-any-return]  # not for hooks with firstresult
        finally:
            _CURRENT.reset(token)

    def copied(self, _given: Any = None) -> Any:
        """Return a copy of the result so far, for the next implementation to change freely."""
        return copy.deepcopy(self.value)


_CURRENT: Final[ContextVar[Chain | None]] = ContextVar("gc_core_chain", default=None)


def read_text(_plugin: str, _before: str, answer: Any) -> str:
    """Return a plugin's answer for a text. Raises PluginError for anything but text."""
    return _text(answer)


# -- isolation -----------------------------------------------------------------------------------------------------


@attrs.frozen
class _Isolated(abc.ABC):
    """An implementation of a hook as pluggy calls it: as a function, or as a wrapper of either style."""

    implementation: Callable[..., Any]
    plugin: str
    hook: str
    faults: Faults

    def function(self, *args: Any, **kwargs: Any) -> Any:
        """Call it; return None if it fails or is quarantined."""
        if self.faults.is_quarantined(self.plugin, self.hook):
            return None
        answer = self._attempted(self._asked, args, kwargs)
        if answer is FAILED:
            return self._after_failure()
        self.faults.forgive(self.plugin, self.hook)
        return answer

    def wrapper(self, *args: Any, **kwargs: Any) -> Running:
        """Run a wrapper of the new style; if it fails, the wrapped result stays."""
        running = self._begun(args, kwargs)
        if running is None:
            return (yield)
        try:
            answers = yield
        except BaseException:
            self._attempted(running.close)
            raise
        found = self._ended(running, lambda: self._sent(running, self._own(answers)))
        return answers if found is FAILED else found

    def old_wrapper(self, *args: Any, **kwargs: Any) -> Generator[None, pluggy.Result[Any], None]:
        """Run a wrapper of the old style; if it fails, the wrapped result stays."""
        running = self._begun(args, kwargs)
        if running is None:
            yield
            return
        outcome = None
        try:
            outcome = yield
            answers = outcome.get_result()
        except BaseException:
            self._attempted(running.close)
            if outcome is None:
                raise
            return  # pluggy raises the outcome's error
        outcome.force_result(self._own(answers))
        found = self._ended(running, lambda: self._forced(running, outcome))
        outcome.force_result(answers if found is FAILED else found)

    def _attempted(self, call: Callable[..., Any], *args: Any) -> Any:
        return self.faults.attempted(self.plugin, self.hook, call, *args)

    @abc.abstractmethod
    def _asked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return its answer, once that has been read."""

    @abc.abstractmethod
    def _all_read(self, answers: Any) -> Any:
        """Return a wrapper's result, each answer read like an implementation's own."""

    def _after_failure(self) -> Any:
        """Return the replacement for the answer of a failed implementation."""
        return None

    # -- a wrapper's two halves

    def _begun(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Running | None:
        """Return a wrapper that has reached its yield; None if it fails before that, or is quarantined."""
        if self.faults.is_quarantined(self.plugin, self.hook):
            return None
        running: Any = self._attempted(self._first_half, args, kwargs)
        if running is FAILED:
            self._after_failure()
            return None
        return running  # type: ignore[no-any-return]  # pluggy has checked that it is a generator

    def _first_half(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Running:
        running: Running = self.implementation(*args, **kwargs)
        if next(running, FAILED) is FAILED:
            raise PluginError("did not yield; expected a wrapper to yield once")
        return running

    def _ended(self, running: Running, second_half: Callable[[], Any]) -> Any:
        """Return a wrapper's result, or FAILED."""
        found = self._attempted(second_half)
        if found is FAILED:
            self._attempted(running.close)
            self._after_failure()
        else:
            self.faults.forgive(self.plugin, self.hook)
        return found

    def _sent(self, running: Running, answers: Any) -> Any:
        try:
            running.send(answers)
        except StopIteration as stop:
            return self._all_read(stop.value)
        raise PluginError("yielded twice; expected a wrapper to yield once")

    def _forced(self, running: Running, outcome: pluggy.Result[Any]) -> Any:
        try:
            running.send(outcome)
        except StopIteration:
            return self._all_read(outcome.get_result())
        raise PluginError("yielded twice; expected a wrapper to yield once")

    def _own(self, answers: Any) -> Any:
        """Return a list of the wrapper's own, so that the others' answers survive its failure."""
        return list(answers)


@attrs.frozen
class _Answers(_Isolated):
    """An implementation whose answer is read by itself."""

    read: Callable[[Any], Any]

    def _asked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        answer = self.implementation(*args, **kwargs)
        return None if answer is None else self.read(answer)

    def _all_read(self, answers: Any) -> Any:
        return [] if self.read is _ignored else [self.read(answer) for answer in _listed(answers)]


@attrs.frozen
class _Link(_Isolated):
    """
    An implementation that sees the previous result. If it fails, the result is ``fallback``, or, if None, the previous
    one.
    """

    fallback: Any

    def _asked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        chain = self._chain(args, kwargs)
        answer = self.implementation(*map(chain.copied, args), **{key: chain.copied() for key in kwargs})
        if answer is not None:
            answer = chain.value = chain.accepted(self.plugin, chain.value, answer)
        return answer

    def _after_failure(self) -> Any:
        chain = self._chain((), {})
        chain.failed = True
        if self.fallback is not None:
            chain.value = self.fallback
            self.faults.forgive(self.plugin, self.hook)  # in quarantine it would mask every text permanently
        return self.fallback

    def _first_half(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Running:
        return super()._first_half(copy.deepcopy(args), copy.deepcopy(kwargs))

    def _own(self, answers: Any) -> Any:
        return copy.deepcopy(list(answers))

    def _all_read(self, answers: Any) -> Any:
        found = _listed(answers)
        if found:
            chain = self._chain((), {})
            found[-1] = chain.value = chain.accepted(self.plugin, chain.value, found[-1])
        return found

    def _chain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Chain:
        """Return the chain of this link: a new one if the hook is called without ``chained``."""
        chain = _CURRENT.get()
        if chain is not None and chain.hook == self.hook:
            return chain
        return Chain(self.hook, next(iter((*args, *kwargs.values())), None), _unread)


def _unread(_plugin: str, _before: Any, answer: Any) -> Any:
    return answer


def _listed(answers: Any) -> list[Any]:
    if not isinstance(answers, list | tuple):
        raise PluginError(f"left {answers!r:.200}; expected the answers as a list, as its yield gave them")
    return [answer for answer in answers if answer is not None]


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


# -- the manager ---------------------------------------------------------------------------------------------------


class HookManager(pluggy.PluginManager):
    """
    pluggy's manager with gc-core's hooks isolated; other hooks, added with ``add_hookspecs``, are not touched.

    Args:
        faults: Records errors of implementations.
        left: Called with the name of a plugin that was unregistered or blocked.

    Attributes:
        registering: The name of the plugin that is being registered; None between registrations.

    """

    def __init__(self, faults: Faults, left: Callable[[str], None]) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(hookspecs)
        self.registering: str | None = None
        self._faults = faults
        self._left = left

    def get_canonical_name(self, plugin: object) -> str:
        """Return the name of a plugin registered without one: a module's or class's own, otherwise its ``repr``."""
        return getattr(plugin, "__name__", None) or repr(plugin)

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """Return the marks of an implementation; pluggy's slow look is spared for what in a module is no function."""
        if type(plugin) is ModuleType and not isinstance(vars(plugin).get(name), _HOOKABLE):
            return None
        marks = super().parse_hookimpl_opts(plugin, name)
        hook = name if marks is None else marks.get("specname") or name
        if marks is not None and hook in _OWN_HOOKS and _is_async(getattr(plugin, name)):
            raise PluginError(
                f"{hook} of {self.registering!r} is a coroutine function, which would never run; hooks are plain"
                " functions: def, not async def"
            )
        return marks

    def check_known(self, plugin: object) -> None:
        """
        Raise PluginError if this plugin implements an unknown hook. pluggy's ``check_pending`` would blame it for those
        of others too, whose specification may come later.
        """
        for caller in self.get_hookcallers(plugin) or ():
            own = [each for each in caller.get_hookimpls() if each.plugin is plugin]
            if not caller.has_spec() and not all(each.optionalhook for each in own):
                raise PluginError(f"unknown hook {caller.name!r}")

    def register(self, plugin: object, name: str | None = None) -> str | None:
        """Register a plugin as pluggy does; its implementations are isolated from then on."""
        before, self.registering = self.registering, name or self.get_canonical_name(plugin)
        try:
            registered = super().register(plugin, self.registering)
        finally:
            self.registering = before
        for caller in self.get_hookcallers(plugin) or ():
            for implementation in caller.get_hookimpls():
                if implementation.plugin is plugin and caller.name in _ISOLATED:
                    self._isolate(implementation, caller.name)
        return registered

    def unregister(self, plugin: object | None = None, name: str | None = None) -> Any | None:
        """Unregister a plugin as pluggy does, with everything it has offered."""
        known = name or self.get_name(plugin)
        removed = super().unregister(plugin, name)
        if removed is not None and known is not None:
            self._left(known)
        return removed

    def _isolate(self, implementation: pluggy.HookImpl, hook: str) -> None:
        """
        Wrap what pluggy calls in a function that records failures.

        ``HookImpl.function`` is the only place through which pluggy calls an implementation in the allowed version
        range; ``tests/test_pluggy_hooks.py`` checks that. If plugins were wrapped before registration, the manager
        would return other objects than those registered.
        """
        own = implementation.function, implementation.plugin_name, hook, self._faults
        isolated = _Link(*own, _CHAINS[hook]) if hook in _CHAINS else _Answers(*own, _READS[hook])
        style = "old_wrapper" if implementation.hookwrapper else "wrapper" if implementation.wrapper else "function"
        implementation.function = getattr(isolated, style)  # type: ignore[misc]  # pluggy says that it is final
