"""
The provider's own edits of the window that a host requests: ``GCConfig.provider_edits`` as a value.

How a provider is asked, and which of it each supports, is in the provider's folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from gc_core.errors import ConfigError
from gc_core.values.validators import check_percent, is_count


def _percent(edits: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if value is None:
        return
    check_percent(f"provider_edits.{attribute.name}", value)
    if value in {0, 100}:
        raise ConfigError(f"provider_edits.{attribute.name} = {value!r}: expected percent from 1 to below 100")


def _turns(edits: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if value is not None and not is_count(value, 1):
        raise ConfigError(f"provider_edits.{attribute.name} = {value!r}: expected a whole number of at least 1")


@attrs.frozen(kw_only=True)
class ProviderEdits:
    """
    The edits that the provider should do, and when; percentages are of ``context_limit - output_reservation``.

    Raises ConfigError, naming the key, for an invalid value.

    Attributes:
        compact_percent: Usage at which it compacts the conversation.
        clear_percent: Usage at which it clears old tool results.
        thinking_turns: Newest replies whose thinking it keeps, in every request.

    """

    compact_percent: float | None = attrs.field(default=None, validator=_percent)
    clear_percent: float | None = attrs.field(default=None, validator=_percent)
    thinking_turns: int | None = attrs.field(default=None, validator=_turns)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> ProviderEdits:
        """Read the configuration's table. Raises ConfigError for an unknown key."""
        names = [field.name for field in attrs.fields(cls)]
        for name in table:
            if name not in names:
                from gc_core.values.nearest import did_you_mean

                meant = did_you_mean(str(name), names)
                raise ConfigError(f"provider_edits.{name} = {table[name]!r:.100}: expected one of {names}{meant}")
        return cls(**table)

    @property
    def percents(self) -> Mapping[str, float]:
        """The usage at which the provider makes room by itself, by key."""
        levels = {"clear_percent": self.clear_percent, "compact_percent": self.compact_percent}
        return {name: level for name, level in levels.items() if level is not None}

    @property
    def asked(self) -> Sequence[str]:
        """The keys that are set."""
        return [name for name, value in attrs.asdict(self).items() if value is not None]
