"""The contract of extractors of the task state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import attrs

from gc_core.errors import StateError
from gc_core.isolation import isolated
from gc_core.task.contract import StateExtractor
from gc_core.task.schema import checked
from gc_core.task.values import TaskState
from gc_core.testing.contexts import made
from gc_core.testing.contract import Contract, rule
from gc_core.testing.purity import MOMENTS, at_moment
from gc_core.values.items import Form, Item, ItemKind
from gc_core.values.policy import GCPolicy

_KINDS = frozenset(
    {ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.THINKING, ItemKind.TOOL_CALL, ItemKind.TOOL_RESULT}
)
_ODD = {"empty texts": "", "white space": " \n\t" * 50, "a lone surrogate": "\ud800 stood here", "NUL": "\0" * 9}
_SAID = (
    "Never touch the file billing.py.",
    "You may touch billing.py now.",
    "Use SQLite for the index.",
    "No, use Postgres instead of SQLite.",
    "Why does test_login fail?",
)
_MANY = 600
"""The items of a long conversation: more demands than a state has room for."""


class ExtractorContract(Contract):
    """
    The rules for extractors of the task state. Subclass it as ``class TestMine(ExtractorContract)``.

    Give an extractor that asks a model a fake model: the rules ask in every test run.

    Attributes:
        extractor: The class; or override ``make`` where it needs arguments.

    """

    extractor: ClassVar[type[StateExtractor] | None] = None

    def make(self) -> StateExtractor:
        """Return an extractor to test; a new one with every call."""
        assert self.extractor is not None, f"{type(self).__name__} names none: set `extractor` or override make()"
        return self.extractor()

    @rule
    def test_answers_with_a_state(self) -> None:
        """The answer is a TaskState that gc-core accepts: within bounds, and without contradicting itself."""
        for name, items in self._said():
            self._extracted(name, TaskState(), items)

    @rule
    def test_names_items_that_exist(self) -> None:
        """Every entry names items that it was given, or that the previous state names."""
        for name, items in self._said():
            known, state = {item.id for item in items}, self.make().extract(TaskState(), items, "")
            unknown = sorted(state.references() - known)
            assert not unknown, f"{name}: names {unknown[:3]}; expected ids of the items that it was given"

    @rule
    def test_in_pieces_as_at_once(self) -> None:
        """The number of batches in which items arrive does not matter."""
        for name, items in self._said():
            whole, state = self._extracted(name, TaskState(), items), TaskState()
            step = max(1, len(items) // 5)
            for place in range(0, len(items), step):
                end = place + step
                state = self._extracted(name, state, items[place:end], given=items[:end])
            assert state == whole, f"{name}: in pieces of {step} items the state is another one than at once"

    @rule
    def test_survives_json(self) -> None:
        """The state is the same after being written and read."""
        for name, items in self._said():
            state = self.make().extract(TaskState(), items, "Make the tests pass.")
            again = TaskState.from_json(state.to_json())
            assert again == state, f"{name}: another state comes back from JSON; store only plain texts and numbers"

    @rule
    def test_stays_within_its_bounds(self) -> None:
        """However much is said, the state stays within its bounds; what leaves is counted."""
        items = _talk(_MANY)
        state = self._extracted(f"{_MANY} demands", TaskState(), items)
        self._extracted(f"{_MANY} more demands", state, _talk(_MANY, first=len(items) + 1))

    @rule
    def test_nothing_new_changes_nothing(self) -> None:
        """Without items the entries stay as they were."""
        for name, items in self._said():
            state = self._extracted(name, TaskState(), items)
            again = self._extracted(name, state, ())
            same = list(again.entries()) == list(state.entries())
            assert same, f"{name}: without a new item the entries are others than before"

    @rule
    def test_extraction_takes_nothing_from_chance_or_clock(self) -> None:
        """Another time or another random number makes no difference."""
        for name, items in self._said():
            states = []
            for moment in MOMENTS:
                with at_moment(moment):
                    states.append(self.make().extract(TaskState(), items, ""))
            assert states[0] == states[1], f"{name}: another state a day later, with another random seed"

    @rule
    def test_extraction_changes_nothing(self) -> None:
        """The previous state and the items stay as they were."""
        for name, items in self._said():
            half = len(items) // 2
            before = self._extracted(name, TaskState(), items[:half])
            copy, copies = TaskState.from_json(before.to_json()), [attrs.evolve(item) for item in items]
            with isolated():  # another rule checks what it raises
                self.make().extract(before, items[half:], "")
            assert before == copy, f"{name}: has changed the state before; make a new one"
            assert list(items) == copies, f"{name}: has changed an item; read it only"

    @rule
    def test_extracts_from_odd_items(self) -> None:
        """It raises for nothing that a session may contain: empty texts, results without a call, lone surrogates."""
        (_, usual), *_ = self._said()
        for name, text in _ODD.items():
            self._extracted(name, TaskState(), [attrs.evolve(item, text=text) for item in usual])
        results = [item for item in usual if item.kind is ItemKind.TOOL_RESULT]
        self._extracted("results alone", TaskState(), results)

    # -- inside --------------------------------------------------------------------------------------------------

    def _said(self) -> Iterator[tuple[str, Sequence[Item]]]:
        yield "a short talk", _talk(len(_SAID))
        for seed in self.seeds:
            units = made(seed, None, None).view(pressure=False).units
            items = (item for unit in units for item in unit.items)
            yield f"seed {seed}", [item for item in items if item.kind in _KINDS and item.form is Form.WHOLE]

    def _extracted(
        self, name: str, state: TaskState, items: Sequence[Item], given: Sequence[Item] | None = None
    ) -> TaskState:
        """Return the answer, validated against everything that was given so far."""
        found: object = None
        with isolated() as attempt:
            found = self.make().extract(state, items, "")
        error = attempt.error
        if error is not None:
            raise AssertionError(f"{name}: raises {type(error).__name__}: {error}") from error
        assert isinstance(found, TaskState), f"{name}: answers {found!r:.100}; expected a TaskState"
        try:
            return checked(found, items if given is None else given, state)
        except StateError as refused:
            raise AssertionError(f"{name}: gc-core refuses the state: {refused}") from refused


def _talk(count: int, first: int = 1) -> list[Item]:
    """Return a user who demands something, retracts it and demands something else, each with its own names."""
    return [
        Item(
            id=f"i{first + number}",
            kind=ItemKind.USER_TEXT,
            source="conversation",
            text=_SAID[number % len(_SAID)].replace(".py", f"{number // len(_SAID)}.py"),
            turn=first + number,
            unit=first + number,
            policy=GCPolicy.PRESERVABLE,
            tokens=10,
            original_tokens=10,
        )
        for number in range(count)
    ]
