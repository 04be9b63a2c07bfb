"""Summaries of a plan: how many units one takes, its limit, its request, and its final text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import attrs

from gc_core.collector.named_stretches import NamedStretches
from gc_core.collector.quotes import Quotes
from gc_core.collector.running_totals import RunningTotals
from gc_core.collector.traces import Traces
from gc_core.providers.contract import TokenCounter
from gc_core.providers.token_counting import part_tokens
from gc_core.relevance.name_scan import scan
from gc_core.values.items import Form, Item, ItemKind, Part, Unit, number_of
from gc_core.values.policy import GCPolicy
from gc_core.values.references import Reference
from gc_core.values.removals import GCRemovalItem, Summarize
from gc_core.values.summary import BULLET, SummaryForm, SummaryRequest, entries_of
from gc_core.window.context import Context, NewSummary
from gc_core.window.view import WindowView

NO_SUMMARIZER = "no summarizer is configured"
"""The refusal of proposals to summarise with ``summarizer = "none"``."""

LEAST_BODY = 36
"""Tokens of text below which a summary would say almost nothing: a trace costs less."""

LEAST_DIGEST = 120
"""The least tokens of a segment's entries, however short it was: an outcome and what led to it."""

_SHORT = 160
"""Tokens of a short summary, including its frame and message."""

_MOST_MORE = 1.5
"""The factor by which one summary may take more than the target needs, if less would be too short."""

_SEAM = 4
"""Tokens that joining frame and text may cost beyond the sum of their own counts."""

ReadOriginal = Callable[[Item], str]
"""Reads an item's original text, whatever replaces it now."""

ReadSpan = Callable[[Reference, int], Sequence[Item]]
"""
Reads the originals that a reference covers and that are not in the window, oldest first, as far as possible; without
those up to the item with this number.
"""


@attrs.frozen(kw_only=True)
class Originals:
    """Reads the originals of a summary: of one item, and of everything that an earlier summary covers."""

    item: ReadOriginal
    span: ReadSpan


@attrs.frozen(kw_only=True)
class PlannedSummary:
    """
    A summary in a plan.

    Attributes:
        removal: The proposal, cut to the units that it takes.
        units: The units that it covers, oldest first.
        number: 1, 2, ... in the session.
        traces: Traces between the units that leave with them.
        reference: The reference in its last line.
        body_tokens: The most tokens of its text.
        tokens: Tokens with which the plan counts it, including its message.
        body: Its text without the frame; None until it has been answered.

    """

    removal: GCRemovalItem
    units: tuple[Unit, ...]
    number: int
    traces: tuple[Unit, ...] = ()
    reference: Reference
    body_tokens: int
    tokens: int
    body: str | None = None

    @property
    def label(self) -> str:
        """Its name in the budget and the window."""
        return f"{'digest' if self.form is SummaryForm.DIGEST else 'summary'} {self.number}"

    @property
    def key(self) -> tuple[str, ...]:
        """The key of the request, the same in every plan of a collection."""
        return self.removal.items

    @property
    def tokens_freed(self) -> int:
        """Tokens that the request loses by it."""
        return sum(unit.tokens for unit in (*self.units, *self.traces)) - self.tokens

    @property
    def takes_place_of(self) -> str:
        """The item whose place the summary takes: the first of the last unit, after everything that it covers."""
        return self.units[-1].items[0].id

    def edit(self) -> NewSummary:
        """Return the edit that puts the summary into the window."""
        text = self._text(self.body or "")
        return NewSummary(number=self.number, text=text, reference=self.reference, form=self.form)

    def answered(self, body: str, counter: TokenCounter) -> PlannedSummary:
        """Return it with its text and actual tokens."""
        return attrs.evolve(self, body=body, tokens=summary_tokens(self._text(body), counter))

    @property
    def form(self) -> SummaryForm:
        """Its form: an account or a digest."""
        return form_of(self.removal)

    def _text(self, body: str) -> str:
        return self.reference.summary_text(self.label, body.strip())


