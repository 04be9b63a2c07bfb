"""
The plants of a long session: constraints, decisions with reasons, files worked on, errors with their fixes.

The generator knows how people and agents write such things down, and nothing of how they are found. Each plant has a
marker: two words that occur together nowhere else, in three of five plants as plain words, else as a name. Every fourth
constraint and decision takes the place of an earlier one. Same seed, same plants.
"""

from __future__ import annotations

import enum
import itertools
import json
import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

Message = dict[str, Any]

PLAIN_OF_FIVE = 3
"""How many of five markers carry no name."""

SUPERSEDES_EVERY = 4
"""Of so many constraints or decisions the last one takes the place of the second."""


class Kind(enum.Enum):
    """What is planted."""

    CONSTRAINT = "constraint"
    DECISION = "decision"
    FILE = "file path"
    ERROR = "error resolution"


class Stage(enum.Enum):
    """How a plant comes into the session."""

    USER = "a user message"
    REPLY = "in the text of a reply"
    EXCHANGE = "a call with its result"
    FAILURE = "a call that fails, before the one that does not"


@attrs.frozen(kw_only=True)
class Plant:
    """
    Something that has to be known later.

    Attributes:
        number: Its own, from 0 on.
        kind: What it is.
        step: The model call before which, or with which, it is said.
        marker: Text that proves it; it stands nowhere else.
        text: The sentence that says it; of a file the path, of an error what fixed it.
        old: Marker of what it takes the place of, or "".
        replaced_at: Step at which another plant takes its place, or None.

    """

    number: int
    kind: Kind
    step: int
    marker: str
    text: str
    old: str = ""
    replaced_at: int | None = None

    def in_force(self, step: int) -> bool:
        """Whether it was said by then, and nothing has taken its place."""
        return self.step <= step and (self.replaced_at is None or self.replaced_at > step)


@attrs.frozen(kw_only=True)
class Sowing:
    """A plant, or the failure before it, at a step."""

    step: int
    plant: Plant
    stage: Stage

    def messages(self) -> tuple[Message, ...]:
        """The messages of its own that it comes in; none when it is said in a reply."""
        return _MESSAGES[self.stage](self.plant)


def schedule(steps: int) -> tuple[int, ...]:
    """Where something of each kind is planted: ten by step 100, 18 more by 1,000, then every 300 steps."""
    at = itertools.chain(range(5, 100, 10), range(130, 1_000, 50), range(1_150, steps, 300))
    return tuple(step for step in at if step + _LAST_OFFSET < steps)


def plants(steps: int, seed: int = 0) -> tuple[Plant, ...]:
    """What is planted in a session of so many steps, by step."""
    lot = random.Random(f"long session {seed}")  # noqa: S311 - no secret hangs on it
    markers = _markers(lot)
    made = [plant for kind in Kind for plant in _of_kind(kind, schedule(steps), markers, lot)]
    made.sort(key=lambda plant: plant.step)
    return tuple(attrs.evolve(plant, number=number) for number, plant in enumerate(made))


def sow(made: Iterable[Plant]) -> Iterator[Sowing]:
    """What happens when."""
    for plant in made:
        yield Sowing(step=plant.step, plant=plant, stage=_STAGES[plant.kind])
        if plant.kind is Kind.ERROR:
            yield Sowing(step=plant.step - _UNTIL_FIXED, plant=plant, stage=Stage.FAILURE)


# -- what is said ----------------------------------------------------------------------------------------------------


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ADJECTIVES = _words(
    "amber brittle copper dappled eager fallow gilded hollow inland jagged kindled lenient mottled nimble ochre placid "
    "quilted rugged sallow tidal umber velvet waxen yonder zealous"
)
_NOUNS = _words(
    "anvil bramble cormorant dormouse elderberry ferret gannet heron ibex jackdaw kestrel lapwing marmot newt otter "
    "puffin quail raven stoat tern urchin vole weasel yarrow zander"
)
_PERIODS = _words("nightly weekly monthly yearly daily hourly quarterly urgent public internal printed")
_RULED = _words("export invoice digest backup newsletter rota stocktake shipment audit survey")
_CHOSEN = _words("queue cache parser scheduler importer renderer mailer archive index gateway")

_CONSTRAINTS = (
    "From now on never write the {subject} in anything but the {value} format.",
    "Always show the {subject} to the {value} team before it goes out.",
    "The {subject} must not contain anything from the {value} list.",
    "Please do not run the {subject} outside the {value} hours.",
    "I only want the {subject} to be made with the {value} template.",
    "Keep the {subject} below the {value} limit, whatever happens.",
    "The {subject} stays with the {value} department, nobody else may see it.",
)
_CORRECTIONS = (
    "Forget the {old} rule. {text}",
    "Correction: the {old} one does not hold any more. {text}",
    "This has changed, no longer {old}: {text}",
)
_DECISIONS = (
    "I decided to use the {value} library for the {subject}, because {reason}.",
    "For the {subject} I'll go with the {value} approach since {reason}.",
    "Decision: the {subject} is built on {value}. Reason: {reason}.",
    "We will keep the {subject} on the {value} backend; {reason}.",
    "The best option for the {subject} is {value}, as {reason}.",
)
_CHANGES_OF_MIND = (
    "Instead of {old}: {text}",
    "On second thought, {old} does not work out. {text}",
    "I am dropping {old}. {text}",
)
_REASONS = (
    "it needs no second process",
    "its licence allows it",
    "the other one loses order",
    "it was twice as quick in the trial",
    "the client's machines have no network",
    "two of the three teams know it",
    "it can be rolled back",
    "it keeps the files readable",
)
_FOLDERS = ("src/billing", "lib/transport", "app/models", "internal/store", "packages/core/src", "tests/unit")
_ENDINGS = ("py", "ts", "go", "rs", "sql")
_COMMANDS = ("make verify", "npm run build", "cargo test", "pytest -q", "go test ./...")
_CAUSES = (
    "linker exited with status 1",
    "connection to the fixture server refused",
    "schema version is older than the code",
    "module was built for another runtime",
)

