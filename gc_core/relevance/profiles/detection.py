"""Detects the profile that a session's first steps suggest, by the tools that it calls and by what is said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from gc_core.relevance.profiles import tool_kinds as kinds
from gc_core.relevance.profiles.builtin import CODING_PROFILE, GENERAL_PROFILE, OPERATIONS_PROFILE, RESEARCH_PROFILE
from gc_core.relevance.profiles.profile import CompressionProfile
from gc_core.values.items import ItemKind, Part
from gc_core.values.patterns import regex

FIRST_PARTS = 24
"""The parts of messages (texts, calls, results) that decide, once: some eight steps."""

_LEAST = 4
"""The points that a profile needs, and more than any other."""

_MOST_SAID = 3
"""The most points for words: an agent's actions say more than the words used."""

_TOOLS: Final = {
    kinds.FILE_READ: (CODING_PROFILE.name, 1),
    kinds.FILE_WRITE: (CODING_PROFILE.name, 2),
    kinds.SEARCH_RESULTS: (CODING_PROFILE.name, 1),
    kinds.WEB_SEARCH: (RESEARCH_PROFILE.name, 2),
    kinds.DOCUMENT_READ: (RESEARCH_PROFILE.name, 2),
    kinds.LOG_QUERY: (OPERATIONS_PROFILE.name, 2),
    kinds.METRIC_QUERY: (OPERATIONS_PROFILE.name, 2),
}
_COMMANDS: Final = (
    (
        OPERATIONS_PROFILE.name,
        regex(r"\b(?:kubectl|systemctl|journalctl|helm|terraform|ansible|docker (?:ps|logs|stats|inspect)|df -|top -)"),
    ),
    (
        CODING_PROFILE.name,
        regex(
            r"\b(?:git (?:diff|status|log|add|commit|show)|pytest|np[mx]|go (?:test|build)|cargo|make|tsc|python3? )"
        ),
    ),
)
_WORDS: Final = {
    CODING_PROFILE.name: regex(
        r"\b(?:bug|refactor|unit tests?|function|repository|codebase|pull request|commit)s?\b", re.IGNORECASE
    ),
    RESEARCH_PROFILE.name: regex(
        r"\b(?:research|literature|papers?|sources|citations?|studies|survey of|evidence)\b", re.IGNORECASE
    ),
    OPERATIONS_PROFILE.name: regex(
        r"\b(?:incident|outage|production|on-call|cluster|latency|alerts?|pods?|runbook|uptime)\b",
        re.IGNORECASE,
    ),
}
_SAID_CHARS, _CALL_CHARS = 4_000, 1_000


def detected(parts: Iterable[Part]) -> CompressionProfile | None:
    """
    Return the profile for a session that begins with these parts, from its first ``FIRST_PARTS`` only; None if there
    are fewer. The general profile unless another one clearly fits.
    """
    first = [part for _, part in zip(range(FIRST_PARTS), parts, strict=False)]
    if len(first) < FIRST_PARTS:
        return None
    points, said = Counter[str](), Counter[str]()
    for part in first:
        if part.kind is ItemKind.TOOL_CALL:
            points.update(_done(part))
        elif part.kind is ItemKind.USER_TEXT:
            said.update({name: len(set(words.findall(part.text[:_SAID_CHARS]))) for name, words in _WORDS.items()})
    points.update({name: min(_MOST_SAID, times) for name, times in said.items()})
    ranked = [*points.most_common(), ("", 0), ("", 0)]
    (name, most), (_, next_most) = ranked[:2]
    if most < _LEAST or most == next_most:
        return GENERAL_PROFILE
    return next(known for known in (CODING_PROFILE, RESEARCH_PROFILE, OPERATIONS_PROFILE) if known.name == name)


def _done(call: Part) -> dict[str, int]:
    """Return the points for a call."""
    kind = kinds.tool_kind(call.name, call.text[: 4 * _CALL_CHARS])
    if kind in {kinds.SHELL_EXEC, kinds.LOG_QUERY, kinds.FILE_READ}:
        for name, command in _COMMANDS:
            if command.search(call.text, 0, _CALL_CHARS):
                return {name: 2 if name == OPERATIONS_PROFILE.name else 1}
    name, weight = _TOOLS.get(kind, ("", 0))
    return {name: weight} if name else {}
