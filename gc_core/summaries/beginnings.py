"""Tells how sentences begin, and whether they go on in the past tense."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gc_core.values.patterns import regex

BEGIN: Final = r"(?:^[ \t\-*•–\d.)]{0,20}|[.!?:;]\s{1,9})"
"""The start of a sentence, of what a label introduces, or of an entry in a list."""

_ASIDE: Final = "agent|assistant|system|you|next|remaining|open|further|left|pending|following|new|current|todo"
"""With these a label does not tell what was asked for."""

_WISH = regex(
    rf"((?:^|[.!?;])(?![^.!?;:\n]{{0,80}}\b(?:{_ASIDE})\b)[^.!?;:\n]{{0,80}}"
    r"\b(?:tasks?|requests?|quer(?:y|ies)|search(?:es)?|wish(?:es)?)(?: (?:\d|[A-Z]\b))?"
    r"|(?:^|[.!?;])[^.!?;:\n]{0,120}\b(?:asked|wanted|wished|requested|said|told)\b[^.!?;:\n]{0,80}):(?= )",
    re.MULTILINE | re.IGNORECASE,
)
"""A label that tells whose wish follows: of a task, or of somebody who asked."""

_OPEN = regex(r"#{1,6} ?Open\b")
_SECTION = regex(r"^(?=#{1,6} )", re.MULTILINE)

_REST = regex(r"[^.!?\n]{0,300}")


def mark_wishes(prose: str) -> str:
    """Return a text with a mark after the labels that tell whose wish follows; under Open, a wish is left to do."""
    return "".join(part if _OPEN.match(part) else _WISH.sub(r"\1:¤", part) for part in _SECTION.split(prose))


def without_past(pattern: re.Pattern[str], past: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield beginnings of sentences that have no past tense further on: it would make a noun of the first word."""
    return (match[1] for match in pattern.finditer(text) if not goes_on(match, past, text))


def goes_on(match: re.Match[str], past: re.Pattern[str], text: str) -> bool:
    """Return whether a sentence has the past tense after a match."""
    rest = _REST.match(text, match.end())
    return rest is not None and past.search(rest[0]) is not None
