"""Assignments whose value changed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

import attrs

from gc_core.relevance.tool_calls import CallKind, ToolCall
from gc_core.summaries.fact_kinds import KeptFact, KeptKind
from gc_core.values.items import Item, ItemKind
from gc_core.values.patterns import regex

_ASSIGNED = regex(
    r"^[ \t]*+(?:\d{1,6}[→|:\t][ \t]*+)?[\"']?([A-Za-z_][\w.-]{1,40})[\"']?[ \t]*+[:=][ \t]*+"
    r"(\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|[\w./:@+-]{1,60})[ \t]*+[,;]?[ \t]*+\r?$",
    re.MULTILINE,
)
_ASSIGNED_AMONG = regex(
    r"\b([A-Za-z_][\w.-]{1,40})(?: ?= ?|: )(\"[^\"\n]{1,60}\"|[\w./:@+-]{0,59}\w)(?![\w(\[/]| ?[-*+/%&|^<(\[]{1,2} ?\w)"
)
_ATTRIBUTE = regex(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+")
"""A name of code as a value: not a setting."""

_PART = regex(r"^__|\.\w{1,4}$")
"""A file or a module as a key: a count in a listing, not a setting."""

_SHORT_TEXT = 2_000
"""The characters of a line within which assignments are also searched in the middle."""

_MOST_VALUES = 3
"""The most values that a key may have had: with more it is a field of many things, not something that changed."""


@attrs.frozen
class _Value:
    value: str
    place: int
    item: Item


def changed_values(items: Sequence[Item], calls: Mapping[str, ToolCall]) -> Iterator[KeptFact]:
    """Yield assignments whose value changed permanently."""
    seen: dict[tuple[str, str], list[_Value]] = {}
    for place, item in enumerate(items):
        context, assigned = _assignments(item, calls)
        for key, value in assigned.items():
            values = seen.setdefault((context, key), [])
            if value is not None and (not values or values[-1].value != value):
                values.append(_Value(value, place, item))
    for (_, key), values in seen.items():
        if 1 < len(values) == len({value.value for value in values}) <= _MOST_VALUES:
            for was, then in itertools.pairwise(values):
                yield KeptFact(
                    kind=KeptKind.VALUE, turn=was.item.turn, item=was.item.id, place=then.place,
                    text=was.value, tool=key, then=then.value, later=then.item.id,
                )  # fmt: skip


def _assignments(item: Item, calls: Mapping[str, ToolCall]) -> tuple[str, dict[str, str | None]]:
    """
    Return what an item assigns, None for a key with several values, and in which file.

    Values of one file are compared only with those of the same file: another file's port is another port.
    """
    if item.kind is ItemKind.TOOL_CALL:
        call = calls[item.id]
        texts = call.new_texts if call.changes else ()
    else:
        call = calls.get(item.call) or ToolCall.unknown(item.name)
        texts = (item.text,) if item.kind in _ASSIGNING and not item.synthetic else ()
    is_file = (call.changes or call.kind is CallKind.READ) and bool(call.paths)
    assigned: dict[str, str | None] = {}
    for text in texts:
        pattern = _ASSIGNED_AMONG if len(text) <= _SHORT_TEXT and text[:1] not in {"{", "["} else _ASSIGNED
        for key, written in pattern.findall(text) if ":" in text or "=" in text else ():
            value = written.strip("\"'")
            if _PART.search(key):
                continue
            if value and value != key and (value != written or not _ATTRIBUTE.fullmatch(value)):
                assigned[key] = value if assigned.get(key, value) == value else None
    return (call.paths[0] if is_file else ""), assigned


_ASSIGNING = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_RESULT})
