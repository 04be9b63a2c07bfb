"""
How providers cache prompts, as values; the terms themselves are in each provider's ``models``.

A model that is not listed gets the default terms of its format. The multipliers apply if no price is known: see
``gc_core.cache.economics``.
"""

from __future__ import annotations

import functools

import attrs

from gc_core.providers.model_families import fit_of
from gc_core.providers.registry import PROVIDERS


@attrs.frozen(kw_only=True)
class CacheTerms:
    """
    A provider's promises about the cached prefix of a prompt.

    Attributes:
        name: The name that reports use for these terms.
        prefixes: Lower-case starts of model names, dots written as dashes. The longest match wins.
        writes_at_marks: Prefixes are written, and looked up, only at marks; otherwise any prefix is cached
            automatically.
        most_marks: The most marks in one request; 0 if there are none.
        look_back: Blocks, including its own, that are searched before a mark for what earlier requests wrote; 0 = no
            limit.
        least_tokens: Tokens below which no prefix is cached. The provider does not report that.
        step_tokens: The length of an automatically cached prefix is a multiple of this.
        ttl_seconds: Life of a cached prefix after its last use.
        ttl_choices: Lives that a mark may request: () or ("5m", "1h").
        explicit_marks: Field that marks a block: ``"cache_control"``, ``"prompt_cache_breakpoint"`` or "".
        has_cache_key: A request may name its cache (``prompt_cache_key``).
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
        """Return the life in seconds of what a mark with this ``ttl`` writes; the default for an unknown word."""
        return _LIVES[ttl] if ttl in self.ttl_choices else self.ttl_seconds


_LIVES = {"5m": 300.0, "1h": 3600.0}

_UNKNOWN = CacheTerms(name="unknown", least_tokens=1024, step_tokens=128, dated="2026-11-01")


@functools.lru_cache(maxsize=256)
def terms_of(model: str | None, format: str = "") -> CacheTerms:  # noqa: A002 - the session's own word
    """
    Return the terms for a model, however a gateway spells it (``us.anthropic.claude-sonnet-4-5-20250929-v1:0``).

    Without a model, or for one that is not listed, the default of the format's provider; for a format without a
    provider, automatic caching. Never raises.
    """
    listed = (terms for provider in PROVIDERS.values() for terms in provider.cache_terms)
    fits = [(fit, terms) for terms in listed if (fit := fit_of(model or "", terms.prefixes))]
    if fits:
        return max(fits, key=lambda fit: fit[0])[1]
    return PROVIDERS[format].default_terms if format in PROVIDERS else _UNKNOWN
