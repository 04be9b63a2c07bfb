"""Selects the facts of a summary when not all fit, and those that are required."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gc_core.summaries.fact_extraction import kept_facts
from gc_core.summaries.fact_kinds import RANKS, KeptFact, KeptKind, plain
from gc_core.values.summary import SummaryRequest

MUST_PART: Final = 4
"""The room for required facts is one part in this many: a small budget requires few facts."""

_MOST_MISSES = 24
"""The number of facts that do not fit after which the search for smaller ones ends."""

_SAID = frozenset({KeptKind.CONSTRAINT, KeptKind.REQUEST})

_STOP_WORDS = frozenset({"the", "and", "for", "with", "that", "this", "from", "all", "keep", "what", "about", "any"})


def room_of(request: SummaryRequest) -> int:
    """Return the most tokens of the summary: always fewer than the originals have."""
    return min(request.max_tokens, sum(item.original_tokens for item in request.items) - 1)


def fact_tokens(fact: KeptFact, request: SummaryRequest) -> int:
    """Return the tokens of its line in a list."""
    return request.count(f"- {fact.sentence()}\n")


def by_priority(facts: Iterable[KeptFact], focus: str = "") -> list[KeptFact]:
    """
    Return the facts by priority: demands in a paste last, of equals those related to the focus
    first, then the newest.
    """
    focussed = focus_pattern(focus)

    def rank(fact: KeptFact) -> tuple[bool, int, bool, int, int]:
        hit = focussed is not None and focussed.search(f"{fact.text} {fact.asked}") is not None
        return fact.aside, RANKS[fact.kind], not hit, -fact.place, fact.order

    return sorted(facts, key=rank)


def focus_pattern(focus: str) -> re.Pattern[str] | None:
    """Return a pattern for the words of the focus; None if it has none."""
    words = dict.fromkeys(re.findall(r"\w{3,}", focus.lower()))
    kept = [re.escape(word) for word in words if word not in _STOP_WORDS][:32]
    return re.compile(rf"\b(?:{'|'.join(kept)})\b", re.IGNORECASE) if kept else None


def chosen(ranked: Sequence[KeptFact], request: SummaryRequest, tokens: int) -> list[KeptFact]:
    """
    Return the first of these facts that fit into this many tokens, in order.

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


def unquoted(facts: Iterable[KeptFact], request: SummaryRequest) -> list[KeptFact]:
    """Return the facts without demands and requests that the frame of the summary quotes."""
    quoted = {_letters(sentence) for sentence in request.quoted}
    return [fact for fact in facts if fact.kind not in _SAID or _letters(fact.text) not in quoted]


def _letters(text: str) -> str:
    """Return the words of a text; a quotation has other marks."""
    return " ".join(re.findall(r"\w+", text))


def required_facts(request: SummaryRequest) -> tuple[KeptFact, ...]:
    """
    Return the facts that every summary of this request must contain, the most important first: as many as fit a quarter
    of its room.
    """
    return tuple(required_of(unquoted(kept_facts(request.items), request), request))


def required_of(facts: Iterable[KeptFact], request: SummaryRequest) -> list[KeptFact]:
    """Return the facts that a summary must contain, for known facts."""
    return chosen(by_priority(facts, request.focus), request, room_of(request) // MUST_PART)


def is_contained(fact: KeptFact, text: str, words: frozenset[str]) -> bool:
    """
    Return whether a text, made ``plain``, contains a fact: demands verbatim, others verbatim or with all their marks.

    An outcome without any path, id or number must be verbatim; other facts without them are not required.
    """
    if plain(fact.text) in text:
        return not fact.then or plain(fact.then) in text
    if fact.kind is KeptKind.CONSTRAINT:
        return False
    marks = fact.marks()
    return words.issuperset(marks) if marks else fact.kind is not KeptKind.OUTCOME
