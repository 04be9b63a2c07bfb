"""
A second opinion on requests of OpenAI's Responses, independent of ``gc_core``: a walk over the items, as a server does.

It answers in the provider's own words, collected from public issue threads. Where the API is laxer than the rules that
gc-core keeps (arguments that are no JSON), this checker is strict too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

JSON = dict[str, Any]

ROLES = ("assistant", "system", "developer", "user")
HOSTED = ("mcp_call", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call")


class ResponsesServer:
    """
    POST /v1/responses, up to the point where the model would be asked.

    ``required`` is what a server remembers of what it put out: by item id, the reasoning items that led to it.
    """

    def __init__(self, *, required: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.errors: list[str] = []
        self.required = required or {}
        self.waiting: Counter[tuple[str, str]] = Counter()
        self.seen: set[tuple[str, str]] = set()
        self.ids: set[str] = set()

    def read(self, request: JSON) -> list[str]:
        items = request.get("input")
        if not isinstance(items, list) or not items:
            return ["Missing required parameter: 'input'."]
        if any(not isinstance(text, str) for text in [request.get("instructions", "")]):
            self.errors.append("Invalid type for 'instructions': expected a string.")
        for tool in request.get("tools") or []:
            if tool.get("type") == "function" and "name" not in tool:
                self.errors.append("Missing required parameter: 'tools[0].name'.")
        for place, item in enumerate(items):
            self.read_item(f"input[{place}]", item)
            self.read_order(items, place)
        for kind, key in self.waiting.elements():
            self.errors.append(f"No tool output found for {kind.replace('_', ' ')} {key}.")
        return self.errors

    def read_item(self, path: str, item: JSON) -> None:
        kind = item.get("type", "message")
        self.read_id(item, kind)
        if kind == "message":
            self.read_message(path, item)
        elif kind == "mcp_approval_request":
            self.waiting[kind, item["id"]] += 1
        elif kind == "mcp_approval_response":
            self.answer("mcp_approval_request", item["approval_request_id"])
        elif kind.endswith("_call_output"):
            self.read_output(path, item, kind)
        elif kind.endswith("_call") and kind not in HOSTED and item.get("call_id"):
            self.waiting[kind, item["call_id"]] += 1
            if kind == "function_call":
                self.read_arguments(path, item)
        elif kind == "reasoning" and not ("id" in item and isinstance(item.get("summary"), list)):
            self.errors.append(f"Missing required parameter: '{path}.summary'.")
        elif kind == "compaction" and not item.get("encrypted_content"):
            self.errors.append(f"Missing required parameter: '{path}.encrypted_content'.")

    def read_id(self, item: JSON, kind: str) -> None:
        key = item.get("id")
        if key is None or kind.endswith("_output"):
            return
        if key in self.ids:
            self.errors.append(
                f"Duplicate item found with id {key}. Remove duplicate items from your input and try again."
            )
        self.ids.add(key)
        for reasoning in self.required.get(key, ()):
            if reasoning not in self.ids:
                self.errors.append(
                    f"Item '{key}' of type '{kind}' was provided without its required 'reasoning' item: '{reasoning}'."
                )

    def read_order(self, items: list[JSON], place: int) -> None:
        item = items[place]
        if item.get("type") == "compaction" and place:
            self.errors.append(f"Item 'input[{place}]' of type 'compaction' must not follow the items it replaces.")
        if item.get("type") != "reasoning":
            return
        following = items[place + 1] if place + 1 < len(items) else {"role": "user"}
        kind = following.get("type", "message")
        theirs = kind == "message" and following.get("role") != "assistant"
        if theirs or kind.endswith(("_call_output", "_approval_response")) or kind == "additional_tools":
            self.errors.append(
                f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."
            )

    def read_message(self, path: str, item: JSON) -> None:
        if item.get("role") not in ROLES:
            self.errors.append(f"Invalid value: '{item.get('role')}'. Supported values are: {', '.join(ROLES)}.")
        content = item.get("content")
        if not content:
            self.errors.append(f"Missing required parameter: '{path}.content'.")
        elif isinstance(content, list):
            self.read_blocks(f"{path}.content", content, assistant=item.get("role") == "assistant")

    def read_blocks(self, path: str, blocks: list[JSON], *, assistant: bool) -> None:
        wrong = "input_text" if assistant else "output_text"
        for place, block in enumerate(blocks):
            kind = block.get("type")
            if kind in ("text", wrong):
                self.errors.append(f"Invalid value: '{kind}' at '{path}[{place}]'.")
            if kind in ("input_text", "output_text") and not block.get("text"):
                self.errors.append(f"Invalid '{path}[{place}].text': empty string.")
            if kind == "input_image" and not (block.get("image_url") or block.get("file_id")):
                self.errors.append(f"Missing required parameter: '{path}[{place}].image_url'.")
            if kind == "input_file" and not any(block.get(key) for key in ("file_id", "file_data", "file_url")):
                self.errors.append(f"Missing required parameter: '{path}[{place}].file_id'.")

    def read_arguments(self, path: str, item: JSON) -> None:
        if not item.get("name"):
            self.errors.append(f"Missing required parameter: '{path}.name'.")
        try:
            arguments = json.loads(item["arguments"])
        except (ValueError, TypeError, KeyError):
            arguments = None
        if not isinstance(arguments, dict):
            self.errors.append(f"Invalid '{path}.arguments': expected a JSON object encoded as a string.")

    def read_output(self, path: str, item: JSON, kind: str) -> None:
        output = item.get("output")
        if kind == "computer_call_output" and not (isinstance(output, dict) and output.get("image_url")):
            self.errors.append(f"Invalid type for '{path}.output': expected a computer_screenshot.")
        if kind == "shell_call_output" and not (
            isinstance(output, list) and all({"stdout", "stderr", "outcome"} <= chunk.keys() for chunk in output)
        ):
            self.errors.append(f"Invalid type for '{path}.output': expected a list of chunks.")
        if kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            if not isinstance(output, str | list):
                self.errors.append(f"Missing required parameter: '{path}.output'.")
            elif isinstance(output, list):
                self.read_blocks(f"{path}.output", output, assistant=False)
        self.answer(kind.removesuffix("_output"), item.get("call_id") or item.get("id"))

    def answer(self, kind: str, key: str) -> None:
        if self.waiting[kind, key]:
            self.waiting[kind, key] -= 1
            self.seen.add((kind, key))
        elif (kind, key) in self.seen:
            self.errors.append(f"Duplicate tool output for {kind.replace('_', ' ')} {key}.")
        else:
            self.errors.append(f"No tool call found for {kind.replace('_', ' ')} output with call_id {key}.")
