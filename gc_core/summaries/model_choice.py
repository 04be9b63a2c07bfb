"""The model and prompt of the summarizers that ask a model, from the configuration's keys."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gc_core.errors import ConfigError
from gc_core.providers import PROVIDERS
from gc_core.providers.prices import missing_price, provider_offers
from gc_core.summaries.litellm_client import window_at
from gc_core.summaries.prompt import with_instructions
from gc_core.values.config import GCConfig
from gc_core.values.messages import Usage
from gc_core.values.patterns import regex
from gc_core.values.removals import SUMMARY_SHARE

MODEL_SUMMARIZERS: Final = frozenset({"llm", "llm_async"})
"""Names of gc-core's summarizers that ask a model."""

AUTO: Final = "auto"

_MODEL, _PROMPT = "summarization_model", "summarization_prompt"
_PROVIDERS: Final = {"google": "gemini", "x-ai": "xai", "together": "together_ai", "fireworks": "fireworks_ai"}
"""litellm's names of providers that the price list calls differently."""
_REGION: Final = regex(r"[a-z-]+\.")
"""How a cloud spells another provider's model: ``us.anthropic.claude-...``."""


def completed(options: Mapping[str, Any], config: GCConfig, model: str | None, format: str) -> Mapping[str, Any]:  # noqa: A002
    """
    Return a summarizer's options, completed from the configuration's keys.

    Raises ConfigError when no model can be found for it.
    """
    given = dict(options)
    wanted = given.get(_MODEL, config.summarization_model)
    if wanted is None:
        wanted = _own(model, format)
    elif wanted == AUTO:
        wanted = cheapest(model, config.usable)
    given[_MODEL] = wanted
    if config.summarization_prompt is not None:
        given.setdefault(_PROMPT, with_instructions(config.summarization_prompt))
    return given


def _own(model: str | None, format: str) -> str:  # noqa: A002
    if not model:
        raise ConfigError("summarization_model = None: the session has no model; name one, or give model=")
    provider = PROVIDERS.get(format)
    if provider is None or not provider.is_one_vendor or "/" in model:
        return model
    return f"{provider.litellm_name}/{model}"


def cheapest(model: str | None, tokens: int, at: dt.date | None = None) -> str:
    """
    Return the cheapest model of a model's provider that accepts this many tokens and writes a summary of them, by
    litellm's name. It must be in the price list and in litellm's table, and not be withdrawn.

    Raises ConfigError saying what is missing.
    """
    if not model:
        raise ConfigError(f'{_MODEL} = "{AUTO}": the session has no model whose provider could be asked; give model=')
    day = at or dt.datetime.now(dt.UTC).date()
    found = sorted(_candidates(model, tokens, day))
    if found:
        return found[0][1]
    missing = missing_price(model, at=day) or f"nothing that its provider offers is known to hold {tokens:,} tokens"
    raise ConfigError(f'{_MODEL} = "{AUTO}" finds no model other than {model!r}: {missing}; name one instead')


def _candidates(model: str, tokens: int, day: dt.date) -> Iterator[tuple[float, str]]:
    """Yield the cost of a summary with each model, and the model's name."""
    usage = Usage(input_tokens=tokens, output_tokens=int(tokens * SUMMARY_SHARE))
    through = model.rpartition("/")[0]
    for offer in provider_offers(model, day):
        provider = _PROVIDERS.get(offer.provider, offer.provider)
        if through not in {"", provider} or _REGION.match(model):
            continue  # a gateway has another account and another list of models
        if min(offer.window, window_at(provider, offer.prices.model, day)) >= tokens:
            yield offer.prices.cost(usage), f"{provider}/{offer.prices.model}"
