"""Summaries inside a plan: how many units one takes, what it may cost, what is asked for it, and its final text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import attrs

from gc_core.actions import GCRemovalItem, Summarize
from gc_core.context import Context, NewSummary
from gc_core.items import Form, Item, ItemKind, Part, Unit
from gc_core.policy import GCPolicy
from gc_core.protocols import TokenCounter
from gc_core.references import Reference
from gc_core.scan import scan
from gc_core.summary import SummaryForm, SummaryRequest
from gc_core.tally import Tally
from gc_core.tokens import part_tokens
from gc_core.traces import Traces
from gc_core.view import WindowView

NO_SUMMARIZER = "no summarizer is configured"
"""Why a proposal to summarise is refused where the configuration says ``summarizer = "none"``."""

LEAST_BODY = 40
"""Tokens of text below which a summary would say next to nothing: a trace costs less."""

LEAST_FOLD = 12
"""The same for a fold."""

_SEAM = 4
"""Tokens that joining frame and text may cost beyond the sum of their own counts."""

ReadOriginal = Callable[[Item], str]
"""The text with which an item arrived, whatever stands in its place now."""


@attrs.frozen(kw_only=True)
class PlannedSummary:
    """
    A summary that a plan holds.

    Attributes:
        removal: The proposal, cut to the units that it takes.
        units: What it stands for, oldest first.
        label: "summary 1", "summary 2", ... of the session.
        reference: What stands in its last line.
        body_tokens: Tokens that its text may have.
        tokens: Tokens with which the plan counts it, its message included.
        body: Its text without the frame; None until it has been answered.

    """

    removal: GCRemovalItem
    units: tuple[Unit, ...]
    label: str
    reference: Reference
    body_tokens: int
    tokens: int
    body: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """The same request has the same key, in whichever plan of a collection it is made."""
        return self.removal.items

    @property
    def tokens_freed(self) -> int:
        """Tokens that the request loses by it."""
        return sum(unit.tokens for unit in self.units) - self.tokens

    @property
    def stands_at(self) -> str:
        """The item at whose place the summary stands: the first of the last unit, behind everything that it tells."""
        return self.units[-1].items[0].id

    def edit(self) -> NewSummary:
        """The final text."""
        return NewSummary(label=self.label, text=self._text(self.body or ""), reference=self.reference)

    def answered(self, body: str, counter: TokenCounter) -> PlannedSummary:
        """With its text, and the tokens that it really has."""
        whole = attrs.evolve(self, body=body)
        return attrs.evolve(whole, tokens=summary_tokens(whole._text(body), counter))

    @property
    def form(self) -> SummaryForm:
        """What stands there: an account, a fold, or a compaction."""
        return form_of(self.removal)

    def _text(self, body: str) -> str:
        return framed(self.reference, self.label, self.form, body.strip())


class Summaries:
    """
    The summaries of a plan, in the order in which they were proposed.

    Attributes:
        preserved: How items are held from now on which a plugin wanted to keep out of a summary, by id.

    """

    def __init__(self, context: Context, view: WindowView, tally: Tally, traces: Traces, counter: TokenCounter) -> None:
        self.preserved: dict[str, GCPolicy] = {}
        self._given = context.cursor.summaries
        self._view = view
        self._tally = tally
        self._traces = traces
        self._counter = counter
        self._planned: list[PlannedSummary] = []

    @property
    def all(self) -> tuple[PlannedSummary, ...]:
        """All of them."""
        return tuple(self._planned)

    @property
    def unanswered(self) -> tuple[PlannedSummary, ...]:
        """Those that still have no text."""
        return tuple(summary for summary in self._planned if summary.body is None)

    def why_never(self, unit: Unit) -> str:
        """Why a unit that may go cannot be summarised, or "": a summary is written from originals, never another."""
        if unit.number < 0:
            return "a tool schema is dropped, not summarised"
        return f"unit {unit.number} is a summary: it is dropped or stays" if unit.is_summary else ""

    def of(
        self, removal: GCRemovalItem, action: Summarize, units: Sequence[Unit], *, target: int, whole: bool
    ) -> PlannedSummary | None:
        """
        The summary of as many of these units, in their order, as reaching the target needs; of all with ``whole``, and
        of all for a fold or a compaction. None when it would be too short.
        """
        label = f"summary {self._given + 1}"
        whole = whole or action.form is not SummaryForm.ACCOUNT
        tokens = 0
        for count, unit in enumerate(units, start=1):
            tokens += self._tally.tokens_of([unit])
            enough = self._tally.total - tokens + allowed_tokens(action, tokens) <= target
            if (enough and not whole) or count == len(units):
                ordered = sorted(units[:count], key=lambda each: self._view.position(each.number))
                reference = self._traces.spanning(ordered)[0]
                found = planned(removal, ordered, reference, label, self._counter, tokens=tokens)
                if found is not None:
                    return found
        return None

    def take(self, summary: PlannedSummary) -> None:
        """Its units leave for it."""
        for unit in summary.units:
            self._tally.take_out(unit)
        self._tally.vanished.update(self._view.position(unit.number) for unit in summary.units[:-1])
        self._tally.add(summary.tokens)
        self._given += 1
        self._planned.append(summary)

    def answer(self, summary: PlannedSummary, body: str) -> None:
        """Its text."""
        answered = summary.answered(body, self._counter)
        self._planned[self._planned.index(summary)] = answered
        self._tally.add(answered.tokens - summary.tokens)

    def withdraw(self, summary: PlannedSummary, keep: Collection[str]) -> tuple[Unit, ...]:
        """
        Its units stand there again, those with one of the items to ``keep`` for good: a plugin wants these.
        Returns the others, which may have a summary of their own.
        """
        rest = []
        for unit in summary.units:
            kept = not {item.id for item in unit.items}.isdisjoint(keep)
            self._tally.put_back(unit, keep=kept)
            if kept:
                self.preserved.update((item.id, GCPolicy.PRESERVABLE) for item in unit.items)
            else:
                rest.append(unit)
        self._tally.vanished.difference_update(self._view.position(unit.number) for unit in summary.units)
        self._tally.add(-summary.tokens)
        self._planned.remove(summary)
        return tuple(rest)

    def freed(self, removal: GCRemovalItem) -> int:
        """Tokens that the summary of this very proposal frees; 0 when nothing is left of it."""
        return sum(summary.tokens_freed for summary in self._planned if summary.removal is removal)

    def edits(self) -> dict[str, NewSummary]:
        """The final texts, by the items at whose places they stand."""
        return {summary.stands_at: summary.edit() for summary in self._planned}

    def ids(self) -> frozenset[str]:
        """Ids of the items that they stand for."""
        return frozenset(item.id for summary in self._planned for unit in summary.units for item in unit.items)


def form_of(removal: GCRemovalItem) -> SummaryForm:
    """The form that a proposal to summarise asks for."""
    assert isinstance(removal.action, Summarize)  # noqa: S101 - the planner asks for nothing else
    return removal.action.form


def framed(reference: Reference, label: str, form: SummaryForm, body: str) -> str:
    """A summary as the model reads it: what it is, its text, and how the originals come back."""
    if form is SummaryForm.FOLD:
        return reference.fold_text(body)
    opening, closing = reference.summary_frame(label, boundary=form is SummaryForm.COMPACTION)
    return f"{opening}\n{body}\n{closing}"


def summary_tokens(text: str, counter: TokenCounter) -> int:
    """Tokens of a summary with this text, its message included."""
    return part_tokens(Part(kind=ItemKind.SUMMARY, place=(), text=text), counter) + counter.per_message


def allowed_tokens(action: Summarize, tokens: int) -> int:
    """Tokens that a summary of so many tokens may have, its frame and message included."""
    return min(action.max_tokens, int(action.keep * tokens))


def planned(
    removal: GCRemovalItem,
    units: Sequence[Unit],
    reference: Reference,
    label: str,
    counter: TokenCounter,
    *,
    tokens: int,
) -> PlannedSummary | None:
    """The summary that these units get, when the share of their ``tokens`` leaves room for a text; else None."""
    action = removal.action
    assert isinstance(action, Summarize)  # noqa: S101 - the planner asks for nothing else
    allowed = allowed_tokens(action, tokens)
    form = action.form
    frame = summary_tokens(framed(reference, label, form, ""), counter) + _SEAM
    if allowed - frame < (LEAST_FOLD if form is SummaryForm.FOLD else LEAST_BODY):
        return None
    return PlannedSummary(
        removal=attrs.evolve(
            removal,
            action=attrs.evolve(action, units=tuple(unit.number for unit in units)),
            items=tuple(item.id for unit in units for item in unit.items),
        ),
        units=tuple(units),
        label=label,
        reference=reference,
        body_tokens=allowed - frame,
        tokens=allowed,
    )


def request_for(
    summary: PlannedSummary, read: ReadOriginal, shown: Collection[str], focus: str, counter: TokenCounter
) -> SummaryRequest:
    """What is asked: originals alone, and the names that nothing else in the window will show."""
    originals = tuple(_original(item, read) for unit in summary.units for item in unit.items)
    names = dict.fromkeys(
        name for item in originals for span in item.scan.spans for name in span.names if name not in shown
    )
    return SummaryRequest(
        items=originals,
        max_tokens=summary.body_tokens,
        names=tuple(names),
        focus=focus,
        form=summary.form,
        count=counter.count,
    )


def _original(item: Item, read: ReadOriginal) -> Item:
    if item.form is Form.WHOLE:
        return item
    text = read(item)
    return attrs.evolve(item, text=text, form=Form.WHOLE, tokens=item.original_tokens, reference=None, scan=scan(text))
