"""Validates summaries, and adds missing facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from gc_core.summaries.changed_calls import changed_calls
from gc_core.summaries.fact_kinds import KeptFact, plain, words_of
from gc_core.summaries.fact_selection import fact_tokens, is_contained, required_facts, room_of
from gc_core.summaries.inventions import invented_names
from gc_core.summaries.orders import QUOTATION, orders_in
from gc_core.summaries.proper_names import unknown_names
from gc_core.summaries.unexplained_numbers import unknown_numbers
from gc_core.values.escaping import escaped
from gc_core.values.patterns import regex
from gc_core.values.summary import SummaryRequest

FACTS_HEAD: Final = "Facts:"
"""The line before a list of facts, each on a line that begins with ``- ``."""

_FENCE = "```"
_MOST_NAMED = 6
_MOST_LISTED = 12

_QUOTED = regex(r"[“„][^“”\n]*[“”]|`[^`\n]+`|\"[^\"\n]*\"|«[^«»\n]*»|»[^«»\n]*«|「[^「」\n]*」|『[^『』\n]*』")

_TOLD = "mentioned|described|shown|listed|noted|discussed|stated|said|quoted|given"
_BACKWARD = regex(
    r"\bre-?read\b|\b(?:re)?view (?:the|what is|everything|all) (?:above|earlier|previous)\b|\bsee above\b"
    rf"|\bthe above\b|\bscroll (?:up|back)\b|\b(?:{_TOLD}) above\b|\bas (?:{_TOLD}) (?:earlier|before|previously)\b"
    r"|\bmentioned (?:earlier|before|previously)\b|\b(?:messages?|text|content|conversation|turns?|output) above\b"
    r"|\brefer (?:back )?to the\b|\bearlier in (?:this|the) (?:conversation|session)\b|\blook back\b|\bgo back to\b"
    r"|\bprevious messages?\b"
)


@attrs.frozen
class SummaryValidator:
    """
    Accepts a text that is shorter than its originals, is in the past tense, names nothing that they do not name, and
    contains all the facts that it has room for.

    Only the summarizer's own words are checked: not quotations, backticks, fences, or the list under ``Facts:``.
    """

    def validate(self, request: SummaryRequest, text: str) -> Sequence[str]:
        """Return complaints, one line each; none if the text may replace the originals."""
        if not text.strip():
            return ("it is empty",)
        return tuple(
            filter(
                None,
                (
                    *_too_long(request, text),
                    _unescaped(text),
                    *_tenses(request, text),
                    _invented(request, text),
                    _lacking(request, text),
                ),
            )
        )


def with_facts(request: SummaryRequest, text: str) -> str:
    """
    Return the text, and under ``Facts:`` the required facts that it lacks, the most important first, as far as
    ``request.max_tokens`` allows. The text itself is unchanged; a blank one is returned as it is.
    """
    missing = _missing(request, text) if text.strip() else []
    if not missing:
        return text
    whole = _listed(text, missing)
    while missing and (over := request.count(whole) - room_of(request)) > 0:
        missing = _shortened(request, missing, over)
        whole = _listed(text, missing)
    return whole


def _listed(text: str, facts: Sequence[KeptFact]) -> str:
    if not facts:
        return text
    return "\n".join([text.rstrip(), FACTS_HEAD, *(f"- {fact.sentence()}" for fact in facts)])


def _shortened(request: SummaryRequest, facts: Sequence[KeptFact], over: int) -> list[KeptFact]:
    """Drop as many of the last facts as save about ``over`` tokens, and at least one."""
    left = list(facts)
    while left and over > 0:
        over -= fact_tokens(left.pop(), request)
    return left


# -- complaints ----------------------------------------------------------------------------------------------------


def _missing(request: SummaryRequest, text: str) -> list[KeptFact]:
    plain_text, words = plain(text), words_of(escaped(text))
    return [fact for fact in required_facts(request) if not is_contained(fact, plain_text, words)]


def _too_long(request: SummaryRequest, text: str) -> Iterator[str]:
    tokens = request.count(text)
    originals = sum(item.original_tokens for item in request.items)
    if tokens > request.max_tokens:
        yield f"it has {tokens:,} tokens; at most {request.max_tokens:,} are allowed"
    if tokens >= originals:
        yield f"it has {tokens:,} tokens, no fewer than the {originals:,} of what it stands for"


def _unescaped(text: str) -> str:
    safe = escaped(text)
    if safe == text:
        return ""
    place = next(
        (place for place, (was, now) in enumerate(zip(text, safe, strict=False)) if was != now),
        min(len(text), len(safe)),
    )
    return f"it has control tags or markers, the first at character {place}: {text[place : place + 30]!r}"


def _tenses(request: SummaryRequest, text: str) -> Iterator[str]:
    prose = prose_of(text)
    if found := orders_in(prose, request.tools):
        yield f"it tells the future or gives orders ({_named(found)}); tell in the past tense what was said and done"
    if backward := dict.fromkeys(match[0] for match in _BACKWARD.finditer(prose.lower())):
        yield f"it points at what is gone ({_named(backward)}); say what it was"


def _invented(request: SummaryRequest, text: str) -> str:
    """Return names and numbers that neither the originals nor the request contain."""
    said = (text for item in request.items for text in (item.id, item.name, item.text))
    originals = (*said, *request.entries, *request.names, *request.tools, request.focus)
    found = (
        *invented_names(text, "\n".join(originals)),
        *unknown_names(prose_of(text), originals),
        *changed_calls(text, originals),
        *unknown_numbers(text, originals),
    )
    if not found:
        return ""
    return f"it tells what none of the originals says ({_named(dict.fromkeys(found))}); tell only what stands there"


def _named(words: dict[str, None]) -> str:
    return ", ".join(repr(word) for word in list(words)[:_MOST_NAMED])


def _lacking(request: SummaryRequest, text: str) -> str:
    missing = _missing(request, text)
    if not missing:
        return ""
    listed = "; ".join(fact.sentence() for fact in missing[:_MOST_LISTED])
    more = len(missing) - _MOST_LISTED
    return f"it lacks what must stay: {listed}" + (f"; and {more} more" if more > 0 else "")


def prose_of(text: str) -> str:
    """Return the summarizer's own words: a mark for each quotation and code, no fenced blocks and lists of facts."""
    return "\n".join(_QUOTED.sub(QUOTATION, line) for line in _own_lines(text.split("\n")))


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines outside fences and lists of facts; an unclosed fence hides nothing."""
    fences = [number for number, line in enumerate(lines) if line.lstrip().startswith(_FENCE)]
    closing = dict(zip(fences[::2], fences[1::2], strict=False))
    hidden_to, listing = -1, False
    for number, line in enumerate(lines):
        if number <= hidden_to:
            continue
        if number in closing:
            hidden_to = closing[number]
            continue
        if line.strip() == FACTS_HEAD:
            listing = True
        elif not (listing and line.startswith("- ")):
            listing = False
            yield line
