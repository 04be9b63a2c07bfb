"""
litellm, the library that reaches the models: loading it, its model table, its responses and errors.

It is imported with the first summary, which takes some seconds; it is configured to read its model table from its own
files, so that only the model is asked over the network.
"""

from __future__ import annotations

import datetime as dt
import functools
import os
from types import ModuleType
from typing import Any, Final

import attrs

from gc_core.errors import ConfigError

_PASSING: Final = frozenset({408, 409, 429})
_SERVER_ERRORS: Final = 500
_LONGEST_MESSAGE: Final = 300


def require() -> None:
    """Raise ConfigError if litellm is not installed. It is only located, not imported: that would take seconds."""
    import importlib
    import importlib.util

    if importlib.util.find_spec("litellm") is None:
        raise _missing()


@functools.cache
def loaded() -> ModuleType:
    """Return litellm, silenced. Raises ConfigError if it is not installed."""
    # Otherwise it would download its model table at import, and read a .env file of the working directory into the
    # environment of the whole process.
    import importlib

    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    try:
        module = importlib.import_module("litellm")
    except ModuleNotFoundError as error:
        if error.name != "litellm":
            raise
        raise _missing() from error
    vars(module).update(telemetry=False, suppress_debug_info=True)
    return module


def _missing() -> ConfigError:
    return ConfigError('summaries by a model need litellm: pip install "gc-core[llm]"')


# ---------------------------------------------------------------------- model table


@attrs.frozen(kw_only=True)
class ModelFacts:
    """Facts about a model from litellm; 0 for unknown values."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasons: bool = False


def facts_of(model: str) -> ModelFacts:
    """
    Return the entry of litellm's table for a model, under its whole name or without the provider.

    The table is read directly: ``litellm.get_model_info`` asks some local servers over HTTP.
    """
    table = loaded().model_cost
    known = table.get(model) or table.get(model.partition("/")[2]) or {}
    return ModelFacts(
        input_tokens=known.get("max_input_tokens") or 0,
        output_tokens=known.get("max_output_tokens") or 0,
        reasons=bool(known.get("supports_reasoning")),
    )


def window_at(provider: str, model: str, day: dt.date) -> int:
    """
    Return the input tokens of a text model in litellm's table for this provider; 0 if it has none, or if the provider
    has withdrawn the model by that day.
    """
    table = loaded().model_cost
    known = table.get(f"{provider}/{model}") or table.get(model) or {}
    withdrawn = known.get("deprecation_date")
    writes = known.get("mode") == "chat" and not known.get("supports_audio_output")
    if known.get("litellm_provider") != provider or not writes or (withdrawn and withdrawn <= day.isoformat()):
        return 0
    return known.get("max_input_tokens") or 0


# ---------------------------------------------------------------------- responses


@attrs.frozen(kw_only=True)
class Reply:
    """The fields that are read from a model's reply."""

    text: str
    tool: str
    finish: str

    @classmethod
    def of(cls, response: Any) -> Reply:
        """Read litellm's response, which has OpenAI's shape for every provider."""
        if not response.choices:
            return cls(text="", tool="", finish="no choice")
        choice = response.choices[0]
        calls = choice.message.tool_calls or ()
        return cls(
            text=(choice.message.content or "").strip(),
            tool=calls[0].function.name or "?" if calls else "",
            finish=choice.finish_reason or "",
        )

    @property
    def fault(self) -> str:
        """Why it is not a whole text, or ""."""
        if self.finish == "length":
            return f"was cut off at the limit of its output, after {self.text[-60:]!r}"
        if self.tool:
            return f"called the tool {self.tool!r} instead of writing a text"
        if self.finish == "content_filter":
            return "was stopped by the provider's content filter"
        return "" if self.text else f"wrote no text (finish reason {self.finish!r})"


# ---------------------------------------------------------------------- errors


def failures() -> tuple[type[Exception], ...]:
    """Return the errors that litellm is documented to raise."""
    exceptions = loaded().exceptions
    return (*exceptions.LITELLM_EXCEPTION_TYPES, exceptions.BudgetExceededError)


def is_passing(error: Exception) -> bool:
    """Return whether the same request may succeed later. litellm gives timeouts 408 and lost connections 500."""
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and (status in _PASSING or status >= _SERVER_ERRORS)


def error_text(error: Exception, *, attempts: int) -> str:
    """Return the error in one line, with its status."""
    status = getattr(error, "status_code", "none")
    message = " ".join(str(error).split())[:_LONGEST_MESSAGE]
    return f"{type(error).__name__} (status {status}) after {attempts} attempt{'s'[: attempts > 1]}: {message}"
