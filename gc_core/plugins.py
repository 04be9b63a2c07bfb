"""Plugins: found through entry points, called in isolation, and what they did wrong is kept."""

from __future__ import annotations

import functools
import importlib.metadata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar

import attrs
import pluggy

from gc_core import hookspecs, nogc
from gc_core.budget import InstructionBudget
from gc_core.errors import ConfigError, PluginError, SourceError, UnknownStrategyError
from gc_core.hookspecs import PROJECT
from gc_core.items import Item
from gc_core.logs import logger
from gc_core.messages import Request
from gc_core.planning import Plan
from gc_core.policy import GCPolicy
from gc_core.protocols import ContextView, GCStrategy
from gc_core.results import GCResult, Goal, Inconsistency, Refusal
from gc_core.sources import BUILT_IN_SOURCES, InstructionSource

_log = logger("gc_core.plugins")

LOADING, COLLECT = "loading", "collect"
"""What a plugin may be doing when it fails; hooks have their own names."""

A = TypeVar("A")

QUARANTINE_AFTER = 3
"""Failed collections after which a strategy is no longer asked."""

MASKED = "[masked: a plugin that looks for secrets failed]"
"""Stands for a text that could not be looked through."""

MOST_FAILURES = 100
"""Failures that are kept: the first half for good, and the newest; memory holds the window, not the history."""


@attrs.frozen(kw_only=True)
class PluginFailure:
    """
    What a plugin did wrong.

    Attributes:
        plugin: Its name.
        doing: What it was asked for.
        error: What it raised.

    """

    plugin: str
    doing: str
    error: Exception

    def __str__(self) -> str:
        """One line that names plugin, occasion and error."""
        return f"{self.plugin} failed in {self.doing}: {type(self.error).__name__}: {self.error}"


@attrs.define
class Attempt:
    """How a call of a plugin's code went: ``error`` and ``failure``, which tells whose it was, are None when well."""

    error: Exception | None = None
    failure: PluginFailure | None = None


@contextmanager
def _border() -> Iterator[Attempt]:
    """The plugin border, the one place that catches any error; it is kept, and goes no further by itself."""
    attempt = Attempt()
    try:
        yield attempt
    except Exception as error:  # noqa: BLE001 - see above
        attempt.error = error


@attrs.frozen(kw_only=True)
class StrategyOption:
    """An option of a strategy: its name, type as written, and default as written ("" when it has none)."""

    name: str
    type: str
    default: str


@attrs.frozen(kw_only=True)
class StrategyInfo:
    """An installed strategy: its name, one-line description, the plugin that brings it, and its options."""

    name: str
    summary: str
    plugin: str
    options: tuple[StrategyOption, ...]


