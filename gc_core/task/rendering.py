"""Renders the task state as text for the window: bounded, the most important first, each entry with its reference."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from gc_core.summaries.fact_kinds import coded, quoted
from gc_core.task.strength import Strength, strength_of
from gc_core.task.values import (
    ACTIVE,
    COMPLETED,
    REQUEST,
    Constraint,
    Decision,
    EntityState,
    ErrorPattern,
    OpenQuestion,
    Relation,
    Resolution,
    SubGoal,
    TaskState,
)
from gc_core.values.items import number_of
from gc_core.values.patterns import regex

CONSTRAINTS, DECISIONS, QUESTIONS, LESSONS, ERRORS, RESOLVED, SUB_GOALS, ENTITIES, CHANGED = KINDS = (
    *("constraints", "decisions", "questions", "lessons", "unresolved errors", "resolved errors", "sub-goals"),
    *("entities", "changed files"),
)
"""The kinds that a text may leave out, the most important first."""

BINDING: Final = (CONSTRAINTS, DECISIONS)
"""The kinds of which everything in effect should be in the window."""

OTHERS_SHARE: Final = 0.4
"""The share of the room that demands and decisions leave to the rest, as far as it can fill it."""

PLAIN_SHARE: Final = 0.36
"""
The share of the room that users' less binding statements leave to the rest: they are nowhere else. With this and
``LASTING`` 44 of 58 planted paths and 35 of 58 error resolutions are in the state after 10,000 calls, and all demands
of the recorded sessions with 20 additional rules.
"""

LASTING: Final = {LESSONS: 0.36, CHANGED: 0.56}
"""The shares of what rules leave: resolutions of errors, and the places of changes, stay useful for long."""

PASSING: Final = {QUESTIONS: 0.15, ERRORS: 0.15, RESOLVED: 0.25, SUB_GOALS: 0.15, ENTITIES: 0.3}
"""The relative shares of the other kinds, which are stale soon."""

PASSING_SHARE: Final = 0.1
"""The share of the room that they, and demands and decisions that are not rules, may always have."""

SMALL_SHARE: Final = 0.25
"""The share of the room up to which they fill what is left: a short session needs no long state."""

_HEADS: Final = {
    CONSTRAINTS: "Demanded by the user, and in force:",
    DECISIONS: "Decided, and in force:",
    QUESTIONS: "Asked, and not answered:",
    ERRORS: "Failed, and not overcome:",
    RESOLVED: "Failed, and overcome:",
    SUB_GOALS: "Planned:",
    LESSONS: "Said of what was wrong, and of how it was overcome:",
    ENTITIES: "Touched:",
    CHANGED: "Changed, by folder, each with the call that did so:",
}
TEXT_CHARS: Final = 600
"""The characters shown of a text; its end is left out."""

_REASON_CHARS = 160
_SHORT_CHARS = 120
"""Statements of users up to this length are meant to be remembered; longer sentences are about the matter at hand."""

_MOST_SHOWN_REASONS = 2
_MOST_SHOWN_RELATIONS = 3
_MOST_MISSES = 12
_FILES = frozenset({"file", "test"})
_BARE = regex(r"[\w.-]{1,120}")
"""A file name that needs no marks around it."""

_FILES_ON_A_LINE = 16
_NEWEST_FILES = 30
"""The number of changed files with a description of the change; of older ones only the path is shown."""


@attrs.frozen(kw_only=True)
class StateText:
    """
    A rendered task state.

    Attributes:
        text: The lines; "" if there is nothing to say, or no room.
        tokens: Its tokens.
        left_out: Entries that did not fit, by kind: see ``KINDS``.

    """

    text: str
    tokens: int
    left_out: Mapping[str, int] = attrs.field(factory=dict)

    @property
    def cut(self) -> Mapping[str, int]:
        """The omitted binding entries in effect: demands and decisions."""
        return {kind: self.left_out[kind] for kind in BINDING if self.left_out.get(kind)}


@attrs.frozen(slots=False, eq=False)
class _Line:
    """An entry for the text; its words are rendered on demand; ``lead`` precedes them."""

    kind: str
    place: int
    render: Callable[[], str]
    rank: tuple[int, ...]
    lead: str = ""

    @functools.cached_property
    def text(self) -> str:
        return self.render()


def state_text(state: TaskState, max_tokens: int, count: Callable[[str], int]) -> StateText:
    """
    Return the state in at most ``max_tokens`` tokens by ``count``; the same state yields the same text.

    Rules and settled decisions in effect come first, then a share of every other kind, then the remaining demands and
    decisions, the newest first if not all fit; within a kind they are in order of time. Superseded entries are not
    shown. The last line states how many entries were left out. Nothing in it can pose as an instruction or a frame.
    """
    lines = list(_lines(state))
    top = _top(state)
    if not lines and not top:
        return StateText(text="", tokens=0)
    chosen = _chosen(lines, max_tokens - _reserved(top, lines, count), count)
    while True:
        text = _text(top, lines, chosen)
        tokens = count(text)
        if tokens <= max_tokens:
            return StateText(text=text, tokens=tokens, left_out=_left_out(lines, chosen))
        if not chosen:
            return StateText(text="", tokens=0, left_out=_left_out(lines, ()))
        chosen = chosen[: -max(1, (tokens - max_tokens) // 40)]


# -- selection
# -----------------------------------------------------------------------------------------------------------


def _chosen(lines: Sequence[_Line], room: int, count: Callable[[str], int]) -> list[_Line]:
    """
    Return the lines that fit, in order of preference: binding entries leave a share to the rest,
    and take what remains.
    """
    filling = _Filling(count=count, left=room)
    by_kind = {kind: [line for line in lines if line.kind == kind] for kind in KINDS}
    for own in by_kind.values():
        own.sort(key=lambda line: line.rank)
    rules = [line for kind in BINDING for line in by_kind[kind] if line.rank[0] == Strength.RULE]
    for kind in BINDING:
        filling.take([line for line in rules if line.kind == kind], filling.left - int(room * OTHERS_SHARE))
    filling.take(by_kind[CONSTRAINTS], filling.left - int(room * PLAIN_SHARE))
    rest = filling.left
    for kind, share in LASTING.items():
        filling.take(by_kind[kind], min(filling.left, int(rest * share)))
    _take_passing(filling, by_kind, room)
    for kind in BINDING:
        filling.take([line for line in rules if line.kind == kind], filling.left)
    for kind in LASTING:
        filling.take(by_kind[kind], filling.left)
    order = {kind: place for place, kind in enumerate(KINDS)}
    return sorted(filling.taken, key=lambda line: (order[line.kind], line.rank))


def _take_passing(filling: _Filling, by_kind: Mapping[str, list[_Line]], room: int) -> None:
    """Take what is stale soon, one kind after the other in rounds; then statements that were not meant as rules."""
    keep = filling.left - int(max(room * PASSING_SHARE, room * SMALL_SHARE - (room - filling.left)))
    rest, there = filling.left - keep, sum(share for kind, share in PASSING.items() if by_kind[kind])
    for kind, share in PASSING.items():
        filling.take(by_kind[kind], min(filling.left - keep, int(rest * share / max(share, there))))
    for kind in KINDS:
        if kind not in LASTING:
            filling.take(by_kind[kind], filling.left - keep)


@attrs.define
class _Filling:
    """Takes lines while they fit; each is counted once."""

    count: Callable[[str], int]
    left: int
    taken: dict[_Line, None] = attrs.field(factory=dict)
    _leads: set[str] = attrs.field(factory=set)
    _costs: dict[tuple[_Line, bool], int] = attrs.field(factory=dict)

    def take(self, lines: Sequence[_Line], room: int) -> None:
        """Take lines of one kind, in order, within this many tokens; the first also costs the heading of its kind."""
        misses = 0
        head = 0 if any(line in self.taken for line in lines) or not lines else self._cost_of(_HEADS[lines[0].kind])
        for line in lines:
            if misses > _MOST_MISSES or room <= head:
                return
            if line in self.taken:
                continue
            cost = self._cost_of_line(line) + head
            if cost > room:
                misses += 1
                continue
            self.taken[line] = None
            self._leads.add(line.lead)
            room, self.left, head = room - cost, self.left - cost, 0

    def _cost_of_line(self, line: _Line) -> int:
        """Return the cost of a line; one that continues a line has no lead."""
        follows = bool(line.lead) and line.lead in self._leads
        key = line, follows
        if key not in self._costs:
            self._costs[key] = self._cost_of(line.text if follows else f"{line.lead}{line.text}")
        return self._costs[key]

    def _cost_of(self, text: str) -> int:
        return self.count(f"{text}\n")


def _reserved(top: str, lines: Sequence[_Line], count: Callable[[str], int]) -> int:
    return count(_text(top, lines, ()))


def _left_out(lines: Sequence[_Line], chosen: Iterable[_Line]) -> dict[str, int]:
    left = Counter(line.kind for line in lines)
    left.subtract(line.kind for line in chosen)
    return {kind: left[kind] for kind in KINDS if left[kind]}


# -- wording
# -------------------------------------------------------------------------------------------------------------


def _text(top: str, lines: Sequence[_Line], chosen: Iterable[_Line]) -> str:
    shown = list(chosen)
    parts = [top] if top else []
    for kind in KINDS:
        own = sorted((line for line in shown if line.kind == kind), key=lambda line: line.place)
        if own:
            parts += [_HEADS[kind], *_joined(own)]
    left = _left_out(lines, shown)
    if left:
        counts = ", ".join(f"{number:,} {kind}" for kind, number in left.items())
        parts.append(f"[gc: left out here: {counts}; all were kept, and can be searched and recalled by their item]")
    return "\n".join(parts)


def _joined(lines: Iterable[_Line]) -> Iterator[str]:
    """Yield lines, with entries of the same lead joined to one: this saves a tenth of the room of demands."""
    rows: dict[str | _Line, list[str]] = {}
    for line in lines:
        rows.setdefault(line.lead or line, []).append(line.text)
    for key, texts in rows.items():
        yield f"{key if isinstance(key, str) else ''}{' '.join(texts)}"


def _top(state: TaskState) -> str:
    if not state.objective.strip():
        return ""
    return f"The task as it stood at {state.cursor.newest or 'its beginning'}: {_short(state.objective)}."


def _lines(state: TaskState) -> Iterator[_Line]:
    for place, demand in enumerate(state.constraints):
        if demand.in_force:
            rank = (strength_of(demand), len(demand.text) > _SHORT_CHARS, -_newest(demand))
            lead = f"({demand.item}{_also(demand)}) "
            yield _Line(CONSTRAINTS, place, functools.partial(_short, demand.text), rank, lead)
    for place, decision in enumerate(state.decisions_made):
        if decision.in_force:
            rank = (strength_of(decision), decision.by != "user", -_newest(decision))
            yield _Line(DECISIONS, place, functools.partial(_decision, decision), rank)
    for place, question in enumerate(state.open_questions):
        if question.in_force:
            yield _Line(QUESTIONS, place, functools.partial(_question, question), (-number_of(question.item),))
    yield from _what_happened(state)


def _what_happened(state: TaskState) -> Iterator[_Line]:
    errors = sorted(state.error_patterns, key=lambda error: number_of(error.item))
    for place, error in enumerate(errors):
        if error.in_force or not error.lessons:
            kind = ERRORS if error.in_force else RESOLVED
            yield _Line(kind, place, functools.partial(_error, error), (-number_of(error.item),))
    lessons = {lesson.text: (lesson, error) for error in errors for lesson in error.lessons}
    for lesson, error in lessons.values():
        number = number_of(lesson.item)
        yield _Line(LESSONS, number, functools.partial(_lesson, lesson, error), (-number,))
    for place, goal in enumerate(state.sub_goals):
        if goal.in_force:
            yield _Line(
                SUB_GOALS,
                place,
                functools.partial(_sub_goal, goal),
                (goal.status == COMPLETED, goal.status != ACTIVE, place),
            )
    entities, old = _touched(state)
    for place, entity in enumerate(entities):
        rank = (entity.kind == "symbol", not entity.changed, -place)
        yield _Line(ENTITIES, place, functools.partial(_entity, entity), rank)
    yield from _folders(old)


def _touched(state: TaskState) -> tuple[list[EntityState], list[EntityState]]:
    """Return the touched files, oldest first, except that those changed before the newest ones come second."""
    entities = [entity for entity in state.entities.values() if entity.kind != REQUEST]
    entities.sort(key=lambda entity: (number_of(entity.item), entity.name))
    old = [entity for entity in entities if entity.changed and entity.kind in _FILES][:-_NEWEST_FILES]
    names = {entity.name for entity in old}
    return [entity for entity in entities if entity.name not in names], old


def _folders(files: Sequence[EntityState]) -> Iterator[_Line]:
    """Join files of a folder to one line: this takes a third of the room."""
    folders: dict[str, list[EntityState]] = {}
    for file in files:
        folders.setdefault(file.name.rpartition("/")[0], []).append(file)
    for folder, own in folders.items():
        for start in range(0, len(own), _FILES_ON_A_LINE):
            shown = own[start : start + _FILES_ON_A_LINE]
            newest = number_of(shown[-1].item)
            yield _Line(CHANGED, newest, functools.partial(_changed, folder, shown), (-newest,))


def _newest(entry: Constraint | Decision) -> int:
    return number_of(entry.last or entry.item)


def _short(text: str, most: int = TEXT_CHARS) -> str:
    if len(text) > most:
        cut = text.rfind(" ", most // 2, most)
        text = f"{text[: cut if cut > 0 else most]} ..."
    return quoted(text)


def _also(entry: Constraint | Decision) -> str:
    return f", in place of {', '.join(entry.also)}" if entry.also else ""


def _decision(entry: Decision) -> str:
    shown = entry.reasons[:_MOST_SHOWN_REASONS]
    reasons = "; ".join(f"{_short(reason.text, _REASON_CHARS)} ({reason.item})" for reason in shown)
    why = f" The reasons were: {reasons}" if reasons else ""
    return f"({entry.item}, by the {_who(entry.by)}{_also(entry)}) {_short(entry.text)}{why}"


def _question(entry: OpenQuestion) -> str:
    return f"({entry.item}, by the {_who(entry.by)}) {_short(entry.text)}"


def _who(by: str) -> str:
    """Return who said it; an extractor plugin may give any text."""
    return "user" if by == "user" else "assistant"


def _error(entry: ErrorPattern) -> str:
    tool = f" {coded(entry.tool)}" if entry.tool else ""
    times = f", {entry.times} times" if entry.times > 1 else ""
    line = f"({entry.item}{times}){tool} {_short(entry.text, _REASON_CHARS * 2)}"
    if entry.resolution is None:
        return line
    found = entry.resolution
    after = f"; {_short(found.after, _REASON_CHARS)} came before ({found.after_item})" if found.after else ""
    same = found.text == entry.text
    solved = "" if same else f" was overcome ({found.item}): {_short(found.text, _REASON_CHARS * 2)}"
    return f"{line}{solved}{after}"


def _lesson(lesson: Resolution, error: ErrorPattern) -> str:
    tool = f" {coded(error.tool)}" if error.tool else ""
    return f"({lesson.item}){tool} {_short(lesson.text, _REASON_CHARS * 2)}"


def _changed(folder: str, files: Sequence[EntityState]) -> str:
    names = ", ".join(f"{_name_of(file)} {file.changed}" for file in files)
    return f"{coded(f'{folder}/')}: {names}" if folder else names


def _name_of(file: EntityState) -> str:
    name = file.name.rpartition("/")[2]
    return name if _BARE.fullmatch(name) else coded(name)


def _sub_goal(entry: SubGoal) -> str:
    status = {"active": "begun"}.get(entry.status, entry.status)
    return f"({entry.since or entry.item}, {status}) {_short(entry.text, _REASON_CHARS)}"


def _entity(entry: EntityState) -> str:
    item, state = entry.item, entry.state
    if entry.changed and entry.changed != entry.item and state == "read":
        item, state = entry.changed, "edited"
    shown = ", ".join(map(_relation, entry.relations[-_MOST_SHOWN_RELATIONS:]))
    name = coded(entry.name)
    return f"({item}) {name}: {_plain(state)}{'; ' + shown if shown else ''}"


def _relation(relation: Relation) -> str:
    return f"{relation.kind} {coded(relation.target)} ({relation.item})"


def _plain(state: str) -> str:
    """Return the text of a state; it is one of a few words, unless an extractor plugin made it."""
    return state if state.replace(" ", "").isalpha() and len(state) <= 40 else quoted(state)  # noqa: PLR2004
