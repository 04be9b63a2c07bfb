"""The checks of the doctor: each examines one thing, changes nothing, and yields its findings."""

from __future__ import annotations

import contextlib
import datetime as dt
import enum
import functools
import importlib.metadata
import importlib.util
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from gc_core.collector.summarizing import EXTRACTIVE, NONE
from gc_core.errors import GCError, UnknownStrategyError
from gc_core.plugins.entry_points import distribution_of
from gc_core.plugins.hookspecs import PROJECT
from gc_core.plugins.manager import LOADING, Plugins, named
from gc_core.plugins.registry import install_command, options_of, short
from gc_core.providers.model_families import ModelFamily, family
from gc_core.providers.prices import prices_of, provider_offers
from gc_core.providers.token_counting import TiktokenCounter
from gc_core.relevance.profiles import AUTO
from gc_core.summaries.model_choice import MODEL_SUMMARIZERS, completed
from gc_core.values.config import GCConfig
from gc_core.values.option_secrets import is_secret, option_secrets


class Level(enum.Enum):
    """The severity of a finding. ``ERROR``: something will fail; ``WARNING``: it may; ``NOTE``: good to know."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@attrs.frozen(kw_only=True)
class Diagnosis:
    """
    A finding.

    Attributes:
        level: Its severity.
        subject: The part examined, in a word or two.
        text: The finding; it never contains a secret.
        remedy: The action to take, or "".

    """

    level: Level
    subject: str
    text: str
    remedy: str = ""


@attrs.frozen(kw_only=True)
class Patient:
    """
    The input of the checks.

    Attributes:
        directory: A session's, or None.
        environ: The environment's variables.
        plugins: The installed plugins.
        config: The configuration to check; None if there is none.
        model: The session's model, or None.
        format: Name of its format, or "".

    """

    directory: Path | None = None
    environ: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    plugins: Plugins
    config: GCConfig | None = None
    model: str | None = None
    format: str = ""


Check = Callable[[Patient], Iterable[Diagnosis]]

_CLASSIFIER = "Programming Language :: Python :: "

_ENCODINGS = ("o200k_base", "cl100k_base")

_EXTRAS = {
    "anthropic": ("anthropic",),
    "cluster": ("distributed",),
    "inspect": ("textual",),
    "llm": ("litellm",),
    "mcp": ("mcp",),
    "otel": ("opentelemetry",),
    "prices": ("genai_prices",),
    "report": ("jinja2", "plotly"),
}
"""The extras of gc-core and ctxgc that a setting or a command needs, and the modules that they bring."""

_KEYS = {
    "claude": ("ANTHROPIC_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "gpt": ("OPENAI_API_KEY",),
}
"""By the beginning of a family's name: the variables that litellm reads a provider's key from, any of them."""

_SECRET_LINE = re.compile(r"""(?i)(?:key|token|secret|password)[\w-]{0,60}["']?\s{0,9}=\s{0,9}["']([^"']+)["']""")
"""Also raised for a file that is not TOML."""

_PLACES = frozenset({"PWD", "OLDPWD"})
"""The shell's directories, which are named like passwords."""

_SHORTEST_SECRET = 6
_RELEASED = dt.datetime(2025, 1, 1, tzinfo=dt.UTC).timestamp()
"""No correct clock shows less."""


