"""
LangChain's ``SummarizationMiddleware``: messages older than the newest become one summary, permanently.

The stub summarises all that leaves (``trim_tokens_to_summarize=None``). With LangChain's own limit of 4,000 tokens,
which has to begin at a user message, a long run of tool calls leaves nothing to summarise at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import BaseMessage
from langchain_messages import from_langchain, to_langchain, tokens
from langgraph.graph.message import add_messages
from wire import SUMMARY_TOKENS, Message, Opening, serve, summary_of


class Summarization:
    """The middleware before a model call, and the state that it edits."""

    def __init__(self, opening: Opening) -> None:
        self._middleware = SummarizationMiddleware(
            model=FakeListChatModel(responses=[""]),  # asked for, never called: there is a summarizer
            trigger=("tokens", opening.trigger),
            keep=("tokens", opening.target - SUMMARY_TOKENS),
            token_counter=tokens,
            trim_tokens_to_summarize=None,
            summarizer=_summary,
        )
        self._state: list[BaseMessage] = []

    def hear(self, messages: Sequence[Message]) -> None:
        """Append to the state as a graph does."""
        self._state = add_messages(self._state, [to_langchain(message) for message in messages])

    def collect(self) -> None:
        """The hook before a model call, and the reducer on what it answers."""
        update = self._middleware.before_model({"messages": self._state}, None)
        if update:
            self._state = add_messages(self._state, update["messages"])

    def messages(self) -> Iterable[Message]:
        """The state."""
        return map(from_langchain, self._state)


def _summary(messages: list[BaseMessage]) -> str:
    return summary_of(message.text for message in messages)


if __name__ == "__main__":
    serve(Summarization)
