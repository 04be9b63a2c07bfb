"""Compression profiles: the important classes of lines, and how much of a tool's output stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from gc_core.errors import ConfigError
from gc_core.relevance.name_scan import scan
from gc_core.relevance.profiles.line_classes import LINES, PARAGRAPHS
from gc_core.relevance.profiles.matchers import Line, Reading
from gc_core.relevance.profiles.tool_kinds import TOOL_KINDS
from gc_core.values.items import Item, ItemKind
from gc_core.values.validators import is_count

IMPORTANCE_CLASSES = tuple(sorted((*LINES, *PARAGRAPHS)))
"""Every class that a profile may name."""


@attrs.frozen(kw_only=True)
class ClassedLine:
    """
    A line, or a piece of a very long one, and its classes in a profile.

    Attributes:
        start: Its first character in the text.
        end: Its end, without the line break.
        classes: Their names, sorted.

    """

    start: int
    end: int
    classes: tuple[str, ...]


def _classes(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, Iterable) else value


def _known(profile: CompressionProfile, field: attrs.Attribute[Any], value: object) -> None:
    where = f"profile {profile.name!r}, {field.name}"
    if not isinstance(value, tuple):
        raise ConfigError(f"{where} = {value!r:.200}: expected names of importance classes")
    for name in value:
        if name not in IMPORTANCE_CLASSES:
            raise ConfigError(f"{where}: unknown importance class {name!r}; known: {list(IMPORTANCE_CLASSES)}")


def _trims(profile: CompressionProfile, field: attrs.Attribute[Any], value: object) -> None:
    where = f"profile {profile.name!r}, {field.name}"
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where} = {value!r:.200}: expected characters by tool kind")
    for kind, most in value.items():
        if kind not in TOOL_KINDS:
            raise ConfigError(f"{where}: unknown tool kind {kind!r}; known: {list(TOOL_KINDS)}")
        if not is_count(most, 1):
            raise ConfigError(f"{where}.{kind} = {most!r}: expected a whole number of characters of at least 1")


def _name(profile: CompressionProfile, field: attrs.Attribute[Any], value: object) -> None:  # noqa: ARG001 - attrs'
    if not isinstance(value, str) or not value:
        raise ConfigError(f"name = {value!r}: expected the name of a profile")


@attrs.frozen(kw_only=True)
class CompressionProfile:
    """
    Says which lines of long texts are kept first, which go first, and which are not cut in the middle.

    It adds weights and replaces nothing: live lines are found as without it. Results with lines of high importance
    leave after others that the strategy ranks alike. A profile without classes and trims changes nothing. Raises
    ConfigError, naming it and the known values, for an unknown class or tool kind, and for a class in two lists.

    Attributes:
        name: Its name in ``compression_profile``.
        high_importance: Classes of lines that are kept before others of the same weight.
        low_importance: Classes of lines that go before others.
        preserve_verbatim: Classes that are kept whole or not at all, as far as there is room. Those of lines have high
            importance too.
        tool_output_trim: Characters of lines without high importance that a stub of a result may have, by the kind of
            tool (``TOOL_KINDS``). Lines of high importance stay as far as the stub has room.

    """

    name: str = attrs.field(validator=_name)
    high_importance: tuple[str, ...] = attrs.field(default=(), converter=_classes, validator=_known)
    low_importance: tuple[str, ...] = attrs.field(default=(), converter=_classes, validator=_known)
    preserve_verbatim: tuple[str, ...] = attrs.field(default=(), converter=_classes, validator=_known)
    tool_output_trim: Mapping[str, int] = attrs.field(factory=dict, validator=_trims, hash=False)

    def __attrs_post_init__(self) -> None:
        """Check what depends on several values."""
        places: dict[str, str] = {}
        for field in ("high_importance", "low_importance", "preserve_verbatim"):
            for name in getattr(self, field):
                if name in places:
                    where = f"in {places[name]} and in {field}" if places[name] != field else f"twice in {field}"
                    raise ConfigError(f"profile {self.name!r}: importance class {name!r} is {where}; expected it once")
                places[name] = field
        object.__setattr__(self, "tool_output_trim", MappingProxyType(dict(self.tool_output_trim)))

    @property
    def is_neutral(self) -> bool:
        """True if it changes nothing."""
        return not (self.high_importance or self.low_importance or self.preserve_verbatim or self.tool_output_trim)

    @property
    def high(self) -> tuple[str, ...]:
        """The classes of single lines that are kept first: of high importance, or verbatim."""
        return tuple(name for name in (*self.high_importance, *self.preserve_verbatim) if name in LINES)

    @property
    def high_paragraphs(self) -> tuple[str, ...]:
        """The classes of paragraphs whose lines are kept first."""
        return tuple(name for name in self.high_importance if name in PARAGRAPHS)

    def important_lines(self, item: Item) -> int:
        """
        Return how many lines of an item's text belong to classes of the profile other than low
        importance. O(length).
        """
        poor = frozenset(self.low_importance)
        return sum(1 for line in self.lines(item.text, item) if poor.isdisjoint(line.classes))

    def lines(self, text: str, item: Item | None = None) -> tuple[ClassedLine, ...]:
        """
        Return the lines of a text that belong to classes of the profile, in order.

        ``item`` is the item of the text, if there is one: some classes depend on the tool. O(length).
        """
        kind, name = (ItemKind.TOOL_RESULT, "") if item is None else (item.kind, item.name)
        scanned = item.scan if item is not None and item.text is text else scan(text)
        reading = Reading(text, scanned, kind, name)
        found: dict[Line, set[str]] = {}
        for known in (*self.high, *self.high_paragraphs, *self.low_importance, *self.preserve_verbatim):
            for line in classed(reading, known):
                found.setdefault(line, set()).add(known)
        return tuple(
            ClassedLine(start=line[0], end=line[1], classes=tuple(sorted(found[line]))) for line in sorted(found)
        )


def classed(reading: Reading, name: str) -> Iterable[Line]:
    """Return lines of a class, some perhaps twice; for a class of paragraphs every line of them."""
    if name in LINES:
        return LINES[name].of(reading)
    return (
        line
        for paragraph in reading.paragraphs()
        if PARAGRAPHS[name](reading, paragraph)
        for line in _in(reading, paragraph)
    )


def _in(reading: Reading, paragraph: Line) -> Iterable[Line]:
    place, end = paragraph
    while place < end:
        line = reading.line_at(place)
        yield line
        place = max(line[1], place) + 1