def secrets_of(environ: Mapping[str, str], file: Path | None, config: GCConfig | None) -> tuple[str, ...]:
    """Return the values of keys, from every source, the longest first; very short ones would be found everywhere."""
    tables = () if config is None else (config.summarizers, config.strategies)
    found = [text for table in tables for text in option_secrets(table)]
    found += [value for name, value in environ.items() if name not in _PLACES and is_secret(name)]
    with contextlib.suppress(OSError):  # an unreadable file cannot leak either
        if file is not None and file.is_file():
            found += _SECRET_LINE.findall(file.read_text(encoding="utf-8", errors="replace"))
    return tuple(sorted({each for each in found if len(each) >= _SHORTEST_SECRET}, key=len, reverse=True))


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return the text without them: they are never printed, whatever an error says."""
    for secret in secrets:
        text = text.replace(secret, "[not shown]")
    return text


# -- the installation ------------------------------------------------------------------------------------------------


def check_python(patient: Patient) -> Iterator[Diagnosis]:  # noqa: ARG001 - every check takes one
    """Yield whether this Python is one that gc-core was tested with."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    classifiers = importlib.metadata.metadata("gc-core").get_all("Classifier") or []
    tested = [each.removeprefix(_CLASSIFIER) for each in classifiers if each.startswith(_CLASSIFIER)]
    if here in tested:
        yield Diagnosis(level=Level.OK, subject="python", text=f"{here}, gc-core {_version('gc-core')}")
    else:
        text = f"gc-core {_version('gc-core')} was tested with Python {', '.join(tested)}; this is {here}"
        yield Diagnosis(level=Level.WARNING, subject="python", text=text, remedy=f"use Python {tested[-1]}")


