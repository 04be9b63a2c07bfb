"""
The baselines for strategies: they ignore protection, leave no references, and lose content permanently.

They keep whole units, so that their requests are valid: always system texts, tool schemas, the original request and the
newest exchange, and of the rest what each one chooses. They collect before a call, at the configuration's threshold (80
%) down to its target (60 %). Vendors' own behaviour at fixed sizes is simulated in ``vendor_modes``.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import attrs

from ctxgc.evaluation.identifiers import identifiers
from ctxgc.evaluation.reuse import Uses
from gc_core.providers import format_named
from gc_core.providers.contract import TokenCounter
from gc_core.providers.token_counting import counter_for, part_tokens
from gc_core.values.config import GCConfig
from gc_core.values.items import Form, Item, ItemKind, Part, Unit
from gc_core.values.layers import SystemPart
from gc_core.values.messages import Payload, Request
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import BUILT_IN_SOURCES
from gc_core.window.budget import InstructionBudget
from gc_core.window.context import Context, Edits, NewSummary, NewText
from gc_core.window.intake import Intake
from gc_core.window.stubs import reference_over, reference_to
from gc_core.window.view import Protection, WindowView, Zone

MASK = "[tool result left out]"
"""The text with which mask-then-drop replaces a tool result."""


@attrs.frozen(kw_only=True)
class Fill:
    """
    The fill of the window before a call.

    Attributes:
        tokens: Tokens of the current request.
        masked: Tokens that its masks have saved.
        percent: Percent of the window that the request takes.
        threshold_percent: The configured threshold.

    """

    tokens: int
    masked: int
    percent: float
    threshold_percent: float


@attrs.frozen(kw_only=True)
class Choice:
    """
    The content from which a baseline may choose when the window is full.

    Attributes:
        free: The units that may go, oldest first.
        held: The units that stay.
        excess: Tokens that have to go.
        place: The number of messages so far; those from here on are the future.
        uses: The identifiers that the session's messages use; only the oracle may read it.
        mask: Returns the text that replaces a tool result.
        summary: Returns a text as a summary that replaces units, in its frame.
        count: Returns the tokens of a text.

    """

    free: tuple[Unit, ...]
    held: tuple[Unit, ...]
    excess: int
    place: int
    uses: Uses
    mask: Callable[[Item], NewText]
    summary: Callable[[Sequence[Unit], str], NewSummary]
    count: Callable[[str], int]

    @property
    def room(self) -> int:
        """Tokens of free units that may stay."""
        return sum(unit.tokens for unit in self.free) - self.excess


class Baseline(Protocol):
    """Chooses what leaves a full window; only the oracle knows the future."""

    @property
    def name(self) -> str:
        """The name in tables."""

    def due(self, fill: Fill) -> bool:
        """Return whether something should leave before this call."""

    def edits(self, choice: Choice) -> Edits:
        """Return what leaves; units leave as a whole."""


class AtThreshold:
    """A baseline that collects when the strategies do: at the configuration's threshold."""

    def due(self, fill: Fill) -> bool:
        """Return True from the threshold on."""
        return fill.percent >= fill.threshold_percent


@attrs.frozen(kw_only=True)
class NoCollection:
    """Nothing ever leaves; calls that are too large are counted as such."""

    name: str = "no collection"

    def due(self, fill: Fill) -> bool:  # noqa: ARG002 - the contract
        """Return False."""
        return False

    def edits(self, choice: Choice) -> Edits:  # noqa: ARG002 - the contract
        """Return no edits."""
        return Edits()


@attrs.frozen(kw_only=True)
class KeepLast(AtThreshold):
    """The newest units that fit stay: the longest end of the session."""

    name: str = "keep last"

    def edits(self, choice: Choice) -> Edits:
        """Return the oldest units, as many as necessary."""
        return Edits(dropped=_items(_as_many(choice.free, choice.excess)))


