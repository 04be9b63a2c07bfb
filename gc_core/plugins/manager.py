"""Plugins: found through entry points, called in isolation, with their errors recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from gc_core.errors import ConfigError, PluginError, SourceError, UnknownStrategyError
from gc_core.isolation import Attempt, PluginFailure, isolated
from gc_core.plugins import builtin
from gc_core.plugins.contract import MemoryBackend
from gc_core.plugins.entry_points import distribution_of, installed_entries
from gc_core.plugins.faults import Faults
from gc_core.plugins.hook_calls import MASKED, Chain, HookManager, read_text
from gc_core.plugins.profile_offers import ProfileOffers
from gc_core.plugins.registry import OWN, Registry, StrategyInfo, bears, install_command, options_of, short
from gc_core.relevance.contract import ImportanceScorer
from gc_core.relevance.profiles import AUTO, CompressionProfile
from gc_core.task.contract import StateExtractor
from gc_core.values.items import Item
from gc_core.values.loggers import logger
from gc_core.values.messages import Payload, Request
from gc_core.values.option_secrets import without_option_secrets
from gc_core.values.policy import GCPolicy
from gc_core.values.protocols import COLLECT_ARGUMENTS, AsyncSummarizer, ContextView, GCStrategy, Summarizer
from gc_core.values.results import ColdItem, GCResult, Goal, Inconsistency, Refusal
from gc_core.values.sources import RESERVED_SOURCES, InstructionSource
from gc_core.values.summary import SummaryRequest
from gc_core.values.validators import check_kind, check_text, listed
from gc_core.window.budget import InstructionBudget
from gc_core.window.plan import Plan

if TYPE_CHECKING:
    import importlib.metadata

_log = logger("gc_core.plugins")

LOADING, COLLECT, SUMMARIZE, SCORE, EXTRACT = "loading", "collect", "summarize", "score", "extract"
COUNT = "count"
"""What a plugin may be doing when it fails; hooks have their own names."""

_CORE = "gc_core"
"""The plugin with gc-core's own offers."""


