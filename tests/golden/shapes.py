"""What a host's model and tools say, in each provider's shape; always the same for the same words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs

from tests.support.say import call, result, results, use

JSON = dict[str, Any]


@attrs.frozen
class Use:
    """One call of a tool."""

    key: str
    name: str
    arguments: JSON


def user(provider: str, text: str) -> JSON:
    return {"role": "user", "parts": [{"text": text}]} if provider == "gemini" else {"role": "user", "content": text}


def reply(provider: str, text: str, uses: Sequence[Use] = ()) -> JSON:
    """A model's reply with calls."""
    if provider == "responses":
        content = [{"type": "output_text", "text": text, "annotations": []}]
        message = {"type": "message", "id": f"msg_{len(text)}", "role": "assistant", "content": content}
        return {"output": [message, *map(responses_call, uses)]}
    if provider == "gemini":
        calls = [{"functionCall": {"id": each.key, "name": each.name, "args": each.arguments}} for each in uses]
        return {"role": "model", "parts": [{"text": text}, *calls]}
    if not uses:
        return {"role": "assistant", "content": text}
    named = [(each.key, each.name, each.arguments) for each in uses]
    return use(*named, text=text) if provider == "anthropic" else call(*named, text=text)


def responses_call(each: Use) -> JSON:
    return {
        "type": "function_call",
        "call_id": each.key,
        "name": each.name,
        "arguments": json.dumps(each.arguments),
    }


def answers(provider: str, uses: Sequence[Use], texts: Sequence[str]) -> list[JSON]:
    """The messages with the results of calls."""
    pairs = list(zip(uses, texts, strict=True))
    if provider == "responses":
        return [{"type": "function_call_output", "call_id": each.key, "output": text} for each, text in pairs]
    if provider == "gemini":
        parts = [
            {"functionResponse": {"id": each.key, "name": each.name, "response": {"output": text}}}
            for each, text in pairs
        ]
        return [{"role": "user", "parts": parts}]
    if provider == "anthropic":
        return [results(*((each.key, text) for each, text in pairs))]
    return [result(each.key, text) for each, text in pairs]


def usage(provider: str, tokens: int) -> JSON:
    """A provider's report on a request of so many tokens, three quarters of which it read from its cache."""
    read = tokens * 3 // 4
    if provider == "openai":
        return {"prompt_tokens": tokens, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": read}}
    if provider == "responses":
        return {"input_tokens": tokens, "output_tokens": 30, "input_tokens_details": {"cached_tokens": read}}
    if provider == "gemini":
        return {"promptTokenCount": tokens, "candidatesTokenCount": 30, "cachedContentTokenCount": read}
    return {
        "input_tokens": tokens - read,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": 0,
        "output_tokens": 30,
    }
