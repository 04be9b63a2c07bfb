"""The providers' message shapes: how payloads are read into parts, edited and sent."""

from __future__ import annotations

from gc_core.errors import ConfigError
from gc_core.providers.anthropic.format import AnthropicFormat
from gc_core.providers.contract import Format
from gc_core.providers.gemini.format import GeminiFormat
from gc_core.providers.openai.format import OpenAIFormat
from gc_core.providers.responses.format import ResponsesFormat

__all__ = ["AnthropicFormat", "GeminiFormat", "OpenAIFormat", "ResponsesFormat", "format_named"]


def format_named(name: str) -> Format:
    """The format of that name; raises ConfigError naming the formats there are."""
    known: tuple[Format, ...] = (AnthropicFormat(), OpenAIFormat(), GeminiFormat(), ResponsesFormat())
    formats = {each.name: each for each in known}
    if name in formats:
        return formats[name]
    raise ConfigError(f"no format {name!r}; there are {sorted(formats)}")
