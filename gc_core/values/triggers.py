"""
When a strategy wants to be asked, besides the session's threshold: data that it declares and the core evaluates. Each
raises ConfigError, naming the field, for a value that cannot be.
"""

from __future__ import annotations

import attrs

from gc_core.values.validators import above, at_least, of_kind, optional, percent


@attrs.frozen(kw_only=True)
class Young:
    """
    Ask when enough content near the end of the prompt has been consumed, where a break is cheap.

    Attributes:
        tokens: Tokens of results, long arguments and texts, and pastes since the last such collection.
        steps: Steps that the agent has taken since each of them.
        least: Tokens below which an item does not count.
        on_bound_thinking: Ask even if the model binds thinking to what precedes it: there every break strips thinking.

    """

    tokens: int = attrs.field(validator=above(0))
    steps: int = attrs.field(default=2, validator=at_least(0))
    least: int = attrs.field(default=200, validator=at_least(0))
    on_bound_thinking: bool = attrs.field(default=False, validator=of_kind(bool, "True or False"))


@attrs.frozen(kw_only=True)
class Major:
    """
    Collections of the whole window are rare and deep.

    Attributes:
        target_percent: Usage down to which they go, if that is below the session's own target.
        base_tokens: Go deeper in large windows: down to this many tokens and ``more_percent`` of the window, if that is
            less. What the agent works on does not grow with the window. None: only the percentage.
        more_percent: Percent of the usable window added to ``base_tokens``.
        conversation_percent: They also begin when the conversation by itself has this share of the usable window.
        relief_percent: Under pressure, usage down to which PRESERVABLE content may be summarised or digested; None: to
            just below the pressure, as for drops. A session of thousands of steps would otherwise stay at its pressure
            permanently.

    """

    target_percent: float = attrs.field(validator=percent)
    base_tokens: int | None = attrs.field(default=None, validator=optional(at_least(0)))
    more_percent: float = attrs.field(default=25.0, validator=percent)
    conversation_percent: float = attrs.field(default=100.0, validator=percent)
    relief_percent: float | None = attrs.field(default=None, validator=optional(percent))

    def kept_percent(self, usable: int) -> float:
        """Return the usage in percent down to which a collection goes in a window of this many usable tokens."""
        if self.base_tokens is None:
            return self.target_percent
        return min(self.target_percent, 100.0 * self.base_tokens / usable + self.more_percent)


@attrs.frozen(kw_only=True)
class Hot:
    """
    Ask when verbatim content has this share of the usable window, if that is worth a break.

    Attributes:
        percent: The share.

    """

    percent: float = attrs.field(default=40.0, validator=percent)


@attrs.frozen(kw_only=True)
class Steps:
    """
    Ask this many steps after the last collection of the whole window, if that is worth a break.

    Attributes:
        every: The number of steps.

    """

    every: int = attrs.field(default=20, validator=above(0))


@attrs.frozen(kw_only=True)
class Spend:
    """
    Ask when this many tokens have been sent since the last collection of the whole window, if that
    is worth a break.
    """

    tokens: int = attrs.field(validator=above(0))


@attrs.frozen(kw_only=True)
class ObjectiveChange:
    """Ask when the session's objective has changed, if that is worth a break."""


Trigger = Young | Major | Hot | Steps | Spend | ObjectiveChange
"""The closed set of triggers."""
