"""
How providers cache prompts: dated data, by families of models; nothing here decides anything.

Sources: Anthropic's guide to prompt caching (22 August 2026) for marks, look-back, lives and minimums; OpenAI's guide
to prompt caching (2026); Google's guides to context caching (2026); DeepSeek's guide to its disk cache (2026). A model
that is not listed gets what is mostly so in its format. The multipliers stand in where no price is known: see
``gc_core.cache.economics``.
"""

from __future__ import annotations

import functools

import attrs

from gc_core.providers.model_families import fit_of

_ANTHROPIC = "2026-08-22"
_OPENAI = "2026-11-01"
_OTHERS = "2026-11-01"


@attrs.frozen(kw_only=True)
class CacheTerms:
    """
    What a provider promises about the cached prefix of a prompt.

    Attributes:
        name: What a report calls these terms.
        prefixes: Lower-case starts of model names, dots written as dashes. The longest that fits wins.
        writes_at_marks: Written, and looked for, only at marks; else any prefix is cached without being asked.
        most_marks: Marks that one request may carry; 0 where there are none.
        look_back: Blocks that a mark is searched back for what earlier requests wrote, itself counted; 0 = no limit.
        least_tokens: Tokens below which no prefix is cached. The provider does not say that it was not.
        step_tokens: A prefix that is cached without marks is as long as a multiple of this.
        ttl_seconds: Life of what was written, after its last use.
        ttl_choices: Lives that a mark may ask for: () or ("5m", "1h").
        explicit_marks: Field of a block that makes it a mark: ``"cache_control"``, ``"prompt_cache_breakpoint"`` or "".
        has_cache_key: A request may name the cache it should go to (``prompt_cache_key``).
        read: Price of a token read, in units of the input price.
        write: Price of a token written for ``ttl_seconds``, in the same unit.
        write_1h: Price of a token written for an hour, in the same unit.
        dated: Date of the documents, ISO.

    """

    name: str
    prefixes: tuple[str, ...] = ()
    writes_at_marks: bool = False
    most_marks: int = 0
    look_back: int = 0
    least_tokens: int = 1024
    step_tokens: int = attrs.field(default=1, validator=attrs.validators.gt(0))
    ttl_seconds: float = 300.0
    ttl_choices: tuple[str, ...] = ()
    explicit_marks: str = ""
    has_cache_key: bool = False
    read: float = 0.1
    write: float = 1.0
    write_1h: float = 1.0
    dated: str

    def seconds(self, ttl: str) -> float:
        """Life in seconds of what a mark with this ``ttl`` writes; the default life for a word that is no choice."""
        return _LIVES[ttl] if ttl in self.ttl_choices else self.ttl_seconds


_LIVES = {"5m": 300.0, "1h": 3600.0}

# Minimums: the guide's own list. It contradicts Anthropic's skill files (July 2026) and Bedrock's list, which name
# others for some models; the guide is the newest.
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
    ttl_seconds=_LIVES["5m"],
    ttl_choices=("5m", "1h"),
    explicit_marks="cache_control",
    read=0.1,
    write=1.25,
    write_1h=2.0,
    dated=_ANTHROPIC,
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
# Claude models that are not listed are taken for these: nothing relies then on a prefix that may not be cached.
_CLAUDE_4096 = attrs.evolve(
    _CLAUDE_1024,
    name="claude, from 4,096 tokens",
    prefixes=("claude", "claude-opus-4-5", "claude-opus-4-6", "claude-haiku-4-5"),
    least_tokens=4096,
)
# Cheaper reads: litellm 1.109.1 and genai-prices 0.2.3 (November 2026). Minimums of Opus 5.5: a third party's file;
# of the others nothing is said, so they are their predecessors'.
_CLAUDE_5_5 = attrs.evolve(
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
    dated=_OPENAI,
)
_GPT_4_1 = attrs.evolve(_GPT_5, name="gpt-4.1", prefixes=("gpt-4-1",), read=0.25)
_GPT_4O = attrs.evolve(_GPT_5, name="gpt-4o", prefixes=("gpt-4o", "chatgpt-4o"), read=0.5)
# Explicit breakpoints, a fee for writes and one life for all, from GPT-5.6 on. What is matched is what was written at
# a breakpoint; in the implicit mode (the default) the provider sets one at the end of each request.
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

# Implicit caching: its life is not published, five minutes is a guess.
_GEMINI_3 = CacheTerms(name="gemini", prefixes=("gemini",), least_tokens=4096, read=0.1, dated=_OTHERS)
_GEMINI_2_5 = attrs.evolve(_GEMINI_3, name="gemini-2.5", prefixes=("gemini-2-5",), least_tokens=2048)
# Hours to days, on disk; an hour is the cautious end. Units of 64 tokens: DeepSeek's announcement (August 2024).
_DEEPSEEK = CacheTerms(
    name="deepseek",
    prefixes=("deepseek",),
    least_tokens=64,
    step_tokens=64,
    ttl_seconds=3600.0,
    read=1 / 30,
    dated=_OTHERS,
)
_GROK = CacheTerms(name="grok", prefixes=("grok",), least_tokens=1024, step_tokens=128, read=0.25, dated=_OTHERS)
_UNKNOWN = CacheTerms(name="unknown", least_tokens=1024, step_tokens=128, dated=_OPENAI)

_TERMS = (
    *(_CLAUDE_1024, _CLAUDE_512, _CLAUDE_2048, _CLAUDE_4096, _CLAUDE_5_5, _SONNET_5_5, _FABLE_5_1, _HAIKU_5_5),
    *(_GPT_5, _GPT_4_1, _GPT_4O, _GPT_5_6, _GPT_6_1, _GEMINI_3, _GEMINI_2_5, _DEEPSEEK, _GROK),
)


@functools.lru_cache(maxsize=256)
def terms_of(model: str | None, format: str = "") -> CacheTerms:  # noqa: A002 - the session's own word
    """
    The terms for a model, however a gateway spells it (``us.anthropic.claude-sonnet-4-5-20250929-v1:0``).

    Without a model, or for one that is not listed, what the format is mostly used with: marks as Anthropic's for
    ``"anthropic"``, a prefix cached without being asked for all others. Never raises.
    """
    fits = [(fit, terms) for terms in _TERMS if (fit := fit_of(model or "", terms.prefixes))]
    return max(fits, key=lambda fit: fit[0])[1] if fits else _default(format)


def _default(format: str) -> CacheTerms:  # noqa: A002 - the session's own word
    match format:
        case "openai" | "responses":
            return _GPT_5
        case "anthropic":
            return _CLAUDE_1024
        case "gemini":
            return _GEMINI_3
        case _:
            return _UNKNOWN
