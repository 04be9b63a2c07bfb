"""Classes that plugins offer by name: strategies and summarizers, with the fields of the class as options."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from gc_core.errors import ConfigError, PluginError
from gc_core.values.option_secrets import without_option_secrets
from gc_core.values.validators import call_misfit, check_kind, check_text

_PREFIX = "gc_"
OWN: Final = frozenset({"budget", "hybrid", "progressive", "rolling", "summarize", "truncate"})
"""Names of gc-core's own strategies, each in a distribution of that name, installed or not."""

_KINDS: Final[Mapping[str, tuple[Any, str]]] = {
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "float": (int | float, "a number"),
    "str": (str, "a text"),
}
_PLAIN = (dict, list, tuple, set, frozenset)


@attrs.frozen
class _Offer:
    """An offered class: its name as it was offered, and the plugin that offers it."""

    name: str
    plugin: str
    cls: type[Any] | ImportedLater


@attrs.frozen(kw_only=True)
class StrategyOption:
    """An option of a strategy: its name, type as written, and default as written ("" when it has none)."""

    name: str
    type: str
    default: str

    def refuses(self, value: object) -> str:
        """Return what is expected where a value is not of the type as written; "" for one that is, or may be."""
        written, _, optional = self.type.partition(" | ")
        kinds, expected = _KINDS.get(written, (object, ""))
        if optional not in {"", "None"} or (optional and value is None):
            return ""
        is_flag_for_number = isinstance(value, bool) and written in {"int", "float"}
        return expected if is_flag_for_number or not isinstance(value, kinds) else ""


@attrs.frozen(kw_only=True)
class StrategyInfo:
    """An installed strategy: its name, one-line description, the plugin that brings it, and its options."""

    name: str
    summary: str
    plugin: str
    options: tuple[StrategyOption, ...]


@attrs.frozen
class ImportedLater:
    """A class of gc-core's own, by its module and name: imported when it is asked for."""

    module: str
    name: str

    def __call__(self) -> type[Any]:
        """Return the class, imported now."""
        return getattr(importlib.import_module(self.module), self.name)  # type: ignore[no-any-return]  # see builtin


