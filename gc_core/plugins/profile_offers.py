"""The profiles that plugins offer, by name."""

from __future__ import annotations

from typing import Any

from gc_core.errors import ConfigError, PluginError
from gc_core.relevance.profiles.choice import AUTO
from gc_core.relevance.profiles.profile import CompressionProfile
from gc_core.values.validators import check_text


class ProfileOffers:
    """Offered profiles, by their own names."""

    what = "compression profile"

    def __init__(self) -> None:
        self._offers: dict[str, tuple[str, Any]] = {}

    def offer(self, plugin: str, profile: object) -> None:
        """Add an offer. Raises PluginError for a name that is taken, and for anything but a profile."""
        if not isinstance(profile, CompressionProfile):
            raise PluginError(f"offered {profile!r:.200}; expected a CompressionProfile")
        if profile.name == AUTO:
            raise PluginError(f"profile {AUTO!r} is reserved for detection; expected another name")
        if profile.name in self._offers:
            raise PluginError(f"profile {profile.name!r} is already offered by {self._offers[profile.name][0]!r}")
        self._offers[profile.name] = (plugin, profile)

    def withdraw(self, plugin: str) -> None:
        """Remove everything that a plugin has offered."""
        self._offers = {name: offer for name, offer in self._offers.items() if offer[0] != plugin}

    @property
    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._offers)

    def meant(self, name: str, *also: str) -> str:
        """
        Return a suggestion for an unknown name, as an addition to an error: a similar name, of an offer or among
        ``also``, or nothing.
        """
        from gc_core.values.nearest import did_you_mean

        return did_you_mean(name, (*self._offers, *also))

    def find(self, name: str) -> CompressionProfile | None:
        """Return the profile with a name, or None. Raises ConfigError for anything but a name."""
        check_text("profile", name, error=ConfigError)
        found: CompressionProfile | None = self._offers.get(name, ("", None))[1]
        return found
