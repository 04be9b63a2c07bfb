"""
What is known of model families: how they count, and what they do with thinking.

Data, dated in the comments; nothing here decides anything. A model that is not listed gets its format's default.
Marks of the sources: [bench] is measured here by ``python -m benchmarks`` on the usages that providers reported in
259 recorded calls of Claude Sonnet 4, Sonnet 4.5, Opus 4.5 and Opus 4.6 (recorded August 2025 to February 2026).
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Iterable

import attrs

from gc_core.errors import ConfigError


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
        name: What a report calls the family.
        prefixes: Lower-case starts of model names, dots written as dashes. The longest that fits wins.
        encoding: The tiktoken encoding that counts for it, exactly or as the base of an estimate.
        exact: Whether that encoding is the family's own tokenizer.
        factor: Tokens of the family for one token of the encoding.
        per_message: Tokens of framing that every message costs.
        per_request: Tokens that every request costs once.
        per_call: Tokens of framing around one tool call, beyond its name and arguments.
        per_result: Tokens of framing around one tool result, beyond its text.
        image_rule: How images count.
        image_cap: Most tokens of one image; 0 where the rule itself is bounded.
        keeps_thinking: The provider keeps, and counts, the thinking of earlier turns; else of the last turn only.
        binds_thinking: Thinking is bound to what stood before it: an earlier edit makes it invalid.
        seal_offset: Bytes of a thinking signature (base64, as sent) that hold no thinking.
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


# Encodings: tiktoken 0.14 (model.py, 2026). Framing of messages: the OpenAI cookbook, "How to count tokens with
# tiktoken", num_tokens_from_messages (3 a message, 1 for the name of its role, 3 for the primed reply). Framing of
# calls: the markers, recipient and channel that the openai-harmony format (2025) writes around a call and its result.
_O200K = ModelFamily(
    name="gpt-o200k",
    prefixes=("chatgpt-4o", "gpt-4o", "gpt-4-1", "gpt-4-5", "gpt-5", "gpt-oss", "o1", "o3", "o4"),
    exact=True,
)
_CL100K = ModelFamily(
    name="gpt-cl100k", prefixes=("gpt-4", "gpt-3", "gpt-35", "text-embedding"), encoding="cl100k_base", exact=True
)
# tiktoken 0.14 gives every gpt-5.x its o200k_base. Images: 1.2 tokens a patch, measured by a third party (data set
# "image-token-cost", 2026): 1024 x 1024 costs 1,229 tokens on GPT-5.5 and GPT-6.
_GPT_5_5 = attrs.evolve(
    _O200K, name="gpt-5.5", prefixes=("gpt-5-5", "gpt-5-6"), image_rule=ImageRule.PATCHES_32, image_cap=12_000
)
# tiktoken 0.14 does not know GPT-6 yet, so o200k_base is a guess, and no count of it is called exact.
_GPT_6 = attrs.evolve(_GPT_5_5, name="gpt-6", prefixes=("gpt", "gpt-6"), exact=False)

# factor, per_call + per_result, seal_*: [bench], by least absolute deviations over all four models at once; the four
# alone give 1.09 to 1.16 for text and 0.195 to 0.211 tokens a byte of signature. A signature is the encrypted
# *whole* thinking, while the visible text may be a summary of it: in Opus 4.6 3,100 visible tokens cost 8,200.
# Images: Anthropic's guide to vision, w * h / 750, at most about 1,600 tokens (2025).
# Thinking of earlier turns: Anthropic's guide to context editing (August 2026): Opus 4.5+ and Sonnet 4.6+ keep all,
# earlier models and Haiku 4.5 keep the last assistant turn's only.
_CLAUDE_4 = ModelFamily(
    name="claude-4",
    prefixes=("claude-instant", "claude-2", "claude-3", "claude-sonnet-4", "claude-opus-4", "claude-haiku-4"),
    factor=1.10,
    per_message=3,
    per_call=44,
    per_result=40,
    image_rule=ImageRule.AREA_750,
    image_cap=1600,
    keeps_thinking=False,
    seal_offset=240,
    seal_tokens=0.21,
)
_CLAUDE_4_6 = attrs.evolve(
    _CLAUDE_4,
    name="claude-4.6",
    prefixes=("claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-6"),
    keeps_thinking=True,
)
# A new tokenizer from Opus 4.7 on: about 30 % more for the same text (Anthropic's token counting guide, 2026); the
# signature seals text, so its tokens grow alike (derived). Images up to 3.75 megapixels (Opus 4.7, April 2026).
_CLAUDE_5 = attrs.evolve(
    _CLAUDE_4_6,
    name="claude-5",
    prefixes=(
        *("claude-opus-4-7", "claude-opus-4-8", "claude-opus-5"),
        *("claude-sonnet-5", "claude-fable-5", "claude-mythos-5"),
    ),
    factor=1.43,
    image_cap=4784,
    seal_tokens=0.27,
)
# "Preserved thinking" binds thinking to its prefix (Anthropic's guide of that name, August 2026). Claude models that
# are not listed are taken for the newest: counting too much is the safe side.
_CLAUDE_5_5 = attrs.evolve(
    _CLAUDE_5,
    name="claude-5.5",
    prefixes=(
        *("claude", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"),
        *("claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-1", "claude-mythos-5-2"),
    ),
    binds_thinking=True,
)

# The Gemma 3 vocabulary: 4.1 characters a token where o200k has 3.9 (2026). Images: Google's guide to tokens,
# 258 tokens up to 384 px, else 258 a tile of 768 px (2025).
_GEMINI = ModelFamily(name="gemini", prefixes=("gemini", "gemma"), factor=0.95, image_rule=ImageRule.TILES_768)
# DeepSeek's public tokenizer against o200k_base, measured (2026): code 1.06, Markdown 1.03, logs 1.03, JSON 1.00.
_DEEPSEEK = ModelFamily(name="deepseek", prefixes=("deepseek",), factor=1.05)
# Nothing is known: a tenth more than o200k_base, which none of the open vocabularies tried (2026) exceeded.
_UNKNOWN = ModelFamily(name="unknown", prefixes=(), factor=1.10)

_FAMILIES = (_O200K, _CL100K, _GPT_5_5, _GPT_6, _CLAUDE_4, _CLAUDE_4_6, _CLAUDE_5, _CLAUDE_5_5, _GEMINI, _DEEPSEEK)


def check_model(model: object) -> None:
    """Raise ConfigError for what is no name of a model, nor None."""
    if not isinstance(model, str | None):
        raise ConfigError(f"model = {model!r:.200}: expected the name of a model, or None")


@functools.lru_cache(maxsize=256)
def family(model: str | None, format: str = "") -> ModelFamily:  # noqa: A002 - the session's own word
    """
    The family of a model, however a gateway spells it (``us.anthropic.claude-sonnet-4-5-20250929-v1:0``).

    Without a model, what the format is mostly used with: o200k_base for ``"openai"`` and ``"responses"``, the newest
    Claude for ``"anthropic"``, Gemini for ``"gemini"``. A model of nobody listed, and any other format, is
    ``"unknown"``: an estimate of 1.1 tokens for one of o200k_base. Never raises.
    """
    if model is None:
        return _default(format)
    fits = [(fit, known) for known in _FAMILIES if (fit := fit_of(model, known.prefixes))]
    return max(fits, key=lambda fit: fit[0])[1] if fits else _UNKNOWN


def fit_of(model: str, prefixes: Iterable[str]) -> int:
    """Letters of the longest prefix that stands in a model's name, however a gateway spells it; 0 for none."""
    spelled = model.lower().replace(".", "-").replace("_", "-")
    return max((len(prefix) for prefix in prefixes if _names(spelled, prefix)), default=0)


def _names(spelled: str, prefix: str) -> bool:
    """Whether the prefix stands in the name as whole words: gpt-4-1106 is no gpt-4-1."""
    return re.search(rf"(?<![a-z0-9]){prefix}(?![a-z0-9])", spelled) is not None


def _default(format: str) -> ModelFamily:  # noqa: A002 - the session's own word
    match format:
        case "openai" | "responses":
            return _O200K
        case "anthropic":
            return _CLAUDE_5_5
        case "gemini":
            return _GEMINI
        case _:
            return _UNKNOWN
