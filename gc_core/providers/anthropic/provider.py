"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gc_core.providers.anthropic import models
from gc_core.providers.anthropic.context_editing import SERVER_SIDE, merged
from gc_core.providers.anthropic.format import AnthropicFormat
from gc_core.providers.anthropic.rules import RULES, in_place
from gc_core.providers.cache_breakpoints import MarkShape
from gc_core.providers.provider import EditRules, Provider
from gc_core.values.messages import Payload

# The blocks whose ``*_block_param`` types in the anthropic package (2.12, November 2026) have ``cache_control``.
_BREAKPOINT = MarkShape(
    field="cache_control",
    kinds=frozenset(
        {
            *("text", "image", "document", "search_result", "container_upload", "tool_use", "tool_result"),
            *("server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result"),
            *("bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result"),
        }
    ),
    on_head=True,
    on_replies=True,
    ours=4,
)


def _tool_schema(name: str, description: str, parameters: Mapping[str, Any]) -> Payload:
    return {"name": name, "description": description, "input_schema": parameters}


ANTHROPIC: Final = Provider(
    format=AnthropicFormat(),
    rules=RULES,
    edit_rules=EditRules(checks=(in_place,)),
    families=models.FAMILIES,
    default_family=models.DEFAULT_FAMILY,
    cache_terms=models.TERMS,
    default_terms=models.DEFAULT_TERMS,
    breakpoints=(_BREAKPOINT,),
    # Anthropic's documents of August 2026.
    reads_in_order=True,
    tool_schema=_tool_schema,
    joined_options=merged,
    server_side=SERVER_SIDE,
)
