"""Finds orders in English: sentences that begin with a bare verb and its object, and have no past tense."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from gc_core.summaries.beginnings import BEGIN, goes_on, without_past
from gc_core.summaries.english_words import BEFORE_NOUNS, IRREGULAR_PASTS, words_in
from gc_core.values.patterns import regex

_LEAD: Final = (
    r"(?:(?:now|then|next|first|finally|afterwards|later|also|and|on \w{3,6}day|(?:if|once|when|before|after|until)"
    r" [^,.;:\n]{3,80},),? )?"
)
_VERBS: Final = (
    "add announce apply ask avoid book break bump call change check choose clean|up commit compare configure "
    "confirm consider contact continue create delete deploy disable document enable ensure execute extend "
    "finish fix follow follow|up ignore implement insert install investigate keep listen|to look|at look|for "
    "look|into lower make measure merge migrate monitor move notify open pick prepare push raise refactor "
    "remove rename replace rerun re-run reset restart restore retry return revert revisit rewrite run "
    "schedule send start stop submit switch tell test update use verify watch write"
)
_VERB: Final = "|".join(word.replace("|", " ") for word in _VERBS.split())
_OBJECTS: Final = (
    "the|a|an|this|that|these|those|all|any|it|its|them|their|his|her|my|your|our|every|each|previous|down"
)
_ORDER = regex(
    rf"{BEGIN}(?:{_LEAD}((?:{_VERB}) (?:{_OBJECTS}))|((?:do not|don't|never|always|have an?) \w+))\b",
    re.MULTILINE,
)
_NEXT = regex(r"(?:(?<!\w )|\b(?:and|then) )\b(next,)")
_SERIES = regex(
    rf"{BEGIN}(([A-Z][a-z]{{1,14}}) (?=[\w¤])(?:[^.:!?\n]|[.](?=\S)){{2,160}}?(?:,|,? and) ([a-z]{{3,14}}) "
    r"(?:the|an?|all|these|their|it|them)\b)",
    re.MULTILINE,
)
"""Two verbs, each with its object."""

_BARE = regex(
    rf"{BEGIN}(?i:{_LEAD})(([A-Za-z][a-z]{{2,14}}) (?:(the|these|those|their|your|our|my|every|its|it|them|any|this"
    r"|her|him|us)|an?|all))\b",
    re.MULTILINE,
)
_ENGLISH = regex(r"\b(?:the|were|had|of|and)\b")
_NO_VERB = regex(r"(?:ed|ing|ly|ion|ment|ness|ity|(?<!s)s)$|^(?:any|some|every|no)(?:one|body|thing|where)$")
_LIKE_THEM: Final = frozenset(
    {"apply", "bring", "embed", "feed", "mention", "need", "ping", "reply", "review", "seed", "supply", "verify"}
)
"""Verbs that end as other words do."""

_PLAIN = regex(
    rf"{BEGIN}{_LEAD}((?!make )(?:{_VERB}|set up|try) {{1,3}}(?=[a-z¤]))(?!of |times? |twice\b|logs?|was |were )"
    r"((?:[^.!?\n]|[.!?](?=\S)){2,160})",
    re.MULTILINE,
)
"""A listed verb whose object has no article: an order if nothing in the sentence is past."""

_HOMOGRAPHS: Final = words_in(
    "book break call change check commit document fix follow-up look measure merge monitor move open pick "
    "push raise reset restart return schedule start stop switch test update use watch"
)
"""Verbs that are nouns as well."""

_WHEN = regex(
    rf"(?:,|,? and|,? then) (?:{_VERB}) (?:{_OBJECTS})\b"
    r"|\b(?:again|once more|first|next|now|later|before|after|until|instead|soon|tomorrow|tonight|regularly|as well)\b"
)
ENGLISH_PAST = regex(
    r"\b(?:was|were|had|did|(?!need)\w{2,}ed|ran|took|made|gave|found|built|kept|left|sent|got|held|told|saw|said"
    r"|went|began|broke|fell|grew|lost|won|rose|wrote|came|passed|is|are|has"
    r"|have(?! (?:the|an?|him|her|them|his|their|it)\b))\b"
)


def english_orders(prose: str, tools: AbstractSet[str]) -> Iterator[str]:
    """Yield the beginnings of orders; the names of tools, in small letters, are nouns."""
    lower = prose.lower()
    yield from (match[1] or match[2] for match in _ORDER.finditer(lower))
    yield from _bare_verbs(prose)
    yield from _series(prose)
    yield from _plain_orders(lower, _HOMOGRAPHS | tools)
    yield from without_past(_NEXT, ENGLISH_PAST, lower)


def _bare_verbs(prose: str) -> Iterator[str]:
    """Yield beginnings of sentences in which a word that can only be a verb stands before its object."""
    is_english = bool(_ENGLISH.search(prose))
    for match in _BARE.finditer(prose):
        if _may_be_verb(match[2]) and (match[3] or is_english) and not goes_on(match, ENGLISH_PAST, prose):
            yield match[1].lower()


def _series(prose: str) -> Iterator[str]:
    """Yield the first of two verbs of a sentence without a past tense."""
    for match in _SERIES.finditer(prose if _ENGLISH.search(prose) else ""):
        if ENGLISH_PAST.search(match[1]) or goes_on(match, ENGLISH_PAST, prose):
            continue
        if _may_be_verb(match[2]) and _may_be_verb(match[3]):
            yield match[2].lower()


def _may_be_verb(word: str) -> bool:
    lower = word.lower()
    return lower not in BEFORE_NOUNS | IRREGULAR_PASTS and (lower in _LIKE_THEM or not _NO_VERB.search(lower))


def _plain_orders(lower: str, nouns: AbstractSet[str]) -> Iterator[str]:
    for match in _PLAIN.finditer(lower):
        verb, rest = match[1].strip(), match[2]
        if ENGLISH_PAST.search(rest) or (verb in nouns and not _WHEN.search(rest)):
            continue
        yield f"{verb} {rest.split()[0]}"
