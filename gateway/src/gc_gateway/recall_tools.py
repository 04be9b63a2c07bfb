"""Which tool of an agent recalls what left its window: the MCP server's, under the name that the agent gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gc_gateway.dialects import Content

TAG_CHARS: Final = 6
"""Letters of a session's id that tell its items from those of another conversation."""

_NAMED = re.compile(r"(?<![\w.-])(?:mcp__[a-z0-9_]{1,60}__|[a-z0-9]{1,30}_)?gc_recall(?!\w)", re.ASCII)
"""As a client names it: ``mcp__gc__gc_recall``, ``gc_gc_recall``, or by its bare name."""


def recall_tool_in(content: Content) -> str:
    """
    Return the name of the recall tool: from the schemas, or, where a client defers those of servers, from the texts of
    its own in which it lists them. "" if there is none.
    """
    for name in _names(content.tools or ()):
        if _NAMED.fullmatch(name):
            return name
    for text in _own_texts(content):
        found = _NAMED.search(text)
        if found is not None and found.group().startswith("mcp__"):  # the bare name is in the server's instructions
            return found.group()
    return ""


def _names(tools: Any) -> Iterator[str]:
    """Yield the names of schemas, in every dialect's shape, those inside a namespace included."""
    for tool in tools:
        if not isinstance(tool, Mapping):
            continue
        function = tool.get("function")
        names = (tool.get("name"), function.get("name") if isinstance(function, Mapping) else None)
        yield from (name for name in names if isinstance(name, str))
        for key in ("tools", "functionDeclarations", "function_declarations"):
            inner = tool.get(key)
            yield from _names(inner) if isinstance(inner, list) else ()


def _own_texts(content: Content) -> Iterator[str]:
    """Yield what the client itself says: its system text and messages. Whatever a tool returned could name anything."""
    for block in content.system or ():
        yield _text_of(block)
    for message in content.messages:
        if isinstance(message, Mapping) and message.get("role") in {"system", "developer"}:
            inner = message.get("content")
            for block in inner if isinstance(inner, list) else [inner]:
                yield _text_of(block)


def _text_of(block: object) -> str:
    text = block.get("text") if isinstance(block, Mapping) else block
    return text if isinstance(text, str) else ""
