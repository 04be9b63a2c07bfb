"""
Extracts, without a model, the facts that must survive when originals leave the window.

Everything is linear in the text and searches fixed words before matching a pattern: lines may be minified, results may
be noise.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from gc_core.relevance.tool_calls import CHANGES, CallKind, ToolCall, first_line
from gc_core.summaries.call_outcomes import happened
from gc_core.summaries.changed_values import changed_values
from gc_core.summaries.fact_kinds import RANKS, KeptFact, KeptKind
from gc_core.summaries.sentences import sentences_with, with_the_one_before
from gc_core.values.items import Item, ItemKind

PASTE_TOKENS: Final = 500
"""User text above this size was probably pasted: demands in it come after everything else."""

_SHORT = 160
"""The characters of a line that states a request or an outcome."""

_DEMANDS = (
    *("must", "never", "always", "do not", "don't", "dont", "only", "avoid", "prefer", "make sure", "ensure"),
    *("instead of", "rather than", "should", "should not", "shouldn't", "cannot", "can't", "have to", "has to"),
    *("need to", "needs to", "require", "required", "requires", "not allowed", "forbidden", "no longer", "please stop"),
    *("at least", "at most", "no more than", "want", "without"),
)
_CHOICES = (
    *("decided", "decision", "we'll use", "we will use", "i'll use", "i will use", "let's use", "lets use", "let's go"),
    *("going with", "go with", "went with", "chose", "chosen", "instead of", "settled on", "agreed", "opted"),
)
_ENDS = ("passed", "pass", "failed", "fixed", "done", "complete", "completed", "created", "committed", "works")


@attrs.frozen
class _Found:
    """The facts of some items, which it does not keep alive."""

    _of: tuple[weakref.ref[Item], ...] = ()
    facts: tuple[KeptFact, ...] = ()

    def are_of(self, items: Sequence[Item]) -> bool:
        """Return whether the facts were extracted from these very items."""
        return len(items) == len(self._of) and all(known() is item for known, item in zip(self._of, items, strict=True))


_newest = _Found()


def kept_facts(items: Sequence[Item]) -> tuple[KeptFact, ...]:
    """
    Return the facts in the originals, in order; each text of a kind once. O(length).

    The extract, the list of facts and the validator request the facts of the same items in turn: extracting them is
    most of the cost of a summary, so the newest are cached.
    """
    global _newest  # noqa: PLW0603 - one value, replaced whole: whichever thread was last
    known = _newest
    if not (items and known.are_of(items)):
        known = _newest = _Found(tuple(map(weakref.ref, items)), _found_in(items))
    return known.facts


def _found_in(items: Sequence[Item]) -> tuple[KeptFact, ...]:
    calls = {item.id: ToolCall.of(item) for item in items if item.kind is ItemKind.TOOL_CALL}
    found = [*_said(items), *happened(items, calls), *_files(items, calls), *changed_values(items, calls)]
    ordered = sorted(_each_once(found), key=lambda fact: fact.place)
    return tuple(attrs.evolve(fact, order=order) for order, fact in enumerate(ordered))


def _each_once(found: Iterable[KeptFact]) -> Iterator[KeptFact]:
    """
    Yield the last of equal ones, so that a repetition counts as new; a sentence has only its first kind.

    A claim contained in an outcome makes that unverified; a request is left out if another fact covers it.
    """
    last = {(fact.kind, fact.tool, fact.asked, fact.text): fact for fact in found}
    claims: dict[str, list[str]] = {}
    for fact in last.values():
        if fact.kind is KeptKind.CLAIM:
            claims.setdefault(fact.item, []).append(fact.text)
    covered: dict[str, list[str]] = {}
    for fact in sorted(last.values(), key=lambda fact: RANKS[fact.kind]):
        known = covered.setdefault(fact.item, [])
        if not any(_says_no_more(fact, text) for text in known):
            known.append(fact.text)
            claimed = fact.kind is KeptKind.OUTCOME and any(text in fact.text for text in claims.get(fact.item, ()))
            yield attrs.evolve(fact, unverified=True) if claimed else fact


def _says_no_more(fact: KeptFact, text: str) -> bool:
    if fact.kind is KeptKind.CLAIM:
        return fact.text in text
    if fact.kind is KeptKind.REQUEST and text in fact.text:
        return 5 * len(text) > 4 * len(fact.text)
    return fact.text == text or (fact.kind is KeptKind.REQUEST and fact.text in text)


def _said(items: Sequence[Item]) -> Iterator[KeptFact]:
    """Yield what user and assistant demanded, decided, asked and answered."""
    endings = _endings(items)
    answered = max((place for place, item in enumerate(items) if item.kind is ItemKind.ASSISTANT_TEXT), default=-1)
    for place, item in enumerate(items):
        if item.synthetic:
            continue
        if item.kind is ItemKind.USER_TEXT:
            yield from _demanded(place, item)
            yield from _asked(place, item, is_open=place > answered)
        elif item.kind is ItemKind.ASSISTANT_TEXT:
            yield from _facts(KeptKind.DECISION, place, item, sentences_with(item.text, _CHOICES), tool="assistant")
            if item.unit in endings:
                yield from _facts(KeptKind.OUTCOME, place, item, _ended(item.text))


def _facts(
    kind: KeptKind, place: int, item: Item, texts: Iterable[str], tool: str = "", *, aside: bool = False
) -> Iterator[KeptFact]:
    for text in texts:
        yield KeptFact(kind=kind, turn=item.turn, item=item.id, place=place, text=text, tool=tool, aside=aside)


def _demanded(place: int, item: Item) -> Iterator[KeptFact]:
    aside = item.original_tokens > PASTE_TOKENS
    demands = dict.fromkeys(with_the_one_before(item.text, each) for each in sentences_with(item.text, _DEMANDS))
    whole = [text for text in demands if not any(text != other and text in other for other in demands)]
    yield from _facts(KeptKind.CONSTRAINT, place, item, whole, aside=aside)
    yield from _facts(KeptKind.DECISION, place, item, sentences_with(item.text, _CHOICES), "user", aside=aside)


def _asked(place: int, item: Item, *, is_open: bool) -> Iterator[KeptFact]:
    """Yield the beginning, and for a paste also the end: a question often follows what is pasted."""
    kind = KeptKind.OPEN if is_open else KeptKind.REQUEST
    ends = (item.text.rstrip().rpartition("\n")[2],) if item.original_tokens > PASTE_TOKENS else ()
    lines = dict.fromkeys(first_line(text, _SHORT) for text in (item.text, *ends))
    yield from _facts(kind, place, item, filter(None, lines))


def _endings(items: Sequence[Item]) -> frozenset[int]:
    """Return the units that are the last text-only answers of their turns."""
    calling = {item.unit for item in items if item.kind is ItemKind.TOOL_CALL}
    last = {item.turn: item.unit for item in items if item.kind is ItemKind.ASSISTANT_TEXT and item.unit not in calling}
    return frozenset(last.values())


def _ended(text: str) -> Iterator[str]:
    """Yield the beginning of an answer, and its sentences on the outcome."""
    begun = first_line(text, _SHORT)
    sentences = [begun, *(sentence for sentence in sentences_with(text, _ENDS)[:2] if sentence not in begun)]
    yield from dict.fromkeys(filter(None, sentences))


_CHANGED = frozenset(kind.value for kind in CHANGES)


def _files(items: Sequence[Item], calls: Mapping[str, ToolCall]) -> Iterator[KeptFact]:
    """Return one fact per file: edited if it ever was, otherwise read, with the last such call."""
    last: dict[str, KeptFact] = {}
    for place, item in enumerate(items):
        if item.kind is not ItemKind.TOOL_CALL:
            continue
        call = calls[item.id]
        for path in call.paths if call.kind is not CallKind.SEARCH else ():
            known = last.get(path)
            if known is None or call.kind in CHANGES or known.asked not in _CHANGED:
                last[path] = KeptFact(
                    kind=KeptKind.FILE, turn=item.turn, item=item.id, place=place, text=path, asked=call.kind.value
                )
    return iter(last.values())
