"""
LangChain's ``ContextEditingMiddleware`` with ``ClearToolUsesEdit`` and its defaults: above the trigger, all tool
results but the newest three are cleared in what is sent. The state keeps them, and each call clears again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_messages import from_langchain, to_langchain, tokens
from wire import Message, Opening, serve


class Clearing:
    """The middleware around a model call."""

    def __init__(self, opening: Opening) -> None:
        self._middleware = ContextEditingMiddleware(
            edits=[ClearToolUsesEdit(trigger=opening.trigger)], token_counter=tokens
        )
        self._model = FakeListChatModel(responses=[""])
        self._state: list[BaseMessage] = []
        self._sent: Sequence[BaseMessage] = ()

    def hear(self, messages: Sequence[Message]) -> None:
        """Append to the state."""
        self._state.extend(map(to_langchain, messages))

    def collect(self) -> None:
        """The hook around a model call."""
        self._middleware.wrap_model_call(ModelRequest(model=self._model, messages=self._state), self._send)

    def messages(self) -> Iterable[Message]:
        """What the model would have been given."""
        return map(from_langchain, self._sent)

    def _send(self, request: ModelRequest) -> ModelResponse:
        self._sent = request.messages
        return ModelResponse(result=[AIMessage(content="")])


if __name__ == "__main__":
    serve(Clearing)
