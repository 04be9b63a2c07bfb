"""Measures how much of what the next message uses is in a request, or can be recalled."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from ctxgc.evaluation.call_measures import CACHE_READ, CACHE_WRITE, MISS_TOKENS, Fit, Recovery, Share
from ctxgc.evaluation.identifiers import identifiers
from ctxgc.evaluation.quotes import QuotedLine, quotable_lines
from ctxgc.evaluation.reuse import Line, Uses, lines_of, message_texts
from gc_core.errors import SourceError
from gc_core.providers import format_named
from gc_core.providers.contract import Format, TokenCounter
from gc_core.values.messages import Payload, Request

THRESHOLD_PERCENT = 80
"""Far uses are measured in the calls whose whole history is above this share of the window, near ones in the others."""

FEW_RECALLS = 3
"""The number of recalls that still count as few."""

_REFERENCE = re.compile(r"\[gc: [\d,]+ tokens left out(?: here: turns? \d+(?:-\d+)?,|:) i(\d+)(?:-i(\d+))?")

Recall = Callable[[str], str]
"""Returns the original text of an item by its id; raises SourceError for an unknown id."""


@attrs.frozen(kw_only=True, eq=False)
class _Shown:
    """The wanted content that a message shows; it keeps the payload alive, so that its identity is not reused."""

    payload: Payload
    names: frozenset[str]
    lines: frozenset[Line]
    quoted: frozenset[str]
    left_out: tuple[tuple[int, int], ...]


class FarFitJudge:
    """
    Judges the requests of one replayed session by what the real next message uses.

    Args:
        uses: The identifiers that the session's messages use.
        format: Name of the format of its messages.
        window: The most tokens of a request; a larger one shows nothing.
        recall: Returns the text of an item; None if nothing can be recalled.
        counter: Counts recalled texts.

    """

    def __init__(
        self,
        uses: Uses,
        *,
        format: str,  # noqa: A002 - the word users know it by
        window: int,
        recall: Recall | None,
        counter: TokenCounter,
    ) -> None:
        self._uses = uses
        self._format: Format = format_named(format)
        self._window = window
        self._archive = _Archive(recall=recall, counter=counter, wanted=frozenset(uses.lines))
        self._lines = frozenset(line for lines in uses.lines.values() for line in lines)
        self._known: dict[int, _Shown] = {}
        self._texts: dict[str, tuple[frozenset[str], frozenset[Line], frozenset[str]]] = {}
        self._counter = counter

    def fit(self, place: int, request: Request | None, *, tokens: int, without: int) -> Fit:
        """
        Return how well the request fits the message at this place.

        Args:
            place: Of the message that answers the request, among the session's messages.
            request: None when nothing was sent: then nothing is visible.
            tokens: Of the request.
            without: Tokens of the whole history, without any collection.

        """
        full = 100 * without > THRESHOLD_PERCENT * self._window
        used = (self._uses.far if full else self._uses.near).get(place, frozenset())
        quotes = self._uses.quotes
        if not used and place not in quotes.edits and place not in quotes.reused:
            return Fit()
        shown = [] if request is None else self._shown(request)
        seen = shown if tokens <= self._window else []
        fit = self._fit_of_names(used, shown, seen, full=full)
        return self._with_quotes(fit, place, seen, tokens=tokens or self._window, full=full)

    # -- inside --------------------------------------------------------------------------------------------------

    def _fit_of_names(self, used: frozenset[str], shown: list[_Shown], seen: list[_Shown], *, full: bool) -> Fit:
        visible = frozenset(name for name in used if any(name in message.names for message in seen))
        kept = Share(kept=len(visible), whole=len(used))
        if not full:
            return Fit(near=kept)
        return Fit(
            far=kept,
            far_lines=Share(kept=sum(self._has_line(name, seen) for name in visible), whole=len(used)),
            recovery=self._archive.recovery(used - visible - self._uses.tools, shown),
            missed=tuple(sorted(used - visible)),
        )

    def _with_quotes(self, fit: Fit, place: int, seen: Sequence[_Shown], *, tokens: int, full: bool) -> Fit:
        edits = self._uses.quotes.edits.get(place, ())
        reused = self._uses.quotes.reused.get(place, frozenset()) if full else frozenset()
        visible_lines = frozenset().union(*(message.quoted for message in seen))
        missing = [[line for line in edit if line.text not in visible_lines] for edit in edits]
        lines = [line for edit in edits for line in edit]
        return attrs.evolve(
            fit,
            edits=Share(kept=sum(not lost for lost in missing), whole=len(edits)),
            far_quotes=_share([line.text in visible_lines for line in lines if full and line.is_far]),
            near_quotes=_share([line.text in visible_lines for line in lines if not line.is_far]),
            reuse=_share([line in visible_lines for line in reused]),
            miss_price=sum(self._miss_price(lost, tokens) for lost in missing if lost),
        )

    def _miss_price(self, missing: Iterable[QuotedLine], tokens: int) -> float:
        """Return the price of one more call that brings back these lines."""
        holders = {line.holder for line in missing}
        written = sum(self._counter.count(self._uses.quotes.holders[holder]) for holder in holders)
        return CACHE_READ * tokens + CACHE_WRITE * (written + MISS_TOKENS)

    def _shown(self, request: Request) -> list[_Shown]:
        shown = [self._known.get(id(payload)) or self._read(payload) for payload in request.messages]
        self._known = {id(one.payload): one for one in shown}
        head = [str(block.get("text", "")) for block in request.system]  # in every format that has it apart
        return [self._of_texts({}, head), *shown]

    def _read(self, payload: Payload) -> _Shown:
        return self._of_texts(payload, message_texts(payload, self._format))

    def _of_texts(self, payload: Payload, texts: Sequence[str]) -> _Shown:
        found = [self._of_text(text) for text in texts]
        return _Shown(
            payload=payload,
            names=frozenset().union(*(names for names, _, _ in found)),
            lines=frozenset().union(*(lines for _, lines, _ in found)),
            quoted=frozenset().union(*(quoted for _, _, quoted in found)),
            left_out=tuple(ids for text in texts for ids in _left_out(text)),
        )

    def _of_text(self, text: str) -> tuple[frozenset[str], frozenset[Line], frozenset[str]]:
        """Names, wanted lines and quoted lines of a text; most texts stay the same from call to call."""
        known = self._texts.get(text)
        if known is None:
            quoted = self._uses.quotes.lines & quotable_lines(text)
            known = identifiers(text), self._lines.intersection(lines_of(text)), quoted
            self._texts[text] = known
        return known

    def _has_line(self, name: str, shown: Sequence[_Shown]) -> bool:
        carriers = self._uses.lines[name]
        return any(not carriers.isdisjoint(message.lines) for message in shown)


def _share(present: Sequence[bool]) -> Share:
    return Share(kept=sum(present), whole=len(present))


def _left_out(text: str) -> Iterator[tuple[int, int]]:
    """Yield the id ranges of the references in a text."""
    if "[gc: " in text:
        for found in _REFERENCE.finditer(text):
            yield int(found[1]), int(found[2] or found[1])


@attrs.define(kw_only=True)
class _Archive:
    """The content that can be recalled by id: the wanted identifiers of each item, read once."""

    recall: Recall | None
    counter: TokenCounter
    wanted: frozenset[str]
    _names: dict[int, frozenset[str] | None] = attrs.field(factory=dict, init=False)
    _holders: dict[str, list[int]] = attrs.field(factory=dict, init=False)

    def recovery(self, missed: frozenset[str], shown: Sequence[_Shown]) -> Recovery:
        """Return what the references in these messages bring back of what is missed."""
        if not missed or self.recall is None:
            return Recovery(missed=len(missed))
        numbers = self._numbers(shown)
        ranks = {number: rank for rank, number in enumerate(numbers, start=1)}
        found = {name: self._newest(name, ranks) for name in missed}
        hits = [number for number in found.values() if number is not None]
        few = [ranks[number] for number in hits if ranks[number] <= FEW_RECALLS]
        return Recovery(
            missed=len(missed),
            recovered=len(hits),
            first=few.count(1),
            few=len(few),
            tokens=sum(self._tokens(number) for number in hits),
            few_tokens=sum(self._tokens(number) for rank in few for number in numbers[:rank]),
        )

    def _numbers(self, shown: Sequence[_Shown]) -> list[int]:
        """Return the items that can be recalled, newest first."""
        ranges = {ids for message in shown for ids in message.left_out}
        numbers = set(itertools.chain.from_iterable(range(first, last + 1) for first, last in ranges))
        return sorted((number for number in numbers if self._read(number) is not None), reverse=True)

    def _newest(self, name: str, ranks: dict[int, int]) -> int | None:
        return max((number for number in self._holders.get(name, ()) if number in ranks), default=None)

    def _read(self, number: int) -> frozenset[str] | None:
        """Return the wanted identifiers of an item, None when no message has one of this number."""
        if number not in self._names:
            text = self._original(number)
            self._names[number] = None if text is None else identifiers(text) & self.wanted
            for name in self._names[number] or ():
                self._holders.setdefault(name, []).append(number)
        return self._names[number]

    def _original(self, number: int) -> str | None:
        assert self.recall is not None  # noqa: S101 - for the type checker; checked before
        try:
            return self.recall(f"i{number}")
        except SourceError:
            return None

    def _tokens(self, number: int) -> int:
        return self.counter.count(self._original(number) or "")
