"""The providers, by the names of their formats; ``gc_core.providers`` fills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gc_core.errors import ConfigError

if TYPE_CHECKING:  # a provider's rules and models look others up here
    from gc_core.providers.provider import Provider

PROVIDERS: Final[dict[str, Provider]] = {}
"""Every provider by the name of its format, the value of a session's ``format=``."""


def provider_named(name: str) -> Provider:
    """Return the provider whose format has that name; raises ConfigError naming the known formats."""
    if isinstance(name, str) and name in PROVIDERS:
        return PROVIDERS[name]
    raise ConfigError(f"unknown format {name!r}; known: {sorted(PROVIDERS)}")
