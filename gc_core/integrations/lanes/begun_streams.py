"""A reply in events, held back until it is known whether it is a refusal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Generic, Self, TypeVar

from gc_core.isolation import isolated

E = TypeVar("E")


class BegunStream(Generic[E]):
    """
    The events of a reply. The first ones are held: those that may come before content, and one more.

    Attributes:
        error: What was raised instead of the next event; None for nothing.

    """

    def __init__(self, events: AsyncIterator[E]) -> None:
        self.error: BaseException | None = None
        self._events = events
        self._held: list[E] = []

    @classmethod
    async def of(cls, events: AsyncIterator[E], opens: Callable[[E], bool]) -> Self:
        """Return the stream, begun; ``opens`` is true for an event that may come before content."""
        begun = cls(events)
        with isolated() as attempt:
            async for event in events:
                begun._held.append(event)
                if not opens(event):
                    break
        begun.error = attempt.error
        return begun

    async def __aiter__(self) -> AsyncIterator[E]:
        """Yield all events, and raise the error where it came."""
        for event in self._held:
            yield event
        if self.error is not None:
            raise self.error
        async for event in self._events:
            yield event
