"""OpenAI's messages as those of Strands, and back, and the stub in the place of a model."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

from strands.models.model import Model
from wire import Call, Message, calls_of, said, summary_of, tokens_of


class StubModel(Model):
    """Knows its window, counts as the benchmark does, and answers with the stub's summary of what it is given."""

    def __init__(self, window: int) -> None:
        self._config = {"model_id": "stub", "context_window_limit": window}

    def update_config(self, **model_config: Any) -> None:
        """As a model must."""
        self._config.update(model_config)

    def get_config(self) -> Any:
        """With the window."""
        return self._config

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Never asked for."""
        raise RuntimeError("structured_output: the model of this benchmark only says that it has a window")

    async def count_tokens(self, messages: Any, *_: Any, **__: Any) -> int:
        """The benchmark's count."""
        return sum(map(tokens_of, from_strands(messages)))

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """The summary, as a model streams it."""
        text = summary_of(message.get("content") or "" for message in from_strands(messages))
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def to_strands(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Messages of Strands: the results of one reply stand in one message."""
    for role, group in itertools.groupby(messages, key=lambda message: message["role"]):
        if role == "tool":
            yield {"role": "user", "content": [_result(message) for message in group]}
        else:
            yield from map(_message, group)


def from_strands(messages: Iterable[Any]) -> Iterator[Message]:
    """OpenAI's messages."""
    for message in messages:
        blocks = message["content"]
        text = "\n".join(block["text"] for block in blocks if "text" in block)
        if message["role"] == "assistant":
            uses = (block["toolUse"] for block in blocks if "toolUse" in block)
            yield said(text, (Call(id=use["toolUseId"], name=use["name"], arguments=use["input"]) for use in uses))
            continue
        for result in (block["toolResult"] for block in blocks if "toolResult" in block):
            yield {"role": "tool", "tool_call_id": result["toolUseId"], "content": _text(result["content"])}
        if text or not any("toolResult" in block for block in blocks):
            yield {"role": "user", "content": text}


def _message(message: Message) -> dict[str, Any]:
    text = [{"text": message["content"]}] if message.get("content") else []
    uses = [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}} for call in calls_of(message)
    ]
    return {"role": "assistant" if message["role"] == "assistant" else "user", "content": [*text, *uses]}


def _result(message: Message) -> dict[str, Any]:
    content = [{"text": message.get("content") or ""}]
    return {"toolResult": {"toolUseId": message["tool_call_id"], "status": "success", "content": content}}


def _text(blocks: Iterable[Any]) -> str:
    return "\n".join(block["text"] if "text" in block else json.dumps(block) for block in blocks)