class Plugins:
    """
    The plugins of one process or test. ``Plugins.discover()`` finds what is installed; ``Plugins()`` has only NoGC.

    Attributes:
        failures: What plugins did wrong so far, oldest first; of very many, the first and the newest.

    """

    def __init__(self) -> None:
        self.failures: list[PluginFailure] = []
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._strategies: dict[str, tuple[str, type[GCStrategy]]] = {}
        self._faults: Counter[tuple[str, str]] = Counter()
        self.register(nogc, name="gc_core")

    @classmethod
    def discover(cls) -> Plugins:
        """Load every entry point of the group, each on its own: one that fails is kept in ``failures``."""
        plugins = cls()
        for entry in sorted(importlib.metadata.entry_points(group=PROJECT), key=lambda entry: entry.name):
            with plugins.guarded(entry.name, LOADING):
                plugins.register(_loaded(entry), name=entry.name)
        return plugins

    def register(self, module: ModuleType | object, *, name: str | None = None) -> None:
        """
        Take part with a module or object that has ``@hookimpl`` functions.

        Raises PluginError when it or its name is registered already, implements an unknown hook, offers a strategy name
        that is taken, or fails in doing so; nothing of it is registered then.
        """
        key = name or repr(module)
        if self._manager.is_registered(module) or self._manager.has_plugin(key):
            raise PluginError(f"plugin {key!r} is registered already")
        known = dict(self._strategies)
        with _border() as attempt:
            self._manager.register(module, key)
            self._manager.check_pending()
            self._register_strategies(module, key)
        if attempt.error is not None:
            if self._manager.is_registered(module):
                self._manager.unregister(module)
            self._strategies = known
            raise PluginError(f"plugin {key!r} cannot be registered: {attempt.error}") from attempt.error

    # -- strategies ----------------------------------------------------------------------------------------------

    def strategy(self, name: str, options: Mapping[str, Any] | None = None) -> GCStrategy:
        """
        A strategy by name (``"gc_truncate"`` or ``"truncate"``) with its own options.

        Raises UnknownStrategyError, naming what is installed and what failed to load, and ConfigError for an unknown or
        bad option.
        """
        _, strategy = self._strategies.get(_short(name), ("", None))
        if strategy is None:
            failed = [str(failure) for failure in self.failures if failure.doing == LOADING]
            raise UnknownStrategyError(
                f"no strategy {name!r}; installed: {sorted(self._strategies)}, failed to load: {failed}"
            )
        return self._constructed(name, strategy, dict(options or {}))

    def strategies(self) -> tuple[StrategyInfo, ...]:
        """What is installed, by name."""
        return tuple(_info(name, plugin, cls) for name, (plugin, cls) in sorted(self._strategies.items()))

    def is_quarantined(self, name: str) -> bool:
        """Whether a strategy failed so often that it is no longer asked."""
        return self._faults[name, COLLECT] >= QUARANTINE_AFTER

    # -- the border ----------------------------------------------------------------------------------------------

    @contextmanager
    def guarded(self, plugin: str, doing: str) -> Iterator[Attempt]:
        """Run a plugin's code: what it raises is kept in ``failures`` and goes no further."""
        with _border() as attempt:
            yield attempt
        if attempt.error is not None:
            attempt.failure = PluginFailure(plugin=plugin, doing=doing, error=attempt.error)
            self.failures.append(attempt.failure)
            if len(self.failures) > MOST_FAILURES:
                del self.failures[MOST_FAILURES // 2]
            self._faults[plugin, doing] += 1
            _log.warning("plugin failed", plugin=plugin, doing=doing, error=repr(attempt.error))

    # -- hooks ---------------------------------------------------------------------------------------------------

    @property
    def classifies(self) -> bool:
        """Whether any plugin classifies items."""
        return bool(self._manager.hook.gc_classify.get_hookimpls())

    def classify(self, item: Item, age: int = 0, reuse: int = 0) -> GCPolicy | None:
        """The strongest answer of all plugins, or None."""
        answers = self._ask("gc_classify", _policy, item=item, age=age, reuse=reuse)
        return max(answers, key=lambda policy: policy.strength, default=None)

    def sources(self) -> tuple[InstructionSource, ...]:
        """Sources that plugins bring; where two differ under one name, neither is taken: no order decides."""
        offered = dict.fromkeys(self._ask("gc_register_sources", functools.partial(_all_of, InstructionSource)))
        taken = []
        for source in sorted(offered, key=lambda source: (source.layer, source.name)):
            with self.guarded(source.name, "gc_register_sources"):
                others = [other for other in (*BUILT_IN_SOURCES, *offered) if other.name == source.name]
                if any(other != source for other in others):
                    raise SourceError(f"source {source.name!r} is offered in several ways: {others}")
                taken.append(source)
        return tuple(taken)

    def review(self, plan: Plan) -> tuple[Refusal, ...]:
        """Removals that plugins refuse."""
        return tuple(self._ask("gc_review_plan", functools.partial(_all_of, Refusal), plan=plan))

    def validate(self, reply: Mapping[str, Any], context: ContextView) -> tuple[Inconsistency, ...]:
        """What plugins find wrong with a reply."""
        return tuple(self._ask("gc_validate_reply", _inconsistency, reply=reply, context=context))

    @property
    def redacts(self) -> bool:
        """Whether any plugin masks secrets."""
        return bool(self._manager.hook.gc_redact.get_hookimpls())

    def redact(self, text: str) -> str:
        """
        The text as all plugins leave it, in the order of their names. Where a plugin fails, the whole text is masked:
        what might be a secret is not written.
        """
        for implementation in sorted(self._manager.hook.gc_redact.get_hookimpls(), key=lambda each: each.plugin_name):
            masked = MASKED
            with self.guarded(implementation.plugin_name, "gc_redact"):
                masked = _text_or(text, implementation.function(text))
            text = masked
        return text

    def collection_started(self, goal: Goal) -> None:
        """Tell observers that a collection begins."""
        self._ask("gc_collection_started", goal=goal)

    def collection_finished(self, result: GCResult) -> None:
        """Tell observers what a collection did."""
        self._ask("gc_collection_finished", result=result)

    def collection_failed(self, goal: Goal, error: BaseException) -> None:
        """Tell observers that a collection failed."""
        self._ask("gc_collection_failed", goal=goal, error=error)

    def budget_updated(self, budget: InstructionBudget) -> None:
        """Tell observers that the budget changed."""
        self._ask("gc_budget_updated", budget=budget)

    def request_rendered(self, request: Request) -> None:
        """Tell observers what is about to be sent."""
        self._ask("gc_request_rendered", request=request)

    # -- inside --------------------------------------------------------------------------------------------------

    def _ask(self, hook: str, answers: Callable[[Any], Iterable[A]] = tuple, **arguments: Any) -> list[A]:
        """
        Every implementation on its own, so that one that fails breaks no other; ``answers`` reads what one returned,
        unless that is None, and raises PluginError for rubbish.
        """
        found: list[A] = []
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            with self.guarded(implementation.plugin_name, hook):
                answer = implementation.function(*(arguments[name] for name in implementation.argnames))
                found.extend(() if answer is None else answers(answer))
        return found

    def _register_strategies(self, module: object, plugin: str) -> None:
        def register(name: str, strategy: type[GCStrategy]) -> None:
            if not isinstance(name, str) or not name or not callable(strategy):
                raise PluginError(f"offered {name!r}, {strategy!r}; expected a name and a strategy class")
            if _short(name) in self._strategies:
                raise PluginError(f"strategy {name!r} is offered already by {self._strategies[_short(name)][0]!r}")
            self._strategies[_short(name)] = (plugin, strategy)

        caller = self._manager.subset_hook_caller(
            "gc_register_strategies", [other for other in self._manager.get_plugins() if other is not module]
        )
        caller(register=register)

    def _constructed(self, name: str, strategy: type[GCStrategy], options: dict[str, Any]) -> GCStrategy:
        allowed = [option.name for option in _options(strategy)]
        unknown = sorted(set(options) - set(allowed))
        if unknown:
            raise ConfigError(f"strategy {name!r} has no option {unknown[0]!r}; it has {allowed}")
        built: GCStrategy | None = None
        with self.guarded(name, "its constructor") as attempt:
            built = _checked(strategy(**options))
        if built is None:
            failure = attempt.failure
            raise ConfigError(f"strategy {name!r} refused its options {options}: {failure}") from (
                failure.error if failure else None
            )
        return built


def _loaded(entry: importlib.metadata.EntryPoint) -> Any:
    try:
        return entry.load()
    except SystemExit as error:
        raise PluginError(f"it ended the process when it was imported: SystemExit({error})") from error


def _policy(answer: Any) -> tuple[GCPolicy]:
    if not isinstance(answer, GCPolicy):
        raise PluginError(f"answered {answer!r:.200}; expected a GCPolicy or None")
    return (answer,)


def _inconsistency(answer: Any) -> tuple[Inconsistency]:
    if not isinstance(answer, Inconsistency):
        raise PluginError(f"answered {answer!r:.200}; expected an Inconsistency or None")
    return (answer,)


def _text_or(text: str, answer: Any) -> str:
    if answer is None:
        return text
    if not isinstance(answer, str):
        raise PluginError(f"answered {answer!r:.200}; expected a text or None")
    return answer


def _all_of(kind: type[A], answer: Iterable[Any]) -> list[A]:
    answers = list(answer)
    for each in answers:
        if not isinstance(each, kind):
            raise PluginError(f"answered {each!r:.200}; expected a {kind.__name__}")
    return answers


def _checked(built: Any) -> GCStrategy:
    if not isinstance(built, GCStrategy):
        raise PluginError(f"{built!r:.200} is no strategy: it has no method collect")
    return built


def _short(name: str) -> str:
    return name.removeprefix("gc_")


def _info(name: str, plugin: str, strategy: type[GCStrategy]) -> StrategyInfo:
    lines = (strategy.__doc__ or "").strip().splitlines()
    return StrategyInfo(name=name, summary=lines[0] if lines else "", plugin=plugin, options=_options(strategy))


def _options(strategy: type[GCStrategy]) -> tuple[StrategyOption, ...]:
    fields: Iterable[attrs.Attribute[Any]] = attrs.fields(strategy) if attrs.has(strategy) else ()
    return tuple(_option(field) for field in fields if field.init)


def _option(field: attrs.Attribute[Any]) -> StrategyOption:
    type_name = getattr(field.type, "__name__", str(field.type))
    return StrategyOption(name=field.alias or field.name, type=type_name, default=_default(field.default))


def _default(default: Any) -> str:
    """A default as a user would write it; no plugin's own code runs for it."""
    if default is attrs.NOTHING:
        return ""
    factory = getattr(default, "factory", None)  # attrs.Factory is a function to type checkers
    if factory is None:
        return repr(default)
    return repr(factory()) if factory in _PLAIN else "computed"


_PLAIN = (dict, list, tuple, set, frozenset)


Named = tuple[str, GCStrategy]
"""A strategy with the name under which reports speak of it."""


def named(
    strategies: Sequence[GCStrategy | str], plugins: Plugins, options: Mapping[str, Mapping[str, Any]]
) -> tuple[Named, ...]:
    """Strategies by name or as objects, in order, each with its name and its own options."""
    found = []
    for strategy in strategies:
        if isinstance(strategy, str):
            chosen = options.get(strategy, options.get(_short(strategy), options.get(f"gc_{_short(strategy)}", {})))
            found.append((strategy, plugins.strategy(strategy, chosen)))
        else:
            found.append((type(strategy).__name__, strategy))
    return tuple(found)
