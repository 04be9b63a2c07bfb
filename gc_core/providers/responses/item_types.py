"""
The types of items in OpenAI's Responses: who speaks, which are calls, and which results answer them.

An item whose type ends in ``_call`` and that has a ``call_id`` waits for the ``_call_output`` with that id, whatever
tool it calls; calls that the provider runs itself have no such id. So unknown tools keep their pairs too. Nothing here
raises: any other item is the model's.
"""

from __future__ import annotations

from typing import Final

from gc_core.values.messages import Payload

COMPACTION: Final = frozenset({"compaction", "compaction_summary"})
"""Types of the items that replace everything before them (rule R4)."""

TEXTS: Final = frozenset({"input_text", "output_text", "text"})
"""Types of content parts that are text."""

MESSAGE: Final = "message"
REASONING: Final = "reasoning"
FUNCTION: Final = "function_call"
CUSTOM: Final = "custom_tool_call"
SEARCH: Final = "tool_search_call"
FOUND: Final = "tool_search_output"
APPROVAL_REQUEST: Final = "mcp_approval_request"
APPROVAL: Final = "mcp_approval_response"

TRIGGER: Final = "compaction_trigger"
INSTRUCTIONS: Final = frozenset({"additional_tools", "configuration_update"})
"""Types of items that the host gives in the developer's name: they have the policy of system text."""


def kind_of(item: Payload) -> str:
    """Return the type of an item; a message may leave it out."""
    kind = item.get("type", MESSAGE)
    return kind if isinstance(kind, str) else ""


def is_reasoning(item: Payload) -> bool:
    """Return whether it is a reasoning item."""
    return item.get("type") == REASONING


def is_call(item: Payload) -> bool:
    """Return whether it waits for a result from the host."""
    kind = kind_of(item)
    if kind in {FUNCTION, CUSTOM, APPROVAL_REQUEST}:
        return True
    return kind.endswith("_call") and isinstance(item.get("call_id"), str)


def is_result(item: Payload) -> bool:
    """Return whether it answers a call."""
    kind = kind_of(item)
    if kind == FOUND:
        return isinstance(item.get("call_id"), str) and item.get("execution") != "server"
    return kind == APPROVAL or kind.endswith("_call_output")


def is_of_model(item: Payload) -> bool:
    """Return whether the model made it: everything except messages of others, results, and items of the host."""
    kind = kind_of(item)
    if kind == MESSAGE:
        return item.get("role") == "assistant"
    return not is_result(item) and kind not in INSTRUCTIONS and kind != TRIGGER


def call_key(item: Payload) -> str:
    """Return the key that pairs a call with its result: its id, after its kind unless it is a function call."""
    kind = kind_of(item)
    key = str(item.get("id" if kind == APPROVAL_REQUEST else "call_id"))
    return key if kind == FUNCTION else f"{kind} {key}"


def result_key(item: Payload) -> str:
    """Return the key of the call that a result answers. Local shells call it ``id``, or ``call_id`` like all others."""
    kind = kind_of(item)
    if kind == APPROVAL:
        return f"{APPROVAL_REQUEST} {item.get('approval_request_id')}"
    called = SEARCH if kind == FOUND else kind.removesuffix("_output")
    key = item.get("call_id") or item.get("id")
    return str(key) if called == FUNCTION else f"{called} {key}"
