"""The values of a task state: each entry names the item that states it."""

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
"""The most files, tests, symbols and services in a state; all bounds of a state are here."""

MOST_CONSTRAINTS: Final = 2_048
"""At some 25 tokens each, these exceed what the window shows, so the room there decides, not this bound."""

MOST_DECISIONS: Final = 512
MOST_ERRORS: Final = 512
MOST_QUESTIONS: Final = 256
MOST_SUB_GOALS: Final = 256
MOST_TOOLS: Final = 256
MOST_RELATIONS: Final = 16
"""The most relations of an entity; the newest stay."""

MOST_REASONS: Final = 6
"""The most sentences in a decision's chain of reasons."""

MOST_LESSONS: Final = 64
"""The most resolutions of a failure that are kept; the newest stay."""

MOST_WAITING: Final = 64
"""The most calls without a result that are kept."""

MOST_WORDS: Final = 32
"""The most words of a call's arguments that are kept to recognise its repetition."""

REQUEST: Final = "request"
"""The kind of an entity that is a user's message: the cause of the next actions."""

PENDING, ACTIVE, COMPLETED, CANCELLED = STATUSES = ("pending", "active", "completed", "cancelled")
"""The status of a sub-goal."""

RELATIONS: Final = ("edits", "tests", "imports", "causes")
"""The kinds of relations between entities."""


_CHOOSES = regex(
    r"\b(?:us(?:e|ing)|prefer|go with|stick (?:with|to)|switch\w* to|instead|rather than|should|keep|let'?s|option"
    r"|want)\b",
    re.IGNORECASE,
)
"""Words of a demand that chooses one of several options."""


