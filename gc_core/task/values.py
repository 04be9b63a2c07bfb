"""What is known of the task at a moment, as values: each entry names the item that tells it."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from gc_core.errors import StateError
from gc_core.values.items import number_of
from gc_core.values.json_values import read_json
from gc_core.values.patterns import regex

if TYPE_CHECKING:
    import cattrs

MOST_ENTITIES: Final = 4_096
"""Files, tests, symbols and services that a state holds; the bounds of a state stand here, all of them."""

MOST_CONSTRAINTS: Final = 2_048
"""Some 25 tokens each, these are more than stand in the window: so the room decides which of them do, and not this."""

MOST_DECISIONS: Final = 512
MOST_ERRORS: Final = 512
MOST_QUESTIONS: Final = 256
MOST_SUB_GOALS: Final = 256
MOST_TOOLS: Final = 256
MOST_RELATIONS: Final = 16
"""Relations that an entity has; the newest stay."""

MOST_REASONS: Final = 6
"""Sentences in a decision's chain of reasons."""

MOST_LESSONS: Final = 64
"""Ways to overcome a failure that are remembered; the newest stay."""

MOST_WAITING: Final = 64
"""Calls without a result that are remembered."""

MOST_WORDS: Final = 32
"""Words of a call's arguments that are remembered, to know its repetition by."""

REQUEST: Final = "request"
"""The kind of an entity that is a user's message: the cause of what was done next."""

PENDING, ACTIVE, COMPLETED, CANCELLED = STATUSES = ("pending", "active", "completed", "cancelled")
"""How far a sub-goal is."""

RELATIONS: Final = ("edits", "tests", "imports", "causes")
"""How an entity has to do with another one."""


_CHOOSES = regex(
    r"\b(?:us(?:e|ing)|prefer|go with|stick (?:with|to)|switch\w* to|instead|rather than|should|keep|let'?s|option"
    r"|want)\b",
    re.IGNORECASE,
)
"""Words of a demand that settles on one of several."""