@attrs.frozen(kw_only=True)
class MaskThenDrop(AtThreshold):
    """The oldest tool results become one line each; when that is not enough, the oldest units go."""

    name: str = "mask then drop"

    def edits(self, choice: Choice) -> Edits:
        """Return masks, oldest first, and then units."""
        texts: dict[str, NewText] = {}
        saved: dict[int, int] = {}
        for unit, item in _whole_results(choice.free):
            if sum(saved.values()) >= choice.excess:
                break
            text = choice.mask(item)
            if text.tokens < item.tokens:
                texts[item.id] = text
                saved[unit.number] = saved.get(unit.number, 0) + item.tokens - text.tokens
        smaller = [attrs.evolve(unit, tokens=unit.tokens - saved.get(unit.number, 0)) for unit in choice.free]
        dropped = _items(_as_many(smaller, choice.excess - sum(saved.values())))
        return Edits(dropped=dropped, texts={key: text for key, text in texts.items() if key not in dropped})


@attrs.frozen(kw_only=True)
class RandomUnits(AtThreshold):
    """Random units leave, as many as necessary: the value of a choice is its distance to this."""

    name: str = "random units"
    seed: int = 0

    def edits(self, choice: Choice) -> Edits:
        """Return random units, the same in every run."""
        lot = random.Random(f"{self.seed} {choice.place}")  # noqa: S311 - no secret hangs on it
        return Edits(dropped=_items(_as_many(lot.sample(choice.free, len(choice.free)), choice.excess)))


@attrs.frozen(kw_only=True)
class Oracle(AtThreshold):
    """
    Knows the future and is greedy: keeps the units with the most identifiers, per token, that an assistant message will
    use from afar before anything else shows them again; then the newest.

    It is not an upper bound. It keeps units whole, so a collector that keeps lines can hold more of what is used in the
    same room; greed is not the optimum even for units; and it ignores the cost of a break.
    """

    name: str = "oracle (greedy)"

    def edits(self, choice: Choice) -> Edits:
        """Return all but the best units that fit."""
        needed = set(choice.uses.wanted(choice.place)) - {name for unit in choice.held for name in _names(unit)}
        kept: set[int] = set()
        room = choice.room
        for unit in (*_greedily(choice.free, needed, room), *reversed(choice.free)):
            if unit.number not in kept and unit.tokens <= room:
                kept.add(unit.number)
                room -= unit.tokens
        return Edits(dropped=_items([unit for unit in choice.free if unit.number not in kept]))


BASELINES: tuple[Baseline, ...] = (NoCollection(), KeepLast(), MaskThenDrop(), RandomUnits(), Oracle())
"""All of them, as tables list them."""


