"""
llmslim's history processor for Pydantic AI: fits the history into a budget before each call.

Pydantic AI keeps what a processor answers as the history of the run (``ProcessHistory``), and so does this. It has one
number, the budget, which is the trigger here. It counts by cl100k_base, the only counter it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llmslim import count_tokens
from llmslim.integrations.pydantic_ai import llmslim_history_processor
from pydantic_ai.messages import ModelMessage
from pydantic_messages import from_pydantic, to_pydantic
from wire import Message, Opening, serve


class Processor:
    """A history that is fitted before each call."""

    def __init__(self, opening: Opening) -> None:
        count_tokens("loads the ranks: the time of no call")
        self._process = llmslim_history_processor(opening.trigger)
        self._history: list[ModelMessage] = []

    def hear(self, messages: Sequence[Message]) -> None:
        """Append."""
        self._history.extend(to_pydantic(messages))

    def collect(self) -> None:
        """Fit it."""
        self._history = self._process(self._history)

    def messages(self) -> Iterable[Message]:
        """What fits."""
        return from_pydantic(self._history)


if __name__ == "__main__":
    serve(Processor)
