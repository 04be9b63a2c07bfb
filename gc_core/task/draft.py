"""A state during extraction: its entries indexed for lookup; frozen at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import attrs

from gc_core.task import values
from gc_core.task.changes import Effect, change_by
from gc_core.task.strength import strength_of
from gc_core.task.values import (
    Constraint,
    Decision,
    EntityState,
    ErrorPattern,
    OpenQuestion,
    Reason,
    Relation,
    Resolution,
    StateCursor,
    SubGoal,
    TaskState,
    ToolStats,
    WaitingCall,
)
from gc_core.values.items import number_of
from gc_core.values.patterns import regex

_HUNDRED = 100
_FEW_LETTERS = 12
_CHANGES = frozenset({"edited", "created", "deleted"})

_CHANGING = regex(
    r"(?:add|book|cancel|change|create|delete|exchange|insert|modify|pay|refund|remove|return|send|set|transfer|update)\b"
)

Demand = Constraint | Decision
D = TypeVar("D", Constraint, Decision)
E = TypeVar("E")


@attrs.define
class Draft:
    """
    The working state of an extraction: loaded once, changed item by item in O(1) except for changes of demands, frozen
    once.

    Lists have the oldest entry first. Changed demands are sought among what is in effect, which is bounded.
    """

    constraints: list[Constraint]
    decisions: list[Decision]
    sub_goals: list[SubGoal]
    questions: list[OpenQuestion]
    errors: dict[tuple[str, str], ErrorPattern]
    entities: dict[str, EntityState]
    tools: dict[str, ToolStats]
    waiting: dict[str, WaitingCall]
    left_out: dict[str, int]
    cursor: StateCursor
    newest: str

    @classmethod
    def of(cls, state: TaskState) -> Draft:
        """Return a draft that starts from a state."""
        return cls(
            constraints=list(state.constraints),
            decisions=list(state.decisions_made),
            sub_goals=list(state.sub_goals),
            questions=list(state.open_questions),
            errors={error_key(error): error for error in state.error_patterns},
            entities=dict(state.entities),
            tools=dict(state.tool_usage_stats),
            waiting={call.item: call for call in state.cursor.waiting},
            left_out=dict(state.left_out),
            cursor=state.cursor,
            newest=state.cursor.newest,
        )

    def frozen(self, objective: str) -> TaskState:
        """Return the resulting state, within its bounds."""
        waiting = tuple(self.waiting.values())[-values.MOST_WAITING :]
        constraints = self._within("constraint", self.constraints, values.MOST_CONSTRAINTS)
        decisions = self._within("decision", self.decisions, values.MOST_DECISIONS)
        sub_goals = self._within("sub_goal", self.sub_goals, values.MOST_SUB_GOALS)
        return TaskState(
            objective=objective,
            sub_goals=sub_goals,
            decisions_made=decisions,
            entities={entity.name: entity for entity in self._entities()},
            constraints=constraints,
            open_questions=self._within("question", self.questions, values.MOST_QUESTIONS),
            error_patterns=self._errors(),
            tool_usage_stats=self._tools(),
            left_out=self.left_out,
            cursor=attrs.evolve(self.cursor, waiting=waiting, newest=self.newest),
        )

    # -- demands and decisions -----------------------------------------------------------------------------------

    def hear(self, new: Constraint, *, is_rule: bool) -> None:
        """Take in what a user states: it supersedes what it changes, and applies if it is a rule or replaces one."""
        known = _said_before(self.constraints, new) if is_rule else None
        if known is not None:
            self.constraints[known] = _again(self.constraints[known], new)
            return
        effect, also = self._change(new, [*self.constraints, *self.decisions])
        if is_rule or effect is Effect.REPLACES:
            self.constraints.append(attrs.evolve(new, also=also))

    def decide(self, new: Decision) -> None:
        """Add a decision of the assistant: it supersedes decisions that it changes, and no demand of the user."""
        known = _said_before(self.decisions, new)
        if known is not None:
            self.decisions[known] = _again(self.decisions[known], new)
            return
        _, also = self._change(new, [decision for decision in self.decisions if decision.by == new.by])
        self.decisions.append(attrs.evolve(new, also=also))

    def _change(self, new: Demand, entries: Sequence[Demand]) -> tuple[Effect, tuple[str, ...]]:
        """
        Mark the entry that is changed as superseded; return how it is changed, and its item.

        A message replaces nothing that it says itself, but may withdraw it.
        """
        known = sorted((each for each in entries if each.in_force), key=lambda each: number_of(each.item))
        last = next((place for place, each in enumerate(known) if each.turn >= new.turn - 1), len(known))
        change = change_by(new.text, [each.text for each in known], last)
        if change is None or (known[change.place].item == new.item and change.effect is Effect.REPLACES):
            return Effect.NONE, ()
        entry = known[change.place]
        _mark(self.constraints, entry, new.item)
        _mark(self.decisions, entry, new.item)
        return change.effect, (entry.item,)

    # -- entities ------------------------------------------------------------------------------------------------

    def touch(self, name: str, kind: str, state: str, item: str, turn: int) -> None:
        """Note that something was done to an entity."""
        known = self.entities.pop(name, None)  # the newest is last
        if known is None:
            known = EntityState(name=name, kind=kind, state=state, item=item, turn=turn, first=item, times=0)
        self.entities[name] = attrs.evolve(
            known,
            state=state,
            item=item,
            turn=turn,
            times=known.times + 1,
            changed=item if state in _CHANGES or _CHANGING.match(state) else known.changed,
        )

    def mark(self, name: str, state: str, item: str, turn: int) -> None:
        """Note the outcome of an action on an entity."""
        known = self.entities.get(name)
        if known is not None:
            self.entities[name] = attrs.evolve(known, state=state, item=item, turn=turn)

    def relate(self, name: str, kind: str, target: str, item: str) -> None:
        """Relate a known entity to another one; a known relation keeps its first item."""
        known = self.entities.get(name)
        if known is None or any(each.kind == kind and each.target == target for each in known.relations):
            return
        relations = (*known.relations, Relation(kind=kind, target=target, item=item))[-values.MOST_RELATIONS :]
        self.entities[name] = attrs.evolve(known, relations=relations)

    # -- errors ----------------------------------------------------------------------------------------------------

    def fail(self, new: ErrorPattern) -> None:
        """Note that a call failed; the same failure again is one entry, which is unresolved again."""
        key = error_key(new)
        known = self.errors.pop(key, None)  # the newest is last
        if known is not None:
            before = known.lessons[-values.MOST_LESSONS :]
            new = attrs.evolve(new, times=known.times + 1, before=before)
        self.errors[key] = new

    def explain(self, key: tuple[str, str], lesson: Resolution) -> None:
        """Keep what was said of a failure that is not overcome."""
        known = self.errors[key]
        self.errors[key] = attrs.evolve(known, before=(*known.before, lesson)[-values.MOST_LESSONS :])

    def resolve(self, key: tuple[str, str], text: str, item: str, itself: Reason | None) -> None:
        """
        Note that a failure was overcome: by the actions since, otherwise by the call ``itself``, if that was another
        one. What was said of it since is its explanation.
        """
        known, done = self.errors[key], self.cursor.done
        if done is None or number_of(done.item) <= number_of(known.item):
            done = itself
        said = next((one for one in known.before[-1:] if number_of(one.item) > number_of(known.item)), None)
        self.errors[key] = attrs.evolve(
            known,
            before=known.before[:-1] if said else known.before,
            resolution=Resolution(
                text=said.text if said else text,
                item=said.item if said else item,
                after=done.text if done else "",
                after_item=done.item if done else "",
                said=said is not None,
            ),
        )

    # -- inside ----------------------------------------------------------------------------------------------------

    def _within(self, kind: str, entries: list[E], most: int) -> tuple[E, ...]:
        """Return as many as fit: superseded ones leave first, then the oldest and least referenced."""
        over = len(entries) - most
        if over <= 0:
            return tuple(entries)
        order = sorted(range(len(entries)), key=lambda place: _worth(entries[place], place))
        leaving = frozenset(order[:over])
        self._leave(kind, over)
        return tuple(entry for place, entry in enumerate(entries) if place not in leaving)

    def _errors(self) -> tuple[ErrorPattern, ...]:
        return self._within("error", list(self.errors.values()), values.MOST_ERRORS)

    def _entities(self) -> Iterable[EntityState]:
        return self._within("entity", list(self.entities.values()), values.MOST_ENTITIES)

    def _tools(self) -> dict[str, ToolStats]:
        over = len(self.tools) - values.MOST_TOOLS
        if over <= 0:
            return self.tools
        self._leave("tool", over)
        kept = sorted(self.tools, key=lambda name: -self.tools[name].calls)[: values.MOST_TOOLS]
        return {name: self.tools[name] for name in self.tools if name in set(kept)}

    def _leave(self, kind: str, number: int) -> None:
        self.left_out[kind] = self.left_out.get(kind, 0) + number


def error_key(error: ErrorPattern) -> tuple[str, str]:
    """
    Return the identity of an error: its tool and its words, and if these are few its arguments;
    numbers do not count.
    """
    text = error.text if len(error.text) > _FEW_LETTERS else f"{error.text} {error.asked}"
    return error.tool, "".join("0" if letter.isdigit() else letter for letter in text)


def with_reasons(decision: Decision, reasons: Iterable[Reason]) -> Decision:
    """Return the decision with its chain of reasons, each once, without the decision itself."""
    chain = dict.fromkeys(reason for reason in reasons if reason.text != decision.text)
    return attrs.evolve(decision, reasons=tuple(chain)[: values.MOST_REASONS])


def _said_before(entries: list[D], new: D) -> int | None:
    """Return the place of an entry in effect that says the same."""
    plain = new.text.casefold().rstrip(".! ")
    for place in range(len(entries) - 1, -1, -1):
        if entries[place].in_force and entries[place].text.casefold().rstrip(".! ") == plain:
            return place
    return None


def _again(known: D, new: D) -> D:
    return attrs.evolve(known, times=known.times + 1, last=new.item)


def _mark(entries: list[D], superseded: Demand, item: str) -> None:
    for place, entry in enumerate(entries):
        if entry is superseded:
            entries[place] = attrs.evolve(entry, superseded_by=item)


def _worth(entry: object, place: int) -> tuple[float, ...]:
    """Return the sort key; the least valuable comes first."""
    if isinstance(entry, ErrorPattern):
        return bool(entry.lessons), entry.in_force, min(entry.times, 3), place
    times = entry.times if isinstance(entry, Constraint | Decision | EntityState) else 1
    strength = -strength_of(entry) if isinstance(entry, Constraint | Decision) else 0
    return getattr(entry, "in_force", True), strength, min(times, 3), place
