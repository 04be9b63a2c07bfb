"""
Strands: an ``Agent`` whose messages a conversation manager or the context manager edits in place.

The argument says which: ``summarizing`` (``SummarizingConversationManager``), ``sliding``
(``SlidingWindowConversationManager``, by its 40 messages before every call) or ``context`` (the experimental context
manager with the strategies of its preset ``auto``). Each begins at the trigger; none has a target. The agent's events
are announced as its loop does: a message was added, a model call comes, and, where the request is still larger than
the window, the provider refused it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from strands import Agent
from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager
from strands.experimental.context_manager import Offload
from strands.hooks import AfterModelCallEvent, BeforeModelCallEvent
from strands.types.exceptions import ContextWindowOverflowException
from strands_messages import StubModel, from_strands, to_strands
from wire import Loop, Message, Opening, serve, tokens_of

MOST_REFUSALS = 3
"""How often a request is tried again, as the context manager has it."""


class StrandsAgent:
    """An agent that is notified of its model calls."""

    def __init__(self, opening: Opening) -> None:
        self._window = opening.window
        self._loop = Loop()
        self._new: list[Any] = []
        self._context = sys.argv[1] == "context"
        options = _options(sys.argv[1], opening.trigger / opening.window)
        self._agent = Agent(model=StubModel(opening.window), callback_handler=None, **options)

    def hear(self, messages: Sequence[Message]) -> None:
        """Keep them for the agent, whose own way in is part of its work."""
        self._new = list(to_strands(messages))

    def collect(self) -> None:
        """What the agent's loop tells before a model call, and after one that was refused."""
        self._loop.run(self._agent._append_messages(*self._new))  # as its own loop does
        event = BeforeModelCallEvent(agent=self._agent, invocation_state={}, projected_input_tokens=self._tokens())
        self._loop.run(self._agent.hooks.invoke_callbacks_async(event))
        for _ in range(MOST_REFUSALS):
            if self._tokens() <= self._window:
                return
            self._refused()

    def messages(self) -> Iterable[Message]:
        """The agent's messages."""
        return from_strands(self._agent.messages)

    def _tokens(self) -> int:
        return sum(map(tokens_of, self.messages()))

    def _refused(self) -> None:
        error = ContextWindowOverflowException("the request is larger than the window")
        if self._context:
            event = AfterModelCallEvent(agent=self._agent, invocation_state={}, exception=error)
            self._loop.run(self._agent.hooks.invoke_callbacks_async(event))
        else:
            self._agent.conversation_manager.reduce_context(self._agent, e=error)


def _options(kind: str, threshold: float) -> dict[str, Any]:
    early: Any = {"compression_threshold": threshold}
    match kind:
        case "summarizing":
            return {"conversation_manager": SummarizingConversationManager(proactive_compression=early)}
        case "sliding":
            manager = SlidingWindowConversationManager(per_turn=True, proactive_compression=early)
            return {"conversation_manager": manager}
        case _:
            strategies = [
                Offload.truncate("tool_results", {"preview_tokens": 750}).when(threshold=1_500),
                Offload.summarize("*").when(utilization=threshold, preserve_recent=4),
            ]
            return {"context_manager": {"strategies": strategies}}


if __name__ == "__main__":
    serve(StrandsAgent)
