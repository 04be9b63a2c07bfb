"""What can be plugged in for the state of the task, and how it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from gc_core.errors import StateError
from gc_core.isolation import Attempt
from gc_core.task.values import TaskState
from gc_core.values.items import Item


@runtime_checkable
class StateExtractor(Protocol):
    """
    Keeps the state of the task up to date.

    ``extract`` is pure: the state before, and the originals that arrived since, give the state after. What it returns
    is checked: each entry names an item that exists, and nothing contradicts itself. It may raise whatever it likes;
    the core's own extractor stands in for it then.
    """

    def extract(self, state: TaskState, items: Sequence[Item], objective: str) -> TaskState:
        """
        Return the state with what these items say.

        Args:
            state: What was known before.
            items: The originals that arrived since, in their order: texts of users and assistants, thinking, calls and
                results, as they are in the log. Tokens are counted of texts of users alone.
            objective: What the agent is to reach, "" where no one says so.

        """


class RegisterExtractor(Protocol):
    """What ``gc_register_extractors`` receives: call it once for each extractor class on offer."""

    def __call__(self, name: str, extractor: type[StateExtractor]) -> None:
        """Offer an extractor class under a name that a configuration can use."""


def extracted(
    extractor: StateExtractor,
    state: TaskState,
    items: Sequence[Item],
    objective: str,
    guard: Callable[[], AbstractContextManager[Attempt]],
) -> TaskState:
    """
    Return the state by an extractor, checked; by the core's own where that raises, or returns what cannot be.

    ``guard`` catches what a plugin raises, and keeps it.
    """
    from gc_core.task.extractor import DeterministicExtractor
    from gc_core.task.schema import checked

    if isinstance(extractor, DeterministicExtractor):
        return extractor.extract(state, items, objective)
    found: TaskState | None = None
    with guard():
        answer = extractor.extract(state, items, objective)
        if not isinstance(answer, TaskState):
            raise StateError(f"$: {answer!r:.200} is no TaskState")
        found = checked(answer, items, state)
    return DeterministicExtractor().extract(state, items, objective) if found is None else found