class Plugins:
    """
    The plugins of one process or test. ``Plugins.discover()`` finds the installed ones; ``Plugins()`` has only
    gc-core's own.

    Attributes:
        manager: pluggy's plugin manager, for everything that pluggy documents: names, blocking, tracing, hooks of your
            own.
        failures: Errors of plugins so far, oldest first; if there are very many, the first and the newest.

    """

    def __init__(self) -> None:
        self._faults = Faults()
        self._discovered = False
        self.failures: list[PluginFailure] = self._faults.failures
        self._distributions: dict[str, str] = {}
        self._strategies = Registry("strategy", "collect", COLLECT_ARGUMENTS)
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
        self._hooks = HookManager(self._faults, self._left)
        self.manager: pluggy.PluginManager = self._hooks
        for hook, registry in self._offered.items():
            offer = functools.partial(self._offer, registry)
            getattr(self.manager.hook, hook).call_historic(kwargs={"register": offer})
        self.register(builtin, name=_CORE)

    @classmethod
    def discover(cls, blocked: Iterable[str] = ()) -> Plugins:
        """
        Load every entry point of the group, each by itself: errors are recorded in ``failures``. Raises ConfigError if
        ``blocked`` is not a list of names, or names gc-core's own plugin.

        A name belongs to the distribution named like it, ``gc-x`` or ``x`` for the strategy ``x``; otherwise to the
        first that uses it. The names of gc-core's own strategies belong to no other distribution. A plugin that uses
        another's name is not registered, and is listed in ``failures`` with its distribution.

        A blocked plugin is neither imported nor registered, as with pluggy's ``set_blocked``; its name is that of the
        entry point. Hooks are called in the order of these names.

        A name that no installed plugin has is no error: machines that share a configuration need not have the same
        plugins installed. If an installed plugin has a similar name, a warning in the log names it, because that one
        runs although it was perhaps meant.
        """
        plugins, entries = cls(), installed_entries()
        plugins._discovered = True
        for name in listed("blocked", blocked, "plugins' names", kinds=str, error=ConfigError):
            if name == _CORE:
                raise ConfigError(f"blocked = {name!r}: gc-core itself cannot be blocked, only plugins beside it")
            plugins.manager.set_blocked(name)
            _warn_if_misspelt(name, {entry.name for entry in entries})
        for entry in reversed(entries):  # pluggy calls the newest first
            if not plugins.manager.is_blocked(entry.name):
                plugins._load(entry)
        return plugins

    def register(self, module: ModuleType | object, *, name: str | None = None) -> str | None:
        """
        Register a module or object with ``@hookimpl`` functions, at any time; return its name, or None if that is
        blocked. Without a name, a module has its own.

        Raises PluginError when it or its name is already registered, or when it implements an unknown hook or one as a
        coroutine function, offers a strategy name that is taken, or fails in doing so; nothing of it is registered
        then.
        """
        check_kind("name", name, str | None, "the plugin's name, or None", error=PluginError)
        key = name or self.manager.get_canonical_name(module)
        if self.manager.is_registered(module) or self.manager.has_plugin(key):
            raise PluginError(f"plugin {key!r} is already registered")
        registered = None
        with isolated() as attempt:
            registered = self.manager.register(module, key)
            self._hooks.check_known(module)
        if attempt.error is not None:
            self.manager.unregister(name=key)
            raise PluginError(f"plugin {key!r} cannot be registered: {attempt.error}") from attempt.error
        return registered

    def unregister(self, name: str) -> None:
        """
        Unregister a plugin, with what it has offered; sessions keep objects of it that they already use, such as a
        strategy.

        Raises PluginError for a name that is not registered, naming the registered ones.
        """
        check_text("name", name, error=PluginError)
        if self.manager.unregister(name=name) is None:
            known = sorted(name for name, plugin in self.manager.list_name_plugin() if plugin is not None)
            raise PluginError(f"no plugin {name!r} is registered; registered: {known}")

    # -- strategies ----------------------------------------------------------------------------------------------

    def strategy(self, name: str, options: Mapping[str, Any] | None = None) -> GCStrategy:
        """
        Return a strategy by name (``"gc_truncate"`` or ``"truncate"``) with its own options.

        Raises UnknownStrategyError, naming the installed strategies and failures to load, and ConfigError for an
        unknown or invalid option.
        """
        cls = self._strategies.find(name)
        if cls is None:
            raise UnknownStrategyError(self._unknown(self._strategies, name) + self._installed_by(name))
        built: GCStrategy = self._built(self._strategies, name, cls, options or {})
        return built

    def check_options(self, options: Mapping[str, Mapping[str, Any]]) -> None:
        """
        Raise ConfigError for options of strategies, in use or not, that are wrong: of an unknown strategy, of one
        strategy in two tables, or options that the strategy does not have or refuses.
        """
        self._strategies.check_tables("strategies", options, self._undiscovered)
        for name, own in options.items():
            self.strategy(name, own)

    def check_summarizer_options(self, options: Mapping[str, Mapping[str, Any]]) -> None:
        """
        Raise ConfigError for options of summarizers, in use or not, that are wrong, as far as the names show: values
        are checked when a summarizer is created, because only then what it needs has to be installed.
        """
        self._summarizers.check_tables("summarizers", options, self._undiscovered)

    def strategies(self) -> tuple[StrategyInfo, ...]:
        """Return the installed strategies, by name."""
        return self._strategies.infos()

    def summarizer(self, name: str, options: Mapping[str, Any] | None = None) -> Summarizer | AsyncSummarizer:
        """
        Return a summarizer by name with its own options.

        Raises ConfigError for an unknown name, naming the installed ones, and for an unknown or invalid option.
        """
        cls = self._summarizers.find(name)
        if cls is None:
            raise ConfigError(self._unknown(self._summarizers, name, "none"))
        built: Summarizer | AsyncSummarizer = self._built(self._summarizers, name, cls, options or {})
        return built

    def scorer(self, name: str) -> ImportanceScorer:
        """Return a scorer by name. Raises ConfigError for an unknown name, naming the installed ones."""
        cls = self._scorers.find(name)
        if cls is None:
            raise ConfigError(self._unknown(self._scorers, name))
        built: ImportanceScorer = self._built(self._scorers, name, cls, {})
        return built

    def extractor(self, name: str) -> StateExtractor:
        """Return a state extractor by name. Raises ConfigError for an unknown name, naming the installed ones."""
        cls = self._extractors.find(name)
        if cls is None:
            raise ConfigError(self._unknown(self._extractors, name))
        built: StateExtractor = self._built(self._extractors, name, cls, {})
        return built

    def profile(self, name: str) -> CompressionProfile:
        """Return a compression profile by name. Raises ConfigError for an unknown name, naming the known ones."""
        found = self._profiles.find(name)
        if found is None:
            raise ConfigError(self._unknown(self._profiles, name, AUTO))
        return found

    def memory_backend(self, name: str, directory: Path) -> MemoryBackend:
        """
        Return a memory backend by name, for the session in this directory.

        Raises ConfigError for an unknown name, naming the installed ones, and if it cannot be created.
        """
        cls = self._backend(name)
        built: Any = None
        with self.guarded(name, "its constructor") as attempt:
            built = cls(directory)
        if not isinstance(built, MemoryBackend):
            why = attempt.failure or f"{built!r:.200} lacks write, read, delete or keys"
            raise ConfigError(f"memory backend {name!r} cannot be created: {why}") from attempt.error
        return built

    def check_memory_backend(self, name: str) -> None:
        """Raise ConfigError for an unknown name of a memory backend, naming the installed ones."""
        self._backend(name)

    # -- isolation ----------------------------------------------------------------------------------------------

    def is_quarantined(self, name: str, doing: str = COLLECT) -> bool:
        """
        Return whether a strategy, a summarizer, a scorer or a plugin's hook is quarantined after
        repeated failures.
        """
        return self._faults.is_quarantined(name, doing)

    def forgive(self, name: str, doing: str) -> None:
        """Reset the count of failures after a success. Ends a quarantine too."""
        self._faults.forgive(name, doing)

    def guarded(self, plugin: str, doing: str) -> AbstractContextManager[Attempt]:
        """Run a plugin's code: its errors are recorded in ``failures`` and go no further."""
        return self._faults.guarded(plugin, doing)

    # -- hooks ---------------------------------------------------------------------------------------------------

    @property
    def classifies(self) -> bool:
        """True if any plugin classifies items."""
        return bool(self.manager.hook.gc_classify.get_hookimpls())

    def classify(self, item: Item, age: int = 0, reuse: int = 0) -> GCPolicy | None:
        """Return the strongest answer of all plugins, or None."""
        answers = self.manager.hook.gc_classify(item=item, age=age, reuse=reuse)
        return max(answers, key=lambda policy: policy.strength, default=None)

    def sources(self) -> tuple[InstructionSource, ...]:
        """Return the plugins' sources; if two differ under one name, neither is used: no order decides."""
        offered = dict.fromkeys(chain.from_iterable(self.manager.hook.gc_register_sources()))
        taken = []
        for source in sorted(offered, key=lambda source: (source.layer, source.name)):
            with self.guarded(source.name, "gc_register_sources"):
                others = [other for other in (*RESERVED_SOURCES, *offered) if other.name == source.name]
                if any(other != source for other in others):
                    raise SourceError(f"source {source.name!r} is offered in several ways: {others}")
                taken.append(source)
        return tuple(taken)

    def promote(self, context: ContextView, goal: Goal) -> list[ColdItem]:
        """Return items that plugins want back in the window."""
        return list(chain.from_iterable(self.manager.hook.gc_promote(context=context, goal=goal)))

    def review(self, plan: Plan) -> tuple[Refusal, ...]:
        """Return removals that plugins refuse."""
        return tuple(chain.from_iterable(self.manager.hook.gc_review_plan(plan=plan)))

    def preserve(self, request: SummaryRequest, text: str) -> frozenset[str]:
        """Return items that plugins want to keep in the window although a summary covers them."""
        return frozenset(chain.from_iterable(self.manager.hook.gc_summary_written(request=request, text=text)))

    def validate(
        self, reply: Mapping[str, Any], context: ContextView, recall: Callable[[str], str] | None = None
    ) -> tuple[Inconsistency, ...]:
        """
        Return what plugins find wrong with a reply; ``recall`` gives them originals, and raises SourceError if it is
        None.
        """
        recall = recall or _nothing_to_recall
        return tuple(self.manager.hook.gc_validate_reply(reply=reply, context=context, recall=recall))

    @property
    def processes(self) -> bool:
        """True if any plugin processes messages before they are logged."""
        return bool(self.manager.hook.gc_process_message.get_hookimpls())

    def process(self, message: Payload, accepted: Callable[[str, Payload, object], Payload]) -> Payload:
        """
        Return the message after all plugins, each called with a copy of the previous result. ``accepted`` reads each
        answer, and raises for a refused one.
        """
        middleware = Chain("gc_process_message", message, accepted)
        answers: list[Payload] = middleware.called(self.manager.hook.gc_process_message, message=message)
        return answers[-1] if answers else message

    @property
    def redacts(self) -> bool:
        """True if any plugin masks secrets."""
        return bool(self.manager.hook.gc_redact.get_hookimpls())

    def redact(self, text: str) -> str:
        """
        Return the text after all plugins, each called with the previous result. If one of them fails, the whole text is
        masked, whatever the others return: a possible secret is not written.
        """
        redaction = Chain("gc_redact", text, read_text)
        answers: list[str] = redaction.called(self.manager.hook.gc_redact, text=text)
        if redaction.failed:
            return MASKED
        return answers[-1] if answers else text

    def collection_started(self, goal: Goal) -> None:
        """Notify observers that a collection begins."""
        self.manager.hook.gc_collection_started(goal=goal)

    def collection_finished(self, result: GCResult) -> None:
        """Notify observers of a collection's result."""
        self.manager.hook.gc_collection_finished(result=result)

    def collection_failed(self, goal: Goal, error: BaseException) -> None:
        """Notify observers that a collection failed."""
        self.manager.hook.gc_collection_failed(goal=goal, error=error)

    def budget_updated(self, budget: InstructionBudget) -> None:
        """Notify observers that the budget changed."""
        self.manager.hook.gc_budget_updated(budget=budget)

    def request_rendered(self, request: Request) -> None:
        """Notify observers of a request that is about to be sent."""
        self.manager.hook.gc_request_rendered(request=request)

    # -- inside --------------------------------------------------------------------------------------------------

    def _load(self, entry: importlib.metadata.EntryPoint) -> None:
        distribution = distribution_of(entry)
        with self._faults.guarded(entry.name, LOADING, distribution):
            if self.manager.has_plugin(entry.name):
                raise PluginError(
                    f"plugin {entry.name!r} is already registered, by {self._distributions.get(entry.name)}"
                )
            self._distributions[entry.name] = distribution
            self.register(_loaded(entry), name=entry.name)

    def _offer(self, registry: Registry | ProfileOffers, *offer: Any, **named: Any) -> None:
        """Take an offer of the plugin that is being registered. Raises PluginError if none is."""
        plugin = self._hooks.registering
        if plugin is None:
            raise PluginError(f"{offer or named} offered when no plugin is being registered")
        name = next(iter(offer), named.get("name"))
        if isinstance(registry, Registry) and isinstance(name, str) and plugin in self._distributions:
            self._check_name(registry, plugin, name)
        registry.offer(plugin, *offer, **named)

    def _check_name(self, registry: Registry, plugin: str, name: str) -> None:
        """Raise PluginError for one of gc-core's own names; remove a holder if this distribution has the name."""
        distribution = self._distributions[plugin]
        if not bears(distribution, name):
            if registry is self._strategies and short(name) in OWN:
                raise PluginError(
                    f"{registry.what} {name!r} is reserved for gc-core, and {distribution} cannot take it"
                )
            return
        holder = registry.holder(name)
        theirs = self._distributions.get(holder)
        if theirs is not None and not bears(theirs, name):
            with self._faults.guarded(holder, LOADING, theirs):
                raise PluginError(f"{registry.what} {name!r} belongs to {distribution}, which has that name")
            self.manager.unregister(name=holder)

    def _left(self, plugin: str) -> None:
        """Remove what an unregistered plugin offered."""
        for registry in self._offered.values():
            registry.withdraw(plugin)
        self._distributions.pop(plugin, None)
        self._faults.forget(plugin)

    def _built(self, registry: Registry, name: str, cls: type[Any], options: Mapping[str, Any]) -> Any:
        registry.check_options(name, cls, options)
        built: Any = None
        misfit = registry.misfit(name, cls, options)
        guard = isolated() if misfit else self.guarded(name, "its constructor")  # a wrong option is not its failure
        with guard as attempt:
            built = registry.checked(cls(**options))
        if built is None:
            failure = attempt.failure
            shown = without_option_secrets({name: options})[name]
            refused = f"{registry.what} {name!r} refused its options {shown}: {failure}"
            raise ConfigError(misfit or refused) from attempt.error
        return built

    def _backend(self, name: str) -> type[Any]:
        cls = self._backends.find(name)
        if cls is None:
            raise ConfigError(self._unknown(self._backends, name))
        return cls

    def _unknown(self, offers: Registry | ProfileOffers, name: str, *also: str) -> str:
        """Return the error about an unknown name: what is installed, what failed to load, and what may be meant."""
        known = [*offers.names, *also]
        not_loaded = f", failed to load: {self._not_loaded}" if self._not_loaded else ""
        meant = offers.meant(name, *also) or self._undiscovered
        return f"no {offers.what} {name!r}; installed: {known}{not_loaded}{meant}"

    def _installed_by(self, name: str) -> str:
        """Return how to install an own strategy, as the end of an error; "" where that is not what is missing."""
        command = install_command(name) if self._discovered and not self._not_loaded else ""
        return f"; {command}" if command else ""

    @property
    def _undiscovered(self) -> str:
        """What an error about an unknown name ends with if the installed plugins were not looked for."""
        made = "these plugins were made without discovery: Plugins.discover() finds the installed ones"
        return "" if self._discovered else f"; {made}"

    @property
    def _not_loaded(self) -> list[str]:
        blocked = [f"{name} is blocked" for name, plugin in self.manager.list_name_plugin() if plugin is None]
        return [*(str(failure) for failure in self.failures if failure.doing == LOADING), *blocked]


