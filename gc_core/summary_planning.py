"""Summaries inside a plan: how many units one takes, what it may cost, what is asked for it, and its final text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import attrs

from gc_core.actions import GCRemovalItem, Summarize
from gc_core.context import NewSummary
from gc_core.items import Form, Item, ItemKind, Part, Unit
from gc_core.protocols import TokenCounter
from gc_core.references import Reference
from gc_core.scan import scan
from gc_core.summary import SummaryRequest
from gc_core.tokens import part_tokens

LEAST_BODY = 40
"""Tokens of text below which a summary would say next to nothing: a trace costs less."""

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

    def _text(self, body: str) -> str:
        opening, closing = self.reference.summary_frame(self.label)
        return f"{opening}\n{body.strip()}\n{closing}"


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
    frame = summary_tokens("\n\n".join(reference.summary_frame(label)), counter) + _SEAM
    if allowed - frame < LEAST_BODY:
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
        items=originals, max_tokens=summary.body_tokens, names=tuple(names), focus=focus, count=counter.count
    )


def _original(item: Item, read: ReadOriginal) -> Item:
    if item.form is Form.WHOLE:
        return item
    text = read(item)
    return attrs.evolve(item, text=text, form=Form.WHOLE, tokens=item.original_tokens, reference=None, scan=scan(text))