def _frozen_map(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return values if isinstance(values, MappingProxyType) else MappingProxyType(dict(values))


@attrs.frozen(kw_only=True)
class Reason:
    """A sentence that says why, and the item that holds it."""

    text: str
    item: str


@attrs.frozen(kw_only=True)
class Constraint:
    """
    A demand of the user.

    Attributes:
        text: The sentence, verbatim but for white space.
        item: Id of the item that says so.
        turn: Its turn.
        superseded_by: Id of the item that took it back or demands something else, or "": in effect.
        also: Ids of the items whose entries it replaced.
        times: How often it was said.
        last: Id of the item that said it last.

    """

    kind: ClassVar[str] = "constraint"

    text: str
    item: str
    turn: int
    superseded_by: str = ""
    also: tuple[str, ...] = ()
    times: int = 1
    last: str = ""

    @property
    def in_force(self) -> bool:
        """Nothing later contradicts it."""
        return not self.superseded_by


@attrs.frozen(kw_only=True)
class Decision:
    """
    What user or assistant settled.

    Attributes:
        text: The sentence, verbatim but for white space.
        item: Id of the item that says so.
        turn: Its turn.
        by: ``user`` or ``assistant``.
        reasons: The chain of reasons: sentences around it, and those of the thinking that led to it, oldest first.
        superseded_by: Id of the item that settled it otherwise, or "": in effect.
        also: Ids of the items whose entries it replaced.
        times: How often it was said.
        last: Id of the item that said it last.

    """

    kind: ClassVar[str] = "decision"

    text: str
    item: str
    turn: int
    by: str = "assistant"
    reasons: tuple[Reason, ...] = ()
    superseded_by: str = ""
    also: tuple[str, ...] = ()
    times: int = 1
    last: str = ""

    @property
    def in_force(self) -> bool:
        """Nothing later contradicts it."""
        return not self.superseded_by


@attrs.frozen(kw_only=True)
class SubGoal:
    """
    A step of a plan.

    Attributes:
        text: What is to be done, as the plan says it.
        item: Id of the item that said so first.
        turn: Its turn.
        status: ``pending``, ``active``, ``completed`` or ``cancelled``.
        since: Id of the item that said the status.
        superseded_by: Id of the item with the plan that has it no more, or "".
        number: Its number in its plan, as the plan counts, or "".
        by: Where it comes from: a tool's whole ``list``, one numbered ``task`` of a tool, or a list in a ``text``.

    """

    kind: ClassVar[str] = "sub_goal"

    text: str
    item: str
    turn: int
    status: str = attrs.field(default=PENDING, validator=attrs.validators.in_(STATUSES))
    since: str = ""
    superseded_by: str = ""
    number: str = ""
    by: str = "list"

    @property
    def in_force(self) -> bool:
        """The newest plan has it, and no one gave it up."""
        return not self.superseded_by and self.status != CANCELLED


@attrs.frozen(kw_only=True)
class OpenQuestion:
    """
    A question to the user, or of the user.

    Attributes:
        text: The question, verbatim but for white space.
        item: Id of the item that asks.
        turn: Its turn.
        by: Who asks: ``user`` or ``assistant``.
        answered_by: Id of the item that answered, or "": open.

    """

    kind: ClassVar[str] = "question"

    text: str
    item: str
    turn: int
    by: str = "assistant"
    answered_by: str = ""

    @property
    def in_force(self) -> bool:
        """No one has answered."""
        return not self.answered_by


@attrs.frozen(kw_only=True)
class Relation:
    """How an entity has to do with another one (``edits``, ``tests``, ``imports``, ``causes``), as an item shows."""

    kind: str = attrs.field(validator=attrs.validators.in_(RELATIONS))
    target: str
    item: str


@attrs.frozen(kw_only=True)
class EntityState:
    """
    Something that the task touched.

    Attributes:
        name: Its path, name or address.
        kind: ``file``, ``test``, ``symbol``, ``service``, ``request`` (a turn's request that led to edits),
            ``record`` (what an id names) or ``table``.
        state: What was done to it last: ``read``, ``edited``, ``created``, ``deleted``, ``run``, ``passed``,
            ``failed``, ``called``, ``named``, the words of a tool's name, ...
        item: Id of the item that did so.
        turn: Its turn.
        first: Id of the item that touched it first.
        times: How often it was touched.
        relations: What it has to do with others, oldest first.
        changed: Id of the call that changed it last, or "": it was only looked at.

    """

    name: str
    kind: str
    state: str
    item: str
    turn: int
    first: str = ""
    times: int = 1
    relations: tuple[Relation, ...] = ()
    changed: str = ""


@attrs.frozen(kw_only=True)
class Resolution:
    """
    How an error was overcome.

    Attributes:
        text: The line that shows it, or the sentence by which the assistant told it.
        item: Id of the item that holds that.
        after: What was done between failure and success, or "".
        after_item: Id of the item that did so, or "".
        said: Somebody told how, in words: it is known again when the same failure comes back.

    """

    text: str
    item: str
    after: str = ""
    after_item: str = ""
    said: bool = False


@attrs.frozen(kw_only=True)
class ErrorPattern:
    """
    A failure, once however often it came.

    Attributes:
        text: The line that says it.
        item: Id of the result that failed last.
        turn: Its turn.
        tool: The tool that failed, or "" when somebody only told of it.
        asked: What its call asked for, shortened.
        times: How often it came.
        resolution: What overcame it; None while nothing did.
        before: What was said to have overcome it when it came before, oldest first.
        keys: Names of the call's arguments, and ``words`` of their values: a later success is known by them.
        words: See ``keys``.

    """

    kind: ClassVar[str] = "error"

    text: str
    item: str
    turn: int
    tool: str = ""
    asked: str = ""
    times: int = 1
    resolution: Resolution | None = None
    before: tuple[Resolution, ...] = ()
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def in_force(self) -> bool:
        """Nothing has overcome it."""
        return self.resolution is None

    @property
    def lessons(self) -> tuple[Resolution, ...]:
        """What somebody said of how it was overcome, oldest first."""
        known = self.before if self.resolution is None else (*self.before, self.resolution)
        return tuple(each for each in known if each.said)


@attrs.frozen(kw_only=True)
class ToolStats:
    """How often a tool was called, and how often that failed."""

    calls: int = 0
    failures: int = 0


@attrs.frozen(kw_only=True)
class WaitingCall:
    """A call whose result has not come: what is needed of it then."""

    item: str
    turn: int
    tool: str
    kind: str
    asked: str = ""
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class StateCursor:
    """
    What the next items need to know of those before them, so that it does not matter in how many pieces they come.

    Attributes:
        newest: Id of the newest item that was looked at, or "".
        turn: Its turn.
        unit: Its unit.
        waiting: Calls without a result.
        thoughts: Reasons in the thinking of the unit.
        spoken: Ids of the unit's assistant texts while it has called nothing.
        called: The unit has called a tool.
        request: Id of the user text that began the turn, or "".
        failing: Name of the test that failed last and has not passed since, or "".
        done: What was done last that may overcome an error, and the item that did it.
        tasks: Sub-goals that were made one by one, by tools that number them.

    """

    newest: str = ""
    turn: int = -1
    unit: int = -1
    waiting: tuple[WaitingCall, ...] = ()
    thoughts: tuple[Reason, ...] = ()
    spoken: tuple[str, ...] = ()
    called: bool = False
    request: str = ""
    failing: str = ""
    done: Reason | None = None
    tasks: int = 0


Entry = Constraint | Decision | SubGoal | OpenQuestion | EntityState | ErrorPattern
"""What ``TaskState.query`` answers with."""


@attrs.frozen(kw_only=True)
class TaskState:
    """
    What is known of the task: immutable and bounded; each entry names the item that tells it.

    What a later item contradicts stays, marked with that item, and what replaced it names it. Entries beyond the
    bounds leave, superseded ones first, then the oldest and least referenced; ``left_out`` counts them by kind.

    Attributes:
        objective: What the agent is to reach.
        sub_goals: Steps of its plans.
        decisions_made: What was settled, with the chain of reasons.
        entities: What was touched, by name.
        constraints: What the user demands.
        open_questions: Questions, those answered among them as long as there is room.
        error_patterns: Failures, and what overcame them.
        tool_usage_stats: Calls and failures by tool.
        left_out: Entries that the bounds took, by kind.
        cursor: What the next extraction needs to know.

    """

    objective: str = ""
    sub_goals: tuple[SubGoal, ...] = ()
    decisions_made: tuple[Decision, ...] = ()
    entities: Mapping[str, EntityState] = attrs.field(factory=dict, converter=_frozen_map, repr=False)
    constraints: tuple[Constraint, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    error_patterns: tuple[ErrorPattern, ...] = ()
    tool_usage_stats: Mapping[str, ToolStats] = attrs.field(factory=dict, converter=_frozen_map)
    left_out: Mapping[str, int] = attrs.field(factory=dict, converter=_frozen_map)
    cursor: StateCursor = attrs.field(factory=StateCursor, repr=False)

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, kind by kind, the oldest of a kind first."""
        yield from self.constraints
        yield from self.decisions_made
        yield from self.open_questions
        yield from self.error_patterns
        yield from self.sub_goals
        yield from self.entities.values()

    def query(self, entity: str | None = None, kind: str | None = None, turn: int | None = None) -> tuple[Entry, ...]:
        """
        Return the entries that fit everything that is requested, superseded ones included, by the number of their item.

        Args:
            entity: A name: the entity itself, those with a relation to it, and entries whose words name it (a path
                also by its last part).
            kind: ``constraint``, ``decision``, ``question``, ``error``, ``sub_goal``, ``entity``, or the kind of an
                entity: ``file``, ``test``, ``symbol``, ``service``, ``request``, ``record``, ``table``. A decision of
                the user is a constraint too, and a constraint that chooses is a decision.
            turn: A number: the entries of that turn.

        """
        names = None if entity is None else _naming(entity)
        found = [
            entry
            for entry in self.entries()
            if (names is None or _names(entry, entity or "", names))
            and (kind is None or kind in _kinds(entry))
            and (turn is None or entry.turn == turn)
        ]
        return tuple(sorted(found, key=lambda entry: number_of(entry.item)))

    def references(self) -> frozenset[str]:
        """Return ids of all items that the entries name."""
        return frozenset(key for entry in self.entries() for key in references_of(entry))

    def to_json(self) -> str:
        """Return the state as one line of JSON; the same state gives the same text."""
        return json.dumps(_converter().unstructure(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> TaskState:
        """Return the state that ``to_json`` wrote. Raises StateError when it is none."""
        import cattrs

        try:
            state: TaskState = _converter().structure(read_json(text), cls)
        except (ValueError, TypeError, KeyError, AttributeError, cattrs.BaseValidationError) as error:
            raise StateError(f"no state of a task: {text[:200]!r}; {type(error).__name__}: {error}") from error
        return state


def references_of(entry: Entry) -> Iterator[str]:
    """Yield ids of the items that an entry names."""
    yield entry.item
    match entry:
        case Constraint() | Decision():
            yield from filter(None, (entry.superseded_by, *entry.also, entry.last))
            if isinstance(entry, Decision):
                yield from (reason.item for reason in entry.reasons)
        case SubGoal():
            yield from filter(None, (entry.since, entry.superseded_by))
        case OpenQuestion():
            yield from filter(None, (entry.answered_by,))
        case ErrorPattern():
            known = entry.before if entry.resolution is None else (*entry.before, entry.resolution)
            yield from (item for each in known for item in (each.item, each.after_item) if item)
        case EntityState():
            yield from filter(None, (entry.first, entry.changed))
            yield from (relation.item for relation in entry.relations)


# -- inside ----------------------------------------------------------------------------------------------------------


def _kinds(entry: Entry) -> tuple[str, ...]:
    """Return what a user settled binds as a demand does, and a demand that chooses is a decision too."""
    match entry:
        case EntityState():
            return "entity", entry.kind
        case Decision(by="user"):
            return Decision.kind, Constraint.kind
        case Constraint() if _CHOOSES.search(entry.text):
            return Constraint.kind, Decision.kind
    return (entry.kind,)


def _naming(entity: str) -> re.Pattern[str]:
    last = entity.replace("\\", "/").rstrip("/").rpartition("/")[2] or entity
    return re.compile(rf"(?<![\w-])(?:{re.escape(entity)}|{re.escape(last)})(?![\w-])")


def _names(entry: Entry, entity: str, pattern: re.Pattern[str]) -> bool:
    if isinstance(entry, EntityState):
        return entry.name == entity or any(relation.target == entity for relation in entry.relations)
    texts = [entry.text]
    match entry:
        case Decision():
            texts += [reason.text for reason in entry.reasons]
        case ErrorPattern():
            texts += [entry.asked, *entry.words, entry.resolution.after if entry.resolution else ""]
    return any(pattern.search(text) for text in texts)


@functools.cache
def _converter() -> cattrs.Converter:
    import cattrs

    converter = cattrs.Converter(omit_if_default=True, forbid_extra_keys=True)
    converter.register_unstructure_hook(MappingProxyType, lambda values: converter.unstructure(dict(values)))
    return converter
