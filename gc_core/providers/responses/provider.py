"""OpenAI's Responses; its models are those of Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from gc_core.providers.cache_breakpoints import MarkShape
from gc_core.providers.counting import CountingEndpoint, whole_request
from gc_core.providers.openai import models
from gc_core.providers.payload_keys import PayloadKeys
from gc_core.providers.provider import EditRules, Provider
from gc_core.providers.responses.compaction import SERVER_SIDE, merged
from gc_core.providers.responses.format import ResponsesFormat
from gc_core.providers.responses.recorded import wrote
from gc_core.providers.responses.rules import RULES, as_messages, first_item, lost_reasoning
from gc_core.values.messages import Payload, Request

# ``prompt_cache_breakpoint`` in the openai package (3.54, November 2026).
_BREAKPOINT = MarkShape(
    field="prompt_cache_breakpoint",
    kinds=frozenset({"input_text", "input_image", "input_file"}),
    text="input_text",
    ours=3,
)


_KEYS = PayloadKeys(
    sealed=frozenset({"encrypted_content"}),
    ids=frozenset({"call_id", "approval_request_id"}),
    arguments=frozenset({"input"}),
)


def _without_options(client: Any, request: Request, model: str | None) -> dict[str, Any]:
    """Return the arguments without the session's options: the endpoint refuses a cache key."""
    return whole_request(client, attrs.evolve(request, options={}), model)


_COUNTING = CountingEndpoint(
    name="OpenAI's input_tokens", client="OpenAI", path="responses.input_tokens.count", arguments=_without_options
)


def _tool_schema(name: str, description: str, parameters: Mapping[str, Any]) -> Payload:
    return {"type": "function", "name": name, "description": description, "parameters": parameters}


RESPONSES: Final = Provider(
    format=ResponsesFormat(),
    rules=RULES,
    edit_rules=EditRules(checks=(lost_reasoning,), as_messages=as_messages, sent_index=first_item),
    default_family=models.DEFAULT_FAMILY,
    default_terms=models.DEFAULT_TERMS,
    breakpoints=(_BREAKPOINT,),
    tool_schema=_tool_schema,
    keys=_KEYS,
    takes_cache_key=True,
    counting=_COUNTING,
    miss_reason_at=models.MISS_REASON_AT,
    telemetry_name="openai",
    wrote=wrote,
    litellm_name="openai",
    joined_options=merged,
    server_side=SERVER_SIDE,
)
