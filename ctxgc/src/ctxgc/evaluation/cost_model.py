"""
The cost of a long session with and without collection: the models of ``docs/explanation/models.md`` as pure functions.

Prices are data (``gc_core.cache.prices``), never numbers in here. Amounts are USD.
"""

from __future__ import annotations

from typing import Any

import attrs

from gc_core.errors import ConfigError
from gc_core.providers.prices import Prices
from gc_core.values.messages import Usage
from gc_core.values.validators import is_number


def available(context_limit: int, *, system: int, output_reservation: int, fixed: int = 0) -> int:
    """
    Return the tokens of a window that are left for the conversation of a step.

    Args:
        context_limit: Tokens of the window.
        system: Of the system text.
        output_reservation: Kept free for the reply.
        fixed: Tokens of what else is in every request: tool schemas, framing.

    Raises:
        ConfigError: Nothing is left.

    """
    left = context_limit - system - output_reservation - fixed
    if left <= 0:
        raise ConfigError(
            f"context_limit = {context_limit}: nothing is left of it for a conversation after system = {system}, "
            f"output_reservation = {output_reservation} and fixed = {fixed}"
        )
    return left


def required_ratio(steps: int, tokens_per_step: float, available: int) -> float:
    """
    Return how many times smaller the history of this many steps has to become to fit; below 1 it fits as it is. Raises
    ConfigError if nothing is available.
    """
    if available <= 0:
        raise ConfigError(f"available = {available!r}: expected a number of tokens above 0")
    return steps * tokens_per_step / available


def _amount(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if not is_number(value) or value < 0:
        raise ConfigError(f"{attribute.name} = {value!r}: expected a number of at least 0")


@attrs.frozen(kw_only=True)
class CostModel:
    """
    The cost of a step, when each adds as much to the history as the others.

    Raises ConfigError, naming the field, for an invalid number.

    Attributes:
        prices: Of the model that is called.
        tokens_per_step: Tokens that a step adds to the history.
        available: Tokens of history that a request holds at most (see ``available``).
        fixed: Tokens before the history in every request.
        output_per_step: Tokens of a reply.
        hit_percent: Input tokens that the provider reads from its cache, in percent, as in ``session.cache``.
        summary_input: Tokens that a summarizer reads each time; 0 without a model that writes summaries.
        summary_output: Tokens that it writes.
        summary_interval: Steps between two of its calls.
        summary_prices: Of the model that writes summaries; None: the same.

    """

    prices: Prices
    tokens_per_step: float = attrs.field(validator=_amount)
    available: int = attrs.field(validator=_amount)
    fixed: int = attrs.field(default=0, validator=_amount)
    output_per_step: int = attrs.field(default=0, validator=_amount)
    hit_percent: float = attrs.field(default=0.0, validator=_amount)
    summary_input: int = attrs.field(default=0, validator=_amount)
    summary_output: int = attrs.field(default=0, validator=_amount)
    summary_interval: int = attrs.field(default=20, validator=[_amount, attrs.validators.ge(1)])
    summary_prices: Prices | None = None

    def raw(self, step: int) -> float:
        """USD of a step (from 1 on) that is sent the whole history, as if a window could hold it."""
        return self._call(step * self.tokens_per_step)

    def collected(self, step: int) -> float:
        """USD of the same step with collection: the history stays within ``available``; summaries are shared out."""
        history = step * self.tokens_per_step
        if history <= self.available:
            return self._call(history)
        return self._call(self.available) + self._summaries()

    def savings(self, step: int) -> float:
        """
        Return the share of ``raw`` that collection saves in this step, below 0 where it costs more;
        0 for free models.
        """
        raw = self.raw(step)
        return 1.0 - self.collected(step) / raw if raw else 0.0

    def _call(self, history: float) -> float:
        tokens = round(self.fixed + history)
        read = min(tokens, round(tokens * self.hit_percent / 100.0))
        return self.prices.cost(Usage(input_tokens=tokens, output_tokens=self.output_per_step, cache_read_tokens=read))

    def _summaries(self) -> float:
        usage = Usage(input_tokens=self.summary_input, output_tokens=self.summary_output)
        return (self.summary_prices or self.prices).cost(usage) / self.summary_interval
