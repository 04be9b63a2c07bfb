"""The contract of extractors of the task state, and how they are called."""

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
    Keeps the task state up to date.

    ``extract`` is pure: the previous state and the originals since then yield the next state. Its result is validated:
    each entry names an existing item, and nothing contradicts itself. It may raise anything; the core's own extractor
    replaces it then.
    """

    def extract(self, state: TaskState, items: Sequence[Item], objective: str) -> TaskState:
        """
        Return the state updated from these items.

        Args:
            state: The previous state.
            items: The originals since then, in order: texts of users and assistants, thinking, calls and results, as
                they are in the log. Only users' texts have token counts.
            objective: The agent's objective, "" if unknown.

        """


class RegisterExtractor(Protocol):
    """The argument of ``gc_register_extractors``: call it once for each extractor class that you offer."""

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
    Return the validated state from an extractor; from the core's own if it raises, or returns an invalid state.

    ``guard`` catches and records the plugin's errors.
    """
    from gc_core.task.extractor import DeterministicExtractor
    from gc_core.task.schema import checked

    if isinstance(extractor, DeterministicExtractor):
        return extractor.extract(state, items, objective)
    found: TaskState | None = None
    with guard():
        answer = extractor.extract(state, items, objective)
        if not isinstance(answer, TaskState):
            raise StateError(f"$: {answer!r:.200} is not a TaskState")
        found = checked(answer, items, state)
    return DeterministicExtractor().extract(state, items, objective) if found is None else found
