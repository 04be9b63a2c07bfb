"""
A second opinion on rendered requests, independent of ``gc_core``: a walk over the plain JSON, as a server does it.

It answers in the providers' own words, collected from public issue threads and from the vendors' documentation. Where
the API is laxer than the rules that gc-core keeps (arguments that are no JSON), this checker is strict too.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tests.support.gemini_checker import GeminiServer
from tests.support.responses_checker import ResponsesServer

JSON = dict[str, Any]

THINKING = ("thinking", "redacted_thinking")


def complaints(provider: str, request: JSON, **options: Any) -> list[str]:
    """The provider's complaints about this request; empty if it accepts it."""
    servers = {
        "openai": OpenAIServer,
        "anthropic": AnthropicServer,
        "gemini": GeminiServer,
        "responses": ResponsesServer,
    }
    return servers[provider](**options).read(request)


class OpenAIServer:
    """POST /v1/chat/completions, up to the point where the model would be asked."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.waiting: Counter[str] = Counter()
        self.answered: dict[str, int] = {}
        self.in_batch = False

    def read(self, request: JSON) -> list[str]:
        messages = request.get("messages")
        if not messages:
            self.say_empty("messages", "array")
        for index, message in enumerate(messages or []):
            getattr(self, f"read_{message.get('role')}", self.read_unknown)(index, message)
        self.end_batch()
        return self.errors

    def read_unknown(self, _index: int, message: JSON) -> None:
        self.errors.append(
            f"Invalid value: '{message.get('role')}'. Supported values are: 'system', 'assistant', 'user', 'function', "
            "'tool', and 'developer'."
        )

    def read_system(self, index: int, message: JSON) -> None:
        self.end_batch()
        self.need_content(index, message)

    read_developer = read_system
    read_user = read_system

    def read_assistant(self, index: int, message: JSON) -> None:
        self.end_batch()
        calls = message.get("tool_calls")
        if calls == []:
            self.say_empty(f"messages[{index}].tool_calls", "array")
        if not calls and not message.get("refusal"):
            self.need_content(index, message)
        elif message.get("content"):
            self.need_parts(index, message)
        for position, call in enumerate(calls or []):
            self.read_call(f"messages[{index}].tool_calls[{position}]", call)
        self.in_batch = bool(calls)

    def read_call(self, path: str, call: JSON) -> None:
        self.waiting[call["id"]] += 1
        if call.get("type", "function") != "function":
            return
        if not call["function"].get("name"):
            self.say_empty(f"{path}.function.name", "string")
        try:
            arguments = json.loads(call["function"]["arguments"])
        except (ValueError, TypeError, KeyError):
            arguments = None
        if not isinstance(arguments, dict):
            self.errors.append(f"Invalid '{path}.function.arguments': expected a JSON object encoded as a string.")

    def read_tool(self, index: int, message: JSON) -> None:
        name = message.get("tool_call_id")
        if not self.in_batch:
            self.errors.append(
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                "'tool_calls'."
            )
        elif self.waiting[name] > 0:
            self.waiting[name] -= 1
            self.answered[name] = index
        elif name in self.answered:
            self.errors.append(
                f"Invalid parameter: Duplicate value for 'tool_call_id' of '{name}', in "
                f"messages[{self.answered[name]}] and messages[{index}]."
            )
        else:
            self.errors.append(
                f"Invalid parameter: 'tool_call_id' of '{name}' not found in 'tool_calls' of previous message."
            )
        if message.get("content") not in ("", []):  # the API takes results without text
            self.need_content(index, message)

    def end_batch(self) -> None:
        missing = list(self.waiting.elements())
        if missing:
            self.errors.append(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}"
            )
        self.waiting.clear()
        self.answered.clear()
        self.in_batch = False

    def need_content(self, index: int, message: JSON) -> None:
        content = message.get("content")
        if content is None:
            self.errors.append("Invalid value for 'content': expected a string, got null.")
        elif content == "":
            self.say_empty(f"messages[{index}].content", "string")
        else:
            self.need_parts(index, message)

    def need_parts(self, index: int, message: JSON) -> None:
        content = message["content"]
        if content == []:
            self.say_empty(f"messages[{index}].content", "array")
        if isinstance(content, list):
            for position, part in enumerate(content):
                if part.get("type") == "text" and not part.get("text"):
                    self.say_empty(f"messages[{index}].content[{position}].text", "string")

    def say_empty(self, path: str, kind: str) -> None:
        wanted = f"{'an' if kind == 'array' else 'a'} {kind}"
        self.errors.append(
            f"Invalid '{path}': empty {kind}. Expected {wanted} with minimum length 1, but got an empty {kind} instead."
        )


class AnthropicServer:
    """
    POST /v1/messages, up to the point where the model would be asked.

    ``unique_ids`` is what Anthropic asks of tool_use ids; servers that copy its API do not. ``prefill`` is whether the
    model takes a last assistant message.
    """

    def __init__(self, *, unique_ids: bool = True, prefill: bool = True) -> None:
        self.errors: list[str] = []
        self.unique_ids = unique_ids
        self.prefill = prefill
        self.ids: set[str] = set()
        self.called: list[str] = []
        self.caller = -1

    def read(self, request: JSON) -> list[str]:
        messages = request.get("messages")
        if not messages:
            return ["messages: at least one message is required"]
        if len(messages) > 100_000:
            return ["messages: too many messages; at most 100000 are allowed"]
        if messages[0]["role"] != "user" and not opens_with_compaction(messages[0]):
            self.errors.append('messages: first message must use the "user" role')
        self.read_server_blocks(messages)
        for index, message in enumerate(messages):
            self.read_message(index, message, is_last=index == len(messages) - 1)
            self.read_place(index, messages)
        self.need_results()
        self.read_system(request.get("system"))
        self.read_tools(request.get("tools") or [])
        self.read_thinking(request, messages)
        self.read_marks(request)
        if not self.prefill and messages[-1]["role"] == "assistant":
            self.errors.append(
                "This model does not support assistant message prefill. The conversation must end with a user message."
            )
        return self.errors

    # -- messages

    def read_message(self, index: int, message: JSON, *, is_last: bool) -> None:
        blocks = as_blocks(message.get("content"))
        self.read_emptiness(index, message["role"], blocks, is_last=is_last)
        self.read_results(index, message["role"], blocks)
        if self.called:
            self.need_results()
        for position, block in enumerate(blocks):
            self.read_block(f"messages.{index}.content.{position}", message["role"], block)
        if message["role"] == "assistant":
            self.called = [block["id"] for block in blocks if block["type"] == "tool_use"]
            self.caller = index
            if blocks and blocks[-1]["type"] in THINKING:
                self.errors.append(f"messages.{index}: The final block in an assistant message cannot be `thinking`.")

    def read_emptiness(self, index: int, role: str, blocks: list[JSON], *, is_last: bool) -> None:
        if not blocks and role == "user":
            self.errors.append(f"messages.{index}: user messages must have non-empty content")
        elif not blocks and not is_last:
            self.errors.append(
                f"messages.{index}: all messages must have non-empty content except for the optional final assistant "
                "message"
            )
        self.read_texts("messages", blocks)

    def read_texts(self, where: str, blocks: list[JSON]) -> None:
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        if "" in texts:
            self.errors.append(f"{where}: text content blocks must be non-empty")
        elif texts and len(texts) == len(blocks) and not "".join(texts).strip():
            self.errors.append(f"{where}: text content blocks must contain non-whitespace text")

    def read_results(self, index: int, role: str, blocks: list[JSON]) -> None:
        """Only results that open a user message count as answers to the message before."""
        answered: list[str] = []
        opening = True
        for position, block in enumerate(blocks):
            if block["type"] != "tool_result":
                opening = False
                continue
            name = block["tool_use_id"]
            if name in self.called and opening and role == "user":
                self.called.remove(name)
                answered.append(name)
            elif name in answered:
                self.errors.append(
                    f"messages.{index}.content.{position}: each tool_use must have a single result. Found multiple "
                    f"`tool_result` blocks with id: {name}"
                )
            elif opening or name not in self.called:
                self.errors.append(
                    f"messages.{index}.content.{position}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{name}. Each `tool_result` block must have a corresponding `tool_use` block in the previous "
                    "message."
                )

    def need_results(self) -> None:
        if self.called:
            self.errors.append(
                f"messages.{self.caller}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(self.called)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )
        self.called = []

    def read_block(self, path: str, role: str, block: JSON) -> None:
        kind = block["type"]
        if kind == "tool_use":
            self.read_call(path, role, block)
        elif kind == "tool_result" and role != "user":
            self.errors.append(f"{path}: `tool_result` blocks can only be in `user` messages")
        elif kind in THINKING and role != "assistant":
            self.errors.append(f"{path}: `{kind}` blocks can only be in `assistant` messages")
        elif kind == "thinking":
            self.need_field(path, "thinking", block, "thinking", may_be_empty=True)
            self.need_field(path, "thinking", block, "signature")
        elif kind == "redacted_thinking":
            self.need_field(path, "redacted_thinking", block, "data")

    def need_field(self, path: str, kind: str, block: JSON, field: str, *, may_be_empty: bool = False) -> None:
        value = block.get(field)
        if not isinstance(value, str):
            self.errors.append(f"{path}.{kind}.{field}: Field required")
        elif not value and not may_be_empty:
            self.errors.append(f"{path}: Invalid `{field}` in `{kind}` block")

    def read_call(self, path: str, role: str, block: JSON) -> None:
        if role != "assistant":
            self.errors.append(f"{path}: `tool_use` blocks can only be in `assistant` messages")
        if not isinstance(block.get("input"), dict):
            self.errors.append(f"{path}.tool_use.input: Input should be a valid dictionary")
        if self.unique_ids and block["id"] in self.ids:
            self.errors.append(f"{path}: `tool_use` ids must be unique")
        self.ids.add(block["id"])

    def read_place(self, index: int, messages: list[JSON]) -> None:
        """The valid places of a system message inside the conversation."""
        role = messages[index]["role"]
        if role not in ("user", "assistant", "system"):
            self.errors.append(f"messages.{index}.role: Input should be 'user', 'assistant' or 'system'")
        if role != "system" or index == 0:  # the first message has been refused already
            return
        before = messages[index - 1]
        after = messages[index + 1]["role"] if index + 1 < len(messages) else "assistant"
        if after != "assistant" or not (before["role"] == "user" or ends_in_server_tool(before)):
            self.errors.append(
                f"messages.{index}: `system` messages must directly follow a `user` message and be last or followed "
                "by an `assistant` message"
            )

    def read_server_blocks(self, messages: list[JSON]) -> None:
        """Compactions, and server tools, whose results name a call that came before."""
        called = set()
        for index, message in enumerate(messages):
            for position, block in enumerate(as_blocks(message.get("content"))):
                path, kind, answers = f"messages.{index}.content.{position}", block["type"], block.get("tool_use_id")
                if kind == "compaction" and block.get("content") == "":
                    self.errors.append(f"{path}.compaction.content: empty string is not allowed")
                if kind in ("server_tool_use", "mcp_tool_use"):
                    called.add(block.get("id"))
                elif kind != "tool_result" and kind.endswith("_tool_result") and answers and answers not in called:
                    self.errors.append(f"{path}: unexpected `tool_use_id` found in `{kind}` blocks: {answers}")

    # -- the rest of the request

    def read_system(self, system: str | list[JSON] | None) -> None:
        self.read_texts("system", as_blocks(system))

    def read_tools(self, tools: list[JSON]) -> None:
        names = [tool["name"] for tool in tools]
        if len(set(names)) != len(names):
            self.errors.append("tools: Tool names must be unique.")

    def read_thinking(self, request: JSON, messages: list[JSON]) -> None:
        """With thinking enabled, a running tool loop opens with the thinking that led to it."""
        thinking = (request.get("thinking") or {}).get("type") == "enabled"
        if not thinking or not has_result(messages[-1]):
            return
        start = len(messages) - 1
        while start and (messages[start]["role"] == "assistant" or has_result(messages[start])):
            start -= 1
        loop = [index for index in range(start, len(messages)) if messages[index]["role"] == "assistant"]
        kind = as_blocks(messages[loop[0]]["content"])[0]["type"] if loop else "thinking"
        if kind not in THINKING:
            self.errors.append(
                f"messages.{loop[0]}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. "
                "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding "
                "the lastmost set of `tool_use` and `tool_result` blocks)."
            )

    def read_marks(self, request: JSON) -> None:
        """Breakpoints: top level, tools, system, messages, and the blocks inside results."""
        marks = "cache_control" in request
        marks += sum("cache_control" in tool for tool in request.get("tools") or [])
        marks += sum("cache_control" in block for block in as_blocks(request.get("system")))
        for index, message in enumerate(request["messages"]):
            for position, block in enumerate(as_blocks(message.get("content"))):
                marks += self.count_marks(f"messages.{index}.content.{position}", block)
        if marks > 4:
            self.errors.append(f"A maximum of 4 blocks with cache_control may be provided. Found {marks}.")

    def count_marks(self, path: str, block: JSON) -> int:
        marks = 0
        if block["type"] == "tool_result" and isinstance(block.get("content"), list):
            marks += sum("cache_control" in part for part in block["content"])
        if "cache_control" not in block:
            return marks
        if block["type"] in THINKING:
            self.errors.append(f"{path}.{block['type']}.cache_control: Extra inputs are not permitted")
        elif block["type"] == "text" and not block["text"]:
            self.errors.append(f"{path}.text: cache_control cannot be set for empty text blocks")
        return marks + 1


def as_blocks(content: str | list[JSON] | None) -> list[JSON]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or [])


def opens_with_compaction(message: JSON) -> bool:
    blocks = as_blocks(message.get("content"))
    return bool(blocks) and blocks[0]["type"] == "compaction" and blocks[0].get("content") is not None


def has_result(message: JSON) -> bool:
    return any(block["type"] == "tool_result" for block in as_blocks(message.get("content")))


def ends_in_server_tool(message: JSON) -> bool:
    blocks = as_blocks(message.get("content"))
    return bool(blocks) and (blocks[-1]["type"] == "server_tool_use" or blocks[-1]["type"].endswith("_tool_result"))
