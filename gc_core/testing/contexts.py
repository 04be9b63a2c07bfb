"""Generated windows, goals for them, and whole sessions: the same for the same seed."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from gc_core.plugins.manager import Plugins
from gc_core.session.session import GCSession
from gc_core.testing.conversations import Conversation, Shape, make_conversation
from gc_core.testing.windows import WindowCopy, all_units
from gc_core.values.config import GCConfig
from gc_core.values.items import Item, Unit, number_of
from gc_core.values.protocols import ContextView, GCStrategy
from gc_core.values.removals import GCRemovalItem, Stub, Summarize
from gc_core.values.results import GCTriggerReason, Goal
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.context import Context
from gc_core.window.view import WindowView

YOUNG = "young"
"""The name of the goal that asks only for young content."""

_WIDE = 1_000_000
"""The tokens of a window in which nothing must be collected while a conversation is played."""


@attrs.frozen
class Everything:
    """Proposes everything that may go, oldest first: what it reaches can be reached."""

    def collect(self, context: ContextView, goal: Goal) -> Iterator[GCRemovalItem]:  # noqa: ARG002 - the contract
        """Propose every unit by itself."""
        for unit in context.collectable:
            yield GCRemovalItem.drop(unit, reason="it may go")


@attrs.frozen
class Some:
    """Stubs some results and drops some units, as an earlier collection would have."""

    def collect(self, context: ContextView, goal: Goal) -> Iterator[GCRemovalItem]:  # noqa: ARG002 - the contract
        """Propose every third of both."""
        for item in context.stubbable[1::3]:
            yield GCRemovalItem.stub(item, keep=0.3, reason="every third")
        for unit in context.collectable[:12:3]:
            yield GCRemovalItem.drop(unit, reason="every third")


def make_session(
    seed: int,
    strategy: GCStrategy | str = "none",
    *,
    shape: Shape | None = None,
    format: str | None = None,  # noqa: A002 - the session's own word
    plugins: Plugins | None = None,
    **config: Any,
) -> GCSession:
    """
    Return a session after the conversation of this seed; keywords go to its configuration.

    Unless ``context_limit`` or ``auto_trigger`` say otherwise nothing has been collected in it, except in a COLLECTED
    one. A strategy's name is looked up among the installed plugins.
    """
    conversation = make_conversation(seed, shape=shape, format=format)
    session = begin(conversation, strategy, plugins=plugins, **{"context_limit": _WIDE, "auto_trigger": False} | config)
    return conversation.play(session)


def begin(
    conversation: Conversation, strategy: GCStrategy | str, *, plugins: Plugins | None = None, **config: Any
) -> GCSession:
    """Return a session for a conversation, before anything was said."""
    if plugins is None:
        plugins = Plugins.discover() if isinstance(strategy, str) and strategy != "none" else Plugins()
    settings = GCConfig(**{"output_reservation": 0, **config})
    return GCSession(settings, format=conversation.format, strategy=strategy, plugins=plugins)


@attrs.frozen(kw_only=True)
class Aims:
    """
    Goals of all kinds for one window.

    Attributes:
        none: The window is at the target.
        moderate: Less than half of what may go has to go.
        deep: Most of what may go has to go.
        pressure: Everything that may go has to go and, if PRESERVABLE content may, some of that.
        impossible: More has to go than there is.

    """

    none: Goal
    moderate: Goal
    deep: Goal
    pressure: Goal
    impossible: Goal

    def named(self) -> tuple[tuple[str, Goal], ...]:
        """Return each goal with its name."""
        return tuple((field.name, getattr(self, field.name)) for field in attrs.fields(type(self)))


def make_goals(context: ContextView) -> Aims:
    """Return goals for a window; create it with ``pressure`` for goals that allow PRESERVABLE content to go."""
    tokens = context.tokens
    may_go = sum(unit.tokens for unit in context.collectable)
    more = sum(unit.tokens for unit in context.preservable)
    pressed = tokens - may_go - more // 2 if context.preservable else None

    def goal(target: int, reason: GCTriggerReason) -> Goal:
        return Goal(target_tokens=max(0, target), reason=reason, pressure_tokens=pressed)

    return Aims(
        none=goal(tokens, GCTriggerReason.MANUAL),
        moderate=goal(tokens - 4 * may_go // 10, GCTriggerReason.THRESHOLD),
        deep=goal(tokens - 8 * may_go // 10, GCTriggerReason.CONTEXT_LIMIT),
        pressure=goal(tokens - may_go - more, GCTriggerReason.CONTEXT_LIMIT),
        impossible=goal(0, GCTriggerReason.CONTINUOUS),
    )


@attrs.frozen(kw_only=True, eq=False)
class Made:
    """A generated session, kept open because its log may be read; it is never changed."""

    conversation: Conversation
    session: GCSession = attrs.field(repr=False)

    @property
    def context(self) -> Context:
        """Its window."""
        return self.session.port.context

    def view(self, *, pressure: bool, young_after: int = 0) -> WindowView:
        """Return its window as a strategy sees it."""
        return _view(self, pressure, young_after)

    def collected(self, strategy: GCStrategy, goal: Goal, context: Context | None = None) -> CollectionOutcome:
        """Return gc-core's result for the strategy's proposals, for this window or a later one."""
        collector = attrs.evolve(self.session.port.collector, plugins=Plugins(), strategies=(("strategy", strategy),))
        return collector.collect(context or self.context, goal, self.session.port.protection)


@attrs.frozen(kw_only=True)
class Case:
    """
    A window and a goal: one question to a strategy.

    Attributes:
        aim: Name of the goal among ``Aims``.
        context: The window.
        goal: The goal.
        made: The session after it.

    """

    aim: str
    context: WindowCopy
    goal: Goal
    made: Made = attrs.field(repr=False)

    def __str__(self) -> str:
        """Return its description for messages: enough to generate it again."""
        talk = self.made.conversation
        return f"seed {talk.seed} ({talk.shape.value}, {talk.format}), goal {self.aim} of {self.goal.target_tokens:,}"

    def again(self, *, salt: int = 0) -> Case:
        """Return the same question with another copy of the window."""
        return attrs.evolve(self, context=self.context.again(salt=salt), goal=attrs.evolve(self.goal))

    def units(self, removal: GCRemovalItem) -> tuple[Unit, ...]:
        """Return the units of this window that a removal names."""
        if isinstance(removal.action, Stub):
            return ()
        known = all_units(self.context)
        return tuple(known[number] for number in removal.action.units if number in known)

    def item(self, removal: GCRemovalItem) -> Item | None:
        """Return the item of this window that a stub is to replace."""
        if not isinstance(removal.action, Stub):
            return None
        return _by_id(self.context).get(str(removal.action.item))

    def touched(self, removal: GCRemovalItem) -> tuple[Unit, ...]:
        """Return the units that a removal names, directly or by one of their items."""
        item = self.item(removal)
        return self.units(removal) if item is None else tuple(unit for unit in self.context.units if item in unit.items)

    def items(self, removal: GCRemovalItem) -> tuple[Item, ...]:
        """Return the items of this window that a removal touches."""
        one = self.item(removal)
        return tuple(item for unit in self.units(removal) for item in unit.items) if one is None else (one,)

    def collected(self, strategy: GCStrategy) -> CollectionOutcome:
        """Return gc-core's result for the strategy's proposals."""
        return self.made.collected(strategy, self.goal)


@functools.lru_cache(maxsize=64)
def _by_id(context: WindowCopy) -> Mapping[str, Item]:
    return {str(item.id): item for unit in context.units for item in unit.items}


def make_context(
    seed: int,
    *,
    shape: Shape | None = None,
    format: str | None = None,  # noqa: A002 - the session's own word
    pressure: bool = False,
    can_summarize: bool = False,
) -> WindowCopy:
    """
    Return a window as a strategy sees it, after the conversation of this seed.

    With ``pressure`` it shows PRESERVABLE content that may go, as for a goal that allows it.
    """
    return WindowCopy.of(made(seed, shape, format).view(pressure=pressure), can_summarize=can_summarize)


def make_cases(seed: int, *, shape: Shape | None = None, aims: tuple[str, ...] = ()) -> Iterator[Case]:
    """
    Yield every goal for the window of a seed, or the named ones; odd seeds have summaries available.

    ``"young"`` is one more, for strategies that declare ``Young``: the newer half of what a stub may replace.
    """
    found = made(seed, shape, None)
    for aim in aims or tuple(field.name for field in attrs.fields(Aims)):
        after = _middle(found) if aim == YOUNG else 0
        view = found.view(pressure=aim == "pressure", young_after=after)
        copy = WindowCopy.of(view, can_summarize=seed % 2 == 1)
        goal = _young(after) if aim == YOUNG else getattr(make_goals(copy), aim)
        yield Case(aim=aim, context=copy, goal=goal, made=found)


def _young(after: int) -> Goal:
    return Goal(target_tokens=0, reason=GCTriggerReason.YOUNG, young_after=after)


def _middle(found: Made) -> int:
    """Return the number of the item in the middle of what a stub may replace."""
    items = found.view(pressure=False).stubbable
    return number_of(items[len(items) // 2].id) if items else 0


@functools.lru_cache(maxsize=64)
def made(seed: int, shape: Shape | None, format: str | None) -> Made:  # noqa: A002 - the session's own word
    """Return the session of a seed, generated once."""
    conversation = make_conversation(seed, shape=shape, format=format)
    session = begin(conversation, Some(), context_limit=_WIDE, auto_trigger=False)
    half = len(conversation.messages) // 2 if conversation.shape is Shape.COLLECTED else -1
    conversation.play(session, lambda place: session.collect_now(target_percent=0) if place == half else None)
    return Made(conversation=conversation, session=session)


@functools.lru_cache(maxsize=128)
def _view(found: Made, pressure: bool, young_after: int) -> WindowView:
    """Generated once, because computing a view's liveness costs as much as playing the conversation."""
    session = found.session
    return WindowView(
        found.context,
        session.port.protection,
        pressure=pressure,
        young_after=young_after,
        objective=session.objective,
        scores=session.port.scoring,
        search=session.port.search_cold,
    )


def is_summary(removal: GCRemovalItem) -> bool:
    """Return whether a removal requests a summary."""
    return isinstance(removal.action, Summarize)
