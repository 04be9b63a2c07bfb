"""
Claude's models: how they count, what they do with thinking, and how their prompts are cached.

Data, dated in the comments. [bench] is measured here by ``python -m benchmarks`` on the usages that providers reported
in 259 recorded calls of Claude Sonnet 4, Sonnet 4.5, Opus 4.5 and Opus 4.6 (recorded August 2025 to February 2026).
Cache: Anthropic's guide to prompt caching (22 August 2026) for marks, look-back, lives and minimums.
"""

from __future__ import annotations

import attrs

from gc_core.providers.cache_terms import CacheTerms
from gc_core.providers.model_families import ImageRule, ModelFamily

# factor, per_call + per_result, seal_*: [bench], by least absolute deviations over all four models at once; the four
# by themselves give 1.09 to 1.16 for text and 0.195 to 0.211 tokens a byte of signature. A signature is the encrypted
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
# "Preserved thinking" binds thinking to its prefix (Anthropic's guide of that name, August 2026). Unlisted Claude
# models count as the newest: counting too much is the safe side.
_CLAUDE_5_5 = attrs.evolve(
    _CLAUDE_5,
    name="claude-5.5",
    prefixes=(
        *("claude", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"),
        *("claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-1", "claude-mythos-5-2"),
    ),
    binds_thinking=True,
)

FAMILIES = (_CLAUDE_4, _CLAUDE_4_6, _CLAUDE_5, _CLAUDE_5_5)
DEFAULT_FAMILY = _CLAUDE_5_5

# Minimums: the guide's own list. It contradicts Anthropic's skill files (July 2026) and Bedrock's list, which have
# other values for some models; the guide is the newest.
_CLAUDE_1024 = CacheTerms(
    name="claude, from 1,024 tokens",
    prefixes=(
        *("claude-2", "claude-3", "claude-sonnet-4", "claude-opus-4", "claude-opus-4-1", "claude-sonnet-4-5"),
        *("claude-sonnet-4-6", "claude-opus-4-8", "claude-sonnet-5"),
    ),
    writes_at_marks=True,
    most_marks=4,
    look_back=20,
    least_tokens=1024,
    ttl_seconds=300.0,
    ttl_choices=("5m", "1h"),
    explicit_marks="cache_control",
    read=0.1,
    write=1.25,
    write_1h=2.0,
    dated="2026-08-22",
)
_CLAUDE_512 = attrs.evolve(
    _CLAUDE_1024,
    name="claude, from 512 tokens",
    prefixes=("claude-opus-5", "claude-fable-5", "claude-mythos-5"),
    least_tokens=512,
)
_CLAUDE_2048 = attrs.evolve(
    _CLAUDE_1024,
    name="claude, from 2,048 tokens",
    prefixes=("claude-opus-4-7", "claude-mythos-preview", "claude-3-5-haiku", "claude-3-haiku"),
    least_tokens=2048,
)
# Unlisted Claude models count as these: nothing relies then on a prefix that may not be cached.
_CLAUDE_4096 = attrs.evolve(
    _CLAUDE_1024,
    name="claude, from 4,096 tokens",
    prefixes=("claude", "claude-opus-4-5", "claude-opus-4-6", "claude-haiku-4-5"),
    least_tokens=4096,
)
# Cheaper reads: litellm 1.109.1 and genai-prices 0.2.3 (November 2026). Minimums of Opus 5.5: a third party's file; for
# the others none is published, so they are their predecessors'.
_CLAUDE_5_5_TERMS = attrs.evolve(
    _CLAUDE_512, name="claude-opus-5.5", prefixes=("claude-opus-5-5",), read=0.05, dated="2026-11-01"
)
_SONNET_5_5 = attrs.evolve(
    _CLAUDE_1024, name="claude-sonnet-5.5", prefixes=("claude-sonnet-5-5",), read=0.05, dated="2026-11-01"
)
_FABLE_5_1 = attrs.evolve(
    _CLAUDE_512,
    name="claude-fable-5.1",
    prefixes=("claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-1", "claude-mythos-5-2"),
    read=0.025,
    dated="2026-11-01",
)
_HAIKU_5_5 = attrs.evolve(
    _CLAUDE_4096, name="claude-haiku-5.5", prefixes=("claude-haiku-5-5",), read=0.1, dated="2026-11-01"
)

TERMS = (_CLAUDE_1024, _CLAUDE_512, _CLAUDE_2048, _CLAUDE_4096, _CLAUDE_5_5_TERMS, _SONNET_5_5, _FABLE_5_1, _HAIKU_5_5)
DEFAULT_TERMS = _CLAUDE_1024
