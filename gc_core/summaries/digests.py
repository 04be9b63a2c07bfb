"""
The digest: entries, one per line, of old achievements and findings.

An entry is written once, from originals, and stays verbatim until it is dropped: when the digest is full, the least
important entries leave. Nothing is rephrased, so nothing drifts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gc_core.summaries.fact_selection import focus_pattern
from gc_core.values.escaping import escaped
from gc_core.values.patterns import regex
from gc_core.values.summary import BULLET, SummaryRequest

_ENTRY_CHARS = 600

# The kind of an entry, by how the extract begins its lines (fact_kinds), and its weight relative to others. A user's
# demands and decisions bind the agent permanently; that a file was read once says almost nothing.
_WORTH: Final = (
    (regex(r"- (?:The user required|Decided by)"), 8.0, 1.0),
    (regex(r"- The turn ended"), 4.0, 0.25),
    (regex(r"(?>.*? failed \().*; it succeeded later"), 4.0, 0.25),
    (regex(r".* failed \("), 2.0, 0.25),
    (regex(r".* gave \(|.* was asked \("), 2.0, 0.25),
    (regex(r"- The user said"), 2.0, 0.25),
)
"""
Pattern, weight, and the share of the entries after which the weight halves: a digest full of the first days would say
nothing about the present.
"""

_WORTH_BESIDE_STATE: Final = (
    (regex(r"(?>.*? failed \().*; it succeeded later"), 8.0, 1.0),
    (regex(r"- (?:The user required|Decided by)"), 2.0, 0.25),
    *_WORTH,
)
"""The weights if the task state covers demands and decisions."""

_OTHERS = (1.0, 0.25)
_WORTH_OF_FOCUS = 8.0

_STEP_DOWN = 0.97
_TRIES = 64


def digest_text(request: SummaryRequest, written: str) -> str:
    """
    Return the existing entries and those written from the new originals, in at most ``request.room`` tokens, in order
    of time; each entry once, at its newest place.
    """
    entries = [*request.entries, *_as_entries(written)]
    newest_first = list(dict.fromkeys(reversed(entries)))
    return "\n".join(_selected(newest_first[::-1], request))


def _as_entries(written: str) -> list[str]:
    """Return a summarizer's lines as entries, whatever precedes them; headings are not entries."""
    lines = (line.strip().lstrip("-*•#").strip() for line in written.splitlines())
    content = (line for line in lines if any(map(str.isalnum, line)) and not line.endswith(":"))
    return [f"{BULLET}{escaped(line[:_ENTRY_CHARS])}" for line in content]


def _selected(entries: Sequence[str], request: SummaryRequest) -> list[str]:
    """Return the most important entries that fit, in order."""
    room, count = request.room, request.count
    costs = [count(f"{entry}\n") for entry in entries]
    ranked = sorted(range(len(entries)), key=lambda place: -_worth(entries, place, request))
    left = float(room)
    for _ in range(_TRIES):
        kept = sorted(_fitting(ranked, costs, left))
        text = "\n".join(entries[place] for place in kept)
        if not kept or count(text) <= room:
            break
        left *= _STEP_DOWN  # parts counted separately may have fewer tokens than the whole
    return [entries[place] for place in kept]


def _fitting(ranked: Iterable[int], costs: Sequence[int], room: float) -> list[int]:
    kept = []
    for place in ranked:
        if costs[place] <= room:
            kept.append(place)
            room -= costs[place]
    return kept


def _worth(entries: Sequence[str], place: int, request: SummaryRequest) -> float:
    entry, table = entries[place], _WORTH_BESIDE_STATE if request.stated else _WORTH
    worth, half_life = next(((worth, half) for pattern, worth, half in table if pattern.match(entry)), _OTHERS)
    pattern = focus_pattern(request.focus)
    if pattern is not None and pattern.search(entry):
        worth *= _WORTH_OF_FOCUS
    age = (len(entries) - 1 - place) / max(1.0, half_life * len(entries))
    return float(worth * 0.5**age)
