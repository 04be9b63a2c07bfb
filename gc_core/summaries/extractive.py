"""The summary that needs no model: facts that must survive, then whole original lines while there is room."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import attrs

from gc_core.relevance.name_scan import LONG_LINE, scan
from gc_core.relevance.tool_calls import CHANGES, arguments_of, texts_in
from gc_core.summaries.fact_extraction import kept_facts
from gc_core.summaries.fact_kinds import RANKS, KeptFact, KeptKind, plain
from gc_core.summaries.fact_selection import (
    by_priority,
    chosen,
    fact_tokens,
    focus_pattern,
    required_of,
    room_of,
    unquoted,
)
from gc_core.values.escaping import escaped
from gc_core.values.items import Item, ItemKind
from gc_core.values.names import Scan
from gc_core.values.patterns import regex
from gc_core.values.summary import SummaryForm, SummaryRequest

FENCE: Final = "```"
"""A separate line before and after quoted lines; no quoted line begins with it."""

FACTS_SHARE, FEW_FACTS = 1 / 3, 400
"""
The share of the room for facts; the rest is for whole lines. User demands say more than lines with names.

Below this many tokens, statements and outcomes come before any line.
"""

_LINES_HEAD, _NAMES_HEAD = "Lines that stood there:", "Also named there:"
_FRAME_TOKENS = 12
"""Approximate tokens of the headings and fences around lines or names."""

_FOCUS_WEIGHT = 16.0
_MOST_MISSES = 24
_TRIES = 12
_SHORT_ARGUMENTS = 240

_UNSAID = frozenset({ItemKind.THINKING, ItemKind.OPAQUE})
"""Content that is never read again: providers drop it."""

# Lines that are useless to a reader: control characters (except tabs and colours), halves of characters, and
# replacements of undecodable bytes. Line ends other than \n would make two lines of one.
_NOISE = regex(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u2028\u2029\ufffd\ud800-\udfff]")


@attrs.frozen
class ExtractiveSummarizer:
    """
    Summarises without a model: the same text for the same request, in linear time, within its limit.

    First come user demands and decisions, how turns and runs ended, errors and their resolutions, open points, files,
    actions and values; the rest of the room is for whole original lines with ``request.names``, and for those names
    themselves. All in order of time; what relates to ``request.focus`` comes first if not everything fits.
    """

    def summarize(self, request: SummaryRequest) -> str:
        """Return the summary, in at most ``request.max_tokens`` tokens; never empty."""
        facts = _facts_that_fit(request)
        text = _written(request, facts, (), ())
        if request.form is SummaryForm.DIGEST:
            return _fitted(request, facts, [], [])
        lines = _lines_that_fit(request, room_of(request) - request.count(text) - _FRAME_TOKENS)
        text = _written(request, facts, lines, ())
        names = _names_that_fit(request, text, room_of(request) - request.count(text) - _FRAME_TOKENS)
        return _fitted(request, facts, lines, names)


def _facts_that_fit(request: SummaryRequest) -> list[KeptFact]:
    """Return the required facts, and more in the same ranking; if there is little room, only statements."""
    known = tuple(unquoted(kept_facts(request.items), request))
    if request.form is SummaryForm.DIGEST:
        known = tuple(fact for fact in known if _lasts(fact))
    room = room_of(request)
    facts = required_of(known, request)
    for most, least in ((int(room * _facts_share(request)), KeptKind.CLAIM), (min(room, FEW_FACTS), KeptKind.REQUEST)):
        taken = frozenset(facts)
        rest = [fact for fact in known if fact not in taken and RANKS[fact.kind] <= RANKS[least]]
        spent = sum(fact_tokens(fact, request) for fact in facts)
        facts += chosen(by_priority(rest, request.focus), request, most - spent)
    return facts


def _lasts(fact: KeptFact) -> bool:
    """Return whether it still matters after hundreds of steps: goals reached, lessons, changes."""
    if fact.kind is KeptKind.FILE:
        return fact.asked in {kind.value for kind in CHANGES}
    return RANKS[fact.kind] <= RANKS[KeptKind.REQUEST]


def _facts_share(request: SummaryRequest) -> float:
    """Return the share for facts: more if users said more; a digest consists of facts only."""
    if request.form is SummaryForm.DIGEST:
        return 1.0
    said = sum(item.original_tokens for item in request.items if item.kind is ItemKind.USER_TEXT)
    return max(FACTS_SHARE, said / max(1, sum(item.original_tokens for item in request.items)))


# -- lines ---------------------------------------------------------------------------------------------------


@attrs.frozen
class _Line:
    """A line that may be quoted, its place, and the names that only it carries."""

    place: int
    start: int
    text: str
    names: tuple[str, ...]
    item: Item
    focussed: bool = False


def _lines_that_fit(request: SummaryRequest, tokens: int) -> list[_Line]:
    """
    Return the lines with most names per token, each name counted once, in order.

    The cost of a line is estimated from its item until it is about to be taken: counting is what takes time.
    """
    taken: list[_Line] = []
    covered: set[str] = set()
    items: set[str] = set()
    misses = 0
    for line in _ranked(_candidates(request), covered):
        cost = request.count(f"{line.text}\n")
        if line.item.id not in items:
            cost += request.count(f"{_head(line.item)}\n")
        if cost > tokens:
            misses += 1
            if misses > _MOST_MISSES:
                break
            continue
        tokens -= cost
        items.add(line.item.id)
        covered.update(line.names)
        taken.append(line)
    return taken


def _ranked(lines: Iterable[_Line], covered: AbstractSet[str]) -> Iterator[_Line]:
    """Yield lines lazily, by new names: a line whose names were covered meanwhile returns to the heap."""
    heap = [(-_worth(line, len(line.names)), -number, line) for number, line in enumerate(lines)]
    heapq.heapify(heap)
    while heap:
        rank, number, line = heapq.heappop(heap)
        fresh = sum(1 for name in line.names if name not in covered)
        if not fresh:
            continue
        worth = _worth(line, fresh)
        if -worth > rank:
            heapq.heappush(heap, (-worth, number, line))
        else:
            yield line


def _worth(line: _Line, fresh: int) -> float:
    tokens = 2.0 + len(line.text) * line.item.original_tokens / max(1, len(line.item.text))
    return fresh / tokens * (_FOCUS_WEIGHT if line.focussed else 1.0)


def _candidates(request: SummaryRequest) -> Iterator[_Line]:
    """Yield every line that carries one of the names, the first of equal ones."""
    wanted = frozenset(request.names)
    focus = focus_pattern(request.focus)
    seen: set[str] = set()
    for place, item in enumerate(request.items):
        if item.synthetic or item.kind in _UNSAID or wanted.isdisjoint(item.scan.names):
            continue
        has_focus = focus is not None and focus.search(item.text) is not None
        for start, line, named in _named_lines(item):
            names = tuple([name for name in named if name in wanted])
            if not names or line in seen or _NOISE.search(line) or line.startswith(FENCE):
                continue
            seen.add(line)
            focussed = has_focus and focus is not None and focus.search(line) is not None
            yield _Line(place, start, line, names, item, focussed)


def _named_lines(item: Item) -> Iterator[tuple[int, str, Sequence[str]]]:
    """
    Yield the place of each line of an item that contains names, the line, its names; not lines that are too long to
    quote.
    """
    reached = 0
    for text, scanned in _texts(item):
        for span in scanned.spans:
            if span.end - span.start <= LONG_LINE:
                yield reached + span.start, text[span.start : span.end].strip(), span.names
        reached += len(text)


def _texts(item: Item) -> Iterator[tuple[str, Scan]]:
    """Yield the text with its names; for long arguments the texts in them, because lines of JSON are not quotable."""
    arguments = arguments_of(item) if item.kind is ItemKind.TOOL_CALL and len(item.text) > _SHORT_ARGUMENTS else None
    if arguments is None:
        yield item.text, item.scan
        return
    for _, value in texts_in(arguments):
        yield value, scan(value)


def _names_that_fit(request: SummaryRequest, text: str, tokens: int) -> list[str]:
    """Return names that the text does not contain yet, in order; their tokens are estimated, and checked at the end."""
    if tokens <= 0:
        return []
    shown = scan(text).names
    left = [name for name in dict.fromkeys(request.names) if name not in shown and _is_plain(name)]
    names: list[str] = []
    for name in left:
        tokens -= request.count(f" {name}") if tokens < len(name) else max(1, len(name) // 2)
        if tokens < 0:
            break
        names.append(name)
    return names


def _is_plain(name: str) -> bool:
    return name.split() == [name] and "`" not in name and not _NOISE.search(name)


# -- writing ------------------------------------------------------------------------------------------------------


def _written(request: SummaryRequest, facts: Iterable[KeptFact], lines: Sequence[_Line], names: Sequence[str]) -> str:
    """Write facts, lines and names, each in order of time."""
    parts = [f"- {fact.sentence()}" for fact in sorted(facts, key=lambda fact: (fact.place, fact.order))]
    if lines:
        parts += [_LINES_HEAD, FENCE, *_quoted(lines), FENCE]
    if names:
        parts += [_NAMES_HEAD, FENCE, " ".join(names), FENCE]
    return escaped("\n".join(parts)) if parts else _shortest(request)


def _quoted(lines: Sequence[_Line]) -> Iterator[str]:
    """Yield the lines after their items' ids, in order."""
    reached = -1
    for line in sorted(lines, key=lambda line: (line.place, line.start)):
        if line.place != reached:
            reached = line.place
            yield _head(line.item)
        yield line.text


