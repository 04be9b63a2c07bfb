"""
Prices of tokens, by model and date: the package genai-prices (extra ``prices``), which works offline.

If the package, the model or one of its prices is unknown, that is reported and everything else continues.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from decimal import Decimal
from typing import Any, Final

import attrs

from gc_core.values.loggers import logger
from gc_core.values.messages import Usage

PACKAGE = "genai-prices"

KEPT_FOR_REPLIES: Final = 128_000
"""
Tokens of the window that OpenAI keeps for the reply from GPT-5 on: of the 400,000 that are listed a request may have
272,000, as its refusals say.
"""

_KEEPS_FOR_REPLIES = ("gpt-5", "gpt-6")
_MODULE = "genai_prices.data_snapshot"
_MILLION = 1_000_000
_log = logger("gc_core.cache.prices")


@attrs.frozen(kw_only=True)
class Rates:
    """USD per million tokens: fresh input, output, read from the cache, written to it for minutes, for an hour."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float


@attrs.frozen(kw_only=True)
class Cliff(Rates):
    """
    Other prices for the whole request above an input size.

    Attributes:
        tokens: The largest input, including cached tokens, with the lower prices.

    """

    tokens: int


@attrs.frozen(kw_only=True)
class PriceSource:
    """The source of prices, and the day (ISO, UTC) they were asked for."""

    package: str
    version: str
    date: str


@attrs.frozen(kw_only=True)
class Prices(Rates):
    """
    The prices of a model's tokens.

    Attributes:
        model: The listed model.
        cliffs: Other prices of large requests, by size.
        source: The source of the prices.

    """

    model: str
    cliffs: tuple[Cliff, ...] = ()
    source: PriceSource

    def at(self, tokens: int) -> Prices:
        """Return the prices of a request with this many input tokens; they have no further cliff."""
        over = [cliff for cliff in self.cliffs if tokens > cliff.tokens]
        if not over:
            return attrs.evolve(self, cliffs=())
        cliff = max(over, key=lambda each: each.tokens)
        return attrs.evolve(
            self,
            input=cliff.input,
            output=cliff.output,
            cache_read=cliff.cache_read,
            cache_write=cliff.cache_write,
            cache_write_1h=cliff.cache_write_1h,
            cliffs=(),
        )

    def cost(self, usage: Usage) -> float:
        """Return the USD of one call, with everything that the provider billed for it: each pass by its own size."""
        return self._cost_of_one(usage) + sum(map(self._cost_of_one, usage.iterations))

    def _cost_of_one(self, usage: Usage) -> float:
        prices = self.at(usage.input_tokens)
        minutes = usage.cache_write_tokens - usage.cache_write_1h_tokens
        spent = (
            usage.fresh_tokens * prices.input
            + usage.cache_read_tokens * prices.cache_read
            + minutes * prices.cache_write
            + usage.cache_write_1h_tokens * prices.cache_write_1h
            + usage.output_tokens * prices.output
        )
        return spent / _MILLION

    @property
    def read_share(self) -> float:
        """Price of a token read, in units of the input price; 1 for a model that costs nothing."""
        return round(self.cache_read / self.input, 6) if self.input else 1.0

    @property
    def write_share(self) -> float:
        """Price of a token written for minutes, in units of the input price; 1 for a model that costs nothing."""
        return round(self.cache_write / self.input, 6) if self.input else 1.0


@attrs.frozen(kw_only=True)
class Offer:
    """
    A model that a provider offers.

    Attributes:
        provider: The provider's name in the price list.
        window: Tokens of the model's window.
        prices: The prices of its tokens.

    """

    provider: str
    window: int
    prices: Prices


def provider_offers(model: str, at: dt.date | None = None) -> tuple[Offer, ...]:
    """
    Return the models of a model's provider with known window and prices, including that model; on a day (UTC; today by
    default). Empty if the model is unknown: ``missing_price`` says what is missing.
    """
    day = at or _today()
    if prices_of(model, at=day) is None:
        return ()
    provider, _ = _listed(model)
    noon, source = dt.datetime.combine(day, dt.time(12), dt.UTC), _source(day)
    found = ((info, _prices(info.id, info.get_prices(noon), source)) for info in provider.models)
    return tuple(
        Offer(provider=provider.id, window=info.context_window, prices=prices)
        for info, prices in found
        if prices is not None and prices.output and info.context_window and not info.deprecated
    )


def window_of(model: str) -> int:
    """
    Return the tokens that a request to a model may have: the window of the price list, without what the provider keeps
    for the reply; 0 if it is unknown, or the list not installed.
    """
    try:
        _, info = _listed(model)
    except (LookupError, ModuleNotFoundError):
        return 0
    kept = KEPT_FOR_REPLIES if info.id.startswith(_KEEPS_FOR_REPLIES) else 0
    return max(0, (info.context_window or 0) - kept)


