"""OpenAI's Chat Completions, also as other vendors' servers implement it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gc_core.providers.cache_breakpoints import MarkShape
from gc_core.providers.openai import models
from gc_core.providers.openai.format import OpenAIFormat
from gc_core.providers.openai.rules import RULES
from gc_core.providers.openai.streaming import ChunkStream
from gc_core.providers.payload_keys import PayloadKeys
from gc_core.providers.provider import Provider
from gc_core.values.messages import Payload

_BREAKPOINTS = (
    # ``prompt_cache_breakpoint`` in the openai package (3.54, November 2026).
    MarkShape(field="prompt_cache_breakpoint", kinds=frozenset({"text", "image_url", "input_audio", "file"}), ours=3),
    # Claude through a gateway that uses this format: guides of LiteLLM and OpenRouter to prompt caching (2026).
    MarkShape(field="cache_control", kinds=frozenset({"text", "image_url"}), on_replies=True, ours=4),
)


# Other servers of this format pass on content signed by other vendors' models.
_KEYS = PayloadKeys(
    sealed=frozenset({"signature", "thoughtSignature", "thought_signature", "encrypted_content"}),
    ids=frozenset({"tool_call_id"}),
    bytes_types=frozenset({"base64", "redacted_thinking"}),
    arguments=frozenset({"input"}),
)


def _tool_schema(name: str, description: str, parameters: Mapping[str, Any]) -> Payload:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


OPENAI: Final = Provider(
    format=OpenAIFormat(),
    rules=RULES,
    families=models.FAMILIES,
    default_family=models.DEFAULT_FAMILY,
    cache_terms=models.TERMS,
    default_terms=models.DEFAULT_TERMS,
    breakpoints=_BREAKPOINTS,
    tool_schema=_tool_schema,
    keys=_KEYS,
    takes_cache_key=True,
    call_stream=ChunkStream,
    miss_reason_at=models.MISS_REASON_AT,
    telemetry_name="openai",
    system_is_message=True,
    litellm_name="openai",
)
