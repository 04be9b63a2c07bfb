"""The options of a summarizer that asks a model, and their validation before the first request."""

from __future__ import annotations

from typing import Any, Final

import attrs

from gc_core.errors import ConfigError
from gc_core.summaries import litellm_client as model_library
from gc_core.summaries.prompt import DEFAULT_PROMPT
from gc_core.values.validators import is_count, is_number

HOTTEST: Final = 2
"""The highest temperature that any provider accepts."""


def _text(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{attribute.name} = {value!r}: expected a non-empty text")


def _whole(least: int) -> Any:
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not is_count(value, least):
            raise ConfigError(f"{attribute.name} = {value!r}: expected a whole number of at least {least}")

    return check


def _seconds(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not is_number(value) or value <= 0:
        raise ConfigError(f"{attribute.name} = {value!r}: expected a number of seconds above 0")


def _temperature(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not is_number(value) or not 0 <= value <= HOTTEST:
        raise ConfigError(f"{attribute.name} = {value!r}: expected a number from 0 to {HOTTEST}")


@attrs.frozen(kw_only=True)
class ModelOptions:
    """Options as ``LLMSummarizer`` documents them; raises ConfigError if litellm is not installed."""

    summarization_model: str = attrs.field(validator=_text)
    summarization_prompt: str = attrs.field(default=DEFAULT_PROMPT, validator=_text, repr=False)
    tool_output_tokens: int = attrs.field(default=500, validator=_whole(20))
    input_tokens: int | None = attrs.field(default=None, validator=attrs.validators.optional(_whole(1_000)))
    reasoning_tokens: int = attrs.field(default=4_000, validator=_whole(0))
    timeout_seconds: float = attrs.field(default=30, validator=_seconds)
    retries: int = attrs.field(default=2, validator=_whole(0))
    api_base: str | None = attrs.field(default=None, validator=attrs.validators.optional(_text))
    api_key: str | None = attrs.field(default=None, repr=False)
    temperature: float = attrs.field(default=0, validator=_temperature)

    def __attrs_post_init__(self) -> None:
        """Fail now rather than at the first summary."""
        model_library.require()
