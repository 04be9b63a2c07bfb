"""Which facts a summary tells where not all fit, and which ones it may not lack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gc_core.summaries.fact_extraction import kept_facts
from gc_core.summaries.fact_kinds import RANKS, KeptFact, KeptKind, plain
from gc_core.values.summary import SummaryRequest

MUST_PART: Final = 4
"""One part in this many of the room is for what no summary may lack: a small budget demands few facts."""

_MOST_MISSES = 24
"""Facts that do not fit, after which no smaller one is looked for."""

_STOP_WORDS = frozenset({"the", "and", "for", "with", "that", "this", "from", "all", "keep", "what", "about", "any"})


def room_of(request: SummaryRequest) -> int:
    """Return tokens that the summary may have: always fewer than the originals."""
    return min(request.max_tokens, sum(item.original_tokens for item in request.items) - 1)


def fact_tokens(fact: KeptFact, request: SummaryRequest) -> int:
    """Return tokens of its line in a list."""
    return request.count(f"- {fact.told()}\n")


def by_priority(facts: Iterable[KeptFact], focus: str = "") -> list[KeptFact]:
    """
    Return the most important first: what a paste demands last, of equals what has to do with the focus, then the
    newest.
    """
    focussed = focus_pattern(focus)

    def rank(fact: KeptFact) -> tuple[bool, int, bool, int, int]:
        hit = focussed is not None and focussed.search(f"{fact.text} {fact.asked}") is not None
        return fact.aside, RANKS[fact.kind], not hit, -fact.place, fact.order

    return sorted(facts, key=rank)


def focus_pattern(focus: str) -> re.Pattern[str] | None:
    """Finds the words of the focus; None when it has none."""
    words = dict.fromkeys(re.findall(r"\w{3,}", focus.lower()))
    kept = [re.escape(word) for word in words if word not in _STOP_WORDS][:32]
    return re.compile(rf"\b(?:{'|'.join(kept)})\b", re.IGNORECASE) if kept else None


def chosen(ranked: Sequence[KeptFact], request: SummaryRequest, tokens: int) -> list[KeptFact]:
    """
    Return the first of these that fit into this many tokens, in their order.

    In the first round no kind takes more than a quarter of them, so that many demands leave room for the rest.
    """
    taken: dict[int, KeptFact] = {}
    costs: dict[int, int] = {}
    left = tokens
    for most in (tokens // 4, tokens):
        spent = dict.fromkeys(KeptKind, 0)
        misses = 0
        for number, fact in enumerate(ranked):
            if number in taken:
                continue
            if misses > _MOST_MISSES or left <= 0:
                break
            if number not in costs:
                costs[number] = fact_tokens(fact, request)
            if costs[number] > left or spent[fact.kind] + costs[number] > most:
                misses += costs[number] > left
                continue
            taken[number] = fact
            spent[fact.kind] += costs[number]
            left -= costs[number]
    return [taken[number] for number in sorted(taken)]


def required_facts(request: SummaryRequest) -> tuple[KeptFact, ...]:
    """
    Return what no summary of this request may lack, the most important first: as much as fits a
    quarter of its room.
    """
    return tuple(required_of(kept_facts(request.items), request))


def required_of(facts: Iterable[KeptFact], request: SummaryRequest) -> list[KeptFact]:
    """Return the same of facts that are known already."""
    return chosen(by_priority(facts, request.focus), request, room_of(request) // MUST_PART)


def is_told(fact: KeptFact, text: str, words: frozenset[str]) -> bool:
    """
    Return whether a text, made ``plain``, tells a fact: demands verbatim, all else verbatim or with all its marks.

    An outcome without any path, id or number can only be told verbatim; anything else without them need not be told.
    """
    if plain(fact.text) in text:
        return not fact.then or plain(fact.then) in text
    if fact.kind is KeptKind.CONSTRAINT:
        return False
    marks = fact.marks()
    return words.issuperset(marks) if marks else fact.kind is not KeptKind.OUTCOME
