"""
pydantic-ai-harness: ``TieredCompaction``, which clears old tool results and then summarises, run by ``compact_now``.

In a run of an agent the strategy has one number, where it begins and ends; ``compact_now`` is its door for a host that
says itself when, and so it begins at the trigger and ends at the target. Tiers at their defaults, but for the tail that
the summary leaves, which is cut to the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness.compaction import ClearToolResults, SummarizingCompaction, TieredCompaction, compact_now
from pydantic_messages import from_pydantic, to_pydantic
from wire import SUMMARY_TOKENS, Loop, Message, Opening, count, serve, summary_of, tokens_of


class Tiered:
    """A history that its host compacts when it reaches the trigger."""

    def __init__(self, opening: Opening) -> None:
        self._trigger = opening.trigger
        self._model = FunctionModel(_summary)
        self._strategy = TieredCompaction(
            tiers=[
                ClearToolResults(max_tokens=1, tokenizer=count),
                SummarizingCompaction(
                    model=self._model,
                    max_messages=1,
                    keep_tokens=opening.target - 2 * SUMMARY_TOKENS,
                    tokenizer=count,
                ),
            ],
            target_tokens=opening.target,
            tokenizer=count,
        )
        self._loop = Loop()
        self._history: list[ModelMessage] = []

    def hear(self, messages: Sequence[Message]) -> None:
        """Append."""
        self._history.extend(to_pydantic(messages))

    def collect(self) -> None:
        """Compact, and keep what comes of it."""
        if sum(map(tokens_of, self.messages())) >= self._trigger:
            work = compact_now(self._strategy, self._history, model=self._model, tokenizer=count)
            self._history = list(self._loop.run(work))

    def messages(self) -> Iterable[Message]:
        """The history."""
        return from_pydantic(self._history)


def _summary(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    texts = (str(getattr(part, "content", "")) for message in messages for part in message.parts)
    return ModelResponse(parts=[TextPart(content=summary_of(texts))])


if __name__ == "__main__":
    serve(Tiered)