def check_plugins(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether every installed plugin loads."""
    entries = sorted({(entry.name, distribution_of(entry)) for entry in importlib.metadata.entry_points(group=PROJECT)})
    broken = [failure for failure in patient.plugins.failures if failure.doing == LOADING]
    failed = {(failure.plugin, failure.distribution): failure for failure in broken}
    for (name, distribution), failure in sorted(failed.items()):
        owner = distribution or name
        remedy = f"pip install --upgrade {owner}, or pip uninstall {owner}"
        if isinstance(failure.error, ModuleNotFoundError) and failure.error.name:
            remedy = f"install what brings the module {failure.error.name}, or pip uninstall {owner}"
        yield Diagnosis(level=Level.ERROR, subject="plugin", text=f"{owner}: {failure}", remedy=remedy)
    for name, owner in entries:
        if owner and (name, owner) not in failed:
            brought = [info.name for info in patient.plugins.strategies() if info.plugin == name]
            offers = f", strategies {', '.join(brought)}" if brought else ""
            yield Diagnosis(level=Level.OK, subject="plugin", text=f"{owner} {_version(owner)}{offers}")


def check_versions(patient: Patient) -> Iterator[Diagnosis]:  # noqa: ARG001
    """Yield whether the installed distributions are those that gc-core and its plugins require."""
    if importlib.util.find_spec("packaging") is None:
        text = "not compared: the package packaging is not installed"
        yield Diagnosis(level=Level.NOTE, subject="versions", text=text, remedy="pip install packaging, or pip check")
        return
    from packaging.requirements import Requirement

    owners = {entry.dist.name for entry in importlib.metadata.entry_points(group=PROJECT) if entry.dist is not None}
    wrong = False
    for owner in ("gc-core", *sorted(owners - {"gc-core"})):
        for line in importlib.metadata.requires(owner) or ():
            needed = Requirement(line)
            if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
                continue
            found = _version(needed.name)
            if not found or not needed.specifier.contains(found, prereleases=True):
                wrong = True
                text = f"{owner} asks for {needed.name}{needed.specifier}; {found or 'none'} is installed"
                remedy = f'pip install "{needed.name}{needed.specifier}"'
                yield Diagnosis(level=Level.ERROR, subject="versions", text=text, remedy=remedy)
    if not wrong:
        yield Diagnosis(level=Level.OK, subject="versions", text="gc-core and its plugins have what they ask for")


def check_tokenizers(patient: Patient) -> Iterator[Diagnosis]:  # noqa: ARG001
    """Yield whether the tables for counting tokens load; they come with the package, without any network."""
    for name in _ENCODINGS:
        count = TiktokenCounter(name=name).count("hello world")
        if count:
            yield Diagnosis(level=Level.OK, subject="tokenizer", text=f"{name} loads without a network")


def check_clock(patient: Patient) -> Iterator[Diagnosis]:  # noqa: ARG001
    """Yield whether the clock can be right: prices and the age of the prompt cache depend on it."""
    now = time.time()
    when = dt.datetime.fromtimestamp(now, dt.UTC).isoformat(timespec="seconds")
    if now < _RELEASED:
        text = f"it is {when}, before gc-core was made"
        yield Diagnosis(level=Level.ERROR, subject="clock", text=text, remedy="set the clock, by NTP for instance")
    else:
        yield Diagnosis(level=Level.OK, subject="clock", text=when)


# -- the configuration -----------------------------------------------------------------------------------------------


_Ask = tuple[str, str, Callable[[], object]]
"""What a configuration names, under which name, and a function that raises GCError if that is not there or wrong."""

_Options = Mapping[str, Mapping[str, Any]]
"""The options that a configuration has, by name."""


def check_names(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether everything that the configuration names is installed, and accepts the given options."""
    config, plugins = patient.config, patient.plugins
    if config is None:
        return
    asks: list[_Ask] = [
        ("strategy", name, functools.partial(named, (name,), plugins, config.strategies)) for name in config.strategy
    ]
    if config.summarizer != NONE:
        options = options_of(config.summarizer, config.summarizers)
        asks.append(("summarizer", config.summarizer, functools.partial(_summarizer, patient, config, options)))
    for what, name, own, get in (
        ("importance scorer", config.importance_scorer, "composite", plugins.scorer),
        ("state extractor", config.state_extractor, "deterministic", plugins.extractor),
        ("profile", config.compression_profile, AUTO, plugins.profile),
    ):
        if name != own:
            asks.append((what, name, functools.partial(get, name)))
    where = patient.directory or Path()
    backend = functools.partial(plugins.memory_backend, config.memory_backend, where)
    asks.append(("memory backend", config.memory_backend, backend))
    asks += _tables("strategy", config.strategies, plugins.check_options)
    asks += _tables("summarizer", config.summarizers, plugins.check_summarizer_options)
    yield from dict.fromkeys(_asked(what, name, ask) for what, name, ask in asks)


def _asked(what: str, name: str, ask: Callable[[], object]) -> Diagnosis:
    try:
        ask()
    except GCError as error:
        command = install_command(name) if isinstance(error, UnknownStrategyError) else ""
        remedy = command or f"install what brings the {what} {name}, or correct its name or options"
        return Diagnosis(level=Level.ERROR, subject=what, text=str(error), remedy=remedy)
    return Diagnosis(level=Level.OK, subject=what, text=f"{name} is installed")


def _summarizer(patient: Patient, config: GCConfig, options: Mapping[str, Any]) -> object:
    """Create the summarizer as a session would; the extract is gc-core's own, and no plugin offers it."""
    if config.summarizer == EXTRACTIVE:
        return None
    if short(config.summarizer) in MODEL_SUMMARIZERS:
        if patient.model is None and _asked_model(config, options) in {"", AUTO}:
            return None  # it depends on the model of a session, and none was named
        options = completed(options, config, patient.model, patient.format)
    return patient.plugins.summarizer(config.summarizer, options)


def _asked_model(config: GCConfig, options: Mapping[str, Any]) -> str:
    """Return the configured model for summaries; "" for the session's own."""
    return str(options.get("summarization_model") or config.summarization_model or "")


def _tables(what: str, tables: _Options, check: Callable[[_Options], None]) -> Iterator[_Ask]:
    """Yield a question for the options of each name, used or not; two tables of one name are asked together."""
    for name in tables:
        same = {other: tables[other] for other in tables if short(other) == short(name)}
        yield what, name, functools.partial(check, same)


def check_extras(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether the extras that a setting needs are installed."""
    config = patient.config
    needs: dict[str, str] = {}
    if config is not None and short(config.summarizer) in MODEL_SUMMARIZERS:
        needs["llm"] = f'summarizer = "{config.summarizer}"'
        if config.summarization_model == "auto":
            needs["prices"] = 'summarization_model = "auto"'
    there = {extra for extra, modules in _EXTRAS.items() if all(map(importlib.util.find_spec, modules))}
    for extra, why in needs.items():
        if extra not in there:
            remedy = f'pip install "gc-core[{extra}]"'
            text = f"{why} needs the extra {extra}, which is not installed"
            yield Diagnosis(level=Level.ERROR, subject="extras", text=text, remedy=remedy)
    rest = sorted(_EXTRAS.keys() - there - needs.keys())
    text = f"installed: {', '.join(sorted(there)) or 'none'}"
    yield Diagnosis(
        level=Level.OK,
        subject="extras",
        text=text + (f"; not installed, not needed: {', '.join(rest)}" if rest else ""),
    )


def check_keys(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether a summarizer that asks a model finds its key. No value is read."""
    config = patient.config
    if config is None or short(config.summarizer) not in MODEL_SUMMARIZERS:
        return
    options = options_of(config.summarizer, config.summarizers)
    if any(is_secret(name) for name in options):
        yield Diagnosis(level=Level.OK, subject="key", text="given in the summarizer's options (not shown)")
        return
    model = _asked_model(config, options)
    model = (patient.model or "") if model in {"", AUTO} else model
    names = _key_names(family(model or None, patient.format))
    found = [name for name in names if patient.environ.get(name)]
    if found:
        yield Diagnosis(level=Level.OK, subject="key", text=f"{found[0]} is set (not shown)")
    elif names:
        text = f"the summarizer asks {model or 'the model of the session'}, and {' or '.join(names)} is not set"
        remedy = f"set {names[0]}; without a key the extract takes the place of every summary"
        yield Diagnosis(level=Level.WARNING, subject="key", text=text, remedy=remedy)


def _key_names(known: ModelFamily) -> tuple[str, ...]:
    return next((names for start, names in _KEYS.items() if known.name.startswith(start)), ())


# -- the model -------------------------------------------------------------------------------------------------------


def check_model(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether the model is known, how its tokens are counted, and whether its window is the configured one."""
    model = patient.model
    if model is None:
        return
    known = family(model, patient.format)
    if known.name == "unknown":
        text = f"{model!r} is not listed: its tokens are estimated at {known.factor:g} for one of {known.encoding}"
        remedy = "report usage to post_turn, or give the session a counter of your own"
        yield Diagnosis(level=Level.WARNING, subject="model", text=text, remedy=remedy)
    elif known.exact:
        text = f"{model} counts as {known.name}: its texts exactly, by {known.encoding}"
        yield Diagnosis(level=Level.OK, subject="model", text=text)
    else:
        text = f"{model} counts as {known.name}: estimated, {known.factor:g} tokens for one of {known.encoding}"
        remedy = "report usage to post_turn, which corrects the estimate"
        yield Diagnosis(level=Level.NOTE, subject="model", text=text, remedy=remedy)
    yield from _window(patient, model)


def _window(patient: Patient, model: str) -> Iterator[Diagnosis]:
    """Yield the window compared with the price list's value for the model."""
    config = patient.config
    if config is None:
        return
    window = _listed_window(model, patient.format)
    if not window:
        text = f"context_limit is {config.context_limit:,}; the window of {model} is not known here"
        yield Diagnosis(
            level=Level.NOTE, subject="window", text=text, remedy="compare it with the provider's documents"
        )
    elif config.context_limit > window:
        text = f"context_limit is {config.context_limit:,}; the window of {model} is listed with {window:,} tokens"
        remedy = f"set context_limit = {window}, unless your account has a larger window"
        yield Diagnosis(level=Level.WARNING, subject="window", text=text, remedy=remedy)
    else:
        text = f"context_limit {config.context_limit:,} of the {window:,} tokens that {model} is listed with"
        yield Diagnosis(level=Level.OK, subject="window", text=text)


def _listed_window(model: str, format: str) -> int:  # noqa: A002 - the session's own word
    """Return the tokens of the model's window in the price list (extra ``prices``); 0 if unknown."""
    prices = prices_of(model, format)
    offers = () if prices is None else provider_offers(model)
    return next((offer.window for offer in offers if prices is not None and offer.prices.model == prices.model), 0)


def _version(name: str) -> str:
    """Return the version of a distribution; "" if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
