"""A package to start from: a working strategy, its tests, and what it takes to install and publish it."""

from __future__ import annotations

import importlib.resources
import importlib.util
import keyword
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from string import Template

import attrs

from gc_core.errors import ConfigError
from gc_core.plugins.registry import StrategyInfo, short

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
"""The form of a strategy's name, the end of a module's, and with hyphens the end of a distribution's."""

_PREFIX = re.compile(r"^(gc_)+")

_USED = frozenset({"Iterator", "StrategyContract"})
"""Names that the templates import in addition to the class."""

_FILES = (
    ("pyproject.toml.txt", "pyproject.toml"),
    ("README.md.txt", "README.md"),
    ("LICENSE.txt", "LICENSE"),
    ("strategy.py.txt", "src/$module/__init__.py"),
    ("", "src/$module/py.typed"),
    ("test_contract.py.txt", "tests/test_contract.py"),
    ("test_strategy.py.txt", "tests/test_$module.py"),
)
"""Each template and its file. No template ends in ``.py``: tools would take it for one of ours."""


@attrs.frozen(kw_only=True)
class Package:
    """
    A package with one strategy.

    Attributes:
        strategy: The strategy's name in a configuration.
        directory: The package's directory.

    """

    strategy: str
    directory: Path

    @property
    def module(self) -> str:
        """The module's name."""
        return _module(self.strategy)

    @property
    def distribution(self) -> str:
        """The distribution's name."""
        return self.module.replace("_", "-")

    @property
    def cls(self) -> str:
        """The name of the strategy's class."""
        return _class(self.strategy)

    @property
    def next_commands(self) -> tuple[str, ...]:
        """The author's next commands: install it, test it, see what it does."""
        place = str(self.directory)
        return (
            f"pip install -e {shlex.quote(place + '[test]')}",
            f"pytest {shlex.quote(place)}",
            f"ctxgc replay SESSION --strategy {self.strategy} --window 32000",
        )

    def files(self) -> tuple[tuple[Path, str], ...]:
        """Return every file with its text."""
        return tuple((self.directory / self._filled(path), self._text(template)) for template, path in _FILES)

    def _text(self, template: str) -> str:
        if not template:
            return ""
        templates = importlib.resources.files("ctxgc.cli") / "templates"
        return self._filled((templates / template).read_text(encoding="utf-8"))

    def _filled(self, text: str) -> str:
        return Template(text).substitute(
            strategy=self.strategy, module=self.module, distribution=self.distribution, cls=self.cls
        )


def new_package(name: str, parent: Path, installed: Iterable[StrategyInfo]) -> Package:
    """
    Write a package for a strategy with this name into a new directory; its tests pass as they are.

    Raises ConfigError, and writes nothing, for a name that no module or class can have, for one that an installed
    strategy or module has, and if something is already there; ConfigError too when a file cannot be written.
    """
    strategy = _strategy(name)
    _check_free(strategy, installed)
    package = Package(strategy=strategy, directory=parent / _module(strategy))
    try:
        _check_empty(package.directory)
        for path, text in package.files():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(f"{package.directory} cannot be written: {error}") from error
    return package


def _strategy(name: str) -> str:
    """Return the strategy's name from ``Oldest-First``, ``gc-oldest-first`` or ``gc_oldest_first``."""
    strategy = _PREFIX.sub("", name.lower().replace("-", "_"))
    if not _NAME.fullmatch(strategy):
        raise ConfigError(
            f"strategy name {name!r}: expected letters from a to z and digits, a letter first, with single hyphens or "
            "underscores between words, as in 'oldest-first'"
        )
    return strategy


def _check_free(strategy: str, installed: Iterable[StrategyInfo]) -> None:
    infos = {short(info.name): info for info in installed}
    if strategy in infos:
        info = infos[strategy]
        raise ConfigError(
            f"strategy {info.name!r} is already installed by {info.plugin!r}; "
            f"expected a name other than {sorted(each.name for each in infos.values())}"
        )
    found = importlib.util.find_spec(_module(strategy))
    if found is not None and found.origin is not None:  # without an origin it is just a directory with that name
        raise ConfigError(
            f"strategy name {strategy!r}: a module {_module(strategy)} is already installed; expected another name"
        )
    if keyword.iskeyword(_class(strategy)) or _class(strategy) in _USED:
        raise ConfigError(
            f"strategy name {strategy!r}: the class would be {_class(strategy)}, which means something else already; "
            f"expected another name, such as {f'{strategy}-first'!r}"
        )


def _check_empty(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise ConfigError(f"{directory} is a file; expected a directory that is empty or does not exist")
    if directory.exists() and any(directory.iterdir()):
        raise ConfigError(
            f"{directory} is not empty; expected a directory that is empty or does not exist: "
            "remove it, or name another parent with --directory"
        )


def _module(strategy: str) -> str:
    return f"gc_{strategy}"


def _class(strategy: str) -> str:
    return "".join(word.capitalize() for word in strategy.split("_"))
