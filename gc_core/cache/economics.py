"""The cost of a break of the cached prefix, in multiples of the input price, for the scheduler."""

from __future__ import annotations

import datetime as dt

import attrs

from gc_core.providers.cache_terms import terms_of
from gc_core.providers.prices import missing_price, prices_of


@attrs.frozen(kw_only=True)
class Economics:
    """
    The prices of reading, writing and waiting for a model.

    Attributes:
        read: Price of a token read from the cache, in units of the input price.
        write: Price of a token written to it for the default life, in the same unit.
        cliffs: Input tokens above which a whole request costs more, ascending.
        ttl_seconds: Idle seconds after which the cache is cold.
        note: The missing price, if default multipliers are used instead; otherwise "".

    """

    read: float
    write: float
    cliffs: tuple[int, ...] = ()
    ttl_seconds: float
    note: str = ""


def economics_of(model: str | None, format: str = "", at: dt.date | None = None) -> Economics:  # noqa: A002
    """Return the prices of a model if known, otherwise the multipliers of its provider's terms. Never fails."""
    terms = terms_of(model, format)
    prices = prices_of(model, format, at)
    if prices is None:
        note = missing_price(model, format, at)
        return Economics(read=terms.read, write=terms.write, ttl_seconds=terms.ttl_seconds, note=note)
    return Economics(
        read=prices.read_share,
        write=prices.write_share,
        cliffs=tuple(cliff.tokens for cliff in prices.cliffs),
        ttl_seconds=terms.ttl_seconds,
    )
