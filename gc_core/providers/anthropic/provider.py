"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gc_core.providers.anthropic import models
from gc_core.providers.anthropic.betas import header_of
from gc_core.providers.anthropic.context_editing import SERVER_SIDE, merged
from gc_core.providers.anthropic.format import AnthropicFormat
from gc_core.providers.anthropic.recorded import wrote
from gc_core.providers.anthropic.rules import RULES, in_place
from gc_core.providers.anthropic.streaming import MessageStream
from gc_core.providers.cache_breakpoints import MarkShape
from gc_core.providers.client_arguments import HEADERS
from gc_core.providers.counting import CountingEndpoint
from gc_core.providers.payload_keys import PayloadKeys
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


_KEYS = PayloadKeys(
    sealed=frozenset({"signature", "encrypted_content"}),
    ids=frozenset({"tool_use_id"}),
    bytes_types=frozenset({"base64", "redacted_thinking"}),
    arguments=frozenset({"input"}),
    schemas=frozenset({"properties", "parameters", "input_schema"}),
)


def _beta_options(names: Iterable[str]) -> dict[str, Any]:
    return {HEADERS: header_of(names)}


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
    keys=_KEYS,
    beta_options=_beta_options,
    call_stream=MessageStream,
    counting=CountingEndpoint(name="Anthropic's count_tokens", client="Anthropic", path="messages.count_tokens"),
    miss_reason_at=("diagnostics", "cache_miss_reason", "type"),
    telemetry_name="anthropic",
    wrote=wrote,
    litellm_name="anthropic",
    is_one_vendor=True,
    joined_options=merged,
    server_side=SERVER_SIDE,
)
