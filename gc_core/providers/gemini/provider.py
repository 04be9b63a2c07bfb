"""Google's Gemini: contents of parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gc_core.providers.gemini import models
from gc_core.providers.gemini.format import GeminiFormat
from gc_core.providers.gemini.rules import RULES, as_messages, signed_calls
from gc_core.providers.provider import EditRules, Provider
from gc_core.values.messages import Payload


def _tool_schema(name: str, description: str, parameters: Mapping[str, Any]) -> Payload:
    """Gemini's own schemas are another dialect; this field takes JSON's."""
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
)
