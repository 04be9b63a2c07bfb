"""The cost of a session's calls: as the provider reported, otherwise by the common prefix of its prompts."""

from __future__ import annotations

import datetime as dt

import attrs

from ctxgc.evaluation.call_measures import Prompt
from ctxgc.report.values import Cost
from gc_core.cache.account import CallAccount
from gc_core.cache.economics import economics_of
from gc_core.providers.prices import Prices, prices_of

_MILLION = 1_000_000


@attrs.frozen(kw_only=True)
class Costing:
    """
    The cost of one call, in both units: all calls decide which of them a report shows.

    Attributes:
        worth: The cost in tokens of plain input.
        usd: The cost in USD, or None if a price is missing.

    """

    worth: Cost
    usd: float | None

    def cost(self, *, priced: bool) -> Cost:
        """Return the cost in the unit of the report."""
        return attrs.evolve(self.worth, price=self.usd) if priced and self.usd is not None else self.worth


def simulated(prompt: Prompt, model: str | None, form: str, time: float) -> Costing:
    """Return the cost of a prompt without a report: the existing prefix is read, the rest is written."""
    prices = _prices(model, form, time)
    rest = prompt.tokens - prompt.cached
    worth = Cost(read=prompt.cached, written=rest, fresh=0, price=prompt.cost)
    usd = None if prices is None else prompt.cost * prices.at(prompt.tokens).input / _MILLION
    return Costing(worth=worth, usd=usd)


def reported(call: CallAccount, model: str | None, form: str) -> Costing:
    """Return the cost of a call as its provider reported it."""
    usage = call.usage
    rates = economics_of(model, form, _day(call.time))
    price = usage.fresh_tokens + rates.read * usage.cache_read_tokens + rates.write * usage.cache_write_tokens
    worth = Cost(
        read=usage.cache_read_tokens,
        written=usage.cache_write_tokens,
        fresh=usage.fresh_tokens,
        output=usage.output_tokens,
        price=price,
        recorded=True,
        miss="" if call.miss is None else call.miss.text,
    )
    return Costing(worth=worth, usd=call.cost)


def rewriting(tokens: int, model: str | None, form: str, time: float) -> float | None:
    """
    Return the USD by which writing this many tokens again costs more than reading them from the cache; None without
    prices.
    """
    prices = _prices(model, form, time)
    return None if prices is None else tokens * (prices.cache_write - prices.cache_read) / _MILLION


def _prices(model: str | None, form: str, time: float) -> Prices | None:
    return prices_of(model, form, _day(time))


def _day(time: float) -> dt.date:
    return dt.datetime.fromtimestamp(time, dt.UTC).date()
