"""Everything that differs between providers: one folder and one ``Provider`` each, and what they share."""

from __future__ import annotations

from gc_core.providers.anthropic.provider import ANTHROPIC
from gc_core.providers.contract import Format
from gc_core.providers.gemini.provider import GEMINI
from gc_core.providers.openai.provider import OPENAI
from gc_core.providers.provider import Provider
from gc_core.providers.registry import PROVIDERS, provider_named
from gc_core.providers.responses.provider import RESPONSES

__all__ = ["PROVIDERS", "Provider", "format_named", "provider_named"]

PROVIDERS.update({each.name: each for each in (OPENAI, ANTHROPIC, RESPONSES, GEMINI)})


def format_named(name: str) -> Format:
    """Return the format with that name; raises ConfigError naming the known formats."""
    return provider_named(name).format
