"""Google's Gemini: contents of parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gc_core.providers.counting import CountingEndpoint
from gc_core.providers.gemini import models
from gc_core.providers.gemini.format import GeminiFormat
from gc_core.providers.gemini.recorded import wrote
from gc_core.providers.gemini.rules import RULES, as_messages, signed_calls
from gc_core.providers.payload_keys import PayloadKeys
from gc_core.providers.provider import EditRules, Provider
from gc_core.values.messages import Payload, Request

_KEYS = PayloadKeys(
    sealed=frozenset({"thoughtSignature", "thought_signature"}),
    base64_siblings=frozenset({"mimeType", "mime_type"}),
    arguments=frozenset({"args", "response"}),
    schemas=frozenset({"properties", "parameters", "parametersJsonSchema"}),
)


def _counted(client: Any, request: Request, model: str | None) -> dict[str, Any]:
    """
    Return the contents with system text and tools: the client passes these on to Vertex AI only; the Gemini API takes a
    whole request in another field of the body (reference of models.countTokens, November 2026).
    """
    arguments = request.kwargs()
    before = arguments.pop("config", {})
    if before and not getattr(client, "vertexai", False):
        whole = {"model": f"models/{str(model).removeprefix('models/')}", **before, **arguments}
        before = {"http_options": {"extra_body": {"generateContentRequest": whole}}}
    return {"model": model, "contents": arguments["contents"], "config": before or None}


_COUNTING = CountingEndpoint(
    name="Gemini's countTokens",
    client="google-genai",
    path="models.count_tokens",
    async_path="aio",
    arguments=_counted,
    count="total_tokens",
)


def _tool_schema(name: str, description: str, parameters: Mapping[str, Any]) -> Payload:
    """Return a tool's schema; Gemini's own schemas are another dialect, but this field takes JSON Schema."""
    return {"name": name, "description": description, "parametersJsonSchema": parameters}


GEMINI: Final = Provider(
    format=GeminiFormat(),
    rules=RULES,
    edit_rules=EditRules(checks=(signed_calls,), as_messages=as_messages),
    families=models.FAMILIES,
    default_family=models.DEFAULT_FAMILY,
    cache_terms=models.TERMS,
    default_terms=models.DEFAULT_TERMS,
    tool_schema=_tool_schema,
    keys=_KEYS,
    counting=_COUNTING,
    telemetry_name="gcp.gemini",
    wrote=wrote,
    litellm_name="gemini",
    is_one_vendor=True,
)