_OFFSETS: Mapping[Kind, int] = {Kind.CONSTRAINT: 0, Kind.DECISION: 2, Kind.FILE: 3, Kind.ERROR: 7}
_LAST_OFFSET = max(_OFFSETS.values())
_UNTIL_FIXED = 3
_STAGES: Mapping[Kind, Stage] = {
    Kind.CONSTRAINT: Stage.USER,
    Kind.DECISION: Stage.REPLY,
    Kind.FILE: Stage.EXCHANGE,
    Kind.ERROR: Stage.EXCHANGE,
}


def _markers(lot: random.Random) -> Iterator[tuple[str, str]]:
    """Pairs of words that come once each. Raises ValueError from ``zip`` when a session wants more of them."""
    pairs = list(itertools.product(_ADJECTIVES, _NOUNS))
    lot.shuffle(pairs)
    return iter(pairs)


def _of_kind(kind: Kind, at: Iterable[int], markers: Iterator[tuple[str, str]], lot: random.Random) -> Iterator[Plant]:
    subjects = list(itertools.product(_PERIODS, _RULED if kind is Kind.CONSTRAINT else _CHOSEN))
    lot.shuffle(subjects)
    made: list[Plant] = []
    for count, step in enumerate(at):
        words = next(markers)
        marker = " ".join(words) if count % 5 < PLAIN_OF_FIVE else "_".join(words)
        plant = Plant(number=-1, kind=kind, step=step + _OFFSETS[kind], marker=marker, text="")
        made.append(_worded(plant, count, made, subjects, lot))
    yield from made


def _worded(plant: Plant, count: int, made: list[Plant], subjects: list[tuple[str, str]], lot: random.Random) -> Plant:
    if plant.kind is Kind.FILE:
        name = plant.marker.replace(" ", "-")
        folder, file = lot.choice(_FOLDERS), f"{name}.{lot.choice(_ENDINGS)}"
        return attrs.evolve(plant, marker=file, text=f"{folder}/{file}")
    if plant.kind is Kind.ERROR:
        option = plant.marker.replace(" ", "-") if " " in plant.marker else plant.marker.upper()
        fix = f"{lot.choice(_COMMANDS)} --with={option}"
        return attrs.evolve(plant, marker=option, text=fix)
    replaces = count - 2 if count % SUPERSEDES_EVERY == SUPERSEDES_EVERY - 1 else count
    forms = _CONSTRAINTS if plant.kind is Kind.CONSTRAINT else _DECISIONS
    text = lot.choice(forms).format(
        subject=" ".join(subjects[replaces % len(subjects)]), value=plant.marker, reason=lot.choice(_REASONS)
    )
    if replaces == count:
        return attrs.evolve(plant, text=text)
    old = made[replaces]
    made[replaces] = attrs.evolve(old, replaced_at=plant.step)
    leads = _CORRECTIONS if plant.kind is Kind.CONSTRAINT else _CHANGES_OF_MIND
    return attrs.evolve(plant, text=lot.choice(leads).format(old=old.marker, text=text), old=old.marker)


# -- messages --------------------------------------------------------------------------------------------------------


def _by_user(plant: Plant) -> tuple[Message, ...]:
    return ({"role": "user", "content": plant.text},)


def _exchange(plant: Plant) -> tuple[Message, ...]:
    if plant.kind is Kind.FILE:
        arguments = {"path": plant.text, "old_string": "return None", "new_string": "return found"}
        return _called(plant, "", "edit_file", arguments, f"Updated {plant.text}: 1 line changed.")
    said = f"It failed because the {_cause(plant)}; {plant.text} gets around that."
    return _called(plant, said, "run_command", {"command": plant.text}, "ok: 12 passed, 0 failed")


def _failure(plant: Plant) -> tuple[Message, ...]:
    command = plant.text.partition(" --with=")[0]
    return _called(plant, "", "run_command", {"command": command}, f"Error: {_cause(plant)}\nExit code 2")


def _cause(plant: Plant) -> str:
    return _CAUSES[plant.number // len(Kind) % len(_CAUSES)]  # all kinds are planted in turn


def _called(plant: Plant, said: str, tool: str, arguments: Mapping[str, str], result: str) -> tuple[Message, ...]:
    call = f"plant_{plant.number}_{'fixed' if said else tool}"
    function = {"name": tool, "arguments": json.dumps(arguments)}
    calls = [{"id": call, "type": "function", "function": function}]
    return (
        {"role": "assistant", "content": said or None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": call, "name": tool, "content": result},
    )


_MESSAGES = {
    Stage.USER: _by_user,
    Stage.REPLY: lambda _: (),
    Stage.EXCHANGE: _exchange,
    Stage.FAILURE: _failure,
}
