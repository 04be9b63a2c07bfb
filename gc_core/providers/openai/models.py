"""
The models of Chat Completions and Responses: how they count, and how their prompts are cached.

Data, dated in the comments. OpenAI's own, and those of vendors whose servers use only Chat Completions. Cache: OpenAI's
guide to prompt caching (2026); DeepSeek's guide to its disk cache (2026).
"""

from __future__ import annotations

import attrs

from gc_core.providers.cache_terms import CacheTerms
from gc_core.providers.model_families import ImageRule, ModelFamily

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
# DeepSeek's public tokenizer against o200k_base, measured (2026): code 1.06, Markdown 1.03, logs 1.03, JSON 1.00.
_DEEPSEEK = ModelFamily(name="deepseek", prefixes=("deepseek",), factor=1.05)

FAMILIES = (_O200K, _CL100K, _GPT_5_5, _GPT_6, _DEEPSEEK)
DEFAULT_FAMILY = _O200K

# "From 1,024 tokens, in steps of 128"; 5 to 10 minutes idle (``in_memory``; a longer ``prompt_cache_retention`` is
# the caller's own); writes are free.
_GPT_5 = CacheTerms(
    name="gpt-5",
    prefixes=("gpt", "gpt-5", "o1", "o3", "o4"),
    least_tokens=1024,
    step_tokens=128,
    ttl_seconds=300.0,
    has_cache_key=True,
    read=0.1,
    dated="2026-11-01",
)
_GPT_4_1 = attrs.evolve(_GPT_5, name="gpt-4.1", prefixes=("gpt-4-1",), read=0.25)
_GPT_4O = attrs.evolve(_GPT_5, name="gpt-4o", prefixes=("gpt-4o", "chatgpt-4o"), read=0.5)
# Explicit breakpoints, a fee for writes and one life for all, from GPT-5.6 on. A prefix matches if it was written at a
# breakpoint; in the implicit mode (the default) the provider sets one at the end of each request.
_GPT_5_6 = attrs.evolve(
    _GPT_5,
    name="gpt-5.6",
    prefixes=("gpt-5-6", "gpt-6"),
    most_marks=4,
    ttl_seconds=1800.0,
    explicit_marks="prompt_cache_breakpoint",
    write=1.25,
    write_1h=1.25,
)
_GPT_6_1 = attrs.evolve(_GPT_5_6, name="gpt-6.1", prefixes=("gpt-6-1",), read=0.05)
# Hours to days, on disk; an hour is the cautious end. Units of 64 tokens: DeepSeek's announcement (August 2024).
_DEEPSEEK_TERMS = CacheTerms(
    name="deepseek",
    prefixes=("deepseek",),
    least_tokens=64,
    step_tokens=64,
    ttl_seconds=3600.0,
    read=1 / 30,
    dated="2026-11-01",
)
_GROK = CacheTerms(name="grok", prefixes=("grok",), least_tokens=1024, step_tokens=128, read=0.25, dated="2026-11-01")

TERMS = (_GPT_5, _GPT_4_1, _GPT_4O, _GPT_5_6, _GPT_6_1, _DEEPSEEK_TERMS, _GROK)
DEFAULT_TERMS = _GPT_5

MISS_REASON_AT = ("prompt_cache_diagnostics", "reason")
"""The path in a reply to the reason of a cache miss, when the request asked to compare it with an earlier one."""
