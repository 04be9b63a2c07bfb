"""
The working set: the files that the agent works on, their views, and superseded items.

Code is judged by whether the agent works on it, never by the names in it: an edit by exact replacement has to quote its
lines, so they must be in the prompt, whole. Names misled this project: a line of code is not garbage because every
identifier in it also occurs in a later search (docs/benchmarks.md has the figures).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any, Final

import attrs

from gc_core.relevance.call_results import failure_in
from gc_core.relevance.tool_calls import REPLACED, CallKind, ToolCall
from gc_core.values.items import Form, Item, ItemKind, Unit, number_of
from gc_core.values.json_values import Path, key_of, rebuilt, strings, value_or_none
from gc_core.values.patterns import regex
from gc_core.values.working_files import WorkingFile

LEAST_LINE: Final = 8
"""Characters below which a line is a bracket or a blank: it does not identify a place."""

LEAST_REPLACED: Final = 300
"""Characters from which leaving out the old text of an edit is worthwhile."""

LEAST_REPEATED: Final = 0.3
"""The share of a view's lines that a later view must repeat before leaving them out is worth its marks."""

LEAST_VIEW: Final = 60
"""Tokens below which a view is only a note that something was done."""

MOST_OPEN: Final = 4
"""The most failed runs and plans that are kept."""

READABLE_SHARE: Final = 0.3
"""The share of its tokens from which a trimmed view still shows its file."""


_NUMBER = regex(r"\s*(?:[^\s:]{1,200}:)?\d{1,6}(?:→|\t|:|\||-(?=\s)) ?")


def shows_file(item: Item, call: Item | None) -> bool:
    """
    Return whether an item shows a file's own text: the result of reading or changing it, or a call that wrote text into
    it.
    """
    if item.kind is ItemKind.TOOL_CALL:
        did = ToolCall.of(item)
        return did.changes and bool(did.files)
    if item.kind is not ItemKind.TOOL_RESULT or call is None or item.is_error:
        return False
    did = ToolCall.of(call)
    return bool(did.files) and (did.changes or did.kind is CallKind.READ)


def code_lines(text: str) -> Iterator[str]:
    """Yield the significant lines, without line numbers and surrounding white space."""
    for line in text.split("\n"):
        plain = bare_line(line)
        if len(plain) >= LEAST_LINE:
            yield plain


def bare_line(line: str) -> str:
    """Return the line without its line number and surrounding white space."""
    number = _NUMBER.match(line)
    return line[number.end() :].strip() if number else line.strip()


