"""Tells how sentences begin, and whether they go on in the past tense."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gc_core.values.patterns import regex

BEGIN: Final = r"(?:^[ \t\-*•–\d.)]{0,20}|[.!?;]\s{1,9})"
"""The start of a sentence or of an entry in a list; after a colon stands what somebody asked for or what a tool did."""

_REST = regex(r"[^.!?\n]{0,300}")


def without_past(pattern: re.Pattern[str], past: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield beginnings of sentences that have no past tense further on: it would make a noun of the first word."""
    return (match[1] for match in pattern.finditer(text) if not goes_on(match, past, text))


def goes_on(match: re.Match[str], past: re.Pattern[str], text: str) -> bool:
    """Return whether a sentence has the past tense after a match."""
    rest = _REST.match(text, match.end())
    return rest is not None and past.search(rest[0]) is not None
