"""
The names of the generative-AI conventions that gc-core uses.

OpenTelemetry's repository ``semantic-conventions-genai``, built on semantic conventions 1.42.0, in development; read in
November 2026. They are written out here, because the package that contains them as constants marks them as moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs
from opentelemetry.util.types import AttributeValue

from gc_core.providers import PROVIDERS
from gc_core.values.messages import Usage

CONVERSATION: Final = "gen_ai.conversation.id"
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
MODEL: Final = "gen_ai.request.model"
MAX_TOKENS: Final = "gen_ai.request.max_tokens"
INPUT: Final = "gen_ai.usage.input_tokens"
OUTPUT: Final = "gen_ai.usage.output_tokens"
CACHE_READ: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE: Final = "gen_ai.usage.cache_creation.input_tokens"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 - of tokens that are counted
ERROR: Final = "error.type"

CHAT: Final = "chat"

TOKEN_BUCKETS: Final[Sequence[float]] = tuple(float(4**power) for power in range(14))
SECOND_BUCKETS: Final[Sequence[float]] = tuple(0.01 * 2**power for power in range(14))

Attributes = dict[str, AttributeValue]
"""Attributes of a span or a measurement, in OpenTelemetry's form."""

_BY_PREFIX: Final = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "groq": "groq",
    "mistral": "mistral_ai",
    "perplexity": "perplexity",
    "vertex_ai": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""Vendors that offer models but have no own format, by the prefix that litellm gives their models."""


@attrs.frozen(kw_only=True)
class Callee:
    """
    The model that is called.

    Attributes:
        format: Name of the session's format.
        model: The model's name; litellm's prefix, before a slash, names the vendor. None if unknown.

    """

    format: str
    model: str | None

    @property
    def span_name(self) -> str:
        """The name of a call's span."""
        return f"{CHAT} {self.model}" if self.model else CHAT

    @property
    def attributes(self) -> Attributes:
        """The attributes of every span and every measurement of a call."""
        prefix = (self.model or "").partition("/")[0]
        provider = _offering(prefix) or _speaking(self.format)
        named: Attributes = {MODEL: self.model} if self.model else {}
        return {OPERATION: CHAT, PROVIDER: provider, **named}


def _offering(prefix: str) -> str | None:
    named = {each.litellm_name: each.telemetry_name for each in PROVIDERS.values() if each.litellm_name}
    return (_BY_PREFIX | named).get(prefix)


def _speaking(format: str) -> str:  # noqa: A002 - the session's own word
    return PROVIDERS[format].telemetry_name if format in PROVIDERS else format


def of_usage(usage: Usage) -> Attributes:
    """Return the attributes for the tokens of a call."""
    return {
        INPUT: usage.input_tokens,
        OUTPUT: usage.output_tokens,
        CACHE_READ: usage.cache_read_tokens,
        CACHE_WRITE: usage.cache_write_tokens,
    }
