"""
Agent Framework's ``ContextWindowCompactionStrategy``: older tool results become one line each, and above the trigger
the oldest groups are excluded, for good.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

import agent_framework
from agent_framework import Content, ContextWindowCompactionStrategy, apply_compaction
from wire import Call, Loop, Message, Opening, calls_of, count, said, serve


class Counter:
    """Counts for the strategy, which asks with a message as JSON."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return count(text)


class Window:
    """A run's messages, and the strategy that edits them before each model call."""

    def __init__(self, opening: Opening) -> None:
        self._loop = Loop()
        self._messages: list[agent_framework.Message] = []
        self._sent: Sequence[agent_framework.Message] = ()
        self._strategy = ContextWindowCompactionStrategy(
            max_context_window_tokens=opening.window,
            max_output_tokens=0,
            tokenizer=Counter(),
            tool_eviction_threshold=opening.target / opening.window,
            truncation_threshold=opening.trigger / opening.window,
        )

    def hear(self, messages: Sequence[Message]) -> None:
        """Append to the run."""
        self._messages.extend(map(to_framework, messages))

    def collect(self) -> None:
        """What a chat client does before a model call."""
        self._sent = self._loop.run(apply_compaction(self._messages, strategy=self._strategy, tokenizer=Counter()))

    def messages(self) -> Iterable[Message]:
        """What the strategy has not excluded."""
        return (openai for message in self._sent for openai in from_framework(message))


def to_framework(message: Message) -> agent_framework.Message:
    """Agent Framework's message."""
    text = message.get("content") or ""
    if message["role"] == "tool":
        return agent_framework.Message("tool", [Content.from_function_result(message["tool_call_id"], result=text)])
    calls = [
        Content.from_function_call(call.id, call.name, arguments=json.dumps(call.arguments))
        for call in calls_of(message)
    ]
    return agent_framework.Message(message["role"], [*([text] if text else []), *calls])


def from_framework(message: agent_framework.Message) -> Iterator[Message]:
    """OpenAI's messages."""
    if message.role == "tool":
        for content in message.contents:
            yield {"role": "tool", "tool_call_id": content.call_id, "content": content.result}
    elif message.role == "assistant":
        found = [content for content in message.contents if content.type == "function_call"]
        yield said(message.text, [Call(each.call_id, each.name, json.loads(each.arguments)) for each in found])
    else:
        yield {"role": message.role, "content": message.text}


if __name__ == "__main__":
    serve(Window)
