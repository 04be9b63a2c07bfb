"""Validates what an extractor returns against the schema of a state: fields, types, references, contradictions."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from gc_core.errors import StateError
from gc_core.task import values
from gc_core.task.values import (
    Constraint,
    Decision,
    EntityState,
    Entry,
    ErrorPattern,
    OpenQuestion,
    SubGoal,
    TaskState,
    references_of,
)
from gc_core.values.items import Item, number_of
from gc_core.values.json_values import read_json

if TYPE_CHECKING:
    import cattrs

_HUNDRED = 100
_MOST_NAMED = 5
_OWN = frozenset({"cursor", "left_out"})
"""Fields of a state that only the core sets."""

_BOUNDS: Final = (
    ("constraints", values.MOST_CONSTRAINTS),
    ("decisions_made", values.MOST_DECISIONS),
    ("sub_goals", values.MOST_SUB_GOALS),
    ("open_questions", values.MOST_QUESTIONS),
    ("error_patterns", values.MOST_ERRORS),
    ("entities", values.MOST_ENTITIES),
    ("tool_usage_stats", values.MOST_TOOLS),
)


def validated(answer: str | Mapping[str, Any], items: Sequence[Item], state: TaskState) -> TaskState:
    """
    Return the state that an extractor returned as JSON.

    Missing fields are empty; the core's own fields are taken from the previous state. Raises StateError, naming the
    path and what was expected, for anything but a JSON object, an unknown field, a wrong type, a reference to an item
    that does not exist, and contradictions.

    Args:
        answer: A JSON object, as text or parsed.
        items: The originals that it was made from.
        state: The previous state.

    """
    import cattrs

    given = _read(answer) if isinstance(answer, str) else answer
    if not isinstance(given, Mapping):
        raise StateError(f"$: expected an object with {_fields()}, got {type(given).__name__}")
    own = sorted(_OWN & given.keys())
    if own:
        raise StateError(f"$.{own[0]}: is the core's own; expected an object with only {_fields()}")
    try:
        made = _converter().structure(_named(given), TaskState)
    except cattrs.BaseValidationError as error:
        messages = cattrs.transform_error(error)
        raise StateError("; ".join(messages[:_MOST_NAMED]) or str(error)) from error
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise StateError(f"$: {type(error).__name__}: {error}; expected an object with {_fields()}") from error
    cursor = attrs.evolve(state.cursor, newest=items[-1].id) if items else state.cursor
    return checked(attrs.evolve(made, cursor=cursor, left_out=state.left_out), items, state)


def checked(made: TaskState, items: Sequence[Item], state: TaskState) -> TaskState:
    """Return the state itself. Raises StateError, naming the path, for bounds, references and contradictions."""
    for name, most in _BOUNDS:
        if len(getattr(made, name)) > most:
            raise StateError(f"$.{name}: {len(getattr(made, name)):,} entries; at most {most:,} may be there")
    known = state.references() | {item.id for item in items}
    for path, entry in _paths(made):
        _check_entry(path, entry, known)
    for name, entity in made.entities.items():
        if entity.name != name:
            raise StateError(f"$.entities[{name!r}].name: {entity.name!r}; expected {name!r}")
    for field in ("constraints", "decisions_made"):
        _check_force(field, getattr(made, field))
    return made


# -- inside ----------------------------------------------------------------------------------------------------------


def _read(answer: str) -> Any:
    text = answer.strip()
    if text.startswith("```") and text.endswith("```"):  # models often fence their answers
        text = text.partition("\n")[2].rpartition("```")[0]
    try:
        return read_json(text)
    except ValueError as error:
        raise StateError(f"$: {answer[:100]!r} is no JSON: {error}; expected an object with {_fields()}") from error


def _fields() -> list[str]:
    return sorted(field.name for field in attrs.fields(TaskState) if field.name not in _OWN)


def _named(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the value with the entity's name, which need not be repeated."""
    entities = given.get("entities")
    if not isinstance(entities, Mapping):
        return given
    named = {
        name: {"name": name, **entity} if isinstance(entity, Mapping) else entity for name, entity in entities.items()
    }
    return {**given, "entities": named}


def _paths(made: TaskState) -> Iterator[tuple[str, Entry]]:
    for field in ("constraints", "decisions_made", "open_questions", "error_patterns", "sub_goals"):
        for place, entry in enumerate(getattr(made, field)):
            yield f"$.{field}[{place}]", entry
    for name, entity in made.entities.items():
        yield f"$.entities[{name!r}]", entity


def _check_entry(path: str, entry: Entry, known: frozenset[str]) -> None:
    text = entry.name if isinstance(entry, EntityState) else entry.text
    if not text.strip():
        raise StateError(f"{path}: its text is blank; expected the words of the item")
    for key in references_of(entry):
        if key not in known:
            raise StateError(f"{path}: names item {key!r}, which does not exist; expected one of the items given")
    later, what = _later(entry)
    if later and number_of(later) < number_of(entry.item):
        raise StateError(f"{path}.{what}: {later} came before {entry.item}; expected a later item")


def _later(entry: Entry) -> tuple[str, str]:
    match entry:
        case Constraint() | Decision() | SubGoal():
            return entry.superseded_by, "superseded_by"
        case OpenQuestion():
            return entry.answered_by, "answered_by"
        case ErrorPattern() if entry.resolution is not None and entry.tool:
            return entry.resolution.item, "resolution.item"
    return "", ""


def _check_force(field: str, entries: Sequence[Constraint | Decision]) -> None:
    """Check that equal words are in effect only once, and not superseded by something that came later."""
    force: dict[str, tuple[int, Constraint | Decision]] = {}
    for place, entry in enumerate(entries):
        if entry.in_force:
            plain = " ".join(entry.text.casefold().split())
            if plain in force:
                raise StateError(f"$.{field}[{place}]: is in force twice, as [{force[plain][0]}] too; expected once")
            force[plain] = place, entry
    for place, entry in enumerate(entries):
        found = force.get(" ".join(entry.text.casefold().split()))
        # Repeated after it was retracted, it is in effect again.
        if not entry.in_force and found is not None and number_of(found[1].item) <= number_of(entry.superseded_by):
            raise StateError(
                f"$.{field}[{place}]: is superseded by {entry.superseded_by}, and in force as [{found[0]}]; expected"
                " one of them"
            )


def _exactly(kind: type) -> Any:
    def structured(value: Any, _: Any) -> Any:
        if kind is float and type(value) is int:
            return float(value)
        if type(value) is not kind:
            raise TypeError(f"got {type(value).__name__} {value!r:.60}, expected {kind.__name__}")
        return value

    return structured


@functools.cache
def _converter() -> cattrs.Converter:
    """
    Return a converter that accepts no text for a number, and no number for a text: a model that confuses them has
    confused more.
    """
    import cattrs

    converter = cattrs.Converter(forbid_extra_keys=True)
    for kind in (str, int, float, bool):
        converter.register_structure_hook(kind, _exactly(kind))
    return converter
