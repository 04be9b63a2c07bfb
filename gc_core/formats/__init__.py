"""The providers' message shapes: how payloads are read into parts, edited and sent."""

from __future__ import annotations

from gc_core.errors import ConfigError
from gc_core.formats.anthropic import AnthropicFormat
from gc_core.formats.openai import OpenAIFormat
from gc_core.protocols import Format

__all__ = ["AnthropicFormat", "OpenAIFormat", "format_named"]


def format_named(name: str) -> Format:
    """The format of that name; raises ConfigError naming the formats there are."""
    formats: dict[str, Format] = {known.name: known for known in (AnthropicFormat(), OpenAIFormat())}
    if name in formats:
        return formats[name]
    raise ConfigError(f"no format {name!r}; there are {sorted(formats)}")
