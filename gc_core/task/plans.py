"""Sub-goals: from the calls of planning tools, and from lists in the assistant's texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from gc_core.task.draft import Draft
from gc_core.task.values import ACTIVE, CANCELLED, COMPLETED, PENDING, SubGoal
from gc_core.values.items import Item
from gc_core.values.json_values import read_object, value_or_none
from gc_core.values.patterns import regex

_TEXTS: Final = ("content", "step", "subject", "title", "description", "text", "task", "name", "goal")
_LISTS: Final = ("todos", "plan", "tasks", "items", "steps", "todo_list", "todoList", "entries")
_DONE = frozenset({"completed", "complete", "done", "finished", "closed", "resolved", "x", "success"})
_ACTIVE = frozenset({"in_progress", "in-progress", "inprogress", "active", "doing", "started", "current", "working"})
_GONE = frozenset({"cancelled", "canceled", "skipped", "deleted", "dropped", "abandoned", "wontfix"})

LIST, TASK, TEXT = "list", "task", "text"
"""The source of a sub-goal: a tool's whole list, one numbered task of a tool, or a list in a text."""

_MOST_STEPS = 64
_PLANS = regex(r"todo|plan|task|checklist", re.IGNORECASE)
_STEP_CHARS = 280
_BOX = regex(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[([ xX~/✓✔-])\][ \t]+(\S.*)$", re.MULTILINE)
_NUMBERED = regex(r"^[ \t]{0,3}(\d{1,2})[.)][ \t]+(\S.*)$", re.MULTILINE)
_HEADS_PLAN = regex(r"\b(?:plan|steps|todos?|to-do|tasks|roadmap|i(?:['’]ll| will| am going to))\b", re.IGNORECASE)
_DONE_MARK = regex(r"^(?:✅|✓|✔|☑|~~)|(?:✅|✓|✔|\(done\)|\[done\])\s*$", re.IGNORECASE)
_STEP_DONE = regex(r"\bstep (\d{1,2}) (?:is |was )?(?:now )?(?:done|complete|completed|finished)\b", re.IGNORECASE)


@attrs.frozen
class Step:
    """A step of a plan as it is given: its text, its status, and its number."""

    text: str
    status: str
    number: str = ""


def plan_of(item: Item) -> tuple[Step, ...] | None:
    """Return the whole plan in a call; None if there is none."""
    arguments = read_object(item.text)
    if arguments is None:
        return None
    for key in _LISTS:
        given = _listed(arguments.get(key))
        if given is not None:
            return tuple(_steps(given))
    return None


def plan_in_text(text: str) -> tuple[Step, ...] | None:
    """Return the plan that an assistant's text lists, with boxes or, under a line that announces one, with numbers."""
    boxes = _BOX.findall(text)
    if boxes:
        states = {" ": PENDING, "~": ACTIVE, "/": ACTIVE, "-": CANCELLED}
        return tuple(Step(_line(said), states.get(box, COMPLETED)) for box, said in boxes[:_MOST_STEPS])
    numbered = list(_NUMBERED.finditer(text))
    if len(numbered) < 2 or numbered[0][1] != "1":  # noqa: PLR2004 - one line is not a list
        return None
    head = text[: numbered[0].start()].rstrip().rpartition("\n")[2]
    if not head.rstrip("*_ ").endswith(":") or not _HEADS_PLAN.search(head):
        return None
    return tuple(
        Step(_line(found[2]), COMPLETED if _DONE_MARK.search(found[2].strip()) else PENDING, found[1])
        for found in numbered[:_MOST_STEPS]
    )


def take_plan(draft: Draft, steps: Sequence[Step], item: Item, by: str = LIST) -> None:
    """
    Replace the plan: missing steps are superseded, completed ones stay. Tasks that a tool numbers are not part of it,
    and a list in a text does not replace a tool's plan.
    """
    if by == TEXT and any(goal.by != TEXT and goal.in_force for goal in draft.sub_goals):
        return
    named = {step.text.casefold(): step for step in steps}
    goals = []
    for goal in draft.sub_goals:
        own = not goal.superseded_by and goal.by != TASK
        step = named.pop(goal.text.casefold(), None) if own else None
        if step is not None:
            goals.append(_at(goal, step, item))
        elif not own or goal.status == COMPLETED:
            goals.append(goal)
        else:
            goals.append(attrs.evolve(goal, superseded_by=item.id))
    goals += [_new(step, item, by) for step in named.values()]
    draft.sub_goals[:] = goals


def take_call(draft: Draft, item: Item) -> None:
    """Note what a call of a planning tool says about tasks; other calls are ignored."""
    if not _PLANS.search(item.name) or _take_task(draft, item):
        return
    steps = plan_of(item)
    if steps is not None:
        take_plan(draft, steps, item)


def _take_task(draft: Draft, item: Item) -> bool:
    """
    Note a call that creates or changes one numbered task (``TaskCreate``, ``TaskUpdate``); return
    whether it is one.
    """
    name = re.sub(r"[^a-z]", "", item.name.lower())
    if name not in {"taskcreate", "taskupdate", "createtask", "updatetask"}:
        return False
    arguments = read_object(item.text)
    if arguments is None:
        return False
    if "create" in name:
        text = _text_of(arguments)
        if text:
            tasks = draft.cursor.tasks + 1
            draft.cursor = attrs.evolve(draft.cursor, tasks=tasks)
            draft.sub_goals.append(_new(Step(text, _status(arguments), f"#{tasks}"), item, TASK))
        return bool(text)
    number = f"#{arguments.get('taskId', arguments.get('id', ''))}"
    for place, goal in enumerate(draft.sub_goals if "status" in arguments else ()):
        if goal.number == number and goal.by == TASK:
            draft.sub_goals[place] = _at(goal, Step(goal.text, _status(arguments)), item)
    return True


def take_done(draft: Draft, text: str, item: Item) -> None:
    """Note the steps that a text reports as completed, by number."""
    done = set(_STEP_DONE.findall(text))
    for place, goal in enumerate(draft.sub_goals if done else ()):
        if goal.number in done and goal.in_force and goal.status != COMPLETED:
            draft.sub_goals[place] = attrs.evolve(goal, status=COMPLETED, since=item.id)


# -- inside ----------------------------------------------------------------------------------------------------------


def _listed(value: Any) -> list[Any] | None:
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        value = value_or_none(value)
    if not isinstance(value, list) or not all(isinstance(each, dict | str) for each in value):
        return None
    return value


def _steps(given: Sequence[Any]) -> Iterator[Step]:
    for each in given[:_MOST_STEPS]:
        text = _line(each) if isinstance(each, str) else _text_of(each)
        if text:
            yield Step(text, PENDING if isinstance(each, str) else _status(each))


def _text_of(given: Mapping[str, Any]) -> str:
    texts = (given.get(key) for key in _TEXTS)
    return next((_line(text) for text in texts if isinstance(text, str) and text.strip()), "")


def _status(given: Mapping[str, Any]) -> str:
    if given.get("done") is True or given.get("completed") is True:
        return COMPLETED
    status = str(given.get("status", given.get("state", ""))).lower().replace(" ", "_")
    if status in _DONE:
        return COMPLETED
    if status in _ACTIVE:
        return ACTIVE
    return CANCELLED if status in _GONE else PENDING


def _new(step: Step, item: Item, by: str) -> SubGoal:
    return SubGoal(
        text=step.text, item=item.id, turn=item.turn, status=step.status, since=item.id, number=step.number, by=by
    )


def _at(goal: SubGoal, step: Step, item: Item) -> SubGoal:
    return goal if goal.status == step.status else attrs.evolve(goal, status=step.status, since=item.id)


def _line(text: str) -> str:
    return " ".join(text.split())[:_STEP_CHARS]