class BaselineSession:
    """
    A session kept by a baseline, with the calls of a ``GCSession`` that a replay needs.

    Invalid messages are repaired as a session repairs them. Nothing is logged, so nothing can be recalled.

    Args:
        baseline: Chooses what leaves.
        config: The window and its percentages.
        format: Name of the messages' format.
        model: The model whose tokens are counted.
        uses: The identifiers that the messages use, for the oracle.

    """

    def __init__(
        self,
        baseline: Baseline,
        *,
        config: GCConfig,
        format: str,  # noqa: A002 - the word users know it by
        model: str | None,
        uses: Uses,
    ) -> None:
        self._baseline = baseline
        self._config = config
        self._uses = uses
        self._seen = 0
        self._masked = 0
        self._counter: TokenCounter = counter_for(model, format)
        self._intake = Intake(format=format_named(format), counter=self._counter, classify=lambda _: None)
        budget = InstructionBudget(
            context_limit=config.context_limit,
            output_reservation=config.output_reservation,
            overhead=self._counter.per_request,
            sources=BUILT_IN_SOURCES,
        )
        self._context = Context(intake=self._intake, budget=budget)

    def system(self, **parts: str) -> None:
        """Set the system texts."""
        locked = GCPolicy.LOCKED
        self._context.set_system(SystemPart(name=name, text=text, policy=locked) for name, text in parts.items())

    def tools(self, schemas: Sequence[Payload]) -> None:
        """Set the tool schemas."""
        self._context.set_tools(schemas, frozenset())

    def append(self, message: Payload) -> None:
        """Append a message that is not the model's."""
        self._context.apply(self._intake.take(message, self._context.cursor))
        self._seen += 1

    def post_turn(self, reply: Payload) -> None:
        """Append the model's reply."""
        self.append(reply)

    def pre_send(self) -> Request:
        """Return the request; it may exceed the window if what every baseline keeps does."""
        self._context.apply(self._intake.close(self._context.cursor))
        limit, tokens = self._config.usable, self._context.budget.total
        fill = Fill(
            tokens=tokens,
            masked=self._masked,
            percent=100 * tokens / limit,
            threshold_percent=self._config.threshold_percent,
        )
        if self._baseline.due(fill):
            self._collect(tokens - int(limit * self._config.target_percent / 100))
        return self._context.render()

    def _collect(self, excess: int) -> None:
        view = WindowView(self._context, Protection(recent_turns=0, recent_steps=0))
        zones = list(zip(view.units, view.zones, strict=True))
        choice = Choice(
            free=tuple(unit for unit, zone in zones if zone is not Zone.HELD),
            held=tuple(unit for unit, zone in zones if zone is Zone.HELD),
            excess=excess,
            place=self._seen,
            uses=self._uses,
            mask=self._mask,
            summary=self._summary,
            count=self._counter.count,
        )
        edits = self._baseline.edits(choice)
        if edits:
            self._context = self._context.edited(edits)
            masked = (item for item in self._context.items() if item.form is Form.STUB)
            self._masked = sum(item.original_tokens - item.tokens for item in masked)

    def _mask(self, item: Item) -> NewText:
        tokens = part_tokens(Part(kind=item.kind, place=(), text=MASK), self._counter)
        return NewText(text=MASK, tokens=tokens, reference=reference_to(item))

    def _summary(self, units: Sequence[Unit], text: str) -> NewSummary:
        reference = reference_over([item for unit in units for item in unit.items])
        return NewSummary(number=self._context.cursor.summaries + 1, text=text, reference=reference)


# -- inside ----------------------------------------------------------------------------------------------------------


def _as_many(units: Sequence[Unit], excess: int) -> Iterator[Unit]:
    """Yield units in this order until this many tokens are removed."""
    for unit in units:
        if excess <= 0:
            return
        excess -= unit.tokens
        yield unit


def _items(units: Iterator[Unit] | Sequence[Unit]) -> frozenset[str]:
    return frozenset(item.id for unit in units for item in unit.items)


def _whole_results(units: Sequence[Unit]) -> Iterator[tuple[Unit, Item]]:
    for unit in units:
        for item in unit.items:
            if item.kind is ItemKind.TOOL_RESULT and item.form is Form.WHOLE:
                yield unit, item


def _greedily(units: Sequence[Unit], needed: set[str], room: int) -> Iterator[Unit]:
    """
    Units by how many of the needed identifiers each token brings, those that a better unit brings already left aside.

    The value of a unit only shrinks while others are taken, so it is recomputed only when it comes to the top.
    """
    brings: Mapping[int, frozenset[str]] = {place: _names(unit) & needed for place, unit in enumerate(units)}
    heap = [(-len(names) / units[place].tokens, -place) for place, names in brings.items() if names]
    heapq.heapify(heap)
    while heap:
        worth, back = heapq.heappop(heap)
        unit, fresh = units[-back], len(brings[-back] & needed)
        if unit.tokens > room or not fresh:
            continue
        if -fresh / unit.tokens > worth:
            heapq.heappush(heap, (-fresh / unit.tokens, back))
            continue
        needed -= brings[-back]
        room -= unit.tokens
        yield unit


def _names(unit: Unit) -> frozenset[str]:
    return frozenset(name for item in unit.items for text in (item.name, item.text) for name in identifiers(text))
