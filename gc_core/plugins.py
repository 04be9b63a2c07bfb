"""Plugins: found through entry points, called in isolation, and what they did wrong is kept."""

from __future__ import annotations

import copy
import functools
import importlib.metadata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pluggy

from gc_core import builtin, hookspecs
from gc_core.border import Attempt, PluginFailure, border
from gc_core.budget import InstructionBudget
from gc_core.entry_points import installed_entries
from gc_core.errors import ConfigError, PluginError, SourceError, UnknownStrategyError
from gc_core.hookspecs import PROJECT
from gc_core.items import Item
from gc_core.logs import logger
from gc_core.messages import Payload, Request
from gc_core.plan import Plan
from gc_core.policy import GCPolicy
from gc_core.profiles import AUTO, CompressionProfile, ProfileOffers
from gc_core.protocols import (
    AsyncSummarizer,
    ContextView,
    GCStrategy,
    ImportanceScorer,
    MemoryBackend,
    Summarizer,
)
from gc_core.registry import Registry, StrategyInfo, options_of
from gc_core.results import ColdItem, GCResult, Goal, Inconsistency, Refusal
from gc_core.sources import BUILT_IN_SOURCES, InstructionSource
from gc_core.summary import SummaryRequest
from gc_core.task.contract import StateExtractor

_log = logger("gc_core.plugins")

LOADING, COLLECT, SUMMARIZE, SCORE, EXTRACT = "loading", "collect", "summarize", "score", "extract"
"""What a plugin may be doing when it fails; hooks have their own names."""

A = TypeVar("A")

QUARANTINE_AFTER = 3
"""Failures after which a strategy, a summarizer or a scorer is no longer asked."""

MASKED = "[masked: a plugin that looks for secrets failed]"
"""Stands for a text that could not be looked through."""

MOST_FAILURES = 100
"""Failures that are kept: the first half for good, and the newest; memory holds the window, not the history."""


