"""
How OpenAI's Responses endpoint says things; ``provider`` serves it at POST /v1/responses.

It remembers the ids that it gave away: an item that reasoning led to is wanted back with that reasoning, or without its
id. It shares no code with ``gc_core``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.responses_messages import required_reasoning

JSON = dict[str, Any]


class Responses:
    """The vendor's part: errors, replies, usage."""

    @staticmethod
    def error(message: str, code: str | None) -> JSON:
        return {"error": {"message": message, "type": "invalid_request_error", "param": "input", "code": code}}

    @staticmethod
    def too_long(tokens: int, limit: int) -> tuple[str, str]:
        message = (
            f"This model's maximum context length is {limit} tokens. "
            f"However, your messages resulted in {tokens} tokens. Please reduce the length of the messages."
        )
        return message, "context_length_exceeded"

    @staticmethod
    def reply(number: int, body: JSON, message: JSON, usage: Any) -> JSON:
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": number,
            "model": body.get("model"),
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "metadata": {},
            "previous_response_id": body.get("previous_response_id"),
            "conversation": None,
            "output": [reported(item) for item in message["output"]],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": body.get("tools") or [],
            "temperature": 1.0,
            "top_p": 1.0,
            "usage": Responses.usage(usage),
        }

    @staticmethod
    def usage(usage: Any) -> JSON:
        return {
            "input_tokens": usage.prompt,
            "input_tokens_details": {"cached_tokens": usage.cache.read, "cache_write_tokens": 0},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.prompt + usage.output,
        }

    @staticmethod
    def events(_body: JSON, answer: JSON) -> Iterator[str]:
        """Each item as it is done, then the whole."""
        number = 0
        for number, item in enumerate(answer["output"]):
            yield _event("response.output_item.done", number, output_index=number, item=item)
        yield _event("response.completed", number + 1, response=answer)


def reported(item: JSON) -> JSON:
    """An item as the API puts it out: with fields that it does not want back."""
    if item["type"] == "message":
        blocks = [{**block, "logprobs": []} for block in item["content"]]
        return {**item, "content": blocks, "status": "completed"}
    return {**item, "status": "completed"} if item["type"] == "function_call" else item


def remembered(reply: JSON) -> dict[str, tuple[str, ...]]:
    """Which reasoning led to what, by the ids of a reply."""
    return required_reasoning([reply])


def plain_body(body: JSON) -> JSON:
    """A request as messages of text blocks, for counting and caching alone."""
    messages = [plain_item(item) for item in body.get("input") or [] if isinstance(item, dict)]
    plain = {key: body[key] for key in ("model", "tools") if key in body}
    return {**plain, "system": body.get("instructions"), "messages": messages}


def plain_item(item: JSON) -> JSON:
    """An item as a message: what the model reads of it, without ids; of encrypted reasoning an estimate."""
    kind = item.get("type", "message")
    if kind == "message":
        content = item["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else [_plain_block(b) for b in content]
        return {"role": item["role"], "content": blocks}
    if kind == "reasoning":
        said = " ".join(part["text"] for part in item.get("summary") or [])
        sealed = "x " * (len(item.get("encrypted_content") or "") // 10)
        return {"role": "assistant", "content": [{"type": "text", "text": said + sealed}]}
    if isinstance(item.get("output"), list):
        return {"role": "tool", "content": [_plain_block(block) for block in item["output"]]}
    bare = {key: value for key, value in item.items() if key not in ("id", "call_id", "type", "status")}
    text = bare["output"] if isinstance(bare.get("output"), str) else json.dumps(bare, ensure_ascii=False)
    return {"role": "tool" if "output" in item else "assistant", "content": [{"type": "text", "text": text}]}


def plain_reply(reply: JSON) -> JSON:
    """A reply as one message."""
    return {
        "role": "assistant",
        "content": [block for item in reply["output"] for block in plain_item(item)["content"]],
    }


def _plain_block(block: JSON) -> JSON:
    if block.get("type") in ("input_text", "output_text"):
        return {**block, "type": "text"}
    return {**block, "type": {"input_image": "image", "input_file": "file"}.get(block.get("type", ""), "other")}


def _event(kind: str, number: int, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, 'sequence_number': number, **fields})}\n\n"
