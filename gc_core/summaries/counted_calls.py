"""
Finds counts of what an agent did that are more than its calls: "19 edits" of twelve.

Fewer may be some of them. Which calls a noun may mean goes by their kinds; one call may do several things, as a command
of several parts or a list among the arguments does. Nothing is judged where another summary is among the originals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from gc_core.relevance.tool_calls import CHANGES, CallKind, ToolCall, arguments_of, takes_command, words_of
from gc_core.summaries.numerals import in_digits
from gc_core.summaries.quantities import Quantity, quantities
from gc_core.values.items import Item, ItemKind
from gc_core.values.patterns import regex

_KINDS: Final = {
    noun: kinds
    for nouns, kinds in (
        ("edits replacements bearbeitungen ediciones", CHANGES),
        ("reads views lecturas lectures", frozenset({CallKind.READ})),
        ("searches greps globs suchen búsquedas recherches", frozenset({CallKind.SEARCH})),
        ("commands befehle comandos commandes", frozenset({CallKind.RUN})),
        ("calls statements queries attempts aufrufe versuche llamadas consultas intentos appels requêtes", frozenset()),
    )
    for noun in nouns.split()
}
"""The kinds of the calls that a noun means; none: any."""

_NOUN: Final = "|".join(_KINDS)
_COUNTED = regex(
    rf" (?:(?!(?:and|or|of|in|on|with|for|after|by|from|to|as|y|de|en|und|et) )[^\W\d_]+ ){{0,2}}?(?P<noun>{_NOUN})"
    rf"(?: and (?P<other>{_NOUN})| to (?P<verb>edit|read|view|search|grep))?(?![\w-])",
    re.IGNORECASE,
)
_SEVERAL = regex(r"&&|[;|]|\\n")
_SEARCHES_NOTHING: Final = frozenset(
    """
    get read view show open calculate think update modify cancel book create write edit replace delete return exchange
    send transfer set finish
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
)
"""Words in the names of tools of no known kind."""

_MOST: Final = 100
_NEAR: Final = 40
_STEM: Final = 4
_TOLD = regex("|".join(sorted({noun[:_STEM] for noun in _KINDS})), re.IGNORECASE)
_NUMBER = regex(r"(?<!\d)\d{1,2}(?!\d)")


def too_many_calls(text: str, items: Sequence[Item]) -> Iterator[str]:
    """Yield the numbers of a text that count more calls than there are, apart from what the originals count."""
    calls = [item for item in items if item.kind is ItemKind.TOOL_CALL]
    if not calls or any(item.kind is ItemKind.SUMMARY for item in items):
        return
    found = list(_counts_beyond(in_digits(text), calls))
    told = _told_in(items) if found else frozenset()
    for said, kinds in found:
        if not any((noun[:_STEM], round(said.values[0])) in told for noun, of in _KINDS.items() if _may_be(of, kinds)):
            yield said.written


def _counts_beyond(text: str, calls: Sequence[Item]) -> Iterator[tuple[Quantity, AbstractSet[CallKind]]]:
    """Yield the counts of a text that are more than the calls, with the kinds that their nouns mean."""
    lines = text.split("\n")
    for said in quantities(text):
        counted = _COUNTED.match(lines[said.line], said.start + len(said.written))
        if counted is None or said.kind or said.step != 1 or not 1 < max(said.values) < _MOST:
            continue
        kinds = frozenset[CallKind]().union(*map(_kinds_of, filter(None, counted.groups())))
        if max(said.values) > sum(_things(call, kinds) for call in calls):
            yield said, kinds


def _kinds_of(word: str) -> AbstractSet[CallKind]:
    lower = word.lower()
    return next(kinds for noun, kinds in _KINDS.items() if noun in {lower, f"{lower}s", f"{lower}es"})


def _things(item: Item, kinds: AbstractSet[CallKind]) -> int:
    """Return how many things of some kinds a call may have done."""
    call = ToolCall.of(item)
    if call.kind in kinds:
        return _most_listed(item)
    if takes_command(call):
        return 1 if kinds == CHANGES else 1 + len(_SEVERAL.findall(item.text))
    if not kinds:
        return _most_listed(item)
    is_another = CallKind.SEARCH in kinds and not words_of(item.name).isdisjoint(_SEARCHES_NOTHING)
    return int(call.kind is CallKind.OTHER and not is_another)


def _most_listed(item: Item) -> int:
    lists = (value for value in (arguments_of(item) or {}).values() if isinstance(value, list))
    return max([1, *map(len, lists)])


def _may_be(of: AbstractSet[CallKind], kinds: AbstractSet[CallKind]) -> bool:
    return of == kinds or not kinds.isdisjoint(of)


def _told_in(items: Sequence[Item]) -> AbstractSet[tuple[str, int]]:
    """Return the numbers near such nouns in the originals: what another agent did, or a tool counted."""
    return frozenset(
        (match[0].lower(), int(number))
        for item in items
        for match in _TOLD.finditer(item.text)
        for number in _NUMBER.findall(_around(match))
    )


def _around(match: re.Match[str]) -> str:
    """Return what stands near a match in its line."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()].rpartition("\n")[2]
    return f"{before} {match.string[match.end() : match.end() + _NEAR].partition(chr(10))[0]}"
