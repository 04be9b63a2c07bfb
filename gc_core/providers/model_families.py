"""
Model families: how their models count, and how they treat thinking.

The families themselves are in each provider's ``models``; without a model the default of the format's provider applies.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Iterable

import attrs

from gc_core.errors import ConfigError
from gc_core.providers.registry import PROVIDERS


class ImageRule(enum.Enum):
    """How a provider counts the tokens of an image; ``gc_core.providers.token_counting`` holds the formulas."""

    TILES_512 = "512 px tiles"
    PATCHES_32 = "32 px patches"
    AREA_750 = "width * height / 750"
    TILES_768 = "768 px tiles"


@attrs.frozen(kw_only=True)
class ModelFamily:
    """
    Models that count alike and treat thinking alike.

    Attributes:
        name: The name that reports use.
        prefixes: Lower-case starts of model names, dots written as dashes. The longest match wins.
        encoding: The tiktoken encoding that counts for it, exactly or as the basis of an estimate.
        exact: Whether that encoding is the family's own tokenizer.
        factor: Tokens of the family for one token of the encoding.
        per_message: Tokens of framing for each message.
        per_request: Tokens for each request.
        per_call: Tokens of framing around one tool call, beyond its name and arguments.
        per_result: Tokens of framing around one tool result, beyond its text.
        image_rule: How images count.
        image_cap: The most tokens of one image; 0 if the rule itself is bounded.
        keeps_thinking: The provider keeps, and counts, the thinking of earlier turns; otherwise of the last turn only.
        binds_thinking: Thinking is bound to what precedes it: an earlier edit makes it invalid.
        seal_offset: Bytes of a thinking signature (base64, as sent) that contain no thinking.
        seal_tokens: Tokens of thinking for one byte of signature beyond the offset; 0 when unknown.

    """

    name: str
    prefixes: tuple[str, ...]
    encoding: str = "o200k_base"
    exact: bool = False
    factor: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))
    per_message: int = 4
    per_request: int = 3
    per_call: int = 8
    per_result: int = 7
    image_rule: ImageRule = ImageRule.TILES_512
    image_cap: int = 0
    keeps_thinking: bool = True
    binds_thinking: bool = False
    seal_offset: int = 0
    seal_tokens: float = 0.0


# Unknown models: a tenth more than o200k_base, which none of the open vocabularies tried (2026) exceeded.
_UNKNOWN = ModelFamily(name="unknown", prefixes=(), factor=1.10)


def check_model(model: object) -> None:
    """Raise ConfigError unless it is a name of a model or None."""
    if not isinstance(model, str | None):
        raise ConfigError(f"model = {model!r:.200}: expected the name of a model, or None")


@functools.lru_cache(maxsize=256)
def family(model: str | None, format: str = "") -> ModelFamily:  # noqa: A002 - the session's own word
    """
    Return the family of a model, however a gateway spells it (``us.anthropic.claude-sonnet-4-5-20250929-v1:0``).

    Without a model, the default of the format's provider. A model that no provider lists, and a format without a
    provider, is ``"unknown"``: an estimate of 1.1 tokens for one of o200k_base. Never raises.
    """
    if model is None:
        return PROVIDERS[format].default_family if format in PROVIDERS else _UNKNOWN
    listed = (known for provider in PROVIDERS.values() for known in provider.families)
    fits = [(fit, known) for known in listed if (fit := fit_of(model, known.prefixes))]
    return max(fits, key=lambda fit: fit[0])[1] if fits else _UNKNOWN


def fit_of(model: str, prefixes: Iterable[str]) -> int:
    """Return the length of the longest prefix in a model's name, however a gateway spells it; 0 for none."""
    spelled = model.lower().replace(".", "-").replace("_", "-")
    return max((len(prefix) for prefix in prefixes if _names(spelled, prefix)), default=0)


def _names(spelled: str, prefix: str) -> bool:
    """Return whether the name contains the prefix as whole words: gpt-4-1106 is not a gpt-4-1."""
    # Most prefixes are in no name: a pattern for each of them would be compiled for nothing.
    return prefix in spelled and re.search(rf"(?<![a-z0-9]){prefix}(?![a-z0-9])", spelled) is not None
