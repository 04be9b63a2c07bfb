"""
Gemini's models: how they count, and how their prompts are cached.

Data, dated in the comments. Cache: Google's guides to context caching (2026).
"""

from __future__ import annotations

import attrs

from gc_core.providers.cache_terms import CacheTerms
from gc_core.providers.model_families import ImageRule, ModelFamily

# The Gemma 3 vocabulary: 4.1 characters per token where o200k has 3.9 (2026). Images: Google's guide to tokens, 258
# tokens up to 384 px, above that 258 per tile of 768 px (2025).
_GEMINI = ModelFamily(name="gemini", prefixes=("gemini", "gemma"), factor=0.95, image_rule=ImageRule.TILES_768)

FAMILIES = (_GEMINI,)
DEFAULT_FAMILY = _GEMINI

# Implicit caching: its life is not published, five minutes is a guess.
_GEMINI_3 = CacheTerms(name="gemini", prefixes=("gemini",), least_tokens=4096, read=0.1, dated="2026-11-01")
_GEMINI_2_5 = attrs.evolve(_GEMINI_3, name="gemini-2.5", prefixes=("gemini-2-5",), least_tokens=2048)

TERMS = (_GEMINI_3, _GEMINI_2_5)
DEFAULT_TERMS = _GEMINI_3