def _warn_if_misspelt(blocked: str, installed: Collection[str]) -> None:
    """Log a warning about a name to block that no installed plugin has, if it is similar to one that is installed."""
    if blocked in installed:
        return
    from gc_core.values.nearest import nearest

    full = {short(name): name for name in sorted(installed)}
    near = nearest(short(blocked), full)
    if near:
        _log.warning("blocked plugin unknown", plugin=blocked, meant=full[near])


def _loaded(entry: importlib.metadata.EntryPoint) -> Any:
    try:
        return entry.load()
    except SystemExit as error:
        raise PluginError(f"it ended the process when it was imported: SystemExit({error})") from error


def _nothing_to_recall(item: str) -> str:
    raise SourceError(f"{item!r:.200} cannot be recalled: Plugins.validate was called without recall")


Named = tuple[str, GCStrategy]
"""A strategy with the name that reports use."""


def named(
    strategies: Sequence[GCStrategy | str], plugins: Plugins, options: Mapping[str, Mapping[str, Any]]
) -> tuple[Named, ...]:
    """Return strategies given by name or as objects, in order, each with its name and its own options."""
    found = []
    for strategy in strategies:
        if isinstance(strategy, str):
            found.append((strategy, plugins.strategy(strategy, options_of(strategy, options))))
        else:
            found.append((type(strategy).__name__, strategy))
    return tuple(found)
