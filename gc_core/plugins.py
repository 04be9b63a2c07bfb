"""Plugins: found through entry points, called in isolation, and what they did wrong is kept."""

from __future__ import annotations

import copy
import functools
import importlib.metadata
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

import pluggy

from gc_core import builtin, hookspecs
from gc_core.border import Attempt, PluginFailure, border
from gc_core.budget import InstructionBudget
from gc_core.entry_points import installed_entries
from gc_core.errors import ConfigError, PluginError, SourceError, UnknownStrategyError
from gc_core.hook_calls import RELAYED, Relay, isolate, relayed
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
COUNT = "count"
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

    def __init__(self, *, blocked: Iterable[str] = ()) -> None:
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
        for name in blocked:
            self._manager.set_blocked(name)
        self.register(builtin, name="gc_core")

    @classmethod
    def discover(cls, *, blocked: Iterable[str] = ()) -> Plugins:
        """
        Load every entry point of the group but the ``blocked`` names, each on its own: one that fails is kept in
        ``failures``. What is blocked is not even imported.
        """
        plugins = cls(blocked=blocked)
        for entry in installed_entries():
            if not plugins.manager.is_blocked(entry.name):
                with plugins.guarded(entry.name, LOADING):
                    plugins.register(_loaded(entry), name=entry.name)
        return plugins

    @property
    def manager(self) -> pluggy.PluginManager:
        """
        Pluggy's own, to look at: who is registered, which hooks there are, in which order they are asked. Register and
        unregister here instead, so that plugins are isolated and their offers known.
        """
        return self._manager

    def register(self, module: ModuleType | object, *, name: str | None = None) -> None:
        """
        Take part with a module or object that has ``@hookimpl`` functions.

        Raises PluginError when it or its name is registered already, implements an unknown hook, offers a strategy name
        that is taken, or fails in doing so; nothing of it is registered then. A blocked name is passed over in silence,
        as by pluggy.
        """
        key = name or repr(module)
        if self._manager.is_blocked(key):
            return
        if self._manager.is_registered(module) or self._manager.has_plugin(key):
            raise PluginError(f"plugin {key!r} is registered already")
        known = [(registry, registry.copy()) for registry in self._offered.values()]
        with border() as attempt:
            self._manager.register(module, key)
            self._manager.check_pending()
            isolate(self._manager, module, self, _READ, whole=self._offered)
            for hook, registry in self._offered.items():
                self._take_offers(hook, registry, module, key)
        if attempt.error is not None:
            if self._manager.is_registered(module):
                self._manager.unregister(module)
            for registry, offers in known:
                registry.put_back(offers)
            raise PluginError(f"plugin {key!r} cannot be registered: {attempt.error}") from attempt.error

    def unregister(self, name: str) -> None:
        """
        Take a plugin out: its hooks are asked no more, and what it offers is gone. Sessions keep what they were made
        with. Raises PluginError when none of this name is registered.
        """
        if not self._manager.has_plugin(name):
            known = sorted(key for key, _ in self._manager.list_name_plugin())
            raise PluginError(f"no plugin {name!r} is registered; there are {known}")
        self._manager.unregister(name=name)
        for registry in self._offered.values():
            registry.withdraw(name)

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
        answers: list[GCPolicy] = self._answers("gc_classify", item=item, age=age, reuse=reuse)
        return max(answers, key=lambda policy: policy.strength, default=None)

    def sources(self) -> tuple[InstructionSource, ...]:
        """Sources that plugins bring; where two differ under one name, neither is taken: no order decides."""
        offered: dict[InstructionSource, None] = dict.fromkeys(itertools.chain(*self._answers("gc_register_sources")))
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
        return list(itertools.chain(*self._answers("gc_promote", context=context, goal=goal)))

    def review(self, plan: Plan) -> tuple[Refusal, ...]:
        """Removals that plugins refuse."""
        return tuple(itertools.chain(*self._answers("gc_review_plan", plan=plan)))

    def preserve(self, request: SummaryRequest, text: str) -> frozenset[str]:
        """Items that plugins want to keep in the window though a summary tells of them."""
        return frozenset(itertools.chain(*self._answers("gc_summary_written", request=request, text=text)))

    def validate(
        self, reply: Mapping[str, Any], context: ContextView, recall: Callable[[str], str] | None = None
    ) -> tuple[Inconsistency, ...]:
        """What plugins find wrong with a reply; ``recall`` gives them originals, by default there are none."""
        recall = _no_original if recall is None else recall
        return tuple(self._answers("gc_validate_reply", reply=reply, context=context, recall=recall))

    @property
    def processes(self) -> bool:
        """Whether any plugin looks at messages before they are logged."""
        return bool(self._manager.hook.gc_process_message.get_hookimpls())

    def process(self, message: Payload, accepted: Callable[[str, Payload, object], Payload]) -> Payload:
        """
        The message as all plugins leave it, in pluggy's order. ``accepted`` reads what one of them answered, and raises
        what is kept of it where that cannot be taken.
        """
        result: Payload = self._relayed("gc_process_message", Relay(message, given=copy.deepcopy, taken=accepted))
        return result

    @property
    def redacts(self) -> bool:
        """Whether any plugin masks secrets."""
        return bool(self._manager.hook.gc_redact.get_hookimpls())

    def redact(self, text: str) -> str:
        """
        The text as all plugins leave it, in pluggy's order. Where a plugin fails, or failed so often that it is asked
        no more, the whole text is masked: what might be a secret is not written.
        """
        masked = Relay(text, taken=lambda _, __, answer: _text(answer), failed=lambda _: MASKED)
        result: str = self._relayed("gc_redact", masked)
        return result

    def collection_started(self, goal: Goal) -> None:
        """Tell observers that a collection begins."""
        self._answers("gc_collection_started", goal=goal)

    def collection_finished(self, result: GCResult) -> None:
        """Tell observers what a collection did."""
        self._answers("gc_collection_finished", result=result)

    def collection_failed(self, goal: Goal, error: BaseException) -> None:
        """Tell observers that a collection failed."""
        self._answers("gc_collection_failed", goal=goal, error=error)

    def budget_updated(self, budget: InstructionBudget) -> None:
        """Tell observers that the budget changed."""
        self._answers("gc_budget_updated", budget=budget)

    def request_rendered(self, request: Request) -> None:
        """Tell observers what is about to be sent."""
        self._answers("gc_request_rendered", request=request)

    # -- inside --------------------------------------------------------------------------------------------------

    def _answers(self, hook: str, **arguments: Any) -> list[Any]:
        """What a hook answers, in pluggy's order; what wrappers made of it is read again."""
        answers = getattr(self._manager.hook, hook)(**arguments)
        read = _READ.get(hook)
        with self.guarded("a wrapper", hook):
            return answers if read is None else [read(answer) for answer in answers]
        return []

    def _relayed(self, hook: str, relay: Relay) -> Any:
        call = getattr(self._manager.hook, hook)
        return relayed(call, relay, RELAYED[hook], functools.partial(self.guarded, "a wrapper", hook))

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


def _no_original(item: str) -> str:
    raise SourceError(f"{item!r:.100}: there is no log at hand to recall it from")


def _is(kind: type[A], what: str) -> Callable[[Any], A]:
    """Reads an answer that has to be of a kind."""

    def read(answer: Any) -> A:
        if not isinstance(answer, kind):
            raise PluginError(f"answered {answer!r:.200}; expected {what} or None")
        return answer

    return read


def _all_of(kind: type[A]) -> Callable[[Any], list[A]]:
    """Reads an answer that has to hold values of a kind alone."""

    def read(answer: Any) -> list[A]:
        answers = list(answer)
        for each in answers:
            if not isinstance(each, kind):
                raise PluginError(f"answered {each!r:.200}; expected a {kind.__name__}")
        return answers

    return read


_text = _is(str, "a text")

_READ: Final = {
    "gc_classify": _is(GCPolicy, "a GCPolicy"),
    "gc_register_sources": _all_of(InstructionSource),
    "gc_promote": _all_of(ColdItem),
    "gc_review_plan": _all_of(Refusal),
    "gc_summary_written": _all_of(str),
    "gc_validate_reply": _is(Inconsistency, "an Inconsistency"),
}
"""How the answers to hooks are read; observers answer nothing."""


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
