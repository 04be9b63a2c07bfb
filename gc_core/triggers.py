"""When a strategy wants to be asked, beside the session's threshold: data that it declares and the core evaluates."""

from __future__ import annotations

from typing import Any

import attrs

_PERCENT: Any = [attrs.validators.ge(0), attrs.validators.le(100)]


@attrs.frozen(kw_only=True)
class Young:
    """
    Ask as soon as so much content has been served that lies near the end of the prompt, where a break is cheap.

    Attributes:
        tokens: Tokens of results, long arguments and texts, and pastes that came since the last such collection.
        steps: Steps that the agent has taken since each of them.
        least: Tokens below which an item does not count.
        on_bound_thinking: Ask too where the model binds thinking to what stood before it: every break strips thinking
            there.

    """

    tokens: int = attrs.field(validator=attrs.validators.gt(0))
    steps: int = attrs.field(default=2, validator=attrs.validators.ge(0))
    least: int = attrs.field(default=200, validator=attrs.validators.ge(0))
    on_bound_thinking: bool = False


@attrs.frozen(kw_only=True)
class Major:
    """
    Collections of the whole window are rare and deep.

    Attributes:
        target_percent: Usage that they go down to, where that is below the session's own target.
        conversation_percent: They begin, too, when the conversation alone has this share of the usable window.
        relief_percent: Under pressure, usage down to which PRESERVABLE content may be summarised or digested; None: to
            just below the pressure, as it is dropped. A session of thousands of steps would stand at its pressure for
            good otherwise.

    """

    target_percent: float = attrs.field(validator=_PERCENT)
    conversation_percent: float = attrs.field(default=100.0, validator=_PERCENT)
    relief_percent: float | None = attrs.field(default=None, validator=attrs.validators.optional(_PERCENT))


@attrs.frozen(kw_only=True)
class Hot:
    """
    Ask when what stands verbatim has this share of the usable window, if that is worth a break.

    Attributes:
        percent: The share; None: the hot one of the session's ``tier_ratios``.

    """

    percent: float | None = attrs.field(default=None, validator=attrs.validators.optional(_PERCENT))


@attrs.frozen(kw_only=True)
class Steps:
    """
    Ask so many steps after the last collection of the whole window, if that is worth a break.

    Attributes:
        every: How many; None: the session's ``summarize_every_n_steps``.

    """

    every: int | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.gt(0)))


@attrs.frozen(kw_only=True)
class Spend:
    """Ask when so many tokens have been sent since the last collection of the whole window, if it is worth a break."""

    tokens: int = attrs.field(validator=attrs.validators.gt(0))


@attrs.frozen(kw_only=True)
class ObjectiveChange:
    """Ask when the session's objective has become another one, if that is worth a break."""


Trigger = Young | Major | Hot | Steps | Spend | ObjectiveChange
"""The closed set of triggers."""