class Registry:
    """
    Offered classes, by name; ``gc_x`` and ``x`` are one name.

    Args:
        what: The kind of the classes, in messages: ``"strategy"``.
        method: The method that objects must have.
        arguments: What it is called with; None leaves that unchecked.

    """

    def __init__(self, what: str, method: str, arguments: tuple[str, ...] | None = None) -> None:
        self.what = what
        self._method = method
        self._arguments = arguments
        self._offers: dict[str, _Offer] = {}

    def offer(self, plugin: str, name: object, cls: Any) -> None:
        """Add an offer. Raises PluginError for a name that is taken, and for anything but a class with a name."""
        if not isinstance(name, str) or not name or not callable(cls):
            raise PluginError(f"offered {name!r}, {cls!r}; expected a name and a {self.what} class")
        if short(name) in self._offers:
            raise PluginError(f"{self.what} {name!r} is already offered by {self._offers[short(name)].plugin!r}")
        self._offers[short(name)] = _Offer(name, plugin, cls)

    def withdraw(self, plugin: str) -> None:
        """Remove everything that a plugin has offered."""
        self._offers = {name: offer for name, offer in self._offers.items() if offer.plugin != plugin}

    @property
    def names(self) -> list[str]:
        """All names as they were offered, sorted."""
        return [offer.name for _, offer in sorted(self._offers.items())]

    def holder(self, name: str) -> str:
        """Return the plugin that offers a name, or ""."""
        offer = self._offers.get(short(name))
        return "" if offer is None else offer.plugin

    def find(self, name: str) -> type[Any] | None:
        """Return the class of a name, or None. Raises ConfigError for anything but a name."""
        check_text(self.what, name, error=ConfigError)
        offer = self._offers.get(short(name))
        return None if offer is None else _class(offer.cls)

    def meant(self, name: str, *also: str) -> str:
        """
        Return a suggestion for an unknown name, as an addition to an error: a similar name, among ``names`` or
        ``also``, or nothing.
        """
        from gc_core.values.nearest import nearest

        near = nearest(short(name), (*self._offers, *also))
        offered = self._offers[near].name if near in self._offers else near
        return f"; did you mean {offered}?" if near else ""

    def infos(self) -> tuple[StrategyInfo, ...]:
        """Return the offered classes, by name."""
        return tuple(_info(offer) for _, offer in sorted(self._offers.items()))

    def check_tables(self, key: str, tables: Mapping[str, Mapping[str, Any]], unknown: str = "") -> None:
        """
        Raise ConfigError for options of an unknown name, for options of one name in two tables, and for an unknown
        option. ``key`` is where a configuration has the tables, ``unknown`` what an error about a name ends with if no
        offer has a similar one.
        """
        first: dict[str, str] = {}
        for name, options in tables.items():
            other = first.setdefault(short(name), name)
            if other != name:
                raise ConfigError(f"{key}.{name} and {key}.{other} are one {self.what}: expected a single table")
            cls = self.find(name)
            if cls is None:
                meant = self.meant(name) or unknown
                raise ConfigError(f"{key}.{name}: no such {self.what}; installed: {self.names}{meant}")
            self.check_options(name, cls, options)

    def check_options(self, name: str, cls: type[Any], options: Mapping[str, Any]) -> None:
        """Raise ConfigError, naming the known options, for an unknown one."""
        check_kind(
            f"the options of {self.what} {name!r}", options, Mapping, "a table of names and values", error=ConfigError
        )
        allowed = [option.name for option in _options(cls)]
        for unknown in sorted(map(str, set(options) - set(allowed))):
            from gc_core.values.nearest import did_you_mean

            meant = did_you_mean(unknown, allowed)
            raise ConfigError(f"{self.what} {name!r} has no option {unknown!r}; it has {allowed}{meant}")

    def misfit(self, name: str, cls: type[Any], options: Mapping[str, Any]) -> str:
        """Return what is wrong with the first option of another type than the class says; "" if there is none."""
        shown = without_option_secrets({name: options})[name]
        for option in _options(cls):
            expected = option.refuses(options[option.name]) if option.name in options else ""
            if expected:
                return f"{self.what} {name!r}: {option.name} = {shown[option.name]!r:.200}: expected {expected}"
        return ""

    def checked(self, built: Any) -> Any:
        """Return the created object. Raises PluginError if it lacks the method, or if that takes other arguments."""
        if not callable(getattr(built, self._method, None)):
            raise PluginError(f"{built!r:.200} is not a {self.what}: it has no {self._method}() method")
        misfit = "" if self._arguments is None else call_misfit(built, self._method, self._arguments)
        if misfit:
            raise PluginError(f"{built!r:.200} is not a {self.what}: {misfit}")
        return built


def _class(offer: type[Any] | ImportedLater) -> type[Any]:
    return offer() if isinstance(offer, ImportedLater) else offer


def short(name: str) -> str:
    """Return the name without the prefix that distributions have."""
    return name.removeprefix(_PREFIX)


def bears(distribution: str, name: str) -> bool:
    """Return whether a distribution is named like this: ``gc-x``, ``gc_x`` or ``x`` for ``x``."""
    return short(distribution.lower().replace("-", "_")) == short(name)


def install_command(name: str) -> str:
    """Return the command that installs one of gc-core's own strategies; "" for another name."""
    own = short(name)
    return f"pip install gc-{own}, in a clone pip install ./plugins/gc_{own}" if own in OWN else ""


def options_of(name: str, table: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the options that a configuration has for a name, with or without its prefix."""
    return table.get(name, table.get(short(name), table.get(_PREFIX + short(name), {})))


def _info(offer: _Offer) -> StrategyInfo:
    cls = _class(offer.cls)
    lines = (cls.__doc__ or "").strip().splitlines()
    summary = lines[0] if lines else ""
    return StrategyInfo(name=offer.name, summary=summary, plugin=offer.plugin, options=_options(cls))


def _options(cls: type[Any]) -> tuple[StrategyOption, ...]:
    fields: Iterable[attrs.Attribute[Any]] = attrs.fields(cls) if attrs.has(cls) else ()
    return tuple(_option(field) for field in fields if field.init)


def _option(field: attrs.Attribute[Any]) -> StrategyOption:
    type_name = getattr(field.type, "__name__", str(field.type))
    return StrategyOption(name=field.alias or field.name, type=type_name, default=_default(field.default))


def _default(default: Any) -> str:
    """Return a default as a user would write it; no plugin code runs for it."""
    if default is attrs.NOTHING:
        return ""
    factory = getattr(default, "factory", None)  # attrs.Factory is a function to type checkers
    if factory is None:
        return repr(default)
    return repr(factory()) if factory in _PLAIN else "computed"