def _frozen_map(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return values if isinstance(values, MappingProxyType) else MappingProxyType(dict(values))


@attrs.frozen(kw_only=True)
class Reason:
    """A sentence that gives a reason, and its item."""

    text: str
    item: str


@attrs.frozen(kw_only=True)
class Constraint:
    """
    A user's demand.

    Attributes:
        text: The sentence, verbatim except for white space.
        item: Id of the item that states it.
        turn: Its turn.
        superseded_by: Id of the item that retracted or changed it, or "": in effect.
        also: Ids of the items whose entries it replaced.
        times: The number of times it was stated.
        last: Id of the item that stated it last.

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
        """True if nothing later contradicts it."""
        return not self.superseded_by


@attrs.frozen(kw_only=True)
class Decision:
    """
    A decision of the assistant; other extractors may name the user.

    Attributes:
        text: The sentence, verbatim except for white space.
        item: Id of the item that states it.
        turn: Its turn.
        by: ``user`` or ``assistant``.
        reasons: The chain of reasons: sentences around it, and those of the thinking that led to it, oldest first.
        superseded_by: Id of the item that decided otherwise, or "": in effect.
        also: Ids of the items whose entries it replaced.
        times: The number of times it was stated.
        last: Id of the item that stated it last.

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
        """True if nothing later contradicts it."""
        return not self.superseded_by


@attrs.frozen(kw_only=True)
class SubGoal:
    """
    A step of a plan.

    Attributes:
        text: The step, as the plan words it.
        item: Id of the item that stated it first.
        turn: Its turn.
        status: ``pending``, ``active``, ``completed`` or ``cancelled``.
        since: Id of the item that set the status.
        superseded_by: Id of the item with the plan that omits it, or "".
        number: Its number in its plan, or "".
        by: Its source: a tool's whole ``list``, one numbered ``task`` of a tool, or a list in a ``text``.

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
        """True if the newest plan has it, and it was not cancelled."""
        return not self.superseded_by and self.status != CANCELLED


@attrs.frozen(kw_only=True)
class OpenQuestion:
    """
    A question to the user, or by the user.

    Attributes:
        text: The question, verbatim except for white space.
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
        """True if it is unanswered."""
        return not self.answered_by


@attrs.frozen(kw_only=True)
class Relation:
    """A relation to another entity (``edits``, ``tests``, ``imports``, ``causes``), and the item that shows it."""

    kind: str = attrs.field(validator=attrs.validators.in_(RELATIONS))
    target: str
    item: str


@attrs.frozen(kw_only=True)
class EntityState:
    """
    An entity that the task touched.

    Attributes:
        name: Its path, name or address.
        kind: ``file``, ``test``, ``symbol``, ``service``, ``request`` (a turn's request that led to edits), ``record``
            (an entity with an id) or ``table``.
        state: The last action on it: ``read``, ``edited``, ``created``, ``deleted``, ``run``, ``passed``,
            ``failed``, ``called``, ``named``, the words of a tool's name, ...
        item: Id of the item that did so.
        turn: Its turn.
        first: Id of the item that touched it first.
        times: The number of times it was touched.
        relations: Its relations, oldest first.
        changed: Id of the call that changed it last, or "": it was only read.

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
        text: The line that shows it, or the assistant's sentence about it.
        item: Id of the item that contains it.
        after: The actions between failure and success, or "".
        after_item: Id of the item that did so, or "".
        said: Someone explained it, in words: it is used again when the same failure recurs.

    """

    text: str
    item: str
    after: str = ""
    after_item: str = ""
    said: bool = False


@attrs.frozen(kw_only=True)
class ErrorPattern:
    """
    A failure, one entry however often it occurred.

    Attributes:
        text: The line that reports it.
        item: Id of the result that failed last.
        turn: Its turn.
        tool: The tool that failed, or "" if someone only reported it.
        asked: The arguments of its call, shortened.
        times: The number of times it occurred.
        resolution: How it was overcome; None while it is not.
        before: Explanations, oldest first: of earlier occurrences, and of this one while it is not overcome.
        keys: Names of the call's arguments, with ``words`` of their values: they identify a later success.
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
        """True if it has not been overcome."""
        return self.resolution is None

    @property
    def lessons(self) -> tuple[Resolution, ...]:
        """Explanations of how it was overcome, oldest first."""
        known = self.before if self.resolution is None else (*self.before, self.resolution)
        return tuple(each for each in known if each.said)


@attrs.frozen(kw_only=True)
class ToolStats:
    """The numbers of calls and failures of a tool."""

    calls: int = 0
    failures: int = 0


@attrs.frozen(kw_only=True)
class WaitingCall:
    """A call whose result has not arrived, as far as the result needs it."""

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
    The state that reading the next items needs from earlier ones, so that the batches do not matter.

    Attributes:
        newest: Id of the newest item that was read, or "".
        turn: Its turn.
        unit: Its unit.
        waiting: Calls without a result.
        thoughts: Reasons in the thinking of the unit.
        spoken: Ids of the unit's assistant texts before its first call.
        called: The unit has called a tool.
        request: Id of the user text that began the turn, or "".
        failing: Name of the test that failed last and has not passed since, or "".
        done: The last action that may overcome an error, with its item.
        tasks: Sub-goals that were created one by one, by tools that number them.

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
"""The result of ``TaskState.query``."""


@attrs.frozen(kw_only=True)
class TaskState:
    """
    The known facts of the task: immutable and bounded; each entry names the item that states it.

    A contradicted entry stays, marked with the later item, and its replacement names it. Entries beyond the bounds
    leave, superseded ones first, then the oldest and least referenced; ``left_out`` counts them by kind.

    Attributes:
        objective: The agent's objective.
        sub_goals: Steps of its plans.
        decisions_made: Decisions, with the chain of reasons.
        entities: Touched entities, by name.
        constraints: The user's demands.
        open_questions: Questions, including answered ones as long as there is room.
        error_patterns: Failures, and their resolutions.
        tool_usage_stats: Calls and failures by tool.
        left_out: Entries removed by the bounds, by kind.
        cursor: The state that the next extraction needs.

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
        Return the entries that match all criteria, including superseded ones, by the number of their item.

        Args:
            entity: A name: the entity itself, entities related to it, and entries whose words name it (for a path also
                its last part).
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
        """Return the ids of all items that the entries name."""
        return frozenset(key for entry in self.entries() for key in references_of(entry))

    def to_json(self) -> str:
        """Return the state as one line of JSON; the same state yields the same text."""
        return json.dumps(_converter().unstructure(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> TaskState:
        """Return the state that ``to_json`` wrote. Raises StateError for anything else."""
        import cattrs

        try:
            state: TaskState = _converter().structure(read_json(text), cls)
        except (ValueError, TypeError, KeyError, AttributeError, cattrs.BaseValidationError) as error:
            raise StateError(f"not a task state: {text[:200]!r}; {type(error).__name__}: {error}") from error
        return state


def references_of(entry: Entry) -> Iterator[str]:
    """Yield the ids of the items that an entry names."""
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
    """Return the kinds of an entry: a user's decision is a demand too, and a demand that chooses is a decision."""
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