def _head(item: Item) -> str:
    what = item.name or item.kind.value.replace("_", " ")
    return f"{item.id} {plain(what)[:60]}:"


def _shortest(request: SummaryRequest) -> str:
    """Return the longest of these texts that fits; the last one if none does."""
    first, last = request.first_turn, request.last_turn
    turns = f"Turn {first}" if first == last else f"Turns {first}-{last}"
    texts = (f"{turns}: {len(request.items)} items passed.", f"{turns} passed.", f"{turns}.", "Passed.", ".")
    return next((text for text in texts if request.count(text) <= room_of(request)), texts[-1])


def _fitted(request: SummaryRequest, facts: list[KeptFact], lines: list[_Line], names: list[str]) -> str:
    """
    Return the text within its limit. The counts of parts do not add up to the whole, so the least important parts are
    removed.

    The last additions are removed first: names, lines, facts; always more at a time, so that it ends soon.
    """
    room = room_of(request)
    for attempt in range(_TRIES):
        text = _written(request, facts, lines, names)
        over = request.count(text) - room
        if over <= 0:
            return text
        names = names[: max(0, len(names) - over - 1)] if attempt < _TRIES // 2 else []
        if not names:
            lines = lines[: len(lines) - max(1, over // 8, len(lines) >> (_TRIES - attempt))] if lines else lines
    while facts and request.count(_written(request, facts, (), ())) > room:
        facts = facts[: len(facts) - max(1, len(facts) // 8)]
    return _written(request, facts, (), ())
