"""
llmslim's context engine for Hermes Agent: old texts are compressed by one shared ratio, without a model.

Hermes Agent is not a package, so its base class, from which the engine only inherits, is replaced by an empty one.
The engine counts by cl100k_base, the only counter it has; when to begin is asked with the benchmark's count.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Sequence

from wire import Message, Opening, serve, tokens_of


class ContextEngine:
    """In the place of Hermes's base class."""

    def on_session_reset(self) -> None:
        """Nothing to forget."""


_module = types.ModuleType("agent.context_engine")
_module.ContextEngine = ContextEngine  # type: ignore[attr-defined]
sys.modules["agent"] = types.ModuleType("agent")
sys.modules["agent.context_engine"] = _module

from llmslim import count_tokens  # noqa: E402 - llmslim imports what stands above
from llmslim.integrations.hermes import LLMSlimContextEngine  # noqa: E402


class Engine:
    """A history that the engine compresses for good."""

    def __init__(self, opening: Opening) -> None:
        count_tokens("loads the ranks: the time of no call")
        self._engine = LLMSlimContextEngine(
            context_length=opening.window,
            threshold_percent=opening.trigger / opening.window,
            target_percent=opening.target / opening.window,
        )
        self._history: list[Message] = []

    def hear(self, messages: Sequence[Message]) -> None:
        """Append."""
        self._history.extend(messages)

    def collect(self) -> None:
        """Compress when the engine says so."""
        tokens = sum(map(tokens_of, self._history))
        if self._engine.should_compress(tokens):
            self._history = self._engine.compress(self._history, current_tokens=tokens)

    def messages(self) -> Iterable[Message]:
        """The history."""
        return self._history


if __name__ == "__main__":
    serve(Engine)