def prices_of(model: str | None, format: str = "", at: dt.date | None = None) -> Prices | None:  # noqa: A002
    """
    Return the prices of a model on a day (UTC; today by default), however a gateway spells it.

    Prices that change during the day are those of noon. None if unknown: ``missing_price`` says why.
    """
    found = _asked(model, format, at or _today())
    return found if isinstance(found, Prices) else None


def missing_price(model: str | None, format: str = "", at: dt.date | None = None) -> str:  # noqa: A002
    """Return what is missing for a price, in words; "" if it is known."""
    found = _asked(model, format, at or _today())
    return found if isinstance(found, str) else ""


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


@functools.lru_cache(maxsize=256)
def _asked(model: str | None, format: str, day: dt.date) -> Prices | str:  # noqa: A002 - the session's own word
    """Return the prices, or what is missing, which is logged once."""
    found = _found(model, format, day)
    if isinstance(found, str):
        _log.info("price unknown", why=found)
    return found


def _found(model: str | None, format: str, day: dt.date) -> Prices | str:  # noqa: A002
    if not model:
        return f"no price: no model is named for the format {format!r}"
    try:
        _, info = _listed(model)
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("genai_prices"):
            raise
        return f'no price of {model!r}: {PACKAGE} is not installed (pip install "gc-core[prices]")'
    except LookupError:
        return f"no price of {model!r}: {PACKAGE} {_source(day).version} does not know this model"
    source = _source(day)
    prices = _prices(info.id, info.get_prices(dt.datetime.combine(day, dt.time(12), dt.UTC)), source)
    return prices or f"no price of {model!r}: {PACKAGE} {source.version} has no price of tokens for {info.id}"


def _source(day: dt.date) -> PriceSource:
    import importlib
    import importlib.metadata

    return PriceSource(package=PACKAGE, version=importlib.metadata.version(PACKAGE), date=day.isoformat())


def _listed(model: str) -> tuple[Any, Any]:
    """
    Return the package's provider and model. Raises LookupError for an unknown model,
    ModuleNotFoundError without it.
    """
    # Half a second, for pydantic and the table: only those who ask for a price wait for it.
    import importlib
    import importlib.metadata

    snapshot = importlib.import_module(_MODULE).get_snapshot()
    for spelled in _spellings(model):
        try:
            found: tuple[Any, Any] = snapshot.find_provider_model(spelled, None, None, None)
        except LookupError:
            continue
        return found
    raise LookupError(model)


def _spellings(model: str) -> list[str]:
    """Return a name as it is, then without a gateway's additions: path, region and vendor, version, date."""
    last = model.lower().rpartition("/")[2]
    bare = re.sub(r"^(?:[a-z-]+\.)*(?=[a-z]+[0-9]*-)", "", last)
    bare = re.sub(r"(?:-v\d+)?(?::\d+)?$", "", bare.partition("@")[0])
    undated = re.sub(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$", "", bare)
    return list(dict.fromkeys([model, last, bare, undated]))


def _prices(model: str, listed: Any, source: PriceSource) -> Prices | None:
    """Return the package's prices as ours; None without a price of input tokens."""
    if _base(listed.input_mtok) is None:
        return None
    starts = {tier.start for price in vars(listed).values() for tier in getattr(price, "tiers", ())}
    cliffs = tuple(Cliff(tokens=start, **attrs.asdict(_rates(listed, start + 1))) for start in sorted(starts))
    return Prices(model=model, cliffs=cliffs, source=source, **attrs.asdict(_rates(listed, 0)))


def _rates(listed: Any, tokens: int) -> Rates:
    """
    Return the prices of a request of this size. Without its own price, a kind of token costs what plain input
    does.
    """
    plain = _price(listed.input_mtok, tokens, 0.0)
    write = _price(listed.cache_write_mtok, tokens, plain)
    return Rates(
        input=plain,
        output=_price(listed.output_mtok, tokens, 0.0),
        cache_read=_price(listed.cache_read_mtok, tokens, plain),
        cache_write=write,
        cache_write_1h=_price(getattr(listed, "cache_write_1h_mtok", None), tokens, write),
    )


def _price(price: Any, tokens: int, default: float) -> float:
    base = _base(price)
    if base is None:
        return default
    over = [tier.price for tier in getattr(price, "tiers", ()) if tokens > tier.start]  # in ascending order
    return float(over[-1] if over else base)


def _base(price: Any) -> Decimal | None:
    base: Decimal | None = getattr(price, "base", price)
    return base