class Summaries:
    """
    The summaries of a plan, in the order of the proposals.

    Attributes:
        preserved: New policies, by id, of items that a plugin wanted to keep out of a summary.

    """

    def __init__(
        self,
        context: Context,
        view: WindowView,
        totals: RunningTotals,
        traces: Traces,
        counter: TokenCounter,
        *,
        quotes: Quotes,
        named: NamedStretches,
        fills: bool = False,
    ) -> None:
        self._fills = fills
        self.preserved: dict[str, GCPolicy] = {}
        self._given = context.cursor.summaries
        self._view = view
        self._totals = totals
        self._traces = traces
        self._quotes = quotes
        self._named = named
        self._counter = counter
        self._most = view.caps.summaries // 2
        self._planned: list[PlannedSummary] = []

    @property
    def all(self) -> tuple[PlannedSummary, ...]:
        """All summaries."""
        return tuple(self._planned)

    @property
    def unanswered(self) -> tuple[PlannedSummary, ...]:
        """The summaries without a text."""
        return tuple(summary for summary in self._planned if summary.body is None)

    def refusal_reason(self, unit: Unit, form: SummaryForm) -> str:
        """
        Return why a unit that may go cannot be summarised, or "": a summary is written from originals, never another.
        For a digest it can be: its originals are read from the log.
        """
        if unit.number < 0:
            return "a tool schema is dropped, not summarised"
        if unit.is_summary and form is not SummaryForm.DIGEST:
            return f"unit {unit.number} is a summary: it is dropped, digested or stays"
        return ""

    def of(
        self, removal: GCRemovalItem, action: Summarize, units: Sequence[Unit], *, target: int, whole: bool
    ) -> PlannedSummary | None:
        """
        Return the summary of as many of these units, in their order, as reaching the target needs; of all with
        ``whole``, and of all for a digest. None when it would be too short, also with half as much again: rather a few
        units leave without a summary than most of a small window for a few lines.
        """
        whole = whole or action.whole or action.form is not SummaryForm.ACCOUNT
        tokens = enough = quoted = 0
        for count, unit in enumerate(units, start=1):
            tokens += self._totals.tokens_of([unit])
            quoted += self._quotes.total(self._quotes.rules_of((unit,)))
            allowed = self._allowed(action, tokens) + min(quoted, self._quotes.cap)
            reaches = self._totals.total - tokens + allowed <= target and not whole
            if reaches or count == len(units):
                enough = enough or tokens
                if tokens > _MOST_MORE * enough:
                    return None
                ordered = sorted(units[:count], key=lambda each: self._view.position(each.number))
                found = self._planned_of(removal, action, ordered, tokens)
                if found is not None:
                    return found
        return None

    def _allowed(self, action: Summarize, tokens: int) -> int:
        """
        Return tokens that a summary of this many may have. Where no room is to be left over, a few units are worth a
        short one, of half their tokens: else a large part of a small window would leave at once.
        """
        allowed = allowed_tokens(action, tokens)
        if self._fills:
            allowed = max(allowed, min(tokens // 2, _SHORT))
        return min(allowed, action.max_tokens, self._most)

    def _planned_of(
        self, removal: GCRemovalItem, action: Summarize, units: Sequence[Unit], tokens: int
    ) -> PlannedSummary | None:
        """
        Return the summary of exactly these units; None when there is no room for a text, or nothing
        is won by a digest.
        """
        is_digest = action.form is SummaryForm.DIGEST
        traces = self._traces_among(units) if is_digest else ()
        both = sorted((*units, *traces), key=lambda each: self._view.position(each.number)) if traces else units
        allowed = digest_tokens(action, units) if is_digest else self._allowed(action, tokens)
        if is_digest and allowed >= tokens + sum(unit.tokens for unit in traces):
            return None
        leaving = {unit.number for unit in both}
        said = self._quotes.chosen(self._quotes.rules_of(both), leaving=leaving)
        elsewhere = self._named.beside_summary(leaving)
        reference = self._named.from_request(self._traces.spanning(both, elsewhere)[0], both[0], elsewhere)
        reference = attrs.evolve(reference, said=said)
        allowed += self._quotes.total(said)
        if allowed >= tokens + sum(unit.tokens for unit in traces):
            return None
        found = planned(removal, units, reference, self._given + 1, self._counter, allowed=allowed)
        return None if found is None else attrs.evolve(found, traces=traces)

    def _traces_among(self, units: Sequence[Unit]) -> tuple[Unit, ...]:
        """
        Return the unpinned traces before the last of these units: the digest covers their range.

        Those of the last pass stay: it could not count on them, so a second pass may not take what it refused.
        """
        last = self._view.position(units[-1].number)
        return tuple(
            unit
            for place, unit in enumerate(self._view.units[:last])
            if unit.is_trace
            and not (unit.pinned or unit.policy is GCPolicy.LOCKED or self._totals.gone[place])
            and not self._view.is_fresh(unit)
        )

    def take(self, summary: PlannedSummary) -> None:
        """Remove its units from the window."""
        for unit in summary.units:
            self._totals.take_out(unit)
        for trace in summary.traces:
            self._totals.absorb(self._view.position(trace.number))
        self._totals.merged_away.update(self._vanishing(summary))
        self._totals.add(summary.tokens)
        self._named.planned[summary.number] = summary.reference.stretches
        self._quotes.planned += summary.reference.said
        self._given += 1
        self._planned.append(summary)

    def _vanishing(self, summary: PlannedSummary) -> set[int]:
        """Return the places that become empty: all but that of the last unit, where the summary is."""
        return {self._view.position(unit.number) for unit in (*summary.units[:-1], *summary.traces)}

    def answer(self, summary: PlannedSummary, body: str) -> None:
        """Set its text."""
        answered = summary.answered(body, self._counter)
        self._planned[self._planned.index(summary)] = answered
        self._totals.add(answered.tokens - summary.tokens)

    def withdraw(self, summary: PlannedSummary, keep: Collection[str]) -> tuple[Unit, ...]:
        """
        Put the units of a summary back, those with one of the items to ``keep`` for good: a plugin wants them. Returns
        the others, which may have a summary of their own.
        """
        rest = []
        for unit in summary.units:
            kept = not {item.id for item in unit.items}.isdisjoint(keep)
            self._totals.put_back(unit, keep=kept)
            if kept:
                self.preserved.update((item.id, GCPolicy.PRESERVABLE) for item in unit.items)
            else:
                rest.append(unit)
        for trace in summary.traces:
            self._totals.give_back(self._view.position(trace.number))
        self._totals.merged_away.difference_update(self._vanishing(summary))
        self._totals.add(-summary.tokens)
        del self._named.planned[summary.number]
        self._planned.remove(summary)
        self._quotes.planned = tuple(said for each in self._planned for said in each.reference.said)
        return tuple(rest)

    def freed(self, removal: GCRemovalItem) -> int:
        """Return the tokens that the summary of this proposal frees; 0 if nothing is left of it."""
        return sum(summary.tokens_freed for summary in self._planned if summary.removal is removal)

    def edits(self) -> dict[str, NewSummary]:
        """Return the final texts, by the items whose places they take."""
        return {summary.takes_place_of: summary.edit() for summary in self._planned}

    def ids(self) -> frozenset[str]:
        """Return the ids of the items that they cover."""
        return frozenset(
            item.id for summary in self._planned for unit in (*summary.units, *summary.traces) for item in unit.items
        )


def form_of(removal: GCRemovalItem) -> SummaryForm:
    """Return the form that a proposal to summarise requests."""
    assert isinstance(removal.action, Summarize)  # noqa: S101 - the planner asks for nothing else
    return removal.action.form


def summary_tokens(text: str, counter: TokenCounter) -> int:
    """Return the tokens of a summary with this text, including its message."""
    return part_tokens(Part(kind=ItemKind.SUMMARY, place=(), text=text), counter) + counter.per_message


def allowed_tokens(action: Summarize, tokens: int) -> int:
    """Return the most tokens of a summary of this many tokens, including its frame and message."""
    return min(action.max_tokens, int(action.keep * tokens))


def digest_tokens(action: Summarize, units: Sequence[Unit]) -> int:
    """
    Return tokens that a digest of these units may have, its frame and message included: an older digest among them
    stays as it is, and every other segment adds its share of what its originals had.
    """
    known = sum(unit.tokens for unit in units if unit.is_digest)
    return min(action.max_tokens, known + _entries_tokens(action, units))


def _entries_tokens(action: Summarize, units: Sequence[Unit]) -> int:
    """Return the most tokens of the new entries in a digest."""
    new = sum(unit.original_tokens for unit in units if not unit.is_digest)
    return max(LEAST_DIGEST, int(action.keep * new))


def planned(
    removal: GCRemovalItem,
    units: Sequence[Unit],
    reference: Reference,
    number: int,
    counter: TokenCounter,
    *,
    allowed: int,
) -> PlannedSummary | None:
    """Return the summary of these units if the ``allowed`` tokens leave room for a text; otherwise None."""
    action = removal.action
    assert isinstance(action, Summarize)  # noqa: S101 - the planner asks for nothing else
    label = f"summary {number}"
    frame = summary_tokens(reference.summary_text(label, ""), counter) + _SEAM
    if allowed - frame < LEAST_BODY:
        return None
    return PlannedSummary(
        removal=attrs.evolve(
            removal,
            action=attrs.evolve(action, units=tuple(unit.number for unit in units)),
            items=tuple(item.id for unit in units for item in unit.items),
        ),
        units=tuple(units),
        number=number,
        reference=reference,
        body_tokens=allowed - frame,
        tokens=allowed,
    )


def request_for(
    summary: PlannedSummary, read: Originals, shown: Collection[str], counter: TokenCounter
) -> SummaryRequest:
    """Return the request: only originals, and the names that nothing else in the window will show."""
    is_digest = summary.form is SummaryForm.DIGEST
    after = max((_ends(unit)[1] for unit in summary.units if unit.is_digest), default=0)
    found = [(unit, _originals_of(unit, read, after)) for unit in summary.units]
    # Ranges may overlap: common parts are included once.
    originals = tuple({item.id: item for _, items in found for item in items}.values())
    unread = [unit.items[0] for unit, items in found if not items and unit.is_summary and not unit.is_digest]
    names = dict.fromkeys(
        name for item in originals for span in item.scan.spans for name in span.names if name not in shown
    )
    action = summary.removal.action
    assert isinstance(action, Summarize)  # noqa: S101 - the planner asks for nothing else
    room = _entries_tokens(action, summary.units) if is_digest else summary.body_tokens
    return SummaryRequest(
        items=originals,
        max_tokens=min(room, summary.body_tokens),
        entries=(*entries_in(summary.units), *(line for item in unread for line in _said_in(item))),
        room=summary.body_tokens if is_digest else 0,
        names=tuple(names),
        form=summary.form,
        quoted=summary.reference.said,
        count=counter.count,
    )


def entries_in(units: Iterable[Unit]) -> tuple[str, ...]:
    """Return the entries of the digests among these units, oldest first."""
    digests = (unit.items[0].text for unit in units if unit.is_digest)
    return tuple(entry for text in digests for entry in entries_of(text))


def _originals_of(unit: Unit, read: Originals, after: int) -> Sequence[Item]:
    """
    Return the originals that the unit covers; none for a digest, whose entries are kept as they are.

    A summary of units from both sides of a digest, which ends with item ``behind``, includes the digest's range:
    only what comes after is read again.
    """
    if unit.is_digest:
        return ()
    if unit.is_summary:
        assert unit.items[0].reference is not None  # noqa: S101 - every summary has one
        first, last = _ends(unit)
        return read.span(unit.items[0].reference, after if first <= after < last else 0)
    return [_original(item, read.item) for item in unit.items]


def _ends(unit: Unit) -> tuple[int, int]:
    """Return the numbers of the first and the last item that a summary covers."""
    reference = unit.items[0].reference
    assert reference is not None  # noqa: S101 - every summary has one
    return number_of(reference.first), number_of(reference.last)


def _said_in(summary: Item) -> Iterator[str]:
    """Return a summary's lines as entries, when its originals cannot be read any more."""
    lines = summary.text.splitlines()
    body = lines[2:-2]
    return (f"{BULLET}{line.strip().removeprefix(BULLET)}" for line in body if line.strip())


def _original(item: Item, read: ReadOriginal) -> Item:
    if item.form is Form.WHOLE:
        return item
    text = read(item)
    return attrs.evolve(item, text=text, form=Form.WHOLE, tokens=item.original_tokens, reference=None, scan=scan(text))