class Plugins:
    """
    The plugins of one process or test. ``Plugins.discover()`` finds what is installed; ``Plugins()`` has only what
    gc-core brings itself.

    Attributes:
        failures: What plugins did wrong so far, oldest first; of very many, the first and the newest.

    """

    def __init__(self) -> None:
        self.failures: list[PluginFailure] = []
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._strategies = Registry("strategy", "collect")
        self._summarizers = Registry("summarizer", "summarize")
        self._scorers = Registry("scorer", "score")
        self._backends = Registry("memory backend", "write")
        self._extractors = Registry("state extractor", "extract")
        self._profiles = ProfileOffers()
        self._offered: dict[str, Registry | ProfileOffers] = {
            "gc_register_strategies": self._strategies,
            "gc_register_summarizers": self._summarizers,
            "gc_register_scorers": self._scorers,
            "gc_register_extractors": self._extractors,
            "gc_register_profiles": self._profiles,
            "gc_register_memory_backends": self._backends,
        }
        self._faults: Counter[tuple[str, str]] = Counter()
        self.register(builtin, name="gc_core")

    @classmethod
    def discover(cls) -> Plugins:
        """Load every entry point of the group, each on its own: one that fails is kept in ``failures``."""
        plugins = cls()
        for entry in installed_entries():
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
        known = [(registry, registry.copy()) for registry in self._offered.values()]
        with border() as attempt:
            self._manager.register(module, key)
            self._manager.check_pending()
            for hook, registry in self._offered.items():
                self._take_offers(hook, registry, module, key)
        if attempt.error is not None:
            if self._manager.is_registered(module):
                self._manager.unregister(module)
            for registry, offers in known:
                registry.put_back(offers)
            raise PluginError(f"plugin {key!r} cannot be registered: {attempt.error}") from attempt.error

    # -- strategies ----------------------------------------------------------------------------------------------

    def strategy(self, name: str, options: Mapping[str, Any] | None = None) -> GCStrategy:
        """
        A strategy by name (``"gc_truncate"`` or ``"truncate"``) with its own options.

        Raises UnknownStrategyError, naming what is installed and what failed to load, and ConfigError for an unknown or
        bad option.
        """
        cls = self._strategies.find(name)
        if cls is None:
            raise UnknownStrategyError(
                f"no strategy {name!r}; installed: {self._strategies.names}, failed to load: {self._not_loaded}"
                f"{self._strategies.meant(name)}"
            )
        built: GCStrategy = self._built(self._strategies, name, cls, options or {})
        return built

    def check_options(self, options: Mapping[str, Mapping[str, Any]]) -> None:
        """Raise ConfigError, with the nearest name, for options of a strategy that nothing offers."""
        for name in options:
            if self._strategies.find(name) is None:
                known = f"installed: {self._strategies.names}{self._strategies.meant(name)}"
                raise ConfigError(f"strategies.{name}: no such strategy; {known}")

    def strategies(self) -> tuple[StrategyInfo, ...]:
        """What is installed, by name."""
        return self._strategies.infos()

    def summarizer(self, name: str, options: Mapping[str, Any] | None = None) -> Summarizer | AsyncSummarizer:
        """
        A summarizer by name with its own options.

        Raises ConfigError for a name that nothing offers, naming what is installed, and for an unknown or bad option.
        """
        cls = self._summarizers.find(name)
        if cls is None:
            known = [*self._summarizers.names, "none"]
            raise ConfigError(f"no summarizer {name!r}; installed: {known}, failed to load: {self._not_loaded}")
        built: Summarizer | AsyncSummarizer = self._built(self._summarizers, name, cls, options or {})
        return built

    def scorer(self, name: str) -> ImportanceScorer:
        """A scorer by name. Raises ConfigError for a name that nothing offers, naming what is installed."""
        cls = self._scorers.find(name)
        if cls is None:
            raise ConfigError(
                f"no scorer {name!r}; installed: {self._scorers.names}, failed to load: {self._not_loaded}"
            )
        built: ImportanceScorer = self._built(self._scorers, name, cls, {})
        return built

    def extractor(self, name: str) -> StateExtractor:
        """An extractor of states by name. Raises ConfigError for a name that nothing offers, naming what is there."""
        cls = self._extractors.find(name)
        if cls is None:
            known = self._extractors.names
            raise ConfigError(f"no state extractor {name!r}; installed: {known}, failed to load: {self._not_loaded}")
        built: StateExtractor = self._built(self._extractors, name, cls, {})
        return built

    def profile(self, name: str) -> CompressionProfile:
        """A compression profile by name. Raises ConfigError for a name that nothing offers, naming what is known."""
        found = self._profiles.find(name)
        if found is None:
            known = [*self._profiles.names, AUTO]
            raise ConfigError(f"no compression profile {name!r}; known: {known}, failed to load: {self._not_loaded}")
        return found

    def memory_backend(self, name: str, directory: Path) -> MemoryBackend:
        """
        A memory backend by name, for the session in this directory.

        Raises ConfigError for a name that nothing offers, naming what is installed, and where it cannot be made.
        """
        cls = self._backends.find(name)
        if cls is None:
            known = self._backends.names
            raise ConfigError(f"no memory backend {name!r}; installed: {known}, failed to load: {self._not_loaded}")
        built: Any = None
        with self.guarded(name, "its constructor") as attempt:
            built = cls(directory)
        if not isinstance(built, MemoryBackend):
            why = attempt.failure or f"{built!r:.200} lacks write, read, delete or keys"
            raise ConfigError(f"memory backend {name!r} cannot be made: {why}") from attempt.error
        return built

    def is_quarantined(self, name: str, doing: str = COLLECT) -> bool:
        """Whether a strategy, a summarizer or a scorer failed so often that it is no longer asked."""
        return self._faults[name, doing] >= QUARANTINE_AFTER

    # -- the border ----------------------------------------------------------------------------------------------

    def forgive(self, name: str, doing: str) -> None:
        """It went well: failures before that are no repeated ones any more."""
        del self._faults[name, doing]

    @contextmanager
    def guarded(self, plugin: str, doing: str) -> Iterator[Attempt]:
        """Run a plugin's code: what it raises is kept in ``failures`` and goes no further."""
        with border() as attempt:
            yield attempt
        if attempt.error is not None:
            attempt.failure = PluginFailure(plugin=plugin, doing=doing, error=attempt.error)
            self.failures.append(attempt.failure)
            if len(self.failures) > MOST_FAILURES:
                del self.failures[MOST_FAILURES // 2]
            self._faults[plugin, doing] += 1
            _log.warning("plugin failed", plugin=plugin, doing=doing, error=str(attempt.failure))

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

    def promote(self, context: ContextView, goal: Goal) -> list[ColdItem]:
        """Items that plugins want back in the window."""
        return self._ask("gc_promote", functools.partial(_all_of, ColdItem), context=context, goal=goal)

    def review(self, plan: Plan) -> tuple[Refusal, ...]:
        """Removals that plugins refuse."""
        return tuple(self._ask("gc_review_plan", functools.partial(_all_of, Refusal), plan=plan))

    def preserve(self, request: SummaryRequest, text: str) -> frozenset[str]:
        """Items that plugins want to keep in the window though a summary tells of them."""
        return frozenset(self._ask("gc_summary_written", functools.partial(_all_of, str), request=request, text=text))

    def validate(
        self, reply: Mapping[str, Any], context: ContextView, recall: Callable[[str], str] = str
    ) -> tuple[Inconsistency, ...]:
        """What plugins find wrong with a reply; ``recall`` gives them originals."""
        return tuple(self._ask("gc_validate_reply", _inconsistency, reply=reply, context=context, recall=recall))

    @property
    def processes(self) -> bool:
        """Whether any plugin looks at messages before they are logged."""
        return bool(self._manager.hook.gc_process_message.get_hookimpls())

    def process(self, message: Payload, accepted: Callable[[str, Payload, object], Payload]) -> Payload:
        """
        The message as all plugins leave it, in the order of their names. ``accepted`` reads what one of them answered,
        and raises what is kept of it where that cannot be taken.
        """
        for implementation in sorted(
            self._manager.hook.gc_process_message.get_hookimpls(), key=lambda each: each.plugin_name
        ):
            with self.guarded(implementation.plugin_name, "gc_process_message"):
                own = {"message": copy.deepcopy(message)}  # whatever it does to it
                answer = implementation.function(*(own[name] for name in implementation.argnames))
                if answer is not None:
                    message = accepted(implementation.plugin_name, message, answer)
        return message

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

    def _take_offers(self, hook: str, registry: Registry | ProfileOffers, module: object, plugin: str) -> None:
        """What a module that was registered just now offers."""
        others = [other for other in self._manager.get_plugins() if other is not module]
        self._manager.subset_hook_caller(hook, others)(register=functools.partial(registry.offer, plugin))

    def _built(self, registry: Registry, name: str, cls: type[Any], options: Mapping[str, Any]) -> Any:
        registry.check_options(name, cls, options)
        built: Any = None
        with self.guarded(name, "its constructor") as attempt:
            built = registry.checked(cls(**options))
        if built is None:
            failure = attempt.failure
            raise ConfigError(f"{registry.what} {name!r} refused its options {dict(options)}: {failure}") from (
                failure.error if failure else None
            )
        return built

    @property
    def _not_loaded(self) -> list[str]:
        return [str(failure) for failure in self.failures if failure.doing == LOADING]


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


Named = tuple[str, GCStrategy]
"""A strategy with the name under which reports speak of it."""


def named(
    strategies: Sequence[GCStrategy | str], plugins: Plugins, options: Mapping[str, Mapping[str, Any]]
) -> tuple[Named, ...]:
    """Strategies by name or as objects, in order, each with its name and its own options."""
    found = []
    for strategy in strategies:
        if isinstance(strategy, str):
            found.append((strategy, plugins.strategy(strategy, options_of(strategy, options))))
        else:
            found.append((type(strategy).__name__, strategy))
    return tuple(found)