class WorkingSet:
    """
    The files in work, as the resident units show them; created for one collection, O(window).

    The newest whole view of each file counts, assembled from partial reads and the agent's own edits: lines of older
    views that a later one repeats are superseded.
    """

    def __init__(self, units: Sequence[Unit], ages: Sequence[int], open_items: AbstractSet[str]) -> None:
        self._open_items = open_items
        self._beyond_at = -1
        self._beyond_ids: AbstractSet[str] = frozenset()
        self._items = [item for unit in units for item in unit.items]
        self._ages = {unit.number: age for unit, age in zip(units, ages, strict=True)}

    @cached_property
    def files(self) -> tuple[WorkingFile, ...]:
        """The files shown, the least used first: longest untouched, and large ones sooner."""
        views: dict[str, list[Item]] = defaultdict(list)
        for item in self._items:
            name = self._file_of.get(item.id)
            if name is not None:
                views[name].append(item)
        found = (
            WorkingFile(
                name=name,
                idle=self._idle[name],
                items=tuple(item for item in its if item.id in self._open_items and item.tokens >= LEAST_VIEW),
                tokens=sum(item.tokens for item in its),
            )
            for name, its in views.items()
        )
        return tuple(sorted(found, key=lambda file: -file.disuse))

    def beyond(self, tokens: int) -> tuple[WorkingFile, ...]:
        """
        Return the files to shorten, each as a whole, the least used first, so that the views of the others take at most
        this many tokens.
        """
        files = [file for file in self.files if file.items]
        left = sum(file.open_tokens for file in files)
        found = []
        for file in files:
            if left <= tokens:
                break
            found.append(file)
            left -= file.open_tokens
        return tuple(found)

    def keeps(self, unit: Unit, tokens: int) -> bool:
        """Return whether the unit shows, whole, a file in use: one that is not ``beyond`` this many tokens."""
        unused = self._ids_beyond(tokens)
        return any(self.holds(item) and is_readable(item) and item.id not in unused for item in unit.items)

    def disuse(self, unit: Unit) -> float:
        """Return ``WorkingFile.disuse`` of the most used file in the unit; 0 if it shows none."""
        names = {self._file_of[item.id] for item in unit.items if item.id in self._file_of}
        return min((self._disuse[name] for name in names), default=0.0)

    def holds(self, item: Item) -> bool:
        """
        Return whether the item shows a file in use, a failure of a run that has not passed since,
        or the newest plan.
        """
        return item.id in self._file_of or item.id in self._open

    @cached_property
    def superseded(self) -> tuple[Item, ...]:
        """Items largely repeated later, oldest first: ``GCRemovalItem.trim`` removes the repetition."""
        return tuple(item for item in self._items if item.id in self._repeated and item.id in self._open_items)

    def repeated(self, item: Item) -> AbstractSet[str]:
        """Return the lines of a view that a later view of the same file repeats; none for an editing call."""
        return self._repeated.get(item.id, frozenset())

    # -- inside --------------------------------------------------------------------------------------------------

    def _ids_beyond(self, tokens: int) -> AbstractSet[str]:
        """Cached: it is called for every unit in turn."""
        if self._beyond_at != tokens:
            self._beyond_at = tokens
            self._beyond_ids = {item.id for file in self.beyond(tokens) for item in file.items}
        return self._beyond_ids

    @cached_property
    def _disuse(self) -> Mapping[str, float]:
        return {file.name: file.disuse for file in self.files}

    @cached_property
    def _calls(self) -> Mapping[str, Item]:
        return {item.id: item for item in self._items if item.kind is ItemKind.TOOL_CALL}

    @cached_property
    def _names(self) -> _Names:
        names = _Names()
        for call in self._calls.values():
            for file in ToolCall.of(call).files:
                names.add(file)
        return names

    @cached_property
    def _file_of(self) -> Mapping[str, str]:
        """The file of every item that shows one, by item id: the first of several in one call."""
        found: dict[str, str] = {}
        for item in self._items:
            call = item if item.kind is ItemKind.TOOL_CALL else self._calls.get(item.call)
            if call is not None and shows_file(item, call):
                found[item.id] = self._names.whole(ToolCall.of(call).files[0])
        return found

    @cached_property
    def _open(self) -> AbstractSet[str]:
        """
        The ids of the newest result of each command that failed and has not passed since, and of the newest plan; only
        the newest, because a command that is never run again stays failed.
        """
        newest: dict[str, Item] = {}
        for item in self._items:
            call = self._calls.get(item.call if item.kind is ItemKind.TOOL_RESULT else item.id)
            did = CallKind.OTHER if call is None else ToolCall.of(call).kind
            if call is None or did not in {CallKind.RUN, CallKind.NOTE}:
                continue
            if did is CallKind.RUN and call is not item:
                newest[_command(call)] = item
            elif did is CallKind.NOTE and call is item:
                newest[item.name] = item
        latest = sorted(newest.values(), key=lambda item: number_of(item.id), reverse=True)
        still = (item for item in latest if item.id in self._calls or failure_in(item, CallKind.RUN))
        return {item.id for item in itertools.islice(still, MOST_OPEN)}

    @cached_property
    def _idle(self) -> Mapping[str, int]:
        """The steps since each file was last named."""
        idle: dict[str, int] = {}
        for call in self._calls.values():
            for file in ToolCall.of(call).files:
                name = self._names.whole(file)
                idle[name] = min(idle.get(name, self._ages[call.unit]), self._ages[call.unit])
        return idle

    @cached_property
    def _repeated(self) -> Mapping[str, AbstractSet[str]]:
        """Computed from the newest to the oldest: a file shown again supersedes earlier views."""
        later: dict[str, set[str]] = defaultdict(set)
        found: dict[str, AbstractSet[str]] = {}
        for item in reversed(self._items):
            name = self._file_of.get(item.id)
            if name is None:
                continue
            lines = set(_shown_lines(item))
            if item.form is Form.WHOLE and item.kind is ItemKind.TOOL_RESULT:
                again = lines & later[name]
                if lines and len(again) >= LEAST_REPEATED * len(lines):
                    found[item.id] = again
            elif item.form is Form.WHOLE and any(True for _ in replaced_texts(item)):
                found[item.id] = frozenset()
            later[name] |= lines
        return found


