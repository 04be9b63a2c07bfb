"""The inputs of a session: the host's objects, the configuration, and the files, new or opened again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from gc_core.collector.request_counts import RequestCounter
from gc_core.collector.scoring import Scoring
from gc_core.collector.summarizing import EXTRACTIVE, NONE, Answering
from gc_core.errors import ConfigError, LogError
from gc_core.events import Listener
from gc_core.plugins.manager import Named, Plugins, named
from gc_core.plugins.registry import options_of, short
from gc_core.providers import provider_named
from gc_core.providers.contract import TokenCounter
from gc_core.providers.model_families import check_model
from gc_core.relevance.profiles import AUTO, ProfileChoice
from gc_core.storage.checkpoints import Checkpoints
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.state import Settings
from gc_core.storage.store import Store
from gc_core.task.contract import StateExtractor
from gc_core.values.config import GCConfig, checked_config
from gc_core.values.protocols import (
    COLLECT_ARGUMENTS,
    AsyncSummarizer,
    GCStrategy,
    SummarizationValidator,
    Summarizer,
)
from gc_core.values.validators import allowing, call_misfit, of_kind, optional, path_of


def _having(method: str, also: str = "") -> Any:
    def check(_: object, argument: attrs.Attribute[Any], value: object) -> None:
        if value is not None and (isinstance(value, type) or not callable(getattr(value, method, None))):
            raise ConfigError(f"{argument.name} = {value!r:.200}: expected an object with a method {method}(){also}")

    return check


_NAMED = '; a name belongs into the configuration, GCConfig(summarizer="llm")'


@attrs.frozen(kw_only=True)
class Host:
    """The objects that the host gives. Raises ConfigError, naming the argument, for one that is something else."""

    strategy: tuple[GCStrategy | str, ...] = ()
    summarizer: Summarizer | AsyncSummarizer | None = attrs.field(default=None, validator=_having("summarize", _NAMED))
    validator: SummarizationValidator | None = attrs.field(default=None, validator=_having("validate"))
    plugins: Plugins | None = attrs.field(default=None, validator=optional(of_kind(Plugins, "a Plugins, or None")))
    on_event: Listener | None = attrs.field(default=None, validator=optional(allowing(callable, "a function, or None")))
    counter: RequestCounter | None = None


@attrs.frozen(kw_only=True)
class Parts:
    """The objects that plugins and the configuration give, before there are files."""

    plugins: Plugins
    strategies: tuple[Named, ...]
    answering: Answering
    scoring: Scoring
    extractor: StateExtractor
    profile: ProfileChoice

    @classmethod
    def of(cls, settings: Settings, host: Host) -> Parts:
        """Resolve the names. Raises ConfigError for an unknown name and for wrong options."""
        config, plugins = settings.config, host.plugins or Plugins.discover()
        plugins.check_options(config.strategies)
        plugins.check_summarizer_options(config.summarizers)
        plugins.check_memory_backend(config.memory_backend)
        parts = cls(
            plugins=plugins,
            strategies=named(host.strategy, plugins, config.strategies),
            answering=answering_of(host, settings, plugins),
            scoring=Scoring.of(config, plugins),
            extractor=plugins.extractor(config.state_extractor),
            profile=profile_of(config, plugins),
        )
        provider_named(settings.format).server_side.check(config.at_provider, settings.format, config.usable)
        return parts


def arranged(
    config: GCConfig | None,
    *,
    format: str,  # noqa: A002 - the word users know it by
    model: str | None,
    counter: TokenCounter | None,
    host: Host,
    strategy: GCStrategy | str | Iterable[GCStrategy | str] | None,
    recalls: bool = True,
) -> tuple[Settings, Host]:
    """
    Return the settings of a new session and the host's objects, with the requested strategies resolved. Raises
    ConfigError for invalid settings.
    """
    config = checked_config(config)
    check_model(model)
    check_counter(counter)
    chosen = requested_strategies(strategy, config)
    settings = Settings(
        config=with_strategy_names(config, chosen),
        format=format,
        model=model,
        counter=counter,
        objects=object_type_names(chosen, host.summarizer),
        recalls=recalls,
    )
    return settings, attrs.evolve(host, strategy=chosen)


def check_counter(counter: object) -> None:
    """Raise ConfigError for anything but a token counter and None."""
    if counter is not None and not (hasattr(counter, "exact") and callable(getattr(counter, "count", None))):
        raise ConfigError(f"counter = {counter!r:.200}: expected an object with the methods of a TokenCounter")


def check_config(config: GCConfig, plugins: Plugins, *, format: str, model: str) -> None:  # noqa: A002 - as above
    """Raise ConfigError for what a session would refuse: unknown names, and wrong options of what they name."""
    settings, host = arranged(
        config, format=format, model=model, counter=None, host=Host(plugins=plugins), strategy=None
    )  # fmt: skip
    Parts.of(settings, host)


def requested_strategies(
    strategy: GCStrategy | str | Iterable[GCStrategy | str] | None, config: GCConfig
) -> tuple[GCStrategy | str, ...]:
    """Return the strategies that were given, or the configured ones. Raises ConfigError for anything else."""
    if strategy is None:
        return config.strategy
    given = (strategy,) if isinstance(strategy, (str, GCStrategy)) else _several(strategy)
    for each in given:
        if isinstance(each, type) or not isinstance(each, (str, GCStrategy)):
            raise ConfigError(
                f"strategy = {each!r:.200}: expected a strategy's name, or an object with a method"
                " collect(context, goal)"
            )
        misfit = "" if isinstance(each, str) else call_misfit(each, "collect", COLLECT_ARGUMENTS)
        if misfit:
            raise ConfigError(f"strategy = {each!r:.200}: {misfit}")
    if not given:
        raise ConfigError("strategy = (): expected at least one; strategy='none' collects nothing")
    return given


def _several(strategies: object) -> tuple[Any, ...]:
    """Return the elements of a list of strategies, unchecked; a single strategy makes a list of one."""
    if isinstance(strategies, Iterable) and not isinstance(strategies, (Mapping, type)):
        return tuple(strategies)
    return (strategies,)


def object_type_names(chosen: Sequence[GCStrategy | str], summarizer: object) -> tuple[str, ...]:
    """The types of the parts given as objects, which files do not keep."""
    given = (*(each for each in chosen if not isinstance(each, str)), *(() if summarizer is None else (summarizer,)))
    return tuple(type(each).__name__ for each in given)


def with_strategy_names(config: GCConfig, chosen: Sequence[GCStrategy | str]) -> GCConfig:
    """Treat strategies given by name as if the configuration named them."""
    names = tuple(each for each in chosen if isinstance(each, str))
    return attrs.evolve(config, strategy=names) if names and len(names) == len(chosen) else config


def answering_of(host: Host, settings: Settings, plugins: Plugins) -> Answering:
    """Return the summarizer: the host's object, the extract, or the configured one."""
    from gc_core.summaries.model_choice import MODEL_SUMMARIZERS, completed
    from gc_core.summaries.validation import SummaryValidator

    config = settings.config
    summarizer, name = host.summarizer, config.summarizer
    if summarizer is not None:
        name = type(summarizer).__name__
    elif name not in {EXTRACTIVE, NONE}:
        options = options_of(name, config.summarizers)
        if short(name) in MODEL_SUMMARIZERS:
            options = completed(options, config, settings.model, settings.format)
        summarizer = plugins.summarizer(name, options)
    if host.counter is not None:
        host.counter.check(settings.format, settings.model)
    return Answering(
        plugins=plugins,
        name=name,
        summarizer=summarizer,
        validator=host.validator or SummaryValidator(),
        seconds=config.summarizer_timeout,
        counter=host.counter,
    )


def profile_of(config: GCConfig, plugins: Plugins) -> ProfileChoice:
    """Return the configured compression profile. Raises ConfigError for an unknown name."""
    name = config.compression_profile
    return ProfileChoice(None if name == AUTO else plugins.profile(name))


def checkpoints_in(directory: Path, settings: Settings, plugins: Plugins) -> Checkpoints:
    """Return the configured backend for checkpoints of a directory. Raises ConfigError if there is none."""
    name = settings.config.memory_backend
    return Checkpoints(plugins.memory_backend(name, directory), name, plugins.guarded)


def begun(directory: str | Path | None, format: str) -> Store:  # noqa: A002 - the word users know it by
    """Create the files of a new session. Raises LogError if the directory holds one."""
    store = Store(None if directory is None else path_of("directory", directory))
    if store.is_used:
        store.close()
        raise LogError(f"{directory} already holds a session; GCSession.open() continues it")
    store.begin(format)
    return store


def reopened(directory: Path) -> Store:
    """Return the files of an existing session, repaired. Raises LogError if there is none."""
    if not (directory / FILE_NAME).is_file():
        raise LogError(f"{directory} holds no session: there is no {FILE_NAME}")
    store = Store(directory)
    store.mend()
    return store