def is_readable(item: Item) -> bool:
    """
    Return whether the item is whole, or contains everything that was not superseded; a trimmed view still has most
    of its text.
    """
    return item.form is Form.WHOLE or item.tokens >= READABLE_SHARE * item.original_tokens


@attrs.define
class _Names:
    """One name per file: calls name it by its whole path, or by its end."""

    _by_last: dict[str, list[str]] = attrs.field(factory=lambda: defaultdict(list))

    def add(self, path: str) -> None:
        name = _plain(path)
        known = self._by_last[name.rpartition("/")[2]]
        same = next((one for one in known if _is_same(one, name)), None)
        if same is None:
            known.append(name)
        elif len(name) > len(same):
            known[known.index(same)] = name

    def whole(self, path: str) -> str:
        name = _plain(path)
        return next((one for one in self._by_last[name.rpartition("/")[2]] if _is_same(one, name)), name)


def _plain(path: str) -> str:
    name = path.replace("\\", "/").rstrip("/")
    while name.startswith("./"):
        name = name[2:]
    return name


def _is_same(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long == short or long.endswith(f"/{short.lstrip('/')}")


def _command(call: Item) -> str:
    """Return the part of a command that distinguishes one run from another."""
    return f"{call.name} {ToolCall.of(call).asked}"


def _shown_lines(item: Item) -> Iterator[str]:
    """Yield the lines of a file that an item shows: for a call those that it wrote, not those that it replaced."""
    if item.kind is not ItemKind.TOOL_CALL:
        yield from code_lines(item.text)
        return
    for key, text in strings(value_or_none(item.text)):
        if key not in REPLACED:
            yield from code_lines(text)


def replaced_texts(call: Item) -> Iterator[str]:
    """Yield the long texts that an edit replaced: the replacement is next to them."""
    given = strings(value_or_none(call.text))
    yield from (text for key, text in given if key in REPLACED and len(text) >= LEAST_REPLACED)


def without_replaced(value: Any, gap: str) -> Any:
    """Return the arguments of an edit with a gap for each long text that it replaced."""

    def shown(path: Path, text: Any) -> Any:
        is_replaced = isinstance(text, str) and len(text) >= LEAST_REPLACED and key_of(path) in REPLACED
        return gap if is_replaced else text

    return rebuilt(value, shown)


def kept_stretches(text: str, repeated: AbstractSet[str]) -> Iterable[tuple[int, int]]:
    """
    Yield the ranges of whole lines that are not repeated elsewhere, in characters.

    Insignificant lines, such as a bracket, stay with the line before them.
    """
    start = place = 0
    kept = True
    for line in text.split("\n"):
        plain = bare_line(line)
        keeps = plain not in repeated if len(plain) >= LEAST_LINE else kept
        if keeps and not kept:
            start = place
        elif kept and not keeps and place > start:
            yield start, place - 1
        kept = keeps
        place += len(line) + 1
    if kept:
        yield start, len(text)
